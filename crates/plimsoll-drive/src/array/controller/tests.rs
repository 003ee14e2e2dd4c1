use super::*;
use crate::catalog;
use crate::model::Random;
use crate::simulate::{Arrival, SimulatedProfile, SimulatedResult, named, simulate};
use plimsoll_plan::assembly::NamedAssembly;
use proptest::prelude::*;

fn spec(name: &str) -> DriveSpec {
    let named: NamedAssembly = name.parse().unwrap();
    let file = catalog::assembly_file(named).unwrap();
    catalog::load(name, &file.text).unwrap()
}

fn controller(name: &str, capacity: u64) -> ArrayController {
    let spec = spec(name);
    let setup = Setup {
        capacity: Bytes(capacity),
        fill: 0.5,
        seed: 7,
        ignores_flush: false,
    };
    ArrayController::new(&spec, spec.file.array.as_ref().unwrap(), &setup)
}

fn op(kind: DriveOp, offset: u64, len: u64) -> Op {
    Op { kind, offset, len }
}

/// How long a request takes when no other is there.
fn alone(own: &mut ArrayController, now: Nanos, op: Op) -> Nanos {
    let id = own.submit(now, op);
    let done = own.advance(Nanos(u64::MAX)).unwrap();
    assert!(own.requests.is_empty() && done.id == id);
    done.at - now
}

/// Sequential writes of 1 MiB, 8 in flight.
fn written(name: &str) -> SimulatedResult {
    let profile = SimulatedProfile {
        block: Bytes(1 << 20),
        load: Arrival::Closed { depth: 8, jobs: 1 },
        warm: Nanos::from_millis(300),
        measure: Nanos::SECOND,
        ..named("seqwrite128k").unwrap()
    };
    simulate(&spec(name), &profile)
}

#[test]
fn a_network_takes_a_round_trip_and_the_time_of_the_data() {
    let near = "raid10:4:nvme:stack=1us";
    let far = "raid10:4:nvme:stack=1us:network=10Gb:round-trip=80us";
    for (kind, data) in [(DriveOp::Write, 1 << 20), (DriveOp::Read, 1 << 20)] {
        let [near, far] = [near, far].map(|name| {
            let mut own = controller(name, 1 << 30);
            alone(&mut own, Nanos::ZERO, op(kind, 0, data))
        });
        // 1 MiB at 10 Gbit/s, of which 94.1 % are data, and the round trip.
        let more = (far - near).0 as f64 / 1e3;
        assert!((more - 80.0 - 891.0).abs() < 0.1, "{kind:?} {more}");
    }
    let mut own = controller(far, 1 << 30);
    let flushed = alone(&mut own, Nanos::ZERO, op(DriveOp::Flush, 0, 0));
    assert!(flushed > Nanos::from_micros(80) && flushed < Nanos::from_micros(120));
}

#[test]
fn requests_share_a_line_in_each_direction() {
    let rate = |name: &str| written(name).bytes_per_second();
    let fast = rate("raid0:6:nvme:network=100Gb");
    let slow = rate("raid0:6:nvme:network=10Gb");
    // 10 Gbit/s, of which 94.1 % are data.
    assert!((slow / 1.1866e9 - 1.0).abs() < 0.01, "{slow}");
    assert!(fast > 4.0 * slow, "{fast}");
}

/// Report H (Hardwareluxx, Synology FS3017): sequential writes of 1 MiB, published 1816.7, 1429.5 and 1840.8 MB/s on 6
/// drives of which each could write 520. The processor time is fitted to the first figure; the other two were held out.
#[test]
fn arrays_behind_a_nas_write_what_report_h_measured() {
    let rate = |level| {
        let name = format!("{level}:6:kingston-dc500m-960g:chunk=64KiB:stack=11.25us:network=20Gb");
        written(&name).bytes_per_second() / 1e6
    };
    let [raid5, raid6, f1] = ["raid5", "raid6", "raidf1"].map(rate);
    for (modeled, published) in [(raid5, 1816.7), (raid6, 1429.5), (f1, 1840.8)] {
        let deviation = modeled / published - 1.0;
        assert!(deviation.abs() < 0.03, "{modeled} {published}");
    }
    assert!((raid5 / raid6 / 1.25 - 1.0).abs() < 0.03, "{raid5} {raid6}");
    assert!((f1 / raid5 / 1.01 - 1.0).abs() < 0.03, "{f1} {raid5}");
}

fn bytes_written(own: &ArrayController) -> u64 {
    let work = own.work_by_drive();
    let written = work.iter().map(|own| own.bytes[DriveOp::Write as usize]);
    written.sum()
}

