//! `plimsoll doctor …`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory, a block device, a file, or a plan (ends with .toml): then every medium of it, emulated ones too.
    #[arg(value_name = "PATH|DEVICE|PLAN")]
    pub target: PathBuf,
    /// Test what a flush is worth as well: a file is written in the directory, and removed. Drives that plimsoll emulates
    /// for a plan are tested in any case.
    #[arg(long)]
    pub write: bool,
    /// What the drive is, where it does not say so: a name in the catalogue, or a drive file (ends with .toml).
    #[arg(long, value_name = "DRIVE")]
    pub drive: Option<String>,
    #[arg(long, value_enum, default_value_t = DoctorFormat::Table)]
    pub format: DoctorFormat,
    /// Seed of the places that are read.
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
