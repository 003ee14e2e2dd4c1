//! Latency histograms that merge; percentiles come out of merged histograms and never out of an average.
//!
//! [`Hist`] is an HdrHistogram over nanoseconds with three significant digits from 1 µs to 1 hour: what a phase keeps. It
//! takes 270 kB, unless its values are few or it was read from a file.
//! [`CoarseHist`] is what every second keeps: the same distribution with sixteen buckets to the octave (a bucket is at
//! most 6.25 % wide, its middle at most 3.2 % off), a few dozen bytes instead of kilobytes, so that a run of hours fits
//! in a file that can be mailed. Both merge without loss.

mod buckets;

use buckets::Buckets;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as HdrDeserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::units::Nanos;

/// Values below are counted as this one.
pub const LOWEST: Nanos = Nanos::from_micros(1);
/// Values above are counted as this one and reported by [`Hist::clipped`].
pub const HIGHEST: Nanos = Nanos::from_secs(3600);

#[derive(Debug, Error, PartialEq, Eq)]
pub enum HistError {
    #[error("a stored histogram cannot be read: {0}")]
    Encoding(String),
}

/// A full-precision histogram of latencies, with their exact sum.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct Hist {
    buckets: Buckets,
    sum: u128,
    max: Nanos,
    clipped: u64,
}

impl Default for Hist {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Hist {
    fn eq(&self, other: &Self) -> bool {
        self.buckets == other.buckets && self.sum == other.sum && self.max == other.max && self.clipped == other.clipped
    }
}

impl Hist {
    pub fn new() -> Self {
        Self { buckets: Buckets::new(), sum: 0, max: Nanos::ZERO, clipped: 0 }
    }

    pub fn record(&mut self, value: Nanos) {
        self.buckets.record(value.0.clamp(LOWEST.0, HIGHEST.0));
        self.sum += u128::from(value.0);
        self.max = self.max.max(value);
        self.clipped += u64::from(value > HIGHEST);
    }

    /// From another program's buckets: a value that stands for its bucket, and how many fell into it. Quantiles are as
    /// exact as those buckets; `sum` and `max` are taken as they are told. Counts beyond 2^64 saturate.
    pub fn of_buckets(counts: impl IntoIterator<Item = (Nanos, u64)>, sum: u128, max: Nanos) -> Self {
        let mut hist = Self { sum, max, ..Self::new() };
        for (value, n) in counts {
            hist.buckets.record_n(value.0.clamp(LOWEST.0, HIGHEST.0), n);
            hist.clipped = hist.clipped.saturating_add(if value > HIGHEST { n } else { 0 });
        }
        hist
    }

    pub fn merge(&mut self, other: &Self) {
        let Self { buckets, sum, max, clipped } = other;
        self.buckets.merge(buckets);
        self.sum += sum;
        self.max = self.max.max(*max);
        self.clipped += clipped;
    }

    pub fn clear(&mut self) {
        self.buckets.clear();
        (self.sum, self.max, self.clipped) = (0, Nanos::ZERO, 0);
    }

    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Exact sum of all recorded values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact mean; `None` when nothing was recorded.
    pub fn mean(&self) -> Option<Nanos> {
        (!self.is_empty()).then(|| Nanos((self.sum / u128::from(self.count())) as u64))
    }

    /// Exact largest value; `None` when nothing was recorded.
    pub fn max(&self) -> Option<Nanos> {
        (!self.is_empty()).then_some(self.max)
    }

    /// How many values lay above [`HIGHEST`].
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// The value at or below which the fraction `q` (0..=1) of all values lies; `None` when nothing was recorded.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        (!self.is_empty()).then(|| Nanos(self.buckets.value_at_quantile(q)).min(self.max.max(LOWEST)))
    }

