//! `plimsoll doctor`: what is wrong with a machine, a medium or all media of a plan, before anything is measured there.

mod examined;
mod show;

use std::process::ExitCode;

use plimsoll_block::doctor::checks;
use plimsoll_block::doctor::gather::{self, Counters, GatherOptions, Quiet};
use plimsoll_load::clock::Clock;
use plimsoll_plan::units::Nanos;
use plimsoll_record::DiagnosisLevel;

use super::io::print;
use crate::cli::{DoctorArgs, DoctorFormat};
use crate::failure::Failure;
use crate::known;
use crate::progress::Progress;
use crate::signals::Interrupt;

/// How long plimsoll is idle and measures the load of others.
const QUIET: Nanos = Nanos::from_secs(2);
/// Blocks that are read, and for how long at most.
const BLOCKS: u32 = 256;
const PATIENCE: Nanos = Nanos::from_millis(1_500);
/// An error stands.
const ERRORS: u8 = 3;

pub fn doctor(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let subjects = examined::of(args)?;
    let interrupt = Interrupt::listen()
        .map_err(|error| Failure::run(format!("cannot receive signals: {error}")))?;
    let clock = Clock::real();
    let progress = Progress::new(args.quiet || args.format == DoctorFormat::Json, Nanos::ZERO);
    progress.begin(
        clock.now(),
        &format!("keeping still for {QUIET}, to see what others do"),
    );
    let now = || clock.now();
    let before = Counters::read(&now);
    clock.block_until(clock.now() + QUIET);
    let quiet = Quiet {
        before,
        after: Counters::read(&now),
    };
    let machine = checks::machine(&gather::machine(Some(&quiet)));
    let catalog = known::catalog();
    let mut examined = Vec::new();
    for subject in subjects {
        stopped(&interrupt)?;
        progress.begin(clock.now(), &format!("looking at {}", subject.name()));
        let options = GatherOptions {
            now: &now,
            quiet: Some(&quiet),
            known: &catalog,
            is: None,
            users: true,
            health: true,
            blocks: BLOCKS,
            patience: PATIENCE,
            seed: args.seed,
        };
        examined.push(subject.examine(&options)?);
    }
    stopped(&interrupt)?;
    progress.finish();
    let worst = machine
        .iter()
        .chain(examined.iter().flat_map(|medium| &medium.findings))
        .map(|row| row.level)
        .max();
    print(&match args.format {
        DoctorFormat::Table => show::table(&machine, &examined, show::width()),
        DoctorFormat::Json => show::json(&machine, &examined),
    })?;
    Ok(if worst == Some(DiagnosisLevel::Error) {
        ExitCode::from(ERRORS)
    } else {
        ExitCode::SUCCESS
    })
}

/// What was made for the test is removed on the way out.
fn stopped(interrupt: &Interrupt) -> Result<(), Failure> {
    if interrupt.is_wanted() {
        Err(Failure::run("interrupted: nothing is left behind"))
    } else {
        Ok(())
    }
}
