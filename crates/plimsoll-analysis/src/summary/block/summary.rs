//! The figures of block I/O by step, medium, job and point.

use serde::Serialize;

use super::super::conserve::Conservation;
use super::super::drive_summary::DriveSummary;
use super::super::estimate::Estimate;
use super::super::figure::{FigureId, FigureSet};
use super::super::finding::{Finding, Verdict};
use super::super::ratio::RatioSet;
use super::super::stats::{Halves, Spread};
use super::super::steady::Steady;
use plimsoll_record::{BlockStreamInfo, OfferedLoad};

/// One step, with the media that it was run on beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockSummary {
    pub step: String,
    pub step_index: u32,
    pub workload: String,
    /// Empty for jobs that the plan has itself.
    pub profile: String,
    /// In the order of the plan; ratios are against the first.
    pub media: Vec<BlockMedium>,
}

/// A step on one medium, or on several at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockMedium {
    /// Joined by ` + ` where there are several.
    pub medium: String,
    /// What people call the drive that is emulated; `None` where nothing is.
    pub drive: Option<String>,
    /// How many times slower than rated that drive ran; of several the slowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    pub workers: u32,
    pub worker_bytes: u64,
    pub jobs: Vec<BlockJobSummary>,
    /// Where rounds were to go on until they are steady.
    pub rounds: Option<Rounds>,
    pub findings: Vec<Finding>,
    pub verdict: Verdict,
}

/// One job on one medium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockJobSummary {
    pub job: String,
    pub job_index: u32,
    pub streams: Vec<BlockStreamInfo>,
    /// At full speed: one for each round.
    pub points: Vec<BlockPointSummary>,
    /// Index of the one that stands for all where only one can: of the rounds that count the one whose IOPS are nearest
    /// to the median.
    pub typical: Option<usize>,
    /// Over the rounds that count. `None`: nothing was measured.
    pub figures: Option<BlockFigures>,
    /// Reads, writes and flushes apart: medians over the rounds that count.
    pub by_op: Vec<BlockOpSummary>,
    /// Against the same job on the first medium; `None` on that itself, where a figure is missing or invalid, and where
    /// one of the media was slowed more than the other.
    pub against_first: Option<RatioSet>,
    /// By rising offered rate.
    pub curve: Vec<BlockCurvePoint>,
    pub verdict: Verdict,
}

/// One point: a job in one round, at full speed or at one rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockPointSummary {
    /// Its id in the record.
    pub point: u32,
    pub round: u32,
    /// Whether the figures of its job rest on it: its round is one of the steady window, or of the last, where rounds were
    /// to become steady.
    pub counts: bool,
    pub share_percent: Option<f64>,
    /// Requests per second that were to be offered, over all workers; `None`: as many as possible.
    pub offered_per_second: Option<f64>,
    pub measured_s: f64,
    /// Of reads, writes and trims together; what is flushed is in `by_op`.
    #[serde(flatten)]
    pub figures: FigureSet,
    /// How single seconds scatter.
    pub iops_spread: Option<Spread>,
    /// Whether IOPS were steady over the window.
    pub steady: Steady,
    /// How the window's second half differs from its first: for the audit.
    #[serde(skip)]
    pub halves: Option<Halves>,
    /// CPU time that a hypervisor gave to others, and whether all counts add up: for the audit.
    #[serde(skip)]
    pub steal_percent: Option<f64>,
    #[serde(skip)]
    pub conservation: Conservation,
    pub by_op: Vec<BlockOpSummary>,
    pub workers: Vec<BlockWorkerSummary>,
    /// Coefficient of variation of the workers' IOPS, in percent; `None` with fewer than two.
    pub workers_cv_percent: Option<f64>,
    /// Mean number in flight by Little's law (rate × mean latency, flushes included), beside `in_flight`.
    pub in_flight_by_little: Option<f64>,
    /// Requests that the job keeps in flight at most; 0 where an imported output does not report it.
    pub in_flight: u32,
    /// Whether it keeps that many in flight all the time, so that Little's law must give them: for the audit as well.
    #[serde(skip)]
    pub keeps_in_flight: bool,
    pub seconds: Vec<BlockSecond>,
    /// The emulated drives among its media.
    pub drives: Vec<DriveSummary>,
    pub findings: Vec<Finding>,
    pub verdict: Verdict,
}

