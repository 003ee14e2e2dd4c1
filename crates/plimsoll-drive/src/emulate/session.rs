//! A FUSE mount and the threads behind it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use fuser::{Config, Filesystem, KernelConfig, MountOption, Request, Session, SessionACL};
use plimsoll_plan::units::Nanos;
use rustix::fs::OFlags;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::clock;
use super::engine::Engine;
use super::error::EmulatorError;
use super::mounts::{self, Unmounted};
use super::priority;
use super::server::{DataPath, RequestServer, pass_answers};
use super::wire;

/// What a filesystem asks of the kernel's side of FUSE.
pub type Negotiation = fn(&mut KernelConfig) -> io::Result<()>;

/// A filesystem in two parts.
pub struct FuseParts<F> {
    /// Names and attributes, answered by the library.
    pub names: F,
    pub data: Arc<dyn DataPath>,
    pub negotiate: Negotiation,
}

pub struct Mounted {
    at: PathBuf,
    /// Unmounts when it is dropped.
    _mount: Session<Greeter>,
    server: JoinHandle<rustix::io::Result<()>>,
    engine: Arc<Engine>,
    connection: Option<u32>,
}

/// Agrees with the kernel on what both can do. The library does that on mounting; the requests that follow are ours.
struct Greeter(Negotiation);

impl Filesystem for Greeter {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        (self.0)(config)
    }
}

fn not_mounted(at: &Path) -> impl Fn(io::Error) -> EmulatorError {
    move |error| {
        EmulatorError::no_fuse(
            format!(
                "{} could not be mounted through FUSE\n{}",
                at.display(),
                // The library's text ends with a newline.
                error.to_string().trim_end()
            ),
            format!(
                "In a container, start it with `--device /dev/fuse --cap-add SYS_ADMIN`. {WITHOUT_FUSE}"
            ),
        )
    }
}

/// What works on every machine.
const WITHOUT_FUSE: &str = "Without FUSE: a real directory or block device (no --drive; in the plan \
    without_fuse = \"plain_directory\"), or plimsoll drive simulate.";

/// Whether the effective capabilities of /proc/PID/status have CAP_SYS_ADMIN, as those of a container may not.
fn may_mount(status: &str) -> bool {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    effective.is_none_or(|mask| mask & CAP_SYS_ADMIN != 0)
}

/// The error, with what to do, where FUSE is not available.
pub fn check_fuse() -> Result<(), EmulatorError> {
    use rustix::fs::{Mode, OFlags, open};
    match open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        Ok(_) => {}
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NODEV | rustix::io::Errno::NXIO) => {
            return Err(EmulatorError::no_fuse(
                "emulated drives need FUSE\n/dev/fuse is missing: this kernel has no FUSE, or it is not loaded",
                format!(
                    "`modprobe fuse` as root (in a container: start it with `--device /dev/fuse`). {WITHOUT_FUSE}"
                ),
            ));
        }
        Err(error) => {
            return Err(EmulatorError::no_fuse(
                format!("emulated drives need FUSE\n/dev/fuse cannot be opened: {error}"),
                format!(
                    "Become root (in a container: `--device /dev/fuse --cap-add SYS_ADMIN`). {WITHOUT_FUSE}"
                ),
            ));
        }
    }
    let is_root = rustix::process::geteuid().is_root();
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !is_root && !std::env::split_paths(&path).any(|dir| dir.join("fusermount3").is_file()) {
        return Err(EmulatorError::no_fuse(
            "emulated drives need FUSE\nfusermount3 is not installed, and users other than root mount with it",
            format!("Install it (`apt install fuse3`). {WITHOUT_FUSE}"),
        ));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if is_root && !may_mount(&status) {
        return Err(EmulatorError::no_fuse(
            "emulated drives need FUSE\nthis root may not mount: it lacks the capability CAP_SYS_ADMIN",
            format!("In a container, start it with `--cap-add SYS_ADMIN`. {WITHOUT_FUSE}"),
        ));
    }
    Ok(())
}

impl Mounted {
    /// Mounts the filesystem at a directory that exists.
    pub fn new<F: Filesystem>(
        parts: FuseParts<F>,
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
        let mount = Session::new(Greeter(parts.negotiate), at, &config).map_err(not_mounted(at))?;
        let device = device_of(&mount).map_err(not_mounted(at))?;
        let library =
            start_library(parts.names, acl, Arc::clone(&device)).map_err(not_mounted(at))?;
        let server = RequestServer::new(device, library, Arc::clone(&engine), parts.data);
        let server = std::thread::Builder::new()
            .name("drive-server".into())
            .spawn(move || server.run())
            .map_err(not_mounted(at))?;
        let connection = mounts::connection(at);
        Ok(Self {
            at: at.to_owned(),
            _mount: mount,
            server,
            engine,
            connection,
        })
    }

    /// False when the connection was broken from outside.
    pub fn is_alive(&self) -> bool {
        !self.server.is_finished()
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
        let Ok(Unmounted::Wholly) = how else {
            // The thread ends with the process; joining it would wait for those who use the mount.
            return how;
        };
        if !clock::wait_until(Nanos::SECOND, || self.server.is_finished()) {
            // It is mounted somewhere else, too. The number is still its own while its server lives.
            self.connection.into_iter().for_each(mounts::abort);
        }
        if !clock::wait_until(Nanos::SECOND, || self.server.is_finished()) {
            return Ok(Unmounted::Lazily);
        }
        match self.server.join() {
            Ok(ended) => ended.map_err(io::Error::from).and(how),
            Err(_) => Err(io::Error::other("the server's thread panicked")),
        }
    }
}

/// The mount's /dev/fuse, which no longer blocks.
fn device_of(mount: &Session<Greeter>) -> io::Result<Arc<OwnedFd>> {
    let device = mount.as_fd().try_clone_to_owned()?;
    let flags = rustix::fs::fcntl_getfl(&device)?;
    rustix::fs::fcntl_setfl(&device, flags | OFlags::NONBLOCK)?;
    Ok(Arc::new(device))
}

/// Starts the library on a socket that stands for /dev/fuse. Returns our end of it.
fn start_library<F: Filesystem>(
    names: F,
    acl: SessionACL,
    device: Arc<OwnedFd>,
) -> io::Result<Arc<OwnedFd>> {
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    // The kernel's own greeting was answered on mounting.
    rustix::io::write(&ours, &wire::greeting())?;
    let mut config = Config::default();
    config.acl = acl;
    let library = Session::from_fd(names, theirs, acl, config)?;
    let mut answer = [0; 256];
    rustix::io::read(&ours, &mut answer)?;
    let ours = Arc::new(ours);
    let answers = Arc::clone(&ours);
    let spawn = |name: &str| std::thread::Builder::new().name(name.into());
    // Both end with the conversation; the library calls its end an error.
    spawn("drive-names").spawn(move || {
        priority::go_first();
        drop(library.run());
    })?;
    spawn("drive-answers").spawn(move || pass_answers(&answers, &device))?;
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_in_a_container_may_lack_the_right_to_mount() {
        assert!(may_mount("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(
            !may_mount("CapEff:\t00000000a80425fb\n"),
            "docker's default"
        );
        assert!(may_mount(""), "not known");
    }
}
