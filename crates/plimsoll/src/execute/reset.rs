//! Bringing a data set back to its first state before a point, in a phase of its own.

use plimsoll_load::probe::Probe;
use plimsoll_model::plan::resolved::{CheckPolicy, LoadStep, ResetPolicy};
use plimsoll_model::record::Reset;
use plimsoll_model::schedule::PhaseKind;

use super::point::{Place, Spot};
use super::prepare::{Running, key};
use super::{Course, Execution, Halt, unresolved};

impl Execution<'_> {
    /// Keeps the data that a step has just found or loaded, if it or a later one wants to come back to them.
    pub(super) fn keep_first_state(&mut self, place: &Spot<'_>) -> Course<()> {
        let Spot { step, system, medium, workload } = *place;
        let wants = |other: &&LoadStep| {
            other.reset == ResetPolicy::EachPoint && (&other.system, &other.workload) == (&step.system, &step.workload)
        };
        let Some(method) = self.plan.load_steps().find(wants).map(|wanting| wanting.reset_by) else { return Ok(()) };
        if self.running_mut(place)?.kept_for.as_ref() == Some(&step.workload) {
            return Ok(());
        }
        let what = format!("{}: keeping the first state", step.name);
        self.unasked((system, medium), |this| {
            this.waiting(system, medium, &what, |instance, control| {
                instance.keep_first_state(method, workload, control)
            })
        })
        .and_then(|(_, first)| {
            let running = self.running_mut(place)?;
            (running.first, running.kept_for, running.dirty) = (first, Some(step.workload.clone()), false);
            Ok(())
        })
    }

    /// Before a point: brings the data back if the step wants that and anything has changed them.
    pub(super) fn reset(&mut self, place: &Place<'_>) -> Course<()> {
        place.spots().try_for_each(|spot| self.reset_one(&spot))
    }

    fn reset_one(&mut self, place: &Spot<'_>) -> Course<()> {
        let Spot { step, system, medium, workload } = *place;
        let running = self.running_mut(place)?;
        let was_dirty = std::mem::replace(&mut running.dirty, true);
        if step.reset == ResetPolicy::Never || !was_dirty {
            return Ok(());
        }
        let Some(first) = running.first.take() else { return Ok(()) };
        let subject = running.subject;
        let phase = self.file.open_phase(&step.name, None, PhaseKind::Reset, self.clock.now())?;
        let what = format!("{}: bringing the data back to their first state", step.name);
        let (seed, verify) = (self.plan.data_seed, step.check != CheckPolicy::Off);
        let done = self.unasked((system, medium), |this| {
            this.waiting(system, medium, &what, |instance, control| {
                instance.reset(&first, (workload, seed), verify, control)
            })
        });
        self.file.close_phase(phase, self.clock.now(), done.is_ok())?;
        let (_, restored) = done?;
        self.running_mut(place)?.first = Some(first);
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

    fn running_mut(&mut self, place: &Spot<'_>) -> Course<&mut Running> {
        let running = self.running.get_mut(&key(place.system, place.medium));
        running.ok_or_else(|| unresolved("running system", place.system))
    }

    /// Nobody watches the system while `work` stops it and starts it again: that it goes away then is no news.
    pub(super) fn unasked<T>(
        &mut self,
        (system, medium): (&str, Option<&str>),
        work: impl FnOnce(&mut Self) -> Result<T, Halt>,
    ) -> Course<T> {
        let subject = self.running(system, medium)?.subject;
        if let Some(probe) = &self.probe {
            Probe::unwatch(probe, subject);
        }
        let done = work(self)?;
        self.watch_system(system, medium)?;
        Ok(done)
    }
}
