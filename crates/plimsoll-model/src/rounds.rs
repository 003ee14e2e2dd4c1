//! Whether rounds have become steady: the criterion of SNIA's Solid State Storage Performance Test Specification 2.0.2.

use serde::Serialize;

/// The last rounds, and the least-squares line through them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    /// The window's first round, from 0.
    pub from: u32,
    pub mean: f64,
    /// Largest less smallest, in percent of the mean.
    pub range_percent: f64,
    /// Change along the line from the window's first round to its last, in percent of the mean.
    pub slope_percent: f64,
    /// The line at the window's first and last round.
    pub line_from: f64,
    pub line_to: f64,
    pub steady: bool,
}
