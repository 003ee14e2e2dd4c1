use super::*;
use crate::catalog;
use crate::model::{Assembled, DriveOp, Op, Setup, Storage};
use crate::model::{ByRequest, Random};
use crate::simulate::{Arrival, SimulatedProfile, SimulatedResult, named, simulate};
use crate::spec::DriveSpec;
use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::array::RaidLevel;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::{Bytes, Nanos};
use proptest::prelude::*;

fn drive(name: &str) -> DriveSpec {
    let entry = catalog::find(name).unwrap();
    catalog::load(entry.name, entry.text).unwrap()
}

const SATA: &str = "kingston-dc500m-960g";

fn of(level: RaidLevel, members: u32, chunk: u64, failed: &[u32]) -> DriveSpec {
    let array = ArraySpec {
        level,
        members,
        chunk: Bytes(chunk),
        failed: failed.to_vec(),
        rebuild: None,
        bitmap: None,
    };
    let text = catalog::assembly_text(
        catalog::find(SATA).unwrap().text,
        DriveAssembly::Array(array),
    );
    catalog::load("array", &text).unwrap()
}

fn array(spec: &DriveSpec, capacity: u64) -> Array {
    let setup = Setup {
        capacity: Bytes(capacity),
        fill: 0.5,
        seed: 7,
        ignores_flush: false,
    };
    Array::new(spec, spec.file.array.as_ref().unwrap(), &setup)
}

fn run(spec: &DriveSpec, profile: &SimulatedProfile) -> SimulatedResult {
    simulate(spec, profile)
}

/// Member requests per host request: reads and writes.
fn per_request(outcome: &SimulatedResult) -> (f64, f64) {
    let work = outcome.work();
    let host = (outcome.reads.ops + outcome.writes.ops) as f64;
    let of = |kind: DriveOp| work.ops[kind as usize] as f64 / host;
    (of(DriveOp::Read), of(DriveOp::Write))
}

fn short(name: &str) -> SimulatedProfile {
    SimulatedProfile {
        measure: Nanos::from_secs(2),
        ..named(name).unwrap()
    }
}

/// Enough for ratios that hold for each request.
fn moment(name: &str) -> SimulatedProfile {
    SimulatedProfile {
        warm: Nanos::from_millis(200),
        measure: Nanos::from_millis(500),
        ..named(name).unwrap()
    }
}

#[test]
fn small_writes_cost_what_the_layout_states() {
    let costs = [
        (RaidLevel::Raid0, 6, (0.0, 1.0)),
        (RaidLevel::Raid1, 3, (0.0, 3.0)),
        (RaidLevel::Raid10, 5, (0.0, 2.0)),
        (RaidLevel::Raid5, 3, (1.0, 2.0)),
        (RaidLevel::Raid5, 6, (2.0, 2.0)),
        (RaidLevel::RaidF1, 6, (2.0, 2.0)),
        (RaidLevel::Raid6, 8, (3.0, 3.0)),
    ];
    for (level, members, (reads, writes)) in costs {
        let own = per_request(&run(
            &of(level, members, 64 << 10, &[]),
            &moment("randwrite4k"),
        ));
        // Requests that the window cuts in two.
        assert!(
            (own.0 - reads).abs() < 0.01 && (own.1 - writes).abs() < 0.01,
            "{level:?} {members}: {own:?}"
        );
    }
}

#[test]
fn degraded_reads_read_all_others() {
    let spec = of(RaidLevel::Raid5, 6, 64 << 10, &[2]);
    let (reads, writes) = per_request(&run(&spec, &moment("randread4k")));
    // One of six reads takes five.
    assert!(
        (reads - (5.0 + 5.0) / 6.0).abs() < 0.02 && writes == 0.0,
        "{reads}"
    );
}

#[test]
fn sequential_writes_fill_stripes_and_scale_with_the_data_members() {
    let rate = |level| run(&of(level, 6, 64 << 10, &[]), &short("seqwrite128k")).bytes_per_second();
    let [raid5, raid6, f1] = [RaidLevel::Raid5, RaidLevel::Raid6, RaidLevel::RaidF1].map(rate);
    assert!((raid5 / raid6 / 1.25 - 1.0).abs() < 0.03, "{raid5} {raid6}");
    assert!((f1 / raid5 - 1.0).abs() < 0.03, "{f1} {raid5}");
    let one = simulate(&drive(SATA), &short("seqwrite128k")).bytes_per_second();
    // Not all stripes fill while others are read.
    assert!((4.0..5.05).contains(&(raid5 / one)), "{raid5} {one}");
}

