//! The bend in a burst of writes: as long as the buffer has room the drive takes writes faster than it can put them away.

use plimsoll_import::fio_output::LogLine;

/// What a burst showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Burst {
    Bend {
        /// Written until the bend.
        bytes_before: f64,
        /// Bytes per second before and after.
        fast: f64,
        slow: f64,
        /// Written in the interval in which the bend lies: how exact `bytes_before` is.
        within: f64,
    },
    /// No bend in so many bytes.
    Even { bytes: f64 },
}

impl Burst {
    /// What the buffer held at the bend: it filled at the difference of the two rates.
    pub fn buffer_bytes(&self) -> Option<f64> {
        match self {
            Self::Bend {
                bytes_before,
                fast,
                slow,
                ..
            } => Some(bytes_before * (1.0 - slow / fast)),
            Self::Even { .. } => None,
        }
    }
}

/// Rates that differ less than this are no bend.
const LEAST_RATIO: f64 = 1.3;
/// The two rates have to explain this share of the variance: what is left is noise.
const LEAST_EXPLAINED: f64 = 0.6;
/// Intervals that make a rate.
const LEAST_AFTER: usize = 5;

/// Splits the burst where two constant rates fit best (least squares). The first interval is fio's start and is left
/// out of the fit.
pub fn bend(log: &[LogLine]) -> Burst {
    let rates: Vec<f64> = log.iter().map(|line| line.value as f64 * 1024.0).collect();
    let bytes: Vec<f64> = log
        .iter()
        .scan(0, |last, line| {
            let since = line.at_ms.saturating_sub(*last);
            *last = line.at_ms;
            Some(line.value as f64 * 1024.0 * (since as f64 / 1e3))
        })
        .collect();
    let even = Burst::Even {
        bytes: bytes.iter().sum(),
    };
    let fitted = rates.get(1..).unwrap_or_default();
    let total = squares(fitted);
    let candidates = (1..fitted.len().saturating_sub(LEAST_AFTER - 1)).map(|at| {
        let (before, after) = fitted.split_at(at);
        (at, squares(before) + squares(after))
    });
    let Some((at, left)) = candidates.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return even;
    };
    let fast = mean(&fitted[..at]);
    let slow = mean(&fitted[at..]);
    if fast < slow * LEAST_RATIO || left > total * (1.0 - LEAST_EXPLAINED) || slow <= 0.0 {
        return even;
    }
    Burst::Bend {
        bytes_before: bytes[..at + 1].iter().sum(),
        fast,
        slow,
        within: bytes[at],
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Sum of the squared distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(rates: impl IntoIterator<Item = u64>) -> Vec<LogLine> {
        let line = |(i, value)| LogLine {
            at_ms: (i as u64 + 1) * 100,
            value,
        };
        rates.into_iter().enumerate().map(line).collect()
    }

    #[test]
    fn the_buffer_is_what_came_in_less_what_went_out() {
        // 2 s at 1000 MiB/s, then 400 MiB/s: 2000 MiB came in, 800 went out.
        let rates = (0..20)
            .map(|_| 1000 << 10)
            .chain((0..40).map(|_| 400 << 10));
        let found = bend(&log(rates));
        let mib = found.buffer_bytes().unwrap() / f64::from(1 << 20);
        assert!((mib - 1200.0).abs() < 1.0, "{found:?}");
        let Burst::Bend { within, .. } = found else {
            panic!("{found:?}")
        };
        assert!((within / f64::from(100 << 20) - 1.0).abs() < 0.01);
    }

    #[test]
    fn noise_a_slow_start_and_a_dip_are_no_bend() {
        let noisy = (0..50u64).map(|i| 900_000 + i * 7919 % 200_000);
        let even = Burst::Even {
            bytes: noisy.clone().map(|kib| kib as f64 * 102.4).sum(),
        };
        assert_eq!(bend(&log(noisy)), even);
        let start = [100].into_iter().chain((0..30).map(|_| 900_000));
        assert!(matches!(bend(&log(start)), Burst::Even { .. }));
        let dip = (0..50).map(|i| if i % 9 == 4 { 300_000 } else { 900_000 });
        assert!(matches!(bend(&log(dip)), Burst::Even { .. }));
        assert_eq!(bend(&[]), Burst::Even { bytes: 0.0 });
    }

    proptest! {
        #[test]
        fn a_clear_bend_is_found_at_its_place(at in 3u64..40, fast in 500u64..4_000, ratio in 1.6f64..8.0, seed: u64) {
            let jitter = |i: u64| 1.0 + ((seed.wrapping_add(i).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as f64 - 128.0) / 2560.0;
            let slow = fast as f64 / ratio;
            let kib = |i: u64| (if i < at { fast as f64 } else { slow } * jitter(i) * 1024.0) as u64;
            let found = bend(&log((0..at + 30).map(kib)));
            let truth = (fast as f64 - slow) * at as f64 * 0.1 * 1024.0 * 1024.0;
            let size = found.buffer_bytes();
            prop_assert!(size.is_some_and(|size| (size / truth - 1.0).abs() < 0.1), "{found:?}, {truth}");
        }

        #[test]
        fn rubbish_never_panics(lines in prop::collection::vec((any::<u64>(), any::<u64>()), 0..40)) {
            let lines: Vec<LogLine> = lines.into_iter().map(|(at_ms, value)| LogLine { at_ms, value }).collect();
            bend(&lines).buffer_bytes();
        }
    }
}
