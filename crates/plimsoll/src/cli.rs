//! The command line, as low-level arguments.

mod audit;
mod bench;
mod compare;
mod doctor;
mod drive;
mod flags;
mod format;
mod import;
mod learn;
mod list;
mod mount;
mod parse;
mod plans;
mod predict;
mod profile;
mod serve;
mod value;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use plimsoll_report::export::ExportTable;

pub use audit::AuditArgs;
pub use bench::{BenchArgs, BenchTarget};
pub use compare::{CompareArgs, GateArgs};
pub use doctor::{DoctorArgs, DoctorFormat};
pub use drive::{
    CutArgs, DriveCommand, ListArgs, ReliabilityArgs, ShowArgs, SimulateArgs, Spacing,
};
pub use flags::RunFlags;
pub use format::Format;
pub use import::ImportArgs;
pub use learn::LearnArgs;
pub use list::RunsArgs;
pub use mount::{BackingArg, FilesystemArg, FlushArg, FormArg, MountArgs};
pub use parse::parse;
pub use plans::{InitArgs, PlansArgs};
pub use predict::PredictArgs;
pub use profile::{ProfileCommand, ProfileShowArgs};
pub use serve::ServeArgs;

/// Measure how much load a database can handle on a drive, and audit whether the result is valid.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: CliCommand,
}

const EXIT_CODES: &str = "Exit codes: 0 ok · 1 the run or check failed · 2 usage or plan error · 3 threshold not met: a regression, or an error of doctor's or of audit --strict · 4 a gate cannot be evaluated";

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Run a plan and write a run file.
    Run(RunArgs),
    /// Measure a database or storage with one line, without a plan.
    Bench(Box<BenchArgs>),
    /// List the plans that plimsoll has: which question each answers, how long it takes, and what it needs.
    Plans(PlansArgs),
    /// Write a commented plan to start from.
    Init(InitArgs),
    /// Complete the file of a run with hosts whose plimsoll was killed, from the journals on the hosts.
    Join(JoinArgs),
    /// Write an HTML report of a run file, also of an interrupted run.
    Report(ReportArgs),
    /// Print a run file's figures as JSON or CSV.
    Export(ExportArgs),
    /// Compare runs or sets of runs: ratios with intervals, latency, and differences in the setup.
    Compare(CompareArgs),
    /// Compare a run with a baseline: exit code 3 for a regression.
    Gate(GateArgs),
    /// List the run files of a directory, and find where figures changed from run to run.
    List(RunsArgs),
    /// Show runs in a browser: the catalog, reports, comparisons, and a run while it goes on.
    Serve(ServeArgs),
    /// Convert other tools' outputs to a run file, for reports and comparisons.
    Import(ImportArgs),
    /// Audit runs or published tables: which figures are invalid, and why.
    Audit(AuditArgs),
    /// Verify the consistency conditions (TPC-C clause 3.3.2) of a database loaded by plimsoll.
    Check(CheckArgs),
    /// Remove from a server what plimsoll loaded there, and nothing else.
    Clean(CleanArgs),
    /// List, simulate, mount and measure emulated drives.
    #[command(subcommand)]
    Drive(DriveCommand),
    /// Predict the throughput of measured runs on another drive, or on the same drive at full speed.
    Predict(PredictArgs),
    /// List and show the block workloads for plans.
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Check a machine, a drive or the media of a plan for problems before a measurement.
    Doctor(DoctorArgs),
    /// Work for a plimsoll on another host, by standard input and output; it starts this one by itself.
    #[command(hide = true)]
    Worker(WorkerArgs),
    /// Print the JSON Schema of plan files.
    Schema,
    /// Print a completion script for a shell.
    Completions { shell: clap_complete::Shell },
    /// Write the manual pages of all commands into a directory.
    Man { dir: PathBuf },
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// The plan: a TOML file, a name that `plimsoll plans` shows, or - for standard input.
    pub plan: PathBuf,
    /// Where the run file goes [default: TITLE-TIME.plimsoll in the current directory]; of a plan with [matrix] the
    /// directory of its run files [default: TITLE-TIME.set].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Resume an interrupted set of runs (a plan with [matrix]): its directory.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub resume: Option<PathBuf>,
    /// Run this cell of a set of runs (a plan with [matrix]) and no other, counted from 1: for a scheduler that runs cells
    /// on several hosts. Needs --resume DIR, or --output DIR, which then may be a set that exists.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "serve")]
    pub cell: Option<u32>,
    /// Run the cells of a set of runs (a plan with [matrix]) as a Slurm job array, wait for them and join the results.
    /// OPTIONS are sbatch's, such as "--partition=nvme --time=30"; --array=%4 runs at most 4 cells at once.
    #[arg(long, value_name = "OPTIONS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["cell", "serve"])]
    pub slurm: Option<String>,
    /// Multiply all times by this factor.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub scale: f64,
    /// Multiply all data sizes by this factor.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub data_scale: f64,
    #[command(flatten)]
    pub flags: RunFlags,
}

#[derive(Debug, Args)]
pub struct JoinArgs {
    /// The run file. Workers that still run finish the load that is under way; Ctrl-C ends it.
    pub run: PathBuf,
    /// No progress on stderr.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A run file, or the directory of a set of runs.
    pub run: PathBuf,
    /// Where the report goes [default: RUN with .html; for a set DIR.html].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also print the report to a PDF file. Needs Chromium or Google Chrome.
    #[arg(long, value_name = "FILE")]
    pub pdf: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// Run files, directories of run files, or a set.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    #[arg(long, value_enum)]
    pub to: ExportFormat,
    /// Which table as CSV or Parquet: the ladder's points, their transaction types, transactions by second, all series in
    /// long form, or emulated drives by second [default: ladder; of block benchmarks block, of backups backup].
    #[arg(long, value_parser = table())]
    pub table: Option<ExportTable>,
    /// The file to write [default: standard output]. Parquet needs one.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ExportArgs {
    pub fn table(&self) -> ExportTable {
        self.table.unwrap_or(ExportTable::Ladder)
    }
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A SQLite file, or a postgres:// or mariadb:// URL (its password better in PGPASSWORD or MYSQL_PWD).
    pub database: String,
    /// The schema (MariaDB: database) that holds the tables, on a server.
    #[arg(long, default_value = "plimsoll_tpcc")]
    pub schema: String,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct CleanArgs {
    /// A postgres:// or mariadb:// URL (its password better in PGPASSWORD or MYSQL_PWD), or a directory: of a killed
    /// `drive mount`, or of a killed run.
    pub url: String,
    /// The schema (MariaDB: database) that was loaded.
    #[arg(long, default_value = "plimsoll_tpcc")]
    pub schema: String,
    /// List what would be removed; touch nothing.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The name of the session, which the controller draws.
    pub session: String,
    /// Be the session, instead of a relay to it.
    #[arg(long)]
    pub serve: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// All tables, as `plimsoll run --verbose` prints them.
    Text,
    Json,
    Csv,
    /// A table of all runs for DuckDB, pandas and the like.
    Parquet,
}

/// The tables of [`ExportTable`] by their names.
fn table() -> impl TypedValueParser<Value = ExportTable> {
    let names = ExportTable::ALL.iter().map(|kind| kind.name());
    PossibleValuesParser::new(names).try_map(|name| name.parse::<ExportTable>())
}
