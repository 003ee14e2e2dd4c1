//! Emulated drives, as a plan wants them.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

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

/// How fast an emulated drive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriveSpeed {
    /// As fast as this machine can answer: slowed down by the smallest factor that suffices.
    Auto,
    /// As it is rated.
    Full,
}

/// How programs see an emulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DriveForm {
    /// A block device for root, else a directory.
    Auto,
    /// A block device with a filesystem. Needs root.
    Block,
    /// A directory.
    Directory,
}

impl DriveForm {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What is made on an emulated block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DriveFilesystem {
    Ext4,
    Xfs,
}

impl DriveFilesystem {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Where an emulated drive's data really are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DriveBacking {
    Memory,
    /// A sparse file below the medium's path.
    File,
}

impl DriveBacking {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FlushPolicy {
    /// As the drive file has it.
    Honest,
    /// Acknowledged at once, and nothing is done: a drive that lies.
    Ignored,
}

impl FlushPolicy {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Where FUSE is not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum WithoutFuse {
    /// The run is refused.
    Refuse,
    /// The run goes on in a plain directory, with a warning.
    PlainDirectory,
}

impl WithoutFuse {
    pub fn name(self) -> &'static str {
        self.into()
    }
}
