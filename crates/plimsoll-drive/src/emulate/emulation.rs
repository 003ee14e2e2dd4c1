//! One emulated drive, in either form.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plimsoll_plan::units::Bytes;

use super::backing;
use super::block::{BlockEmulation, BlockShape, VirtualDisks};
use super::calibrate::calibrate;
use super::engine::{Engine, Timing};
use super::error::EmulatorError;
use super::form::Files;
use super::member_work::DrivePower;
use super::names;
use super::protocol::{Backing, Form, Lost, Message, MessageSender, MountSpec, Ready};
use super::request_log::RequestLog;
use super::session::check_fuse;
use super::store::Store;
use super::undo::UndoLog;
use crate::durability::volatile_buffer;
use crate::model::Setup;
use crate::spec::DriveSpec;
use crate::storage_model::StorageModel;

enum EmulationKind {
    Block(BlockEmulation),
    Directory(Files),
}

pub struct Emulation {
    engine: Arc<Engine>,
    full: Arc<AtomicBool>,
    limit: Bytes,
    shape: EmulationKind,
    /// A file for the requests that were served.
    requests: Option<PathBuf>,
}

/// What the account reads.
pub struct WatchedEmulation {
    pub engine: Arc<Engine>,
    /// A write found the backing store full.
    pub full: Arc<AtomicBool>,
    pub limit: Bytes,
}

impl Emulation {
    /// Sets everything up; afterwards the timing is on.
    pub fn start(spec: &MountSpec, send: &MessageSender) -> Result<(Self, Ready), EmulatorError> {
        check_fuse()?;
        let dir = spec
            .dir
            .canonicalize()
            .map_err(EmulatorError::at(&spec.dir))?;
        check_empty(&dir)?;
        let drive = drive_of(spec)?;
        let disks = VirtualDisks::of(&drive, spec);
        let setup = Setup {
            capacity: Bytes(disks.bytes * u64::from(disks.count)),
            fill: spec.fill,
            seed: spec.seed,
            ignores_flush: spec.ignores_flush,
        };
        let model = StorageModel::new(&drive, &setup);
        if spec.backing == Backing::File
            && let Some(slower) = backing::check(&dir, &model, spec.capacity.0)?
        {
            send(Message::Warning(slower));
        }
        let log = spec.requests.as_ref().map(|_| RequestLog::default());
        match spec.form {
            Form::Block(filesystem) => {
                let engine = Engine::new(model, undo_log(&drive, spec.ignores_flush));
                let engine = engine.with_requests(log).with_drives(power_of(&drive));
                let engine = Arc::new(engine);
                let shape = BlockShape { filesystem, disks };
                Self::start_block(spec, &dir, shape, engine)
            }
            Form::Directory => {
                let engine = Engine::new(model, None).with_requests(log);
                let engine = engine.with_drives(power_of(&drive));
                Self::start_directory(spec, &dir, Arc::new(engine))
            }
        }
    }

    fn start_block(
        spec: &MountSpec,
        dir: &Path,
        shape: BlockShape,
        engine: Arc<Engine>,
    ) -> Result<(Self, Ready), EmulatorError> {
        let store = match spec.backing {
            Backing::Memory => Store::in_memory(spec.capacity, spec.backing_limit),
            Backing::File => Store::in_file(&names::store(dir), spec.capacity, spec.backing_limit),
        };
        let store = Arc::new(store.map_err(EmulatorError::at(dir))?);
        let full = Arc::new(AtomicBool::new(false));
        let mut block = BlockEmulation::attach(
            dir,
            shape,
            Arc::clone(&engine),
            Arc::clone(&store),
            Arc::clone(&full),
        )?;
        let of_disk = shape.disks.bytes;
        let calibration = calibrate(&engine, block.device(), &block.image(), of_disk)?;
        block.follow()?;
        block.make_filesystem()?;
        let ready = Ready {
            path: names::mount(dir),
            disks: match shape.disks.count {
                1 => Vec::new(),
                count => (0..count)
                    .map(|disk| names::disk_mount(dir, disk))
                    .collect(),
            },
            device: Some(block.device().to_owned()),
            calibration,
            pid: std::process::id(),
        };
        block.sync()?;
        engine.settle();
        engine.set_timing(Timing::Model);
        Ok((
            Self {
                engine,
                full,
                limit: spec.backing_limit,
                shape: EmulationKind::Block(block),
                requests: spec.requests.clone(),
            },
            ready,
        ))
    }

