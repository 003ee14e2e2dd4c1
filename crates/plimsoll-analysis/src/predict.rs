//! Predicts the throughput of a database on another drive, or on the same one at full speed, from a measured point.
//!
//! | step | how |
//! | --- | --- |
//! | demand | CPU, reads, pages written, log bytes and flushes per transaction, as measured at the point |
//! | model | the closed loop in virtual time on a drive's model (`closed_loop`): X = N / (Z + R(X)) |
//! | correction | the parts of the model's time are multiplied so that it gives what was measured at the source (relative fitness: Mesnier et al., SIGMETRICS 2007) |
//! | interval | Student's t of the errors of cases with a known answer (`calibration`); without cases there is no prediction |

mod calibration;
mod closed_loop;
mod demand;
mod refusal;

pub use calibration::{PredictedChange, is_calibrated};
pub use closed_loop::{DriveAnswer, PredictedDrive};
pub use demand::{MeasuredDemand, SourceDrive, demands, emulated_drives, pool_cpu};
pub use refusal::{PointRefusal, Refusal};

use std::ops::RangeInclusive;

use plimsoll_plan::resolved::EngineKind;
use plimsoll_plan::units::{Bytes, Nanos};
use serde::Serialize;

use crate::summary::Interval;
use calibration::EngineCalibration;
use closed_loop::{LockClass, LoopResult, LoopSpec, LoopTimes, PageWriting};

/// SQLite writes its log back after so many pages (`wal_autocheckpoint`), each with a header.
const CHECKPOINT_BYTES: f64 = 1000.0 * 4120.0;
/// How far the kernel's clock of file times goes on at once (HZ = 250): SQLite's fsync commits the filesystem's journal
/// where the log's time changed.
const FILE_TIME_TICK: Nanos = Nanos::from_millis(4);
/// TPC-C clause 5.2.3: of 100 transactions, 43 are Payments, which lock a warehouse, 45 New-Orders, which lock a district.
const PAYMENTS: f64 = 0.43;
const NEW_ORDERS: f64 = 0.45;
const DISTRICTS: u32 = 10;
/// Above this share of the processors, queues grow by more than the model knows.
pub const CPU_LIMIT: f64 = 0.9;
/// CPU per transaction depends on the rate, and the rate on it: so often both are computed.
const ROUNDS: usize = 4;

/// What is to be predicted from a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionTask {
    pub change: PredictedChange,
    pub processors: Option<u32>,
    pub memory: Option<Bytes>,
}

/// Time per transaction by what it is spent on, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimeParts {
    /// With waiting for a processor.
    pub cpu_ms: f64,
    pub read_ms: f64,
    /// Commits: log writes, flushes, and waiting for those of others; of SQLite checkpoints too.
    pub flush_ms: f64,
    pub lock_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prediction {
    /// Transactions per second.
    pub per_second: f64,
    /// 95 %; `None` where nothing is carried.
    pub interval: Option<Interval>,
    /// New-Orders per minute, where the workload has them.
    pub nopm: Option<f64>,
    pub parts: TimeParts,
    /// Of all processors, the emulator's part included.
    pub cpu_percent: f64,
    /// Of the model before it is corrected by the source point.
    pub model_per_second: f64,
}

/// Predicts, or refuses.
///
/// # Errors
/// Where the answer would not be one that cases with a known answer stand behind.
pub fn predict<D: PredictedDrive>(
    demand: &MeasuredDemand,
    task: &PredictionTask,
    source: &D,
    target: &D,
) -> Result<Prediction, Refusal> {
    if task.processors.is_some_and(|n| n != demand.processors) {
        return Err(Refusal::ProcessorsNotCalibrated);
    }
    if task.memory.is_some() && task.memory != demand.memory {
        return Err(Refusal::Memory);
    }
    let prediction = verified(demand, task.change, source, target)?;
    if prediction.cpu_percent > CPU_LIMIT * 100.0 && demand.host_busy < CPU_LIMIT {
        return Err(Refusal::Processors {
            busy_percent: prediction.cpu_percent,
        });
    }
    Ok(prediction)
}

