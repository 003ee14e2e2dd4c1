//! How a run ends: its status, and what the run file has about it.

use std::path::PathBuf;

use plimsoll_load::probe::Warning;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::{Event, RunStatus, Severity};

use super::error::{LateDrive, RunError, StepResult};
use super::existing::report_what_stays;
use super::job::Job;
use super::log::RunLog;
use crate::failure::{Failure, FailureReason};

/// Result of a run.
#[derive(Debug)]
pub struct FinishedRun {
    pub run_file: PathBuf,
    pub status: RunStatus,
    /// Why it failed.
    pub failure: Option<FailureReason>,
    /// The drive that could not answer in time and ended it.
    pub late: Option<LateDrive>,
    /// Whether a missed requirement ended it.
    pub missed: bool,
}

/// The end of a run, of which nothing is left running.
pub(super) struct RunEnd {
    pub at: Nanos,
    pub result: StepResult<()>,
    /// Acknowledged commits and data that were lost, a text each.
    pub losses: Vec<String>,
    /// What the probes could not read.
    pub warnings: Vec<Warning>,
    /// What could not be stopped or removed.
    pub trouble: Vec<String>,
}

impl RunEnd {
    /// Records the end and closes the run file; removes the file of a run that failed before it measured anything.
    pub fn record(self, log: RunLog, job: &Job) -> Result<FinishedRun, Failure> {
        let file = log.file();
        let mut done = FinishedRun::new(file.path().to_owned(), self.result, &self.losses)?;
        let is_empty = file.is_empty()?;
        if is_empty && let Some(why) = done.failure.take() {
            log.into_file().discard()?;
            return Err(Failure::run(why));
        }
        log.record_warnings(self.warnings)?;
        log.receive()?;
        let record = |severity, kind| {
            log.file().event(&Event {
                at: self.at,
                subject: None,
                severity,
                kind,
            })
        };
        for error in self.trouble {
            record(Severity::Warning, EventKind::Cleanup { error })?;
        }
        let lines = done.failure.as_ref().map(|failure| &failure.log);
        if let Some(log) = lines.filter(|lines| !lines.is_empty()) {
            record(Severity::Note, EventKind::EndOfLog { log: log.clone() })?;
        }
        if !is_empty {
            report_what_stays(&job.plan, log.progress());
        }
        let why = done.failure.as_ref().map(|failure| failure.text.as_str());
        log.into_file().finish(done.status, why, self.at)?;
        Ok(done)
    }
}

impl FinishedRun {
    /// An error where the run file cannot be written: errors of later writes would hide it.
    fn new(run_file: PathBuf, result: StepResult<()>, losses: &[String]) -> Result<Self, Failure> {
        let mut done = Self {
            run_file,
            status: RunStatus::Failed,
            failure: None,
            late: None,
            missed: false,
        };
        match result {
            Ok(()) if losses.is_empty() => done.status = RunStatus::Complete,
            Ok(()) => {
                let lost = losses.join("\n");
                done.failure = Some(format!("{lost}\nThe report lists the losses by step.").into());
            }
            Err(RunError::Interrupted) => done.status = RunStatus::Interrupted,
            Err(RunError::Failed(why)) => done.failure = Some(why),
            Err(RunError::Broken(why)) => done.failure = Some(why.into()),
            Err(RunError::Late(drive)) => {
                done.failure = Some(drive.to_string().into());
                done.late = Some(drive);
            }
            Err(RunError::Missed(why)) => {
                let text = format!(
                    "a requirement is missed: {why}\nThe run ends here: the plan has abort_on_fail."
                );
                done.failure = Some(text.into());
                done.missed = true;
            }
            Err(RunError::Unrecorded(failure)) => return Err(failure),
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(result: StepResult<()>, losses: &[&str]) -> Result<FinishedRun, Failure> {
        let losses: Vec<String> = losses.iter().map(|text| (*text).to_owned()).collect();
        FinishedRun::new("r.plimsoll".into(), result, &losses)
    }

    #[test]
    fn losses_fail_a_run_whose_steps_all_ran() {
        assert_eq!(end(Ok(()), &[]).unwrap().status, RunStatus::Complete);
        let lost = end(Ok(()), &["3 transactions are LOST", "an array is LOST"]).unwrap();
        assert_eq!(lost.status, RunStatus::Failed);
        assert_eq!(
            lost.failure.unwrap().text,
            "3 transactions are LOST\nan array is LOST\nThe report lists the losses by step."
        );
    }

    #[test]
    fn an_interrupted_run_has_not_failed() {
        let interrupted = end(Err(RunError::Interrupted), &["lost before"]).unwrap();
        assert_eq!(interrupted.status, RunStatus::Interrupted);
        assert!(interrupted.failure.is_none());
    }

    #[test]
    fn a_run_file_that_cannot_be_written_is_an_error() {
        assert!(end(Err(RunError::Unrecorded(Failure::run("no space"))), &[]).is_err());
    }
}
