//! Resets a data set before a point, in a phase of its own.

use plimsoll_plan::resolved::{CheckPolicy, LoadStep, ResetMethod, ResetPolicy};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::Reset;

use super::context::{InstanceContext, StepContext};
use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::running::InstanceId;

impl Execution<'_> {
    /// Keeps the data that a step has just found or loaded, if this or a later step resets to them.
    pub(super) fn keep_first_state(&mut self, context: &InstanceContext<'_>) -> StepResult<()> {
        let step = context.step;
        let Some(method) = self.reset_method(step) else {
            return Ok(());
        };
        if self.running.get_mut(context.instance)?.kept_for == Some(step.workload) {
            return Ok(());
        }
        let what = format!("{}: keeping the initial data for resets", step.name);
        let workload = context.workload;
        let first = self.while_unwatched(context.instance, |this| {
            this.wait_for_task(context.instance, &what, |instance, control| {
                instance.keep_first_state(method, workload, control)
            })
        })?;
        let running = self.running.get_mut(context.instance)?;
        running.first = first;
        running.kept_for = Some(step.workload);
        running.dirty = false;
        Ok(())
    }

    /// How steps on the same data reset them, if any does.
    fn reset_method(&self, step: &LoadStep) -> Option<ResetMethod> {
        self.plan
            .load_steps()
            .find(|other| {
                other.reset == ResetPolicy::EachPoint
                    && other.system == step.system
                    && other.workload == step.workload
            })
            .map(|other| other.reset_by)
    }

    /// Before a point: resets the data if the step requires it and load has changed them.
    pub(super) fn reset(&mut self, step_context: &StepContext<'_>) -> StepResult<()> {
        for context in step_context.instances() {
            self.reset_one(&context)?;
        }
        Ok(())
    }

    fn reset_one(&mut self, context: &InstanceContext<'_>) -> StepResult<()> {
        let step = context.step;
        let running = self.running.get_mut(context.instance)?;
        let was_dirty = std::mem::replace(&mut running.dirty, true);
        if step.reset == ResetPolicy::Never || !was_dirty {
            return Ok(());
        }
        let Some(first) = running.first.take() else {
            return Ok(());
        };
        let subject = running.subject;
        let phase = self
            .file
            .open_phase(&step.name, None, PhaseKind::Reset, self.clock.now())?;
        let what = format!("{}: resetting the data", step.name);
        let seed = self.plan.data_seed;
        let verify = step.check != CheckPolicy::Off;
        let workload = context.workload;
        let done = self.while_unwatched(context.instance, |this| {
            this.wait_for_task(context.instance, &what, |instance, control| {
                instance.reset(&first, (workload, seed), verify, control)
            })
        });
        self.file
            .close_phase(phase, self.clock.now(), done.is_ok())?;
        let restored = done?;
        self.running.get_mut(context.instance)?.first = Some(first);
        self.file.reset(&Reset {
            phase,
            subject,
            method: restored.method.name().into(),
            from_bytes: restored.from.0,
            to_bytes: restored.to.0,
            verified: restored.verified,
        })?;
        self.file.commit()?;
        Ok(())
    }

    /// Does not watch the system while `work` stops it and starts it again: the probe would report that it is gone.
    pub(super) fn while_unwatched<T>(
        &mut self,
        instance: InstanceId,
        work: impl FnOnce(&mut Self) -> Result<T, RunError>,
    ) -> StepResult<T> {
        let subject = self.running.get(instance)?.subject;
        if let Some(probe) = &self.probe {
            probe.unwatch(subject);
        }
        let done = work(self)?;
        self.watch_system(instance)?;
        Ok(done)
    }
}
