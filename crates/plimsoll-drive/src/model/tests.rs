use super::*;
use crate::amplification::amplification;
use crate::catalog;
use crate::spec::Watts;
use plimsoll_plan::units::Bytes;

const GIB: u64 = 1 << 30;

fn spec(name: &str) -> DriveSpec {
    let entry = catalog::find(name).unwrap();
    catalog::load(entry.name, entry.text).unwrap()
}

fn setup(capacity: u64) -> Setup {
    Setup {
        capacity: Bytes(capacity),
        fill: 1.0,
        seed: 1,
        ignores_flush: false,
    }
}

fn drive(name: &str) -> Drive {
    Drive::new(&spec(name), &setup(16 * GIB))
}

fn op(kind: DriveOp, offset: u64, len: u64) -> Op {
    Op { kind, offset, len }
}

/// Writes so much in a sequence at time zero; gives when the last write is acknowledged.
fn write_at_once(drive: &mut Drive, bytes: u64) -> Nanos {
    let write = |offset| drive.complete(Nanos::ZERO, op(DriveOp::Write, offset, 1 << 20));
    (0..bytes).step_by(1 << 20).map(write).max().unwrap()
}

#[test]
fn a_volatile_flush_waits_for_what_is_buffered_and_a_protected_one_does_not() {
    let mut volatile = Drive::new(
        &spec("consumer-nvme-1t"),
        &Setup {
            fill: 0.0,
            ..setup(16 * GIB)
        },
    );
    let acknowledged = write_at_once(&mut volatile, 16 << 20);
    let flushed = volatile.complete(Nanos::ZERO, op(DriveOp::Flush, 0, 0));
    let drained = 16.0 * 1048576.0 / 3300e6;
    assert!(flushed > acknowledged);
    assert!(
        (flushed.as_secs_f64() - drained - 0.001).abs() < 0.0005,
        "{flushed}"
    );
    let idle = Nanos::SECOND;
    assert_eq!(
        volatile.complete(idle, op(DriveOp::Flush, 0, 0)) - idle,
        Nanos(1_001_667),
        "nothing is left to write"
    );
    let mut protected = drive("kingston-dc1500m-960g");
    write_at_once(&mut protected, 16 << 20);
    // The command waits for those before it, the data does not.
    let flushed = protected.complete(Nanos::ZERO, op(DriveOp::Flush, 0, 0));
    assert!(flushed < Nanos::from_micros(60), "{flushed}");
}

#[test]
fn flushes_that_come_during_a_flush_share_the_next_one() {
    let mut drive = drive("consumer-nvme-1t");
    let at = |us| Nanos::from_secs(1) + Nanos::from_micros(us);
    let mut flush = |us| {
        (drive.complete(at(us), op(DriveOp::Flush, 0, 0)) - at(0))
            .as_micros_f64()
            .floor()
    };
    assert_eq!(
        [flush(0), flush(100), flush(500), flush(900)],
        [1001.0, 2001.0, 2001.0, 2001.0]
    );
    assert_eq!([flush(1500), flush(5000)], [3001.0, 6001.0]);
}

#[test]
fn a_drive_that_ignores_flushes_answers_them_at_once() {
    for name in ["consumer-nvme-1t", "disk-7200rpm-4t", "aws-gp3"] {
        let setup = Setup {
            ignores_flush: true,
            ..setup(16 * GIB)
        };
        let mut lying = Drive::new(&spec(name), &setup);
        write_at_once(&mut lying, 16 << 20);
        let now = Nanos::from_secs(1);
        let flushed = lying.complete(now, op(DriveOp::Flush, 0, 0)) - now;
        assert!(flushed <= Nanos::from_micros(100), "{name}: {flushed}");
    }
}

#[test]
fn a_log_on_a_disk_costs_a_turn_for_each_flush() {
    let mut disk = drive("disk-7200rpm-4t");
    let mut now = Nanos::ZERO;
    for i in 0..100 {
        now = disk.complete(now, op(DriveOp::Write, i * 8192, 8192));
        now = disk.complete(now, op(DriveOp::Flush, 0, 0));
    }
    let each = now.as_millis_f64() / 100.0;
    assert!((each - 60e3 / 7200.0).abs() < 0.1, "{each} ms");
}