/// A prediction whose answer is known: refused only where there is no model.
///
/// # Errors
/// For an engine or mode without constants, and where the model is far from the source.
pub fn verified<D: PredictedDrive>(
    demand: &MeasuredDemand,
    change: PredictedChange,
    source: &D,
    target: &D,
) -> Result<Prediction, Refusal> {
    let calibration =
        EngineCalibration::of(demand.engine, &demand.mode).ok_or(Refusal::NotCalibrated)?;
    let users = f64::from(demand.users);
    let correction = Correction::of(demand, &solve(demand, calibration, source));
    if !correction.is_small() {
        return Err(Refusal::NotModelled);
    }
    let result = solve(demand, calibration, target);
    let response_s = correction.response_s(&result.times);
    let per_second = users / (demand.think_s + response_s);
    // What the correction changes in a part by itself is not known.
    let ms = |seconds: f64| seconds * 1e3 * response_s / result.times.whole_s();
    Ok(Prediction {
        per_second,
        interval: calibration.error(change).interval(per_second),
        nopm: demand
            .nopm
            .map(|nopm| nopm * per_second / demand.per_second),
        parts: TimeParts {
            cpu_ms: ms(result.times.cpu_s),
            read_ms: ms(result.times.read_s),
            flush_ms: ms(result.times.flush_s),
            lock_ms: ms(result.times.lock_s),
        },
        cpu_percent: result.cpu_busy * per_second / result.per_second * 100.0,
        model_per_second: result.per_second,
    })
}

/// Relative errors of the model's two parts, before measured cases correct them: waiting for processors that emulator and
/// kernel use too, and a drive whose model is the one that answered.
const CPU_DOUBT: f64 = 0.3;
const DRIVE_DOUBT: f64 = 0.05;
/// Outside of it something else than the model's parts took the time.
const CORRECTION_RANGE: RangeInclusive<f64> = 0.6..=1.6;

/// What the model's times are multiplied by, so that it gives what was measured at the source.
#[derive(Debug, Clone, Copy)]
struct Correction {
    cpu: f64,
    drive: f64,
}

impl Correction {
    /// The difference is shared out as the variances of the parts are.
    fn of(demand: &MeasuredDemand, model: &LoopResult) -> Self {
        let measured_s = f64::from(demand.users) / demand.per_second - demand.think_s;
        let missing_s = measured_s - model.times.whole_s();
        let cpu_s = model.times.cpu_share() * model.times.whole_s();
        let drive_s = model.times.whole_s() - cpu_s;
        let cpu_doubt = (CPU_DOUBT * cpu_s).powi(2);
        let drive_doubt = (DRIVE_DOUBT * drive_s).powi(2);
        let cpu_part = cpu_doubt / (cpu_doubt + drive_doubt).max(f64::MIN_POSITIVE);
        let cpu = (1.0 + missing_s * cpu_part / cpu_s.max(1e-9)).clamp(0.5, 2.0);
        let drive = ((measured_s - cpu * cpu_s) / drive_s.max(1e-9)).max(0.0);
        Self { cpu, drive }
    }

    /// Whether the model describes the source at all.
    fn is_small(&self) -> bool {
        CORRECTION_RANGE.contains(&self.drive)
    }

    fn response_s(&self, times: &LoopTimes) -> f64 {
        let cpu = times.cpu_share();
        times.whole_s() * (cpu * self.cpu + (1.0 - cpu) * self.drive)
    }
}

/// The fixed point of rate and CPU per transaction.
fn solve<D: PredictedDrive>(
    demand: &MeasuredDemand,
    calibration: &EngineCalibration,
    drive: &D,
) -> LoopResult {
    let mut spec = loop_spec(demand, calibration);
    let of_rate = spec.cpu_s;
    let mut per_second = demand.per_second;
    let mut result = LoopResult::default();
    for _ in 0..ROUNDS {
        spec.cpu_s = of_rate + calibration.cpu_within / per_second.max(1e-9);
        result = closed_loop::run(&spec, drive.clone());
        per_second = result.per_second;
    }
    result
}

