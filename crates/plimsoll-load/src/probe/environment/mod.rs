//! What holds for a whole run: this machine, a medium, the device under it.
//!
//! Facts are short texts under snake_case keys. Names that identify a machine or a drive (host name, serial numbers)
//! are left out. What cannot be read is listed in one fact, `unreadable`.

use super::source::KernelFiles;

mod device;
mod host;
mod medium;

pub use device::device_facts;
pub use host::host_facts;
pub use medium::medium_facts;

/// Collects facts, and what could not be read.
struct FactCollector<'a> {
    source: &'a KernelFiles,
    known: Vec<(String, String)>,
    unreadable: Vec<&'static str>,
}

impl<'a> FactCollector<'a> {
    fn new(source: &'a KernelFiles) -> Self {
        Self {
            source,
            known: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    /// `None`, or nothing but space, is unreadable.
    fn add(&mut self, key: &'static str, value: Option<String>) {
        match value
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
        {
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
            self.known
                .push(("unreadable".into(), self.unreadable.join(", ")));
        }
        self.known
    }
}