    fn start_directory(
        spec: &MountSpec,
        dir: &Path,
        engine: Arc<Engine>,
    ) -> Result<(Self, Ready), EmulatorError> {
        let full = Arc::new(AtomicBool::new(false));
        let files = Files::mount(dir, spec, Arc::clone(&engine), Arc::clone(&full))?;
        let calibration = files.calibrate()?;
        let ready = Ready {
            path: names::mount(dir),
            disks: Vec::new(),
            device: None,
            calibration,
            pid: std::process::id(),
        };
        engine.set_timing(Timing::Model);
        let limit = spec.backing_limit.min(spec.capacity);
        Ok((
            Self {
                engine,
                full,
                limit,
                shape: EmulationKind::Directory(files),
                requests: spec.requests.clone(),
            },
            ready,
        ))
    }

    pub fn watch(&self) -> WatchedEmulation {
        WatchedEmulation {
            engine: Arc::clone(&self.engine),
            full: Arc::clone(&self.full),
            limit: self.limit,
        }
    }

    pub fn set_timing(&self, on: bool) {
        self.engine
            .set_timing(if on { Timing::Model } else { Timing::Off });
    }

    pub fn is_alive(&self) -> bool {
        match &self.shape {
            EmulationKind::Block(block) => block.is_alive(),
            EmulationKind::Directory(files) => files.is_alive(),
        }
    }

    pub fn has_power_switch(&self) -> bool {
        matches!(self.shape, EmulationKind::Block(_))
    }

    pub fn power_off(&self) -> Result<Lost, EmulatorError> {
        match &self.shape {
            EmulationKind::Block(block) => block.power_off(),
            EmulationKind::Directory(_) => Err(no_power_switch()),
        }
    }

    pub fn power_on(&self) -> Result<(), EmulatorError> {
        match &self.shape {
            EmulationKind::Block(block) => block.power_on(),
            EmulationKind::Directory(_) => Err(no_power_switch()),
        }
    }

    /// Takes everything down. Returns what failed.
    pub fn stop(self) -> Vec<String> {
        let mut failures = match self.shape {
            EmulationKind::Block(mut block) => block.take_down(),
            EmulationKind::Directory(mut files) => files.take_down(),
        };
        if let Some(file) = &self.requests {
            failures.extend(match self.engine.write_requests(file) {
                Ok(0) => None,
                Ok(missed) => Some(format!(
                    "{}: {missed} requests had no room and are missing at the end",
                    file.display()
                )),
                Err(error) => Some(format!("{}: {error}", file.display())),
            });
        }
        failures
    }
}

/// Why there are no power cuts in the directory form.
pub fn no_power_switch() -> EmulatorError {
    EmulatorError::new(
        "the power of a drive in directory form cannot be cut: the kernel would keep what the drive lost",
        "Give the drive form = \"block\" and run as root.",
    )
}

/// Before anything is made there.
pub fn check_empty(dir: &Path) -> Result<(), EmulatorError> {
    let inside = fs::read_dir(dir).map_err(EmulatorError::at(dir))?;
    if inside
        .flatten()
        .all(|entry| names::is_prepared(&entry.file_name(), dir))
    {
        return Ok(());
    }
    Err(EmulatorError::new(
        format!("{} is not empty", dir.display()),
        "Give the drive an empty directory; what a killed emulator left there goes with the next run.",
    ))
}

fn drive_of(spec: &MountSpec) -> Result<DriveSpec, EmulatorError> {
    DriveSpec::parse(&spec.id, &spec.drive).map_err(|errors| {
        EmulatorError::new(
            format!("the drive file {}: {errors}", spec.id),
            "`plimsoll drive list` shows drives that work.",
        )
    })
}

/// Of each drive of an array or a cluster.
fn power_of(drive: &DriveSpec) -> Vec<DrivePower> {
    let Some(assembly) = &drive.assembly else {
        return Vec::new();
    };
    let power = |own| DrivePower {
        member: assembly.member_of(own),
        watts: drive.drive(own).watts,
    };
    (0..assembly.drives()).map(power).collect()
}

/// What a power cut has to know.
fn undo_log(drive: &DriveSpec, ignores_flush: bool) -> Option<UndoLog> {
    volatile_buffer(drive, ignores_flush).map(|buffer| UndoLog::new(buffer, ignores_flush))
}
