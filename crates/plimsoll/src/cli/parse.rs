//! Parsing the command line, with a suggestion for a misspelled command.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use plimsoll_plan::nearest;

use crate::failure::without_passwords;
use crate::terminal::note;

/// The command line.
///
/// # Errors
/// The exit code, once what is wrong with the arguments, the help or the version is printed.
pub fn parse<C: Parser>() -> Result<C, ExitCode> {
    let parsed = command::<C>()
        .try_get_matches()
        .and_then(|matches| C::from_arg_matches(&matches));
    parsed.map_err(|error| print(&with_suggestion::<C>(error)))
}

/// Without a terminal each command and option is one line, for programs that search them.
fn command<C: Parser>() -> clap::Command {
    match std::io::stdout().is_terminal() {
        true => C::command(),
        false => C::command().term_width(0),
    }
}

fn print(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // Arguments may be names of files of others: without colors, all control characters are theirs.
        let text = error.render().to_string();
        note!("{}", without_passwords(text).trim_end());
        return ExitCode::from(2);
    }
    match error.print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            note!("error: stdout cannot be written to: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// clap compares letters by place, and so finds nothing for three of them in another order.
fn with_suggestion<C: Parser>(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let command = C::command();
    let name = nearest(
        written,
        command.get_subcommands().map(clap::Command::get_name),
    )
    .map(str::to_owned);
    if let (Some(name), None) = (name, error.get(ContextKind::SuggestedSubcommand)) {
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(vec![name]),
        );
    }
    error
}
