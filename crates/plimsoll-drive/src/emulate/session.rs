//! A FUSE mount and the threads behind it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use fuser::{BackgroundSession, Config, Filesystem, MountOption, Session, SessionACL};
use plimsoll_plan::units::Nanos;

use super::clock;
use super::engine::Engine;
use super::error::EmulatorError;
use super::mounts::{self, Unmounted};

pub struct Mounted {
    at: PathBuf,
    session: BackgroundSession,
    timer: JoinHandle<()>,
    engine: Arc<Engine>,
    connection: Option<u32>,
}

fn not_mounted(at: &Path) -> impl Fn(io::Error) -> EmulatorError {
    move |error| {
        EmulatorError::no_fuse(
            format!(
                "{} could not be mounted through FUSE: {error}",
                at.display()
            ),
            "In a container, start it with `--device /dev/fuse --cap-add SYS_ADMIN`.",
        )
    }
}

/// The error, with what to do, where FUSE is not available.
pub fn check_fuse() -> Result<(), EmulatorError> {
    use rustix::fs::{Mode, OFlags, open};
    let directory = "or give the plan `without_fuse = \"plain_directory\"`.";
    match open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        Ok(_) => {}
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NODEV | rustix::io::Errno::NXIO) => {
            return Err(EmulatorError::no_fuse(
                "/dev/fuse is not there: this kernel has no FUSE, or it is not loaded",
                format!(
                    "`modprobe fuse` as root (in a container: start it with `--device /dev/fuse`), {directory}"
                ),
            ));
        }
        Err(error) => {
            return Err(EmulatorError::no_fuse(
                format!("/dev/fuse cannot be opened: {error}"),
                format!(
                    "Become root, or join the group that owns it (in a container: `--device /dev/fuse --cap-add \
                     SYS_ADMIN`), {directory}"
                ),
            ));
        }
    }
    let is_root = rustix::process::geteuid().is_root();
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !is_root && !std::env::split_paths(&path).any(|dir| dir.join("fusermount3").is_file()) {
        return Err(EmulatorError::no_fuse(
            "fusermount3 is not installed, and users other than root mount with it",
            format!("Install it (`apt install fuse3`), {directory}"),
        ));
    }
    Ok(())
}

impl Mounted {
    /// Mounts `filesystem` at a directory that exists.
    pub fn new<F: Filesystem>(
        filesystem: F,
        at: &Path,
        engine: Arc<Engine>,
        acl: SessionACL,
        mut options: Vec<MountOption>,
    ) -> Result<Self, EmulatorError> {
        options.extend([
            MountOption::FSName(mounts::SOURCE.into()),
            MountOption::Subtype("plimsoll".into()),
        ]);
        let mut config = Config::default();
        config.mount_options = options;
        config.acl = acl;
        let session = Session::new(filesystem, at, &config)
            .and_then(Session::spawn)
            .map_err(not_mounted(at))?;
        let answering = Arc::clone(&engine);
        let timer = std::thread::Builder::new().name("drive-timer".into());
        let timer = timer
            .spawn(move || answering.answer_when_due())
            .map_err(not_mounted(at))?;
        let connection = mounts::connection(at);
        Ok(Self {
            at: at.to_owned(),
            session,
            timer,
            engine,
            connection,
        })
    }

    /// False when the connection was broken from outside.
    pub fn is_alive(&self) -> bool {
        !self.session.guard.is_finished()
    }

    /// Where it is mounted now, also after the directory was moved.
    pub fn place(&self) -> PathBuf {
        self.connection
            .and_then(mounts::place_of_connection)
            .unwrap_or_else(|| self.at.clone())
    }

    pub fn unmount(self, patience: Nanos) -> io::Result<Unmounted> {
        let how = mounts::take_down(&self.place(), patience);
        self.engine.end();
        if self.timer.join().is_err() {
            return Err(io::Error::other("the timer's thread panicked"));
        }
        let Ok(Unmounted::Wholly) = how else {
            // Its thread ends with the process; joining it would wait for those who use the mount.
            drop(self.session.guard);
            return how;
        };
        let guard = &self.session.guard;
        if !clock::wait_until(Nanos::SECOND, || guard.is_finished()) {
            // It is mounted somewhere else, too. The number is still its own while its server lives.
            self.connection.into_iter().for_each(mounts::abort);
        }
        if clock::wait_until(Nanos::SECOND, || guard.is_finished()) {
            self.session.join()?;
            return how;
        }
        drop(self.session.guard);
        Ok(Unmounted::Lazily)
    }
}
