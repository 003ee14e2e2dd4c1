//! What runs beside a load.

use serde::{Deserialize, Serialize};

/// What a point's systems share their medium with.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
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
    pub fn name(self) -> &'static str {
        self.into()
    }
}
