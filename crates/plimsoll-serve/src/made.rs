//! The report that was made last: all who ask for it share one copy.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::respond::ScriptPolicy;

pub(crate) struct LastReport {
    pub source: ReportSource,
    pub page: MadeReport,
}

#[derive(Clone)]
pub(crate) struct MadeReport {
    pub html: Bytes,
    pub scripts: ScriptPolicy,
}

/// A run file as it was before it was read.
#[derive(PartialEq, Eq)]
pub(crate) struct ReportSource {
    pub path: PathBuf,
    file: Option<FileVersion>,
    wal: Option<FileVersion>,
}

#[derive(PartialEq, Eq)]
struct FileVersion {
    inode: u64,
    length: u64,
    modified: i64,
    nanos: i64,
}

impl ReportSource {
    pub fn new(path: PathBuf) -> Self {
        let mut wal = path.as_os_str().to_owned();
        wal.push("-wal");
        Self {
            file: FileVersion::read(&path),
            wal: FileVersion::read(Path::new(&wal)),
            path,
        }
    }
}

impl FileVersion {
    fn read(path: &Path) -> Option<Self> {
        path.metadata().ok().map(Self::from)
    }
}

impl From<Metadata> for FileVersion {
    fn from(data: Metadata) -> Self {
        Self {
            inode: data.ino(),
            length: data.len(),
            modified: data.mtime(),
            nanos: data.mtime_nsec(),
        }
    }
}