/// The loop's demand, with CPU time of a transaction at a high rate.
fn loop_spec(demand: &MeasuredDemand, calibration: &EngineCalibration) -> LoopSpec {
    let with_rate = (calibration.cpu_beside + calibration.cpu_within) / demand.per_second;
    let one_writer = demand.engine == EngineKind::Sqlite;
    let commits = demand.writers;
    let (log_writes, journal_bytes) = if one_writer {
        // Each commit of the journal writes twice and flushes once more.
        let journal_commits = (demand.flushes - commits).clamp(0.0, commits);
        (
            commits + 2.0 * journal_commits,
            journal_commits * closed_loop::JOURNAL_BYTES as f64,
        )
    } else {
        (demand.flushes, 0.0)
    };
    let pages_written = (demand.writes - log_writes).max(0.0);
    let page_bytes: f64 = if one_writer { 4096.0 } else { 8192.0 };
    let page_bytes = page_bytes.min(demand.write_bytes / demand.writes.max(1e-9));
    let log_bytes =
        (demand.write_bytes - journal_bytes - pages_written * page_bytes) / commits.max(1e-9);
    let log_bytes = log_bytes.max(512.0);
    LoopSpec {
        users: demand.users,
        think_s: demand.think_s,
        processors: demand.processors,
        // However much runs beside, transactions need some.
        cpu_s: (demand.cpu_s - with_rate).max(demand.cpu_s * 0.2),
        reads: demand.reads,
        pages_written,
        commits,
        log_bytes: log_bytes as u64,
        page_bytes: page_bytes as u64,
        page_writing: if one_writer {
            PageWriting::Checkpoint {
                commits: CHECKPOINT_BYTES / log_bytes,
            }
        } else {
            PageWriting::Background
        },
        journal_tick: one_writer.then_some(FILE_TIME_TICK),
        locks: if one_writer {
            vec![LockClass {
                share: commits,
                locks: 1,
            }]
        } else {
            row_locks(demand.warehouses)
        },
        hop_s: calibration.hop_s,
        emulator_s: demand.emulator_s,
    }
}