/// Everything that was written is in the array or waits, each block once, also after a power cut.
#[test]
fn what_a_cache_acknowledged_is_destaged_once() {
    let mut own = controller("raid0:4:nvme:cache=16MiB", 1 << 30);
    let mut random = Random::new(3);
    let mut now = Nanos::ZERO;
    let mut blocks = std::collections::HashSet::new();
    for _ in 0..3_000 {
        let at = random.below(2_000) * 4096;
        now += alone(&mut own, now, op(DriveOp::Write, at, 4096));
        blocks.insert(at);
    }
    let waiting = |own: &ArrayController| own.cache.as_ref().unwrap().waiting_bytes();
    assert!(bytes_written(&own) > 0);
    own.power_cycle(now);
    now += alone(&mut own, now, op(DriveOp::Write, 1 << 25, 12 << 20));
    // What waits is what was not destaged since it was written last, so the rest of the blocks is on the drives.
    let on_drives = blocks.len() as u64 * 4096 + (12 << 20) - waiting(&own);
    assert!(bytes_written(&own) >= on_drives);
    assert_eq!(alone(&mut own, now, op(DriveOp::Flush, 0, 0)), CACHE_ANSWER);
}

/// Random writes are as fast as the cache until that is full, and then as fast as the array takes them.
#[test]
fn a_full_cache_slows_writes_down_to_destaging() {
    let run = |name: &str, ms: u64| {
        let profile = SimulatedProfile {
            warm: Nanos::ZERO,
            measure: Nanos::from_millis(ms),
            working_share: 0.5,
            ..named("randwrite4k").unwrap()
        };
        simulate(&spec(name), &profile)
    };
    let name = "raid5:4:sata:chunk=64KiB:cache=20MB";
    let (fresh, full) = (run(name, 1), run(name, 2_000));
    let uncached = run("raid5:4:sata:chunk=64KiB", 2_000);
    assert!(fresh.iops() > 20.0 * full.iops());
    // By address and at a greater depth: not slower, and not much faster.
    let gain = full.iops() / uncached.iops();
    assert!((0.9..2.0).contains(&gain), "{gain}");
    // What was acknowledged is written to data and parity, but for what the cache holds.
    let written = full.work().bytes[DriveOp::Write as usize] / 2;
    let waits = full.writes.bytes - written;
    assert!((12_000_000..20_000_001).contains(&waits), "{waits}");
}

#[test]
fn sequential_writes_are_destaged_as_whole_stripes() {
    let profile = SimulatedProfile {
        measure: Nanos::SECOND,
        ..named("log").unwrap()
    };
    let result = simulate(&spec("raid5:6:sata:chunk=64KiB:cache=64MB"), &profile);
    let work = result.work();
    let of = |kind: DriveOp| work.bytes[kind as usize] as f64;
    assert!(of(DriveOp::Read) < 0.01 * of(DriveOp::Write));
    // Six chunks for five; by the end of the second what fills the cache is not yet destaged.
    let written = of(DriveOp::Write) / result.writes.bytes as f64;
    assert!((1.1..1.3).contains(&written), "{written}");
}

#[test]
fn cached_blocks_are_read_from_the_cache_until_others_need_the_room() {
    for name in [
        "raid1:2:sata:cache=16MiB",
        "raid1:2:sata:cache=16MiB:battery=no",
    ] {
        let mut own = controller(name, 1 << 30);
        let mut now = Nanos::ZERO;
        let mut take = |kind, offset, len| {
            let took = alone(&mut own, now, op(kind, offset, len));
            now += took;
            took
        };
        let is_cached = |took: Nanos| took == CACHE_ANSWER;
        assert_eq!(
            is_cached(take(DriveOp::Write, 0, 8192)),
            !name.contains("battery")
        );
        assert!(is_cached(take(DriveOp::Read, 4096, 4096)));
        assert!(!is_cached(take(DriveOp::Read, 4096, 8192)), "only half");
        assert!(is_cached(take(DriveOp::Read, 4096, 8192)));
        assert!(!is_cached(take(DriveOp::Read, 1 << 25, 4096)));
        for offset in 0..4 {
            take(DriveOp::Read, (8 + offset) << 22, 4 << 20);
        }
        assert!(!is_cached(take(DriveOp::Read, 1 << 20, 4096)));
        assert!(!is_cached(take(DriveOp::Read, 4096, 8192)) || !name.contains("battery"));
    }
}

