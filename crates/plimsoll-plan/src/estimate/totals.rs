//! What a plan takes: in all, and of each step.

use crate::ids::MediumId;
use crate::units::{Bytes, Nanos};

/// What a plan takes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanEstimate {
    /// Preconditions, ramp and measure of all points on all media. Cooling ends when the last transaction has, so it is
    /// not in.
    pub duration: Nanos,
    /// Starting systems, loading data and checking it; laying out the files of block workloads: rough.
    pub load_duration: Nanos,
    pub per_step: Vec<StepEstimate>,
    /// Free space that is needed below the media's paths, in the plan's order; rough. Devices are not in.
    pub space: Vec<MediumNeed>,
    /// Memory that emulated drives need for what is written on them, in the same way. Those with `backing = "file"`
    /// are in `space` instead.
    pub memory: Vec<MediumNeed>,
}

/// Space or memory that a medium takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediumNeed {
    pub medium: MediumId,
    pub bytes: Bytes,
}

/// A step's share of a [`PlanEstimate`].
#[derive(Debug, Clone, PartialEq)]
pub struct StepEstimate {
    pub step: String,
    /// Points with all repeats, over all media; of a search as many as it takes as a rule, and of rounds until they are
    /// steady as many as there are at most.
    pub points: u64,
    /// Of a search for the load line, whose number of points is unknown: `duration` with every load in the longest window.
    pub longest_search: Option<Nanos>,
    pub duration: Nanos,
    pub load_duration: Nanos,
}

impl PlanEstimate {
    /// Points of all ladders, whose number is known.
    pub fn ladder_points(&self) -> u64 {
        self.per_step
            .iter()
            .filter(|step| step.longest_search.is_none())
            .map(|step| step.points)
            .sum()
    }
}
