//! Receives what probes, backups and emulated drives send during other work.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use plimsoll_load::probe::{ProbeMessage, Warning};
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveSecond;
use plimsoll_record::message::EventKind;
use plimsoll_record::runfile::{RunFile, RunFileError};
use plimsoll_record::{BackupKind, BackupOutcome, BackupRow, Event, Severity, SubjectId};
use plimsoll_report::message::Messages;

use crate::progress::Progress;

/// Message about the drive of a medium, on the run's timeline.
pub(super) enum DriveMessage {
    Second {
        subject: SubjectId,
        /// The drives of an array or a cluster.
        members: Arc<[SubjectId]>,
        start: Nanos,
        end: Nanos,
        second: Box<DriveSecond>,
    },
    Warning {
        subject: SubjectId,
        at: Nanos,
        kind: EventKind,
    },
}

pub(super) struct Inbox {
    probe: Receiver<ProbeMessage>,
    /// For the probe, and for the workers on other hosts.
    pub from_probe: Sender<ProbeMessage>,
    drives: Receiver<DriveMessage>,
    /// For the drives that are mounted later.
    pub from_drives: Sender<DriveMessage>,
    backups: Receiver<(String, BackupRow)>,
    /// For the backup threads: the system and the result.
    pub from_backups: Sender<(String, BackupRow)>,
}

impl Default for Inbox {
    fn default() -> Self {
        let (from_probe, probe) = channel();
        let (from_drives, drives) = channel();
        let (from_backups, backups) = channel();
        Self {
            probe,
            from_probe,
            drives,
            from_drives,
            backups,
            from_backups,
        }
    }
}

impl Inbox {
    /// Writes what has arrived until `now` into the run file; prints warnings.
    pub fn store(
        &self,
        file: &RunFile,
        progress: &Progress,
        now: Nanos,
    ) -> Result<(), RunFileError> {
        self.probe
            .try_iter()
            .try_for_each(|message| match message {
                ProbeMessage::Samples(samples) => file.samples(&samples),
                ProbeMessage::Waits(waits) => file.waits(&waits),
                ProbeMessage::Facts(subject, facts) => file.facts(subject, &facts),
                ProbeMessage::Warning(Warning { subject, kind }) => {
                    warn(file, progress, subject, now, kind)
                }
                ProbeMessage::Event(event) => record(file, progress, &event),
            })?;
        self.backups.try_iter().try_for_each(|(system, row)| {
            progress.print(&backup_line(&row, &system));
            file.backup(&row)
        })?;
        self.drives
            .try_iter()
            .try_for_each(|message| match message {
                DriveMessage::Second {
                    subject,
                    members,
                    start,
                    end,
                    second,
                } => {
                    file.samples(&second.member_samples(&members, start, end))?;
                    file.drive_second(subject, start, end, &second.tallies)
                }
                DriveMessage::Warning { subject, at, kind } => {
                    warn(file, progress, subject, at, kind)
                }
            })
    }
}

/// `nightly: backup 2 took 12.3 s, 593 MB/s (db-1)`.
fn backup_line(row: &BackupRow, system: &str) -> String {
    let step = &row.step;
    let seconds = row.end.saturating_sub(row.start).as_secs_f64();
    let what = match row.kind {
        BackupKind::Backup => "backup",
        BackupKind::Restore => "restore",
    };
    let cycle = row.cycle + 1;
    match row.outcome {
        BackupOutcome::Complete if seconds > 0.0 => {
            let rate = row.bytes as f64 / 1e6 / seconds;
            format!("{step}: {what} {cycle} took {seconds:.1} s, {rate:.0} MB/s ({system})")
        }
        BackupOutcome::Complete => format!("{step}: {what} {cycle} is complete ({system})"),
        BackupOutcome::Cancelled => format!("{step}: {what} {cycle} was ended ({system})"),
        BackupOutcome::Failed | BackupOutcome::Differs => {
            let detail = row.detail.as_ref();
            let why = detail.map(|detail| Messages::english().backup_detail(detail));
            let why = why.unwrap_or_default();
            format!("{step}: {what} {cycle} failed ({system}): {why}")
        }
    }
}

fn warn(
    file: &RunFile,
    progress: &Progress,
    subject: SubjectId,
    at: Nanos,
    kind: EventKind,
) -> Result<(), RunFileError> {
    let severity = match kind.is_planned() {
        true => Severity::Note,
        false => Severity::Warning,
    };
    let event = Event {
        at,
        subject: Some(subject),
        severity,
        kind,
    };
    record(file, progress, &event)
}

fn record(file: &RunFile, progress: &Progress, event: &Event) -> Result<(), RunFileError> {
    let text = Messages::english().event(&event.kind);
    progress.print(&match event.severity {
        Severity::Note => format!("  {text}"),
        severity => format!("{}: {text}", severity.name()),
    });
    file.event(event)
}
