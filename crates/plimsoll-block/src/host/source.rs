//! Where files of /proc and /sys are read from.

use std::fs;
use std::io;
use std::path::PathBuf;

/// Root of the /proc and /sys that are read: `/`, or a recorded tree in tests.
#[derive(Debug, Clone)]
pub struct Source {
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
