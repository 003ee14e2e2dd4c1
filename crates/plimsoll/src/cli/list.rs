//! Arguments of the catalog of runs.

use std::path::PathBuf;

use clap::Args;

use super::format::Format;

#[derive(Debug, Args)]
pub struct RunsArgs {
    /// A directory with run files; sets of runs in it count as well.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Only runs whose title contains this text, ignoring case.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Only runs with this status.
    #[arg(long, value_parser = ["unfinished", "complete", "interrupted", "failed"])]
    pub status: Option<String>,
    /// Only runs that began at this time (UTC) or later: 2026-11-22, or 2026-11-22T08:00.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub since: Option<String>,
    /// Only runs with a system of this name.
    #[arg(long)]
    pub system: Option<String>,
    /// Only runs on a medium of this name.
    #[arg(long)]
    pub medium: Option<String>,
    /// Only runs whose label contains this text.
    #[arg(long)]
    pub label: Option<String>,
    /// Also find, for each load, with which run results changed (E-divisive).
    #[arg(long)]
    pub changes: bool,
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// As it is written in run files; what follows the given part counts as later.
fn time(text: &str) -> Result<String, String> {
    let is_time =
        text.parse::<jiff::civil::Date>().is_ok() || text.parse::<jiff::civil::DateTime>().is_ok();
    if is_time {
        Ok(text.replace(' ', "T"))
    } else {
        Err("give a date or a time, such as 2026-11-22".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_with_or_without_a_time_of_day() {
        assert_eq!(time("2026-11-22"), Ok("2026-11-22".into()));
        assert_eq!(time("2026-11-22 08:00"), Ok("2026-11-22T08:00".into()));
        assert!(time("yesterday").is_err() && time("").is_err());
    }
}
