//! Load points and their phases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::{OfferedLoad, SubjectId};
use plimsoll_plan::Interference;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;

#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PointId(pub u32);

/// One load point of a step's ladder on one medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub id: PointId,
    /// Name of the step, and its place in the plan.
    pub step: String,
    pub step_index: u32,
    /// Place in the ladder.
    pub ordinal: u32,
    pub system: SubjectId,
    /// The medium's subject; `None` for a system that keeps its data elsewhere.
    pub medium: Option<SubjectId>,
    pub workload: String,
    /// `procedures` or `statements`; `block` for block I/O, which has a [`crate::BlockPoint`] beside it.
    pub mode: String,
    pub users: u32,
    /// Connections that the users share; as many as users where each has one.
    pub connections: u32,
    /// Offered rate of an open loop; `None` in a closed loop.
    pub offered_per_second: Option<f64>,
    /// The rate at the end of the window, where it is not the same throughout.
    pub offered_to_per_second: Option<f64>,
    /// Which time the same load of the same step and medium is measured, from 0.
    pub repeat: u32,
    pub purpose: PointPurpose,
    pub scene: Interference,
    /// Names of the transaction types, in the order of [`crate::Second::txn`] and [`crate::Window::txn`].
    pub txns: Vec<String>,
    /// Parameters that define the load, by name: `script`, `rw`, `bs`, `direct`, `ioengine`. Two points are of one workload
    /// only where no name that both have differs.
    pub parameters: BTreeMap<String, String>,
}

impl Point {
    pub fn load(&self) -> OfferedLoad {
        OfferedLoad {
            users: self.users,
            offered_per_second: self.offered_per_second,
            offered_to_per_second: self.offered_to_per_second,
            share_percent: None,
        }
    }
}

/// The purpose of a point.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PointPurpose {
    /// A load of a ladder.
    #[default]
    Ladder,
    /// A load tried in the search for the load line; `ordinal` counts the loads in the order of trying.
    Search,
    /// Load before the first point: no figures are taken.
    Precondition,
    /// Load of systems beside those that are measured.
    Noise,
}

impl PointPurpose {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PhaseId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    pub id: PhaseId,
    /// `None` for the preparation of a step.
    pub point: Option<PointId>,
    pub step: String,
    pub kind: PhaseKind,
    pub start: Nanos,
    /// The end; of a phase that was never closed, that of its last recorded second.
    pub end: Nanos,
    /// Whether it ran to its planned end.
    pub complete: bool,
}
