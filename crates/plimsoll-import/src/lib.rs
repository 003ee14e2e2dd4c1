//! Outputs of other tools, read into the same record.
//!
//! Parsers are pure functions from text to an [`ImportedLoad`] (one load as a tool reports it) or to [`HostSamples`]
//! (iostat, vmstat, mpstat). [`import`] builds a [`Record`] from them. Two rules hold everywhere:
//!
//! - A histogram is made only where the source has a distribution. Percentiles that a tool prints are kept as
//!   [`Reported`](plimsoll_record::Reported) figures, with the tool's own name and digits.
//! - Information that the source lacks is a fact `import.unknown.WHAT` of the system, so that missing information is
//!   not taken for a pass.

mod assemble;
mod attach;
mod decode;
mod detect;
mod diskspd;
mod fault;
mod fio;
mod fio_log;
pub mod fio_output;
mod go_tpc;
mod hammerdb;
mod host;
mod iostat;
mod load;
mod mpstat;
mod pgbench;
mod pgbench_log;
mod rate;
mod runs;
mod samples;
mod sysbench;
mod sysstat_json;
#[cfg(test)]
mod tests;
mod ticks;
mod unknown;
mod vdbench;
mod vmstat;
mod when;
mod xml;

pub use assemble::import;
pub use decode::decode;
pub use detect::detect;
pub use fault::ImportError;
pub use host::{join_run, samples};
pub use load::ImportedLoad;
pub use samples::HostSamples;

use plimsoll_plan::units::Nanos;
use plimsoll_record::{Record, RunInfo};

/// The tool that wrote a file, and its format. Names are those of the command line.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Tool {
    /// JSON and JSON+.
    Fio,
    /// Logs of `write_lat_log`, `write_bw_log` and so on.
    FioLog,
    Sysbench,
    Pgbench,
    /// Logs of `pgbench -l`.
    PgbenchLog,
    Hammerdb,
    GoTpc,
    Vdbench,
    Diskspd,
    Iostat,
    Vmstat,
    Mpstat,
}

impl Tool {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// As on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The file's format, for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Fio => "fio JSON",
            Self::FioLog => "a log of fio",
            Self::Sysbench => "sysbench output",
            Self::Pgbench => "pgbench output",
            Self::PgbenchLog => "a transaction log of pgbench",
            Self::Hammerdb => "HammerDB output",
            Self::GoTpc => "go-tpc output",
            Self::Vdbench => "vdbench output",
            Self::Diskspd => "diskspd XML",
            Self::Iostat => "iostat output",
            Self::Vmstat => "vmstat output",
            Self::Mpstat => "mpstat output",
        }
    }

    /// Whose figures these are: logs belong to the tool that wrote them.
    pub(crate) fn maker(self) -> &'static str {
        match self {
            Self::FioLog => "fio",
            Self::PgbenchLog => "pgbench",
            Self::Hammerdb => "HammerDB",
            other => other.name(),
        }
    }
}

/// One file.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name without directories.
    pub name: &'a str,
    pub text: &'a str,
    /// Given by the user; `None`: detected from the content.
    pub tool: Option<Tool>,
}

/// Information about a run that its files may lack, given by the user.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// `started_at`, `lasted` and `status` are filled in; the rest stands as it is.
    pub run: RunInfo,
    /// Name of the step, instead of the tool's.
    pub step: Option<String>,
    /// When the load started, since 1970, for sources without it.
    pub started: Option<Nanos>,
    /// Users, for sources without it.
    pub users: Option<u32>,
    /// The medium of the data.
    pub medium: Option<String>,
}

/// A record made of other tools' outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub record: Record,
    /// Each file with its detected format.
    pub taken: Vec<(String, Tool)>,
}
