//! What is asked of a comparison.

use serde::Serialize;

use super::difference::Group;

/// What is asked of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Ask {
    /// The smallest change that matters, as a share; 0: any that can be shown.
    pub minimum_effect: f64,
    /// The one group that is to differ; `None`: none was named.
    pub factor: Option<Group>,
    /// Whether loads of different workloads have a ratio nevertheless.
    pub anyway: bool,
}
