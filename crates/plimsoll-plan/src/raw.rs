//! The plan as a person writes it. Types know where they stand in the text, and nothing is checked beyond their shape;
//! [`super::parse`] does the rest. The comments here are what an editor shows (they become the JSON Schema).

mod audit;
mod block;
mod choice;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::resolved::{
    BackupMethod, CheckPolicy, Distribution, DriveBacking, DriveFilesystem, DriveForm, DriveSpeed,
    EngineKind, FlushPolicy, Home, ResetMethod, ResetPolicy, Script, TxnMode, WithoutFuse,
    WithoutLimits,
};
use super::value::{At, Ladder, RawSize, RawTime, Setting};
use crate::load::Arrivals;
pub use audit::RawAudit;
pub use block::{RawAccess, RawBlock, RawBlockJob, RawBlockStream, RawProfile, RawSync};
pub use choice::{RawCurve, RawShare, RawSizes, RawSteady, RawSteadyRule, RawWord};

pub type Named<T> = BTreeMap<At<String>, At<T>>;

/// A plimsoll plan: what to test, on what, and for how long.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a plan")]
#[schemars(title = "plimsoll plan", rename = "Plan", extend("required" = ["title", "workload", "step"]))]
pub struct RawPlan {
    /// The question this plan answers. The report's headline.
    pub title: Option<At<String>>,
    /// Start of the inputs' random draws. Default: drawn for each run, and recorded. `--seed` beats it.
    pub seed: Option<At<u64>>,
    /// Start of the data set's random draws. Default: `seed`, else 1.
    pub data_seed: Option<At<u64>>,
    /// Modeled drives are emulated in real time. Without it SQLite on modeled drives runs in virtual time, as long as nothing
    /// else is under load and there are no backups, neighbors, power cuts and failures of members. Default: false.
    pub emulate: Option<At<bool>>,
    /// Limits that figures must keep at every load, such as `["p99<200ms", "failed<0.1%"]`: `mean`, `p50` to `p99.9` and
    /// `max` of response times, `failed`, `nopm`, `throughput`, `iops`, `mb/s`. A run that misses one ends with exit code
    /// 3. Default: none.
    pub require: Option<At<Vec<At<String>>>>,
    /// The run ends at the first point that misses a requirement. Default: false.
    pub abort_on_fail: Option<At<bool>>,
    /// Where data lives, by a name of your choice: `[medium.here]`.
    pub medium: Named<RawMedium>,
    /// Other machines, by a name or a pattern: `[host.gen1]`, `[host."gen[1-8]"]`.
    pub host: Named<RawHost>,
    /// Hosts that run the whole plan, all at the same time, such as `["node[1-4]"]`: media, drives and servers are
    /// theirs, and what they measure is added up. Default: plimsoll's own machine.
    pub on_hosts: Option<At<Vec<At<String>>>>,
    /// What is put under load, by a name of your choice: `[system.db]`.
    pub system: Named<RawSystem>,
    /// What users do, by a name of your choice: `[workload.oltp.tpcc]`.
    pub workload: Named<RawWorkload>,
    /// What is run, one `[[step]]` after the other.
    pub step: Vec<At<RawStep>>,
    /// The whole plan is carried out for each combination of values: keys of the plan with lists of values, such as
    /// `system.db.limits.memory = ["1GiB", "4GiB"]` or `medium.data.drive = ["…", "…"]`; a step's keys stand below its
    /// name (`step.oltp.users = [[1, 2], [8]]`). `repeat` (1 to 100) goes through all combinations so often; `order` is
    /// `"as_written"`, or `"random"` by the plan's seed, else 1. Default: the plan is carried out once.
    pub matrix: Option<RawMatrix>,
    /// Thresholds of the audit that are not the usual ones, such as `interval = 10`. Default: those of `docs/audit.md`.
    pub audit: Option<At<RawAudit>>,
}

impl RawPlan {
    /// What it is without one of its own.
    pub fn data_seed(&self) -> u64 {
        let given = self.data_seed.as_ref().or(self.seed.as_ref());
        given.map_or(1, |seed| *seed.get())
    }
}

