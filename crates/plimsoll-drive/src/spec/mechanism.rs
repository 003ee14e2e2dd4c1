//! How drives work, in the figures that the model takes.

use plimsoll_plan::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// What becomes of acknowledged writes when the power fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteCache {
    /// None, or capacitors save it: an acknowledged write survives.
    Protected,
    /// What has not been flushed is lost.
    Volatile,
}

/// How the drive works, in the model's own figures, as rated: [`super::DriveSpec::slower`] is not in them.
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

/// Power drawn when idle, and when reading or writing all the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watts {
    pub idle: f64,
    pub read: f64,
    pub write: f64,
}
