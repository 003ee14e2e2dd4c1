//! Latency histograms that merge; percentiles come out of merged histograms and never out of an average.
//!
//! [`Hist`] is an HdrHistogram over nanoseconds with three significant digits from 1 µs to 1 hour: what a phase keeps. It
//! takes 270 kB, unless its values are few or it was read from a file.
//! [`CoarseHist`] is what every second keeps: the same distribution with sixteen buckets to the octave (a bucket is at
//! most 6.25 % wide, its middle at most 3.2 % off), a few dozen bytes instead of kilobytes, so that a run of hours fits
//! in a file that can be mailed. Both merge without loss.

mod bounds;
mod buckets;
mod coarse;
mod stored;

pub use bounds::{HIGHEST, HistError, LOWEST};
use buckets::Buckets;
pub use coarse::{COARSE_ERROR_PERCENT, CoarseHist, coarse_bounds};
use hdrhistogram::serialization::{
    Deserializer as HdrDeserializer, Serializer as _, V2DeflateSerializer,
};
use serde::{Deserialize, Serialize};

use plimsoll_plan::objective::Quantile;
use plimsoll_plan::units::Nanos;

/// Values of a histogram that are lower bounds: ages of transactions that had no answer when their load was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfinished {
    pub count: u64,
    /// The smallest of them.
    pub least: Nanos,
}

impl Unfinished {
    fn merge(&mut self, other: &Self) {
        let Self { count, least } = other;
        self.count = self.count.saturating_add(*count);
        self.least = self.least.min(*least);
    }
}

/// A full-precision histogram of latencies, with their exact sum.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct Hist {
    buckets: Buckets,
    sum: u128,
    max: Nanos,
    clipped: u64,
    unfinished: Option<Unfinished>,
}

impl Default for Hist {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Hist {
    fn eq(&self, other: &Self) -> bool {
        self.buckets == other.buckets
            && self.sum == other.sum
            && self.max == other.max
            && self.clipped == other.clipped
            && self.unfinished == other.unfinished
    }
}

impl Hist {
    pub fn new() -> Self {
        Self {
            buckets: Buckets::new(),
            sum: 0,
            max: Nanos::ZERO,
            clipped: 0,
            unfinished: None,
        }
    }

    pub fn record(&mut self, value: Nanos) {
        self.buckets.record(value.0.clamp(LOWEST.0, HIGHEST.0));
        self.sum += u128::from(value.0);
        self.max = self.max.max(value);
        self.clipped += u64::from(value > HIGHEST);
    }

    /// Notes a transaction that has lasted `age` and has no end.
    pub fn record_unfinished(&mut self, age: Nanos) {
        self.record(age);
        self.add_unfinished(&Unfinished {
            count: 1,
            least: age,
        });
    }

    fn add_unfinished(&mut self, more: &Unfinished) {
        self.unfinished
            .get_or_insert(Unfinished {
                count: 0,
                least: more.least,
            })
            .merge(more);
    }

    /// From another program's buckets: a value that stands for its bucket, and how many fell into it. Quantiles are as
    /// exact as those buckets; `sum` and `max` are taken as given. Counts beyond 2^64 saturate.
    pub fn of_buckets(
        counts: impl IntoIterator<Item = (Nanos, u64)>,
        sum: u128,
        max: Nanos,
    ) -> Self {
        let mut hist = Self {
            sum,
            max,
            ..Self::new()
        };
        for (value, n) in counts {
            hist.buckets.record_n(value.0.clamp(LOWEST.0, HIGHEST.0), n);
            hist.clipped = hist
                .clipped
                .saturating_add(if value > HIGHEST { n } else { 0 });
        }
        hist
    }

    pub fn merge(&mut self, other: &Self) {
        let Self {
            buckets,
            sum,
            max,
            clipped,
            unfinished,
        } = other;
        self.buckets.merge(buckets);
        self.sum = self.sum.saturating_add(*sum);
        self.max = self.max.max(*max);
        self.clipped = self.clipped.saturating_add(*clipped);
        if let Some(more) = unfinished {
            self.add_unfinished(more);
        }
    }

    pub fn clear(&mut self) {
        self.buckets.clear();
        (self.sum, self.max, self.clipped) = (0, Nanos::ZERO, 0);
        self.unfinished = None;
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

    /// Values that are only lower bounds.
    pub fn unfinished(&self) -> Option<Unfinished> {
        self.unfinished
    }

    /// How many values are those of transactions that have ended.
    pub fn finished(&self) -> u64 {
        let unfinished = self.unfinished.map_or(0, |unfinished| unfinished.count);
        self.count().saturating_sub(unfinished)
    }

    /// How many values lay above [`HIGHEST`].
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// The value at or below which the fraction `q` (0..=1) of all values lies; `None` when nothing was recorded.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        self.quantiles([q]).map(|[value]| value)
    }

