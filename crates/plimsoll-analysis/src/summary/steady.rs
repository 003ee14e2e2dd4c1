//! Whether the rate was steady over the window.
//!
//! The rule is that of [`plimsoll_stats::rounds`], SNIA's: the window is cut into five equal parts, which stand for the last five
//! rounds of a minute; it is steady when their rates differ by at most 20 % of their mean and the least-squares line
//! through them rises or falls by at most 10 % of it.

use serde::Serialize;

use super::stats::{self, Batch};
use plimsoll_stats::rounds;
use plimsoll_stats::rounds::SteadyRule;

/// Largest difference between the parts' rates, as a share of their mean.
pub const RANGE_LIMIT: f64 = SteadyRule::SNIA.range;
/// Largest change along the least-squares line through the parts, as a share of their mean.
pub const SLOPE_LIMIT: f64 = SteadyRule::SNIA.slope;
/// Of five independent numbers that scatter by σ, the range exceeds 6.2 σ once in 10 000 times (ten pairs, each of which
/// differs by √2 σ), and the change along the line 3.9 · 4 / √10 σ = 4.9 σ. So rarely, because a search for the load line
/// checks some fifty windows, and one that is wrongly called unsteady misleads it.
pub(super) const RANGE_BY_CHANCE: f64 = 6.2;
pub(super) const SLOPE_BY_CHANCE: f64 = 4.9;

/// The verdict on a window, with what it rests on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(tag = "steady", rename_all = "snake_case")]
pub enum Steady {
    /// Fewer than five seconds.
    #[default]
    TooShort,
    /// The rate was to rise, or to fall.
    NotMeant,
    /// Beyond the limits, but so few transactions scatter as much by chance.
    TooFew {
        range_percent: f64,
        slope_percent: f64,
    },
    Yes {
        range_percent: f64,
        slope_percent: f64,
    },
    No {
        range_percent: f64,
        slope_percent: f64,
    },
}

impl Steady {
    pub fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too_short",
            Self::NotMeant => "not_meant",
            Self::TooFew { .. } => "too_few",
            Self::Yes { .. } => "yes",
            Self::No { .. } => "no",
        }
    }

    /// Range of the parts, and change along their least-squares line (rising is positive), in percent of their mean.
    pub fn figures(self) -> Option<(f64, f64)> {
        match self {
            Self::TooShort | Self::NotMeant => None,
            Self::TooFew {
                range_percent,
                slope_percent,
            }
            | Self::Yes {
                range_percent,
                slope_percent,
            }
            | Self::No {
                range_percent,
                slope_percent,
            } => Some((range_percent, slope_percent)),
        }
    }

    /// Of the window's seconds.
    pub(super) fn of(ticks: &[Batch]) -> Self {
        let Some(parts) = stats::parts(ticks) else {
            return Self::TooShort;
        };
        let rates = parts.map(|part| part.rate().unwrap_or_default());
        let Some(fit) = rounds::fit(&rates, &SteadyRule::SNIA) else {
            return Self::TooShort;
        };
        let range_percent = fit.range_percent;
        let slope_percent = fit.slope_percent;
        let each = parts.iter().map(|part| part.n).sum::<u64>() as f64 / parts.len() as f64;
        let by_chance = 1.0 / each.sqrt();
        let range_limit = RANGE_LIMIT.max(RANGE_BY_CHANCE * by_chance);
        let slope_limit = SLOPE_LIMIT.max(SLOPE_BY_CHANCE * by_chance);
        if fit.steady {
            Self::Yes {
                range_percent,
                slope_percent,
            }
        } else if range_percent <= range_limit * 100.0 && slope_percent.abs() <= slope_limit * 100.0
        {
            Self::TooFew {
                range_percent,
                slope_percent,
            }
        } else {
            Self::No {
                range_percent,
                slope_percent,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rates: &[u64]) -> Steady {
        Steady::of(
            &rates
                .iter()
                .map(|n| Batch {
                    n: *n,
                    seconds: 1.0,
                })
                .collect::<Vec<_>>(),
        )
    }

    fn near(steady: Steady, name: &str, range: f64, slope: f64) {
        let (got_range, got_slope) = steady.figures().unwrap();
        assert_eq!(steady.name(), name, "{steady:?}");
        assert!(
            (got_range - range).abs() < 1e-9 && (got_slope - slope).abs() < 1e-9,
            "{steady:?}"
        );
    }

    #[test]
    fn both_limits_are_snias() {
        // Range 20 of 100; slope (−2·90 − 1·100 + 0 + 1·100 + 2·90) / 10 = 0.
        near(
            of(&[9_000, 10_000, 11_000, 10_000, 10_000]),
            "yes",
            20.0,
            8.0,
        );
        near(
            of(&[8_990, 10_000, 11_010, 10_000, 10_000]),
            "no",
            20.2,
            8.08,
        );
        // A line from 95 to 105: 10 % along it, and no more in range.
        near(
            of(&[9_500, 9_750, 10_000, 10_250, 10_500]),
            "yes",
            10.0,
            10.0,
        );
        near(
            of(&[9_400, 9_700, 10_000, 10_300, 10_600]),
            "no",
            12.0,
            12.0,
        );
        near(
            of(&[10_600, 10_300, 10_000, 9_700, 9_400]),
            "no",
            12.0,
            -12.0,
        );
    }

    #[test]
    fn seconds_are_put_together_in_five_parts() {
        near(
            of(&[
                9_000, 11_000, 8_000, 12_000, 10_000, 10_000, 7_000, 13_000, 10_000, 10_000,
            ]),
            "yes",
            0.0,
            0.0,
        );
    }

    #[test]
    fn few_transactions_scatter() {
        near(
            of(&[9, 10, 11, 12, 13]),
            "too_few",
            400.0 / 11.0,
            400.0 / 11.0,
        );
        near(
            of(&[10, 100, 200, 300, 400]),
            "no",
            3900.0 / 20.2,
            100.0 * 4.0 * 9.8 / 20.2,
        );
    }

    #[test]
    fn some_windows_are_too_short_to_evaluate() {
        assert_eq!(
            [of(&[]), of(&[9, 9, 9, 9]), of(&[0; 10])],
            [Steady::TooShort; 3]
        );
        assert_eq!(of(&[0; 10]).figures(), None);
    }
}
