//! When things happen: a step's phases laid on one timeline and cut into ticks of a second.
//!
//! Every outcome belongs to exactly one tick (by the time it ended) and every tick to exactly one phase, so a phase's
//! figures are sums over whole ticks and no second is counted in two phases.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// What a stretch of a step is for. Only [`PhaseKind::Measure`] enters the figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum PhaseKind {
    /// Start systems, load data.
    Prepare,
    /// The data set is reset.
    Reset,
    /// Load runs, figures are not taken: caches fill, users start.
    Warm,
    /// Load runs and figures are taken.
    Measure,
    /// No new intents; those under way finish.
    Cool,
    /// Consistency conditions are verified.
    Check,
    /// Systems are backed up and restored.
    Backup,
}

impl PhaseKind {
    pub fn is_under_load(self) -> bool {
        matches!(self, Self::Warm | Self::Measure | Self::Cool)
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One tick: `start..end` within `phase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    pub start: Nanos,
    pub end: Nanos,
    pub phase: PhaseKind,
}

/// The load phases of one ladder point: warm, then measure, then cool. Offsets count from the point's start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    pub warm: Nanos,
    pub measure: Nanos,
    /// Longest time that intents under way are given to finish after the window.
    pub cool: Nanos,
}

impl Timeline {
    /// When no further intents become due.
    pub fn load_end(&self) -> Nanos {
        self.warm + self.measure
    }

    pub fn end(&self) -> Nanos {
        self.load_end() + self.cool
    }

    /// The tick that starts at `start`, where the one before ended: a second long, or shorter at a phase's end.
    pub fn tick_at(&self, start: Nanos) -> Option<Tick> {
        let phases = [
            (PhaseKind::Warm, self.warm),
            (PhaseKind::Measure, self.load_end()),
            (PhaseKind::Cool, self.end()),
        ];
        let (phase, end) = phases.into_iter().find(|(_, end)| start < *end)?;
        Some(Tick {
            start,
            end: (start + Nanos::SECOND).min(end),
            phase,
        })
    }

    /// All ticks, unless the load is ended early.
    pub fn ticks(&self) -> impl Iterator<Item = Tick> {
        std::iter::successors(self.tick_at(Nanos::ZERO), |tick| self.tick_at(tick.end))
    }

    /// The load ends at `now` instead of later; cooling follows at once.
    pub fn close(&mut self, now: Nanos) {
        self.warm = self.warm.min(now);
        self.measure = self.measure.min(now - self.warm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ticks_cover_the_timeline_without_gap_or_overlap(warm in 0u64..5_000, measure in 1u64..5_000, cool in 0u64..3_000) {
            let line = Timeline {
                warm: Nanos::from_millis(warm), measure: Nanos::from_millis(measure), cool: Nanos::from_millis(cool),
            };
            let ticks: Vec<Tick> = line.ticks().collect();
            prop_assert_eq!(ticks.first().map(|t| t.start), Some(Nanos::ZERO));
            prop_assert_eq!(ticks.last().map(|t| t.end), Some(line.end()));
            prop_assert!(ticks.windows(2).all(|w| w[0].end == w[1].start && w[0].phase <= w[1].phase));
            prop_assert!(ticks.iter().all(|t| t.start < t.end && t.end - t.start <= Nanos::SECOND));
            let measured: Nanos = ticks.iter().filter(|t| t.phase == PhaseKind::Measure).map(|t| t.end - t.start).sum();
            prop_assert_eq!(measured, line.measure);
        }

        #[test]
        fn closing_early_ends_the_load_there(warm in 0u64..5_000, measure in 1u64..5_000, at in 0u64..12_000) {
            let [warm, measure, at] = [warm, measure, at].map(Nanos::from_millis);
            let whole = Timeline { warm, measure, cool: Nanos::SECOND };
            let mut closed = whole.clone();
            closed.close(at);
            prop_assert_eq!(closed.load_end(), whole.load_end().min(at));
            prop_assert_eq!(closed.cool, whole.cool);
        }
    }
}
