use super::*;
use crate::predict::tests::FixedDrive;

fn spec(users: u32, locks: Vec<LockClass>) -> LoopSpec {
    LoopSpec {
        users,
        think_s: 0.0,
        processors: 2,
        cpu_s: 100e-6,
        reads: 0.0,
        pages_written: 0.0,
        commits: 1.0,
        log_bytes: 4096,
        page_bytes: 4096,
        page_writing: PageWriting::Background,
        journal_tick: None,
        locks,
        hop_s: 0.0,
        emulator_s: 0.0,
    }
}

fn is_near(value: f64, expected: f64, percent: f64) {
    let off = (value / expected - 1.0).abs() * 100.0;
    assert!(
        off < percent,
        "{value} is not within {percent} % of {expected}"
    );
}

#[test]
fn one_user_takes_the_sum_of_its_parts() {
    let result = run(&spec(1, vec![]), FixedDrive::of_us(400));
    // 100 µs of CPU, a write and a flush.
    is_near(result.per_second, 1.0 / 900e-6, 1.0);
    is_near(result.times.flush_s, 800e-6, 1.0);
    is_near(result.cpu_busy, 100.0 / 900.0 / 2.0, 3.0);
    let reading = LoopSpec {
        commits: 0.0,
        reads: 2.5,
        ..spec(1, vec![])
    };
    let result = run(&reading, FixedDrive::of_us(400));
    is_near(result.per_second, 1.0 / (100e-6 + 2.5 * 400e-6), 2.0);
    assert_eq!(result.flushes, 0.0);
}

#[test]
fn commits_share_flushes_as_the_load_grows() {
    let flushes =
        [1, 2, 8, 32].map(|users| run(&spec(users, vec![]), FixedDrive::of_us(400)).flushes);
    is_near(flushes[0], 1.0, 0.1);
    // b = min(N, X · t): one group is flushed while the other gathers.
    assert!(
        flushes.windows(2).all(|pair| pair[1] < pair[0] * 1.01),
        "{flushes:?}"
    );
    assert!((1.0 / 32.0..1.0 / 8.0).contains(&flushes[3]), "{flushes:?}");
}

#[test]
fn users_of_one_lock_wait_for_each_other() {
    let one = LockClass {
        share: 1.0,
        locks: 1,
    };
    let [alone, four] = [1, 4].map(|users| run(&spec(users, vec![one]), FixedDrive::of_us(400)));
    is_near(four.per_second, alone.per_second, 2.0);
    is_near(four.times.lock_s, 3.0 / alone.per_second, 3.0);
}

#[test]
fn a_checkpoint_and_the_journal_lengthen_commits() {
    let plain = run(&spec(1, vec![]), FixedDrive::of_us(400));
    let pages = LoopSpec {
        pages_written: 5.0,
        page_writing: PageWriting::Checkpoint { commits: 50.0 },
        ..spec(1, vec![])
    };
    // Once in 50 commits all pages at once, and a flush.
    let flush_s = run(&pages, FixedDrive::of_us(400)).times.flush_s;
    is_near(flush_s, plain.times.flush_s + 800e-6 / 50.0, 1.0);
    let journal = LoopSpec {
        journal_tick: Some(Nanos::from_micros(1)),
        ..spec(1, vec![])
    };
    let result = run(&journal, FixedDrive::of_us(400));
    is_near(result.flushes, 2.0, 0.1);
    is_near(result.times.flush_s, 5.0 * 400e-6, 1.0);
}

#[test]
fn the_emulator_takes_processors_away() {
    let busy = LoopSpec {
        emulator_s: 300e-6,
        ..spec(8, vec![])
    };
    let [without, with] = [spec(8, vec![]), busy].map(|spec| run(&spec, FixedDrive::of_us(100)));
    assert!(with.times.cpu_s > without.times.cpu_s * 1.2 && with.cpu_busy > without.cpu_busy);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    #[test]
    fn a_faster_drive_carries_no_less(users in 1u32..9, slow in 2u64..3000, cpu in 1.0f64..1000.0, pages in 0.0f64..8.0) {
        let spec = LoopSpec { cpu_s: cpu * 1e-6, pages_written: pages, ..spec(users, vec![]) };
        let [fast, slow] = [slow / 2, slow].map(|us| run(&spec, FixedDrive::of_us(us)));
        // Draws fall to other transactions.
        proptest::prop_assert!(fast.per_second > slow.per_second * 0.97, "{fast:?} {slow:?}");
        proptest::prop_assert!(fast.cpu_busy <= 1.01 && fast.per_second.is_finite());
    }
}
