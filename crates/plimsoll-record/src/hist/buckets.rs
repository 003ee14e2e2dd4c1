//! The buckets of a [`super::Hist`]: a short list while there are few values, an HdrHistogram after that, and those that
//! hold any of one that was stored.
//!
//! A second of a quiet system has a dozen values of each type. As an HdrHistogram that is 270 kB to be cleared, scanned
//! and added up every second for each of them, which of twelve systems costs more than their load. A run file of hours
//! has thousands of windows, a thousand buckets in each.

use hdrhistogram::Histogram;

use super::bounds::{HIGHEST, HistError};

/// So many values at most are kept as a list.
const FEW: usize = 1024;
/// More take as much memory as an HdrHistogram.
const MOST_STORED: usize = 8192;

#[derive(Debug, Clone)]
pub(super) enum Buckets {
    /// In no order.
    Few(Vec<u64>),
    /// As [`Buckets::recorded`] has it; not empty.
    Stored(Vec<(u64, u64)>),
    Many(Box<Histogram<u64>>),
}

fn empty() -> Box<Histogram<u64>> {
    // The library counts in units of the lower bound, rounded down to a power of two: with 1 µs the digits would be
    // whole only from 1 ms. The bounds satisfy its conditions (low ≥ 1, high ≥ 2·low, digits ≤ 5).
    Box::new(Histogram::new_with_bounds(1, HIGHEST.0, 3).expect("constant bounds are valid"))
}

fn filled(counts: impl Iterator<Item = (u64, u64)>) -> Box<Histogram<u64>> {
    let mut all = empty();
    counts.for_each(|(value, n)| all.saturating_record_n(value, n));
    all
}

/// The highest value of each bucket that holds any, rising, and how many it holds.
fn recorded(all: &Histogram<u64>) -> impl Iterator<Item = (u64, u64)> {
    all.iter_recorded()
        .map(|step| (step.value_iterated_to(), step.count_at_value()))
}

/// The largest value in the same bucket of an HdrHistogram of three digits: 2048 buckets of width 1, then 1024
/// to the octave.
pub fn highest_equivalent(value: u64) -> u64 {
    let width = 1u64 << value.max(1024).ilog2().saturating_sub(10);
    value / width * width + (width - 1)
}

/// Two lists of rising values as one.
fn added(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let mut i = 0;
    let mut j = 0;
    // Without a branch on which comes next: it could not be predicted.
    while let (Some(first), Some(second)) = (a.get(i), b.get(j)) {
        let takes_first = first.0 <= second.0;
        let takes_second = second.0 <= first.0;
        let n = if takes_first { first.1 } else { 0 };
        sum.push((
            first.0.min(second.0),
            n.saturating_add(if takes_second { second.1 } else { 0 }),
        ));
        i += usize::from(takes_first);
        j += usize::from(takes_second);
    }
    sum.extend_from_slice(&a[i..]);
    sum.extend_from_slice(&b[j..]);
    sum
}

impl Buckets {
    pub fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// `value` is one that the bounds allow.
    pub fn record(&mut self, value: u64) {
        match self {
            Self::Few(values) if values.len() < FEW => values.push(value),
            Self::Few(_) | Self::Stored(_) => self.many().saturating_record(value),
            Self::Many(all) => all.saturating_record(value),
        }
    }

    pub fn record_n(&mut self, value: u64, n: u64) {
        if n == 1 {
            self.record(value)
        } else {
            self.many().saturating_record_n(value, n)
        }
    }

    fn many(&mut self) -> &mut Histogram<u64> {
        let made = match self {
            Self::Many(all) => return all,
            Self::Few(values) => filled(values.iter().map(|value| (*value, 1))),
            Self::Stored(counts) => filled(counts.iter().copied()),
        };
        *self = Self::Many(made);
        self.many()
    }

    pub fn merge(&mut self, other: &Self) {
        match other {
            // Most sums begin with nothing, and many have one part.
            other if self.len() == 0 => self.clone_from(other),
            Self::Stored(counts) => match self {
                Self::Stored(known) if known.len() + counts.len() <= MOST_STORED => {
                    *known = added(known, counts)
                }
                _ => {
                    let all = self.many();
                    counts
                        .iter()
                        .for_each(|(value, n)| all.saturating_record_n(*value, *n));
                }
            },
            Self::Few(values) => values.iter().for_each(|value| self.record(*value)),
            Self::Many(all) => self
                .many()
                .add(&**all)
                .expect("all histograms share one set of bounds"),
        }
    }

    /// Memory that a busy second has taken is kept for the next one.
    pub fn clear(&mut self) {
        match self {
            Self::Few(values) => values.clear(),
            Self::Many(all) if all.len() > FEW as u64 => all.reset(),
            Self::Many(_) | Self::Stored(_) => *self = Self::new(),
        }
    }