#[test]
fn mirrors_read_no_slower_with_more_members() {
    let iops = |members| {
        run(
            &of(RaidLevel::Raid1, members, 4096, &[]),
            &moment("randread4k"),
        )
        .iops()
    };
    let rates = [2, 3, 4, 6].map(iops);
    assert!(
        rates.windows(2).all(|pair| pair[1] >= pair[0] * 0.999),
        "{rates:?}"
    );
}

/// Published: 20.6k without a bitmap, 174 with an internal one of 64 MiB regions, on drives with volatile caches (RAID 5 of
/// five, chunk 64 KiB); 6.8 % less on a mirror of two that are protected.
#[test]
fn a_bitmap_is_ruinous_with_volatile_caches_and_cheap_with_protected_ones() {
    let iops = |name: &str, level, members, bitmap: Option<u64>, depth| {
        let array = ArraySpec {
            level,
            members,
            chunk: Bytes(64 << 10),
            failed: Vec::new(),
            rebuild: None,
            bitmap: bitmap.map(Bytes),
        };
        let text = catalog::assembly_text(
            catalog::find(name).unwrap().text,
            DriveAssembly::Array(array),
        );
        let spec = catalog::load("array", &text).unwrap();
        let profile = SimulatedProfile {
            load: Arrival::Closed { depth, jobs: 1 },
            fill: 0.2,
            ..short("randwrite4k")
        };
        run(&spec, &profile).iops()
    };
    let volatile = |bitmap| iops("consumer-nvme-1t", RaidLevel::Raid5, 5, bitmap, 1);
    let [without, with] = [None, Some(64 << 20)].map(volatile);
    assert!((10_300.0..41_200.0).contains(&without), "{without}");
    // Three times the published figure: a flush of this drive takes 1 ms, and nobody published one of those.
    assert!((174.0..522.0).contains(&with), "{with}");
    let protected = |bitmap| iops("kingston-dc1500m-960g", RaidLevel::Raid1, 2, bitmap, 64);
    let [without, with] = [None, Some(64 << 20)].map(protected);
    // The published loss is md's processor time, which is not modeled.
    assert!(
        (0.93..1.001).contains(&(with / without)),
        "{with} {without}"
    );
}

/// A rebuild of idle drives runs at the speed limit, and ends with a whole array.
#[test]
fn a_rebuild_keeps_to_its_highest_speed() {
    for level in [RaidLevel::Raid5, RaidLevel::Raid1, RaidLevel::Raid10] {
        let spec = of(level, 4, 64 << 10, &[1]);
        let usable = spec.file.array.as_ref().unwrap().usable(1 << 30);
        let mut array = array(&spec, usable);
        let speed = RebuildSpeed {
            least: 1 << 20,
            most: 100 << 20,
        };
        array.replace(Nanos::ZERO, 1, speed);
        let mut now = Nanos::ZERO;
        while let Some(next) = array.next_event() {
            now = next;
            assert_eq!(array.advance(now), None);
        }
        assert_eq!(array.rebuilt(), Bytes(1 << 30));
        let seconds = now.as_secs_f64();
        assert!((10.2..10.3).contains(&seconds), "{level:?} {seconds}");
        let written = array.work_by_drive()[1].bytes[DriveOp::Write as usize];
        assert_eq!(written, 1 << 30, "{level:?}");
        assert!(array.fail(now, 0), "redundant again");
    }
}

/// A flush that belongs to a write comes after both of its phases.
#[test]
fn a_request_that_follows_another_begins_when_that_is_complete() {
    let op = |kind, len| Op {
        kind,
        offset: 0,
        len,
    };
    let spec = of(RaidLevel::Raid5, 4, 64 << 10, &[]);
    let end = |array: &mut Array| array.advance(Nanos(u64::MAX)).unwrap().at;
    let mut apart = array(&spec, 1 << 30);
    apart.submit(Nanos::ZERO, op(DriveOp::Write, 4096));
    let written = end(&mut apart);
    apart.submit(written, op(DriveOp::Flush, 0));
    let flushed = end(&mut apart);
    let mut together = array(&spec, 1 << 30);
    together.announce();
    let id = together.submit_after(Nanos::ZERO, op(DriveOp::Write, 4096), op(DriveOp::Flush, 0));
    let done = together.advance(Nanos(u64::MAX)).unwrap();
    assert_eq!((done.id, done.at), (id, flushed));
    assert!(written < flushed && together.is_idle());
    assert_eq!(together.take_known(), [done]);
}