/// What `[matrix]` holds; its keys are those of the plan, so its shape is checked where it is laid over the plan.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Matrix", with = "BTreeMap<String, serde_json::Value>")]
pub struct RawMatrix(pub toml::Table);

/// Another machine, which load comes from or the plan is run on: any command that gives the standard input and output of a program there.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { via = \"ssh gen1\" }"
)]
#[schemars(rename = "Host")]
pub struct RawHost {
    /// The command, in words between spaces: `"ssh gen1"`, `"kubectl exec -i pod --"`, `"srun -w node1"`, `"docker exec -i
    /// c1"`; `{host}` in it is the host's name. Default: a process of its own on this machine.
    pub via: Option<At<String>>,
    /// plimsoll's path on the host, such as `"/usr/bin/plimsoll"`. Default: it is copied to `~/.cache/plimsoll` there,
    /// unless it has been already.
    pub program: Option<At<String>>,
    /// How long the host may be away when its link is cut, such as `"2m"`: the load goes on meanwhile. Whoever waits
    /// longer gives up: plimsoll ends the run, a worker its load. Default: `"60s"`.
    pub patience: Option<At<RawTime>>,
}

/// Where data lives: a directory (`path`), an emulated drive (`drive`), or a device itself (`device`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { path = \".\" }"
)]
#[schemars(rename = "Medium", extend(
    "anyOf" = [{ "required": ["path"] }, { "required": ["drive"] }, { "required": ["device"] }]
))]
pub struct RawMedium {
    /// An existing directory; a relative one counts from where plimsoll is started. plimsoll makes a directory of its
    /// own in it and removes it afterwards. With a `drive`: where that directory is made; default: `"."`.
    pub path: Option<At<String>>,
    /// A device that block workloads write to directly, such as `"/dev/disk/by-id/nvme-…"`. What is on it is lost: one
    /// that holds anything is refused unless `--overwrite` names it. Default: none.
    pub device: Option<At<String>>,
    /// A drive that is not there: a name that `plimsoll drive list` shows, or the path of a drive file that ends with
    /// `.toml`. Default: none, the data lie in `path` as it is.
    pub drive: Option<At<String>>,
    /// Size of the emulated drive, at least `"512MiB"`. Default: `"32GiB"`, or the rated capacity if that is less.
    pub capacity: Option<At<RawSize>>,
    /// How fast the emulated drive is: slowed down by the smallest factor at which this machine can answer, found before
    /// the run and the same for all such drives of the plan (`"auto"`), or as it is rated (`"full"`). Default: auto.
    pub speed: Option<At<DriveSpeed>>,
    /// A fixed factor instead: all times of the emulated drive are so many times as long, and its rates as much lower.
    /// Ratios between drives slowed alike stay; the load has to be as much lower. 1 to 1000. Default: none, `speed`
    /// counts.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub slower: Option<At<f64>>,
    /// Share of the capacity that holds data which nobody rewrites, 0 to 1: flash drives write the slower the fuller
    /// they are. Default: 1, a drive in steady state.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub fill: Option<At<f64>>,
    /// How programs see the emulated drive: a block device with a filesystem, which needs root (`"block"`), a directory
    /// (`"directory"`), or the former for root and else the latter (`"auto"`). Default: auto.
    pub form: Option<At<DriveForm>>,
    /// What is made on an emulated block device. Default: ext4.
    pub filesystem: Option<At<DriveFilesystem>>,
    /// Where the emulated drive's data really are: in memory (`"memory"`), or in a sparse file below `path`
    /// (`"file"`). Default: memory.
    pub backing: Option<At<DriveBacking>>,
    /// What a flush does: what the drive's file states (`"honest"`), or nothing although it is acknowledged
    /// (`"ignored"`). Default: honest.
    pub flush: Option<At<FlushPolicy>>,
    /// What to do where FUSE is not to be had: refuse the run (`"refuse"`), or go on in a plain directory with a
    /// warning (`"plain_directory"`). Default: refuse.
    pub without_fuse: Option<At<WithoutFuse>>,
}

