//! What the command line changes about a plan.

/// What the command line changes about a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Multiplies ramp, measure and cool; a measure keeps at least a second. Above zero.
    pub scale: f64,
    /// Multiplies warehouses, and the rows of sysbench's tables; at least one is left. Above zero.
    pub data_scale: f64,
    /// Beats the plan's seed of the inputs.
    pub seed: Option<u64>,
    /// Names of the drives that can be emulated; a plan may also name a drive file.
    pub drives: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            scale: 1.0,
            data_scale: 1.0,
            seed: None,
            drives: Vec::new(),
        }
    }
}
