//! What backups take, and the systems that make noise.

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
        duration: Nanos(period.0.saturating_mul(cycles).saturating_mul(turns)),
        load_duration: Nanos(
            loading
                .0
                .saturating_add(checking.0.saturating_mul(cycles))
                .saturating_mul(turns),
        ),
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
    let each = step.noise.iter().map(|noise| {
        data(plan.system(noise.system), plan.noise_data(&noise.work))
            .loading
            .0
    });
    Nanos(each.fold(0, u64::saturating_add))
}

/// Of all instances of a system together.
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
        loading: Nanos(
            load.0
                .saturating_add(engine.info().start.0)
                .saturating_mul(instances),
        ),
        checking: Nanos(check.0.saturating_mul(instances)),
        bytes: Bytes(space.0.saturating_mul(instances)),
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

/// What backups and restored data take on a medium: those of one cycle at a time.
pub(super) fn space(plan: &ResolvedPlan, medium: MediumId) -> u64 {
    let needs = plan.steps.iter().flat_map(|step| {
        let of = |system: SystemId, backup: BackupId, cycles: &Cycles, restores: bool| {
            let LoadedData { bytes, .. } = saved_data(plan, system, backup);
            let targets = step
                .on()
                .iter()
                .filter(|on| cycles.to.medium(**on) == medium)
                .count()
                .min(1) as u64;
            let restores = restores && plan.backup(backup).backup.restore;
            let restored = u64::from(restores && step.on().contains(&medium));
            bytes.0.saturating_mul(targets + restored)
        };
        match step {
            Step::Backup(step) => vec![of(step.system, step.backup, &step.cycles, true)],
            Step::Load(step) => {
                let backups = step.noise.iter().filter_map(|noise| match &noise.work {
                    NoiseWork::Backup { backup, cycles } => {
                        Some(of(noise.system, *backup, cycles, false))
                    }
                    NoiseWork::Load { .. } => None,
                });
                backups.collect()
            }
            Step::Block(_) => Vec::new(),
        }
    });
    needs.max().unwrap_or(0)
}
