//! Resets of the data set.

use serde::{Deserialize, Serialize};

use crate::message::ResetCheck;
use crate::{PhaseId, SubjectId};

/// A reset of the data set, in a phase of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// Its phase has the start and the length.
    pub phase: PhaseId,
    pub subject: SubjectId,
    /// As in [`plimsoll_plan::resolved::ResetMethod`], and never `auto`.
    pub method: String,
    /// Size of the data before and after.
    pub from_bytes: u64,
    pub to_bytes: u64,
    /// The comparison with the first state.
    pub verified: ResetCheck,
}
