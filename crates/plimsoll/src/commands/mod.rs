//! One file per subcommand.

mod audit;
mod bench;
mod check;
mod clean;
mod compare;
mod doctor;
pub mod drive;
mod export;
mod import;
mod init;
mod io;
mod join;
mod list;
mod man;
mod pdf;
mod plans;
mod predict;
mod profile;
mod report;
mod run;
mod serve;
mod set;
mod table;
mod worker;

use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, CliCommand};
use crate::failure::Failure;
use io::print;

/// Runs a command line.
pub fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        CliCommand::Run(args) => run::run(&args),
        CliCommand::Bench(args) => bench::bench(&args),
        CliCommand::Plans(args) => print(&plans::plans(&args)?),
        CliCommand::Init(args) => init::init(&args),
        CliCommand::Join(args) => join::join(&args),
        CliCommand::Report(args) => report::report(&args),
        CliCommand::Export(args) => export::export(&args),
        CliCommand::Compare(args) => compare::compare(&args),
        CliCommand::Gate(args) => compare::gate(&args),
        CliCommand::List(args) => list::list(&args),
        CliCommand::Serve(args) => serve::serve(&args),
        CliCommand::Import(args) => import::import(&args),
        CliCommand::Audit(args) => audit::audit(&args),
        CliCommand::Check(args) => check::check(&args),
        CliCommand::Clean(args) => clean::clean(&args),
        CliCommand::Doctor(args) => doctor::doctor(&args),
        CliCommand::Drive(command) => drive::drive(&command),
        CliCommand::Predict(args) => predict::predict(&args),
        CliCommand::Profile(command) => profile::profile(&command),
        CliCommand::Worker(args) => worker::worker(&args),
        CliCommand::Schema => print(&plimsoll_plan::json_schema()),
        CliCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "plimsoll", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
        CliCommand::Man { dir } => man::man(&dir),
    }
}
