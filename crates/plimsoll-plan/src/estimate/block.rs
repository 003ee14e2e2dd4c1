//! Time and space of block workloads.

use super::totals::StepEstimate;
use crate::ids::MediumId;
use crate::resolved::{Block, BlockStep, BlockWork, MediumKind, ResolvedPlan, Step};
use crate::units::{Bytes, Nanos};

/// Bytes per second at which files are laid out, of all workers together: what a SATA drive writes under others. Rough.
const ASSUMED_LAYOUT: f64 = 200e6;

impl Block {
    /// Points of a round: each job at full speed, and at each rate of its curve.
    pub fn points_per_round(&self) -> u64 {
        match &self.work {
            BlockWork::Jobs(jobs) => jobs.iter().map(|job| 1 + job.curve.len() as u64).sum(),
            BlockWork::File { .. } => 1,
        }
    }

    /// Space of its files on a medium.
    pub fn space(&self) -> Bytes {
        self.size * u64::from(self.workers)
    }
}

/// With as many rounds as there are at most.
pub(super) fn step_estimate(plan: &ResolvedPlan, step: &BlockStep) -> StepEstimate {
    let block = &plan.block(step.workload).block;
    let turns = if step.at_once {
        1
    } else {
        step.on.len() as u64
    };
    let points = block
        .points_per_round()
        .saturating_mul(u64::from(step.rounds))
        .saturating_mul(turns);
    let written = block.space().0 as f64 * block.fill;
    // Whole seconds: it is rough enough.
    let layout = Nanos::from_secs_f64((written / ASSUMED_LAYOUT).ceil());
    StepEstimate {
        step: step.name.clone(),
        points,
        longest_search: None,
        duration: (step.warm + step.measure) * points,
        load_duration: layout * turns,
    }
}

/// Space that block steps take on a medium. They remove their files, but an emulated drive does not hear of that.
pub(super) fn space(plan: &ResolvedPlan, medium: MediumId) -> Bytes {
    let here = plan.steps.iter().filter_map(|step| match step {
        Step::Block(step) if step.on.contains(&medium) => {
            Some(plan.block(step.workload).block.space())
        }
        _ => None,
    });
    match &plan.medium(medium).kind {
        MediumKind::Device => Bytes(0),
        MediumKind::Directory => here.max().unwrap_or_default(),
        MediumKind::Emulated(drive) => here.sum::<Bytes>().min(drive.capacity),
    }
}