    /// HdrHistogram V2 (deflated), preceded by the exact sum, maximum and clipped count.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(&self.sum.to_le_bytes());
        out.extend_from_slice(&self.max.0.to_le_bytes());
        out.extend_from_slice(&self.clipped.to_le_bytes());
        self.buckets.with_histogram(|all| {
            V2DeflateSerializer::new().serialize(all, &mut out).expect("writing to memory does not fail");
        });
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, HistError> {
        let (head, mut body) =
            bytes.split_at_checked(32).ok_or_else(|| HistError::Encoding("shorter than its header".into()))?;
        let stored: Histogram<u64> =
            HdrDeserializer::new().deserialize(&mut body).map_err(|e| HistError::Encoding(format!("{e:?}")))?;
        let mut hist = Self { buckets: Buckets::of_stored(stored)?, ..Self::new() };
        hist.sum = u128::from_le_bytes(head[..16].try_into().expect("sixteen bytes"));
        hist.max = Nanos(u64::from_le_bytes(head[16..24].try_into().expect("eight bytes")));
        hist.clipped = u64::from_le_bytes(head[24..].try_into().expect("eight bytes"));
        Ok(hist)
    }

    pub fn coarse(&self) -> CoarseHist {
        let mut coarse = CoarseHist { sum: self.sum, max: self.max, ..CoarseHist::default() };
        for (value, n) in self.buckets.recorded() {
            coarse.add(coarse_bucket(value), n);
        }
        coarse
    }
}

impl From<Hist> for Vec<u8> {
    fn from(hist: Hist) -> Self {
        hist.encode()
    }
}

impl TryFrom<Vec<u8>> for Hist {
    type Error = HistError;
    fn try_from(bytes: Vec<u8>) -> Result<Self, HistError> {
        Self::decode(&bytes)
    }
}

/// Sixteen buckets to the octave; the bucket of `value` is its exponent and the four bits below its leading one.
fn coarse_bucket(value: u64) -> u32 {
    let value = value.max(LOWEST.0);
    let exponent = value.ilog2();
    exponent * 16 + ((value >> (exponent - 4)) & 15) as u32
}

/// The middle of a coarse bucket.
fn coarse_middle(bucket: u32) -> u64 {
    let width = 1u64 << (bucket / 16 - 4);
    (16 + u64::from(bucket % 16)) * width + width / 2
}

/// The values that a coarse bucket holds: from the first up to below the second.
pub fn coarse_bounds(bucket: u32) -> (Nanos, Nanos) {
    let width = 1u64 << (bucket / 16).saturating_sub(4).min(58);
    let low = (16 + u64::from(bucket % 16)).saturating_mul(width);
    (Nanos(low), Nanos(low.saturating_add(width)))
}

/// A histogram with sixteen buckets to the octave, sparse and small.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoarseHist {
    /// In rising order. A second of a run of hours has a few of them, and there are a million seconds.
    buckets: Vec<(u32, u64)>,
    sum: u128,
    max: Nanos,
}

impl CoarseHist {
    /// Of single values.
    #[cfg(test)]
    pub fn of(values: impl IntoIterator<Item = Nanos>) -> Self {
        let mut coarse = Self::default();
        for value in values {
            coarse.add(coarse_bucket(value.0), 1);
            coarse.sum += u128::from(value.0);
            coarse.max = coarse.max.max(value);
        }
        coarse
    }

    /// Buckets that hold something, in rising order, with their counts; see [`coarse_bounds`].
    pub fn buckets(&self) -> impl Iterator<Item = (u32, u64)> {
        self.buckets.iter().copied()
    }

