//! Systems in use.

use std::collections::HashMap;

use plimsoll_load::scratch::Scratch;
use plimsoll_load::system::{InitialState, Instance};
use plimsoll_plan::resolved::ResolvedPlan;
use plimsoll_plan::{MediumId, PlacedName, SystemId, WorkloadId};
use plimsoll_record::SubjectId;

use super::error::{RunError, StepResult, not_prepared};

/// An instance of a system on a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct InstanceId {
    pub system: SystemId,
    /// Among the system's instances, from 0.
    pub index: u32,
    /// `None`: the system keeps its data elsewhere.
    pub medium: Option<MediumId>,
}

impl InstanceId {
    /// All of a system.
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

/// The systems in use.
#[derive(Default)]
pub(super) struct RunningSystems(HashMap<InstanceId, Running>);

impl RunningSystems {
    pub fn find(&self, instance: InstanceId) -> Option<&Running> {
        self.0.get(&instance)
    }

    /// One that has been started.
    pub fn get(&self, instance: InstanceId) -> StepResult<&Running> {
        self.find(instance).ok_or_else(not_running)
    }

    pub fn get_mut(&mut self, instance: InstanceId) -> StepResult<&mut Running> {
        self.0.get_mut(&instance).ok_or_else(not_running)
    }

    pub fn insert(&mut self, instance: InstanceId, running: Running) {
        self.0.insert(instance, running);
    }

    pub fn remove(&mut self, instance: InstanceId) -> Option<Running> {
        self.0.remove(&instance)
    }

    /// Stops and removes all; returns what failed.
    pub fn end(&mut self) -> Vec<String> {
        self.0
            .drain()
            .flat_map(|(_, running)| running.end())
            .collect()
    }
}

fn not_running() -> RunError {
    not_prepared("system")
}

/// A system in use. The directory outlives the server in it.
pub(super) struct Running {
    pub instance: Instance,
    pub subject: SubjectId,
    pub medium: Option<SubjectId>,
    pub scratch: Option<Scratch>,
    /// The state that the data can be brought back to, and of which workload they are.
    pub first: Option<InitialState>,
    pub kept_for: Option<WorkloadId>,
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