/// The database under test: one that plimsoll starts itself (`engine`), or one that exists (`url`).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { engine = \"sqlite\" }"
)]
#[schemars(rename = "System")]
pub struct RawSystem {
    /// `"postgres"`, `"mariadb"`, `"mysql"`: a server that plimsoll creates, starts, stops and removes; `"sqlite"`: SQLite inside
    /// plimsoll; `"mock"`: no database, scripted answers.
    pub engine: Option<At<EngineKind>>,
    /// The server's settings or PRAGMAs (SQLite), such as `{ shared_buffers = "256MB" }`.
    pub settings: Option<At<BTreeMap<At<String>, At<Setting>>>>,
    /// Settings of a server that plimsoll starts which are sizes in proportion to the data, such as
    /// `{ shared_buffers = "24GiB" }`: `--data-scale` multiplies them, down to 32 MiB.
    pub scaled_settings: Option<At<BTreeMap<At<String>, At<RawSize>>>>,
    /// The directory of the server's programs: PostgreSQL's `initdb` and `postgres`, or `mariadbd`. Default: plimsoll
    /// looks for them.
    pub binaries: Option<At<String>>,
    /// An existing server: `"postgres://user@host:5432/database"` or `"mariadb://user@host:3306"`. Better than a password
    /// in here: the environment variable PGPASSWORD or MYSQL_PWD.
    pub url: Option<At<String>>,
    /// The schema (MariaDB: database) that plimsoll creates and keeps to in an existing server. Default: `"plimsoll_tpcc"`.
    pub schema: Option<At<String>>,
    /// The name of `schema` once more: permission for sysbench's scripts to change the tables `sbtest1`, `sbtest2`, … there
    /// although plimsoll did not make them. Without it only scripts that read may use such tables. Default: none.
    pub change_tables: Option<At<String>>,
    /// The `[host.NAME]` that an existing server runs on: its processors, memory and network are watched there.
    pub host: Option<At<String>>,
    /// What the mock engine does.
    pub mock: Option<At<RawMock>>,
    /// How many equal systems of this kind there are, 1 to 64, each with data of its own; a step puts all of them under
    /// load at the same time, `users` or `rate` each. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub count: Option<At<i64>>,
    /// `true`: the log of a server that plimsoll starts (WAL, redo log) is on a virtual disk of its own. The medium is an
    /// emulated cluster with `vdisks`. Default: `false`.
    pub log_disk: Option<At<bool>>,
    /// What a server that plimsoll starts may use of the machine, as a smaller machine would have it:
    /// `{ cpus = 4, memory = "32GiB" }`. Default: no limits.
    pub limits: Option<At<RawLimits>>,
}

/// What a server may use of the machine. Done by control groups of the kernel, which takes root.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { cpus = 4, memory = \"32GiB\" }"
)]
#[schemars(rename = "Limits")]
pub struct RawLimits {
    /// Processor time, in CPUs, 0.05 to 4096: 1.5 is one and a half. Default: no limit.
    #[schemars(range(min = 0.05, max = 4096.0))]
    pub cpus: Option<At<f64>>,
    /// Which CPUs, such as `"0-3,8"`. Default: any.
    pub cpu_set: Option<At<String>>,
    /// Of the simulated machine of SQLite: its processors do 2 times the work of the reference's in the same time with `2.0`;
    /// 0.1 to 10. Default: 1.
    #[schemars(range(min = 0.1, max = 10.0))]
    pub cpu_speed: Option<At<f64>>,
    /// Memory with the page cache that its reads and writes fill, such as `"32GiB"`; `--data-scale` multiplies it, down
    /// to 512 MiB. Default: no limit.
    pub memory: Option<At<RawSize>>,
    /// Read from the device below its medium per second, such as `"500MB"`. Default: no limit.
    pub read_bytes: Option<At<RawSize>>,
    /// Written there per second. Default: no limit.
    pub write_bytes: Option<At<RawSize>>,
    /// Reads per second there. Default: no limit.
    #[schemars(range(min = 1))]
    pub reads: Option<At<i64>>,
    /// Writes per second there. Default: no limit.
    #[schemars(range(min = 1))]
    pub writes: Option<At<i64>>,
    /// Where the machine cannot limit: refuse the run (`"refuse"`), or go on without, with a warning (`"warn"`).
    /// Default: refuse.
    pub without: Option<At<WithoutLimits>>,
}

