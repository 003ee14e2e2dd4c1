//! What probes and emulated drives tell while something else goes on.

use std::sync::mpsc::{self, Receiver, Sender};

use plimsoll_load::clock::Clock;
use plimsoll_load::probe::{News, Warning};
use plimsoll_model::drive::DriveSecond;
use plimsoll_model::record::{BackupRow, Event, Severity, SubjectId};
use plimsoll_model::units::Nanos;

use super::backup;
use crate::progress::Progress;
use crate::runfile::{RunFile, RunFileError};

/// Of a medium, on the run's timeline.
pub(super) enum DriveNews {
    Second { subject: SubjectId, start: Nanos, end: Nanos, second: Box<DriveSecond> },
    Warning { subject: SubjectId, at: Nanos, code: String, text: String },
}

pub(super) struct Inbox {
    clock: Clock,
    probe: Receiver<News>,
    drives: Receiver<DriveNews>,
    /// For the drives that are mounted later.
    pub from_drives: Sender<DriveNews>,
    backups: Receiver<(String, BackupRow)>,
    /// For the threads that save systems: which one, and what became of it.
    pub from_backups: Sender<(String, BackupRow)>,
}

impl Inbox {
    /// With the sender for the probe.
    pub fn new(clock: Clock) -> (Self, Sender<News>) {
        let (sender, probe) = mpsc::channel();
        let (from_drives, drives) = mpsc::channel();
        let (from_backups, backups) = mpsc::channel();
        (Self { clock, probe, drives, from_drives, backups, from_backups }, sender)
    }

    /// Writes what has come since into the run file; warnings are shown as well.
    pub fn store(&self, file: &mut RunFile, progress: &Progress) -> Result<(), RunFileError> {
        self.probe.try_iter().try_for_each(|news| match news {
            News::Samples(samples) => file.samples(&samples),
            News::Waits(waits) => file.waits(&waits),
            News::Facts(subject, facts) => file.facts(subject, &facts),
            News::Warning(Warning { subject, code, text }) => {
                progress.say(&format!("warning: {text}"));
                let (at, code, severity) = (self.clock.now(), code.into(), Severity::Warning);
                file.event(&Event { at, subject: Some(subject), severity, code, text })
            }
        })?;
        self.backups.try_iter().try_for_each(|(system, row)| {
            backup::say(&row, &system, progress);
            file.backup(&row)
        })?;
        self.drives.try_iter().try_for_each(|news| match news {
            DriveNews::Second { subject, start, end, second } => {
                file.drive_second(subject, start, end, &second.tallies)
            }
            DriveNews::Warning { subject, at, code, text } => {
                progress.say(&format!("warning: {text}"));
                file.event(&Event { at, subject: Some(subject), severity: Severity::Warning, code, text })
            }
        })
    }
}
