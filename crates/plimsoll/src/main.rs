use std::process::ExitCode;

fn main() -> ExitCode {
    plimsoll::memory::keep_from_dumps();
    plimsoll::failure::set_style();
    match plimsoll::cli::parse() {
        Ok(cli) => plimsoll::commands::dispatch(cli).unwrap_or_else(|failure| failure.exit()),
        Err(code) => code,
    }
}
