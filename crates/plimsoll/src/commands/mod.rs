//! One file per subcommand.

mod audit;
mod check;
mod compare;
mod doctor;
pub mod drive;
mod export;
mod import;
mod io;
mod list;
mod profile;
mod report;
mod run;
mod set;
mod table;

use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use io::print;

/// Runs a command line.
pub fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::report(&args),
        Command::Export(args) => export::export(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Gate(args) => compare::gate(&args),
        Command::List(args) => list::list(&args),
        Command::Import(args) => import::import(&args),
        Command::Audit(args) => audit::audit(&args),
        Command::Check(args) => check::check(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Drive(command) => drive::drive(&command),
        Command::Profile(command) => profile::profile(&command),
        Command::Schema => print(&plimsoll_plan::json_schema()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "plimsoll", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    }
}