#[test]
fn two_sequences_that_a_disk_buffers_are_written_as_such_and_random_ones_are_not() {
    let rate = |offset: fn(u64, u64) -> u64| {
        let mut disk = drive("disk-7200rpm-4t");
        let (mut now, mut half, mut random) = (Nanos::ZERO, Nanos::ZERO, Random::new(1));
        for i in 0..4000u64 {
            now = disk.complete(
                now,
                op(DriveOp::Write, offset(i, random.below(15 * GIB)), 128 << 10),
            );
            half = if i < 2000 { now } else { half };
        }
        2000.0 * 131_072.0 / 1e6 / (now - half).as_secs_f64()
    };
    let two = rate(|i, _| i % 2 * 8 * GIB + i / 2 * (128 << 10));
    let scattered = rate(|_, random| random);
    assert!(
        two > 120.0 && (28.0..34.0).contains(&scattered),
        "{two} and {scattered} MB/s"
    );
}

#[test]
fn a_flush_of_a_disk_takes_less_for_each_of_more_writes_and_for_near_ones() {
    let flush_ms = |writes: u64, within: u64| {
        let mut disk = drive("disk-7200rpm-4t");
        let mut random = Random::new(1);
        let mut total = 0.0;
        for second in (0..2000).step_by(20) {
            let now = Nanos::from_secs(second);
            for _ in 0..writes {
                let offset = random.below(within / 4096) * 4096;
                disk.complete(now, op(DriveOp::Write, offset, 4096));
            }
            total += (disk.complete(now, op(DriveOp::Flush, 0, 0)) - now).as_millis_f64();
        }
        total / 100.0 / writes as f64
    };
    let all = 16 * GIB;
    let each = [1, 4, 32, 256, 2048].map(|writes| flush_ms(writes, all));
    assert!(
        each.windows(2).all(|pair| pair[1] < pair[0] * 0.85),
        "{each:?}"
    );
    assert!(
        (each[0] - 12.7).abs() < 1.0,
        "half a turn and the average seek: {each:?}"
    );
    let near = flush_ms(4, all / 100);
    assert!(near < each[1] * 0.7, "{near} and {each:?}");
}

#[test]
fn reads_of_a_disk_come_in_order_and_a_sequence_needs_no_positioning() {
    let mut disk = drive("disk-7200rpm-4t");
    let mut random = Random::new(5);
    let done: Vec<Nanos> = (0..200u64)
        .map(|i| {
            disk.complete(
                Nanos(i * 1_000_000),
                op(DriveOp::Read, random.below(4 * GIB) * 4, 4096),
            )
        })
        .collect();
    assert!(done.windows(2).all(|pair| pair[0] < pair[1]));
    let start = Nanos::from_secs(100);
    let first = disk.complete(start, op(DriveOp::Read, 0, 1 << 20));
    let next = disk.complete(first, op(DriveOp::Read, 1 << 20, 1 << 20));
    let ms = (next - first).as_millis_f64();
    assert!(
        (ms - 1048576.0 / 180e3).abs() < 0.1,
        "{ms} ms for a MiB at 180 MB/s"
    );
}

