//! Quantiles of latencies, resampled: histograms of repeats or of the parts of a window are merged anew in blocks, and the
//! quantile is taken of what was merged. Quantiles themselves are never averaged.
//!
//! The parts are coarse histograms. Within a bucket values are taken to lie evenly on the logarithmic scale, so that a
//! quantile moves with its neighbours and not in steps of 6 %; what is told is the quantile of the full histogram, with the
//! relative scatter of the coarse ones.

use super::block::{block_length, draw_blocks};
use super::resample::{Draws, Resampled};
use super::sample::{FEWEST_CELLS, TooShort, joined};
use crate::hist::{CoarseHist, coarse_bounds};

/// Resamples of a quantile.
const RESAMPLES: usize = 1000;
/// Parts of a window: more are joined.
const MOST_CELLS: usize = 120;
/// So many values have to lie above a quantile, or it is but the few largest.
const FEWEST_ABOVE: f64 = 10.0;

/// Latencies of one part: counts of consecutive coarse buckets. Merging is adding, where a sparse histogram would have to
/// look each bucket up: a run of hours has a quarter of a million of them.
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

    pub fn merge(&mut self, other: &Self) {
        let Self { first, counts } = other;
        let filled = (*first..).zip(counts).filter(|(_, n)| **n > 0);
        filled.for_each(|(bucket, n)| self.put(bucket, *n));
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
        let place = (bucket - self.first) as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += n;
    }

    /// From the first bucket that ever held something up to behind the last.
    fn range(&self) -> Option<(u32, u32)> {
        (!self.counts.is_empty()).then(|| (self.first, self.first + self.counts.len() as u32))
    }
}

/// Latencies by part, and how the parts may be put together anew.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencySample {
    parts: usize,
    /// The first bucket that holds anything.
    first: u32,
    /// Buckets from the first to the last.
    width: usize,
    /// Of each part up to here, twice around the ring, the counts up to and including each bucket.
    sums: Vec<u64>,
    repeats: bool,
}

impl LatencySample {
    /// Each repeat is a part that is independent of the others.
    pub fn of_repeats(repeats: &[Slice]) -> Option<Self> {
        Self::of(repeats, true)
    }

    /// The seconds of one window or several.
    pub fn of_seconds(seconds: &[Slice]) -> Result<Self, TooShort> {
        if seconds.len() < FEWEST_CELLS {
            return Err(TooShort::Window);
        }
        let merge = |sum: &Slice, next: &Slice| {
            let mut sum = sum.clone();
            sum.merge(next);
            sum
        };
        Self::of(&joined(seconds, MOST_CELLS, merge), false).ok_or(TooShort::Nothing)
    }

    fn of(parts: &[Slice], repeats: bool) -> Option<Self> {
        let first = parts.iter().filter_map(|part| Some(part.range()?.0)).min()?;
        let end = parts.iter().filter_map(|part| Some(part.range()?.1)).max()?;
        let width = (end - first) as usize;
        let mut sums = vec![0; width];
        for part in parts.iter().chain(parts) {
            let mut own = vec![0; width];
            part.range().into_iter().for_each(|(from, to)| {
                own[(from - first) as usize..(to - first) as usize].copy_from_slice(&part.counts);
            });
            let before = sums.len() - width;
            let mut upto = 0;
            for (i, n) in own.into_iter().enumerate() {
                upto += n;
                sums.push(sums[before + i] + upto);
            }
        }
        Some(Self { parts: parts.len(), first, width, sums, repeats })
    }

    /// Values up to and including the bucket in `length` parts from `start` on.
    fn upto(&self, (start, length): (usize, usize), bucket: usize) -> u64 {
        self.sums[(start + length) * self.width + bucket] - self.sums[start * self.width + bucket]
    }