/// Scripted answers, for trying out plimsoll itself. `--scale` does not change these times.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { latency = \"1ms\" }"
)]
#[schemars(rename = "Mock")]
pub struct RawMock {
    /// Service time of every transaction, such as `"2ms"`. Default: `"1ms"`.
    pub latency: Option<At<RawTime>>,
    /// Up to this much is added to the service time, uniformly distributed. Default: `"0s"`.
    pub jitter: Option<At<RawTime>>,
    /// Mean of what is added to the service time, exponentially distributed, such as `"8ms"`. Default: `"0s"`.
    pub exponential: Option<At<RawTime>>,
    /// Some transactions take longer: `{ share = 0.02, by = "80ms" }`. Default: none.
    pub slow: Option<At<RawSlowShare>>,
    /// Times in which no transaction makes progress: `[{ at = "3s", lasts = "2s" }]`. Default: none.
    pub stalls: Option<Vec<At<RawStall>>>,
    /// Every n-th transaction of a user fails. Default: none.
    #[schemars(range(min = 1))]
    pub fail_every: Option<At<i64>>,
    /// Every n-th transaction of a user has to be retried once. Default: none.
    #[schemars(range(min = 1))]
    pub retry_every: Option<At<i64>>,
    /// Times in which the system is away, with all connections lost: `[{ at = "3s", lasts = "2s" }]`, counted from the
    /// start of the ladder point. Default: none.
    pub outages: Option<Vec<At<RawStall>>>,
}

/// Transactions of the mock engine that take longer than the others.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { share = 0.02, by = \"80ms\" }"
)]
#[schemars(rename = "SlowShare", extend("required" = ["share", "by"]))]
pub struct RawSlowShare {
    /// How many of all transactions, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: Option<At<f64>>,
    /// How much longer they take, such as `"80ms"`.
    pub by: Option<At<RawTime>>,
}

/// A stretch of time in which the mock engine makes no progress, or is away.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { at = \"3s\", lasts = \"2s\" }"
)]
#[schemars(rename = "Stall", extend("required" = ["at", "lasts"]))]
pub struct RawStall {
    /// When it begins, counted from the start of the ladder point (ramp included), such as `"3s"`.
    pub at: Option<At<RawTime>>,
    /// How long it lasts, such as `"2s"`.
    pub lasts: Option<At<RawTime>>,
}

/// What users do: one of the kinds below.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as [workload.oltp.tpcc]"
)]
#[schemars(rename = "Workload", extend("minProperties" = 1, "maxProperties" = 1))]
pub struct RawWorkload {
    /// TPC-C-derived: order entry, five kinds of transactions. Results are not comparable with published TPC results.
    pub tpcc: Option<At<RawTpcc>>,
    /// The OLTP scripts of sysbench 1.0: the same tables, statements and random draws, by plimsoll's own client.
    pub sysbench: Option<At<RawSysbench>>,
    /// Requests to the medium itself, carried out by fio. Its steps have no `system`.
    pub block: Option<At<RawBlock>>,
    /// How the data set of another workload is saved and brought back.
    pub backup: Option<At<RawBackup>>,
}

/// Backup and restore of a system's data set.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { data = \"oltp\" }"
)]
#[schemars(rename = "Backup", extend("required" = ["data"]))]
pub struct RawBackup {
    /// The workload whose data set is saved, such as `"oltp"`.
    pub data: Option<At<String>>,
    /// Files as they are (`"physical"`: pg_basebackup, mariadb-backup, SQLite's backup API), or what is in them
    /// (`"logical"`: pg_dump, mariadb-dump). Default: physical.
    pub method: Option<At<BackupMethod>>,
    /// Threads or connections at the same time, where the program has them, 1 to 64. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub jobs: Option<At<i64>>,
    /// Whether each backup is restored beside the system, its conditions verified and its rows counted. A neighbour's
    /// never is. Default: true.
    pub restore: Option<At<bool>>,
}

