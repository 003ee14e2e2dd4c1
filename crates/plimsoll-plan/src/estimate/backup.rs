//! What backups take, and the systems that make noise.

use super::cost::{Cost, base, cost};
use super::totals::StepEstimate;
use crate::resolved::{
    BackupStep, Cycles, EngineKind, LoadStep, NoiseWork, ResolvedPlan, Step, System, Workload,
};
use crate::units::{Bytes, Nanos};

/// Bytes per second that a backup or a restore moves: what a SATA drive does while it is read as well. Rough.
const ASSUMED_RATE: f64 = 150e6;

/// Backups with their restores count as load: the rest is starting and loading.
pub(super) fn step_estimate(plan: &ResolvedPlan, step: &BackupStep) -> StepEstimate {
    let backup = plan.backup(&step.backup);
    let workload = backup.and_then(|backup| plan.workload(&backup.data));
    let DataCost {
        loading, checking, ..
    } = data(plan.system(&step.system), workload);
    let turns = step.on.len().max(1) as u64;
    let cycles = u64::from(step.cycles.count);
    let period = step.expected_cycle(plan);
    StepEstimate {
        step: step.name.clone(),
        points: cycles.saturating_mul(turns),
        is_search: false,
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
        let backup = plan.backup(&self.backup);
        let workload = backup.and_then(|backup| plan.workload(&backup.data));
        let passes = if backup.is_some_and(|backup| backup.restore) {
            2.0
        } else {
            1.0
        };
        let bytes = data(plan.system(&self.system), workload).bytes;
        Nanos::from_secs_f64((bytes.0 as f64 * passes / ASSUMED_RATE).ceil()).max(self.cycles.every)
    }
}

/// Starting and loading the systems that make noise.
pub(super) fn neighbours(plan: &ResolvedPlan, step: &LoadStep) -> Nanos {
    let each = step.noise.iter().map(|noise| {
        data(plan.system(&noise.system), plan.noise_data(&noise.work))
            .loading
            .0
    });
    Nanos(each.fold(0, u64::saturating_add))
}

/// Of all instances of a system together.
struct DataCost {
    loading: Nanos,
    checking: Nanos,
    bytes: Bytes,
}

fn data(system: Option<&System>, workload: Option<&Workload>) -> DataCost {
    let engine = system.map_or(EngineKind::Mock, |system| system.kind.engine());
    let instances = system.map_or(1, |system| u64::from(system.count));
    let Cost { load, check, space } =
        workload.map_or(Cost::default(), |workload| cost(engine, workload));
    DataCost {
        loading: Nanos(
            load.0
                .saturating_add(base(engine).start.0)
                .saturating_mul(instances),
        ),
        checking: Nanos(check.0.saturating_mul(instances)),
        bytes: Bytes(space.0.saturating_mul(instances)),
    }
}

/// DataCost sets that a system holds on a medium for backups, or as a neighbour.
pub(super) fn data_of<'a>(plan: &'a ResolvedPlan, system: &str, medium: &str) -> Vec<&'a Workload> {
    let here = plan
        .steps
        .iter()
        .filter(|step| step.on().iter().any(|name| name == medium));
    let held = here.flat_map(|step| match step {
        Step::Backup(step) if step.system == system => plan
            .backup(&step.backup)
            .and_then(|backup| plan.workload(&backup.data))
            .into_iter()
            .collect(),
        Step::Load(step) => {
            let own = step.noise.iter().filter(|noise| noise.system == system);
            own.filter_map(|noise| plan.noise_data(&noise.work))
                .collect()
        }
        Step::Backup(_) | Step::Block(_) => Vec::new(),
    });
    held.collect()
}

/// What backups and restored data take on a medium: those of one cycle at a time.
pub(super) fn space(plan: &ResolvedPlan, medium: &str) -> u64 {
    let needs = plan.steps.iter().flat_map(|step| {
        let of = |system: &str, backup: &str, cycles: &Cycles, restores: bool| {
            let backup = plan.backup(backup);
            let workload = backup.and_then(|backup| plan.workload(&backup.data));
            let DataCost { bytes, .. } = data(plan.system(system), workload);
            let targets = step
                .on()
                .iter()
                .filter(|on| cycles.to.medium(on) == medium)
                .count()
                .min(1) as u64;
            let restores = restores && backup.is_some_and(|backup| backup.restore);
            let restored = u64::from(restores && step.on().iter().any(|on| on == medium));
            bytes.0.saturating_mul(targets + restored)
        };
        match step {
            Step::Backup(step) => vec![of(&step.system, &step.backup, &step.cycles, true)],
            Step::Load(step) => {
                let backups = step.noise.iter().filter_map(|noise| match &noise.work {
                    NoiseWork::Backup { backup, cycles } => {
                        Some(of(&noise.system, backup, cycles, false))
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
