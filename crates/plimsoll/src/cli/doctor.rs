//! `plimsoll doctor …`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory, a block device, a file, or a plan (ends with .toml): then every medium of it, emulated ones too.
    #[arg(value_name = "PATH|DEVICE|PLAN")]
    pub target: PathBuf,
    /// Test flushes as well: writes a file in the directory and removes it. A plan's emulated drives are always tested.
    #[arg(long)]
    pub write: bool,
    /// The drive, if it does not report its model: a name in the catalog, or a drive file (ends with .toml).
    #[arg(long, value_name = "DRIVE")]
    pub drive: Option<String>,
    #[arg(long, value_enum, default_value_t = DoctorFormat::Table)]
    pub format: DoctorFormat,
    /// Seed of the positions to read.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// No progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    Table,
    Json,
}