/// TPC-C-derived load.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { warehouses = 4 }"
)]
#[schemars(rename = "Tpcc", extend("required" = ["warehouses"]))]
pub struct RawTpcc {
    /// Size of the data, 1 to 100000. One warehouse takes about 100 MB. `--data-scale` multiplies it.
    #[schemars(range(min = 1, max = 100_000))]
    pub warehouses: Option<At<i64>>,
    /// Where transactions run: in the server with one round trip each (`"procedures"`), or in the client with one round
    /// trip per statement (`"statements"`). Default: procedures where every engine used has them, else statements.
    pub mode: Option<At<TxnMode>>,
    /// Which warehouses a user works for: always the same one (`"fixed"`), or one drawn for every transaction
    /// (`"roaming"`), so that few users reach all data. Default: fixed.
    pub home: Option<At<Home>>,
}

/// sysbench OLTP. What is not here is as sysbench has it by default.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { script = \"read_write\", rows = 100000 }"
)]
#[schemars(rename = "Sysbench", extend("required" = ["script", "rows"]))]
pub struct RawSysbench {
    /// What a transaction does, as sysbench's oltp_*.lua: `"read_write"`, `"read_only"`, `"write_only"` (transactions of
    /// several statements), `"point_select"`, `"update_index"`, `"update_non_index"`, `"insert"`, `"delete"` (one statement).
    pub script: Option<At<Script>>,
    /// Number of tables, `sbtest1` and so on, 1 to 1000. Default: 1.
    #[schemars(range(min = 1, max = 1000))]
    pub tables: Option<At<i64>>,
    /// Rows of each table (sysbench: table_size), 1 to 1000000000. A row takes about 250 bytes. `--data-scale` multiplies
    /// it.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub rows: Option<At<i64>>,
    /// How ids are drawn (sysbench: rand-type). Default: special, as in sysbench 1.0.
    pub distribution: Option<At<Distribution>>,
    /// Point selects in a transaction of read_write and read_only, 0 to 1000. Default: 10.
    #[schemars(range(min = 0, max = 1000))]
    pub point_selects: Option<At<i64>>,
    /// Ids that a range select of read_write and read_only covers, 1 to 1000000. Default: 100.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub range_size: Option<At<i64>>,
}

