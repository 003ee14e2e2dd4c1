//! The bottleneck of a point, from which answers, ladders and load lines take what limits the system. Beside a load line:
//! what stood out at the lowest load above it, with the same figure at the line.
//!
//! Signs are hints and no proof: a figure at its limit, or one that grew where the load grew by a few percent. plimsoll's
//! own CPU and an emulator that is late come first, because then the figures are not the system's. What sessions of the
//! server waited for comes before CPU and device of the machine, which others use as well. Waiting for a connection comes
//! last, because everything else makes transactions wait for one as well.

use super::cpu::{CpuShares, LIMIT_REACHED_PERCENT};
use super::drive_summary::DriveSummary;
use super::figure::FigureId;
use super::finding::FindingKind;
use super::index::Index;
use super::point_summary::PointSummary;
use super::sign::{Bottleneck, Sign};
use super::waits::WaitSummary;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Record, Severity, SubjectKind, WaitState};

impl Bottleneck {
    /// A limit in the figure's own unit, or how much it has to grow.
    fn limit(self) -> SignLimit {
        match self {
            Self::Generator => SignLimit::Full(80.0),
            Self::Emulator => SignLimit::Full(1.0),
            Self::OtherPrograms | Self::Steal | Self::Cpu | Self::Processors => {
                SignLimit::Full(0.0)
            }
            Self::CpuLimit => SignLimit::Full(LIMIT_REACHED_PERCENT),
            Self::DeviceBusy => SignLimit::Full(90.0),
            Self::DeviceWriteTime | Self::DeviceReadTime | Self::DriveQueue => {
                SignLimit::Times(1.5)
            }
            Self::Reads | Self::Locks | Self::Log | Self::SessionCpu => SignLimit::Risen(30.0),
            Self::Client | Self::Connections => SignLimit::Risen(50.0),
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

/// What stands out in `figures`, the strongest first; beside `line`, where a load line lies below them. What sessions of
/// the server do counts before figures of machine and device, by its part of a transaction's time.
pub(super) fn signs(
    index: &Index,
    line: Option<&PointSummary>,
    figures: &PointSummary,
) -> Vec<Sign> {
    let sign = |what: Bottleneck| {
        let beyond = figure(index, what, figures).filter(|value| value.is_finite())?;
        let at_line = line.and_then(|line| figure(index, what, line));
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
    let times = TimeShares::of(figures);
    signs.sort_by(|a, b| {
        let (a, b) = (a.rank(times.as_ref()), b.rank(times.as_ref()));
        a.group
            .cmp(&b.group)
            .then(b.strength.total_cmp(&a.strength))
    });
    if let Some(times) = times.filter(|_| line.is_none()) {
        let rank = |sign: &Sign| sign.rank(Some(&times));
        let of_time = signs.iter().map(rank).filter(|rank| rank.group == 1);
        let largest = of_time.map(|rank| rank.strength).fold(0.0, f64::max);
        if largest < times.unexplained() {
            signs.retain(|sign| rank(sign).group != 1);
        }
    }
    signs
}

/// A sign's place among others: by group, then by falling strength.
struct SignRank {
    group: u8,
    strength: f64,
}

impl Sign {
    /// In the order of groups: what makes the figure another system's; what transactions spend their time on; what stands
    /// out beside it; what everything else leads to.
    fn rank(&self, times: Option<&TimeShares>) -> SignRank {
        let own = |group| SignRank {
            group,
            strength: self.excess(),
        };
        match (self.what, times) {
            (Bottleneck::Generator | Bottleneck::Emulator, _) => own(0),
            (Bottleneck::Connections, _) => own(3),
            (what, Some(times)) => match times.percent(what) {
                Some(strength) => SignRank { group: 1, strength },
                None => own(2),
            },
            (_, None) => own(1),
        }
    }

    /// By how much the limit is exceeded, as a factor.
    fn excess(&self) -> f64 {
        match self.what.limit() {
            // Of a full machine; a device that is busy may do several things at a time.
            SignLimit::Full(0.0) => f64::MAX,
            SignLimit::Full(limit) | SignLimit::Risen(limit) => self.beyond / limit,
            SignLimit::Times(limit) => self.beyond / self.at_line.unwrap_or(self.beyond) / limit,
        }
    }
}

/// What a transaction's time was spent on, where sessions of the server were sampled.
struct TimeShares<'a> {
    waits: &'a WaitSummary,
    /// Outside of the server, in percent.
    outside: f64,
    session_cpu: f64,
    /// Whether whatever waits for the client may wait for a processor.
    is_full: bool,
    /// Whether its sessions may.
    is_short: bool,
}

impl<'a> TimeShares<'a> {
    fn of(figures: &'a PointSummary) -> Option<Self> {
        Some(Self {
            waits: figures.waits.as_ref()?,
            outside: outside(figures).unwrap_or(0.0),
            session_cpu: session_cpu(figures).unwrap_or(0.0),
            is_full: figures.cpu.is_some_and(|cpu| cpu.is_full()),
            is_short: figures.cpu.is_some_and(|cpu| cpu.is_short()),
        })
    }

    /// Of sessions that neither wait for something that the server names, nor have a CPU, nor may wait for one.
    fn unexplained(&self) -> f64 {
        let running = self.waits.busy_percent(WaitState::Cpu).unwrap_or(0.0);
        if self.is_short {
            return 0.0;
        }
        (running - self.session_cpu) * (1.0 - self.outside / 100.0)
    }

    /// `None` for what is no part of a transaction's time.
    fn percent(&self, what: Bottleneck) -> Option<f64> {
        let inside = 1.0 - self.outside / 100.0;
        let state = |state| Some(self.waits.busy_percent(state).unwrap_or(0.0) * inside);
        match what {
            Bottleneck::Reads => state(WaitState::DataRead),
            Bottleneck::Locks => state(WaitState::Lock),
            Bottleneck::Log => state(WaitState::Log),
            Bottleneck::SessionCpu => Some(self.session_cpu * inside),
            Bottleneck::Client => Some(self.outside),
            Bottleneck::CpuLimit => state(WaitState::Cpu),
            // Whoever waits for a processor is at work, or is a client.
            Bottleneck::OtherPrograms
            | Bottleneck::Steal
            | Bottleneck::Cpu
            | Bottleneck::Processors
                if self.is_full =>
            {
                Some(state(WaitState::Cpu)? + self.outside)
            }
            _ => None,
        }
    }
}

/// Sessions at work: neither idle nor waiting for their clients.
fn active_sessions(waits: &WaitSummary) -> f64 {
    let states = waits.states.iter();
    let active = states.filter(|share| share.busy_percent.is_some());
    active.map(|share| share.sessions).sum()
}

/// Part of a transaction's time, in percent, in which no session worked on it. By Little's law rate × service time are
/// the transactions under way.
fn outside(figures: &PointSummary) -> Option<f64> {
    let waits = figures.waits.as_ref()?;
    let service = figures.overall.service.or(figures.overall.response)?;
    let under_way = figures.value(FigureId::Transactions)? * service.mean_ms / 1e3;
    let outside = (under_way - active_sessions(waits)) * 100.0 / under_way;
    (under_way > 0.0).then(|| outside.max(0.0))
}

/// Sessions on a CPU in percent of those at work: those that wait for nothing that the server names, but at most as many
/// as the system used CPUs, where that is known. A session that sleeps without an event, such as in PostgreSQL's
/// `commit_delay`, uses none.
fn session_cpu(figures: &PointSummary) -> Option<f64> {
    let waits = figures.waits.as_ref()?;
    let running = waits.busy_percent(WaitState::Cpu)?;
    let used = figures.resources.system_cpu_percent;
    Some(used.map_or(running, |used| running.min(used / active_sessions(waits))))
}

/// Who uses most of a machine whose CPUs are all in use. None for a system of which nothing is known that would use them.
fn full_machine(cpu: &CpuShares) -> Option<Bottleneck> {
    if !cpu.is_full() || !cpu.is_of_system {
        return None;
    }
    let Some((system, others)) = cpu.system_percent.zip(cpu.others_percent) else {
        return Some(Bottleneck::Processors);
    };
    Some(if others > system.max(cpu.steal_percent) {
        Bottleneck::OtherPrograms
    } else if cpu.steal_percent > system {
        Bottleneck::Steal
    } else {
        Bottleneck::Cpu
    })
}

fn cpu_figure(what: Bottleneck, figures: &PointSummary) -> Option<f64> {
    let cpu = figures.cpu.as_ref()?;
    if full_machine(cpu) != Some(what) {
        return None;
    }
    match what {
        Bottleneck::OtherPrograms => cpu.others_percent,
        Bottleneck::Steal => Some(cpu.steal_percent),
        Bottleneck::Cpu => cpu.system_percent,
        _ => Some(cpu.busy_percent),
    }
}

/// How much an emulated drive that answered late added to the time of its operations, in percent. What queued in the kernel
/// before it does not count: so it may before a real drive.
fn emulator(figures: &PointSummary) -> Option<f64> {
    let late = figures
        .findings
        .iter()
        .filter(|own| own.severity >= Severity::Warning);
    let added = late.filter_map(|finding| match finding.kind {
        FindingKind::Emulated { added_percent, .. } => Some(added_percent),
        _ => None,
    });
    added.reduce(f64::max)
}

fn figure(index: &Index, what: Bottleneck, figures: &PointSummary) -> Option<f64> {
    let resources = &figures.resources;
    let busy = |state| figures.waits.as_ref()?.busy_percent(state);
    let is_full = figures.cpu.is_some_and(|cpu| cpu.is_full());
    let is_short = figures.cpu.is_some_and(|cpu| cpu.is_short());
    match what {
        Bottleneck::Generator => generator(index.record, figures),
        Bottleneck::Emulator => emulator(figures),
        Bottleneck::OtherPrograms
        | Bottleneck::Steal
        | Bottleneck::Cpu
        | Bottleneck::Processors => cpu_figure(what, figures),
        Bottleneck::CpuLimit => figures.cpu?.of_limit_percent,
        Bottleneck::SessionCpu => session_cpu(figures).filter(|_| !is_short),
        Bottleneck::DeviceBusy => resources.device_busy_percent,
        Bottleneck::DeviceWriteTime => resources.device_write_latency_ms,
        Bottleneck::DeviceReadTime => resources.device_read_latency_ms,
        Bottleneck::DriveQueue => figures.drive.as_ref().and_then(queue),
        Bottleneck::Reads => busy(WaitState::DataRead),
        Bottleneck::Locks => busy(WaitState::Lock),
        Bottleneck::Log => busy(WaitState::Log),
        Bottleneck::Client => outside(figures).filter(|_| !is_full),
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

#[cfg(test)]
mod tests;
