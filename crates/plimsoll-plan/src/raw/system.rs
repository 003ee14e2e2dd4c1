//! Systems as a person writes them.

use std::collections::BTreeMap;

use super::table::{TableKind as Kind, plan_table};
use crate::resolved::{EngineKind, WithoutLimits};
use crate::units::Nanos;
use crate::value::{At, Decimal, RawSize, RawText, RawTime, Setting, Whole, bounds};

const ONLY_EXISTING: &str =
    "only an existing server has one, with an engine such as \"postgres\" or \"mariadb\"";
const SCHEMA: &str = "only an existing server needs one, see `url`";
const OTHERS_TABLES: &str = "only an existing server has tables that plimsoll did not make";
const NO_SETTINGS: &str = "the mock has none: remove them";
const THEIR_SETTINGS: &str =
    "plimsoll changes no server that it did not start: set them there, or leave `url` out";
const SCALED: &str =
    "only a server that plimsoll starts has settings in proportion to the data: use `settings`";
const PROGRAMS: &str = "only a server that plimsoll starts needs them";
const ON_THIS_MACHINE: &str = "what plimsoll starts runs on this machine";
const LIMITED: &str =
    "only SQLite on modeled drives, and a server that plimsoll starts, can be limited";
const LOG: &str = "only the log of a server that plimsoll starts can be placed";
const MOCK: &str = "it belongs to engine = \"mock\"";

plan_table! {
    /// The database under test: one that plimsoll starts itself (`engine`), or one that exists (`url`).
    #[schemars(rename = "System")]
    pub struct RawSystem("a table such as { engine = \"sqlite\" }") {
        /// `"postgres"`, `"mariadb"`, `"mysql"`: a server that plimsoll creates, starts, stops and removes; `"sqlite"`: SQLite inside
        /// plimsoll; `"mock"`: no database, scripted answers.
        engine: EngineKind,
        /// The server's settings or PRAGMAs (SQLite), such as `{ shared_buffers = "256MB" }`.
        #[refused(Kind::Mock => NO_SETTINGS, Kind::Existing => THEIR_SETTINGS)]
        settings: BTreeMap<At<String>, At<Setting>>,
        /// Settings of a server that plimsoll starts which are sizes in proportion to the data, such as
        /// `{ shared_buffers = "24GiB" }`: `--data-scale` multiplies them, down to 32 MiB.
        #[refused(Kind::Sqlite => SCALED, Kind::Mock => NO_SETTINGS, Kind::Existing => THEIR_SETTINGS)]
        scaled_settings: BTreeMap<At<String>, At<RawSize>>,
        /// The directory of the server's programs: PostgreSQL's `initdb` and `postgres`, or `mariadbd`. Default: plimsoll
        /// looks for them.
        #[refused(Kind::Sqlite | Kind::Mock | Kind::Existing => PROGRAMS)]
        binaries: RawText,
        /// An existing server: `"postgres://user@host:5432/database"` or `"mariadb://user@host:3306"`. Better than a password
        /// in here: the environment variable PGPASSWORD or MYSQL_PWD.
        #[refused(Kind::Sqlite | Kind::Mock | Kind::Managed => ONLY_EXISTING)]
        url: String,
        /// The schema (MariaDB: database) that plimsoll creates and keeps to in an existing server. Default: `"plimsoll_tpcc"`.
        #[refused(Kind::Sqlite | Kind::Mock | Kind::Managed => SCHEMA)]
        schema: String,
        /// The name of `schema` once more: permission for sysbench's scripts to change the tables `sbtest1`, `sbtest2`, … there
        /// although plimsoll did not make them. Without it only scripts that read may use such tables. Default: none.
        #[refused(Kind::Sqlite | Kind::Mock | Kind::Managed => OTHERS_TABLES)]
        change_tables: String,
        /// The `[host.NAME]` that an existing server runs on: its processors, memory and network are watched there.
        #[refused(Kind::Sqlite | Kind::Managed => ON_THIS_MACHINE)]
        host: String,
        /// What the mock engine does.
        #[refused(Kind::Sqlite | Kind::Managed | Kind::Existing => MOCK)]
        mock: RawMock,
        /// How many equal systems of this kind there are, each with data of its own; a step puts all of them under
        /// load at the same time, `users` or `rate` each.
        #[refused(Kind::Existing => "an existing server is one")]
        count: Whole<1, 64> = 1,
        /// `true`: the log of a server that plimsoll starts (WAL, redo log) is on a virtual disk of its own. The medium is an
        /// emulated cluster with `vdisks`.
        #[refused(Kind::Sqlite | Kind::Mock | Kind::Existing => LOG)]
        log_disk: bool = false,
        /// What a server that plimsoll starts may use of the machine, as a smaller machine would have it:
        /// `{ cpus = 4, memory = "32GiB" }`. Default: no limits.
        #[refused(Kind::Mock | Kind::Existing => LIMITED)]
        limits: RawLimits,
    }
}

