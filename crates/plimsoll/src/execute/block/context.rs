//! Block points: what is measured, and where.

use plimsoll_plan::StepId;
use plimsoll_plan::resolved::{Block, BlockJob, BlockStep};

use super::target::BlockTarget;

/// Place where points are measured: a step on one of its media, or on all of them at once.
#[derive(Clone, Copy)]
pub(super) struct BlockContext<'a> {
    pub id: StepId,
    pub step: &'a BlockStep,
    /// Name of the step's workload.
    pub workload: &'a str,
    pub block: &'a Block,
    pub target: &'a BlockTarget,
}

/// A job at full speed, or at a share of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockPointSpec<'a> {
    pub job: &'a BlockJob,
    pub job_index: usize,
    pub round: u32,
    /// Running number in the step and round.
    pub ordinal: u32,
    /// Percent of the rate that the job reached at full speed.
    pub share: Option<f64>,
}
