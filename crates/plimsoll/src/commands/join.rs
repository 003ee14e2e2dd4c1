//! `plimsoll join`: completes the file of a run whose plimsoll was killed.

use std::process::ExitCode;

use super::io::print;
use crate::cli::JoinArgs;
use crate::execute;
use crate::failure::Failure;
use crate::shell::quoted;
use crate::signals::Interrupt;

pub fn join(args: &JoinArgs) -> Result<ExitCode, Failure> {
    let interrupt = Interrupt::listen()
        .map_err(|error| Failure::run(format!("cannot receive signals: {error}")))?;
    let joined = execute::join(&args.run, &interrupt, args.quiet)?;
    let run = quoted(&joined.run_file);
    print(&format!("{}\nReport: plimsoll report {run}", joined.text))
}