    fn add(&mut self, bucket: u32, n: u64) {
        match self.buckets.last() {
            Some((last, _)) if *last >= bucket => match self.buckets.binary_search_by_key(&bucket, |(own, _)| *own) {
                Ok(place) => self.buckets[place].1 += n,
                Err(place) => self.buckets.insert(place, (bucket, n)),
            },
            _ => self.buckets.push((bucket, n)),
        }
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, n)| n).sum()
    }

    pub fn mean(&self) -> Option<Nanos> {
        let n = self.count();
        (n > 0).then(|| Nanos((self.sum / u128::from(n)) as u64))
    }

    pub fn max(&self) -> Option<Nanos> {
        (!self.buckets.is_empty()).then_some(self.max)
    }

    pub fn merge(&mut self, other: &Self) {
        let Self { buckets, sum, max } = other;
        buckets.iter().for_each(|(bucket, n)| self.add(*bucket, *n));
        self.sum += sum;
        self.max = self.max.max(*max);
    }

    /// As [`Hist::quantile`], to within 3.2 %.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let n = self.count();
        let rank = ((q.clamp(0.0, 1.0) * n as f64).ceil() as u64).max(1);
        let mut seen = 0;
        self.buckets.iter().find_map(|(bucket, count)| {
            seen += count;
            (seen >= rank).then(|| Nanos(coarse_middle(*bucket)).min(self.max.max(LOWEST)))
        })
    }

    /// Counts by bucket, for rebuilding a phase's [`Hist`] after a crash.
    pub fn to_hist(&self) -> Hist {
        let mut hist = Hist::new();
        for (bucket, n) in &self.buckets {
            hist.buckets.record_n(coarse_middle(*bucket).clamp(LOWEST.0, HIGHEST.0), *n);
        }
        (hist.sum, hist.max) = (self.sum, self.max);
        hist
    }

    /// LEB128 numbers: sum, max, the first bucket; then, in half bytes with the low one first, the counts of consecutive
    /// buckets. A number takes three bits of each half byte, whose fourth says that more follow; a zero is followed by
    /// how many empty buckets it stands for, less one. Most buckets of a second hold few values or none.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.buckets.len());
        put_varint(&mut out, self.sum.min(u128::from(u64::MAX)) as u64);
        put_varint(&mut out, self.max.0);
        let mut next = None;
        let mut halves = Vec::new();
        for (bucket, n) in self.buckets.iter().filter(|(_, n)| *n > 0) {
            match next {
                None => put_varint(&mut out, u64::from(*bucket)),
                Some(next) if next == *bucket => {}
                Some(next) => {
                    halves.push(0);
                    put_halves(&mut halves, u64::from(bucket - next - 1));
                }
            }
            put_halves(&mut halves, *n);
            next = Some(bucket + 1);
        }
        out.extend(halves.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4));
        out
    }

    pub fn decode(mut bytes: &[u8]) -> Result<Self, HistError> {
        let sum = u128::from(get_varint(&mut bytes)?);
        let max = Nanos(get_varint(&mut bytes)?);
        let mut coarse = Self { sum, max, ..Self::default() };
        if bytes.is_empty() {
            return Ok(coarse);
        }
        let mut bucket = get_varint(&mut bytes)?;
        let mut halves = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).peekable();
        while halves.peek().is_some() {
            let n = get_halves(&mut halves)?;
            if n > 0 {
                coarse.put(bucket, n)?;
                bucket += 1;
            } else if halves.peek().is_some() {
                bucket = bucket.saturating_add(get_halves(&mut halves)?).saturating_add(1);
            }
        }
        coarse.checked()
    }

    fn put(&mut self, bucket: u64, n: u64) -> Result<(), HistError> {
        // 64..1024: exponents 4..63, the only ones whose middle is defined.
        if !(64..1024).contains(&bucket) {
            return Err(HistError::Encoding(format!("bucket {bucket} does not exist")));
        }
        // Buckets are stored in rising order.
        self.buckets.push((bucket as u32, n));
        Ok(())
    }

    /// What is added up later must not overflow either.
    fn checked(self) -> Result<Self, HistError> {
        let total = self.buckets.iter().try_fold(0u64, |sum, (_, n)| sum.checked_add(*n));
        total
            .filter(|total| *total < 1 << 62)
            .map(|_| self)
            .ok_or_else(|| HistError::Encoding("count overflows".into()))
    }
}

fn put_halves(out: &mut Vec<u8>, mut n: u64) {
    while n >= 8 {
        out.push(n as u8 & 7 | 8);
        n >>= 3;
    }
    out.push(n as u8);
}

fn get_halves(halves: &mut impl Iterator<Item = u8>) -> Result<u64, HistError> {
    let mut n = 0u64;
    for shift in (0..63).step_by(3) {
        let half = halves.next().ok_or_else(|| HistError::Encoding("ends inside a number".into()))?;
        n |= u64::from(half & 7) << shift;
        if half & 8 == 0 {
            return Ok(n);
        }
    }
    Err(HistError::Encoding("a number is longer than 63 bits".into()))
}

