//! What controller and worker send each other: frames of JSON (see [`crate::frame`]).

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;

use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneMessage, LaneSpec};
use serde::{Deserialize, Serialize};

/// Both sides need the same. It changes with every message that an older side would misunderstand.
pub const VERSION: u32 = 5;

/// The first line of a worker. What a login shell prints before it is skipped.
pub const GREETING: &str = "plimsoll worker";

/// A job of a session. The controller numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u32);

/// One life of a session, drawn when its journal is made. A host that lost its journal has another one, so nothing that it
/// did before is taken for what it does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(pub u64);

impl Incarnation {
    pub fn draw() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }
}

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Incarnation {
    type Err = ParseIntError;
    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// Controller → worker. All but the pings may come again after a link was cut, and mean the same then.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The first of each connection.
    Hello {
        version: u32,
        /// `None`: the session has not been welcomed yet. Another one refuses: work is never begun twice.
        incarnation: Option<Incarnation>,
        /// How many numbered reports have arrived.
        received: u64,
        /// How long the worker goes on without a controller.
        patience: Nanos,
    },
    Ping {
        /// By the controller's clock.
        sent: Nanos,
    },
    Run {
        job: JobId,
        task: HostTask,
    },
    /// When a job that is ready starts, by the worker's clock.
    Start {
        job: JobId,
        at: Nanos,
    },
    /// When all hosts go on that have come to this meeting, by the worker's clock.
    Meet {
        job: JobId,
        meeting: MeetingStart,
    },
    Order {
        job: JobId,
        order: LaneControl,
    },
    /// Samples of the host's disks are wanted from now on.
    WatchDisks,
    /// End all jobs, remove the journal, end.
    Leave,
}

/// What a host does.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostTask {
    /// Load on a system.
    Lane(Box<LaneSpec>),
    /// A whole plan, on media and servers of its own.
    Plan(Box<PlanTask>),
}

/// A plan that several hosts run in step.
#[derive(Clone, Serialize, Deserialize)]
pub struct PlanTask {
    /// As it was written, one cell of its matrix.
    pub text: String,
    pub scale: f64,
    pub data_scale: f64,
    /// Of the inputs.
    pub seed: u64,
    pub run_id: String,
    /// As in the file that the others' are joined in.
    pub started_at: String,
    pub command: String,
    pub label: Option<String>,
    /// Devices and files of others that its block steps may overwrite.
    pub overwrite: Vec<PathBuf>,
}

/// Hosts that run the same plan meet before each point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeetingStart {
    /// Counted by each host from 0.
    pub number: u32,
    pub at: Nanos,
}

/// Worker → controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerReply {
    Welcome(Welcome),
    /// The last message: the controller's version, or something else, does not suit.
    Refused {
        why: String,
    },
    /// The last message: this is not the session that the controller knows, or it has lost reports.
    Forgotten,
    Pong {
        sent: Nanos,
        clock: HostTime,
    },
    /// Kept in the journal until the session ends.
    Numbered {
        number: u64,
        report: WorkerReport,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub version: u32,
    pub incarnation: Incarnation,
    /// False of a session that ended: its journal is all there is.
    pub is_running: bool,
    /// How many reports its journal has by now.
    pub reports: u64,
    pub facts: HostFacts,
}

/// What is known of a worker's host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    pub host_name: String,
    pub kernel: String,
    pub architecture: String,
    /// Processors that the worker may use.
    pub processors: u32,
    /// plimsoll's there.
    pub program: String,
    /// Names of the disks that can be watched.
    pub disks: Vec<String>,
}

/// What a host's clocks show at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostTime {
    /// The session's clock, which is never set.
    pub clock: Nanos,
    /// Microseconds since 1970, as its users have set it.
    pub date: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerReport {
    /// All sessions of the job are open; it waits for its start time.
    Ready {
        job: JobId,
    },
    Lane {
        job: JobId,
        message: LaneMessage,
    },
    Plan {
        job: JobId,
        news: PlanNews,
    },
    /// A second of the host and of the worker on it.
    Samples(Vec<WorkerSample>),
}

/// What is heard of a plan that a host runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanNews {
    /// A line for whoever waits.
    Progress(String),
    /// It waits for the others, to begin `what`.
    Meeting { number: u32, what: String },
    /// The next bytes of its run file, in base64.
    FilePart(String),
    /// Nothing more comes.
    Ended(PlanEnd),
}

/// How a host's run of a plan ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanEnd {
    Complete,
    /// It failed or was interrupted: the run file has the reason.
    Incomplete,
    /// There is no run file.
    Failed(String),
}

/// A sample of [`plimsoll_record::metric::Metric`], which goes by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerSample {
    pub metric: String,
    /// `None`: of the host, or the worker on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// By the session's clock.
    pub at: Nanos,
    pub over: Nanos,
    pub value: f32,
}
