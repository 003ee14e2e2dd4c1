//! Parsing the command line, with a suggestion for a misspelled command.

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use plimsoll_plan::nearest;

/// Ends the program with a message where the arguments are wrong.
pub fn parse<C: Parser>() -> C {
    C::try_parse().unwrap_or_else(|error| with_suggestion::<C>(error).exit())
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
