//! How long a plan takes and how much space it needs, before anything is touched.
//!
//! All constants are estimates, to be calibrated with `cargo xtask bench load`; they err on the large side, because a
//! full disk ends a run and spare space does not.

use super::resolved::{CheckPolicy, DriveBacking, EngineKind, Medium, ResolvedPlan, Step, Workload};
use crate::lane::LoadShape;
use crate::units::{Bytes, Nanos};

/// What a plan takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Ramp and measure of all ladder points on all media. Cooling ends when the last transaction has, so it is not in.
    pub duration: Nanos,
    /// Starting systems, loading data and checking it: rough.
    pub load_duration: Nanos,
    pub per_step: Vec<StepEstimate>,
    /// Free space that is needed below the media's paths, by name of the medium, in the plan's order; rough.
    pub space: Vec<(String, Bytes)>,
    /// Memory that emulated drives need for what is written on them, in the same way. Those with `backing = "file"`
    /// are in `space` instead.
    pub memory: Vec<(String, Bytes)>,
}

/// A step's share of an [`Estimate`].
#[derive(Debug, Clone, PartialEq)]
pub struct StepEstimate {
    pub step: String,
    /// Ladder points, over all media.
    pub points: u64,
    pub duration: Nanos,
    pub load_duration: Nanos,
}

/// What an engine's data takes. Estimates.
struct Cost {
    /// Time to start the system, and to load and to check one warehouse.
    start: Nanos,
    load: Nanos,
    check: Nanos,
    /// Space that the system takes without data, and per warehouse with indexes.
    base: Bytes,
    warehouse: Bytes,
}

fn cost(engine: EngineKind) -> Cost {
    let millis = Nanos::from_millis;
    match engine {
        EngineKind::Mock => {
            Cost { start: Nanos::ZERO, load: Nanos::ZERO, check: Nanos::ZERO, base: Bytes(0), warehouse: Bytes(0) }
        }
        // The WAL file grows with the longest transaction, the load.
        EngineKind::Sqlite => Cost {
            start: millis(100),
            load: millis(5_000),
            check: millis(500),
            base: Bytes::mib(64),
            warehouse: Bytes(90 * MB),
        },
        // An empty cluster takes 40 MB, and the WAL up to max_wal_size (default 1 GB), exceeded for a while under load.
        EngineKind::Postgres => Cost {
            start: millis(4_000),
            load: millis(4_000),
            check: millis(500),
            base: Bytes(1_200 * MB),
            warehouse: Bytes(110 * MB),
        },
        // System tables, redo log (96 MiB), undo and temporary tablespaces.
        EngineKind::Mariadb => Cost {
            start: millis(8_000),
            load: millis(6_000),
            check: millis(1_500),
            base: Bytes(600 * MB),
            warehouse: Bytes(140 * MB),
        },
    }
}

/// Decimal megabytes.
const MB: u64 = 1_000_000;

/// A transaction of the mix leaves about 0.45 orders with 10 lines (clauses 2.4.1.3 and 5.2.3) and 0.43 history rows:
/// some 0.6 kB of rows, doubled for indexes and for versions of updated rows that are not cleaned up yet.
const GROWTH_PER_TXN: f64 = 1_200.0;

/// Journal and tables of a filesystem on an emulated drive: mke2fs makes a journal of 256 MiB from 32 GiB upwards.
const FILESYSTEM: Bytes = Bytes::mib(288);

/// Transactions per second assumed of a closed loop, whose speed nobody knows before.
const ASSUMED_PER_SECOND: f64 = 2_000.0;

