//! Where and under which load something is measured.

use plimsoll_plan::Interference;
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{LoadStep, Workload};
use plimsoll_record::PointPurpose;

use super::running::InstanceName;

/// A step on one of its media, with the instances of its system.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    pub step: &'a LoadStep,
    pub systems: &'a [String],
    pub medium: Option<&'a str>,
    pub workload: &'a Workload,
}

/// A step on one of its system's instances.
#[derive(Clone, Copy)]
pub(super) struct InstanceContext<'a> {
    pub step: &'a LoadStep,
    pub instance: InstanceName<'a>,
    pub workload: &'a Workload,
}

impl<'a> StepContext<'a> {
    pub fn instances(&self) -> impl Iterator<Item = InstanceContext<'a>> + use<'a> {
        let context = *self;
        context.systems.iter().map(move |system| InstanceContext {
            step: context.step,
            instance: context.instance(system),
            workload: context.workload,
        })
    }

    pub fn instance<'s>(&self, system: &'s str) -> InstanceName<'s>
    where
        'a: 's,
    {
        InstanceName {
            system,
            medium: self.medium,
        }
    }

    /// A system has at least one.
    pub fn first_instance(&self) -> InstanceName<'a> {
        self.instance(self.systems.first().map_or("", String::as_str))
    }
}

/// Purpose and load of a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct PointSpec {
    pub purpose: PointPurpose,
    pub ordinal: u32,
    pub repeat: u32,
    pub load: LoadShape,
    pub scene: Interference,
}

/// One instance of a system with the data set that it is to hold.
#[derive(Clone, Copy)]
pub(super) struct InstanceSetup<'a> {
    /// The step that wants it.
    pub step: &'a str,
    /// The plan's system that it is an instance of.
    pub of: &'a str,
    pub instance: InstanceName<'a>,
    pub workload: &'a Workload,
}

impl<'a> From<InstanceContext<'a>> for InstanceSetup<'a> {
    fn from(context: InstanceContext<'a>) -> Self {
        Self {
            step: &context.step.name,
            of: &context.step.system,
            instance: context.instance,
            workload: context.workload,
        }
    }
}
