//! What is watched while the load runs: once a second, from files under /proc and /sys; and servers, asked with SQL.
//!
//! A [`Watch`] names the subject, a [`Sampler`] turns counters into rates over the real interval between two readings, and
//! [`spawn`] runs a sampler on a thread of its own. Each server that is asked has one more ([`Probe::ask`]). [`environment`] collects what holds for a whole run.
//! Nothing here writes to what it watches. What cannot be read gives one [`Warning`].

use std::path::PathBuf;

use plimsoll_block::host::parse;
use plimsoll_record::message::EventKind;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Event, Sample, SubjectId, WaitRow};

mod counters;
mod data;
mod database;
mod device;
mod embedded;
mod emit;
pub mod environment;
mod generator;
mod host;
mod processes;
mod sampler;
mod source;
mod thread;
mod tree;

pub use sampler::Sampler;
pub use thread::{Probe, spawn};

/// What to watch for a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watch {
    /// CPU, memory, pressure and network of this machine.
    Host,
    /// A block device by its numbers; a whole disk or a partition.
    Device { major: u32, minor: u32 },
    /// Space on the filesystem that holds `path`.
    Medium { path: PathBuf },
    /// A server or an emulator: the process `pid` with all its descendants, and the size of its data directory if it
    /// has one.
    Processes { pid: u32, data: Option<PathBuf> },
    /// An embedded database, whose CPU is the generator's: the size of its file (with `-wal`, `-shm` and `-journal`
    /// beside it), and what its sessions count.
    EmbeddedData { path: PathBuf },
    /// Files that a backup or a restore writes: by how much they grow.
    Backup { path: PathBuf },
    /// plimsoll itself, and the sampling thread's cost and lateness.
    Generator,
}

/// What the probe's threads send.
#[derive(Debug)]
pub enum ProbeMessage {
    Samples(Vec<(SubjectId, Metric, Sample)>),
    /// A second of a server's sessions.
    Waits(Vec<WaitRow>),
    /// Key and value of what became known about a server.
    Facts(SubjectId, Vec<(String, String)>),
    Warning(Warning),
    /// Of a host that load comes from.
    Event(Event),
}

/// Something that could not be read, or not read in full. One for each subject and source.
#[derive(Debug, Clone, PartialEq)]
pub struct Warning {
    pub subject: SubjectId,
    pub kind: EventKind,
}