/// What the plan takes. Sums saturate.
pub fn estimate(plan: &ResolvedPlan) -> Estimate {
    let per_step: Vec<StepEstimate> = plan.steps.iter().map(|step| step_estimate(plan, step)).collect();
    let total = |part: fn(&StepEstimate) -> Nanos| {
        per_step.iter().fold(Nanos::ZERO, |sum, step| Nanos(sum.0.saturating_add(part(step).0)))
    };
    let (memory, space) = plan.media.iter().partition::<Vec<&Medium>, _>(|medium| is_in_memory(medium));
    let needs = |media: Vec<&Medium>| media.iter().map(|medium| (medium.name.clone(), needed(plan, medium))).collect();
    Estimate {
        duration: total(|step| step.duration),
        load_duration: total(|step| step.load_duration),
        space: needs(space),
        memory: needs(memory),
        per_step,
    }
}

fn is_in_memory(medium: &Medium) -> bool {
    medium.kind.emulated().is_some_and(|drive| drive.backing == DriveBacking::Memory)
}

/// What steps put on the medium; on an emulated drive that is used its filesystem too.
fn needed(plan: &ResolvedPlan, medium: &Medium) -> Bytes {
    let data = space(plan, &medium.name);
    let emulated = medium.kind.emulated().is_some() && data > Bytes(0);
    Bytes(data.0.saturating_add(if emulated { FILESYSTEM.0 } else { 0 }))
}

fn step_estimate(plan: &ResolvedPlan, step: &Step) -> StepEstimate {
    let rounds = step.on.len().max(1) as u64;
    let points = step.points.len() as u64 * rounds;
    let warehouses = u64::from(warehouses(plan, step));
    let cost = engine(plan, step).map_or(cost(EngineKind::Mock), cost);
    let checks = match step.check {
        CheckPolicy::EachPoint => points,
        CheckPolicy::EndOfStep => rounds,
        CheckPolicy::Off => 0,
    };
    let times = |nanos: Nanos, n: u64| nanos.0.saturating_mul(n);
    let load = times(cost.load, warehouses).saturating_add(cost.start.0);
    let check = times(cost.check, warehouses);
    StepEstimate {
        step: step.name.clone(),
        points,
        duration: Nanos(times(step.point_duration(), points)),
        load_duration: Nanos(load.saturating_mul(rounds).saturating_add(check.saturating_mul(checks))),
    }
}

/// Every system on the medium side by side: its base, its largest data, and what its steps add.
fn space(plan: &ResolvedPlan, medium: &str) -> Bytes {
    let on_medium = plan.systems.iter().filter(|system| system.kind.needs_medium()).filter_map(|system| {
        let here = |step: &&Step| step.system == system.name && step.on.iter().any(|name| name == medium);
        let steps: Vec<&Step> = plan.steps.iter().filter(here).collect();
        let warehouses = steps.iter().map(|step| u64::from(warehouses(plan, step))).max()?;
        let cost = cost(system.kind.engine());
        let grown = steps.iter().fold(0u64, |sum, step| sum.saturating_add(growth(step)));
        Some(cost.base.0.saturating_add(cost.warehouse.0.saturating_mul(warehouses)).saturating_add(grown))
    });
    Bytes(on_medium.fold(0, u64::saturating_add))
}

/// What a step's load adds to the data on one medium.
fn growth(step: &Step) -> u64 {
    let per_second = step.points.iter().map(|point| match point {
        LoadShape::Closed { .. } => ASSUMED_PER_SECOND,
        LoadShape::Open { per_second, to_per_second, .. } => per_second.max(*to_per_second),
    });
    let txns: f64 = per_second.map(|rate| rate * step.point_duration().as_secs_f64()).sum();
    // A float beyond u64 becomes the largest u64.
    (txns * GROWTH_PER_TXN) as u64
}

fn engine(plan: &ResolvedPlan, step: &Step) -> Option<EngineKind> {
    plan.system(&step.system).map(|system| system.kind.engine())
}

fn warehouses(plan: &ResolvedPlan, step: &Step) -> u32 {
    plan.workload(&step.workload).map_or(0, |workload| match workload {
        Workload::Tpcc(tpcc) => tpcc.warehouses,
    })
}
