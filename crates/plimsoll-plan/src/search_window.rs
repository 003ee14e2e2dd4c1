//! How long one load of a search is measured: until its figure has enough transactions.

use crate::load::LoadShape;
use crate::resolved::{LoadStep, Search, Workload};
use crate::schedule::Timeline;
use crate::units::Nanos;

/// More loads are not tried: doubling from 1 to a million and narrowing to 5 % takes 25.
pub const MOST_SEARCH_LOADS: usize = 25;
/// Measurements of one load: two of both ends of the interval, and one more where they differ.
pub const MOST_MEASUREMENTS: usize = 3;
/// A server's session runs its first transactions of each type without cached plans, and those make up the tail of a low
/// rate that many sessions share: each has run about so many when the window begins.
const WARMED_BY: f64 = 10.0;
/// At the most, unless the plan's ramp is longer.
const LONGEST_WARMING: Nanos = Nanos::from_secs(60);
/// Transactions scatter by √n around the expected number.
const SPARE: f64 = 1.1;

impl LoadStep {
    /// Phases of a search's point at `load`, which completes about `per_second` transactions that the objective is about.
    pub fn search_timeline(
        &self,
        search: &Search,
        load: LoadShape,
        per_second: Option<f64>,
    ) -> Timeline {
        let needed = search.objective.quantile.needed_samples() as f64;
        let measure = match per_second {
            Some(rate) if rate > 0.0 => search.within_longest(self, SPARE * needed / rate),
            _ => self.timeline.measure,
        };
        let warm = match load {
            LoadShape::Closed { .. } => self.timeline.warm,
            LoadShape::Open {
                users, per_second, ..
            } => {
                let warmed = whole_seconds(WARMED_BY * f64::from(users) / per_second);
                self.timeline.warm.max(warmed.min(LONGEST_WARMING))
            }
        };
        Timeline {
            warm,
            measure,
            cool: self.timeline.cool,
        }
    }
}

/// Begun seconds count.
fn whole_seconds(seconds: f64) -> Nanos {
    Nanos::from_secs(seconds.ceil() as u64)
}

impl Search {
    /// A window of so many seconds, as far as the step allows.
    pub fn within_longest(&self, step: &LoadStep, seconds: f64) -> Nanos {
        let shortest = step.timeline.measure;
        let longest = self.longest.max(shortest);
        whole_seconds(seconds.min(longest.as_secs_f64())).clamp(shortest, longest)
    }

    /// Transactions a second of the objective's type at an offered rate. `None` in a closed loop, whose rate is unknown before
    /// it is measured.
    pub fn expected_per_second(&self, load: LoadShape, workload: &Workload) -> Option<f64> {
        match load {
            LoadShape::Closed { .. } => None,
            LoadShape::Open { per_second, .. } => {
                Some(per_second * workload.share_of(self.objective.of.as_deref()))
            }
        }
    }
}
