//! One instance of a system.

use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::{InitialState, Instance};
use plimsoll_plan::resolved::ResolvedPlan;
use plimsoll_plan::{MediumId, PlacedName, SystemId, WorkloadId};
use plimsoll_record::SubjectId;

/// An instance of a system on a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::execute) struct InstanceId {
    pub system: SystemId,
    /// Among the system's instances, from 0.
    pub index: u32,
    /// None: the system keeps its data elsewhere.
    pub medium: Option<MediumId>,
}

impl InstanceId {
    /// All instances of a system.
    pub fn all(
        plan: &ResolvedPlan,
        system: SystemId,
        medium: Option<MediumId>,
    ) -> impl Iterator<Item = Self> + use<> {
        (0..plan.system(system).count).map(move |index| Self {
            system,
            index,
            medium,
        })
    }

    /// `db-1`.
    pub fn name(self, plan: &ResolvedPlan) -> String {
        plan.system(self.system).instance_name(self.index)
    }

    /// Name of its subject: `db-1@nvme`.
    pub fn subject(self, plan: &ResolvedPlan) -> String {
        PlacedName {
            name: &self.name(plan),
            medium: self.medium.map(|medium| plan.medium(medium).name.as_str()),
        }
        .to_string()
    }
}

/// A system in use. The directory outlives the server in it.
pub(in crate::execute) struct Running {
    pub instance: Instance,
    pub subject: SubjectId,
    pub medium: Option<SubjectId>,
    pub(super) scratch: Option<Scratch>,
    /// The state that the data can be reset to, and the workload that they are of.
    pub(super) first: Option<InitialState>,
    pub(super) kept_for: Option<WorkloadId>,
    /// Load has changed the data.
    pub(super) dirty: bool,
}

impl Running {
    /// Stops the system and removes its directory; returns what failed.
    pub(super) fn end(self) -> Vec<String> {
        let stopped = self.instance.stop().err();
        let removed = self.scratch.and_then(|scratch| scratch.remove().err());
        stopped
            .into_iter()
            .chain(removed)
            .map(|error| error.to_string())
            .collect()
    }
}
