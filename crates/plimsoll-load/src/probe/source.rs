//! What to say when files cannot be read.

use std::collections::BTreeSet;
use std::io;

pub(super) use plimsoll_block::host::source::{Source, text};
use plimsoll_model::record::SubjectId;

use super::Warning;

/// Keeps each warning to one.
#[derive(Debug, Default)]
pub(super) struct Warnings {
    said: BTreeSet<(SubjectId, String)>,
    new: Vec<Warning>,
}

impl Warnings {
    /// `about` identifies what the warning is about; the same one is not said twice for a subject.
    pub fn say(&mut self, subject: SubjectId, code: &'static str, about: &str, text: impl FnOnce() -> String) {
        if self.said.insert((subject, format!("{code} {about}"))) {
            self.new.push(Warning { subject, code, text: text() });
        }
    }

    /// A source that cannot be read, and what is missing for that.
    pub fn unreadable(&mut self, subject: SubjectId, path: &str, error: &io::Error, missing: &str) {
        self.say(subject, "unreadable", path, || format!("/{path}: {error}; no figures for {missing}"));
    }

    /// A subject that is watched anew may warn anew.
    pub fn forget(&mut self, subject: SubjectId) {
        self.said.retain(|(of, _)| *of != subject);
    }

    pub fn take(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.new)
    }
}
