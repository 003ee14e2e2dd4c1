//! Block benchmarks, run by fio on the medium itself.

use serde::{Deserialize, Serialize};

use plimsoll_stats::rounds::SteadyRule;

use crate::ids::{BlockId, MediumId};
use crate::load::Arrivals;
use crate::units::Bytes;

/// A block workload: what each of its workers does on a file or device of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Name of the profile that the jobs come from; empty where the plan has them itself.
    pub profile: String,
    /// Where the profile comes from: a paper, a tool, a clause.
    pub source: String,
    /// Processes of fio side by side, each with a file of `size` of its own, or with its part of a device.
    pub workers: u32,
    pub size: Bytes,
    /// How often each file is written from its beginning to its end before the first job.
    pub fill: f64,
    pub work: BlockWork,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockWork {
    /// One after the other.
    Jobs(Vec<BlockJob>),
    /// A job file of fio's, run as it is.
    File { path: String },
}

/// One load of the profile: streams that run at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockJob {
    /// As people in the field write it: `RND4K Q32T16 read`.
    pub name: String,
    pub streams: Vec<BlockStream>,
    /// After the job at full speed: offered rates in percent of what it reached; empty for none.
    pub curve: Vec<f64>,
}

/// Requests of one kind, made by each worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockStream {
    /// `data`, `log`; empty where the job has one stream.
    pub name: String,
    /// Share of requests that are reads, in percent; the rest are writes.
    pub read_percent: u32,
    /// Share of random requests, in percent; the rest follow the one before.
    pub random_percent: u32,
    pub read_sizes: Vec<SizeShare>,
    pub write_sizes: Vec<SizeShare>,
    /// Requests in flight of each thread.
    pub depth: u32,
    /// Threads of each worker.
    pub threads: u32,
    /// Requests per second of each worker; `None` for as many as it can.
    pub per_second: Option<f64>,
    pub arrivals: Arrivals,
    pub access: Access,
    /// How far the written data can be compressed, in percent.
    pub compressible_percent: u32,
    /// Past the page cache (`O_DIRECT`).
    pub direct: bool,
    pub sync: SyncPolicy,
}

/// A size of requests and its share of them in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeShare {
    pub size: Bytes,
    pub percent: u32,
}

/// How random requests choose their offsets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    Uniform,
    /// Zipf's law with this exponent.
    Zipf(f64),
    /// Shares of requests and of space in percent, hot ones first (fio: `random_distribution=zoned`).
    Zoned(Vec<Zone>),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    pub requests_percent: u32,
    pub space_percent: u32,
}

/// How writes become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncPolicy {
    /// Not asked for.
    None,
    /// `fdatasync` after so many writes.
    Flush { every: u32 },
    /// `O_DSYNC`: each write returns when it is durable.
    EachWrite,
}

/// A step that runs a block workload. It has no system: the medium itself is under test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockStep {
    pub name: String,
    pub workload: BlockId,
    pub on: Vec<MediumId>,
    /// All media at the same time, with their workers counted together, instead of one after the other.
    pub at_once: bool,
    /// How often all jobs are gone through; with `steady` the most.
    pub rounds: u32,
    /// Rounds go on only until the figures are steady.
    pub steady: Option<SteadyRule>,
    /// Ramp of each job. There is no cooling.
    pub warm: crate::units::Nanos,
    pub measure: crate::units::Nanos,
}

impl BlockStream {
    /// The kinds of requests that occur, as transaction types.
    pub fn ops(&self) -> Vec<String> {
        let all = [
            ("read", self.read_percent > 0),
            ("write", self.read_percent < 100),
            (
                "sync",
                self.read_percent < 100 && matches!(self.sync, SyncPolicy::Flush { .. }),
            ),
        ];
        all.into_iter()
            .filter(|(_, occurs)| *occurs)
            .map(|(op, _)| self.op_name(op))
            .collect()
    }

    fn op_name(&self, op: &str) -> String {
        if self.name.is_empty() {
            op.to_owned()
        } else {
            format!("{} {op}", self.name)
        }
    }

    /// Requests in flight at most, of one worker.
    pub fn in_flight(&self) -> u32 {
        self.depth.saturating_mul(self.threads)
    }
}

impl BlockJob {
    /// The transaction types of its points, in the order of tallies: those of each stream after those of the one before.
    pub fn txns(&self) -> Vec<String> {
        self.streams.iter().flat_map(BlockStream::ops).collect()
    }
}

impl Block {
    /// The transaction types of a job file, whose requests are counted together.
    pub const FILE_TXNS: [&'static str; 4] = ["read", "write", "trim", "sync"];

    /// The jobs; none where a job file is run.
    pub fn jobs(&self) -> &[BlockJob] {
        match &self.work {
            BlockWork::Jobs(jobs) => jobs,
            BlockWork::File { .. } => &[],
        }
    }
}
