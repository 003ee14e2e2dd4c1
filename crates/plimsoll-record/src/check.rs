//! Verdicts on consistency conditions.

use serde::{Deserialize, Serialize};

use crate::message::CheckDetail;
use crate::{PointId, SubjectId};

/// The verdict on one consistency condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The point after which it was verified; `None` at the end of a step.
    pub point: Option<PointId>,
    pub subject: SubjectId,
    /// `3.3.2.1` to `3.3.2.12`.
    pub clause: String,
    pub holds: bool,
    pub detail: CheckDetail,
}