/// One entry of the schedule: a workload against a system, over a ladder of users or rates; or a block workload on
/// media. A block workload's step has `run`, `on`, `at_once`, `repeat`, `steady`, `ramp` and `measure`, and a `name`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [[step]] table")]
#[schemars(rename = "Step", extend("required" = ["run"]))]
pub struct RawStep {
    /// What the report calls this step. Default: the workload's name, numbered if it occurs again.
    pub name: Option<At<String>>,
    /// The workload's name.
    pub run: Option<At<String>>,
    /// The system's name. A block workload has none.
    pub system: Option<At<String>>,
    /// Names of the media, tried one after the other. Default: the only medium of the plan, if the system needs one.
    pub on: Option<At<Vec<At<String>>>>,
    /// Of a block workload: all media at the same time, with their workers counted together, instead of one after the
    /// other. Default: false.
    pub at_once: Option<At<bool>>,
    /// The hosts whose plimsolls share the load, such as `["gen[1-4]"]`. Default: it comes from this machine.
    pub from: Option<At<Vec<At<String>>>>,
    /// How many users work at the same time, 1 to 10000: `8`, or a ladder `[1, 2, 4, 8]`. With a `rate`: one number, how
    /// many transactions can be under way at once (default: 64).
    pub users: Option<At<Ladder<i64>>>,
    /// Transactions offered per second whatever the system does (open loop): `100`, or a ladder `[50, 100, 200]`.
    /// Default: none, every user starts its next transaction when the last one has ended (closed loop).
    pub rate: Option<At<Ladder<f64>>>,
    /// With a `rate` of one number: the rate at the end of the measurement, towards which it goes evenly. Default: the
    /// rate stays.
    pub rate_to: Option<At<f64>>,
    /// Without a `rate`: how many connections the users share, such as 64 for 15000 users who think; a user who finds
    /// none free waits, and the wait is part of the response time. Default: one for each user.
    pub connections: Option<At<i64>>,
    /// How often the whole ladder is gone through, 1 to 100, or all jobs of a block workload, 1 to 1000: figures become
    /// medians with intervals. Default: 1.
    #[schemars(range(min = 1, max = 1000))]
    pub repeat: Option<At<i64>>,
    /// Of a block workload, instead of `repeat`: all jobs are gone through again and again until their IOPS are steady.
    /// `true` is as SNIA has it, `{ rounds = 25, window = 5, range = 0.2, slope = 0.1 }`. Default: false.
    pub steady: Option<At<RawSteady>>,
    /// Load before the first point, of which no figures are taken: `{ users = 32, lasts = "6h" }`. Default: none.
    pub precondition: Option<At<RawPrecondition>>,
    /// Look for the highest load that meets an objective, instead of going through a ladder: `{ p99_ms = 10, of =
    /// "new_order" }`. `users` or `rate` is then where the search starts.
    pub find: Option<At<RawFind>>,
    /// When the data set is reset: before each point (`"each_point"`), or never. Default:
    /// never.
    pub reset: Option<At<ResetPolicy>>,
    /// How: `"files"` (the server stops, its files are put back), `"template"` (PostgreSQL: a database made anew from a
    /// template), `"reload"` (loaded again), or the fastest one that the system has (`"auto"`). Default: auto.
    pub reset_by: Option<At<ResetMethod>>,
    /// With a `rate`: equal distances (`"constant"`), or exponentially distributed ones, as independent users have
    /// (`"poisson"`). Default: constant.
    pub arrivals: Option<At<Arrivals>>,
    /// With a `rate`: how many transactions can wait for a free user; what comes on top is dropped and counted.
    /// Default: 100000.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub queue: Option<At<i64>>,
    /// Limits that figures of this step must keep at every load, as the plan's own `require`. Default: none.
    pub require: Option<At<Vec<At<String>>>>,
    /// Load before figures are taken: caches fill. Such as `"10s"`, which is the default; of a block workload at least
    /// `"1s"`, and `"2s"` is the default.
    pub ramp: Option<At<RawTime>>,
    /// How long figures are taken at each point of the ladder, at least a second. Default: `"60s"`.
    pub measure: Option<At<RawTime>>,
    /// Longest time for transactions under way to finish after that. Default: `"30s"`.
    pub cool: Option<At<RawTime>>,
    /// Users type and think between transactions: a factor on the workload's own times, 0 to 1000. Default: 0, they do
    /// not; 1 is as the specification has it.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub keying_and_think: Option<At<f64>>,
    /// When the data's consistency is checked. Default: each_point.
    pub check: Option<At<CheckPolicy>>,
    /// How often a transaction is tried again after a deadlock or serialisation failure, 0 to 1000. Default: 10.
    #[schemars(range(min = 0, max = 1000))]
    pub max_retries: Option<At<i64>>,
    /// The power of an emulated drive fails this long after the measurement began, such as `"10s"`; the point ends with
    /// it, and what clients saw committed is looked for after recovery. Default: it does not fail.
    pub power_cut: Option<At<RawTime>>,
    /// What happens to members of an emulated array after the measurement began, in order: `[{ at = "20s", fail = 2 },
    /// { at = "40s", replace = 2 }]`. Default: nothing.
    pub event: Option<At<Vec<At<RawEvent>>>>,
    /// What other systems do on the same medium: `[{ run = "save", system = "neighbour", every = "100s" }]`. Each point
    /// is then measured twice: with these systems idle, and with what they do. Default: none.
    pub noise: Option<At<Vec<At<RawNoise>>>>,
    /// Of a backup workload: the medium that backups are written to. Default: the medium with the data.
    pub to: Option<At<String>>,
    /// Of a backup workload: how many backups, 1 to 1000. Default: 3.
    #[schemars(range(min = 1, max = 1000))]
    pub cycles: Option<At<i64>>,
    /// Of a backup workload: time from the beginning of one backup to the beginning of the next, such as `"100s"`; one
    /// that takes longer is let finish. Default: each follows the one before.
    pub every: Option<At<RawTime>>,
}