#[test]
fn a_fuller_drive_writes_more_for_the_same_and_trimming_helps() {
    // Writes of 1 GiB at random places, and how long the flash works for them.
    let writing = |drive: &mut Drive| {
        let mut random = Random::new(2);
        let before = drive.work();
        for _ in 0..GIB / 4096 {
            drive.complete(
                Nanos::ZERO,
                op(DriveOp::Write, random.below(16 * GIB / 4096) * 4096, 4096),
            );
        }
        drive.work().since(&before).flash_bytes / GIB as f64
    };
    let spec = spec("kingston-dc1500m-960g");
    let of = |fill| {
        Drive::new(
            &spec,
            &Setup {
                fill,
                ..setup(16 * GIB)
            },
        )
    };
    let (full, half, mut empty) = (writing(&mut of(1.0)), writing(&mut of(0.5)), of(0.0));
    assert!((full - amplification(0.873)).abs() < 0.02, "{full}");
    assert!((half - amplification(0.873 / 2.0)).abs() < 0.02, "{half}");
    let fresh = writing(&mut empty);
    for offset in (0..16 * GIB).step_by(1 << 20) {
        empty.complete(Nanos::ZERO, op(DriveOp::Write, offset, 1 << 20));
    }
    let used = writing(&mut empty);
    empty.complete(Nanos::ZERO, op(DriveOp::Trim, 0, 16 * GIB));
    let trimmed = writing(&mut empty);
    assert!(
        fresh < 1.05 && used > 4.0 && (trimmed - fresh).abs() < 0.01,
        "{fresh} {used} {trimmed}"
    );
}

#[test]
fn fast_flash_is_used_up_and_comes_back() {
    let spec = spec("consumer-nvme-1t");
    let mut drive = Drive::new(
        &spec,
        &Setup {
            fill: 0.0,
            ..setup(spec.capacity.0)
        },
    );
    // Seconds for 10 GB in a sequence, one request after the other.
    let mut write = |from: u64, mut now: Nanos| {
        let start = now;
        for i in 0..10_000 {
            now = drive.complete(now, op(DriveOp::Write, from + i * 1_000_000, 1_000_000));
        }
        (now - start).as_secs_f64()
    };
    let mut now = Nanos::ZERO;
    let mut paces = Vec::new();
    for i in 0..6 {
        let took = write(i * 10_000_000_000, now);
        now += Nanos::from_secs_f64(took);
        paces.push(10e3 / took);
    }
    assert!(
        paces[..4]
            .iter()
            .all(|pace| (pace / 3300.0 - 1.0).abs() < 0.03),
        "{paces:?}"
    );
    assert!((paces[5] / 1700.0 - 1.0).abs() < 0.03, "{paces:?}");
    let rested = 10e3 / write(60_000_000_000, now + Nanos::from_secs(60));
    assert!(rested > 3200.0, "{rested}");
}

#[test]
fn a_drive_that_is_slowed_takes_so_many_times_as_long_until_that_ends() {
    for name in ["kingston-dc500m-960g", "disk-7200rpm-4t", "aws-gp3"] {
        let mut rated = drive(name);
        let mut slowed = drive(name);
        let changed = Nanos::SECOND;
        slowed.slow_down(changed, 10.0);
        let requests = (0..200u64).map(|i| {
            let kind = [DriveOp::Read, DriveOp::Write][usize::from(i % 3 == 0)];
            op(kind, i * 977 * 4096 % (16 * GIB), 4096)
        });
        let requests: Vec<Op> = requests.collect();
        for (i, op) in (1u64..).zip(&requests) {
            let own = Nanos::from_micros(700 * i);
            let took = rated.complete(changed + own, *op) - changed - own;
            let real = changed + Nanos(own.0 * 10);
            let slow = slowed.complete(real, *op) - real;
            assert!(slow.0.abs_diff(10 * took.0) <= 10, "{name}: {slow} {took}");
        }
        let busy = |drive: &Drive| drive.work().reading.0 + drive.work().writing.0;
        assert!(
            busy(&slowed).abs_diff(10 * busy(&rated)) <= 10 * 200,
            "{name}"
        );
        let later = Nanos::from_secs(20);
        slowed.slow_down(later, 1.0);
        assert!(
            busy(&slowed).abs_diff(10 * busy(&rated)) <= 10 * 200,
            "{name}"
        );
        for (i, op) in (1u64..).zip(&requests) {
            let at = Nanos::from_micros(700 * i) + later;
            let took = rated.complete(at, *op) - at;
            let after = slowed.complete(at, *op) - at;
            assert!(
                name.starts_with("disk") || after.0.abs_diff(took.0) <= 2,
                "{name}"
            );
        }
    }
}

