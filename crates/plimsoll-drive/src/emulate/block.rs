//! The block form: a file over FUSE, a loop device over the file, a filesystem on the device. Of a cluster with several
//! virtual disks each has a device of its own, over its part of the file, and a filesystem.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

use fuser::SessionACL;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::{Bytes, Nanos};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::calibrate::outside_device;
use super::engine::{Engine, Timing};
use super::error::EmulatorError;
use super::feedback::{DeviceStat, Feedback};
use super::image::{Image, ImageData, negotiate};
use super::mounts::{Unmounted, is_mounted, take_down};
use super::protocol::{Filesystem, Form, Lost, MountSpec};
use super::session::{FuseParts, Mounted};
use super::store::Store;
use super::{clock, names, tool};
use crate::spec::DriveSpec;

/// How long those who use the filesystem may take to let go of it.
const PATIENCE: Nanos = Nanos::from_secs(5);
/// For programs in mount namespaces of their own, which nobody here can end.
const NAMESPACE_PATIENCE: Nanos = Nanos::from_secs(30);
/// How often answers are compared with what the kernel sees.
const FOLLOWED: Nanos = Nanos::from_millis(100);
const MIB: u64 = 1 << 20;

/// How a drive in block form is used.
#[derive(Debug, Clone, Copy)]
pub struct BlockShape {
    pub filesystem: Filesystem,
    pub disks: VirtualDisks,
}

/// Equal ones, one after the other, as the model has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VirtualDisks {
    pub count: u32,
    /// Of each.
    pub bytes: u64,
}

impl VirtualDisks {
    /// In the directory form all files share one.
    pub fn of(drive: &DriveSpec, spec: &MountSpec) -> Self {
        let count = match (&drive.assembly, spec.form) {
            (Some(DriveAssembly::Cluster(own)), Form::Block(_)) => own.vdisks,
            _ => 1,
        };
        let bytes = match count {
            1 => spec.capacity.0,
            // Whole stripes, so that none begins within the one before (`ClusterSpec::vdisk_bytes`).
            _ => spec.capacity.0 / u64::from(count) / MIB * MIB,
        };
        Self { count, bytes }
    }
}

pub struct BlockEmulation {
    dir: PathBuf,
    shape: BlockShape,
    engine: Arc<Engine>,
    store: Arc<Store>,
    session: Option<Mounted>,
    /// One for each virtual disk.
    devices: Vec<PathBuf>,
    feedback: Option<FeedbackThread>,
    is_down: bool,
}

/// Ends when it is dropped.
struct FeedbackThread {
    /// Nothing is ever sent.
    _alive: Sender<()>,
}

impl Filesystem {
    pub fn name(self) -> &'static str {
        match self {
            Self::Xfs => "xfs",
            Self::Ext4 => "ext4",
        }
    }

    /// Both makers write as little as they can: the device is new and reads as zeroes. What ext4 would write in the
    /// background after mounting is written now.
    fn make(self, device: &Path) -> Result<String, EmulatorError> {
        let device = device.to_string_lossy();
        match self {
            Self::Xfs => tool::run("mkfs.xfs", &["-q", "-f", "-K", &*device]),
            Self::Ext4 => {
                let now = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";
                tool::run("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", now, &*device])
            }
        }
    }
}

impl BlockEmulation {
    /// The devices, without a filesystem yet and without timing.
    pub fn attach(
        dir: &Path,
        shape: BlockShape,
        engine: Arc<Engine>,
        store: Arc<Store>,
        full: Arc<AtomicBool>,
    ) -> Result<Self, EmulatorError> {
        if !rustix::process::geteuid().is_root() {
            return Err(EmulatorError::new(
                "only root may make a block device, and this user is not root",
                "Give the drive form = \"directory\" (or \"auto\"), or run as root.",
            ));
        }
        let mut block = Self {
            dir: dir.to_owned(),
            shape,
            engine: Arc::clone(&engine),
            store: Arc::clone(&store),
            session: None,
            devices: Vec::new(),
            feedback: None,
            is_down: false,
        };
        for disk in 0..shape.disks.count {
            let at = names::disk_mount(dir, disk);
            names::make_mount(dir, disk).map_err(EmulatorError::at(&at))?;
        }
        let fuse = names::fuse(dir);
        let mut private = fs::DirBuilder::new();
        let made = private.mode(0o700).create(&fuse);
        made.map_err(EmulatorError::at(&fuse))?;
        let parts = FuseParts {
            names: Image {
                size: store.size(),
                name: names::image(dir),
            },
            data: Arc::new(ImageData {
                engine: Arc::clone(&engine),
                store,
                full,
            }),
            negotiate,
        };
        block.session = Some(Mounted::new(
            parts,
            &names::fuse(dir),
            engine,
            SessionACL::Owner,
            Vec::new(),
        )?);
        for disk in 0..shape.disks.count {
            let device = block.make_device(disk)?;
            block.devices.push(device);
        }
        Ok(block)
    }

