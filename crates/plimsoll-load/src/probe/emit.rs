//! Samples on their way out: finite, or not at all.

use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Sample, SubjectId};

/// Takes the samples of one subject at one time.
pub(super) struct Emit<'a> {
    pub out: &'a mut Vec<(SubjectId, Metric, Sample)>,
    pub subject: SubjectId,
    pub at: Nanos,
    /// Time since the subject's last sample; zero at the first.
    pub over: Nanos,
    /// How many subjects share what costly samples may take: see [`super::data::Rest`].
    pub among: u64,
}

impl Emit<'_> {
    /// A value over the interval, or at its end.
    pub fn put(&mut self, metric: Metric, value: f64) {
        self.put_over(metric, self.over, value);
    }

    /// A value that is not taken every second.
    pub fn put_over(&mut self, metric: Metric, over: Nanos, value: f64) {
        let value = value as f32;
        if value.is_finite() {
            self.out.push((
                self.subject,
                metric,
                Sample {
                    at: self.at,
                    over,
                    value,
                },
            ));
        }
    }

    /// `delta` of a counter per second.
    pub fn per_second(&mut self, metric: Metric, delta: u64) {
        self.per_second_over(metric, self.over, delta);
    }

    pub fn per_second_over(&mut self, metric: Metric, over: Nanos, delta: u64) {
        self.put_over(metric, over, delta as f64 / over.as_secs_f64());
    }

    /// Time `spent` within the interval, in percent of it. Reading takes a moment, so that a counter of time may gain
    /// slightly more than the interval; a share of an interval ends at 100.
    pub fn share(&mut self, metric: Metric, spent: Nanos) {
        let percent = 100.0 * spent.as_secs_f64() / self.over.as_secs_f64();
        self.put(metric, percent.min(100.0));
    }
}
