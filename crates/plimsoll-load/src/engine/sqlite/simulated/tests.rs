//! Transactions derived from TPC-C in virtual time, on drives of the catalog.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_drive::catalog;
use plimsoll_drive::model::Setup;
use plimsoll_drive::service_times::ServiceTimes;
use plimsoll_drive::spec::DriveSpec;
use plimsoll_drive::storage_model::StorageModel;
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{Home, Pacing, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;
use plimsoll_record::lane::{
    Counts, Endpoint, GeneratorShare, LaneControl, LaneEnd, LaneMessage, LaneSecond, LaneSpec,
    TransactionStats,
};
use plimsoll_virtual::calendar::VirtualClock;
use plimsoll_virtual::costs::CpuCosts;
use plimsoll_virtual::drive::{ServedByKind, VirtualDrive};
use plimsoll_virtual::machine::VirtualMachine;
use plimsoll_virtual::vfs::VirtualMount;
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

use crate::clock::Clock;
use crate::engine::sqlite::check;
use crate::engine::sqlite::tests::copy;
use crate::runner::run_lane;

const CAPACITY: Bytes = Bytes(4 << 30);

#[derive(Clone, Copy)]
struct Simulated {
    drive: &'static str,
    users: u32,
    memory: Option<Bytes>,
    seed: u64,
    warm: Nanos,
    measure: Nanos,
    journal: &'static str,
    /// When the lane is stopped.
    stopped_at: Option<Nanos>,
}

/// A drive of some hundred transactions a second keeps the tests short.
const FOUR_USERS: Simulated = Simulated {
    drive: "aws-gp3",
    users: 4,
    memory: None,
    seed: 7,
    warm: Nanos::SECOND,
    measure: Nanos::SECOND,
    journal: "wal",
    stopped_at: None,
};

struct SimulatedRun {
    seconds: Vec<LaneSecond>,
    end: LaneEnd,
    served: BTreeMap<u64, ServedByKind>,
    ended_at: Nanos,
    path: PathBuf,
    _dir: TempDir,
}

fn drive_spec(name: &str) -> DriveSpec {
    let (name, text) = match name.parse() {
        Ok(named) => {
            let file = catalog::assembly_file(named).unwrap();
            (file.name, file.text)
        }
        Err(_) => {
            let entry = catalog::find(name).unwrap();
            (entry.name.to_owned(), entry.text.to_owned())
        }
    };
    catalog::load(&name, &text).unwrap()
}

impl Simulated {
    fn run(self) -> SimulatedRun {
        let (dir, path) = copy();
        let clock = VirtualClock::default();
        let machine = VirtualMachine::new(clock.clone(), 2, CpuCosts::REFERENCE);
        let setup = Setup {
            capacity: CAPACITY,
            fill: 1.0,
            seed: self.seed,
            ignores_flush: false,
        };
        let model = StorageModel::new(&drive_spec(self.drive), &setup);
        let drive = Arc::new(VirtualDrive::new(clock.clone(), model));
        let mount =
            VirtualMount::new(machine, drive.clone(), CAPACITY, self.memory, self.seed).unwrap();
        let spec = LaneSpec {
            endpoint: Endpoint::Sqlite {
                path: path.display().to_string(),
                pragmas: BTreeMap::from([("journal_mode".into(), self.journal.into())]),
                vfs: Some(mount.name().to_owned()),
            },
            workload: Workload::Tpcc(Tpcc {
                warehouses: 2,
                mode: TxnMode::Statements,
                home: Home::Fixed,
            }),
            load: LoadShape::closed(self.users),
            share: GeneratorShare::default(),
            timeline: Timeline {
                warm: self.warm,
                measure: self.measure,
                cool: Nanos::from_secs(1),
            },
            pacing: Pacing::default(),
            seed: self.seed.into(),
            round: 1,
            max_retries: 3,
            power_cut: false,
        };
        let (control, orders) = watch::channel(LaneControl::Run);
        let (out, mut messages) = mpsc::channel(256);
        let on = Clock::Virtual(clock.clone());
        let lane = run_lane(spec, on.clone(), orders, out);
        let collect = async {
            let mut seconds = Vec::new();
            let mut end = None;
            while let Some(message) = messages.recv().await {
                match message {
                    LaneMessage::Second(second) => seconds.push(*second),
                    LaneMessage::Ended(ended) => end = Some(ended),
                    LaneMessage::Event(event) => panic!("{event:?}"),
                    LaneMessage::Started { .. } | LaneMessage::Acknowledged(_) => {}
                }
            }
            (seconds, end.unwrap())
        };
        let stop = async {
            if let Some(at) = self.stopped_at {
                on.sleep_until(at).await;
                control.send_replace(LaneControl::Stop);
            }
        };
        let both = async { tokio::join!(lane, collect, stop).1 };
        let (seconds, end) = on.block_on(both).unwrap();
        assert_eq!(clock.sleepers(), 0);
        SimulatedRun {
            seconds,
            end,
            served: drive.take_served(),
            ended_at: clock.now(),
            path,
            _dir: dir,
        }
    }
}

impl SimulatedRun {
    fn merged(&self, keep: impl Fn(PhaseKind) -> bool) -> TransactionStats {
        let mut sum = TransactionStats::default();
        self.seconds
            .iter()
            .filter(|second| keep(second.tick.phase))
            .flat_map(|second| &second.tallies)
            .for_each(|tally| sum.merge(tally));
        sum
    }

    fn per_second(&self) -> f64 {
        let measured = self.merged(|phase| phase == PhaseKind::Measure);
        let seconds = self
            .seconds
            .iter()
            .filter(|second| second.tick.phase == PhaseKind::Measure)
            .map(|second| (second.tick.end - second.tick.start).as_secs_f64());
        measured.counts.completed() as f64 / seconds.sum::<f64>()
    }

    fn per_transaction(&self, op: DriveOp) -> f64 {
        let all = self.merged(|_| true).counts.completed();
        let seconds = self.served.values().map(|second| &second[op as usize]);
        seconds.map(|tally| tally.ops).sum::<u64>() as f64 / all as f64
    }

    /// Nothing failed or disappeared, and the database holds what its transactions should have left.
    fn assert_sound(&self) {
        let Counts {
            offered, failed, ..
        } = self.merged(|_| true).counts;
        assert!(offered > 0);
        assert_eq!(failed, 0);
        assert_eq!(offered, self.merged(|_| true).counts.settled());
        let failing: Vec<_> = check(&self.path)
            .unwrap()
            .into_iter()
            .filter(|condition| !condition.holds)
            .collect();
        assert!(failing.is_empty(), "{failing:?}");
    }
}

/// What the drives of a table do, and in which order.
#[test]
fn a_faster_drive_carries_more_and_the_data_are_right() {
    let mut before: Option<(&str, f64)> = None;
    for drive in ["sata", "aws-gp3", "disk"] {
        let ran = Simulated {
            drive,
            ..FOUR_USERS
        }
        .run();
        assert_eq!(ran.end, LaneEnd::Complete);
        ran.assert_sound();
        let rate = ran.per_second();
        // At most two for a commit, and fewer where reads need none.
        let flushes = ran.per_transaction(DriveOp::Flush);
        assert!((0.9..2.2).contains(&flushes), "{drive}: {flushes:.2}");
        if let Some((faster, more)) = before {
            assert!(more > rate * 1.05, "{faster} {more:.0}, {drive} {rate:.0}");
        }
        before = Some((drive, rate));
    }
}

#[test]
fn equal_seeds_give_equal_runs_to_the_nanosecond() {
    let [once, again] = [(); 2].map(|()| FOUR_USERS.run());
    assert_eq!(once.ended_at, again.ended_at);
    assert_eq!(once.served, again.served);
    assert!(once.seconds == again.seconds, "each second is the same");
    let other = Simulated {
        seed: 8,
        ..FOUR_USERS
    }
    .run();
    assert_ne!(once.served, other.served);
}

#[test]
fn little_memory_makes_the_drive_read() {
    let with = |memory| {
        Simulated {
            memory,
            ..FOUR_USERS
        }
        .run()
    };
    let (little, enough) = (with(Some(Bytes(16 << 20))), with(None));
    little.assert_sound();
    assert_eq!(enough.per_transaction(DriveOp::Read), 0.0);
    assert!(little.per_transaction(DriveOp::Read) > 1.0);
    assert!(little.per_second() < enough.per_second() * 0.9);
}

#[test]
fn a_stop_in_the_middle_leaves_nobody_waiting_and_nothing_broken() {
    for at_ms in [1_500, 1_901] {
        let ran = Simulated {
            drive: "disk",
            users: 8,
            stopped_at: Some(Nanos::from_millis(at_ms)),
            ..FOUR_USERS
        }
        .run();
        assert_eq!(ran.end, LaneEnd::Stopped);
        assert!(ran.ended_at < Nanos::from_millis(at_ms + 100));
        let conditions = check(&ran.path).unwrap();
        assert!(conditions.iter().all(|own| own.holds), "{conditions:?}");
    }
}

#[test]
fn all_journal_modes_run() {
    for journal in ["delete", "truncate", "persist"] {
        let ran = Simulated {
            journal,
            ..FOUR_USERS
        }
        .run();
        ran.assert_sound();
        assert!(ran.per_transaction(DriveOp::Flush) > 2.0, "{journal}");
    }
}

/// Of all drives and some arrays and clusters: one that is at least as fast for every kind of request carries about as much,
/// or more.
#[test]
fn a_drive_that_is_as_fast_in_every_respect_never_comes_out_slower() {
    let assembled = [
        "raid5:4:sata",
        "raid10:4:sata",
        "raid1:2:nvme",
        "vsan:4:3:nvme",
    ];
    let names = catalog::all().iter().map(|entry| entry.name);
    let drives: Vec<_> = names
        .chain(assembled)
        .map(|drive| {
            let ran = Simulated {
                drive,
                memory: Some(Bytes(32 << 20)),
                warm: Nanos::ZERO,
                measure: Nanos::from_millis(500),
                ..FOUR_USERS
            }
            .run();
            let times = ServiceTimes::of(&drive_spec(drive), 1.0, false);
            (drive, times, ran.per_second())
        })
        .collect();
    let mut pairs = 0;
    for (faster, times, rate) in &drives {
        for (slower, others, other_rate) in &drives {
            if faster != slower && times.is_as_fast_as(others) {
                pairs += 1;
                assert!(
                    *rate >= other_rate * 0.95,
                    "{faster} {rate:.0} {times:?}, {slower} {other_rate:.0} {others:?}"
                );
            }
        }
    }
    assert!(pairs > 100, "{pairs}");
}
