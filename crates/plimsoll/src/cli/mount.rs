//! `plimsoll drive mount`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use plimsoll_plan::units::Bytes;

use super::value::size;

#[derive(Debug, Args)]
pub struct MountArgs {
    /// A drive of the catalog, a drive file (then it ends with .toml), an array (raid5:6:sata), or a cluster
    /// (vsan:4:3:nvme).
    #[arg(required_unless_present_any = ["control", "read"])]
    pub drive: Option<String>,
    /// An empty directory, at which the drive is mounted.
    #[arg(required_unless_present_any = ["control", "read"])]
    pub dir: Option<PathBuf>,
    /// Make the drive this large, such as 20GiB or 64MB [default: as rated].
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub capacity: Option<Bytes>,
    /// Share of the capacity that holds data that is not rewritten; 1 is steady state.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub fill: f64,
    /// Of all random draws.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Where the data really are: in memory, or in a sparse file in a hidden directory beside DIR.
    #[arg(long, value_enum, default_value_t = BackingArg::Memory)]
    pub backing: BackingArg,
    /// A block device with a filesystem, or a directory [default: block for root, else directory].
    #[arg(long, value_enum)]
    pub form: Option<FormArg>,
    /// What is made on the block device.
    #[arg(long, value_enum, default_value_t = FilesystemArg::Ext4)]
    pub filesystem: FilesystemArg,
    /// Whether the drive does what a flush asks.
    #[arg(long, value_enum, default_value_t = FlushArg::Honest)]
    pub flush: FlushArg,
    /// Print each second's account on stdout, a JSON object a line.
    #[arg(long)]
    pub stats: bool,
    /// Logs the requests that the drive serves, for `drive simulate --requests`; written at the end.
    #[arg(long, value_name = "FILE")]
    pub requests: Option<std::path::PathBuf>,
    /// Take the task from stdin and use the emulator's protocol.
    #[arg(long, hide = true)]
    pub control: bool,
    /// Take tasks from stdin to read files and say how long it took.
    #[arg(long, hide = true, exclusive = true)]
    pub read: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackingArg {
    Memory,
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormArg {
    Block,
    Directory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilesystemArg {
    Xfs,
    Ext4,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlushArg {
    Honest,
    Ignored,
}
