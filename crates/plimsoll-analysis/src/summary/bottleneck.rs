//! The bottleneck: what stood out at the lowest load above the line, beside the same figure at the line.
//!
//! Signs are hints and no proof: a figure at its limit, or one that grew where the load grew by a few percent.
//! plimsoll's own CPU comes first, because then the line is not the system's; waiting for a connection comes last, because
//! everything else makes transactions wait for one as well.

use serde::Serialize;

use super::drive_summary::DriveSummary;
use super::index::Index;
use super::point_summary::PointSummary;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Point, Record, SubjectKind, WaitState};

/// Something that stood out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sign {
    pub what: Bottleneck,
    /// The figure at the line, where there is a line and it has the figure.
    pub at_line: Option<f64>,
    /// The figure at the lowest load above the line.
    pub beyond: f64,
    /// From which on it stands out; of figures that grow, what they were to grow by as a factor.
    pub limit: f64,
}

/// A possible bottleneck, and the figure that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// CPU of plimsoll in percent of what its workers can use: the line is not the system's.
    Generator,
    /// Host CPU busy, in percent of all.
    Cpu,
    /// Time in which the device was busy, in percent.
    DeviceBusy,
    /// Time of a write on the device, in ms; grew.
    DeviceWriteTime,
    /// Time of a read on the device, in ms; grew.
    DeviceReadTime,
    /// Requests in the emulated drive at a time; grew.
    DriveQueue,
    /// Sessions that wait for locks, in percent of those at work.
    Locks,
    /// Sessions that wait for the log, in percent of those at work.
    Log,
    /// Part of response time before the transaction started, in percent: all connections were taken.
    Connections,
}

impl Bottleneck {
    pub const ALL: [Self; 9] = [
        Self::Generator,
        Self::Cpu,
        Self::DeviceBusy,
        Self::DeviceWriteTime,
        Self::DeviceReadTime,
        Self::DriveQueue,
        Self::Locks,
        Self::Log,
        Self::Connections,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Cpu => "cpu",
            Self::DeviceBusy => "device_busy",
            Self::DeviceWriteTime => "device_write_time",
            Self::DeviceReadTime => "device_read_time",
            Self::DriveQueue => "drive_queue",
            Self::Locks => "locks",
            Self::Log => "log",
            Self::Connections => "connections",
        }
    }

    /// A limit in the figure's own unit, or how much it has to grow.
    fn limit(self) -> SignLimit {
        match self {
            Self::Generator => SignLimit::Full(80.0),
            Self::Cpu | Self::DeviceBusy => SignLimit::Full(90.0),
            Self::DeviceWriteTime | Self::DeviceReadTime | Self::DriveQueue => {
                SignLimit::Times(1.5)
            }
            Self::Locks | Self::Log => SignLimit::Risen(30.0),
            Self::Connections => SignLimit::Risen(50.0),
        }
    }

    /// Its rank, before the strength of the figures.
    fn rank(self) -> u8 {
        match self {
            Self::Generator => 0,
            Self::Connections => 2,
            _ => 1,
        }
    }
}

enum SignLimit {
    /// Of a resource that is full from there on, at the line as well.
    Full(f64),
    /// From there on, where it is more than at the line.
    Risen(f64),
    Times(f64),
}

/// What is below this, relative to the line, did not change.
const RISE: f64 = 1.02;

impl Sign {
    /// By how much the limit is exceeded, as a factor.
    fn strength(&self) -> f64 {
        match self.what.limit() {
            SignLimit::Full(limit) | SignLimit::Risen(limit) => self.beyond / limit,
            SignLimit::Times(limit) => self.beyond / self.at_line.unwrap_or(self.beyond) / limit,
        }
    }
}

