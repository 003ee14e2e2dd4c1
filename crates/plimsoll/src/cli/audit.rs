//! Arguments of `plimsoll audit`.

use std::path::PathBuf;

use clap::Args;

use super::format::Format;

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// Run files, directories of sets of runs, and claims (TOML files with published tables, see claims/). Each is
    /// audited by itself; each run after the first also against the first. `claims NAME` audits a published table that
    /// plimsoll has; `claims` alone lists them.
    #[arg(required_unless_present = "explain", value_name = "RUN|CLAIM.toml")]
    pub files: Vec<PathBuf>,
    /// Exit with 3 when a rule reports an error.
    #[arg(long)]
    pub strict: bool,
    /// Explain a rule and its thresholds.
    #[arg(long, value_name = "CODE", conflicts_with = "files")]
    pub explain: Option<String>,
    /// Also make a self-contained HTML page.
    #[arg(short, long, value_name = "FILE", conflicts_with = "explain")]
    pub output: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}
