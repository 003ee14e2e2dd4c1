//! Where files are read from, and what to say when they cannot be.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use plimsoll_model::record::SubjectId;

use super::Warning;

/// Root of the /proc and /sys that are read: `/`, or a recorded tree in tests.
#[derive(Debug, Clone)]
pub(super) struct Source {
    root: PathBuf,
}

impl Source {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// `path` without a leading slash: `proc/stat`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The file's text; bytes that are not UTF-8 (a process may choose its name) are replaced.
    pub fn read(&self, path: &str) -> io::Result<String> {
        let bytes = fs::read(self.path(path))?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Reads and parses, with one error for both.
    pub fn parse<T>(&self, path: &str, parse: impl FnOnce(&str) -> Option<T>) -> io::Result<T> {
        let text = self.read(path)?;
        parse(&text).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not in a form that plimsoll knows"))
    }
}

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
