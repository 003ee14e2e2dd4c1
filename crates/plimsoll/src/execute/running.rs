//! Systems in use.

use std::collections::HashMap;

use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::{InitialState, Instance};
use plimsoll_plan::PlacedName;
use plimsoll_record::SubjectId;

/// Names an instance of a system on a medium.
#[derive(Debug, Clone, Copy)]
pub(super) struct InstanceName<'a> {
    pub system: &'a str,
    /// `None`: the system keeps its data elsewhere.
    pub medium: Option<&'a str>,
}

impl InstanceName<'_> {
    pub fn key(self) -> InstanceKey {
        InstanceKey {
            system: self.system.into(),
            medium: self.medium.map(str::to_owned),
        }
    }

    /// Name of its subject: `db-1@nvme`.
    pub fn subject(self) -> String {
        PlacedName {
            name: self.system,
            medium: self.medium,
        }
        .to_string()
    }
}

/// An [`InstanceName`] to keep.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct InstanceKey {
    system: String,
    medium: Option<String>,
}

pub(super) type RunningSystems = HashMap<InstanceKey, Running>;

/// A system in use. The directory outlives the server in it.
pub(super) struct Running {
    pub instance: Instance,
    pub subject: SubjectId,
    pub medium: Option<SubjectId>,
    pub scratch: Option<Scratch>,
    /// The state that the data can be brought back to, and of which workload they are.
    pub first: Option<InitialState>,
    pub kept_for: Option<String>,
    /// Load has changed the data.
    pub dirty: bool,
}

impl Running {
    /// Stops the system and removes its directory; returns what failed.
    pub fn end(self) -> Vec<String> {
        let stopped = self.instance.stop().err();
        let removed = self.scratch.and_then(|scratch| scratch.remove().err());
        stopped
            .into_iter()
            .chain(removed)
            .map(|error| error.to_string())
            .collect()
    }
}
