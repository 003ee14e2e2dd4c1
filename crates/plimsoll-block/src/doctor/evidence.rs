//! The evidence before any check. `None` and `Err` stand for what is unknown.

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::{ArrayUnknownCause, StorageLayer};

use super::smart::{HealthFailure, Smart};
use crate::device::evidence::StorageTarget;
use crate::device::safety::DeviceEvidence;
use crate::host::device::NoDevice;
use crate::host::mount::{Mount, Space};
use crate::host::parse::{CpuTimes, DiskStats};

/// This machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Machine {
    /// Of all processors, each once.
    pub governors: Vec<String>,
    pub clock_source: Option<String>,
    /// Ticks since boot.
    pub cpu: Option<CpuTimes>,
    /// Ticks in a quiet moment.
    pub quiet_cpu: Option<CpuTimes>,
}

/// One medium.
#[derive(Debug, Clone, PartialEq)]
pub struct MediumEvidence {
    pub target: StorageTarget,
    /// Who uses it; of devices only.
    pub in_use: Option<DeviceEvidence>,
    /// The device under it with its partition; `Err`: why there is none.
    pub device: Result<VolumeEvidence, NoDevice>,
    /// What it lies on, down to the lowest: the device itself unless it is built on others.
    pub disks: Vec<DiskEvidence>,
    /// That the data lie on, from the top down.
    pub arrays: Vec<Result<ArrayEvidence, UnknownArray>>,
    pub mount: Option<Mount>,
    pub space: Option<Room>,
    /// `Err`: why no block was read.
    pub sample: Result<BlockSample, Box<DoctorFinding>>,
    /// Of a file.
    pub holes: Option<Holes>,
    /// `None`: not watched; inside: the kernel does not count its requests.
    pub noise: Option<Option<DiskNoise>>,
    /// `None`: not requested.
    pub sync: Option<SyncOutcome>,
}

/// Several drives as one, by the kernel's software or by Ceph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ArrayEvidence {
    /// `md0`, `btrfs`, `vg/data`, `rbd/image`.
    pub name: String,
    /// `raid5`; of a btrfs, those of its data.
    pub level: String,
    pub members: u64,
    pub missing: u64,
    /// Drives that failed and are still part of it, by name.
    pub failed: Vec<String>,
    pub spares: u64,
    /// What it is busy with: `recover`, `check`, `balance`.
    pub action: Option<String>,
    /// Of the action, that is done.
    pub done_percent: Option<f64>,
    /// That its drives had so far, where they are counted.
    pub errors: u64,
    /// It answers with errors.
    pub is_broken: bool,
    pub settings: Option<ArraySettings>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ArraySettings {
    Md(MdSettings),
    Volume(VolumeSettings),
    Ceph(PoolSettings),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MdSettings {
    /// In bytes.
    pub chunk: Option<u64>,
    /// Where it is: `+8` behind the superblock, `file`.
    pub bitmap: Option<String>,
    /// In bytes.
    pub bitmap_chunk: Option<u64>,
    /// In pages of each member.
    pub stripe_cache: Option<u64>,
    /// `write-through`, `write-back`.
    pub journal: Option<String>,
    /// How it is made consistent after a crash: `resync`, `bitmap`, `journal`, `ppl`.
    pub policy: Option<String>,
}

/// Of a logical volume; in bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VolumeSettings {
    pub chunk: Option<u64>,
    pub region: Option<u64>,
    pub cache_mode: Option<String>,
    pub zeroes: Option<bool>,
    pub used_percent: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PoolSettings {
    pub pool: Option<String>,
    pub copies: Option<u64>,
    pub least_copies: Option<u64>,
    pub osds: u64,
    pub osds_up: u64,
    pub osds_in: u64,
    pub degraded_percent: f64,
    pub health: String,
}

/// A volume whose drives only a program knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownArray {
    pub layer: StorageLayer,
    pub name: String,
    pub cause: ArrayUnknownCause,
    /// It would show them.
    pub command: String,
}

/// A partition or a whole disk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VolumeEvidence {
    pub name: String,
    pub size: Option<Bytes>,
    /// Where a partition begins on its disk; `None`: no partition.
    pub start: Option<Bytes>,
    /// How far its beginning is off the physical blocks, as the kernel computes it; −1: cannot be mended.
    pub alignment_offset: Option<i64>,
    pub queue: Queue,
}

