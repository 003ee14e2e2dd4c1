//! Block I/O, and what the doctor found: the parts of a record about media themselves.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::hist::Hist;
use crate::message::DoctorFinding;
use crate::{Point, PointId, SubjectId};

impl Point {
    /// [`Point::mode`] of block I/O.
    pub const BLOCK: &str = "block";
    /// [`Point::mode`] of a load that another tool put on a system.
    pub const IMPORTED: &str = "imported";

    pub fn is_block(&self) -> bool {
        self.mode == Self::BLOCK
    }

    /// Whether outcomes of type `txn` count in rates and latencies of all types. Flushes of block I/O stand beside the
    /// requests that they make durable.
    pub fn is_counted(&self, txn: usize) -> bool {
        !self.is_block()
            || !self
                .txns
                .get(txn)
                .is_some_and(|name| name == "sync" || name.ends_with(" sync"))
    }
}

/// Requests that a point makes to a medium. Its [`crate::Point`] has the rest: `mode` is `block`, `system` the subject that stands
/// for fio, `repeat` the round, `users` the requests in flight, `txns` the kinds of requests of all streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockPoint {
    pub point: PointId,
    /// Empty for jobs that the plan has itself.
    pub profile: String,
    pub job: String,
    /// Place of the job in the workload.
    pub job_index: u32,
    pub workers: u32,
    /// Size of each worker's file, or of its part of a device.
    pub worker_bytes: u64,
    /// How often that was written before the first job; below 1 reads meet blocks that were never written.
    pub fill: f64,
    /// Offered rate in percent of what the job reached at full speed; `None`: full speed.
    pub share_percent: Option<f64>,
    pub streams: Vec<BlockStreamInfo>,
}

/// Requests of one kind, as asked of each worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockStreamInfo {
    pub name: String,
    pub read_percent: u32,
    pub random_percent: u32,
    /// Bytes and their share in percent.
    pub read_sizes: Vec<(u64, u32)>,
    pub write_sizes: Vec<(u64, u32)>,
    pub depth: u32,
    pub threads: u32,
    /// Requests per second of each worker; `None`: as many as it can.
    pub per_second: Option<f64>,
    /// `uniform`, `zipf:1.1`, `zoned:95/5:4/10:1/85`.
    pub access: String,
    pub compressible_percent: u32,
    pub direct: bool,
    /// `none`, `flush:1`, `each_write`.
    pub sync: String,
}

/// Requests of one worker in the measure phase, of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockShare {
    pub point: PointId,
    /// From 0.
    pub worker: u32,
    /// The medium that it worked on.
    pub medium: SubjectId,
    /// Index into [`crate::Point::txns`].
    pub txn: u32,
    pub requests: u64,
    pub bytes: u64,
    pub response: Hist,
}

/// Rounds of a step on a medium are gone through until they are steady.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteadyInfo {
    pub step: String,
    pub step_index: u32,
    /// `None`: several at once.
    pub medium: Option<SubjectId>,
    pub window: u32,
    pub range: f64,
    pub slope: f64,
    pub most_rounds: u32,
}

/// A result of the doctor about one subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// The medium; `None`: the machine.
    #[serde(skip)]
    pub subject: Option<SubjectId>,
    /// The check, stable for machines: `write_cache`.
    pub code: String,
    pub level: DiagnosisLevel,
    /// Which of a medium's disks, where it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    #[serde(flatten)]
    pub finding: DoctorFinding,
}

#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DiagnosisLevel {
    Ok,
    /// Could not be evaluated; the finding has the reason.
    Unknown,
    Warning,
    Error,
}

impl DiagnosisLevel {
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}
