//! Verifies the consistency conditions of a system's data, in a separate phase.

use plimsoll_load::engine::{CheckedData, ConditionResult};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::message::EventKind;
use plimsoll_record::{Check, Point, PointId, Severity};
use plimsoll_report::message::Messages;

use super::super::context::InstanceContext;
use super::super::drives::Drives;
use super::super::error::{RunError, StepResult};
use super::super::run::RunContext;
use super::Systems;

impl Systems<'_> {
    /// Verifies the consistency conditions. A violation ends the run, except after a power cut: figures of a database
    /// with wrong content must not be quoted.
    pub fn check(
        &self,
        drives: &Drives<'_>,
        context: &InstanceContext<'_>,
        point: Option<&Point>,
    ) -> StepResult<()> {
        let RunContext { log, .. } = self.run;
        let step = context.step;
        let verdicts = log.phase(&step.name, point, PhaseKind::Check, |_| {
            self.verify_conditions(drives, context)
        });
        if let Err(RunError::Failed(why)) = &verdicts {
            let subject = self.get(context.instance)?.subject;
            let event = EventKind::NotVerified {
                step: step.name.clone(),
                // Without what to do about it.
                error: why.text.lines().take(2).collect::<Vec<_>>().join(": "),
            };
            log.event(Some(subject), Severity::Error, event)?;
            log.file().commit()?;
        }
        let point = point.map(|point| point.id);
        let failing = self.store_checks(context, point, &verdicts?)?;
        log.file().commit()?;
        match failing {
            Some(first) => Err(RunError::Broken(format!(
                "{first}\nThe database does not hold what its transactions should have left: do not quote these figures."
            ))),
            None => self.run.expect_uninterrupted(),
        }
    }

    fn verify_conditions(
        &self,
        drives: &Drives<'_>,
        context: &InstanceContext<'_>,
    ) -> StepResult<Vec<ConditionResult>> {
        let step = context.step;
        let text = format!("{}: verifying the consistency conditions", step.name);
        let data = CheckedData::from(context.workload);
        self.wait_for_task(drives, context.instance, &text, |instance, _| {
            instance.check(data)
        })
        .map_err(|error| match error {
            // The tables cannot be read.
            RunError::Failed(why)
                if step.power_cut.is_some() && drives.died(context.instance.medium).is_none() =>
            {
                RunError::Broken(why.text)
            }
            error => error,
        })
    }

    /// Records the verdicts, and returns the first condition that does not hold.
    fn store_checks(
        &self,
        context: &InstanceContext<'_>,
        point: Option<PointId>,
        verdicts: &[ConditionResult],
    ) -> StepResult<Option<String>> {
        let subject = self.get(context.instance)?.subject;
        for verdict in verdicts {
            self.run.log.file().check(&Check {
                point,
                subject,
                clause: verdict.clause.to_owned(),
                holds: verdict.holds,
                detail: verdict.detail.clone(),
            })?;
        }
        let failing = verdicts.iter().find(|verdict| !verdict.holds);
        Ok(failing.map(|verdict| {
            let clause = &verdict.clause;
            let statement = Messages::english().check(clause, &verdict.detail);
            format!("condition {clause} does not hold: {statement}")
        }))
    }
}
