//! Metrics over time.

use crate::SubjectId;
use crate::metric::Metric;
use plimsoll_plan::units::Nanos;

/// One metric of one subject over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub subject: SubjectId,
    pub metric: Metric,
    pub samples: Vec<Sample>,
}

impl Series {
    /// Samples, which are in time order, whose interval can reach into the window: those after its start, up to the first
    /// that begins behind its end.
    pub fn near(&self, start: Nanos, end: Nanos) -> impl Iterator<Item = &Sample> {
        let from = self.samples.partition_point(|sample| sample.at <= start);
        self.samples[from..].iter().take_while(move |sample| {
            sample.at.saturating_sub(sample.over) < end || sample.at <= end
        })
    }

    /// The value sampled at `at`; 0 when there is none.
    pub fn at(&self, at: Nanos) -> f64 {
        self.samples
            .binary_search_by_key(&at, |s| s.at)
            .map_or(0.0, |i| f64::from(self.samples[i].value))
    }
}

/// A value over `at - over .. at`; for a gauge, the value at `at`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub at: Nanos,
    pub over: Nanos,
    /// Always finite.
    pub value: f32,
}
