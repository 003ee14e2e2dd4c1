//! `plimsoll profile …`.

use clap::{Args, Subcommand};

use super::drive::ListArgs;
use super::format::Format;

#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// List the profiles.
    List(ListArgs),
    /// Show all jobs of a profile and where it comes from.
    Show(ProfileShowArgs),
}

#[derive(Debug, Args)]
pub struct ProfileShowArgs {
    /// A name that `plimsoll profile list` shows.
    pub profile: String,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
