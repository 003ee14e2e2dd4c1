//! Latencies of one transaction type, or of all.

use serde::{Serialize, Serializer};

use super::figure::FigureId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;

/// Latencies from a merged histogram. Mean and maximum are exact; quantiles are within 0.1 %, of a coarse window within
/// 3.2 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencySummary {
    pub count: u64,
    pub mean_ms: f64,
    /// Those of [`LatencySummary::KEPT`].
    #[serde(flatten, serialize_with = "by_name")]
    percentiles_ms: [f64; KEPT],
    pub max_ms: f64,
    /// Where transactions without an answer count with their age: figures from here on, and the mean, are lower bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least_from_ms: Option<f64>,
}

/// How many percentiles are kept.
const KEPT: usize = 5;

fn by_name<S: Serializer>(ms: &[f64; KEPT], serializer: S) -> Result<S::Ok, S::Error> {
    let keys = LatencySummary::KEPT.map(FigureId::key);
    serializer.collect_map(keys.into_iter().zip(ms))
}

impl LatencySummary {
    /// The percentiles that are kept, rising.
    pub const KEPT: [FigureId; KEPT] = [
        FigureId::P50,
        FigureId::P90,
        FigureId::P95,
        FigureId::P99,
        FigureId::P999,
    ];

    /// `None` of an empty histogram.
    pub fn of(hist: &Hist) -> Option<Self> {
        let shares = Self::KEPT.map(|figure| figure.share().expect("a percentile has a share"));
        Some(Self {
            count: hist.count(),
            // Not [`Hist::mean`], which cuts off below a nanosecond.
            mean_ms: hist.sum() as f64 / hist.count() as f64 / 1e6,
            percentiles_ms: hist.quantiles(shares)?.map(Nanos::as_millis_f64),
            max_ms: hist.max().map(Nanos::as_millis_f64)?,
            at_least_from_ms: hist.unfinished().map(|own| own.least.as_millis_f64()),
        })
    }

    /// The first of the percentiles and the maximum that is only a lower bound.
    pub(super) fn first_bound(&self) -> Option<FigureId> {
        let least = self.at_least_from_ms?;
        let mut percentiles = self.percentiles();
        let first = percentiles.find(|(_, ms)| *ms >= least);
        Some(first.map_or(FigureId::Max, |(figure, _)| figure))
    }

    /// The percentiles that are kept, in milliseconds.
    pub fn percentiles(&self) -> impl Iterator<Item = (FigureId, f64)> {
        Self::KEPT.into_iter().zip(self.percentiles_ms)
    }

    /// Mean, percentiles and maximum.
    pub fn times() -> impl Iterator<Item = FigureId> {
        let kept = Self::KEPT.into_iter();
        std::iter::once(FigureId::Mean)
            .chain(kept)
            .chain([FigureId::Max])
    }

    /// One of these, in milliseconds; `None` for other figures.
    pub fn ms(&self, figure: FigureId) -> Option<f64> {
        match figure {
            FigureId::Mean => Some(self.mean_ms),
            FigureId::Max => Some(self.max_ms),
            _ => self
                .percentiles()
                .find_map(|(own, ms)| (own == figure).then_some(ms)),
        }
    }

    /// Whether at least one value is expected above quantile `q`; otherwise it is just the maximum.
    pub fn resolves(&self, q: f64) -> bool {
        // A little slack, because 1 − 0.999 is not exactly 0.001.
        self.count as f64 * (1.0 - q) >= 1.0 - 1e-9
    }
}

/// One transaction type in one measure phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TxnSummary {
    pub name: String,
    pub counts: Counts,
    /// Completed (committed or rolled back as specified) per minute.
    pub completed_per_minute: Option<f64>,
    /// Of all completed transactions.
    pub share_percent: Option<f64>,
    /// end − due, of transactions that were due in the window and completed, or had no answer when the load was over.
    pub response: Option<LatencySummary>,
    /// end − start; `None` when it equals response (closed loop: due = start).
    pub service: Option<LatencySummary>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_percentile_is_its_own() {
        let mut hist = Hist::new();
        (1..=10_000u64).for_each(|us| hist.record(Nanos::from_micros(us)));
        let got = LatencySummary::of(&hist).unwrap();
        for ((_, value), exact) in got.percentiles().zip([5.0, 9.0, 9.5, 9.9, 9.99]) {
            assert!(
                (value / exact - 1.0).abs() < 0.001,
                "{value} against {exact}"
            );
        }
        assert_eq!((got.mean_ms, got.max_ms, got.count), (5.0005, 10.0, 10_000));
        assert_eq!(LatencySummary::of(&Hist::new()), None);
    }

    #[test]
    fn percentiles_beyond_the_youngest_without_an_answer_are_lower_bounds() {
        let of = |unfinished: u64| {
            let mut hist = Hist::new();
            (unfinished..1000).for_each(|_| hist.record(Nanos::from_millis(5)));
            (0..unfinished).for_each(|i| hist.record_unfinished(Nanos::from_millis(700 + i)));
            LatencySummary::of(&hist).unwrap().first_bound()
        };
        let bounds = [0, 1, 2, 11, 60, 600].map(of);
        let named = |figure: Option<FigureId>| figure.map_or("none", |own| own.info().name);
        assert_eq!(
            bounds.map(named),
            ["none", "max", "p999", "p99", "p95", "p50"]
        );
    }

    #[test]
    fn a_thousand_values_resolve_three_nines() {
        let of = |n: u64| {
            let mut hist = Hist::new();
            (0..n).for_each(|_| hist.record(Nanos::from_millis(1)));
            LatencySummary::of(&hist).unwrap()
        };
        assert!(of(1000).resolves(0.999) && !of(999).resolves(0.999));
        assert!(of(100).resolves(0.99) && !of(99).resolves(0.99));
    }
}
