//! How long a plan takes and how much space it needs, before anything is touched.
//!
//! All constants are estimates, to be calibrated with `cargo xtask bench load`; they err on the large side, because a
//! full disk ends a run and spare space does not.

mod backup;
mod block;
mod cost;
mod totals;

use cost::{cost, space_of};
pub use totals::{MediumNeed, PlanEstimate, StepEstimate};

use super::resolved::{
    CheckPolicy, DriveBacking, EngineKind, LoadStep, Medium, MediumKind, ResolvedPlan, Script,
    Search, Step, Workload,
};
use crate::ids::{MediumId, SystemId};
use crate::load::LoadShape;
use crate::search_window::{MOST_MEASUREMENTS, MOST_SEARCH_LOADS};
use crate::units::{Bytes, Nanos};

/// Measurements that a search takes as a rule: loads are doubled from a start 64 times too low, narrowed to 5 %, and both
/// ends measured again.
const SEARCH_LOADS: u64 = 14;
/// So many of them double the load.
const DOUBLINGS: u64 = 6;

impl LoadStep {
    /// Points on one medium, with all repeats; of a search as many as it takes as a rule.
    pub fn expected_points(&self) -> u64 {
        let loads = if self.search.is_some() {
            SEARCH_LOADS
        } else {
            self.points.len() as u64
        };
        loads
            .saturating_mul(u64::from(self.repeat))
            .saturating_mul(self.scenes().len() as u64)
    }
}

/// A transaction of the mix leaves about 0.45 orders with 10 lines (clauses 2.4.1.3 and 5.2.3) and 0.43 history rows:
/// some 0.6 kB of rows, doubled for indexes and for versions of updated rows that are not cleaned up yet.
const TPCC_GROWTH: f64 = 1_200.0;

/// A row of sysbench's with its index entries, or a version of it that is not cleaned up yet.
const SYSBENCH_ROW: f64 = 300.0;

/// Bytes that a transaction leaves.
fn growth_per_txn(workload: &Workload) -> f64 {
    match workload {
        Workload::Tpcc(_) => TPCC_GROWTH,
        Workload::Sysbench(sysbench) => match sysbench.script {
            Script::ReadOnly | Script::PointSelect | Script::Delete => 0.0,
            Script::UpdateIndex | Script::UpdateNonIndex | Script::Insert => SYSBENCH_ROW,
            // Two updates and one insert.
            Script::ReadWrite | Script::WriteOnly => 3.0 * SYSBENCH_ROW,
        },
    }
}

/// Journal and tables of a filesystem on an emulated drive: mke2fs makes a journal of 256 MiB from 32 GiB upwards.
pub(super) const FILESYSTEM: Bytes = Bytes::mib(288);

/// Transactions per second assumed of a closed loop, whose speed is unknown in advance.
const ASSUMED_PER_SECOND: f64 = 2_000.0;

/// What the plan takes. Sums saturate.
pub fn estimate(plan: &ResolvedPlan) -> PlanEstimate {
    let per_step: Vec<StepEstimate> = plan
        .steps
        .iter()
        .map(|step| step_estimate(plan, step))
        .collect();
    let (memory, space): (Vec<MediumId>, _) = plan
        .medium_ids()
        .filter(|id| plan.medium(*id).kind != MediumKind::Device)
        .partition(|id| !plan.is_simulated() && is_in_memory(plan.medium(*id)));
    PlanEstimate {
        duration: per_step.iter().map(|step| step.duration).sum(),
        load_duration: per_step.iter().map(|step| step.load_duration).sum(),
        space: needs(plan, space),
        memory: needs(plan, memory),
        per_step,
    }
}

fn needs(plan: &ResolvedPlan, media: Vec<MediumId>) -> Vec<MediumNeed> {
    media
        .into_iter()
        .map(|medium| MediumNeed {
            medium,
            bytes: needed(plan, medium),
        })
        .collect()
}

fn is_in_memory(medium: &Medium) -> bool {
    medium
        .kind
        .emulated()
        .is_some_and(|drive| drive.backing == DriveBacking::Memory)
}

/// Space that steps take on the medium; on an emulated drive that is used with its filesystem.
fn needed(plan: &ResolvedPlan, medium: MediumId) -> Bytes {
    let data = space(plan, medium) + block::space(plan, medium);
    let is_mounted = plan.medium(medium).kind.emulated().is_some() && !plan.is_simulated();
    match is_mounted && data > Bytes(0) {
        true => data + FILESYSTEM,
        false => data,
    }
}

fn step_estimate(plan: &ResolvedPlan, step: &Step) -> StepEstimate {
    match step {
        Step::Load(step) => load_estimate(plan, step),
        Step::Block(step) => block::step_estimate(plan, step),
        Step::Backup(step) => backup::step_estimate(plan, step),
    }
}