impl BlockPointSummary {
    /// A figure without what is known about its error.
    pub fn value(&self, figure: FigureId) -> Option<f64> {
        self.figures.value(figure)
    }

    pub fn load(&self) -> OfferedLoad {
        OfferedLoad {
            users: self.in_flight,
            offered_per_second: self.offered_per_second,
            offered_to_per_second: None,
            share_percent: self.share_percent,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockOpSummary {
    /// `read`, `log write`, `sync`.
    pub op: String,
    pub requests: u64,
    /// [`FigureId::Iops`] are requests of this kind alone.
    #[serde(flatten)]
    pub figures: FigureSet,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockWorkerSummary {
    pub worker: u32,
    pub medium: String,
    #[serde(flatten)]
    pub figures: FigureSet,
}

/// One second of a point, warm-up included: reads, writes and trims together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockSecond {
    /// Its end, from the run's start.
    pub at_s: f64,
    pub seconds: f64,
    pub measured: bool,
    pub requests: u64,
    pub bytes: u64,
    pub p50_us: Option<f64>,
    pub p95_us: Option<f64>,
    pub p99_us: Option<f64>,
    pub max_us: Option<f64>,
}

/// Medians over rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockFigures {
    pub rounds: u32,
    /// Times are missing where there is no distribution, as in outputs of other tools.
    #[serde(flatten)]
    pub figures: FigureSet,
}

/// One rate of a job's curve; the medians of the rounds that count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockCurvePoint {
    pub share_percent: f64,
    pub offered_per_second: f64,
    #[serde(flatten)]
    pub figures: FigureSet,
    /// By round.
    pub points: Vec<BlockPointSummary>,
    pub verdict: Verdict,
}

/// How rounds went until they were steady, or were given up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    pub window: u32,
    pub range_percent_limit: f64,
    pub slope_percent_limit: f64,
    pub most_rounds: u32,
    /// The round, from 0, with which all jobs were steady; `None`: not reached.
    pub reached_at: Option<u32>,
    pub jobs: Vec<RoundsOfJob>,
}

/// IOPS of one job by round, and the window's fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundsOfJob {
    pub job: String,
    pub iops: Vec<f64>,
    /// Of the last window; `None` with fewer rounds.
    pub fit: Option<plimsoll_stats::rounds::Fit>,
}

/// Where a finding about block I/O belongs.
pub type BlockPlace<'a> = (&'a BlockJobSummary, &'a BlockPointSummary);

impl BlockJobSummary {
    /// Over the rounds that count.
    pub fn figure(&self, figure: FigureId) -> Option<Estimate> {
        self.figures.as_ref()?.figures.get(figure)
    }

    /// At full speed by round, then by rate.
    pub fn all_points(&self) -> impl Iterator<Item = &BlockPointSummary> {
        self.points
            .iter()
            .chain(self.curve.iter().flat_map(|rate| &rate.points))
    }
}

impl BlockMedium {
    /// Its own, then those of its points by job.
    pub fn all_findings(&self) -> impl Iterator<Item = (&Self, Option<BlockPlace<'_>>, &Finding)> {
        let own = self
            .findings
            .iter()
            .map(move |finding| (self, None, finding));
        let points = self
            .jobs
            .iter()
            .flat_map(|job| job.all_points().map(move |point| (job, point)));
        own.chain(points.flat_map(move |point| {
            point
                .1
                .findings
                .iter()
                .map(move |finding| (self, Some(point), finding))
        }))
    }
}

/// Sample standard deviation in percent of the mean.
pub(super) fn cv_percent<'a>(
    workers: impl IntoIterator<Item = &'a BlockWorkerSummary>,
) -> Option<f64> {
    let iops: Vec<f64> = workers
        .into_iter()
        .filter_map(|worker| worker.figures.value(FigureId::Iops))
        .collect();
    let mean = iops.iter().sum::<f64>() / iops.len() as f64;
    let squares: f64 = iops.iter().map(|own| (own - mean).powi(2)).sum();
    (iops.len() > 1 && mean > 0.0)
        .then(|| (squares / (iops.len() - 1) as f64).sqrt() * 100.0 / mean)
}
