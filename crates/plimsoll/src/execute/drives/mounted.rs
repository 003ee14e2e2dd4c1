//! One emulated drive: mounts it, receives its messages, unmounts it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_block::host::mount::{available_memory, free_bytes};
use plimsoll_drive::emulate::protocol::{Backing, Filesystem, Form, Lost, MountSpec, Ready};
use plimsoll_drive::emulate::{Child, EmulatorError, EmulatorEvent};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_load::clock::Clock;
use plimsoll_load::error::LoadError;
use plimsoll_load::probe::Watch;
use plimsoll_load::scratch::Scratch;
use plimsoll_plan::member_event::MemberChange;
use plimsoll_plan::resolved::{
    DriveBacking, DriveFilesystem, DriveForm, EmulatedDrive, FlushPolicy, Medium,
};
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::SubjectId;
use tokio::sync::watch;

use super::super::error::{RunError, StepResult};
use super::super::inbox::DriveMessage;
use super::disk_use::DiskUse;
use crate::drive_file;

/// Name of the emulator's directory in the medium's scratch directory.
pub const DRIVE_DIR: &str = "drive";
/// Memory that an emulated drive leaves free.
const MEMORY_LEFT: Bytes = Bytes(1 << 30);

/// A mounted emulated drive. The directory outlives the emulator that works in it.
pub(in crate::execute) struct MountedDrive {
    child: Child,
    pub(super) disks: DiskUse,
    name: String,
    /// Why the emulator ended, if it was not stopped.
    ended: watch::Receiver<Option<String>>,
    scratch: Scratch,
    /// Subjects that are gone once it is unmounted.
    pub(super) watched: Vec<SubjectId>,
}

impl MountedDrive {
    /// The drive of a medium, and the facts about it. `ended`: why the emulator ended, which `listener` sends.
    pub(super) fn start(
        prepared: PreparedDrive,
        medium: &str,
        program: &Path,
        listener: impl Fn(EmulatorEvent) + Send + 'static,
        ended: watch::Receiver<Option<String>>,
    ) -> Result<(Self, Vec<(String, String)>), EmulatorError> {
        let PreparedDrive {
            scratch,
            spec,
            task,
        } = prepared;
        let (child, ready) = Child::start(program, &task, listener)?;
        let mounted = Self {
            child,
            disks: DiskUse::new(&ready.path, &ready.disks),
            name: medium.to_owned(),
            ended,
            scratch,
            watched: Vec::new(),
        };
        Ok((mounted, drive_facts(&spec, &task, &ready)))
    }

    /// The emulator's process.
    pub(super) fn watch(&self) -> Watch {
        Watch::Processes {
            pid: self.child.pid(),
            data: None,
        }
    }

    pub fn power_off(&self) -> Result<Lost, EmulatorError> {
        self.child.power_off()
    }

    pub(super) fn power_on(&self) -> StepResult<()> {
        self.child
            .power_on()
            .map_err(|error| match error.is_silence() {
                // The emulator answered: the filesystem did not survive.
                false => RunError::Broken(error.to_string()),
                true => RunError::failed(self.died().unwrap_or_else(|| error.to_string())),
            })
    }

    /// Whether data are lost by that.
    pub fn change_member(&self, change: MemberChange) -> StepResult<bool> {
        let changed = self.child.change_member(change);
        changed.map_err(|error| RunError::failed(error.to_string()))
    }

    /// Until the emulator has ended by itself.
    pub async fn ended(&self) {
        let mut ended = self.ended.clone();
        // An error means that the emulator was stopped in order.
        if ended.wait_for(Option::is_some).await.is_err() {
            std::future::pending().await
        }
    }

    pub fn died(&self) -> Option<String> {
        self.ended.borrow().as_ref().map(|why| {
            format!(
                "the emulator of medium {} ended unexpectedly: {why}\nThe run file has everything measured until then.",
                self.name
            )
        })
    }

    /// Unmounts the drive and removes its directory; returns what failed.
    pub fn end(self) -> Vec<String> {
        let Self {
            child,
            scratch,
            disks: _,
            name: _,
            ended: _,
            watched: _,
        } = self;
        let stopped = child.stop().unwrap_or_else(|error| vec![error.to_string()]);
        let removed = scratch.remove().err().map(|error| error.to_string());
        stopped.into_iter().chain(removed).collect()
    }
}

/// Everything that it takes to mount a medium's drive.
pub struct PreparedDrive {
    /// A directory for it.
    pub scratch: Scratch,
    pub spec: DriveSpec,
    pub task: MountSpec,
}

/// Makes the directory of a medium's drive, and describes what is to be mounted.
pub fn prepare_drive(
    run_id: &str,
    seed: u64,
    medium: &Medium,
    drive: &EmulatedDrive,
) -> Result<PreparedDrive, LoadError> {
    let spec = drive_spec(drive)?;
    let mut scratch = Scratch::create(
        Path::new(&medium.path),
        &format!("{run_id}-{}", medium.name),
    )?;
    let task = MountSpec {
        drive: spec.to_toml(),
        id: spec.id.clone(),
        dir: scratch.dir(DRIVE_DIR)?,
        capacity: drive.capacity.min(spec.capacity),
        fill: drive.fill,
        seed,
        ignores_flush: drive.flush == FlushPolicy::Ignored,
        form: form(drive),
        backing: backing(drive.backing),
        backing_limit: backing_limit(drive, Path::new(&medium.path))?,
        requests: None,
    };
    Ok(PreparedDrive {
        scratch,
        spec,
        task,
    })
}

