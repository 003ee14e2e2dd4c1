//! `plimsoll profile`: block workloads that plans can name.

pub(super) mod list;
pub(super) mod show;

use std::process::ExitCode;

use super::io::print;
use crate::cli::ProfileCommand;
use crate::failure::Failure;

pub fn profile(command: &ProfileCommand) -> Result<ExitCode, Failure> {
    match command {
        ProfileCommand::List(args) => print(&list::list(args)),
        ProfileCommand::Show(args) => print(&show::show(args)?),
    }
}
