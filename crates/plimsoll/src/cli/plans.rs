//! Arguments of `plimsoll plans` and `plimsoll init`.

use std::path::PathBuf;

use clap::Args;

use super::format::Format;

#[derive(Debug, Args)]
pub struct PlansArgs {
    /// Also those of published tests, at their full size.
    #[arg(long)]
    pub all: bool,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// A name that `plimsoll plans` shows [default: the plan of `plimsoll bench sqlite`].
    pub name: Option<String>,
    /// Where the plan goes; - is standard output [default: NAME.toml, else plan.toml]. A file that exists is kept.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