#[test]
fn a_read_while_the_drive_writes_takes_longer() {
    let mean = |drive: &mut Drive, from: Nanos| {
        let one = |i: u64| {
            let now = from + Nanos::from_micros(200 * i);
            (drive.complete(now, op(DriveOp::Read, i * 977 * 4096 % (16 * GIB), 4096)) - now)
                .as_micros_f64()
        };
        (0..1000).map(one).sum::<f64>() / 1000.0
    };
    let mut flash = drive("kingston-dc1500m-960g");
    let alone = mean(&mut flash, Nanos::ZERO);
    let from = Nanos::from_secs(1);
    for i in 0..200_000 {
        flash.complete(from, op(DriveOp::Write, i * 7919 * 4096 % (16 * GIB), 4096));
    }
    let beside = mean(&mut flash, from);
    // Half of 60 µs on average.
    assert!((beside - alone - 30.0).abs() < 6.0, "{alone} {beside}");
}

#[test]
fn a_volume_pays_its_burst_back() {
    let mut volume = drive("aws-gp3");
    let done: Vec<Nanos> = (0..3000)
        .map(|i| volume.complete(Nanos::ZERO, op(DriveOp::Read, i * 4096, 4096)))
        .collect();
    assert!(done[29] < Nanos::from_millis(4), "{}", done[29]);
    let last = done[2999].as_secs_f64();
    assert!((last - 2970.0 / 3000.0).abs() < 0.01, "{last}");
    let now = Nanos::from_secs(5);
    let large = volume.complete(now, op(DriveOp::Read, 0, 1 << 20));
    let next = volume.complete(now, op(DriveOp::Read, 0, 64 << 20));
    assert!(large - now < Nanos::from_millis(4));
    assert!(
        (next.as_secs_f64() - 5.0 - 63.0 / 125.0).abs() < 0.01,
        "65 MiB less the burst of 2, at 125 a second: {next}"
    );
}

#[test]
fn power_is_idle_power_and_what_work_adds() {
    let watts = Watts {
        idle: 5.0,
        read: 7.0,
        write: 11.0,
    };
    let half = Work {
        reading: Nanos::from_millis(500),
        ..Work::default()
    };
    assert_eq!(half.watts(watts, Nanos::SECOND), 6.0);
    let both = Work {
        writing: Nanos::from_secs(3),
        ..half
    };
    assert_eq!(
        both.watts(watts, Nanos::SECOND),
        9.0,
        "never busier than all the time"
    );
}

#[test]
fn after_a_power_cut_nothing_waits_and_the_drive_is_as_full_as_before() {
    for name in ["consumer-nvme-1t", "disk-7200rpm-4t", "aws-gp3"] {
        let mut drive = Drive::new(
            &spec(name),
            &Setup {
                fill: 0.1,
                ..setup(16 * GIB)
            },
        );
        let acknowledged = write_at_once(&mut drive, 4 * GIB);
        let random = |i: u64| op(DriveOp::Read, i * 7919 % 4096 * 4096, 4096);
        (0..5000).for_each(|i| {
            drive.complete(Nanos::ZERO, random(i));
        });
        let flushed = drive
            .clone()
            .complete(Nanos::SECOND, op(DriveOp::Flush, 0, 0))
            - Nanos::SECOND;
        let wrote = drive.work();
        drive.power_cycle(Nanos::SECOND);
        assert_eq!(drive.work(), wrote, "{name}");
        for kind in [DriveOp::Flush, DriveOp::Read] {
            let took = drive.clone().complete(Nanos::SECOND, op(kind, 4096, 4096)) - Nanos::SECOND;
            assert!(
                took < Nanos::from_millis(30),
                "{name}: {kind:?} takes {took}"
            );
        }
        let waited = acknowledged.max(flushed);
        assert!(
            waited > Nanos::from_millis(100),
            "{name}: there was something to wait for, {waited}"
        );
    }
    let mut flash = Drive::new(
        &spec("consumer-nvme-1t"),
        &Setup {
            fill: 0.0,
            ..setup(GIB)
        },
    );
    write_at_once(&mut flash, GIB);
    let copied = |drive: &mut Drive| {
        let before = drive.work();
        let mut random = Random::new(2);
        for _ in 0..1000 {
            drive.complete(
                Nanos::SECOND,
                op(DriveOp::Write, random.below(GIB / 4096) * 4096, 4096),
            );
        }
        drive.work().since(&before).flash_bytes
    };
    let without_cut = copied(&mut flash.clone());
    flash.power_cycle(Nanos::SECOND);
    let with_cut = copied(&mut flash);
    assert!(
        (with_cut / without_cut - 1.0).abs() < 0.01 && with_cut > 2.0 * 4_096_000.0,
        "{with_cut}"
    );
}