fn load_estimate(plan: &ResolvedPlan, step: &LoadStep) -> StepEstimate {
    let rounds = step.on.len().max(1) as u64;
    let points = step.expected_points().saturating_mul(rounds);
    let precondition = step
        .precondition
        .map_or(Nanos::ZERO, |precondition| precondition.lasts);
    let system = plan.system(step.system);
    let engine = system.kind.engine();
    let cost = cost(engine, &plan.workload(step.workload).workload);
    let checks = match step.check {
        CheckPolicy::EachPoint => points,
        CheckPolicy::EndOfStep => rounds,
        CheckPolicy::Off => 0,
    };
    let search = step
        .search
        .as_ref()
        .map(|search| search_time(plan, step, search, rounds));
    let under_load = match search {
        Some(time) => time.expected,
        None => step.point_duration() * points,
    };
    let instances = u64::from(system.count);
    // One after the other.
    let load = (cost.load + engine.info().start) * instances + backup::neighbours(plan, step);
    StepEstimate {
        step: step.name.clone(),
        points,
        longest_search: search.map(|time| time.longest),
        duration: under_load + precondition * rounds,
        load_duration: load * rounds + cost.check * checks.saturating_mul(instances),
    }
}

/// Time under load that a search takes.
#[derive(Clone, Copy)]
struct SearchTime {
    expected: Nanos,
    /// With every load in the longest window.
    longest: Nanos,
}

fn search_time(plan: &ResolvedPlan, step: &LoadStep, search: &Search, rounds: u64) -> SearchTime {
    let each = u64::from(step.repeat).saturating_mul(rounds);
    let Some(first) = step.points.first() else {
        return SearchTime {
            expected: Nanos::ZERO,
            longest: Nanos::ZERO,
        };
    };
    let workload = &plan.workload(step.workload).workload;
    let expected: Nanos = (0..SEARCH_LOADS)
        .map(|place| {
            let load = first.scaled(f64::from(1u32 << place.min(DOUBLINGS)));
            let per_second = search.expected_per_second(load, workload);
            step.search_timeline(search, load, per_second).load_end()
        })
        .sum();
    let slowest = first.scaled(0.0);
    let longest = step.search_timeline(search, slowest, Some(f64::MIN_POSITIVE));
    let most = (MOST_SEARCH_LOADS + 2 * MOST_MEASUREMENTS) as u64;
    SearchTime {
        expected: expected * each,
        longest: longest.load_end() * most * each,
    }
}

/// Every system on the medium side by side: its base, its largest data, and what its steps add.
fn space(plan: &ResolvedPlan, medium: MediumId) -> Bytes {
    let systems: Bytes = plan
        .system_ids()
        .filter(|id| plan.system(*id).kind.needs_medium())
        .filter_map(|id| system_space(plan, id, medium))
        .sum();
    systems + backup::space(plan, medium)
}

/// `None`: the system keeps nothing there.
fn system_space(plan: &ResolvedPlan, id: SystemId, medium: MediumId) -> Option<Bytes> {
    let system = plan.system(id);
    let steps: Vec<(&LoadStep, &Workload)> = plan
        .load_steps()
        .filter(|step| step.system == id && step.on.contains(&medium))
        .map(|step| (step, &plan.workload(step.workload).workload))
        .collect();
    let beside = backup::data_of(plan, id, medium);
    let loaded = steps.iter().map(|(_, workload)| *workload);
    let data = data(system.kind.engine(), loaded.chain(beside))?;
    let grown = steps
        .iter()
        .map(|(step, workload)| growth(step, workload))
        .sum();
    Some((space_of(&system.kind) + data + grown) * u64::from(system.count))
}

/// The largest data of each kind: a server keeps those of different kinds side by side.
fn data<'a>(engine: EngineKind, workloads: impl Iterator<Item = &'a Workload>) -> Option<Bytes> {
    let mut tpcc = None;
    let mut sysbench = None;
    for workload in workloads {
        let largest = match workload {
            Workload::Tpcc(_) => &mut tpcc,
            Workload::Sysbench(_) => &mut sysbench,
        };
        *largest = (*largest).max(Some(cost(engine, workload).space));
    }
    tpcc.or(sysbench)?;
    Some(tpcc.into_iter().chain(sysbench).sum())
}

/// Bytes that a step's load adds to the data on one medium. A search repeats loads near the line, which is unknown; a
/// closed loop's assumption serves for it as well, as long as that is no less than its start.
fn growth(step: &LoadStep, workload: &Workload) -> Bytes {
    // The ladder's mean over as many points as there will be.
    let all: f64 = step
        .points
        .iter()
        .map(|load| assumed_rate(step, load))
        .sum();
    let points = all / step.points.len().max(1) as f64 * step.expected_points() as f64;
    let before = step.precondition.map_or(0.0, |before| {
        assumed_rate(step, &before.load) * before.lasts.as_secs_f64()
    });
    let txns = points * step.point_duration().as_secs_f64() + before;
    // A float beyond u64 becomes the largest u64.
    Bytes((txns * growth_per_txn(workload)) as u64)
}

/// Transactions per second of a load.
fn assumed_rate(step: &LoadStep, load: &LoadShape) -> f64 {
    match load {
        LoadShape::Closed { .. } => ASSUMED_PER_SECOND,
        LoadShape::Open { per_second, .. } if step.search.is_some() => {
            per_second.max(ASSUMED_PER_SECOND)
        }
        LoadShape::Open {
            per_second,
            to_per_second,
            ..
        } => per_second.max(*to_per_second),
    }
}
