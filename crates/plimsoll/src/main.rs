use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    plimsoll::failure::set_style();
    let cli = plimsoll::cli::Cli::parse();
    plimsoll::commands::dispatch(cli).unwrap_or_else(|failure| failure.exit())
}
