//! Resets a data set before a point, in a separate phase.

use plimsoll_plan::resolved::{CheckPolicy, LoadStep, ResetMethod, ResetPolicy};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::Reset;

use super::super::context::{InstanceContext, StepContext};
use super::super::drives::Drives;
use super::super::error::StepResult;
use super::super::run::RunContext;
use super::Systems;

impl Systems<'_> {
    /// Keeps the data that a step has just found or loaded, if this or a later step resets to them.
    pub fn keep_first_state(
        &mut self,
        drives: &Drives<'_>,
        context: &InstanceContext<'_>,
    ) -> StepResult<()> {
        let step = context.step;
        let Some(method) = self.reset_method(step) else {
            return Ok(());
        };
        if self.get(context.instance)?.kept_for == Some(step.workload) {
            return Ok(());
        }
        let text = format!("{}: keeping the initial data for resets", step.name);
        let first = self.while_unwatched(context.instance, || {
            self.wait_for_task(drives, context.instance, &text, |instance, control| {
                instance.keep_first_state(method, context.workload, control)
            })
        })?;
        let running = self.get_mut(context.instance)?;
        running.first = first;
        running.kept_for = Some(step.workload);
        running.dirty = false;
        Ok(())
    }

    /// How steps on the same data reset them, if any does.
    fn reset_method(&self, step: &LoadStep) -> Option<ResetMethod> {
        let mut steps = self.run.plan().load_steps();
        let resetting = steps.find(|other| {
            other.reset == ResetPolicy::EachPoint
                && other.system == step.system
                && other.workload == step.workload
        });
        resetting.map(|other| other.reset_by)
    }

    /// Before a point: resets the data of all instances if the step requires it and load has changed them.
    pub fn reset(&mut self, drives: &Drives<'_>, step: &StepContext<'_>) -> StepResult<()> {
        step.instances()
            .try_for_each(|context| self.reset_one(drives, &context))
    }

    fn reset_one(&mut self, drives: &Drives<'_>, context: &InstanceContext<'_>) -> StepResult<()> {
        let RunContext { job, log, .. } = self.run;
        let step = context.step;
        let running = self.get_mut(context.instance)?;
        let was_dirty = std::mem::replace(&mut running.dirty, true);
        if step.reset == ResetPolicy::Never || !was_dirty {
            return Ok(());
        }
        let Some(first) = running.first.take() else {
            return Ok(());
        };
        let subject = running.subject;
        let text = format!("{}: resetting the data", step.name);
        let data = (context.workload, job.plan.data_seed);
        let verify = step.check != CheckPolicy::Off;
        log.phase(&step.name, None, PhaseKind::Reset, |phase| {
            let restored = self.while_unwatched(context.instance, || {
                self.wait_for_task(drives, context.instance, &text, |instance, control| {
                    instance.reset(&first, data, verify, control)
                })
            })?;
            Ok(log.file().reset(&Reset {
                phase: phase.id,
                subject,
                method: restored.method.name().into(),
                from_bytes: restored.from.0,
                to_bytes: restored.to.0,
                verified: restored.verified,
            })?)
        })?;
        self.get_mut(context.instance)?.first = Some(first);
        Ok(())
    }
}
