//! Resets a data set before a point, in a phase of its own.

use plimsoll_load::probe::Probe;
use plimsoll_plan::resolved::{CheckPolicy, LoadStep, ResetPolicy};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::Reset;

use super::point::{InstanceContext, StepContext};
use super::prepare::{Running, key};
use super::{Execution, RunError, StepResult, unresolved};

impl Execution<'_> {
    /// Keeps the data that a step has just found or loaded, if this or a later step resets to them.
    pub(super) fn keep_first_state(&mut self, context: &InstanceContext<'_>) -> StepResult<()> {
        let InstanceContext {
            step,
            system,
            medium,
            workload,
        } = *context;
        let wants = |other: &&LoadStep| {
            other.reset == ResetPolicy::EachPoint
                && (&other.system, &other.workload) == (&step.system, &step.workload)
        };
        let Some(method) = self
            .plan
            .load_steps()
            .find(wants)
            .map(|wanting| wanting.reset_by)
        else {
            return Ok(());
        };
        if self.running_mut(context)?.kept_for.as_ref() == Some(&step.workload) {
            return Ok(());
        }
        let what = format!("{}: keeping the initial data for resets", step.name);
        self.while_unwatched((system, medium), |this| {
            this.wait_for_task(system, medium, &what, |instance, control| {
                instance.keep_first_state(method, workload, control)
            })
        })
        .and_then(|(_, first)| {
            let running = self.running_mut(context)?;
            (running.first, running.kept_for, running.dirty) =
                (first, Some(step.workload.clone()), false);
            Ok(())
        })
    }

    /// Before a point: resets the data if the step requires it and load has changed them.
    pub(super) fn reset(&mut self, step_context: &StepContext<'_>) -> StepResult<()> {
        step_context
            .instances()
            .try_for_each(|context| self.reset_one(&context))
    }

    fn reset_one(&mut self, context: &InstanceContext<'_>) -> StepResult<()> {
        let InstanceContext {
            step,
            system,
            medium,
            workload,
        } = *context;
        let running = self.running_mut(context)?;
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
        let (seed, verify) = (self.plan.data_seed, step.check != CheckPolicy::Off);
        let done = self.while_unwatched((system, medium), |this| {
            this.wait_for_task(system, medium, &what, |instance, control| {
                instance.reset(&first, (workload, seed), verify, control)
            })
        });
        self.file
            .close_phase(phase, self.clock.now(), done.is_ok())?;
        let (_, restored) = done?;
        self.running_mut(context)?.first = Some(first);
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

    fn running_mut(&mut self, context: &InstanceContext<'_>) -> StepResult<&mut Running> {
        let running = self.running.get_mut(&key(context.system, context.medium));
        running.ok_or_else(|| unresolved("running system", context.system))
    }

    /// Does not watch the system while `work` stops it and starts it again: the probe would report that it is gone.
    pub(super) fn while_unwatched<T>(
        &mut self,
        (system, medium): (&str, Option<&str>),
        work: impl FnOnce(&mut Self) -> Result<T, RunError>,
    ) -> StepResult<T> {
        let subject = self.running(system, medium)?.subject;
        if let Some(probe) = &self.probe {
            Probe::unwatch(probe, subject);
        }
        let done = work(self)?;
        self.watch_system(system, medium)?;
        Ok(done)
    }
}
