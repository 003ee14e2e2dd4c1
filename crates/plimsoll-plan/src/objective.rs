//! The objective of a load: a limit on response time.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Samples beyond a percentile from which it is evaluated.
pub const BEYOND: u64 = 20;

/// Which figure of a window's response times the limit applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr, strum::EnumString, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Quantile {
    Mean,
    P50,
    P90,
    P95,
    P99,
    P999,
    Max,
}

impl Quantile {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// As in a plan's key before `_ms`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The share of all that is not above a percentile; `None` of the mean and the maximum.
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Mean | Self::Max => None,
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
        }
    }

    /// Fewest samples from which the figure is evaluated. Of a percentile [`BEYOND`] lie beyond it, so that its rank is
    /// known to 22 % (1 / √20); a mean has a hundred. A thousand responses without one above a limit show that more than
    /// 0.3 % above it are unlikely (rule of three: 3 / n, with 95 %).
    pub fn needed_samples(self) -> u64 {
        match self {
            Self::Mean | Self::P50 => 100,
            Self::P90 => BEYOND * 10,
            Self::P95 => BEYOND * 20,
            Self::P99 => BEYOND * 100,
            Self::P999 => BEYOND * 1000,
            Self::Max => 1000,
        }
    }
}

/// The highest load that meets this is the load line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objective {
    pub quantile: Quantile,
    /// Limit of response time (end − due); met up to and including it.
    pub limit: Nanos,
    /// Name of the transaction type; `None`: all types together.
    pub of: Option<String>,
}
