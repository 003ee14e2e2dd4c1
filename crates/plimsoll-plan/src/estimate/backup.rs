//! Time and space of backups, and of the systems that make noise.

use super::cost::cost;
use super::totals::StepEstimate;
use crate::engine::DataCost;
use crate::ids::{BackupId, MediumId, SystemId};
use crate::resolved::{
    BackupStep, Cycles, LoadStep, NoiseWork, ResolvedPlan, Step, System, Workload,
};
use crate::units::{Bytes, Nanos};

/// Bytes per second that a backup or a restore moves: what a SATA drive does while it is read as well. Rough.
const ASSUMED_RATE: f64 = 150e6;

/// Backups with their restores count as load: the rest is starting and loading.
pub(super) fn step_estimate(plan: &ResolvedPlan, step: &BackupStep) -> StepEstimate {
    let LoadedData {
        loading, checking, ..
    } = saved_data(plan, step.system, step.backup);
    let turns = step.on.len().max(1) as u64;
    let cycles = u64::from(step.cycles.count);
    let period = step.expected_cycle(plan);
    StepEstimate {
        step: step.name.clone(),
        points: cycles.saturating_mul(turns),
        longest_search: None,
        duration: period * cycles * turns,
        load_duration: (loading + checking * cycles) * turns,
    }
}

impl BackupStep {
    /// From one backup to the next, on one medium. Rough.
    pub fn expected_cycle(&self, plan: &ResolvedPlan) -> Nanos {
        let passes = if plan.backup(self.backup).backup.restore {
            2.0
        } else {
            1.0
        };
        let bytes = saved_data(plan, self.system, self.backup).bytes;
        Nanos::from_secs_f64((bytes.0 as f64 * passes / ASSUMED_RATE).ceil()).max(self.cycles.every)
    }
}

/// Starting and loading the systems that make noise.
pub(super) fn neighbours(plan: &ResolvedPlan, step: &LoadStep) -> Nanos {
    step.noise
        .iter()
        .map(|noise| data(plan.system(noise.system), plan.noise_data(&noise.work)).loading)
        .sum()
}

/// Data of all instances of a system together.
struct LoadedData {
    loading: Nanos,
    checking: Nanos,
    bytes: Bytes,
}

fn saved_data(plan: &ResolvedPlan, system: SystemId, backup: BackupId) -> LoadedData {
    let saved = plan.backup(backup).backup.data;
    data(plan.system(system), &plan.workload(saved).workload)
}

fn data(system: &System, workload: &Workload) -> LoadedData {
    let engine = system.kind.engine();
    let instances = u64::from(system.count);
    let DataCost { load, check, space } = cost(engine, workload);
    LoadedData {
        loading: (load + engine.info().start) * instances,
        checking: check * instances,
        bytes: space * instances,
    }
}

/// Data sets that a system holds on a medium for backups, or as a neighbor.
pub(super) fn data_of(plan: &ResolvedPlan, system: SystemId, medium: MediumId) -> Vec<&Workload> {
    let here = plan.steps.iter().filter(|step| step.on().contains(&medium));
    let held = here.flat_map(|step| match step {
        Step::Backup(step) if step.system == system => {
            let saved = plan.backup(step.backup).backup.data;
            vec![&plan.workload(saved).workload]
        }
        Step::Load(step) => {
            let own = step.noise.iter().filter(|noise| noise.system == system);
            own.map(|noise| plan.noise_data(&noise.work)).collect()
        }
        Step::Backup(_) | Step::Block(_) => Vec::new(),
    });
    held.collect()
}

/// Space of backups and restored data on a medium: those of one cycle at a time.
pub(super) fn space(plan: &ResolvedPlan, medium: MediumId) -> Bytes {
    let of_cycle = |on: &[MediumId], system, backup: BackupId, cycles: &Cycles, restores: bool| {
        let is_target = on.iter().any(|on| cycles.to.medium(*on) == medium);
        let is_restored = restores && plan.backup(backup).backup.restore && on.contains(&medium);
        saved_data(plan, system, backup).bytes * (u64::from(is_target) + u64::from(is_restored))
    };
    let mut largest = Bytes(0);
    for step in &plan.steps {
        match step {
            Step::Backup(own) => {
                let bytes = of_cycle(&own.on, own.system, own.backup, &own.cycles, true);
                largest = largest.max(bytes);
            }
            Step::Load(own) => {
                for noise in &own.noise {
                    if let NoiseWork::Backup { backup, cycles } = &noise.work {
                        let bytes = of_cycle(&own.on, noise.system, *backup, cycles, false);
                        largest = largest.max(bytes);
                    }
                }
            }
            Step::Block(_) => {}
        }
    }
    largest
}
