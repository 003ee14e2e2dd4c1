//! `plimsoll import`: other tools' outputs.

use std::path::PathBuf;

use clap::Args;
use plimsoll_import::{Tool, tool_named, tools};
use plimsoll_plan::units::Nanos;

use super::value;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Outputs of fio (JSON, JSON+, logs), sysbench, pgbench (also logs of -l), HammerDB, go-tpc, vdbench, diskspd (XML);
    /// of iostat, vmstat or mpstat. Or one run file, for others to join it.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Output of iostat, vmstat or mpstat that was recorded meanwhile; joined by the time at which both began.
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// The tool that wrote the files, instead of detecting it from their content.
    #[arg(long, value_parser = tool, value_name = "TOOL")]
    pub tool: Option<Tool>,
    /// Where the run file goes [default: the first FILE with .plimsoll].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Title of the run [default: names of the files].
    #[arg(long, value_parser = value::line)]
    pub title: Option<String>,
    /// Name of the step, for comparisons with a plan's step of that name [default: the tool's].
    #[arg(long)]
    pub step: Option<String>,
    /// The medium that held the data, for comparisons.
    #[arg(long, value_name = "NAME")]
    pub medium: Option<String>,
    /// Start of the load, if the output does not contain it: 2026-11-22T14:00:10Z.
    #[arg(long, value_parser = instant, value_name = "TIME")]
    pub started: Option<Nanos>,
    /// Number of users, if the output does not contain it.
    #[arg(long, value_name = "N")]
    pub users: Option<u32>,
}

fn tool(text: &str) -> Result<Tool, String> {
    tool_named(text).ok_or_else(|| {
        let all: Vec<&str> = tools().map(Tool::name).collect();
        format!("it is one of {}", all.join(", "))
    })
}

fn instant(text: &str) -> Result<Nanos, String> {
    let stamp: jiff::Timestamp = text
        .parse()
        .map_err(|_| "a time is written so: 2026-11-22T14:00:10Z".to_owned())?;
    u64::try_from(stamp.as_nanosecond())
        .map(Nanos)
        .map_err(|_| "it is before 1970".to_owned())
}