/// `/sys/block/NAME/queue` (Documentation/ABI/stable/sysfs-block).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Queue {
    pub scheduler: Option<String>,
    pub nr_requests: Option<u64>,
    pub max_sectors_kb: Option<u64>,
    pub max_hw_sectors_kb: Option<u64>,
    pub rotational: Option<bool>,
    pub logical_block_size: Option<u64>,
    pub physical_block_size: Option<u64>,
    /// The kernel counts its requests.
    pub iostats: Option<bool>,
    /// `write back`: the kernel sends flushes. `write through`: it sends none.
    pub write_cache: Option<String>,
    pub fua: Option<bool>,
}

/// What kind of thing the kernel drives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskKind {
    Nvme,
    /// SATA, SAS, USB: whatever the kernel drives as SCSI.
    Scsi,
    /// A hypervisor's or a cloud's.
    Virtual(&'static str),
    /// A file, by its path.
    Loop(String),
    /// Made of others, which could not be found.
    Stacked,
    /// Over a network.
    Network,
    /// Memory.
    Memory,
    Other,
}

/// A whole disk at the bottom.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskEvidence {
    pub name: String,
    pub kind: DiskKind,
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub firmware: Option<String>,
    pub transport: Option<String>,
    pub size: Option<Bytes>,
    pub queue: Queue,
    /// Of the SCSI driver, which asked the disk (`cache_type`).
    pub cache_type: Option<String>,
    /// Of a loop device: whether its requests pass the page cache of the file below (`loop/dio`).
    pub direct: Option<bool>,
    pub health: Result<Smart, NoHealth>,
    pub known: Option<KnownDrive>,
}

/// Why a disk's health is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoHealth {
    /// Such a disk has none.
    None,
    /// The program that asks is not there, by name.
    NotInstalled(&'static str),
    Failed(HealthFailure),
    /// Not asked.
    Skipped,
}

/// What becomes of acknowledged writes when the power fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// They survive.
    Protected,
    /// What was not flushed is lost.
    Volatile,
}

/// What is known of a kind of drive beyond what it reports itself: from the catalog or a drive file.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownDrive {
    /// `kingston-dc1500m-960g`.
    pub name: String,
    /// What such a drive calls itself begins with one of these.
    pub models: Vec<String>,
    pub protection: Protection,
    /// It stores on flash, whatever the kernel reports of a disk in front of it.
    pub is_flash: bool,
    /// The source of that.
    pub source: String,
    /// Of a rotating disk.
    pub turn: Option<Nanos>,
    /// Of an emulated drive, whose times are known: 4 KiB writes that it can make durable one after the other.
    pub synced_per_second: Option<f64>,
}

/// Space and files of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub space: Space,
    pub block_size: u64,
    /// Files that may still be made, of all; `None` where the filesystem does not count them.
    pub files: Option<(u64, u64)>,
}

/// Random blocks of 4 KiB that were read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockSample {
    /// What was read.
    pub of: String,
    pub blocks: u32,
    pub zero: u32,
    /// Shannon's, in bits a byte, of the blocks that are not zero.
    pub entropy: Option<f64>,
    /// Share of their bytes that a fast compressor would save.
    pub compressible: Option<f64>,
    /// Median time of a read; `None` where the page cache answered.
    pub read: Option<Nanos>,
}

/// Parts of a file that have no blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holes {
    pub size: Bytes,
    pub holes: Bytes,
}

/// What others did on the disk in a quiet moment.
#[derive(Debug, Clone, PartialEq)]
pub struct DiskNoise {
    pub spent: DiskStats,
    pub over: Nanos,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SyncOutcome {
    Tested(SyncTest),
    /// Why not.
    Untested(DoctorFinding),
}

/// Requests of one kind, one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    pub requests: u32,
    /// Median of a request's time.
    pub median: Nanos,
}

impl Pace {
    pub fn per_second(&self) -> f64 {
        1e9 / (self.median.0.max(1)) as f64
    }
}

/// The same block of 4 KiB written again and again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncTest {
    /// Direct I/O; otherwise the page cache took the writes that were not made durable.
    pub direct: bool,
    /// Until it is acknowledged.
    pub unsynced: Pace,
    /// Until fdatasync(2) has returned as well.
    pub synced: Pace,
    /// fdatasync alone.
    pub flush: Pace,
    /// With `O_DSYNC`.
    pub dsync: Pace,
}

impl DiskEvidence {
    /// Whether plimsoll emulates it.
    pub fn is_emulated(&self) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.synced_per_second.is_some())
    }
}

impl VolumeEvidence {
    /// Whether it begins in the midst of a disk.
    pub fn is_partition(&self) -> bool {
        self.start.is_some()
    }
}

impl SyncTest {
    /// The faster of the two ways to make a write durable.
    pub fn fastest(&self) -> Pace {
        if self.dsync.requests > 0 && self.dsync.median < self.synced.median {
            self.dsync
        } else {
            self.synced
        }
    }
}
