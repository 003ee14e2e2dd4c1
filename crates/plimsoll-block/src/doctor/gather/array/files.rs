//! Files of the kernel about an array.

use crate::doctor::evidence::{ArrayEvidence, UnknownArray};
use crate::host::device::{BlockDevice, names_in};
use crate::host::source::KernelFiles;

/// One that the kernel shows, or one whose program did not show it.
pub type FoundArray = Result<ArrayEvidence, UnknownArray>;

/// Files below one directory.
pub struct ArrayFiles<'a> {
    pub source: &'a KernelFiles,
    pub directory: String,
}

impl<'a> ArrayFiles<'a> {
    /// Of a block device, in sysfs.
    pub fn of(source: &'a KernelFiles, device: &BlockDevice) -> Self {
        Self {
            source,
            directory: format!("sys/dev/block/{}:{}", device.major, device.minor),
        }
    }

    pub fn text(&self, path: &str) -> Option<String> {
        let text = self.source.read(&format!("{}/{path}", self.directory));
        let text = text.ok()?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// While an md is reshaped, the old number stands behind the new one: `5 (4)`.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.split(' ').next()?.parse().ok()
    }

    pub fn names(&self, path: &str) -> Vec<String> {
        names_in(&self.source.path(&format!("{}/{path}", self.directory)))
    }
}
