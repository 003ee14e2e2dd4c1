//! One file per subcommand.

mod audit;
mod check;
mod compare;
mod doctor;
pub mod drive;
mod export;
mod import;
mod list;
mod profile;
mod report;
mod run;
mod set;
mod table;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use plimsoll_record::{Integrity, Record};

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use plimsoll_record::runfile;

/// All of a run file, with a warning where it changed after its run.
fn read_run(path: &Path) -> Result<Record, Failure> {
    let record = runfile::read(path)?;
    let file = path.display();
    match record.integrity {
        Integrity::Changed { .. } => {
            eprintln!(
                "warning: {file} does not match its digest: changed or damaged after its run"
            );
        }
        Integrity::NoDigest => {
            eprintln!("warning: {file} has no digest: it was removed after the run");
        }
        Integrity::Intact { .. } | Integrity::Open | Integrity::Older { .. } => {}
    }
    Ok(record)
}

/// Carries out a command line.
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

/// Data goes to stdout. A reader that closes the pipe early (`| head`) is no error.
fn print(text: &str) -> Result<ExitCode, Failure> {
    let mut out = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match write!(out, "{text}{end}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::run(format!(
            "stdout cannot be written to: {error}"
        ))),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// As it could be typed again; passwords are taken out before it is stored.
pub(crate) fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| {
        if !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c))
        {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    std::iter::once("plimsoll".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}
