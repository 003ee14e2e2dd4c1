//! Where files of /proc and /sys are read from.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Root of the /proc and /sys that are read: `/`, or a recorded tree in tests.
#[derive(Debug, Clone)]
pub struct KernelFiles {
    root: PathBuf,
}

impl KernelFiles {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// `path` without a leading slash: `proc/stat`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The file's text; bytes that are not UTF-8 (a process may choose its name) are replaced.
    pub fn read(&self, path: &str) -> io::Result<String> {
        text(&self.path(path))
    }

    /// Reads and parses, with one error for both.
    pub fn parse<T>(&self, path: &str, parse: impl FnOnce(&str) -> Option<T>) -> io::Result<T> {
        let text = self.read(path)?;
        parse(&text).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "not in a form that plimsoll knows",
            )
        })
    }
}

/// A file of /proc or /sys, in as few calls as that takes. These files report no size, so that [`std::fs::read`] asks for it
/// and then feels its way; a probe reads hundreds of them every second.
pub fn text(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    let mut part = [0; 8192];
    loop {
        match file.read(&mut part) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_bytes_that_are_no_text_are_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("long");
        let long = "0123456789".repeat(5_000);
        std::fs::write(&path, &long).unwrap();
        assert_eq!(text(&path).unwrap(), long);
        std::fs::write(&path, b"a\xffb").unwrap();
        assert_eq!(text(&path).unwrap(), "a\u{fffd}b");
        assert_eq!(
            text(&dir.path().join("none")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
