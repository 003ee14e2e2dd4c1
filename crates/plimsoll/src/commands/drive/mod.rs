//! `plimsoll drive`: the catalog, and what is done with a drive of it.

pub(super) mod assembly;
mod cut;
mod learn;
mod learn_time;
pub(super) mod list;
mod mount;
pub(super) mod reliability;
pub(super) mod replay;
pub(super) mod request_stats;
pub(super) mod show;
pub(super) mod simulate;

use std::process::ExitCode;

use super::io::print;
use crate::cli::DriveCommand;
use crate::failure::Failure;

pub fn drive(command: &DriveCommand) -> Result<ExitCode, Failure> {
    match command {
        DriveCommand::List(args) => print(&list::list(args)?),
        DriveCommand::Show(args) => print(&show::show(args)?),
        DriveCommand::Simulate(args) => print(&match &args.requests {
            Some(file) => replay::replay_file(file, args)?,
            None => simulate::simulate(args)?,
        }),
        DriveCommand::Reliability(args) => print(&reliability::reliability(args)?),
        DriveCommand::Mount(args) => mount::mount(args),
        DriveCommand::Cut(args) => cut::cut(args),
        DriveCommand::Learn(args) => learn::learn(args),
    }
}
