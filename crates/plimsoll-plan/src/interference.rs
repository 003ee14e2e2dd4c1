//! What runs beside a load.

use serde::{Deserialize, Serialize};

/// What a point's systems share their medium with.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Interference {
    /// The step has no noise.
    #[default]
    Alone,
    /// The neighbors are idle: the baseline of the same load with noise.
    Quiet,
    /// The neighbors make the step's noise.
    Noisy,
}

impl Interference {
    pub const ALL: [Self; 3] = [Self::Alone, Self::Quiet, Self::Noisy];

    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Quiet => "quiet",
            Self::Noisy => "noisy",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scene| scene.name() == name)
    }
}
