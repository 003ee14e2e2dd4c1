use super::*;
use crate::catalog;
use crate::model::{Assembled, DriveOp, Op, RebuildProgress, Setup, Storage};
use crate::model::{ByRequest, Random};
use crate::simulate::{Arrival, SimulatedProfile, SimulatedResult, named, simulate};
use crate::spec::DriveSpec;
use plimsoll_plan::array::RaidLevel;
use plimsoll_plan::array::{ArraySpec, BitmapPlace};
use plimsoll_plan::assembly::{DriveAssembly, NamedAssembly};
use plimsoll_plan::units::{Bytes, Nanos};
use proptest::prelude::*;

fn drive(name: &str) -> DriveSpec {
    let entry = catalog::find(name).unwrap();
    catalog::load(entry.name, entry.text).unwrap()
}

const SATA: &str = "kingston-dc500m-960g";

fn of(level: RaidLevel, members: u32, chunk: u64, failed: &[u32]) -> DriveSpec {
    let array = ArraySpec {
        chunk: Bytes(chunk),
        failed: failed.to_vec(),
        ..ArraySpec::new(level, members)
    };
    spec_of(array, SATA)
}

fn spec_of(array: ArraySpec, drive: &str) -> DriveSpec {
    let named = NamedAssembly {
        assembly: DriveAssembly::Array(array),
        drives: drive.split('+').map(str::to_owned).collect(),
    };
    let file = catalog::assembly_file(named).unwrap();
    catalog::load("array", &file.text).unwrap()
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

/// A mirror is as large and writes as fast as the weaker of its drives.
#[test]
fn members_may_differ() {
    let mirror = |drives: &str| spec_of(ArraySpec::new(RaidLevel::Raid1, 2), drives);
    let mixed = mirror("disk+nvme");
    assert_eq!(
        mixed.capacity,
        mirror("nvme").capacity.min(mirror("disk").capacity)
    );
    let titles = [drive("disk").title, drive("nvme").title];
    assert_eq!(mixed.title, format!("{} as RAID 1", titles.join(" + ")));
    let written = DriveSpec::parse("array", &mixed.to_toml()).unwrap();
    assert_eq!(written, mixed);
    let slow = mixed.clone().slower(3.0);
    assert!([0, 1].iter().all(|own| slow.drive(*own).slower == 3.0));
    let iops = |spec: &DriveSpec| run(spec, &short("randwrite4k")).iops();
    let [both, disks] = [&mixed, &mirror("disk")].map(iops);
    assert!((0.8..1.25).contains(&(both / disks)), "{both} {disks}");
    let outcome = run(&mixed, &short("randwrite4k"));
    let watts = [0, 1].map(|own| outcome.watts(own, &mixed).unwrap());
    let idle = [0, 1].map(|own| mixed.drive(own).watts.unwrap().idle);
    assert!(watts.iter().zip(idle).all(|(own, idle)| *own >= idle));
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

/// Published: 20.6k without a bitmap, 17.3k with an external one of 64 MiB regions, 174 with an internal one, on drives with
/// volatile caches (RAID 5 of five, chunk 64 KiB); 6.8 % less on a mirror of two that are protected.
#[test]
fn a_bitmap_is_ruinous_on_members_with_volatile_caches_and_cheap_elsewhere() {
    let iops = |name: &str, level, members, bitmap: Option<BitmapPlace>, depth| {
        let array = ArraySpec {
            chunk: Bytes(64 << 10),
            bitmap: bitmap.map(|_| Bytes(64 << 20)),
            bitmap_on: bitmap.unwrap_or_default(),
            ..ArraySpec::new(level, members)
        };
        let spec = spec_of(array, name);
        let profile = SimulatedProfile {
            load: Arrival::Closed { depth, jobs: 1 },
            fill: 0.2,
            ..short("randwrite4k")
        };
        run(&spec, &profile).iops()
    };
    let [internal, external] = [BitmapPlace::Internal, BitmapPlace::External].map(Some);
    let volatile = |bitmap| iops("consumer-nvme-1t", RaidLevel::Raid5, 5, bitmap, 1);
    let [without, outside, inside] = [None, external, internal].map(volatile);
    assert!((10_300.0..41_200.0).contains(&without), "{without}");
    assert!((8_650.0..34_600.0).contains(&outside), "{outside}");
    assert!(outside < without, "{outside} {without}");
    // Three times the published figure: a flush of this drive takes 1 ms, and nobody published one of those.
    assert!((174.0..522.0).contains(&inside), "{inside}");
    let protected = |bitmap| iops("kingston-dc1500m-960g", RaidLevel::Raid1, 2, bitmap, 64);
    let [without, inside] = [None, internal].map(protected);
    // The published loss is md's processor time, which is not modeled.
    assert!(
        (0.93..1.001).contains(&(inside / without)),
        "{inside} {without}"
    );
}

/// The rebuild onto a spare begins when a member fails, the next one when that has ended; without a spare left none.
#[test]
fn spares_take_the_places_of_failed_members() {
    let mut spec = of(RaidLevel::Raid6, 5, 64 << 10, &[]);
    spec.file.array.as_mut().unwrap().spares = 2;
    let mut array = array(&spec, 192 << 20);
    let mut now = Nanos::from_millis(5);
    let begun = |array: &mut Array| -> Vec<u32> {
        let mut reports = array.take_rebuild_reports();
        reports.retain(|own| own.progress == RebuildProgress::BegunOnSpare);
        reports.iter().map(|own| own.member).collect()
    };
    assert!(array.fail(now, 1) && begun(&mut array) == [1]);
    now += Nanos::from_millis(50);
    while array.next_event().is_some_and(|next| next <= now) {
        array.advance(now);
    }
    assert!(array.fail(now, 3) && begun(&mut array).is_empty());
    while let Some(next) = array.next_event() {
        now = next;
        array.advance(now);
    }
    assert!(array.is_whole() && array.has_rebuilt(3));
    let reports = array.take_rebuild_reports();
    let members: Vec<u32> = reports.iter().map(|own| own.member).collect();
    assert_eq!(members, [1, 3, 3], "one ended, the other began and ended");
    assert_eq!(
        reports[2].progress,
        RebuildProgress::Ended {
            began: reports[1].at
        }
    );
    let written = array.work_by_drive();
    let of = |member: usize| written[member].bytes[DriveOp::Write as usize];
    assert_eq!((of(1), of(3)), (64 << 20, 64 << 20));
    assert!(array.fail(now, 0) && begun(&mut array).is_empty());
    assert!(array.can_replace(0));
    // One that failed before the beginning.
    spec.file.array.as_mut().unwrap().failed = vec![4];
    assert_eq!(begun(&mut super::tests::array(&spec, 192 << 20)), [4]);
}

fn write(offset: u64) -> Op {
    Op {
        kind: DriveOp::Write,
        offset,
        len: 4096,
    }
}

/// With a bitmap only what was written meanwhile is copied: whole regions, each once. Without one everything is.
#[test]
fn a_member_that_returns_is_written_what_it_missed() {
    for (level, bitmap, copied) in [
        (RaidLevel::Raid5, Some(256 << 10), 3 * (256 << 10)),
        (RaidLevel::Raid1, Some(64 << 10), 3 * (64 << 10)),
        (RaidLevel::Raid10, None, 64 << 20),
    ] {
        let mut spec = of(level, 4, 64 << 10, &[]);
        let file = spec.file.array.as_mut().unwrap();
        file.bitmap = bitmap.map(Bytes);
        let usable = file.usable(64 << 20);
        let mut array = array(&spec, usable);
        let run = |array: &mut Array| {
            while let Some(next) = array.next_event() {
                array.advance(next);
            }
        };
        array.fail(Nanos::ZERO, 1);
        // Two of them in one region, and one that the members without it hold alone.
        for offset in [0, 4096, usable / 2, usable - 4096] {
            array.submit(Nanos::from_millis(1), write(offset));
        }
        run(&mut array);
        let written = |array: &Array| array.work_by_drive()[1].bytes[DriveOp::Write as usize];
        let before = written(&array);
        let bitmap_writes = if bitmap.is_some() { 4096 } else { 0 };
        array.bring_back(Nanos::from_secs(60), 1, RebuildSpeed::default());
        // While it is filled, it misses what lies ahead.
        array.submit(Nanos::from_secs(60), write(usable - 4096));
        run(&mut array);
        assert!(array.is_whole() && array.is_idle());
        let copied_now = written(&array) - before;
        assert!(
            (copied..=copied + 2 * bitmap_writes).contains(&copied_now),
            "{level:?} {copied_now} {copied}"
        );
    }
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

/// It yields to one request in 80 ms; so does one ten times slower to one in 800 ms.
#[test]
fn a_rebuild_of_slowed_drives_yields_as_one_of_drives_as_rated() {
    let rebuilt = |times: u64| {
        let spec = of(RaidLevel::Raid5, 4, 64 << 10, &[1]).slower(times as f64);
        let mut array = array(&spec, 12 << 30);
        array.replace(Nanos::ZERO, 1, RebuildSpeed::default());
        let read = |number: u64| Op {
            kind: DriveOp::Read,
            offset: number << 20,
            len: 4096,
        };
        for number in 0..25 {
            let at = Nanos::from_millis(80 * number * times);
            while array.advance(at).is_some() {}
            array.submit(at, read(number));
        }
        while array.advance(Nanos::from_secs(2 * times)).is_some() {}
        array.rebuilt().0 as f64
    };
    let ratio = rebuilt(10) / rebuilt(1);
    assert!((0.98..1.02).contains(&ratio), "{ratio}");
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

/// How long a read of a chunk takes that comes alone.
fn read_alone(array: &mut Array, now: Nanos, offset: u64) -> f64 {
    let op = Op {
        kind: DriveOp::Read,
        offset,
        len: 64 << 10,
    };
    array.submit(now, op);
    let done = array.advance(Nanos(u64::MAX)).unwrap().at;
    (done - now).as_micros_f64()
}

#[test]
fn a_slow_member_slows_what_lies_on_it_until_it_is_replaced() {
    let mut own = array(&of(RaidLevel::Raid0, 2, 64 << 10, &[]), 64 << 20);
    let mean = |array: &mut Array, from_s: u64, member: u64| {
        let one = |i: u64| {
            let at = Nanos::from_secs(from_s) + Nanos::from_millis(10 * i);
            read_alone(array, at, (2 * i + member) * (64 << 10))
        };
        (0..50).map(one).sum::<f64>() / 50.0
    };
    let before = mean(&mut own, 1, 1);
    own.slow_down(Nanos::from_secs(2), 1, 10.0);
    let slow = mean(&mut own, 3, 1) / before;
    assert!((slow - 10.0).abs() < 1.0, "{slow}");
    let other = mean(&mut own, 4, 0) / before;
    assert!((other - 1.0).abs() < 0.1, "{other}");
    own.slow_down(Nanos::from_secs(5), 1, 1.0);
    let after = mean(&mut own, 6, 1) / before;
    assert!((after - 1.0).abs() < 0.1, "{after}");

    let mut mirror = array(&of(RaidLevel::Raid1, 2, 64 << 10, &[]), 64 << 20);
    mirror.slow_down(Nanos::ZERO, 1, 10.0);
    mirror.fail(Nanos::SECOND, 1);
    Assembled::replace(&mut mirror, Nanos::SECOND, 1);
    while mirror.is_rebuilding() {
        let next = mirror.next_event().unwrap();
        mirror.advance(next);
    }
    mirror.fail(Nanos::from_secs(60), 0);
    let replaced = read_alone(&mut mirror, Nanos::from_secs(61), 0) / before;
    assert!(replaced < 1.5, "{replaced}");
}

#[test]
fn members_wear_by_the_level_and_the_drives_write_amplification() {
    // Of random writes on the flash of this drive, of which data fill 0.8 (Xiang and Kurkoski: 2.693).
    let of_drive = 2.69;
    for (level, members, writes) in [
        (RaidLevel::Raid10, 4, 2.0),
        (RaidLevel::Raid5, 6, 2.0),
        (RaidLevel::Raid6, 8, 3.0),
        (RaidLevel::RaidF1, 6, 2.0),
    ] {
        let profile = SimulatedProfile {
            fill: 1.0,
            ..short("randwrite4k")
        };
        let outcome = run(&of(level, members, 64 << 10, &[]), &profile);
        let flash = outcome.work().flash_bytes / outcome.writes.bytes as f64;
        let expected = writes * of_drive;
        assert!(
            (flash / expected - 1.0).abs() < 0.02,
            "{level:?}: {flash} {expected}"
        );
        let wear: Vec<f64> = outcome.drives.iter().map(|own| own.flash_bytes).collect();
        let others = wear[1..].iter().sum::<f64>() / (wear.len() - 1) as f64;
        // (2 + u) / (N + u) against (2N + u − 2) / ((N + u)(N − 1)), with one parity more in a cycle: 0.429 / 0.314.
        let first = if level == RaidLevel::RaidF1 {
            1.36
        } else {
            1.0
        };
        assert!(
            (wear[0] / others - first).abs() < 0.05,
            "{level:?}: {wear:?}"
        );
    }
}
