//! The tools whose outputs are read.

use strum::VariantArray;

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
    pub const ALL: &[Self] = Self::VARIANTS;

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
    pub(super) fn maker(self) -> &'static str {
        match self {
            Self::FioLog => "fio",
            Self::PgbenchLog => "pgbench",
            Self::Hammerdb => "HammerDB",
            other => other.name(),
        }
    }
}
