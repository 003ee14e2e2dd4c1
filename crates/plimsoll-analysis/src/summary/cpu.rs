//! Whose the CPU time of the machine was over a window: the system's, the load generator's, the emulators', that of others.
//!
//! What is neither the system's, plimsoll's nor an emulator's is that of other programs, with what the kernel does in
//! threads and interrupts of its own.

use serde::Serialize;

use super::index::Index;
use super::means::{self, Resources};
use plimsoll_plan::resolved::SystemKind;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Phase, Point, SYSTEM_HOST_FACT, SubjectKind};

/// Percent of the machine in use from which on programs wait for a processor.
pub const FULL_PERCENT: f64 = 85.0;

/// Percent of a limit of CPU in use from which on the limit is what sessions wait for.
pub const LIMIT_REACHED_PERCENT: f64 = 90.0;

/// A fact of the host.
const CPUS_FACT: &str = "cpus";

/// In percent of all CPUs of the machine that plimsoll runs on, or of the host that the plan gives the system.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CpuShares {
    /// By anyone, with `steal_percent`.
    pub busy_percent: f64,
    /// Given to other virtual machines.
    pub steal_percent: f64,
    /// Of all systems, with plimsoll where they run inside it. `None`: not watched, or not on this machine.
    pub system_percent: Option<f64>,
    /// Of plimsoll, where no system runs inside it.
    pub generator_percent: Option<f64>,
    pub emulator_percent: f64,
    /// CPU of other programs. `None`: unknown, because the system's is.
    pub others_percent: Option<f64>,
    /// Whether the system uses this machine's CPU, as far as is known.
    pub is_of_system: bool,
    /// CPU of the system in percent of what its limits give it. `None`: without limits, or not watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_limit_percent: Option<f64>,
}

/// Where a system's CPU time is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SystemCpuTime {
    /// In processes that are watched.
    Watched,
    /// In plimsoll's own.
    Inside,
    /// None to speak of: it is a mock, or on another machine.
    None,
    /// On this machine, in processes that are not watched.
    Unwatched,
}

impl CpuShares {
    /// `None` where the machine was not monitored, or is not the one of the figures.
    pub(super) fn of(
        index: &Index,
        point: &Point,
        window: &Phase,
        resources: &Resources,
    ) -> Option<Self> {
        if point.is_block() {
            return None;
        }
        let busy_percent = resources.host_cpu_busy_percent?;
        let steal_percent = resources.host_cpu_steal_percent.unwrap_or(0.0);
        let of_machine = Self {
            busy_percent,
            steal_percent,
            system_percent: None,
            generator_percent: None,
            emulator_percent: 0.0,
            others_percent: None,
            is_of_system: true,
            of_limit_percent: of_limit_percent(index, point, resources),
        };
        if index.fact(point.system, SYSTEM_HOST_FACT).is_some() {
            return Some(of_machine);
        }
        let subjects = &index.record.subjects;
        let host = subjects.iter().find(|own| own.kind == SubjectKind::Host)?;
        let cpus = index.fact(host.id, CPUS_FACT);
        let cpus = cpus.and_then(|cpus| cpus.parse::<f64>().ok());
        let Some(cpus) = cpus.filter(|cpus| *cpus >= 1.0) else {
            return Some(of_machine);
        };
        let of = |kind, metric| {
            let all = means::sum_of(index, kind, metric, window.start, window.end);
            all.map(|own| own / cpus)
        };
        let systems = of(SubjectKind::System, Metric::SystemCpu);
        let generator = of(SubjectKind::Generator, Metric::GeneratorCpu);
        let emulator_percent = of(SubjectKind::Emulator, Metric::SystemCpu).unwrap_or(0.0);
        let place = system_cpu_time(index, point, resources);
        let (system_percent, generator_percent) = match place {
            SystemCpuTime::Watched => (systems, generator),
            SystemCpuTime::Inside => (generator, None),
            SystemCpuTime::None | SystemCpuTime::Unwatched => (None, generator),
        };
        let known = systems.unwrap_or(0.0) + generator.unwrap_or(0.0) + emulator_percent;
        let others = (busy_percent - steal_percent - known).max(0.0);
        // A generator on another host is no other program, and one of its own may be on this machine.
        let has_workers = subjects.iter().any(|own| own.kind == SubjectKind::Worker);
        let is_known = place != SystemCpuTime::Unwatched && generator.is_some() && !has_workers;
        Some(Self {
            system_percent,
            generator_percent,
            emulator_percent,
            others_percent: is_known.then_some(others),
            is_of_system: place != SystemCpuTime::None,
            ..of_machine
        })
    }

    pub fn is_full(&self) -> bool {
        self.busy_percent >= FULL_PERCENT
    }

    /// Whether the system's sessions wait for a processor: those of the machine are in use, or those that it may use.
    pub fn is_short(&self) -> bool {
        let at_limit = |percent| percent >= LIMIT_REACHED_PERCENT;
        self.is_full() || self.of_limit_percent.is_some_and(at_limit)
    }
}

/// More than the limit allows is a limit that is not in effect (`without_limits = "warn"`).
const IN_EFFECT_PERCENT: f64 = 110.0;

fn of_limit_percent(index: &Index, point: &Point, resources: &Resources) -> Option<f64> {
    let mut subjects = index.record.subjects.iter();
    let system = subjects.find(|own| own.id == point.system)?;
    let name = index.record.system_name(system);
    let plan = index.record.plan.resolved()?;
    let limit = plan.system_named(name)?.limits.cpu_limit()?;
    let percent = resources.system_cpu_percent? / limit;
    (percent <= IN_EFFECT_PERCENT).then_some(percent)
}

fn system_cpu_time(index: &Index, point: &Point, resources: &Resources) -> SystemCpuTime {
    if resources.system_cpu_percent.is_some() {
        return SystemCpuTime::Watched;
    }
    if point.medium.is_some() {
        return SystemCpuTime::Inside;
    }
    let mut subjects = index.record.subjects.iter();
    let system = subjects.find(|own| own.id == point.system);
    let plan = index.record.plan.resolved();
    let kind = plan.zip(system).and_then(|(plan, system)| {
        Some(&plan.system_named(index.record.system_name(system))?.kind)
    });
    match kind {
        Some(SystemKind::Mock(_)) => SystemCpuTime::None,
        Some(kind) if kind.is_remote() => SystemCpuTime::None,
        _ => SystemCpuTime::Unwatched,
    }
}