fn row_locks(warehouses: u32) -> Vec<LockClass> {
    vec![
        LockClass {
            share: PAYMENTS,
            locks: warehouses,
        },
        LockClass {
            share: NEW_ORDERS,
            locks: warehouses * DISTRICTS,
        },
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use plimsoll_record::drive::DriveOp;
    use plimsoll_record::fixture;

    use super::*;
    use crate::audited::figures;
    use crate::summary::Verdict;

    /// Answers each request after the same time, however many there are.
    #[derive(Debug, Clone)]
    pub(super) struct FixedDrive {
        takes: Nanos,
        number: u64,
        in_flight: VecDeque<DriveAnswer<u64>>,
    }

    impl FixedDrive {
        pub fn of_us(us: u64) -> Self {
            Self {
                takes: Nanos::from_micros(us),
                number: 0,
                in_flight: VecDeque::new(),
            }
        }
    }

    impl PredictedDrive for FixedDrive {
        type Request = u64;

        fn submit(&mut self, now: Nanos, _: DriveOp, _: u64, _: u64) -> u64 {
            self.number += 1;
            self.in_flight.push_back(DriveAnswer {
                request: self.number,
                at: Nanos(now.0 + self.takes.0),
            });
            self.number
        }

        fn next_event(&self) -> Option<Nanos> {
            Some(self.in_flight.front()?.at)
        }

        fn advance(&mut self, to: Nanos) -> Option<DriveAnswer<u64>> {
            self.in_flight.pop_front_if(|first| first.at <= to)
        }
    }

    #[test]
    fn media_at_one_load_have_one_figure_for_cpu() {
        let [fast, slow] =
            [(900.0, 1e-3), (100.0, 2e-3)].map(|(per_second, cpu_s)| MeasuredDemand {
                per_second,
                cpu_s,
                ..demand()
            });
        let other_load = MeasuredDemand {
            users: 8,
            cpu_s: 5e-3,
            ..demand()
        };
        let mut all = [fast, slow, other_load];
        pool_cpu(all.iter_mut());
        let cpu_us = all.map(|own| (own.cpu_s * 1e6).round());
        assert_eq!(cpu_us, [1100.0, 1100.0, 5000.0]);
    }

    /// PostgreSQL of two users whose log takes some 500 µs.
    fn demand() -> MeasuredDemand {
        MeasuredDemand {
            run: "test".into(),
            step: "oltp".into(),
            medium: "nvme".into(),
            workload: "oltp".into(),
            mode: "procedures".into(),
            engine: EngineKind::Postgres,
            users: 2,
            drive: SourceDrive {
                file: String::new(),
                name: "x".into(),
                title: "X".into(),
                capacity: None,
                fill: 1.0,
                ignores_flush: false,
            },
            verdict: Verdict::Valid,
            per_second: 1000.0,
            nopm: Some(27_000.0),
            think_s: 0.0,
            processors: 2,
            memory: Some(Bytes(1 << 30)),
            cpu_s: 450e-6,
            host_busy: 0.6,
            writers: 0.92,
            warehouses: 2,
            reads: 0.0,
            read_bytes: 0.0,
            writes: 1.1,
            write_bytes: 16_000.0,
            flushes: 0.9,
            emulator_s: 0.0,
        }
    }

    const TO_ANOTHER: PredictionTask = PredictionTask {
        change: PredictedChange::OtherDrive,
        processors: None,
        memory: None,
    };

    fn predicted(demand: &MeasuredDemand, us: u64) -> Result<Prediction, Refusal> {
        let drives = [500, us].map(FixedDrive::of_us);
        predict(demand, &TO_ANOTHER, &drives[0], &drives[1])
    }

    #[test]
    fn the_same_drive_gives_what_was_measured() {
        for per_second in [800.0, 1000.0, 1100.0] {
            let demand = MeasuredDemand {
                per_second,
                ..demand()
            };
            let own = predicted(&demand, 500).unwrap();
            assert!((own.per_second / per_second - 1.0).abs() < 0.001, "{own:?}");
            let parts = own.parts;
            let sum = parts.cpu_ms + parts.read_ms + parts.flush_ms + parts.lock_ms;
            assert!(
                (sum / (2.0 / per_second * 1e3) - 1.0).abs() < 0.001,
                "{parts:?}"
            );
            assert!((own.nopm.unwrap() / 27_000.0 - 1.0).abs() < 0.001);
        }
    }

    #[test]
    fn a_faster_drive_is_worth_what_its_part_is() {
        let [fast, slow] = [50, 5000].map(|us| predicted(&demand(), us).unwrap());
        assert!(fast.per_second > 2000.0 && slow.per_second < 300.0);
        assert!(
            fast.parts.flush_ms < 0.4 && slow.parts.flush_ms > 9.0,
            "{fast:?} {slow:?}"
        );
        let interval = fast.interval.unwrap();
        assert!(interval.low < fast.per_second && fast.per_second < interval.high);
    }

    #[test]
    fn without_a_case_with_a_known_answer_there_is_no_prediction() {
        let refused = |demand: MeasuredDemand| predicted(&demand, 100).unwrap_err();
        let other_engine = MeasuredDemand {
            engine: EngineKind::Mariadb,
            ..demand()
        };
        let other_mode = MeasuredDemand {
            mode: "statements".into(),
            ..demand()
        };
        assert_eq!(refused(other_engine), Refusal::NotCalibrated);
        assert_eq!(refused(other_mode), Refusal::NotCalibrated);
        let full = MeasuredDemand {
            users: 32,
            warehouses: 100,
            per_second: 3400.0,
            cpu_s: 560e-6,
            ..demand()
        };
        assert!(
            matches!(refused(full), Refusal::Processors { busy_percent } if busy_percent > 90.0)
        );
        let of_task = |task: PredictionTask| {
            let drives = [500, 100].map(FixedDrive::of_us);
            predict(&demand(), &task, &drives[0], &drives[1]).map(|_| ())
        };
        let memory = |bytes| PredictionTask {
            memory: Some(Bytes(bytes)),
            ..TO_ANOTHER
        };
        assert_eq!(of_task(memory(1 << 31)), Err(Refusal::Memory));
        assert_eq!(of_task(memory(1 << 30)), Ok(()));
        let unlike = MeasuredDemand {
            per_second: 300.0,
            ..demand()
        };
        assert_eq!(refused(unlike), Refusal::NotModelled);
        let processors = |n| PredictionTask {
            processors: Some(n),
            ..TO_ANOTHER
        };
        assert_eq!(
            of_task(processors(8)),
            Err(Refusal::ProcessorsNotCalibrated)
        );
        assert_eq!(of_task(processors(2)), Ok(()));
    }

    #[test]
    fn points_without_an_emulated_drive_are_refused() {
        let record = fixture::record();
        let demands = demands(&record, &figures(&record));
        assert!(!demands.is_empty());
        for demand in demands {
            assert_eq!(demand.unwrap_err().refusal, Refusal::NotEmulated);
        }
    }
}
