//! Outputs of other tools, read into the same record.
//!
//! Parsers are pure functions from text to an [`ImportedLoad`] (one load as a tool reports it) or to [`HostSamples`]
//! (iostat, vmstat, mpstat). [`import`] builds a [`Record`] from them. Two rules hold everywhere:
//!
//! - A histogram is made only where the source has a distribution. Percentiles that a tool prints are kept as
//!   [`Reported`](crate::record::Reported) figures, with the tool's own name and digits.
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
mod go_tpc;
mod hammerdb;
mod host;
mod iostat;
mod load;
mod mpstat;
mod pgbench;
mod pgbench_log;
pub(crate) mod point_fact;
mod rate;
mod runs;
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
pub use host::{HostSamples, join_run, samples};
pub use load::ImportedLoad;
pub use rate::DerivedRate;
pub(crate) use rate::is_derived;

use crate::record::{Record, RunInfo};
use crate::units::Nanos;

/// Facts about an imported load begin so.
pub const IMPORT_FACT: &str = "import.";
/// `import.tool`: the tool whose output this is.
pub const TOOL_FACT: &str = "import.tool";
/// `import.version`: its version, where the output contains it.
pub const VERSION_FACT: &str = "import.version";
/// `import.file`: names of the files, without their directories.
pub const FILE_FACT: &str = "import.file";
/// `import.unknown.WHAT`: information that the source lacks, and the rules that need it.
pub const UNKNOWN_FACT: &str = "import.unknown.";
/// `import.response_from`: whether latencies count from when a transaction was `due`, from its `start`, or which of them
/// is `unknown`. In a closed loop both are one, and the value is `start`.
pub const RESPONSE_FACT: &str = "import.response_from";
/// `import.percentiles`: `merged` (over all clients and the whole time), `none`, or `unknown`.
pub const PERCENTILES_FACT: &str = "import.percentiles";
/// `import.seconds`: where counts by second come from.
pub const SECONDS_FACT: &str = "import.seconds";
/// `import.offered_rate`: how the offered rate of an open loop is known, where the tool does not print it.
pub const OFFERED_FACT: &str = "import.offered_rate";
/// `import.logs`: what share of a load's transactions its logs hold.
pub const LOGS_FACT: &str = "import.logs";
/// `import.distribution`: whether the histograms hold `all` transactions, a random `sample`, or a `part` of them.
pub const DISTRIBUTION_FACT: &str = "import.distribution";

/// The tool that wrote a file, and its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    pub const ALL: [Self; 12] = [
        Self::Fio,
        Self::FioLog,
        Self::Sysbench,
        Self::Pgbench,
        Self::PgbenchLog,
        Self::Hammerdb,
        Self::GoTpc,
        Self::Vdbench,
        Self::Diskspd,
        Self::Iostat,
        Self::Vmstat,
        Self::Mpstat,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::FioLog => "fio-log",
            Self::Sysbench => "sysbench",
            Self::Pgbench => "pgbench",
            Self::PgbenchLog => "pgbench-log",
            Self::Hammerdb => "hammerdb",
            Self::GoTpc => "go-tpc",
            Self::Vdbench => "vdbench",
            Self::Diskspd => "diskspd",
            Self::Iostat => "iostat",
            Self::Vmstat => "vmstat",
            Self::Mpstat => "mpstat",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
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
