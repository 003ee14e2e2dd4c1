//! A disk that became full under load: finds which one.

use std::path::PathBuf;

use plimsoll_block::host::mount::{Space, space};
use plimsoll_load::error::FREE_SPACE;
use plimsoll_plan::units::Bytes;
use plimsoll_record::message::EventKind;

/// A full disk as the system reports it.
pub(super) struct FullDisk {
    /// Where, as far as the system knows.
    pub place: String,
    pub why: String,
}

/// Less free space than this is a full disk: a server may have given some back by the time it is read.
const LITTLE: Bytes = Bytes::mib(64);
const LITTLE_PERCENT: u64 = 1;

/// A directory and what is free on its filesystem.
struct FilesystemSpace {
    path: PathBuf,
    space: Space,
    /// None where the filesystem has no fixed number of files.
    free_files: Option<u64>,
}

impl FilesystemSpace {
    fn read(path: PathBuf) -> Option<Self> {
        // One that cannot be read is left out.
        let space = space(&path).ok()?;
        let stat = rustix::fs::statvfs(&path).ok()?;
        Some(Self {
            path,
            space,
            free_files: (stat.f_files > 0).then_some(stat.f_favail),
        })
    }

    fn free_share(&self) -> f64 {
        self.space.free.0 as f64 / self.space.size.0.max(1) as f64
    }

    fn is_full(&self) -> bool {
        let little = LITTLE.0.max(self.space.size.0 / 100 * LITTLE_PERCENT);
        self.space.free.0 < little || self.free_files == Some(0)
    }
}

/// The full filesystem with the least space, the first of equal ones; none where none of them is full.
fn fullest(places: impl Iterator<Item = FilesystemSpace>) -> Option<FilesystemSpace> {
    places
        .filter(FilesystemSpace::is_full)
        .min_by(|a, b| a.free_share().total_cmp(&b.free_share()))
}

/// EDQUOT in the C locale, or MariaDB's number for it.
fn is_quota(why: &str) -> bool {
    why.contains("quota exceeded") || why.contains("Errcode: 122")
}

/// Event that names the fullest filesystem of these directories.
pub(super) fn full_disk_event(system: &str, full: FullDisk, places: Vec<PathBuf>) -> EventKind {
    let places = places.into_iter().filter_map(FilesystemSpace::read);
    event(system, full, places)
}

fn event(system: &str, full: FullDisk, places: impl Iterator<Item = FilesystemSpace>) -> EventKind {
    let is_quota = is_quota(&full.why);
    let found = if is_quota { None } else { fullest(places) };
    let space = found.as_ref().map(|found| &found.space);
    EventKind::DiskFull {
        system: system.into(),
        place: found
            .as_ref()
            .map_or(full.place, |found| found.path.display().to_string()),
        error: full.why,
        is_quota,
        is_out_of_inodes: found
            .as_ref()
            .is_some_and(|found| found.free_files == Some(0)),
        free_bytes: space.map(|space| space.free.0),
        size_bytes: space.map(|space| space.size.0),
    }
}

pub(super) fn advice(event: &EventKind) -> &'static str {
    match event {
        EventKind::DiskFull { is_quota: true, .. } => {
            "Raise the quota of this user there, or choose another medium."
        }
        _ => FREE_SPACE,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_report::message::Messages;

    use super::*;

    fn filesystem(
        path: &str,
        free: Bytes,
        size: Bytes,
        free_files: Option<u64>,
    ) -> FilesystemSpace {
        let space = Space {
            size,
            used: Bytes(size.0 - free.0),
            free,
        };
        FilesystemSpace {
            path: path.into(),
            space,
            free_files,
        }
    }

    fn full(why: &str) -> FullDisk {
        FullDisk {
            place: "the server's disk".into(),
            why: why.into(),
        }
    }

    fn event_for(why: &str, places: impl IntoIterator<Item = FilesystemSpace>) -> EventKind {
        event("db", full(why), places.into_iter())
    }

    fn text(why: &str, places: impl IntoIterator<Item = FilesystemSpace>) -> String {
        Messages::english().event(&event_for(why, places))
    }

    #[test]
    fn a_disk_with_space_is_not_reported_as_full() {
        let roomy = || filesystem("/data", Bytes::mib(40_000), Bytes::mib(100_000), Some(9));
        assert_eq!(
            text("table is full", [roomy()]),
            "System db cannot write: no space left on the server's disk (table is full)."
        );
        let few = filesystem("/log", Bytes::mib(900), Bytes::mib(100_000), None);
        let found = event_for("x", [roomy(), few]);
        assert_eq!(advice(&found), FREE_SPACE);
        assert_eq!(
            Messages::english().event(&found),
            "System db cannot write: no space left on /log (x; 900.0 MiB free of 97.7 GiB)."
        );
        let small = filesystem("/small", Bytes::mib(63), Bytes::mib(100), Some(1));
        assert!(text("x", [roomy(), small]).contains("no space left on /small"));
    }

    #[test]
    fn a_filesystem_without_inodes_is_full() {
        let found = filesystem("/data", Bytes::mib(500), Bytes::mib(900), Some(0));
        let text = text("x", [found]);
        assert!(text.contains("no space left on /data"), "{text}");
        assert!(text.ends_with("; no inodes left)."), "{text}");
    }

    #[test]
    fn a_quota_is_not_a_full_disk() {
        let tight = || filesystem("/small", Bytes(0), Bytes::mib(100), None);
        for why in [
            "could not extend file: Disk quota exceeded",
            "Disk is full (Errcode: 122)",
        ] {
            let text = text(why, [tight()]);
            assert!(
                text.contains("the disk quota on the server's disk is used up"),
                "{text}"
            );
            assert!(advice(&event_for(why, [tight()])).contains("Raise the quota"));
        }
    }
}
