//! Block workloads in virtual time: the clock jumps from completion to completion.
//!
//! A closed loop keeps so many requests in flight; an open loop sends them at a rate whatever becomes of them, and
//! response times count from when a request was due. Equal seeds give equal results.

mod closed;
mod offsets;
mod open;
mod profile;
mod rebuild;
mod replay;
mod result;
mod sheet;
mod synced;

use plimsoll_plan::units::Bytes;

use crate::model::Setup;
use crate::spec::DriveSpec;
use crate::storage_model::StorageModel;

pub use profile::{
    AccessOrder, Arrival, ArrivalSpacing, PROFILES, SimulatedProfile, UnknownSimulatedProfile,
    named,
};
pub use rebuild::rebuild_rate;
pub use replay::{ReplayedRequests, replay};
pub use result::{SeedResults, Side, SimulatedResult};
pub use sheet::{Compared, at_stated_point, compare};
pub use synced::synced_per_second;

/// Simulates a workload on a drive, or on an array, of its full size.
pub fn simulate(spec: &DriveSpec, profile: &SimulatedProfile) -> SimulatedResult {
    simulate_scaled(spec, spec.capacity, profile)
}

/// Simulates a workload with each of `seeds` seeds, at least one, from the profile's own on. Where a cluster's data lie
/// depends on the seed.
pub fn simulate_seeds(spec: &DriveSpec, profile: &SimulatedProfile, seeds: u32) -> SeedResults {
    let seed = |number: u32| SimulatedProfile {
        seed: profile.seed.wrapping_add(u64::from(number)),
        ..profile.clone()
    };
    let results = (0..seeds.max(1)).map(|number| simulate(spec, &seed(number)));
    SeedResults::of(results.collect()).expect("there is at least one")
}

/// Simulates a workload on a drive that is made smaller.
pub fn simulate_scaled(
    spec: &DriveSpec,
    capacity: Bytes,
    profile: &SimulatedProfile,
) -> SimulatedResult {
    let setup = Setup {
        capacity,
        fill: profile.fill,
        seed: profile.seed,
        ignores_flush: false,
    };
    let mut storage = StorageModel::new(spec, &setup);
    let result = run(&mut storage, capacity, profile);
    SimulatedResult {
        rebuilt: storage
            .assembled()
            .map(|own| own.rebuilt())
            .unwrap_or_default(),
        ..result
    }
}

fn run(storage: &mut StorageModel, capacity: Bytes, profile: &SimulatedProfile) -> SimulatedResult {
    match profile.load {
        Arrival::Closed { depth, jobs } => closed::run(storage, capacity, profile, depth, jobs),
        Arrival::Open {
            per_second,
            arrivals,
            depth,
            most_waiting,
        } => open::run(
            storage,
            capacity,
            profile,
            &open::Rate {
                per_second,
                arrivals,
                depth,
                most_waiting,
            },
        ),
    }
}

#[cfg(test)]
mod tests;
