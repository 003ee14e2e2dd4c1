//! A disk that became full under load: which one it is, and that the point is not to be used.

use std::path::{Path, PathBuf};

use plimsoll_block::host::mount::{Space, space};
use plimsoll_load::error::FREE_SPACE;
use plimsoll_load::probe::Watch;
use plimsoll_model::record::{Event, Severity};
use plimsoll_model::units::Nanos;

use super::{Course, Execution, Halt};

/// What a system says of it.
pub(super) struct FullDisk {
    /// Where, as far as the system knows.
    pub place: String,
    pub why: String,
}

/// A directory and the space of its filesystem.
struct Place {
    path: PathBuf,
    space: Space,
}

impl Place {
    fn free_share(&self) -> f64 {
        self.space.free.0 as f64 / self.space.size.0.max(1) as f64
    }
}

/// The directory with the least space; the first of equal ones.
fn fullest(paths: impl Iterator<Item = PathBuf>) -> Option<Place> {
    // One that cannot be read has nothing to say.
    let places = paths.filter_map(|path| Some(Place { space: space(&path).ok()?, path }));
    places.min_by(|a, b| a.free_share().total_cmp(&b.free_share()))
}

impl Execution<'_> {
    /// Records the full disk beside the point that ended with it, `at`, and gives the end of the run.
    pub(super) fn disk_full(
        &mut self,
        (system, medium): (&str, Option<&str>),
        at: Nanos,
        full: FullDisk,
    ) -> Course<Halt> {
        let FullDisk { place, why } = full;
        let running = self.running(system, medium)?;
        let subject = Some(running.subject);
        let (place, why) = match fullest(self.written_by(system, medium)?.into_iter()) {
            Some(Place { path, space: Space { size, free, .. } }) => {
                (path.display().to_string(), format!("{why} (ENOSPC; {free} free of {size})"))
            }
            None => (place, why),
        };
        let what = format!("system {system} cannot write: no space left on {place}");
        let (severity, code) = (Severity::Error, "disk_full".into());
        self.file.event(&Event { at, subject, severity, code, text: format!("{what}: {why}") })?;
        Ok(Halt::Failed(format!("{what}\n{why}\n{FREE_SPACE} What was measured until then is in the run file.")))
    }

    /// The directories that a system's files lie in: the medium's, below an emulated drive also that of its backing file.
    fn written_by(&self, system: &str, medium: Option<&str>) -> Course<Vec<PathBuf>> {
        let data = match self.running(system, medium)?.instance.watch() {
            Some(Watch::Processes { data, .. }) => data,
            Some(Watch::EmbeddedData { path }) => path.parent().map(Path::to_owned),
            _ => None,
        };
        let drive = medium.and_then(|medium| self.drives.get(medium)).map(|drive| drive.path.clone());
        let medium = self.plan.media.iter().find(|known| Some(known.name.as_str()) == medium);
        let medium = medium.map(|medium| PathBuf::from(&medium.path));
        Ok(drive.into_iter().chain(medium).chain(data).collect())
    }
}
