//! Flags that several commands share.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::format::Format;
use super::serve::LISTEN;
use super::value;

/// What a run of a plan and of `bench` have in common.
#[derive(Debug, Clone, Args)]
pub struct RunFlags {
    /// Seed of the inputs, instead of the plan's or of one drawn for this run: the recorded one repeats a run.
    #[arg(long, value_parser = value::seed())]
    pub seed: Option<u64>,
    /// Allow block steps to overwrite this device, or file or directory in a job file: ITS DATA IS LOST. It must be given
    /// by its own name and not be in use. Repeatable.
    #[arg(long, value_name = "PATH")]
    pub overwrite: Vec<PathBuf>,
    /// Label of this run in lists and histories: a version, a commit of the database.
    #[arg(long, value_parser = value::line)]
    pub label: Option<String>,
    /// Show the run in a browser while it goes on: its figures second by second [default address: 127.0.0.1:7070].
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, require_equals = true, default_missing_value = LISTEN)]
    pub serve: Option<SocketAddr>,
    /// Print the resolved plan, its duration and the space it needs; touch nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// No progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print all tables, conditions and findings below the answer.
    #[arg(short, long)]
    pub verbose: bool,
    /// Emulate modeled drives in real time, also where plimsoll would simulate them in virtual time: SQLite alone.
    #[arg(long)]
    pub emulate: bool,
    /// Simulate time instead of waiting for it (plans whose systems are all mock, or SQLite on modeled drives).
    #[arg(long, hide = true)]
    pub virtual_time: bool,
}
