//! The values that histograms hold.

use plimsoll_plan::units::Nanos;
use thiserror::Error;

/// Values below are counted as this one.
pub const LOWEST: Nanos = Nanos::from_micros(1);
/// Values above are counted as this one and reported by [`super::Hist::clipped`].
pub const HIGHEST: Nanos = Nanos::from_secs(3600);

#[derive(Debug, Error, PartialEq, Eq)]
pub enum HistError {
    #[error("a stored histogram cannot be read: {0}")]
    Encoding(String),
}
