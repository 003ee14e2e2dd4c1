//! Warnings about files that cannot be read.

use std::collections::BTreeSet;
use std::fmt::Display;

pub(super) use plimsoll_block::host::source::{KernelFiles, text};
use plimsoll_record::SubjectId;
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::Figures;

use super::Warning;

/// Keeps each warning to one.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    warned: BTreeSet<(SubjectId, String)>,
    new: Vec<Warning>,
}

impl Warnings {
    /// `about` identifies what the warning is about; a subject has each only once.
    pub fn warn(&mut self, subject: SubjectId, about: &str, kind: EventKind) {
        if self.warned.insert((subject, about.to_owned())) {
            self.new.push(Warning { subject, kind });
        }
    }

    /// A source that cannot be read, and what is missing for that.
    pub fn unreadable(
        &mut self,
        subject: SubjectId,
        source: impl Display,
        error: impl Display,
        figures: Figures,
    ) {
        let source = source.to_string();
        let about = format!("{source} {figures:?}");
        let error = error.to_string();
        let kind = EventKind::Unreadable {
            source,
            error,
            figures,
        };
        self.warn(subject, &about, kind);
    }

    /// A subject that is watched anew may warn anew.
    pub fn forget(&mut self, subject: SubjectId) {
        self.warned.retain(|(of, _)| *of != subject);
    }

    pub fn take(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.new)
    }
}
