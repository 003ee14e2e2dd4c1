//! Warnings about files that cannot be read.

use std::collections::BTreeSet;
use std::io;

pub(super) use plimsoll_block::host::source::{Source, text};
use plimsoll_record::SubjectId;

use super::Warning;

/// Keeps each warning to one.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    warned: BTreeSet<(SubjectId, String)>,
    new: Vec<Warning>,
}

impl Warnings {
    /// `about` identifies what the warning is about; a subject has each only once.
    pub fn warn(
        &mut self,
        subject: SubjectId,
        code: &'static str,
        about: &str,
        text: impl FnOnce() -> String,
    ) {
        if self.warned.insert((subject, format!("{code} {about}"))) {
            self.new.push(Warning {
                subject,
                code,
                text: text(),
            });
        }
    }

    /// A source that cannot be read, and what is missing for that.
    pub fn unreadable(&mut self, subject: SubjectId, path: &str, error: &io::Error, missing: &str) {
        self.warn(subject, "unreadable", path, || {
            format!("/{path}: {error}; no figures for {missing}")
        });
    }

    /// A subject that is watched anew may warn anew.
    pub fn forget(&mut self, subject: SubjectId) {
        self.warned.retain(|(of, _)| *of != subject);
    }

    pub fn take(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.new)
    }
}
