//! A drive file, resolved: every figure that the model needs.
//!
//! [`file`] is the file as it is written, [`figure`] one figure with its source; `check` finds what is wrong with a file
//! and derives from the data sheet what need not be stated twice.

mod check;
pub mod figure;
pub mod file;
pub mod parameters;
mod resolve;

use plimsoll_plan::PlanErrors;
use plimsoll_plan::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

use file::{DriveClass, DriveFile};

/// What becomes of acknowledged writes when the power fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// None, or capacitors save it: an acknowledged write survives.
    Protected,
    /// What has not been flushed is lost.
    Volatile,
}

/// A drive as the model takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveSpec {
    /// Name of its file without `.toml`.
    pub id: String,
    /// As people call it: `Kingston DC1500M 960 GB`.
    pub title: String,
    pub capacity: Bytes,
    pub write_cache: WriteCache,
    pub kind: DriveClass,
    /// The file it was made from.
    pub file: DriveFile,
    pub mechanism: Mechanism,
    /// All times of the mechanism count so many times; 1 is the drive as it is rated.
    pub slower: f64,
    /// What the maker states, to be compared with.
    pub stated: Vec<Stated>,
    pub watts: Option<Watts>,
    /// Terabytes that may be written in all, stated or computed from drive writes per day.
    pub tbw: Option<f64>,
    /// How long it is to last, in years.
    pub years: Option<f64>,
}

/// How the drive works, in the model's own figures, as rated: [`DriveSpec::slower`] is not in them.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    Flash(FlashSpec),
    Disk(DiskSpec),
    Volume(VolumeSpec),
}

/// A distribution of times: lognormal, by its median and 99th percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Latency {
    pub median: Nanos,
    pub p99: Nanos,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FlashSpec {
    /// Reads and writes share the link.
    pub half_duplex: bool,
    /// Of a flash page, after the command and the transfer.
    pub media: Latency,
    /// Part of every read that keeps nothing busy.
    pub firmware: Nanos,
    /// From the end of the transfer to the acknowledgement, if the buffer has room.
    pub acknowledge: Latency,
    pub units: usize,
    pub program: Nanos,
    /// Least time between two reads, and between two writes.
    pub read_command: Nanos,
    pub write_command: Nanos,
    /// Of the transfer to and from the host.
    pub read_ns_per_byte: f64,
    pub write_ns_per_byte: f64,
    /// Of writing the buffer out.
    pub sequential_ns_per_byte: f64,
    /// The same for random writes with the drive full of data.
    pub random_ns_per_byte: f64,
    /// After the fast flash is used up.
    pub folded_ns_per_byte: f64,
    pub slc: Bytes,
    pub buffer: Bytes,
    /// Of the flash, when the drive is full.
    pub physical_share: f64,
    pub flush: Nanos,
    pub trim: Nanos,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DiskSpec {
    pub turn: Nanos,
    pub seek_track: Nanos,
    pub seek_average: Nanos,
    pub seek_full: Nanos,
    pub outer_ns_per_byte: f64,
    pub inner_ns_per_byte: f64,
    pub interface_ns_per_byte: f64,
    pub command: Nanos,
    pub queue: usize,
    pub buffer: Bytes,
    /// Writes are acknowledged when they are in the buffer.
    pub buffers_writes: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VolumeSpec {
    pub ns_per_io: f64,
    pub ns_per_byte: f64,
    pub unit: u64,
    pub burst_ios: f64,
    pub burst_bytes: f64,
    pub read: Latency,
    pub write: Latency,
    pub flush: Nanos,
}

/// A figure of the data sheet with what it holds for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stated {
    pub point: SheetPoint,
    /// IOPS, or bytes per second for the sequential ones.
    pub value: f64,
    pub block: u64,
    pub depth: u32,
    /// Share of the drive that holds data.
    pub fill: f64,
}

/// The four points that data sheets have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SheetPoint {
    SequentialRead,
    SequentialWrite,
    RandomRead,
    RandomWrite,
}

impl SheetPoint {
    pub fn name(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
        }
    }

    pub fn is_sequential(self) -> bool {
        matches!(self, Self::SequentialRead | Self::SequentialWrite)
    }

    pub fn is_read(self) -> bool {
        matches!(self, Self::SequentialRead | Self::RandomRead)
    }
}

/// Power drawn when idle, and when reading or writing all the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watts {
    pub idle: f64,
    pub read: f64,
    pub write: f64,
}

impl DriveSpec {
    /// Reads a drive file.
    ///
    /// # Errors
    /// Everything that is wrong with it, with places in the text.
    pub fn parse(id: &str, text: &str) -> Result<Self, PlanErrors> {
        check::checked(text).map(|file| resolve::resolve(id, file))
    }

    /// The same drive, all of whose times are so many times as long, so that the ratios between its operations, and to
    /// another drive slowed as much, stay what they are. A machine that answers some microseconds late distorts a drive
    /// of 2 ms that much less than one of 80 µs (time dilation: Gupta et al., To Infinity and Beyond: Time-Warped
    /// Network Emulation, NSDI 2006).
    #[must_use]
    pub fn slower(self, times: f64) -> Self {
        let slower = Some(self.file.slower.unwrap_or(1.0) * times).filter(|times| *times != 1.0);
        resolve::resolve(
            &self.id,
            DriveFile {
                slower,
                ..self.file
            },
        )
    }

    /// Its file's text.
    pub fn to_toml(&self) -> String {
        self.file.to_toml()
    }

    /// Keys of the figures without a published source: unverified, or assumed.
    pub fn unverified(&self) -> Vec<&'static str> {
        let mut keys: Vec<_> = self
            .file
            .figures()
            .iter()
            .filter(|entry| !entry.figure.is_verified())
            .map(|entry| entry.key)
            .collect();
        if matches!(
            self.file.write_cache.source.as_str(),
            figure::UNVERIFIED | figure::ASSUMED
        ) {
            keys.push("write_cache");
        }
        keys
    }
}

#[cfg(test)]
mod tests;
