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
use super::run::RunContext;
use crate::{drive_file, known};

/// Blocks to read, and the longest time for that: short, because it delays the run.
const BLOCKS: u32 = 64;
const PATIENCE: Nanos = Nanos::from_millis(300);

const LONGEST_QUIET: Nanos = Nanos::from_millis(500);
const SHORTEST_QUIET: Nanos = Nanos::from_millis(200);

/// A hundredth of the time that the run takes, at most half a second; none where that is too short for shares of CPU time,
/// which the kernel counts in ticks of 10 ms.
fn quiet_moment(run: Nanos) -> Option<Nanos> {
    let moment = Nanos(run.0 / 100).min(LONGEST_QUIET);
    (moment >= SHORTEST_QUIET).then_some(moment)
}

/// Findings about this machine. Only reads. Waits for a moment to see what other programs do, where the run is long enough
/// for that.
pub(super) fn diagnose_machine(run: RunContext<'_>) -> StepResult<()> {
    let log = run.log;
    let quiet = quiet_moment(estimate(run.plan()).duration).map(|moment| {
        let now = || log.now();
        let before = Counters::read(&now);
        log.clock().block_until(log.now() + moment);
        Quiet {
            before,
            after: Counters::read(&now),
        }
    });
    checks::machine(&gather::machine(quiet.as_ref()))
        .into_iter()
        .try_for_each(|found| record_diagnosis(run, "this machine", found))
}

/// Findings about a medium. Only reads; `mount` is where an emulated one is mounted.
pub(super) fn diagnose_medium(
    run: RunContext<'_>,
    id: MediumId,
    subject: SubjectId,
    mount: Option<&Path>,
) -> StepResult<()> {
    let medium = run.plan().medium(id);
    let seed = run.plan().data_seed;
    let drive = medium.kind.emulated().filter(|_| mount.is_some());
    let spec = drive.and_then(|drive| Some((drive, drive_file::emulated(drive).ok()?)));
    let is = spec.map(|(drive, spec)| known::emulated(&spec, drive.capacity, drive.fill, seed));
    let options = GatherOptions {
        now: &|| run.log.now(),
        quiet: None,
        known: &known::catalog(),
        is: is.as_ref(),
        // Checked and reported where the device is claimed.
        users: false,
        health: true,
        blocks: BLOCKS,
        patience: PATIENCE,
        seed,
    };
    match gather::medium(mount.unwrap_or(Path::new(&medium.path)), &options) {
        Ok(evidence) => checks::medium(&evidence).into_iter().try_for_each(|found| {
            let found = Diagnosis {
                subject: Some(subject),
                ..found
            };
            record_diagnosis(run, &format!("medium {}", medium.name), found)
        }),
        Err(error) => {
            let error = error.to_string();
            let doctor = EventKind::Doctor { error };
            run.log.event(Some(subject), Severity::Note, doctor)
        }
    }
}

/// Records a finding; prints warnings and errors.
fn record_diagnosis(run: RunContext<'_>, target: &str, found: Diagnosis) -> StepResult<()> {
    run.log.file().diagnosis(&found)?;
    let Diagnosis { code, level, .. } = &found;
    if matches!(level, DiagnosisLevel::Warning | DiagnosisLevel::Error) {
        let messages = Messages::english();
        let text = messages.diagnosis(&found);
        let next = messages.advice(&found);
        let level = level.name();
        let line = format!("{level}: {target}: {code}: {text}\n  {next}");
        run.log.progress().print(&line);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_waits_for_a_hundredth_of_its_time_at_most() {
        let moments = [0, 19, 20, 86_400].map(|seconds| quiet_moment(Nanos::from_secs(seconds)));
        let [shortest, longest] = [200, 500].map(|millis| Some(Nanos::from_millis(millis)));
        assert_eq!(moments, [None, None, shortest, longest]);
    }
}