/// Units of the rebuild before are in flight when the member fails and is replaced again.
#[test]
fn a_member_that_fails_while_it_is_rebuilt_is_rebuilt_anew() {
    let mut array = array(&of(RaidLevel::Raid6, 5, 64 << 10, &[1]), 3 << 30);
    let speed = RebuildSpeed::default();
    assert!(array.can_replace(1) && !array.can_replace(2));
    array.replace(Nanos::ZERO, 1, speed);
    assert!(!array.can_replace(1));
    let at = Nanos::from_millis(1);
    while array.next_event().is_some_and(|next| next < at) {
        assert_eq!(array.advance(at), None);
    }
    assert!(array.fail(at, 1) && array.can_replace(1));
    array.replace(at, 1, speed);
    while let Some(next) = array.next_event() {
        assert_eq!(array.advance(next), None);
    }
    assert!(array.has_rebuilt(1) && array.is_whole() && array.is_idle());
    let written = array.work_by_drive()[1].bytes[DriveOp::Write as usize];
    assert_eq!(written, 1 << 30);
}

/// While the host asks for much, a rebuild yields down to its least speed.
#[test]
fn a_rebuild_yields_to_the_host() {
    let rebuilt_in_a_second = |depth: u32| {
        let mut array = array(&of(RaidLevel::Raid5, 4, 64 << 10, &[1]), 12 << 30);
        array.replace(Nanos::ZERO, 1, RebuildSpeed::default());
        let mut random = Random::new(1);
        let mut next = || Op {
            kind: DriveOp::Read,
            offset: random.below(1 << 18) * 4096,
            len: 4096,
        };
        for _ in 0..depth {
            array.submit(Nanos::ZERO, next());
        }
        while let Some(done) = array.advance(Nanos::SECOND) {
            array.submit(done.at, next());
        }
        array.rebuilt().0
    };
    let [idle, busy] = [0, 32].map(rebuilt_in_a_second);
    assert!(
        idle > 180 << 20 && busy < idle * 4 / 5 && busy >= 1 << 20,
        "{idle} {busy}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever is asked for and whichever member fails or is replaced when: each request completes once and not before
    /// it came, completions come in order, and nothing is sent to a failed member.
    #[test]
    fn requests_complete_once_through_failures(
        level in 0usize..6,
        members in 4u32..8,
        seed in any::<u64>(),
        steps in 20u64..200,
    ) {
        let level = RaidLevel::ALL[level];
        let capacity = 48 << 20;
        let mut array = array(&of(level, members, 16 << 10, &[]), capacity);
        let mut random = Random::new(seed);
        let mut now = Nanos::ZERO;
        let mut open = 0u64;
        let mut arrived = ByRequest::default();
        let mut last = Nanos::ZERO;
        let mut failed: Option<u32> = None;
        let mut frozen = 0;
        let work_of = |array: &Array, member: u32| array.work_by_drive()[member as usize].ops.iter().sum::<u64>();
        for _ in 0..steps {
            now += Nanos(random.below(300_000));
            while let Some(done) = array.advance(now) {
                prop_assert!(done.at >= *arrived.get(done.id) && done.at >= last && done.at <= now);
                last = done.at;
                open -= 1;
            }
            match (random.below(12), failed) {
                (0, None) if level != RaidLevel::Raid0 && array.is_whole() => {
                    let member = random.below(u64::from(members)) as u32;
                    prop_assert!(array.fail(now, member));
                    failed = Some(member);
                    frozen = work_of(&array, member);
                }
                (1, Some(member)) => {
                    prop_assert_eq!(work_of(&array, member), frozen);
                    array.replace(now, member, RebuildSpeed { least: 1 << 20, most: 1 << 30 });
                    failed = None;
                }
                _ => {}
            }
            let len = (4096 << random.below(6)).min(capacity);
            let op = Op {
                kind: DriveOp::ALL[random.below(4) as usize],
                offset: random.below((capacity - len) / 4096 + 1) * 4096,
                len,
            };
            let id = array.submit(now, op);
            arrived.set(id, now);
            open += 1;
        }
        while let Some(done) = array.advance(Nanos(u64::MAX)) {
            prop_assert!(done.at >= *arrived.get(done.id) && done.at >= last);
            last = done.at;
            open -= 1;
        }
        prop_assert_eq!(open, 0);
        prop_assert!(array.is_idle());
        if let Some(member) = failed {
            prop_assert_eq!(work_of(&array, member), frozen);
        }
    }
}

#[test]
fn equal_seeds_give_equal_results() {
    let spec = of(RaidLevel::Raid6, 5, 64 << 10, &[0]);
    let profile = SimulatedProfile {
        measure: Nanos::from_millis(200),
        ..named("mix").unwrap()
    };
    assert_eq!(run(&spec, &profile), run(&spec, &profile));
}
