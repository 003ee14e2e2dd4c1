//! Arguments of `plimsoll predict`.

use std::path::PathBuf;

use clap::Args;
use plimsoll_plan::units::Bytes;

use super::format::Format;
use super::value::size;

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// Run files with points on emulated drives.
    #[arg(required_unless_present = "block", value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The drive to predict for: a name of the catalog or a drive file [default: the same drive at full speed].
    #[arg(long)]
    pub drive: Option<String>,
    /// Only points with so many users.
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub users: Vec<u32>,
    /// Processors of the predicted machine [default: as measured].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cpus: Option<u32>,
    /// Memory of the system, which must have been measured [default: as measured].
    #[arg(long, value_parser = size, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Predict this block workload on the drive, from the simulator alone (see `plimsoll drive simulate`).
    #[arg(long, value_name = "PROFILE", requires = "drive", conflicts_with_all = ["runs", "users", "cpus", "memory"])]
    pub block: Option<String>,
    /// Predict each point of the runs from each other one with as many users, and compare with what was measured.
    #[arg(long, conflicts_with_all = ["drive", "cpus", "memory", "block"])]
    pub verify: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
