//! `plimsoll drive …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use plimsoll_plan::units::{Bytes, Nanos};

use super::format::Format;
use super::learn::LearnArgs;
use super::mount::MountArgs;
use super::value::{
    not_negative, positive, rate, request_size, seconds, share, share_below_all, size, time,
};

#[derive(Debug, Subcommand)]
pub enum DriveCommand {
    /// List the drives of the catalog.
    List(ListArgs),
    /// Show all figures of a drive with their sources, and the model's results.
    Show(ShowArgs),
    /// Simulate a block workload on a drive, or its data sheet, in virtual time.
    Simulate(SimulateArgs),
    /// How likely arrays lose data: failures, rebuilds and unreadable blocks, simulated.
    Reliability(ReliabilityArgs),
    /// Mount an emulated drive at a directory until Ctrl-C. Needs FUSE.
    Mount(MountArgs),
    /// Cut the power of a drive mounted by `drive mount`, restore it, and report the losses.
    Cut(CutArgs),
    /// Measure a drive with fio and write a drive file, with the error of every figure.
    Learn(LearnArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Also make a self-contained HTML page.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A name in the catalog, or a drive file (ends with .toml).
    pub drive: String,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// A name in the catalog, a drive file (ends with .toml), an array (raid5:6:sata, raid10:4:nvme:failed=2), or a
    /// cluster (vsan:4:3:nvme:policy=raid5).
    pub drive: String,
    /// A workload: randread4k, randwrite4k, seqread128k, seqwrite128k, k-a, mix, latency, sql, log [default: each point
    /// of the data sheet].
    #[arg(long, value_name = "NAME", group = "workload")]
    pub profile: Option<String>,
    /// Requests that `drive mount --requests` logged: simulated again and compared with the emulation.
    #[arg(long, value_name = "FILE", group = "workload")]
    pub requests: Option<PathBuf>,
    /// Size of the drive that was mounted, such as 20GiB [default: as rated].
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "requests")]
    pub capacity: Option<Bytes>,
    /// Size of a request, such as 8k or 1m.
    #[arg(long, value_name = "SIZE", value_parser = request_size, requires = "profile")]
    pub block: Option<u64>,
    /// Requests in flight for each job; in open loop, at most so many.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096), requires = "profile")]
    pub depth: Option<u32>,
    /// Jobs, each with its own requests in flight.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=256), requires = "profile", conflicts_with = "rate")]
    pub jobs: Option<u32>,
    /// Share of reads in percent.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), requires = "profile")]
    pub read: Option<u8>,
    /// Requests per second, independent of completions (open loop).
    #[arg(long, value_name = "PER_SECOND", value_parser = positive, requires = "profile")]
    pub rate: Option<f64>,
    /// How the requests of an open loop arrive.
    #[arg(long, value_enum, default_value_t = Spacing::Poisson, requires = "rate")]
    pub arrivals: Spacing,
    /// Share of the drive that holds data, in percent; 100 is a drive in steady state.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), requires = "workload")]
    pub fill: Option<u8>,
    /// Share of the drive that is read and written, in percent.
    #[arg(long, value_name = "PERCENT", value_parser = share, requires = "profile")]
    pub working_set: Option<f64>,
    /// Simulated seconds, after one to warm up [default: 10].
    #[arg(long, value_parser = seconds, requires = "profile")]
    pub seconds: Option<f64>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Simulate so many seeds, from that one on, and join the results [default: 5 for a cluster, whose data lie elsewhere
    /// with each, else 1].
    #[arg(long, requires = "profile", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: Option<u32>,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct ReliabilityArgs {
    /// Arrays and clusters to compare: raid5:6:disk vsan:4:3:sata.
    #[arg(required = true, value_name = "ARRAY")]
    pub arrays: Vec<String>,
    /// For how long.
    #[arg(long, default_value_t = 5.0, value_parser = positive)]
    pub years: f64,
    /// Share of drives that fail in their first year, in percent.
    #[arg(long, value_name = "PERCENT", default_value = "0.9", value_parser = share_below_all)]
    pub afr: f64,
    /// Of the Weibull distribution of drives' lives: 1 is a constant rate, more is wear.
    #[arg(long, default_value_t = 1.0, value_parser = positive)]
    pub shape: f64,
    /// While a member is missing the others fail so many times as often.
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = positive)]
    pub correlation: f64,
    /// From a failure until a new drive begins to be filled.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = time)]
    pub replaced_after: Nanos,
    /// Bytes a second at which a member is rebuilt, such as 50MB [default: as fast as the model of the idle array].
    #[arg(long, value_name = "SIZE", value_parser = rate)]
    pub rebuild_rate: Option<Bytes>,
    /// Unreadable bits of those read [default: 1e-15 for disks, 1e-16 for flash].
    #[arg(long, value_name = "SHARE", value_parser = positive)]
    pub uber: Option<f64>,
    /// Unreadable blocks that come up on a drive in a year.
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, value_parser = not_negative)]
    pub latent_errors: f64,
    /// How often a scrub finds them.
    #[arg(long, value_name = "TIME", default_value = "720h", value_parser = time)]
    pub scrub: Nanos,
    /// Simulated lives of each array.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1000..=10_000_000))]
    pub histories: u32,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Spacing {
    Constant,
    Poisson,
}

#[derive(Debug, Args)]
pub struct CutArgs {
    /// The directory that `drive mount` was given.
    pub dir: PathBuf,
}
