//! What simulating costs: `cargo run --release --example simulate_cost -- DRIVE PROFILE DEPTH REQUESTS`.
//!
//! Simulates so many requests of a profile and prints how many a simulated second had, and how many were counted. Who
//! runs it measures its CPU time.

#![allow(clippy::print_stdout)]

use plimsoll_drive::catalog;
use plimsoll_drive::simulate::{Arrival, named, simulate};
use plimsoll_plan::units::Nanos;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [drive, profile, depth, requests] = arguments.as_slice() else {
        return Err("simulate_cost DRIVE PROFILE DEPTH REQUESTS".into());
    };
    let entry = catalog::find(drive)?;
    let spec = catalog::load(entry.name, entry.text)?;
    let mut profile = named(profile)?;
    profile.load = Arrival::Closed {
        depth: depth.parse()?,
        jobs: 1,
    };
    (profile.warm, profile.measure) = (Nanos::ZERO, Nanos::from_secs(1_000_000));
    profile.most_ops = requests.parse()?;
    let outcome = simulate(&spec, &profile);
    println!("{:.0} per simulated second", outcome.iops());
    println!("{} requests", outcome.reads.ops + outcome.writes.ops);
    Ok(())
}