    /// Of a virtual disk.
    fn make_device(&self, disk: u32) -> Result<PathBuf, EmulatorError> {
        let VirtualDisks { bytes, .. } = self.shape.disks;
        let image = self.image();
        let offset = format!("--offset={}", u64::from(disk) * bytes);
        let size = format!("--sizelimit={bytes}");
        let args = [
            "-f".as_ref(),
            "--show".as_ref(),
            "--direct-io=on".as_ref(),
            offset.as_ref(),
            size.as_ref(),
            image.as_os_str(),
        ];
        let device = tool::run("losetup", &args).map_err(|error| {
            let next = "In a container, loop devices need --privileged, or give the drive form = \"directory\".";
            EmulatorError::no_fuse(error.why, next)
        })?;
        Ok(PathBuf::from(device))
    }

    /// From now on answers follow what the kernel sees of the device.
    pub fn follow(&mut self) -> Result<(), EmulatorError> {
        let stat = DeviceStat::of(&self.devices);
        let of_disk = self.shape.disks.bytes;
        let outside = outside_device(&self.engine, self.device(), of_disk, &stat)?;
        let (alive, ended) = channel();
        let engine = Arc::clone(&self.engine);
        let started = std::thread::Builder::new()
            .name("drive-feedback".into())
            .spawn(move || follow(&stat, outside, &engine, &ended));
        started.map_err(EmulatorError::at(&self.dir))?;
        self.feedback = Some(FeedbackThread { _alive: alive });
        Ok(())
    }