/// Description of a drive that was found before the run.
pub(super) fn drive_spec(drive: &EmulatedDrive) -> Result<DriveSpec, LoadError> {
    drive_file::emulated(drive).map_err(|_| {
        LoadError::other(
            format!("the drive {}", drive.drive),
            "it could be read before the run and cannot be read now",
        )
    })
}

/// This program serves the drive as well, so that the model is the same.
pub fn program() -> Result<PathBuf, LoadError> {
    std::env::current_exe()
        .map_err(|error| LoadError::other("plimsoll cannot find its own program", error))
}

fn form(drive: &EmulatedDrive) -> Form {
    let block = Form::Block(match drive.filesystem {
        DriveFilesystem::Ext4 => Filesystem::Ext4,
        DriveFilesystem::Xfs => Filesystem::Xfs,
    });
    match drive.form {
        DriveForm::Block => block,
        DriveForm::Directory => Form::Directory,
        DriveForm::Auto if rustix::process::geteuid().is_root() => block,
        DriveForm::Auto => Form::Directory,
    }
}

fn backing(backing: DriveBacking) -> Backing {
    match backing {
        DriveBacking::Memory => Backing::Memory,
        DriveBacking::File => Backing::File,
    }
}

/// Bytes that may be written on the drive before there is no place for them any more.
fn backing_limit(drive: &EmulatedDrive, path: &Path) -> Result<Bytes, LoadError> {
    let available = match drive.backing {
        DriveBacking::Memory => {
            available_memory().map(|bytes| Bytes(bytes.0.saturating_sub(MEMORY_LEFT.0)))
        }
        DriveBacking::File => free_bytes(path),
    };
    let available =
        available.map_err(|error| LoadError::other(path.display().to_string(), error))?;
    Ok(available.min(drive.capacity))
}

fn drive_facts(spec: &DriveSpec, task: &MountSpec, ready: &Ready) -> Vec<(String, String)> {
    let form = match task.form {
        Form::Block(Filesystem::Ext4) => "block device with ext4",
        Form::Block(Filesystem::Xfs) => "block device with xfs",
        Form::Directory => "directory",
    };
    let backing = match task.backing {
        Backing::Memory => "memory",
        Backing::File => "file",
    };
    let flush = if task.ignores_flush {
        "ignored"
    } else {
        "honest"
    };
    let measured = &ready.calibration;
    let slower = (spec.slower != 1.0).then(|| ("slower".to_owned(), spec.slower.to_string()));
    let facts = [
        ("drive", task.id.clone()),
        ("drive_title", spec.title.clone()),
        ("drive_file", task.drive.clone()),
        ("capacity", task.capacity.to_string()),
        ("fill", task.fill.to_string()),
        ("form", form.into()),
        ("backing", backing.into()),
        ("flush", flush.into()),
        ("calibration.floor_us", micros(measured.floor)),
        (
            "calibration.processors_kept_awake",
            yes_or_no(measured.awake),
        ),
        ("calibration.goes_first", yes_or_no(measured.goes_first)),
        ("calibration.after_1ms_us", micros(measured.after_1ms)),
        (
            "calibration.of_which_loop_us",
            micros(measured.of_which_loop),
        ),
        ("calibration.timer_us", micros(measured.timer)),
        (
            "calibration.most_per_second",
            measured.most_per_second.to_string(),
        ),
        ("calibration.at_most_us", micros(measured.at_most)),
    ]
    .map(|(key, value)| (key.to_owned(), value));
    facts.into_iter().chain(slower).collect()
}

fn yes_or_no(is: bool) -> String {
    if is { "yes" } else { "no" }.into()
}

fn micros(nanos: Nanos) -> String {
    format!("{:.1}", nanos.as_micros_f64())
}

/// Forwards the emulator's messages, from its thread.
pub(super) fn listener(
    subject: SubjectId,
    members: Arc<[SubjectId]>,
    clock: Clock,
    messages: std::sync::mpsc::Sender<DriveMessage>,
    end_sender: watch::Sender<Option<String>>,
) -> impl Fn(EmulatorEvent) + Send + 'static {
    move |event| {
        // A closed channel: the run has ended.
        let _ = match event {
            EmulatorEvent::Second(second) => {
                let [start, end] = [second.from, second.to].map(|at| clock.of_monotonic(at));
                messages.send(DriveMessage::Second {
                    subject,
                    members: Arc::clone(&members),
                    start,
                    end,
                    second,
                })
            }
            EmulatorEvent::Warning(kind) => messages.send(DriveMessage::Warning {
                subject,
                at: clock.now(),
                kind,
            }),
            EmulatorEvent::Ended(error) => {
                end_sender.send_replace(Some(error.to_string()));
                Ok(())
            }
        };
    }
}
