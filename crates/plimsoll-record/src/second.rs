//! Outcomes of a second and of a whole phase, and the times of what was due in it.

use crate::hist::{CoarseHist, Hist};
use crate::lane::Counts;
use crate::{PhaseId, SubjectId};
use plimsoll_plan::units::Nanos;

/// One second of one transaction type of one system: counts are of what ended in it, times of what was due in it. Of block
/// I/O, and of runs that plimsoll 0.1 recorded before schema 9, times too are of what ended in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Second {
    pub phase: PhaseId,
    pub subject: SubjectId,
    /// Index into [`crate::Point::txns`].
    pub txn: u32,
    pub start: Nanos,
    pub end: Nanos,
    pub counts: Counts,
    /// Due but not settled at `end`, over all types; the same in each of the second's rows.
    pub in_flight: u64,
    pub response: CoarseHist,
    /// `None` when service equals response (closed loop: due = start).
    pub service: Option<CoarseHist>,
}

/// A whole phase's histogram of one transaction type, merged from its seconds at full precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub phase: PhaseId,
    pub subject: SubjectId,
    pub txn: u32,
    pub response: Hist,
    /// `None` when service equals response.
    pub service: Option<Hist>,
    /// Rebuilt from the seconds' coarse histograms, because the phase was never closed.
    pub coarse: bool,
}