    /// Of the first virtual disk, or of the only one.
    pub fn device(&self) -> &Path {
        self.devices.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The drive as a file, without the loop device.
    pub fn image(&self) -> PathBuf {
        names::fuse(&self.dir).join(names::image(&self.dir))
    }

    pub fn is_alive(&self) -> bool {
        self.session.as_ref().is_some_and(Mounted::is_alive)
    }

    pub fn make_filesystem(&self) -> Result<(), EmulatorError> {
        for device in &self.devices {
            self.shape.filesystem.make(device).map_err(|error| {
                let size = Bytes(self.shape.disks.bytes);
                let next = match error.no_fuse {
                    true => error.next,
                    false => format!(
                        "The drive or virtual disk has {size}; give it more with `capacity`, or another filesystem."
                    ),
                };
                EmulatorError { next, ..error }
            })?;
        }
        self.mount()
    }

    fn mount(&self) -> Result<(), EmulatorError> {
        let mut disks = (0..).zip(&self.devices);
        disks.try_for_each(|(disk, device)| self.mount_disk(disk, device))
    }

    fn mount_disk(&self, disk: u32, device: &Path) -> Result<(), EmulatorError> {
        let at = names::disk_mount(&self.place(), disk);
        let filesystem = self.shape.filesystem.name();
        let how = ["-t", filesystem, "-o", "nodev"].map(OsStr::new);
        let mounted = tool::run(
            "mount",
            &[&how[..], &[device.as_os_str(), at.as_os_str()]].concat(),
        );
        mounted.map(drop).map_err(|error| {
            let next = match error.no_fuse {
                true => error.next,
                false => {
                    "`dmesg` shows why; `modprobe` the filesystem when the kernel does not know it."
                        .into()
                }
            };
            let what = format!("{filesystem} on {} could not be mounted", device.display());
            EmulatorError {
                why: format!("{what}: {}", error.why),
                next,
                ..error
            }
        })
    }

    /// Writes out whatever the filesystems still hold in memory.
    pub fn sync(&self) -> Result<(), EmulatorError> {
        let mut mounts = self.mounts(&self.dir);
        mounts.try_for_each(|at| tool::run("sync", &["-f".as_ref(), at.as_os_str()]).map(drop))
    }

    /// Where the filesystems of a drive in this directory are.
    fn mounts(&self, dir: &Path) -> impl Iterator<Item = PathBuf> {
        let disks = 0..self.shape.disks.count;
        disks.map(move |disk| names::disk_mount(dir, disk))
    }

    pub fn power_off(&self) -> Result<Lost, EmulatorError> {
        self.engine.power_off(&self.store).map_err(|error| {
            EmulatorError::new(
                format!("the backing store failed: {error}"),
                "Check the disk that holds it.",
            )
        })
    }

    /// The filesystem that had no power goes, with all that it still held in memory; then it is mounted as after a
    /// crash.
    pub fn power_on(&self) -> Result<(), EmulatorError> {
        for at in self.mounts(&self.place()) {
            if is_mounted(&at)
                && take_down(&at, PATIENCE).map_err(EmulatorError::at(&at))? == Unmounted::Lazily
            {
                return Err(EmulatorError::new(
                    format!(
                        "{} is still in use {PATIENCE} after the power cut",
                        at.display()
                    ),
                    "End the programs that have files open there (`fuser -vm` shows them) before the power returns.",
                ));
            }
        }
        // Nothing that the kernel remembers of a device may hide what is on it now.
        for device in &self.devices {
            expect_unused(device)?;
            tool::run("blockdev", &["--flushbufs".as_ref(), device.as_os_str()])?;
        }
        self.engine.power_on();
        self.mount().map_err(|error| EmulatorError {
            why: format!(
                "the filesystem did not survive the power cut: {}",
                error.why
            ),
            next: "A drive that ignores flushes does this; its data is gone.".into(),
            ..error
        })
    }

    /// The drive's directory, also after it was moved.
    fn place(&self) -> PathBuf {
        let fuse = self.session.as_ref().map(Mounted::place);
        fuse.as_deref()
            .and_then(Path::parent)
            .unwrap_or(&self.dir)
            .to_owned()
    }

    /// Takes everything down, in reverse order. Returns what failed.
    pub fn take_down(&mut self) -> Vec<String> {
        self.is_down = true;
        self.engine.set_timing(Timing::Off);
        let mut failures = Vec::new();
        let dir = self.place();
        for at in self.mounts(&dir).filter(|at| is_mounted(at)) {
            match take_down(&at, PATIENCE) {
                Ok(Unmounted::Wholly) => {}
                Ok(Unmounted::Lazily) => {
                    failures.push(format!("{} was in use when it was unmounted", at.display()))
                }
                Err(error) => {
                    failures.push(format!("{} could not be unmounted: {error}", at.display()))
                }
            }
        }
        for device in std::mem::take(&mut self.devices) {
            let detached = tool::run("losetup", &["-d".as_ref(), device.as_os_str()]);
            failures.extend(detached.err().map(|error| error.why));
            // The kernel lets go of the image only after the command has ended.
            let image_in_use = Path::new("/sys/block")
                .join(device.file_name().unwrap_or_default())
                .join("loop");
            clock::wait_until(PATIENCE, || !image_in_use.exists());
        }
        if let Some(session) = self.session.take() {
            match session.unmount(Nanos::SECOND) {
                Ok(Unmounted::Wholly) => {}
                Ok(Unmounted::Lazily) => {
                    failures.push("the drive's image was in use when it was unmounted".into())
                }
                Err(error) => {
                    failures.push(format!("the drive's image could not be unmounted: {error}"))
                }
            }
        }
        failures.extend(
            names::remove_made(&dir)
                .err()
                .map(|error| format!("{}: {error}", dir.display())),
        );
        failures
    }
}

/// The thread's whole life.
fn follow(stat: &DeviceStat, outside: Nanos, engine: &Engine, ended: &Receiver<()>) {
    let mut feedback: Option<Feedback> = None;
    while ended.recv_timeout(FOLLOWED.into()) == Err(RecvTimeoutError::Timeout) {
        let Some(device) = stat.read().filter(|_| engine.is_timed()) else {
            feedback = None;
            continue;
        };
        let model = engine.modelled();
        let feedback = feedback.get_or_insert_with(|| Feedback::new(outside, device, model));
        engine.correct(feedback.correction(device, model));
    }
}

/// A process with a mount namespace of its own may have a copy of the mount, by which the filesystem that had no power goes on:
/// the device would be mounted as that again.
fn expect_unused(device: &Path) -> Result<(), EmulatorError> {
    // A mounted block device is claimed (open(2), O_EXCL); any other error is that of who uses it next.
    let is_unused = || {
        let opened = rustix::fs::open(device, OFlags::EXCL | OFlags::CLOEXEC, Mode::empty());
        !matches!(opened, Err(Errno::BUSY))
    };
    if clock::wait_until(NAMESPACE_PATIENCE, is_unused) {
        return Ok(());
    }
    Err(EmulatorError::new(
        format!(
            "{} is still mounted in another mount namespace {NAMESPACE_PATIENCE} after the power cut",
            device.display()
        ),
        "End the programs that were started in it meanwhile (`lsns -t mnt` shows them).",
    ))
}

impl Drop for BlockEmulation {
    fn drop(&mut self) {
        if !self.is_down {
            self.take_down();
        }
    }
}