fn put_varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn get_varint(bytes: &mut &[u8]) -> Result<u64, HistError> {
    let mut n = 0u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or_else(|| HistError::Encoding("ends inside a number".into()))?;
        *bytes = rest;
        n |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(n);
        }
    }
    Err(HistError::Encoding("a number is longer than 64 bits".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Hist {
        let mut hist = Hist::new();
        values.iter().for_each(|v| hist.record(Nanos(*v)));
        hist
    }

    proptest! {
        #[test]
        fn merging_equals_recording_everything_in_one(a in prop::collection::vec(1_000u64..10_000_000_000, 0..50),
                                                      b in prop::collection::vec(1_000u64..10_000_000_000, 0..50)) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            prop_assert_eq!(&merged, &of(&[a.clone(), b.clone()].concat()));
            let mut coarse = of(&a).coarse();
            coarse.merge(&of(&b).coarse());
            prop_assert_eq!(coarse, merged.coarse());
        }

        #[test]
        fn both_forms_survive_storage(values in prop::collection::vec(0u64..20_000_000_000_000, 0..80)) {
            let hist = of(&values);
            prop_assert_eq!(&Hist::decode(&hist.encode()).unwrap(), &hist);
            prop_assert_eq!(&CoarseHist::decode(&hist.coarse().encode()).unwrap(), &hist.coarse());
        }

        #[test]
        fn quantiles_are_within_their_stated_error(decades in prop::collection::vec(3.0f64..12.5, 1..200),
                                                   q in 0.0f64..=1.0) {
            let mut values: Vec<u64> = decades.iter().map(|decades| 10f64.powf(*decades).round() as u64).collect();
            let hist = of(&values);
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let full = hist.quantile(q).unwrap().0 as f64;
            let coarse = hist.coarse().quantile(q).unwrap().0 as f64;
            prop_assert!((full / exact - 1.0).abs() <= 0.001, "{} against {}", full, exact);
            prop_assert!((coarse / exact - 1.0).abs() <= 0.032, "{} against {}", coarse, exact);
        }

        #[test]
        fn reading_rubbish_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Hist::decode(&bytes);
            if let Ok(coarse) = CoarseHist::decode(&bytes) {
                let _ = coarse.quantile(0.5);
            }
        }
    }

    #[test]
    fn buckets_hold_what_lies_between_their_bounds() {
        for value in [1_000, 1_023, 1_024, 999_999, 3_600_000_000_000] {
            let coarse = of(&[value]).coarse();
            let (bucket, n) = coarse.buckets().next().unwrap();
            let (low, high) = coarse_bounds(bucket);
            // The full histogram's own buckets are a thousandth wide.
            assert!(n == 1 && low.0 <= value + value / 1000 && value < high.0, "{value}: {low:?} {high:?}");
        }
        let (low, high) = coarse_bounds(u32::MAX);
        assert!(low < high, "no bucket overflows");
    }

    #[test]
    fn sum_mean_and_maximum_are_exact() {
        let hist = of(&[1_234_567, 1_234_569]);
        assert_eq!(hist.mean(), Some(Nanos(1_234_568)));
        assert_eq!(hist.max(), Some(Nanos(1_234_569)));
        assert_eq!(Hist::new().quantile(0.5), None);
    }

    #[test]
    fn buckets_of_another_program_keep_their_counts_and_what_was_told() {
        let buckets = [(Nanos(2_000_000), 3), (Nanos(5_000_000), 1), (HIGHEST + Nanos(1), 2)];
        let hist = Hist::of_buckets(buckets, 7_200_011_000_000, Nanos(3_600_000_000_009));
        assert_eq!((hist.count(), hist.clipped(), hist.sum()), (6, 2, 7_200_011_000_000));
        assert_eq!(hist.max(), Some(Nanos(3_600_000_000_009)));
        assert!((hist.quantile(0.5).unwrap().0 as f64 / 2e6 - 1.0).abs() < 0.001);
    }

    #[test]
    fn a_second_of_a_busy_system_takes_little_room() {
        let mut hist = Hist::new();
        (0..1000u64).for_each(|i| hist.record(Nanos(500_000 + i * i * 7)));
        assert!(hist.coarse().encode().len() < 100, "{}", hist.coarse().encode().len());
    }
}