    /// The quantile, told as `told`, and those of resamples.
    pub fn quantile(&self, q: f64, told: f64, stream: u64) -> Result<Resampled, TooShort> {
        let whole = [(0, self.parts)];
        let total = self.upto(whole[0], self.width - 1) as f64;
        if total * (1.0 - q) < FEWEST_ABOVE {
            return Err(TooShort::Nothing);
        }
        let block = if self.repeats { 1 } else { block_length(&self.shares_above(q)).ok_or(TooShort::Correlated)? };
        let scale = told / self.value(&whole, q);
        let mut draws = Draws::new(stream);
        let mut blocks = Vec::new();
        let mut values = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            blocks.clear();
            blocks.extend(draw_blocks(&mut draws, self.parts, block));
            values.push(self.value(&blocks, q) * scale);
        }
        Ok(Resampled { estimate: told, values, parts: self.parts as f64 / block as f64 })
    }

    /// Of each part, the share of values above the quantile of all: what moves the quantile of a mixture of parts.
    fn shares_above(&self, q: f64) -> Vec<f64> {
        let (bucket, _, _) = self.bucket(&[(0, self.parts)], q);
        let share = |part: usize| {
            let n = self.upto((part, 1), self.width - 1);
            (n > 0).then(|| 1.0 - self.upto((part, 1), bucket) as f64 / n as f64)
        };
        (0..self.parts).filter_map(share).collect()
    }

    /// The bucket of a quantile with the counts below it and up to its end.
    fn bucket(&self, blocks: &[(usize, usize)], q: f64) -> (usize, u64, u64) {
        let upto = |bucket: usize| blocks.iter().map(|block| self.upto(*block, bucket)).sum::<u64>();
        let rank = (upto(self.width - 1) as f64 * q).ceil().max(1.0) as u64;
        let (mut low, mut high) = (0, self.width - 1);
        while low < high {
            let middle = (low + high) / 2;
            if upto(middle) >= rank { high = middle } else { low = middle + 1 }
        }
        (low, if low == 0 { 0 } else { upto(low - 1) }, upto(low))
    }

    /// In nanoseconds; 0 where nothing is.
    fn value(&self, blocks: &[(usize, usize)], q: f64) -> f64 {
        let (bucket, below, upto) = self.bucket(blocks, q);
        let total: u64 = blocks.iter().map(|block| self.upto(*block, self.width - 1)).sum();
        if total == 0 {
            return 0.0;
        }
        let share = ((total as f64 * q - below as f64) / (upto - below).max(1) as f64).clamp(0.0, 1.0);
        let (low, high) = coarse_bounds(self.first + bucket as u32);
        low.0 as f64 * (high.0 as f64 / low.0 as f64).powf(share)
    }
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;
    use crate::units::Nanos;

    /// Seconds of 50 transactions whose latencies follow a level that wanders.
    fn seconds(seed: u64, n: usize, factor: f64) -> Vec<Vec<u64>> {
        let level = made::series(seed, n, 0.7, 0.05);
        let second = |(i, level): (usize, f64)| {
            let noise = made::series(seed * 1000 + i as u64, 50, 0.0, 0.3);
            noise.iter().map(|x| (x * level * factor * 5.0).max(1000.0) as u64).collect()
        };
        level.into_iter().enumerate().map(second).collect()
    }

    fn slices(seconds: &[Vec<u64>]) -> Vec<Slice> {
        let slice = |values: &Vec<u64>| {
            let mut slice = Slice::default();
            slice.add(&CoarseHist::of(values.iter().map(|value| Nanos(*value))));
            slice
        };
        seconds.iter().map(slice).collect()
    }

    fn exact(seconds: &[Vec<u64>], q: f64) -> f64 {
        let mut all: Vec<u64> = seconds.concat();
        all.sort_unstable();
        all[((all.len() as f64 * q).ceil() as usize).clamp(1, all.len()) - 1] as f64
    }

    #[test]
    fn the_quantile_is_that_of_the_merged_histogram() {
        let seconds = seconds(1, 60, 1.0);
        let sample = LatencySample::of_seconds(&slices(&seconds)).unwrap();
        for q in [0.5, 0.9, 0.99] {
            let (own, merged) = (sample.value(&[(0, 60)], q), exact(&seconds, q));
            assert!((own / merged - 1.0).abs() < 0.035, "{q}: {own} {merged}");
            let parts = sample.value(&[(0, 20), (20, 40)], q);
            assert_eq!(parts, own, "however it is cut");
        }
        let told = sample.quantile(0.5, 5.0, 1).unwrap();
        let mean = told.values.iter().sum::<f64>() / told.values.len() as f64;
        assert!(told.estimate == 5.0 && (mean / 5.0 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn intervals_of_quantiles_hold_the_truth() {
        let trials = 24;
        let side = |seed: u64, factor: f64| {
            let seconds = seconds(seed, 100, factor);
            LatencySample::of_seconds(&slices(&seconds)).unwrap().quantile(0.95, exact(&seconds, 0.95), seed).ok()
        };
        let holds = |seed: u64| {
            let ratio = side(seed * 2 + 1, 1.1)?.ratio_to(&side(seed * 2, 1.0)?)?;
            Some(ratio.low <= 1.1 && 1.1 <= ratio.high && ratio.high - ratio.low < 0.2)
        };
        let told: Vec<bool> = (0..trials).filter_map(holds).collect();
        let held = told.iter().filter(|held| **held).count();
        assert!(told.len() > 18 && held * 100 >= told.len() * 88, "{held} of {}", told.len());
    }

    #[test]
    fn few_values_and_short_windows_say_nothing() {
        let seconds = slices(&seconds(2, 60, 1.0));
        assert_eq!(LatencySample::of_seconds(&seconds[..59]).unwrap_err(), TooShort::Window);
        let sample = LatencySample::of_repeats(&seconds[..3]).unwrap();
        assert_eq!(sample.quantile(0.999, 1.0, 1).unwrap_err(), TooShort::Nothing, "150 values");
        assert_eq!(LatencySample::of_repeats(&[Slice::default()]), None);
    }
}
