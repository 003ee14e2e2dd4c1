//! What the command line changes about a plan.

use crate::known_drives::KnownDrives;

/// What the command line changes about a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Multiplies ramp, measure and cool; a measure keeps at least a second. Above zero.
    pub scale: f64,
    /// Multiplies warehouses, and the rows of sysbench's tables; at least one is left. Above zero.
    pub data_scale: f64,
    /// Beats the plan's seed of the inputs.
    pub seed: Option<u64>,
    /// Modeled drives are emulated, whatever the plan says.
    pub emulate: bool,
    /// Drives that can be emulated; a plan may also name a drive file.
    pub drives: KnownDrives,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: 1.0,
            data_scale: 1.0,
            seed: None,
            emulate: false,
            drives: KnownDrives::default(),
        }
    }
}