/// Reads, writes and flushes of small and large size in the order of their times.
fn mixed(drive: &mut Drive, times: u64) -> Vec<u64> {
    let mut random = Random::new(7);
    let mut now = 0;
    let mut one = |i: u64| {
        now += random.below(400_000);
        let (kind, len) = [
            (DriveOp::Read, 8192),
            (DriveOp::Write, 8192),
            (DriveOp::Write, 1 << 20),
            (DriveOp::Flush, 0),
        ][random.below(4) as usize];
        let offset = (random.below(16 << 10) << 20) + i % 7 * 8192;
        drive.complete(Nanos(now * times), op(kind, offset, len)).0
    };
    (0..2000).map(&mut one).collect()
}

#[test]
fn a_slower_drive_does_the_same_later() {
    for name in [
        "kingston-dc1500m-960g",
        "micron-5200-eco-1920g",
        "disk-7200rpm-4t",
        "aws-gp3",
    ] {
        let mut slowed = Drive::new(&spec(name).slower(16.0), &setup(16 * GIB));
        let mut rated = drive(name);
        let later: Vec<u64> = mixed(&mut rated, 1).into_iter().map(|at| at * 16).collect();
        assert_eq!(mixed(&mut slowed, 16), later, "{name}");
        let (is, was) = (slowed.work(), rated.work());
        assert_eq!(
            (is.reading.0, is.writing.0),
            (was.reading.0 * 16, was.writing.0 * 16),
            "{name}"
        );
    }
}

#[test]
fn a_slower_drive_never_answers_before_it_was_asked() {
    let mut drive = Drive::new(&spec("aws-gp3").slower(333.3), &setup(16 * GIB));
    for at in (0..100_000).map(|i| i * 1_000_003 + 17) {
        let answered = drive.complete(Nanos(at), op(DriveOp::Flush, 0, 0));
        assert!(answered.0 >= at, "{answered} of {at}");
    }
}

/// Every request completes once, at the time at which it would be given at once, and in the order of these times.
#[test]
fn events_have_the_times_that_requests_get_at_once() {
    for entry in catalog::all() {
        let drive_spec = catalog::load(entry.name, entry.text).unwrap();
        let mut at_once = Drive::new(&drive_spec, &setup(16 * GIB));
        let mut drive = at_once.clone();
        let mut random = Random::new(7);
        let mut expected = ByRequest::default();
        let mut now = Nanos::ZERO;
        let (mut submitted, mut completed, mut last) = (0, 0, Nanos::ZERO);
        for _ in 0..3000 {
            while let Some(done) = drive.advance(now) {
                assert_eq!(*expected.get(done.id), done.at, "{}", entry.name);
                assert!(done.at >= last, "{}", entry.name);
                last = done.at;
                completed += 1;
            }
            let kind = DriveOp::ALL[random.below(4) as usize];
            let request = op(kind, random.below(4 << 20) * 4096, 4096 << random.below(4));
            let id = drive.submit(now, request);
            expected.set(id, at_once.complete(now, request));
            submitted += 1;
            now += Nanos(random.below(200_000));
        }
        while drive.advance(Nanos(u64::MAX)).is_some() {
            completed += 1;
        }
        assert_eq!(completed, submitted, "{}", entry.name);
        assert_eq!(drive.next_event(), None);
        assert_eq!(drive.work(), at_once.work());
    }
}
