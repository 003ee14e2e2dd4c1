//! What is asked of a drive, and the workloads that have a name.

use plimsoll_plan::suggestion;
use plimsoll_plan::units::{Bytes, Nanos};

/// What is asked of the drive.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedProfile {
    pub block: Bytes,
    /// 0 to 1.
    pub read_share: f64,
    pub order: AccessOrder,
    pub load: Arrival,
    /// Share of the drive, from its start, that is read and written.
    pub working_share: f64,
    /// See [`crate::model::Setup::fill`].
    pub fill: f64,
    /// Simulated, but not counted.
    pub warm: Nanos,
    pub measure: Nanos,
    /// The measured time ends early when so many requests are counted.
    pub most_ops: u64,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessOrder {
    Random,
    /// Each job goes through its own part of the working set, over and over.
    Sequential,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrival {
    /// Each of the jobs keeps so many requests in flight.
    Closed { depth: u32, jobs: u32 },
    Open {
        per_second: f64,
        arrivals: ArrivalSpacing,
        /// Most requests in flight; more wait in the host.
        depth: u32,
        /// A request that finds so many waiting is dropped.
        most_waiting: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalSpacing {
    /// Evenly spaced.
    Constant,
    /// Independent of each other.
    Poisson,
}

/// A workload that has a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NamedProfile {
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    pub block_kib: u64,
    pub read_share: f64,
    pub order: AccessOrder,
    pub depth: u32,
    pub jobs: u32,
}

const fn of(
    name: &'static str,
    about: &'static str,
    block_kib: u64,
    read: f64,
    order: AccessOrder,
    depth: u32,
) -> NamedProfile {
    NamedProfile {
        name,
        about,
        block_kib,
        read_share: read,
        order,
        depth,
        jobs: 1,
    }
}

/// All of them.
pub const PROFILES: [NamedProfile; 9] = [
    of(
        "randread4k",
        "4 KiB random reads, 32 in flight",
        4,
        1.0,
        AccessOrder::Random,
        32,
    ),
    of(
        "randwrite4k",
        "4 KiB random writes, 32 in flight",
        4,
        0.0,
        AccessOrder::Random,
        32,
    ),
    of(
        "seqread128k",
        "128 KiB sequential reads, 32 in flight",
        128,
        1.0,
        AccessOrder::Sequential,
        32,
    ),
    of(
        "seqwrite128k",
        "128 KiB sequential writes, 32 in flight",
        128,
        0.0,
        AccessOrder::Sequential,
        32,
    ),
    of(
        "k-a",
        "4 KiB random, 75 % reads, 32 in flight (report K)",
        4,
        0.75,
        AccessOrder::Random,
        32,
    ),
    of(
        "mix",
        "4 KiB random, 70 % reads, 32 in flight (HCIBench)",
        4,
        0.7,
        AccessOrder::Random,
        32,
    ),
    of(
        "latency",
        "4 KiB random, 65 % reads, one at a time (SNIA PTS)",
        4,
        0.65,
        AccessOrder::Random,
        1,
    ),
    NamedProfile {
        jobs: 4,
        ..of(
            "sql",
            "8 KiB random, 70 % reads, 4 × 32 in flight (VMFleet)",
            8,
            0.7,
            AccessOrder::Random,
            32,
        )
    },
    of(
        "log",
        "32 KiB sequential writes, one at a time (VMFleet)",
        32,
        0.0,
        AccessOrder::Sequential,
        1,
    ),
];

/// An unknown profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{name}`\n{help}")]
pub struct UnknownSimulatedProfile {
    pub name: String,
    /// What to do about it.
    pub help: String,
}

/// The profile of this name, on a full drive, for ten seconds after one.
///
/// # Errors
/// There is none; the message suggests a similar name.
pub fn named(name: &str) -> Result<SimulatedProfile, UnknownSimulatedProfile> {
    let known: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
    let found = PROFILES.iter().find(|profile| profile.name == name);
    found
        .map(NamedProfile::profile)
        .ok_or_else(|| UnknownSimulatedProfile {
            name: name.into(),
            help: suggestion(name, &known, ""),
        })
}

impl NamedProfile {
    pub fn profile(&self) -> SimulatedProfile {
        SimulatedProfile {
            block: Bytes(self.block_kib << 10),
            read_share: self.read_share,
            order: self.order,
            load: Arrival::Closed {
                depth: self.depth,
                jobs: self.jobs,
            },
            working_share: 1.0,
            fill: 1.0,
            warm: Nanos::SECOND,
            measure: Nanos::from_secs(10),
            most_ops: u64::MAX,
            seed: 1,
        }
    }
}
