//! Events of a run.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::SubjectId;
use crate::message::EventKind;
use plimsoll_plan::units::Nanos;

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Something that happened: a checkpoint, a lost connection, a warning that stands beside the figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub at: Nanos,
    pub subject: Option<SubjectId>,
    pub severity: Severity,
    pub kind: EventKind,
}
