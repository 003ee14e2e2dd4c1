//! Runs the doctor on the machine and on each medium before the first load, and records its findings.

use std::path::Path;

use plimsoll_block::doctor::checks;
use plimsoll_block::doctor::gather::{self, Counters, GatherOptions, Quiet};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{MediumId, estimate};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Diagnosis, DiagnosisLevel, Severity, SubjectId};
use plimsoll_report::message::Messages;

use super::error::StepResult;
use super::execution::Execution;
use crate::{drive_file, known};

/// Blocks to read, and the longest time for that: short, because it delays the run.
const BLOCKS: u32 = 64;
const PATIENCE: Nanos = Nanos::from_millis(300);

const LONGEST_QUIET: Nanos = Nanos::from_millis(500);
const SHORTEST_QUIET: Nanos = Nanos::from_millis(200);

/// A hundredth of the time that the run takes, at most half a second; `None` where that is too short for shares of CPU time,
/// which the kernel counts in ticks of 10 ms.
fn quiet_moment(run: Nanos) -> Option<Nanos> {
    let moment = Nanos(run.0 / 100).min(LONGEST_QUIET);
    (moment >= SHORTEST_QUIET).then_some(moment)
}

impl Execution<'_> {
    /// Only reads. Waits for a moment to see what other programs do, where the run is long enough for that.
    pub(super) fn diagnose_machine(&self) -> StepResult<()> {
        let quiet = quiet_moment(estimate(self.plan).duration).map(|moment| {
            let now = || self.clock.now();
            let before = Counters::read(&now);
            self.clock.block_until(self.clock.now() + moment);
            Quiet {
                before,
                after: Counters::read(&now),
            }
        });
        checks::machine(&gather::machine(quiet.as_ref()))
            .into_iter()
            .try_for_each(|found| self.record_diagnosis("this machine", found))
    }

    /// Each medium once. Only reads; `path` is where an emulated one is mounted.
    pub(super) fn diagnose_medium(
        &mut self,
        id: MediumId,
        subject: SubjectId,
        path: &Path,
    ) -> StepResult<()> {
        if self.probe.is_none() || !self.diagnosed.insert(id) {
            return Ok(());
        }
        let medium = self.plan.medium(id);
        let drive = medium
            .kind
            .emulated()
            .filter(|_| self.drives.contains_key(&id));
        let spec = drive.and_then(|drive| Some((drive, drive_file::emulated(drive).ok()?)));
        let is = spec.map(|(drive, spec)| {
            known::emulated(&spec, drive.capacity, drive.fill, self.plan.data_seed)
        });
        let catalog = known::catalog();
        let clock = self.clock.clone();
        let options = GatherOptions {
            now: &|| clock.now(),
            quiet: None,
            known: &catalog,
            is: is.as_ref(),
            // Checked and reported where the device is claimed.
            users: false,
            health: true,
            blocks: BLOCKS,
            patience: PATIENCE,
            seed: self.plan.data_seed,
        };
        match gather::medium(path, &options) {
            Ok(evidence) => checks::medium(&evidence).into_iter().try_for_each(|found| {
                self.record_diagnosis(
                    &format!("medium {}", medium.name),
                    Diagnosis {
                        subject: Some(subject),
                        ..found
                    },
                )
            }),
            Err(error) => {
                let error = error.to_string();
                self.record_event(Some(subject), Severity::Note, EventKind::Doctor { error })
            }
        }
    }

    /// Records a finding; prints warnings and errors.
    fn record_diagnosis(&self, target: &str, found: Diagnosis) -> StepResult<()> {
        self.file.diagnosis(&found)?;
        let Diagnosis { code, level, .. } = &found;
        if matches!(level, DiagnosisLevel::Warning | DiagnosisLevel::Error) {
            let messages = Messages::english();
            let (text, next) = (messages.diagnosis(&found), messages.advice(&found));
            self.progress.print(&format!(
                "{}: {target}: {code}: {text}\n  {next}",
                level.name()
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_waits_for_a_hundredth_of_its_time_at_most() {
        let of = |seconds| quiet_moment(Nanos::from_secs(seconds));
        assert_eq!((of(0), of(19)), (None, None));
        assert_eq!(of(20), Some(Nanos::from_millis(200)));
        assert_eq!(of(86_400), Some(Nanos::from_millis(500)));
    }
}
