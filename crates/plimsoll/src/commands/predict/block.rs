//! `plimsoll predict --block`: a block workload on a drive, from the simulator alone.

use crate::cli::{PredictArgs, SimulateArgs, Spacing};
use crate::commands::drive::simulate::simulate;
use crate::failure::Failure;

/// What `plimsoll drive simulate` shows: the emulated drive answers as its simulator does.
pub(super) fn predict(profile: &str, args: &PredictArgs) -> Result<String, Failure> {
    simulate(&SimulateArgs {
        drive: args.drive.clone().unwrap_or_default(),
        profile: Some(profile.to_owned()),
        block: None,
        capacity: None,
        requests: None,
        read: None,
        depth: None,
        jobs: None,
        rate: None,
        arrivals: Spacing::Poisson,
        fill: None,
        working_set: None,
        seconds: None,
        seed: 1,
        seeds: None,
        format: args.format,
    })
}