bounds! {
    /// Processors of a machine.
    CpuCount: 0.05, 4096.0, "";
    /// Speed of simulated processors, as a multiple of the reference's.
    CpuSpeed: 0.1, 10.0, "";
    /// Share of all transactions.
    TxnShare: 0.0, 1.0, "";
}

/// A number that is not zero.
type Positive = Whole<1, { u32::MAX as i64 }>;

const SIMULATED: &str = "SQLite runs on a simulated machine: state `memory`, a whole number of `cpus` and `cpu_speed`; for limits of \
                         the drive name another drive";
const NOT_SIMULATED: &str = "limit `cpus`: only SQLite runs on simulated processors";

plan_table! {
    /// What a server may use of the machine. Done by control groups of the kernel, which takes root.
    #[schemars(rename = "Limits")]
    pub struct RawLimits("a table such as { cpus = 4, memory = \"32GiB\" }") {
        /// Processor time, in CPUs: 1.5 is one and a half. Default: no limit.
        cpus: Decimal<CpuCount>,
        /// Which CPUs, such as `"0-3,8"`. Default: any.
        #[refused(Kind::SimulatedMachine => SIMULATED)]
        cpu_set: String,
        /// Of the simulated machine of SQLite: its processors do 2 times the work of the reference's in the same time with `2.0`.
        /// Default: 1.
        #[refused(Kind::Managed => NOT_SIMULATED)]
        cpu_speed: Decimal<CpuSpeed>,
        /// Memory with the page cache that its reads and writes fill, such as `"32GiB"`; `--data-scale` multiplies it, down
        /// to 512 MiB. Default: no limit.
        memory: RawSize,
        /// Read from the device below its medium per second, such as `"500MB"`. Default: no limit.
        #[refused(Kind::SimulatedMachine => SIMULATED)]
        read_bytes: RawSize<1>,
        /// Written there per second. Default: no limit.
        #[refused(Kind::SimulatedMachine => SIMULATED)]
        write_bytes: RawSize<1>,
        /// Reads per second there. Default: no limit.
        #[refused(Kind::SimulatedMachine => SIMULATED)]
        reads: Positive,
        /// Writes per second there. Default: no limit.
        #[refused(Kind::SimulatedMachine => SIMULATED)]
        writes: Positive,
        /// Where the machine cannot limit: refuse the run (`"refuse"`), or go on without, with a warning (`"warn"`).
        without: WithoutLimits = WithoutLimits::Refuse,
    }
}

plan_table! {
    /// Scripted answers, for trying out plimsoll itself. `--scale` does not change these times.
    #[schemars(rename = "Mock")]
    pub struct RawMock("a table such as { latency = \"1ms\" }") {
        /// Service time of every transaction, such as `"2ms"`.
        latency: RawTime = Nanos::from_millis(1),
        /// Up to this much is added to the service time, uniformly distributed.
        jitter: RawTime = Nanos::ZERO,
        /// Mean of what is added to the service time, exponentially distributed, such as `"8ms"`.
        exponential: RawTime = Nanos::ZERO,
        /// Some transactions take longer: `{ share = 0.02, by = "80ms" }`. Default: none.
        slow: RawSlowShare,
        /// Times in which no transaction makes progress: `[{ at = "3s", lasts = "2s" }]`. Default: none.
        stalls: Vec<At<RawStall>>,
        /// Every n-th transaction of a user fails. Default: none.
        fail_every: Positive,
        /// Every n-th transaction of a user has to be retried once. Default: none.
        retry_every: Positive,
        /// Times in which the system is away, with all connections lost: `[{ at = "3s", lasts = "2s" }]`, counted from the
        /// start of the ladder point. Default: none.
        outages: Vec<At<RawStall>>,
    }
}

plan_table! {
    /// Transactions of the mock engine that take longer than the others.
    #[schemars(rename = "SlowShare", extend("required" = ["share", "by"]))]
    pub struct RawSlowShare("a table such as { share = 0.02, by = \"80ms\" }") {
        /// How many of all transactions.
        share: Decimal<TxnShare>,
        /// How much longer they take, such as `"80ms"`.
        by: RawTime,
    }
}

plan_table! {
    /// A stretch of time in which the mock engine makes no progress, or is away.
    #[schemars(rename = "Stall", extend("required" = ["at", "lasts"]))]
    pub struct RawStall("a table such as { at = \"3s\", lasts = \"2s\" }") {
        /// When it begins, counted from the start of the ladder point (ramp included), such as `"3s"`.
        at: RawTime,
        /// How long it lasts, such as `"2s"`.
        lasts: RawTime,
    }
}
