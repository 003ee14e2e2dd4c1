//! What probes and emulated drives tell while something else goes on.

use std::sync::mpsc::{self, Receiver, Sender};

use plimsoll_model::drive::DriveSecond;
use plimsoll_model::metric::Metric;
use plimsoll_model::record::{Event, Sample, Severity, SubjectId};
use plimsoll_model::units::Nanos;

use crate::progress::Progress;
use crate::runfile::{RunFile, RunFileError};

pub(super) type Samples = Vec<(SubjectId, Metric, Sample)>;

/// Of a medium, on the run's timeline.
pub(super) enum DriveNews {
    Second { subject: SubjectId, start: Nanos, end: Nanos, second: Box<DriveSecond> },
    Warning { subject: SubjectId, at: Nanos, code: String, text: String },
}

pub(super) struct Inbox {
    samples: Receiver<Samples>,
    drives: Receiver<DriveNews>,
    /// For the drives that are mounted later.
    pub from_drives: Sender<DriveNews>,
}

impl Inbox {
    /// With the sender for the probe.
    pub fn new() -> (Self, Sender<Samples>) {
        let (sender, samples) = mpsc::channel();
        let (from_drives, drives) = mpsc::channel();
        (Self { samples, drives, from_drives }, sender)
    }

    /// Writes what has come since into the run file; warnings are shown as well.
    pub fn store(&self, file: &mut RunFile, progress: &Progress) -> Result<(), RunFileError> {
        self.samples.try_iter().try_for_each(|batch| file.samples(&batch))?;
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
