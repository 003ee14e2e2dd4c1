//! A disk that became full under load: finds which one, and fails the run.

use std::path::{Path, PathBuf};

use plimsoll_block::host::mount::{Space, space};
use plimsoll_load::error::FREE_SPACE;
use plimsoll_load::probe::Watch;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Event, Severity};
use plimsoll_report::message::Messages;

use super::error::{RunError, StepResult};
use super::execution::Execution;
use super::running::InstanceId;

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
    /// `None` where the filesystem has no fixed number of files.
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

/// The full one with the least space; the first of equal ones. `None` where none of them is full.
fn fullest(places: impl Iterator<Item = FilesystemSpace>) -> Option<FilesystemSpace> {
    places
        .filter(FilesystemSpace::is_full)
        .min_by(|a, b| a.free_share().total_cmp(&b.free_share()))
}

/// EDQUOT in the C locale, or MariaDB's number for it.
fn is_quota(why: &str) -> bool {
    why.contains("quota exceeded") || why.contains("Errcode: 122")
}

/// What failed, where and why.
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

fn advice(event: &EventKind) -> &'static str {
    match event {
        EventKind::DiskFull { is_quota: true, .. } => {
            "Raise the quota of this user there, or choose another medium."
        }
        _ => FREE_SPACE,
    }
}

impl Execution<'_> {
    /// Records the full disk beside the point that ended with it, `at`, and gives the end of the run.
    pub(super) fn disk_full(
        &mut self,
        instance: InstanceId,
        at: Nanos,
        full: FullDisk,
    ) -> StepResult<RunError> {
        let subject = Some(self.running.get(instance)?.subject);
        let places = self
            .written_by(instance)?
            .into_iter()
            .filter_map(FilesystemSpace::read);
        let kind = event(&instance.name(self.plan), full, places);
        let text = Messages::english().event(&kind);
        let next = advice(&kind);
        self.file.event(&Event {
            at,
            subject,
            severity: Severity::Error,
            kind,
        })?;
        Ok(RunError::failed(format!(
            "{text}\n{next} The run file has everything measured until then."
        )))
    }

    /// The directories that a system's files lie in: the medium's, below an emulated drive also that of its backing file.
    fn written_by(&self, instance: InstanceId) -> StepResult<Vec<PathBuf>> {
        let data = match self.running.get(instance)?.instance.watch() {
            Some(Watch::Processes { data, .. }) => data,
            Some(Watch::EmbeddedData { path }) => path.parent().map(Path::to_owned),
            _ => None,
        };
        let drive = instance
            .medium
            .and_then(|medium| self.drives.get(&medium))
            .and_then(|drive| drive.disks.of(&instance.name(self.plan)))
            .map(Path::to_owned);
        let medium = instance
            .medium
            .map(|medium| PathBuf::from(&self.plan.medium(medium).path));
        Ok(drive.into_iter().chain(medium).chain(data).collect())
    }
}

#[cfg(test)]
mod tests {
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

    fn of(why: &str, places: impl IntoIterator<Item = FilesystemSpace>) -> EventKind {
        event("db", full(why), places.into_iter())
    }

    fn text(why: &str, places: impl IntoIterator<Item = FilesystemSpace>) -> String {
        Messages::english().event(&of(why, places))
    }

    #[test]
    fn a_disk_with_space_is_not_reported_as_full() {
        let roomy = || filesystem("/data", Bytes::mib(40_000), Bytes::mib(100_000), Some(9));
        assert_eq!(
            text("table is full", [roomy()]),
            "System db cannot write: no space left on the server's disk (table is full)."
        );
        let few = filesystem("/log", Bytes::mib(900), Bytes::mib(100_000), None);
        let found = of("x", [roomy(), few]);
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
            assert!(advice(&of(why, [tight()])).contains("Raise the quota"));
        }
    }
}