/// What happens to a member of an emulated array.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { at = \"20s\", fail = 2 }"
)]
#[schemars(rename = "Event", extend("required" = ["at"]))]
pub struct RawEvent {
    /// When, counted from the beginning of the measurement; `"random"`: at a moment drawn by `seed` (without one by
    /// `data_seed`), between the events that are written before and after it.
    pub at: Option<At<RawTime>>,
    /// This member fails, counted from 0.
    #[schemars(range(min = 0, max = 63))]
    pub fail: Option<At<i64>>,
    /// A new drive takes this member's place and is filled from the others.
    #[schemars(range(min = 0, max = 63))]
    pub replace: Option<At<i64>>,
    /// This member, which failed, is there again with its old data. What was written meanwhile is copied from the others:
    /// of an array without a bitmap everything.
    #[serde(rename = "return")]
    #[schemars(range(min = 0, max = 63))]
    pub returns: Option<At<i64>>,
    /// This member's drives take `factor` times as long as before all events.
    #[schemars(range(min = 0, max = 63))]
    pub slow: Option<At<i64>>,
    /// Of `slow`, 1 to 1000; 1 ends it.
    #[schemars(range(min = 1, max = 1000))]
    pub factor: Option<At<f64>>,
    /// Of a cluster, or of an array behind a network: its bandwidth in each direction, such as `"1Gb"`.
    pub network: Option<At<String>>,
}

/// What another system does beside the one that a step measures: a backup, or load.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { run = \"save\", system = \"neighbour\" }"
)]
#[schemars(rename = "Noise", extend("required" = ["run", "system"]))]
pub struct RawNoise {
    /// The name of a backup workload, or of one that users run.
    pub run: Option<At<String>>,
    /// The system's name; not the one of the step. All its instances do it.
    pub system: Option<At<String>>,
    /// Of a backup: the medium that it is written to. Default: the medium with the data.
    pub to: Option<At<String>>,
    /// Of a backup: how many, 1 to 1000; none begins after the measurement. Default: as many as there is time for.
    #[schemars(range(min = 1, max = 1000))]
    pub cycles: Option<At<i64>>,
    /// Of a backup: time from the beginning of one to the beginning of the next. Default: each follows the one before.
    pub every: Option<At<RawTime>>,
    /// Of load: how many users work at the same time, on each instance.
    #[schemars(range(min = 1, max = 10_000))]
    pub users: Option<At<i64>>,
}

/// Load that brings drive and database into the state that they have in long use.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { users = 32, lasts = \"6h\" }"
)]
#[schemars(rename = "Precondition", extend("required" = ["lasts"]))]
pub struct RawPrecondition {
    /// How many users work at the same time. Default: the most of the ladder; with a `rate`, its highest.
    #[schemars(range(min = 1))]
    pub users: Option<At<i64>>,
    /// How long, such as `"6h"`.
    pub lasts: Option<At<RawTime>>,
}

/// What a load must meet: exactly one of the `_ms` keys, in milliseconds of response time.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { p99_ms = 10 }"
)]
#[schemars(rename = "Find")]
pub struct RawFind {
    pub mean_ms: Option<At<f64>>,
    pub p50_ms: Option<At<f64>>,
    pub p90_ms: Option<At<f64>>,
    pub p95_ms: Option<At<f64>>,
    pub p99_ms: Option<At<f64>>,
    pub p999_ms: Option<At<f64>>,
    pub max_ms: Option<At<f64>>,
    /// The transaction type that it is about, such as `"new_order"`. Default: all together.
    pub of: Option<At<String>>,
    /// No more users, or transactions per second, than this. Default: 10000 users, 1000000 per second.
    pub most: Option<At<f64>>,
    /// How close the lowest load that fails must be to the highest that meets it, as a share, 0.01 to 1. Default: 0.05.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub precision: Option<At<f64>>,
    /// A measurement is lengthened up to this where it holds too few transactions for the figure: p99 needs 2000 of the
    /// type. Default: `"5m"`, or `measure` where that is longer.
    pub longest: Option<At<RawTime>>,
}
