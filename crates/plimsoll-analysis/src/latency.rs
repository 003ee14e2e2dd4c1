//! Percentiles of response times with their intervals.
//!
//! Of one window: how the share of values above the percentile moves from part to part gives the error of that share (see
//! [`plimsoll_stats::sum_error`]), and the percentiles at the share less and plus its error, on logits, are the ends (Woodruff, Confidence Intervals
//! for Medians and Other Position Measures, Journal of the American Statistical Association 47, 1952). Of repeats: Student's
//! t on the logarithms of their percentiles.

use plimsoll_record::hist::{CoarseHist, Hist, coarse_bounds};
use plimsoll_stats::{FEWEST_REPEATS, Interval, SumError, TooShort, sum_error, t_975};

/// Fewest values above a percentile; below that it is only the few largest.
const FEWEST_ABOVE: f64 = 10.0;

/// Latencies of one part of a window: counts of consecutive coarse buckets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Slice {
    /// The bucket of the first count.
    first: u32,
    counts: Vec<u64>,
}

impl Slice {
    pub fn add(&mut self, hist: &CoarseHist) {
        hist.buckets().for_each(|(bucket, n)| self.put(bucket, n));
    }

    fn put(&mut self, bucket: u32, n: u64) {
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let missing = std::iter::repeat_n(0, (self.first - bucket) as usize);
            self.counts.splice(0..0, missing);
            self.first = bucket;
        }
        let index = (bucket - self.first) as usize;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += n;
    }

    fn total(&self) -> f64 {
        self.counts.iter().sum::<u64>() as f64
    }

    /// Values above `value` in nanoseconds. They are taken to lie evenly within a bucket on the logarithmic scale.
    fn above(&self, value: f64) -> f64 {
        (self.first..)
            .zip(&self.counts)
            .map(|(bucket, n)| {
                let (low, high) = coarse_bounds(bucket);
                let low = low.0.max(1) as f64;
                let high = high.0 as f64;
                *n as f64 * ((high / value).ln() / (high / low).ln()).clamp(0.0, 1.0)
            })
            .sum()
    }
}

/// The percentile of a window of `seconds`, whose values are in `merged` and, in parts of equal length, in `slices`.
pub fn window_quantile(
    slices: &[Slice],
    merged: &Hist,
    q: f64,
    seconds: f64,
) -> Result<Interval, TooShort> {
    let total: f64 = slices.iter().map(Slice::total).sum();
    let value = merged.quantile(q).ok_or(TooShort::Nothing)?;
    if total * (1.0 - q) < FEWEST_ABOVE {
        return Err(TooShort::Nothing);
    }
    let above: Vec<f64> = slices
        .iter()
        .map(|slice| slice.above(value.0 as f64))
        .collect();
    let share = above.iter().sum::<f64>() / total;
    let excess: Vec<f64> = above
        .iter()
        .zip(slices)
        .map(|(above, slice)| above - share * slice.total())
        .collect();
    let SumError { error, degrees } = sum_error(&excess, seconds, total)?;
    // On logits a share never leaves 0 to 1.
    let reach = error / total * t_975(degrees) / (q * (1.0 - q));
    let at = |reach: f64| 1.0 / (1.0 + (1.0 - q) / q * (-reach).exp());
    let (low, high) = figure(merged, at(-reach))
        .zip(figure(merged, at(reach)))
        .ok_or(TooShort::Nothing)?;
    Ok(Interval {
        mean: value.as_millis_f64(),
        low,
        high,
        degrees,
    })
}

/// Of repeats, each with the percentile of its own histogram.
pub fn repeats_quantile(repeats: &[&Hist], q: f64) -> Result<Interval, TooShort> {
    let values: Vec<f64> = repeats.iter().filter_map(|hist| figure(hist, q)).collect();
    let count: u64 = repeats.iter().map(|hist| hist.count()).sum();
    let resolved = count as f64 * (1.0 - q) >= FEWEST_ABOVE && values.len() >= FEWEST_REPEATS;
    Interval::of_values(&values)
        .filter(|_| resolved)
        .ok_or(TooShort::Nothing)
}

/// In milliseconds.
fn figure(hist: &Hist, q: f64) -> Option<f64> {
    hist.quantile(q).map(|value| value.as_millis_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::units::Nanos;
    use plimsoll_stats::made;

    struct Window {
        slices: Vec<Slice>,
        merged: Hist,
    }

    /// Seconds of 50 transactions whose latencies follow a level that wanders.
    fn window(seed: u64, n: usize) -> Window {
        let (mut slices, mut all) = (Vec::new(), Vec::new());
        for (i, level) in made::series(seed, n, 0.7, 0.05).into_iter().enumerate() {
            let noise = made::series(seed * 1000 + i as u64, 50, 0.0, 0.3);
            let values = noise
                .iter()
                .map(|x| Nanos((x * level * 5.0).max(1000.0) as u64));
            let mut slice = Slice::default();
            slice.add(&CoarseHist::of(values.clone()));
            slices.push(slice);
            all.extend(values.map(|value| (value, 1)));
        }
        Window {
            slices,
            merged: Hist::of_buckets(all, 0, Nanos::SECOND),
        }
    }

    #[test]
    fn the_ends_are_percentiles_of_the_merged_histogram() {
        let Window { slices, merged } = window(1, 300);
        for q in [0.5, 0.95, 0.99] {
            let interval = window_quantile(&slices, &merged, q, 300.0).unwrap();
            assert_eq!(interval.mean, merged.quantile(q).unwrap().as_millis_f64());
            assert!(
                interval.low < interval.mean && interval.mean < interval.high,
                "{interval:?}"
            );
            assert!(
                interval.relative().unwrap() < 0.08 && interval.degrees == 2.0,
                "{interval:?}"
            );
        }
    }

    #[test]
    fn repeats_need_no_slices() {
        // A tool that gives one histogram for each run has no seconds.
        let hists: Vec<Hist> = (1..4).map(|seed| window(seed, 60).merged).collect();
        let repeats: Vec<&Hist> = hists.iter().collect();
        let interval = repeats_quantile(&repeats, 0.95).unwrap();
        assert!(
            interval.low < interval.mean
                && interval.mean < interval.high
                && interval.degrees == 2.0
        );
        assert_eq!(
            repeats_quantile(&repeats[..2], 0.95),
            Err(TooShort::Nothing)
        );
    }

    #[test]
    fn few_values_and_short_windows_have_no_interval() {
        let Window { slices, merged } = window(2, 320);
        assert_eq!(
            window_quantile(&slices[..299], &merged, 0.5, 299.0),
            Err(TooShort::Window)
        );
        assert_eq!(
            window_quantile(&slices, &merged, 0.9999, 320.0),
            Err(TooShort::Nothing),
            "16,000 values"
        );
        assert_eq!(
            window_quantile(&[], &Hist::new(), 0.5, 300.0),
            Err(TooShort::Nothing)
        );
    }

    #[test]
    fn a_part_of_a_bucket_lies_above_a_value() {
        let mut slice = Slice::default();
        slice.add(&CoarseHist::of([Nanos(1000), Nanos(5000), Nanos(9000)]));
        assert!(
            (slice.above(3000.0) - 2.0).abs() < 1e-9
                && slice.above(1e6) == 0.0
                && slice.total() == 3.0
        );
    }
}
