//! The data sheet's points, simulated: whether the model does what the maker states.

use plimsoll_plan::units::{Bytes, Nanos};

use super::{AccessOrder, Arrival, SimulatedProfile, SimulatedResult, simulate};
use crate::spec::{DriveSpec, Mechanism, Stated};

/// A stated figure beside the simulated one.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    pub stated: Stated,
    /// In the unit of the stated value.
    pub simulated: f64,
    pub outcome: SimulatedResult,
}

impl Compared {
    pub fn deviation_percent(&self) -> f64 {
        (self.simulated / self.stated.value - 1.0) * 100.0
    }
}

/// The workload that a stated figure is measured with.
pub fn at_stated_point(spec: &DriveSpec, stated: &Stated, seed: u64) -> SimulatedProfile {
    // What is written first goes into the buffer, and what a volume is asked for first comes out of its burst: both have
    // to be used up before the drive's own pace shows.
    let is_slow = !stated.point.is_read() || matches!(spec.mechanism, Mechanism::Volume(_));
    let warm_ms = if is_slow { 1000 } else { 20 };
    let is_sequential = stated.point.is_sequential();
    // The sequential figures of disks hold at the outer edge.
    let edge = is_sequential && matches!(spec.mechanism, Mechanism::Disk(_));
    SimulatedProfile {
        block: Bytes(stated.block),
        read_share: if stated.point.is_read() { 1.0 } else { 0.0 },
        order: if is_sequential {
            AccessOrder::Sequential
        } else {
            AccessOrder::Random
        },
        load: Arrival::Closed {
            depth: stated.depth,
            jobs: 1,
        },
        working_share: if edge { 0.02 } else { 1.0 },
        fill: stated.fill,
        warm: slowed(Nanos::from_millis(warm_ms), spec),
        measure: slowed(Nanos::from_secs(120), spec),
        most_ops: if is_sequential { 10_000 } else { 50_000 }.min(u64::from(stated.depth) * 5_000),
        seed,
    }
}

fn slowed(time: Nanos, spec: &DriveSpec) -> Nanos {
    Nanos((time.0 as f64 * spec.slower) as u64)
}

/// All figures that the drive's file states, simulated.
pub fn compare(spec: &DriveSpec, seed: u64) -> Vec<Compared> {
    spec.stated
        .iter()
        .map(|stated| compare_one(spec, stated, seed))
        .collect()
}

fn compare_one(spec: &DriveSpec, stated: &Stated, seed: u64) -> Compared {
    let outcome = simulate(spec, &at_stated_point(spec, stated, seed));
    Compared {
        stated: *stated,
        simulated: if stated.point.is_sequential() {
            outcome.bytes_per_second()
        } else {
            outcome.iops()
        },
        outcome,
    }
}
