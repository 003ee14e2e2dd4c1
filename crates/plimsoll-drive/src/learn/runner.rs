//! The measurement: one run of fio after the other.

use std::fs;

use plimsoll_block::BlockError;
use plimsoll_block::fio::{Flow, command_line, failed, run};
use plimsoll_model::fio::{self, LogLine};

use super::jobs::{Options, Place, Step, arguments, steps};
use super::measured::{Measured, Outcome};

/// Carries out every step. `begin` hears of each before it starts; `tick` is asked ten times a second.
pub fn measure(
    place: &Place,
    options: &Options,
    mut begin: impl FnMut(usize, &Step),
    mut tick: impl FnMut() -> Flow,
) -> Result<Measured, BlockError> {
    let mut measured = Measured::default();
    for (number, step) in steps(options).iter().enumerate() {
        begin(number, step);
        let args = arguments(step, number, place, options);
        let output = run(&step.name(), &args, &mut tick)?;
        match step {
            Step::LayOut => {}
            Step::Burst => measured.burst = log(step, &args, place)?,
            Step::Load(profile, _) => {
                let outcome = output.jobs.first().and_then(|job| Outcome::of(profile, job));
                let nothing = || failed(&step.name(), &args, "not one request was answered in the time it had");
                measured.add(*profile, outcome.ok_or_else(nothing)?);
            }
        }
    }
    Ok(measured)
}

fn log(step: &Step, args: &[String], place: &Place) -> Result<Vec<LogLine>, BlockError> {
    let mut path = place.log.clone().into_os_string();
    path.push("_bw.1.log");
    let text = fs::read_to_string(&path).map_err(|error| failed(&step.name(), args, error))?;
    fio::parse_log(&text).map_err(|error| BlockError::Output { job: step.name(), error, command: command_line(args) })
}