    pub fn len(&self) -> u64 {
        match self {
            Self::Few(values) => values.len() as u64,
            Self::Stored(counts) => counts.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n)),
            Self::Many(all) => all.len(),
        }
    }

    /// As [`Buckets::value_at_quantile`], of fractions that rise: a list is gone through once.
    pub fn values_at_quantiles<const N: usize>(&self, rising: [f64; N]) -> [u64; N] {
        let Self::Stored(counts) = self else {
            return rising.map(|q| self.value_at_quantile(q));
        };
        let total = self.len() as f64;
        let last = counts.last().map_or(0, |(value, _)| *value);
        let mut rest = counts.iter();
        let mut below = 0u64;
        let mut value = 0;
        rising.map(|q| {
            let rank = ((q.clamp(0.0, 1.0) * total).ceil() as u64).max(1);
            while below < rank {
                let Some((next, n)) = rest.next() else {
                    return last;
                };
                (below, value) = (below.saturating_add(*n), *next);
            }
            value
        })
    }

    /// As HdrHistogram has it: the highest value of the bucket that holds the value of this rank.
    pub fn value_at_quantile(&self, q: f64) -> u64 {
        match self {
            Self::Many(all) => all.value_at_quantile(q),
            Self::Stored(_) => self.values_at_quantiles([q])[0],
            Self::Few(values) => {
                let rank = ((q.clamp(0.0, 1.0) * values.len() as f64).ceil() as usize).max(1);
                let mut values = values.clone();
                let Some(last) = values.len().checked_sub(1) else {
                    return 0;
                };
                let (_, value, _) = values.select_nth_unstable((rank - 1).min(last));
                highest_equivalent(*value)
            }
        }
    }

    /// The highest value of each bucket that holds any, rising, and how many it holds.
    pub fn stored_values(&self) -> usize {
        match self {
            Self::Many(all) => all.distinct_values(),
            Self::Stored(counts) => counts.len(),
            Self::Few(values) => values.len(),
        }
    }

    pub fn recorded(&self) -> Vec<(u64, u64)> {
        match self {
            Self::Many(all) => recorded(all).collect(),
            Self::Stored(counts) => counts.clone(),
            Self::Few(values) => {
                let mut values: Vec<u64> = values
                    .iter()
                    .map(|value| highest_equivalent(*value))
                    .collect();
                values.sort_unstable();
                values
                    .chunk_by(|a, b| a == b)
                    .map(|same| (same[0], same.len() as u64))
                    .collect()
            }
        }
    }

    /// For the library's own form of storage.
    pub fn with_histogram<T>(&self, work: impl FnOnce(&Histogram<u64>) -> T) -> T {
        match self {
            Self::Many(all) => work(all),
            Self::Few(_) | Self::Stored(_) => work(self.clone().many()),
        }
    }

    /// The buckets of a file: the highest value of each, rising, and how many it holds.
    pub fn of_counts(counts: Vec<(u64, u64)>) -> Self {
        if counts.is_empty() {
            return Self::new();
        }
        let mut stored = Self::Stored(counts);
        if matches!(&stored, Self::Stored(counts) if counts.len() > MOST_STORED) {
            stored.many();
        }
        stored
    }

    /// The buckets of values that the bounds allow, in rising order, and how often each was recorded.
    pub fn of_rising(values: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut counts: Vec<(u64, u64)> = Vec::new();
        for (value, n) in values {
            let value = highest_equivalent(value);
            match counts.last_mut() {
                Some(last) if last.0 == value => last.1 = last.1.saturating_add(n),
                _ => counts.push((value, n)),
            }
        }
        Self::of_counts(counts)
    }

    /// The buckets of a histogram with other bounds; values beyond ours are an error.
    pub fn of_foreign(other: Histogram<u64>) -> Result<Self, HistError> {
        let mut all = empty();
        all.add(other)
            .map_err(|error| HistError::Encoding(error.to_string()))?;
        Ok(Self::Many(all))
    }
}

impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Many(a), Self::Many(b)) => a == b,
            (a, b) => a.len() == b.len() && a.recorded() == b.recorded(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_list_answers_as_the_histogram_does(decades in prop::collection::vec(3.0f64..12.5, 0..60),
                                               exact in prop::collection::vec(1u64..5000, 0..60), q in 0.001f64..=1.0) {
            let mut few = Buckets::new();
            let values = decades.iter().map(|decades| 10f64.powf(*decades) as u64).chain(exact);
            values.for_each(|value| few.record(value));
            let mut many = few.clone();
            many.many();
            prop_assert!(matches!((&few, &many), (Buckets::Few(_), Buckets::Many(_))));
            prop_assert_eq!(few.recorded(), many.recorded());
            prop_assert_eq!(few.len(), many.len());
            if few.len() > 0 {
                prop_assert_eq!(few.value_at_quantile(q), many.value_at_quantile(q));
            }
            prop_assert_eq!(&few, &many);
            let mut stored = Buckets::of_counts(few.recorded());
            prop_assert!(matches!(stored, Buckets::Stored(_)) || few.len() == 0);
            prop_assert_eq!(&stored, &many);
            prop_assert_eq!((stored.len(), stored.recorded()), (many.len(), many.recorded()));
            prop_assert_eq!(stored.value_at_quantile(q), many.value_at_quantile(q));
            if many.len() > 0 {
                let rising = [q * 0.3, q * 0.7, q, 1.0];
                prop_assert_eq!(stored.values_at_quantiles(rising), rising.map(|q| many.value_at_quantile(q)));
            }
            let mut twice = few.clone();
            twice.merge(&many);
            many.merge(&stored);
            prop_assert_eq!(&many, &twice);
            stored.merge(&stored.clone());
            prop_assert_eq!(&stored, &twice);
            stored.record(77);
            twice.record(77);
            prop_assert_eq!(stored, twice);
            few.merge(&few.clone());
            prop_assert_eq!(few.len(), many.len());
        }
    }

    #[test]
    fn more_than_a_few_become_a_histogram_and_lose_nothing() {
        let mut buckets = Buckets::new();
        (0..2_000u64).for_each(|i| buckets.record(1_000 + i));
        assert!(matches!(buckets, Buckets::Many(_)));
        assert_eq!(buckets.len(), 2_000);
        buckets.clear();
        assert!(
            matches!(buckets, Buckets::Many(_)),
            "the next second is as busy"
        );
        buckets.record(7);
        buckets.clear();
        assert!(matches!(buckets, Buckets::Few(_)), "and this one was quiet");
    }
}
