//! When a load is steady: as long as a buffer fills, it shows the buffer's rate and not the drive's.

use std::collections::BTreeMap;

use plimsoll_import::fio_output::LogLine;
use plimsoll_stats::rounds;
use plimsoll_stats::rounds::SteadyRule;

/// Windows of the second half of a load.
const WINDOWS: usize = 5;
/// SNIA's criterion (PTS 2.0.2) with half its slope: a drift of 5 % is as much as a drive file may be off.
const RULE: SteadyRule = SteadyRule {
    window: WINDOWS as u32,
    range: 0.2,
    slope: 0.05,
};
/// No load is measured for longer: 10 minutes, doubled so often as it may be.
const MOST_MISSING: u64 = 600 * 16 * 10;
/// The interval that fio was asked for.
const INTERVAL_MS: u64 = 100;

/// The rate at the end of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledRate {
    /// Bytes per second in consecutive windows of the load's second half.
    pub windows: Vec<f64>,
    pub steady: bool,
}

/// `log`: KiB/s of each thread at the end of each interval. `None`: too short for windows.
pub fn settled(log: &[LogLine]) -> Option<SettledRate> {
    let rates = sums(log);
    let half = &rates[rates.len() / 2..];
    let size = half.len() / WINDOWS;
    if size == 0 {
        return None;
    }
    // The last interval may be cut short: what is too much for whole windows is left out at the end.
    let windows: Vec<f64> = half
        .chunks_exact(size)
        .take(WINDOWS)
        .map(|window| window.iter().sum::<f64>() / size as f64)
        .collect();
    let steady = rounds::fit(&windows, &RULE).is_some_and(|fit| fit.steady);
    Some(SettledRate { windows, steady })
}

/// Bytes per second in each interval, summed over the threads.
fn sums(log: &[LogLine]) -> Vec<f64> {
    let mut by_interval: BTreeMap<u64, (u64, f64)> = BTreeMap::new();
    for line in log {
        let sum = by_interval
            .entry((line.at_ms + INTERVAL_MS / 2) / INTERVAL_MS)
            .or_insert((line.at_ms, 0.0));
        sum.1 += line.value as f64 * 1024.0;
    }
    let mut rates = Vec::new();
    let mut last = 0;
    for (at_ms, rate) in by_interval.into_values() {
        // fio writes no line for an interval in which nothing was done.
        let missing =
            ((at_ms.saturating_sub(last) + INTERVAL_MS / 2) / INTERVAL_MS).saturating_sub(1);
        rates.extend(std::iter::repeat_n(0.0, missing.min(MOST_MISSING) as usize));
        rates.push(rate);
        last = at_ms;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(rates_kib: impl IntoIterator<Item = u64>) -> Vec<LogLine> {
        let line = |(i, value)| LogLine {
            at_ms: (i as u64 + 1) * 100,
            value,
        };
        rates_kib.into_iter().enumerate().map(line).collect()
    }

    /// A buffer that takes 1.78 times what the drive puts away, full after 3 s.
    fn buffered(seconds: u64) -> Vec<LogLine> {
        log((0..seconds * 10).map(|i| if i < 30 { 178_000 } else { 100_000 }))
    }

    #[test]
    fn the_rate_of_a_buffer_is_not_taken_for_the_drives() {
        // The buffer bends within the second half of 5 s, and before that of 10 s.
        assert!(!settled(&buffered(5)).unwrap().steady);
        let found = settled(&buffered(10)).unwrap();
        assert!(
            found.steady && found.windows.iter().all(|rate| *rate == 102_400_000.0),
            "{found:?}"
        );
    }

    /// fio writes no line where nothing was done.
    #[test]
    fn a_drive_that_stalls_half_of_the_time_has_half_the_rate() {
        let stalling: Vec<LogLine> = buffered(40)
            .into_iter()
            .filter(|line| (line.at_ms - 100) / 500 % 2 == 0)
            .collect();
        let found = settled(&stalling).unwrap();
        let mean = found.windows.iter().sum::<f64>() / found.windows.len() as f64;
        assert!((mean / 51_200_000.0 - 1.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn threads_add_up() {
        let two: Vec<LogLine> = [
            100, 100, 200, 200, 300, 301, 400, 399, 500, 500, 600, 600, 700, 700, 800, 800, 900,
        ]
        .into_iter()
        .chain([900, 1000, 1000])
        .map(|at_ms| LogLine {
            at_ms,
            value: 50_000,
        })
        .collect();
        let found = settled(&two).unwrap();
        assert!(
            found.steady && found.windows == vec![102_400_000.0; 5],
            "{found:?}"
        );
    }

    #[test]
    fn too_few_values_give_no_rate() {
        assert_eq!(settled(&[]), None);
        assert_eq!(settled(&log([1, 2, 3, 4, 5, 6, 7])), None);
        assert!(!settled(&log([0; 20])).unwrap().steady);
    }
}
