//! Findings of the doctor.

use serde::{Deserialize, Serialize};

/// A finding of the doctor about a machine or a medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "finding", content = "args", rename_all = "snake_case")]
pub enum DoctorFinding {
    GovernorUnset,
    GovernorFullClock,
    GovernorSavesPower {
        governors: Vec<String>,
    },
    ClockUnknown,
    ClockQuick {
        clock: String,
    },
    ClockSlow {
        clock: String,
    },
    StealUnknown,
    /// Time of the processors that went to other virtual machines; `now_percent` in a quiet moment.
    Steal {
        now_percent: Option<f64>,
        since_boot_percent: f64,
    },
    OtherPrograms {
        busy_percent: f64,
    },
    InUse {
        mounts: Vec<String>,
        swaps: Vec<String>,
        holders: Vec<String>,
        open_by: Vec<String>,
    },
    InUseUnknown {
        error: String,
    },
    /// A device that is not in use, and what libblkid recognizes on it.
    NotInUse {
        signatures: Vec<String>,
        partitions: Vec<String>,
    },
    NoBlockDevice {
        cause: NoDeviceCause,
        /// Beside the cause: an error, a name or a number.
        what: String,
    },
    /// `name`: the model, the hypervisor, or the file of a loop device.
    Drive {
        kind: DriveKind,
        name: String,
        device: String,
        transport: Option<String>,
        size_bytes: Option<u64>,
        firmware: Option<String>,
        /// The drive's name in the catalog; run files spell the key like this.
        catalogue: Option<String>,
    },
    NoHealthReport,
    HealthProgramMissing {
        program: String,
    },
    HealthUnreadable {
        cause: HealthFault,
        program: Option<String>,
        /// Beside the cause: an error, a name or a number.
        what: String,
    },
    HealthNotRead,
    HealthNoVerdict {
        program: String,
    },
    HealthCritical {
        fault: CriticalWarning,
        program: String,
    },
    HealthFails {
        attribute: Option<String>,
        program: String,
    },
    HealthWorn {
        used_percent: u64,
        program: String,
    },
    HealthErrors {
        kind: MediaFault,
        count: u64,
        program: String,
    },
    HealthGood {
        used_percent: Option<u64>,
        spare_percent: Option<u64>,
        celsius: Option<i64>,
        program: String,
    },
    CacheUnknown,
    /// The drive has a cache, and the kernel is set to assume none.
    CacheNotFlushed {
        device: String,
    },
    NoCache,
    /// Write through, and whether the drive or a person set it is unknown.
    CacheUnclear {
        is_virtual: bool,
    },
    CacheFlushed {
        mode: String,
        fua: Option<bool>,
    },
    PowerLossProtected {
        drive: String,
        is_verified: bool,
    },
    PowerLossVolatile {
        drive: String,
        is_verified: bool,
    },
    PowerLossNoCache,
    PowerLossUnknown {
        of: PowerLossUnknown,
    },
    SchedulerUnknown {
        device: String,
    },
    SchedulerBfq {
        device: String,
    },
    Scheduler {
        scheduler: String,
        is_nvme: bool,
    },
    QueueUnknown,
    Queue {
        requests: Option<u64>,
        largest_bytes: Option<u64>,
        logical_bytes: Option<u64>,
        physical_bytes: Option<u64>,
        rotates: Option<bool>,
        is_virtual: bool,
    },
    QueueNotCounted {
        device: String,
    },
    QueueCutsRequests {
        device: String,
        largest_bytes: u64,
    },
    QueueRotates {
        device: String,
    },
    WholeDrive {
        device: String,
    },
    Aligned {
        device: String,
        start_bytes: u64,
    },
    /// A partition that begins in the midst of a block.
    Misaligned {
        device: String,
        off_bytes: i64,
        block_bytes: u64,
    },
    SmallBlocks {
        block_bytes: u64,
        physical_bytes: u64,
    },
    NoiseUnknown,
    /// Requests of others in a quiet moment.
    Noise {
        requests_per_second: f64,
        moved_bytes: u64,
        busy_percent: f64,
    },
    /// Several drives as one. `errors` so far, of its drives.
    Array {
        state: StorageArrayState,
        name: String,
        /// Its RAID level; `level` is the finding's.
        raid: String,
        members: u64,
        missing: u64,
        /// Drives that failed and are still part of it, by name.
        failed: Vec<String>,
        spares: Option<u64>,
        action: Option<String>,
        /// Share of the action that is done.
        done_percent: Option<f64>,
        errors: u64,
    },
    /// Settings of an md; the stripe cache in pages.
    ArraySettings {
        chunk_bytes: Option<u64>,
        bitmap: Option<String>,
        /// Size that one bit of the bitmap stands for.
        bitmap_chunk_bytes: Option<u64>,
        stripe_cache: Option<u64>,
        journal: Option<String>,
        /// `resync`, `bitmap`, `journal`, `ppl`.
        policy: Option<String>,
    },
    /// Settings of a logical volume of LVM.
    VolumeSettings {
        chunk_bytes: Option<u64>,
        /// Size that one bit of a RAID's bitmap stands for.
        region_bytes: Option<u64>,
        /// `writethrough`, `writeback`.
        cache_mode: Option<String>,
        /// Whether a thin pool fills new chunks with zeros first.
        zeroes: Option<bool>,
        /// Used share of a thin pool's space.
        used_percent: Option<f64>,
    },
    /// A Ceph pool and its cluster.
    CephPool {
        pool: Option<String>,
        copies: Option<u64>,
        /// A write needs so many.
        least_copies: Option<u64>,
        osds: u64,
        osds_up: u64,
        osds_in: u64,
        degraded_percent: f64,
        /// `HEALTH_OK`, `HEALTH_WARN`, `HEALTH_ERR`.
        health: String,
    },
    /// The parts of a volume are known to a program only, which was not run or did not answer.
    ArrayUnknown {
        layer: StorageLayer,
        name: String,
        cause: ArrayUnknownCause,
        command: String,
    },
    Filesystem {
        kind: FilesystemKind,
        filesystem: String,
        mount: String,
    },
    /// `remedy`: the option that undoes it, for barriers.
    MountOption {
        issue: MountIssue,
        option: String,
        mount: String,
        remedy: Option<String>,
    },
    MountOptionsFine {
        atime: Option<String>,
        discard: Option<String>,
    },
    Space {
        free_bytes: u64,
        size_bytes: u64,
        used_percent: f64,
    },
    NoFilesLeft {
        files: u64,
    },
    NoDeviceToRead,
    Unreadable {
        path: String,
        error: String,
        cause: Unreadable,
    },
    TooSmallToRead {
        path: String,
        block_bytes: u64,
    },
    Holes {
        holes_bytes: u64,
        size_bytes: u64,
        share_percent: f64,
    },
    /// Share of blocks at random that are zero; `read_ns` is the median time of a read.
    Unwritten {
        path: String,
        state: Unwritten,
        blocks: u32,
        zero_percent: f64,
        error_percent: f64,
        read_ns: Option<u64>,
    },
    AllZero {
        blocks: u32,
    },
    Entropy {
        bits_per_byte: f64,
        compressible_percent: f64,
        blocks: u32,
    },
    /// `directory`: where it could be tested.
    FlushUntested {
        directory: Option<String>,
    },
    FlushUntestable {
        is_device: bool,
    },
    FlushTestFailed {
        directory: String,
        error: String,
        cause: WriteFault,
    },
    /// Writes of 4 KiB, one after the other, made durable in two ways.
    Flush {
        outcome: FlushOutcome,
        limit: Option<FlushLimit>,
        limit_per_second: Option<f64>,
        read_ns: Option<u64>,
        is_direct: bool,
        unsynced_per_second: f64,
        synced_per_second: f64,
        flush_ns: u64,
        dsync_per_second: f64,
    },
    /// As it stands in a run file.
    #[serde(untagged)]
    Stored {
        found: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        next: Option<String>,
    },
}

