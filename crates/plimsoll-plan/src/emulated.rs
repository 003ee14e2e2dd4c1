//! Emulated drives, as a plan wants them.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

use crate::units::Bytes;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmulatedDrive {
    /// A name in the catalog, or a drive file (then it ends with `.toml`).
    pub drive: String,
    /// The rated capacity, if that is less.
    pub capacity: Bytes,
    /// All of its times are so many times as long; 1 is the drive as it is rated. With `auto`: the factor that was
    /// chosen, 1 until then.
    pub slower: f64,
    /// The factor is chosen before the run.
    pub auto: bool,
    /// Share of the capacity that holds data that is never rewritten, 0 to 1; 1 is steady state.
    pub fill: f64,
    pub form: DriveForm,
    pub filesystem: DriveFilesystem,
    pub backing: DriveBacking,
    pub flush: FlushPolicy,
    pub without_fuse: WithoutFuse,
}

/// By which factors a drive can be slowed: with more, a request may take minutes.
pub const SLOWER: RangeInclusive<f64> = 1.0..=1000.0;

plan_words! {
    /// How fast an emulated drive is.
    pub enum DriveSpeed {
        /// As fast as this machine can answer: slowed down by the smallest factor that suffices.
        Auto,
        /// As it is rated.
        Full,
    }
}

plan_words! {
    /// How programs see an emulated drive.
    pub enum DriveForm {
        /// A block device for root, else a directory.
        Auto,
        /// A block device with a filesystem. Needs root.
        Block,
        /// A directory.
        Directory,
    }
}

plan_words! {
    /// What is made on an emulated block device.
    pub enum DriveFilesystem {
        Ext4,
        Xfs,
    }
}

plan_words! {
    /// Where an emulated drive's data really are.
    pub enum DriveBacking {
        Memory,
        /// A sparse file below the medium's path.
        File,
    }
}

plan_words! {
    pub enum FlushPolicy {
        /// As the drive file has it.
        Honest,
        /// Acknowledged at once, and nothing is done: a drive that lies.
        Ignored,
    }
}

plan_words! {
    /// Where FUSE is not to be had.
    pub enum WithoutFuse {
        /// The run is refused.
        Refuse,
        /// The run goes on in a plain directory, with a warning.
        PlainDirectory,
    }
}
