//! What holds for a whole run: this machine, a medium, the device under it.
//!
//! Facts are short texts under snake_case keys. Names that identify a machine or a drive (host name, serial numbers)
//! are left out. What cannot be read is listed in one fact, `unreadable`.

use super::source::Source;

mod device;
mod host;
mod medium;

pub use device::{Device, device_facts, device_of};
pub use host::host_facts;
pub use medium::{Space, available_memory, free_bytes, medium_facts, space};

/// Collects facts, and what could not be read.
struct Facts<'a> {
    source: &'a Source,
    known: Vec<(String, String)>,
    unreadable: Vec<&'static str>,
}

impl<'a> Facts<'a> {
    fn new(source: &'a Source) -> Self {
        Self { source, known: Vec::new(), unreadable: Vec::new() }
    }

    /// `None`, or nothing but space, is unreadable.
    fn add(&mut self, key: &'static str, value: Option<String>) {
        match value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()) {
            Some(value) => self.known.push((key.into(), value)),
            None => self.unreadable.push(key),
        }
    }

    /// The first of these files that can be read.
    fn file(&mut self, key: &'static str, paths: &[&str]) {
        let value = paths.iter().find_map(|path| self.text(path));
        self.add(key, value);
    }

    fn text(&self, path: &str) -> Option<String> {
        let text = self.source.read(path).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn finish(mut self) -> Vec<(String, String)> {
        if !self.unreadable.is_empty() {
            self.known.push(("unreadable".into(), self.unreadable.join(", ")));
        }
        self.known
    }
}

/// The bracketed one of `always [madvise] never`; the whole text where none is bracketed.
fn chosen(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(chosen, _)| chosen).to_owned()
}
