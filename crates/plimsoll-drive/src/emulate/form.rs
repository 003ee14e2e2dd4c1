//! The directory form as a whole: backing directory, mount, teardown.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fuser::{MountOption, SessionACL};
use plimsoll_plan::units::Nanos;

use super::calibrate::calibrate;
use super::directory::{Directory, DirectoryData, negotiate_cache};
use super::engine::{Engine, Timing};
use super::error::EmulatorError;
use super::mounts::Unmounted;
use super::protocol::{Backing, Calibration, MountSpec};
use super::session::{FuseParts, Mounted};
use super::{names, tool};

const PATIENCE: Nanos = Nanos::from_secs(5);
/// What calibration reads.
const SAMPLE: &str = ".plimsoll-calibration";
const SAMPLE_SIZE: usize = 1 << 20;

pub struct Files {
    dir: PathBuf,
    engine: Arc<Engine>,
    session: Option<Mounted>,
    /// Beside the directory, and not in it.
    is_beside: bool,
    is_down: bool,
}

impl Files {
    pub fn mount(
        dir: &Path,
        spec: &MountSpec,
        engine: Arc<Engine>,
        full: Arc<AtomicBool>,
    ) -> Result<Self, EmulatorError> {
        // Each file in use takes two of them; the soft limit of 1024 is for programs that use select(2).
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let raised = rustix::process::Rlimit {
            current: limit.maximum,
            ..limit
        };
        // Refused nowhere; if it were, opening the thousandth file would fail.
        let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, raised);
        let mut files = Self {
            dir: dir.to_owned(),
            engine: Arc::clone(&engine),
            session: None,
            is_beside: names::is_mounted_beside(dir),
            is_down: false,
        };
        let root = match spec.backing {
            Backing::Memory => names::files_in_memory(dir),
            Backing::File => names::files(dir),
        };
        let at = names::mount(dir);
        // Only the emulator goes in there; the mount has the same rights for others.
        fs::DirBuilder::new()
            .mode(0o755)
            .create(&root)
            .map_err(EmulatorError::at(&root))?;
        names::make_mount(dir, 0).map_err(EmulatorError::at(&at))?;
        let data = DirectoryData::new(engine, spec.capacity.0, spec.backing_limit.0, full);
        let data = Arc::new(data);
        let parts = FuseParts {
            names: Directory::new(&root, Arc::clone(&data)).map_err(EmulatorError::at(&root))?,
            data,
            negotiate: negotiate_cache,
        };
        // Root may let others in; everybody else needs a line in /etc/fuse.conf for that, and is alone.
        let acl = if rustix::process::geteuid().is_root() {
            SessionACL::All
        } else {
            SessionACL::Owner
        };
        let options = vec![MountOption::DefaultPermissions];
        files.session = Some(Mounted::new(
            parts,
            &at,
            Arc::clone(&files.engine),
            acl,
            options,
        )?);
        Ok(files)
    }

    pub fn calibrate(&self) -> Result<Calibration, EmulatorError> {
        let sample = names::mount(&self.dir).join(SAMPLE);
        let to = format!("of={}", sample.display());
        let size = format!("bs={SAMPLE_SIZE}");
        let calibration = tool::run("dd", &["if=/dev/zero", &to, &size, "count=1"])
            .and_then(|_| calibrate(&self.engine, &sample, &sample, SAMPLE_SIZE as u64));
        tool::run("rm", &["-f".as_ref(), sample.as_os_str()])?;
        calibration.map(|calibration| Calibration {
            of_which_loop: Nanos::ZERO,
            ..calibration
        })
    }

    pub fn is_alive(&self) -> bool {
        self.session.as_ref().is_some_and(Mounted::is_alive)
    }

    /// The drive's directory, also after it was moved: from where it is mounted now.
    fn directory(&self, place: Option<&Path>) -> PathBuf {
        let parent = place.and_then(Path::parent);
        match (parent, self.dir.file_name()) {
            (Some(parent), Some(name)) if self.is_beside => parent.join(name),
            (Some(parent), _) if !self.is_beside => parent.to_owned(),
            _ => self.dir.clone(),
        }
    }

    /// Returns what failed.
    pub fn take_down(&mut self) -> Vec<String> {
        self.is_down = true;
        self.engine.set_timing(Timing::Off);
        let mut failures = Vec::new();
        let place = self.session.as_ref().map(Mounted::place);
        let dir = self.directory(place.as_deref());
        match self.session.take().map(|session| session.unmount(PATIENCE)) {
            None | Some(Ok(Unmounted::Wholly)) => {}
            Some(Ok(Unmounted::Lazily)) => {
                failures.push(format!(
                    "{} was in use when it was unmounted",
                    place.unwrap_or_default().display()
                ));
            }
            Some(Err(error)) => {
                failures.push(format!("the directory could not be unmounted: {error}"))
            }
        }
        // Its files in memory are named after the directory's old place.
        for dir in [&self.dir, &dir] {
            failures.extend(
                names::remove_made(dir)
                    .err()
                    .map(|error| format!("{}: {error}", dir.display())),
            );
        }
        failures
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if !self.is_down {
            self.take_down();
        }
    }
}
