//! Time in which a system under load had no server.

use serde::{Deserialize, Serialize};

use crate::lane::Absence;
use crate::{PhaseId, SubjectId};
use plimsoll_plan::units::Nanos;

/// Time without a server in one second of one system. Seconds without any have no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    pub phase: PhaseId,
    pub subject: SubjectId,
    pub start: Nanos,
    pub end: Nanos,
    pub absence: Absence,
}
