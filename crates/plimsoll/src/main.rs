use std::process::ExitCode;

fn main() -> ExitCode {
    plimsoll::failure::set_style();
    let cli = plimsoll::cli::parse();
    plimsoll::commands::dispatch(cli).unwrap_or_else(|failure| failure.exit())
}