    /// How many values lie above `limit`, up to the resolution: those that share its bucket do not.
    pub fn count_above(&self, limit: Nanos) -> u64 {
        let limit = buckets::highest_equivalent(limit.0);
        let values = self.buckets.recorded().into_iter();
        let above = values.filter(|(highest, _)| *highest > limit);
        above.fold(0, |sum, (_, n)| sum.saturating_add(n))
    }

    /// A figure that an objective limits; `None` when nothing was recorded.
    pub fn figure(&self, quantile: Quantile) -> Option<Nanos> {
        match (quantile, quantile.share()) {
            (_, Some(share)) => self.quantile(share),
            (Quantile::Max, None) => self.max(),
            (_, None) => self.mean(),
        }
    }

    /// The same of fractions that rise, in one pass.
    pub fn quantiles<const N: usize>(&self, rising: [f64; N]) -> Option<[Nanos; N]> {
        let highest = self.max.max(LOWEST);
        (!self.is_empty()).then(|| {
            self.buckets
                .values_at_quantiles(rising)
                .map(|value| Nanos(value).min(highest))
        })
    }

    /// How many numbers it takes in memory, more or less.
    pub fn stored_values(&self) -> usize {
        self.buckets.stored_values()
    }

    /// HdrHistogram V2 (deflated), preceded by the exact sum, maximum and clipped count. Behind it, where there are any, how
    /// many values are lower bounds, and the smallest of them.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        out.extend_from_slice(&self.sum.to_le_bytes());
        out.extend_from_slice(&self.max.0.to_le_bytes());
        out.extend_from_slice(&self.clipped.to_le_bytes());
        self.buckets.with_histogram(|all| {
            V2DeflateSerializer::new()
                .serialize(all, &mut out)
                .expect("writing to memory does not fail");
        });
        if let Some(Unfinished { count, least }) = self.unfinished {
            out.extend_from_slice(&count.to_le_bytes());
            out.extend_from_slice(&least.0.to_le_bytes());
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, HistError> {
        let (head, mut body) = bytes
            .split_at_checked(32)
            .ok_or_else(|| HistError::Encoding("shorter than its header".into()))?;
        let buckets = match stored::counts(body)? {
            Some(counts) => Buckets::of_counts(counts),
            None => {
                let read = HdrDeserializer::new().deserialize(&mut body);
                Buckets::of_foreign(read.map_err(|e| HistError::Encoding(format!("{e:?}")))?)?
            }
        };
        let mut hist = Self {
            buckets,
            unfinished: stored::after(&bytes[32..]).and_then(unfinished),
            ..Self::new()
        };
        hist.sum = u128::from_le_bytes(head[..16].try_into().expect("sixteen bytes"));
        hist.max = Nanos(u64::from_le_bytes(
            head[16..24].try_into().expect("eight bytes"),
        ));
        hist.clipped = u64::from_le_bytes(head[24..].try_into().expect("eight bytes"));
        Ok(hist)
    }
}

fn unfinished(bytes: &[u8]) -> Option<Unfinished> {
    let (count, least) = bytes.split_first_chunk()?;
    let least = least.try_into().ok()?;
    let [count, least] = [*count, least].map(u64::from_le_bytes);
    Some(Unfinished {
        count,
        least: Nanos(least),
    })
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
            assert!(
                n == 1 && low.0 <= value + value / 1000 && value < high.0,
                "{value}: {low:?} {high:?}"
            );
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
    fn buckets_of_another_program_keep_their_counts_sum_and_maximum() {
        let buckets = [
            (Nanos(2_000_000), 3),
            (Nanos(5_000_000), 1),
            (HIGHEST + Nanos(1), 2),
        ];
        let hist = Hist::of_buckets(buckets, 7_200_011_000_000, Nanos(3_600_000_000_009));
        assert_eq!(
            (hist.count(), hist.clipped(), hist.sum()),
            (6, 2, 7_200_011_000_000)
        );
        assert_eq!(hist.max(), Some(Nanos(3_600_000_000_009)));
        assert!((hist.quantile(0.5).unwrap().0 as f64 / 2e6 - 1.0).abs() < 0.001);
    }

    #[test]
    fn a_second_of_a_busy_system_takes_little_room() {
        let mut hist = Hist::new();
        (0..1000u64).for_each(|i| hist.record(Nanos(500_000 + i * i * 7)));
        assert!(
            hist.coarse().encode().len() < 100,
            "{}",
            hist.coarse().encode().len()
        );
    }
}
