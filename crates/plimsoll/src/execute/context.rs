//! Where and under which load something is measured.

use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{LoadStep, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Interference, MediumId, ResolvedPlan, StepId};
use plimsoll_record::PointPurpose;

use super::systems::InstanceId;

/// A load step on one of its media, with the instances of its system.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    pub id: StepId,
    pub step: &'a LoadStep,
    /// How many instances the system has: at least one.
    pub count: u32,
    pub medium: Option<MediumId>,
    pub workload: &'a Workload,
}

/// A load step on one of its system's instances.
#[derive(Clone, Copy)]
pub(super) struct InstanceContext<'a> {
    pub id: StepId,
    pub step: &'a LoadStep,
    pub instance: InstanceId,
    pub workload: &'a Workload,
}

impl<'a> StepContext<'a> {
    pub fn new(
        plan: &'a ResolvedPlan,
        id: StepId,
        step: &'a LoadStep,
        medium: Option<MediumId>,
    ) -> Self {
        Self {
            id,
            step,
            count: plan.system(step.system).count,
            medium,
            workload: &plan.workload(step.workload).workload,
        }
    }

    pub fn instances(&self) -> impl Iterator<Item = InstanceContext<'a>> + use<'a> {
        let context = *self;
        (0..context.count).map(move |index| InstanceContext {
            id: context.id,
            step: context.step,
            instance: context.instance(index),
            workload: context.workload,
        })
    }

    fn instance(&self, index: u32) -> InstanceId {
        InstanceId {
            system: self.step.system,
            index,
            medium: self.medium,
        }
    }

    pub fn first_instance(&self) -> InstanceId {
        self.instance(0)
    }
}

/// Purpose, load and phases of a point.
#[derive(Debug, Clone)]
pub(super) struct PointSpec {
    pub purpose: PointPurpose,
    pub ordinal: u32,
    pub repeat: u32,
    pub load: LoadShape,
    pub scene: Interference,
    pub timeline: Timeline,
}

impl PointSpec {
    /// Without a window there is nothing that a power cut could end, or that members of an array could fail in.
    pub fn is_measured(&self) -> bool {
        self.timeline.measure > Nanos::ZERO
    }
}

/// Phases of a step's points. The power fails where the measurement would go on.
pub(super) fn timeline(step: &LoadStep) -> Timeline {
    Timeline {
        measure: step.power_cut.unwrap_or(step.timeline.measure),
        ..step.timeline.clone()
    }
}

/// Phases of a load without a measurement: all of it is warm-up.
pub(super) fn warm_up(step: &LoadStep, lasts: Nanos) -> Timeline {
    Timeline {
        warm: lasts,
        measure: Nanos::ZERO,
        cool: step.timeline.cool,
    }
}

/// One instance of a system with the data set that it is to hold.
#[derive(Clone, Copy)]
pub(super) struct InstanceSetup<'a> {
    /// The step that wants it.
    pub step: StepId,
    pub instance: InstanceId,
    pub workload: &'a Workload,
}

impl<'a> From<InstanceContext<'a>> for InstanceSetup<'a> {
    fn from(context: InstanceContext<'a>) -> Self {
        Self {
            step: context.id,
            instance: context.instance,
            workload: context.workload,
        }
    }
}