impl From<String> for DoctorFinding {
    fn from(found: String) -> Self {
        Self::Stored { found, next: None }
    }
}

impl DoctorFinding {
    /// A stored sentence without what to do.
    pub fn without_advice(&self) -> Self {
        match self.clone() {
            Self::Stored { found, .. } => Self::Stored { found, next: None },
            coded => coded,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveKind {
    Model,
    NoModel,
    Emulated,
    Virtual,
    File,
    CachedFile,
    Stacked,
    Network,
    Memory,
}

/// Why a path leads to no block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoDeviceCause {
    /// An error of the operating system.
    Error,
    /// Its mount is not in /proc/self/mountinfo.
    NoMount,
    /// A filesystem of this kind.
    NotOnDevice,
    /// A btrfs on so many.
    SeveralDevices,
    /// No device has this number, `8:1`.
    NotInSysfs,
}

/// Why a drive's health cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthFault {
    /// An error of the operating system or the program.
    Error,
    NoNode,
    /// No answer within so many seconds.
    TimedOut,
    OutputLost,
    NoOutput,
    NoJson,
    NothingReported,
    NoCriticalWarning,
}

/// The bits of an NVMe drive's critical warning (NVM Express base specification, log page 02h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriticalWarning {
    SpareLow,
    Temperature,
    MediaErrors,
    ReadOnly,
    CapacitorsFailed,
    MemoryUnreliable,
}

/// A counter of a drive, by SMART.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaFault {
    NotCorrected,
    Unreadable,
    Uncorrectable,
    Replaced,
}

/// Why it is not known what becomes of acknowledged writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerLossUnknown {
    Virtual,
    WriteThrough,
    File,
    Model,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageArrayState {
    Whole,
    Degraded,
    /// It answers with errors: too many drives are gone, or its journal is.
    Broken,
    /// It is rebuilt, checked or changed.
    Busy,
    /// Another drive replaces one that failed.
    Replaced,
    /// Its drives had errors.
    Errors,
}

/// Storage that only a program of its own can describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageLayer {
    Lvm,
    Ceph,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrayUnknownCause {
    NotInstalled,
    TimedOut,
    /// It printed nothing about the volume, mostly for want of rights.
    NoAnswer,
    /// Programs were not run.
    NotAsked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesystemKind {
    Plain,
    Memory,
    Network,
    Layers,
    Emulated,
    Fuse,
    CopyOnWrite,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MountIssue {
    NoBarriers,
    ReadOnly,
    Writeback,
    Synchronous,
    Compressed,
    AsyncCommit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    NotRoot,
    /// Root is not permitted to.
    Confined,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unwritten {
    Written,
    /// The drive of a directory.
    MostlyZero,
    /// The device or file.
    NeverWritten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteFault {
    NoSpace,
    ReadOnly,
    NotPermitted,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlushOutcome {
    /// Its cache is protected.
    Protected,
    /// No sooner than the medium can.
    Plausible,
    /// How fast the medium can is unknown.
    NoLimit,
    Ignored,
    IgnoredOrProtected,
    Free,
    TakesTime,
}

/// The reason why a write is not durable sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlushLimit {
    Model,
    Rotation,
    /// Reads at random take as long as those of a disk.
    Seeks,
    Program,
}
