//! Parsing the command line, with a suggestion for a misspelled command.

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};
use plimsoll_plan::nearest;

use super::Cli;

/// Ends the program with a message where the arguments are wrong.
pub fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| with_suggestion(error).exit())
}

/// clap compares letters by place, and so finds nothing for three of them in another order.
fn with_suggestion(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let command = Cli::command();
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