/// What stands out at `beyond` beside `line`.
pub(super) fn signs(
    index: &Index,
    points: &[PointSummary],
    line: Option<&Point>,
    beyond: &Point,
    all: &[&Point],
) -> Vec<Sign> {
    let summary = |point: &Point| {
        all.iter()
            .position(|own| own.id == point.id)
            .and_then(|i| points.get(i))
    };
    let Some(figures) = summary(beyond) else {
        return Vec::new();
    };
    let at_line = line.and_then(summary);
    let sign = |what: Bottleneck| {
        let beyond = figure(index, what, figures).filter(|value| value.is_finite())?;
        let at_line = at_line.and_then(|figures| figure(index, what, figures));
        let (stands_out, limit) = match what.limit() {
            SignLimit::Full(limit) => (beyond >= limit, limit),
            SignLimit::Risen(limit) => (
                beyond >= limit && at_line.is_none_or(|line| beyond >= line * RISE),
                limit,
            ),
            SignLimit::Times(limit) => (
                at_line.is_some_and(|line| line > 0.0 && beyond >= line * limit),
                limit,
            ),
        };
        stands_out.then_some(Sign {
            what,
            at_line,
            beyond,
            limit,
        })
    };
    let mut signs: Vec<Sign> = Bottleneck::ALL.into_iter().filter_map(sign).collect();
    signs.sort_by(|a, b| {
        a.what
            .rank()
            .cmp(&b.what.rank())
            .then(b.strength().total_cmp(&a.strength()))
    });
    signs
}

fn figure(index: &Index, what: Bottleneck, figures: &PointSummary) -> Option<f64> {
    let resources = &figures.resources;
    match what {
        Bottleneck::Generator => generator(index.record, figures),
        Bottleneck::Cpu => resources.host_cpu_busy_percent,
        Bottleneck::DeviceBusy => resources.device_busy_percent,
        Bottleneck::DeviceWriteTime => resources.device_write_latency_ms,
        Bottleneck::DeviceReadTime => resources.device_read_latency_ms,
        Bottleneck::DriveQueue => figures.drive.as_ref().and_then(queue),
        Bottleneck::Locks => figures.waits.as_ref()?.busy_percent(WaitState::Lock),
        Bottleneck::Log => figures.waits.as_ref()?.busy_percent(WaitState::Log),
        Bottleneck::Connections => {
            let (response, service) = figures.overall.response.zip(figures.overall.service)?;
            Some((1.0 - service.mean_ms / response.mean_ms) * 100.0)
        }
    }
}

/// A fact of the generator: threads that generate load, each of which can use one CPU.
const WORKERS_FACT: &str = "workers";
/// A fact of the host.
const CPUS_FACT: &str = "cpus";

/// CPU of plimsoll in percent of what its workers can use; of several generators, of the one that has least left. Nothing of
/// a system that runs inside plimsoll, whose CPU is the system's.
pub(crate) fn generator(record: &Record, figures: &PointSummary) -> Option<f64> {
    figures.resources.generator_cpu_percent?;
    if figures.resources.generator_cpu_withheld.is_some() {
        return None;
    }
    let used = figures
        .metrics
        .iter()
        .filter(|mean| mean.metric == Metric::GeneratorCpu.info().name);
    let shares = used.filter_map(|mean| {
        let threads = match mean.subject_kind {
            SubjectKind::Worker => count_fact(record, mean.subject_kind, &mean.subject, CPUS_FACT),
            _ => threads_here(record),
        };
        Some(mean.mean / threads?)
    });
    shares.reduce(f64::max)
}

/// Threads of this machine that can generate load.
fn threads_here(record: &Record) -> Option<f64> {
    let first = |kind: SubjectKind, key: &str| {
        let subject = record
            .subjects
            .iter()
            .find(|subject| subject.kind == kind)?;
        count_fact(record, kind, &subject.name, key)
    };
    first(SubjectKind::Generator, WORKERS_FACT).or_else(|| first(SubjectKind::Host, CPUS_FACT))
}

fn count_fact(record: &Record, kind: SubjectKind, name: &str, key: &str) -> Option<f64> {
    let subject = record.subject(kind, name)?;
    let fact = record
        .facts
        .iter()
        .find(|fact| fact.subject == subject.id && fact.key == key)?;
    fact.value.parse::<f64>().ok().filter(|n| *n >= 1.0)
}

/// Requests in the drive at a time, by Little's law over all kinds.
fn queue(drive: &DriveSummary) -> Option<f64> {
    let each = drive
        .ops
        .iter()
        .filter_map(|op| Some(op.per_second? * op.real?.mean_us / 1e6));
    each.reduce(|sum, requests| sum + requests)
}
