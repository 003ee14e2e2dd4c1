//! Figures with their intervals.

use serde::Serialize;

use crate::summary::{Estimate, Interval, Ratio};

/// A figure, with its 95 % interval where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateEstimate {
    pub value: f64,
    pub interval: Option<Interval>,
}

impl RateEstimate {
    /// Whether its interval is too wide for an answer.
    pub(super) fn is_uncertain(self) -> bool {
        let own = Ratio {
            ratio: self.value,
            interval: self.interval,
        };
        own.is_uncertain()
    }

    pub fn ratio_to(self, other: Self) -> Option<Ratio> {
        Ratio::of(self.value, self.interval, other.value, other.interval)
    }
}

impl From<Estimate> for RateEstimate {
    fn from(figure: Estimate) -> Self {
        Self {
            value: figure.value,
            interval: figure.interval,
        }
    }
}
