//! Figures of block I/O: of each job on each medium, over its rounds, with its curve.

mod findings;
mod job;
mod point;
mod step;
mod summary;

pub(super) use step::of_run;
pub use summary::{
    BlockCurvePoint, BlockFigures, BlockJobSummary, BlockMedium, BlockOpSummary, BlockPlace,
    BlockPointSummary, BlockSecond, BlockSummary, BlockWorkerSummary, Rounds, RoundsOfJob,
};

#[cfg(test)]
mod tests;