#[test]
fn a_write_through_journal_has_data_and_parity_before_the_array() {
    let sizes = [
        ("raid5:6", 4096, 4096),
        ("raid6:6", 4096, 8192),
        ("raid5:6", 2 * 5 * 65_536, 2 * 65_536),
        ("raid6:6", 4 * 65_536 + 8192, 2 * (65_536 + 8192)),
    ];
    for (array, len, parity) in sizes {
        let plain = format!("{array}:consumer-nvme-1t:chunk=64KiB");
        let [plain, logged] = ["network=100Gb", "network=100Gb:journal=write-through"]
            .map(|option| controller(&format!("{plain}:{option}"), 1 << 30));
        let write = op(DriveOp::Write, 0, len);
        let [(plain, _), (took, own)] = [plain, logged].map(|mut own| {
            let took = alone(&mut own, Nanos::ZERO, write);
            (took, own)
        });
        let work = own.work_by_drive();
        assert_eq!(work.len(), 7);
        assert_eq!(work[6].bytes[DriveOp::Write as usize], 4096 + len + parity);
        // Its drive's cache is volatile, so the flush takes a millisecond.
        assert!(took > plain + Nanos::from_millis(1), "{took} {plain}");
        assert_eq!(work[6].ops[DriveOp::Flush as usize], 1);
    }
}

#[test]
fn writes_that_wait_for_the_journals_flush_share_it() {
    let mut own = controller("raid5:4:consumer-nvme-1t:journal=write-through", 1 << 30);
    for number in 0..32 {
        own.submit(Nanos::ZERO, op(DriveOp::Write, number << 22, 4096));
    }
    while own.advance(Nanos(u64::MAX)).is_some() {}
    assert!(own.is_idle());
    let work = own.work_by_drive();
    assert_eq!(work[4].ops[DriveOp::Write as usize], 32);
    assert!(work[4].ops[DriveOp::Flush as usize] < 5);
}

#[test]
fn a_write_back_journal_answers_when_it_has_the_data() {
    let mut own = controller("raid5:4:nvme:chunk=64KiB:journal=write-back", 1 << 30);
    let mut now = Nanos::ZERO;
    now += alone(&mut own, now, op(DriveOp::Write, 1 << 20, 4096));
    assert!(now < Nanos::from_micros(100), "{now}");
    now += alone(&mut own, now, op(DriveOp::Read, 1 << 20, 4096));
    now += alone(&mut own, now, op(DriveOp::Flush, 0, 0));
    let work = own.work_by_drive();
    let array = work[..4].iter().map(|own| own.ops.iter().sum::<u64>());
    assert_eq!(array.sum::<u64>(), 0, "it is in memory");
    assert_eq!(work[4].ops, [0, 1, 1, 0]);
    // 256 rows of 12 KiB are 3 MiB.
    for number in 0..1000 {
        now += alone(&mut own, now, op(DriveOp::Write, number << 12, 4096));
    }
    let work = own.work_by_drive();
    let written = work[..4]
        .iter()
        .map(|own| own.bytes[DriveOp::Write as usize]);
    assert!(written.sum::<u64>() > 1 << 20);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever is asked for, whichever member fails or is replaced when: each request completes once and not before its
    /// round trip, and completions come in order.
    #[test]
    fn requests_complete_once_through_a_controller(seed in any::<u64>(), steps in 20u64..150, option in 0usize..5) {
        let capacity = 48 << 20;
        let option = [
            "stack=5us",
            "cache=2MiB",
            "cache=4MiB:battery=no",
            "journal=write-through",
            "journal=write-back",
        ][option];
        let name = format!("raid5:5:sata:chunk=16KiB:network=10Gb:round-trip=50us:{option}");
        let mut own = controller(&name, capacity);
        let mut random = Random::new(seed);
        let mut now = Nanos::ZERO;
        let mut last = Nanos::ZERO;
        let mut arrived = ByRequest::default();
        let mut open = 0u64;
        let mut failed = None;
        for step in 0..=steps {
            now = if step < steps { now + Nanos(random.below(400_000)) } else { Nanos(u64::MAX) };
            while let Some(own) = own.advance(now) {
                prop_assert!(own.at >= last && own.at <= now);
                prop_assert!(own.at >= *arrived.get(own.id) + Nanos::from_micros(50));
                last = own.at;
                open -= 1;
            }
            if step == steps {
                break;
            }
            match (random.below(12), failed) {
                (2, _) if open == 0 => own.power_cycle(now),
                (0, None) if !own.array.is_rebuilding() => {
                    let member = random.below(5) as u32;
                    prop_assert!(own.fail(now, member));
                    failed = Some(member);
                }
                (1, Some(member)) => {
                    own.replace(now, member);
                    failed = None;
                }
                _ => {}
            }
            let len = (4096 << random.below(6)).min(capacity);
            let kind = DriveOp::ALL[random.below(4) as usize];
            let offset = random.below((capacity - len) / 4096 + 1) * 4096;
            let id = own.submit(now, op(kind, offset, len));
            arrived.set(id, now);
            open += 1;
        }
        prop_assert!(open == 0 && own.is_idle());
    }
}
