//! The plan as a person writes it: one declaration for each key, with its type, bounds, default and help. Types know
//! where they stand in the text. The comments here are what an editor shows (they become the JSON Schema, which adds
//! bounds and defaults); what goes together is checked by [`super::parse`].

mod audit;
mod block;
mod choice;
mod step;
mod system;
mod table;
mod workload;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::resolved::{
    DriveBacking, DriveFilesystem, DriveForm, DriveSpeed, FlushPolicy, WithoutFuse,
};
use super::value::{At, Decimal, RawSize, RawText, RawTime, bounds};
use crate::SLOWER;
use crate::units::{Bytes, Nanos};
pub use audit::RawAudit;
pub use block::{
    AccessWord, LEAST_FILE, RawAccess, RawBlock, RawBlockJob, RawBlockStream, RawCurve, RawProfile,
    RawSizes, RawSync, SyncWord,
};
pub use choice::{Either, RawShare, Switch};
pub use step::{OfferedRate, RawEvent, RawFind, RawNoise, RawSteadyRule, RawStep};
pub use system::{RawLimits, RawMock, RawSlowShare, RawStall, RawSystem};
pub use table::{PlanTable, TableKey, TableKind};
use table::{TableKind as Kind, plan_table};
pub use workload::{RawBackup, RawSysbench, RawTpcc, RawWorkload};

pub type Named<T> = BTreeMap<At<String>, At<T>>;

/// A plimsoll plan: what to test, on what, and for how long.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a plan")]
#[schemars(title = "plimsoll plan", rename = "Plan", extend("required" = ["title", "workload", "step"]))]
pub struct RawPlan {
    /// The question this plan answers. The report's headline.
    pub title: Option<At<RawText>>,
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
    /// The whole plan is run for each combination of values: keys of the plan with lists of values, such as
    /// `system.db.limits.memory = ["1GiB", "4GiB"]` or `medium.data.drive = ["…", "…"]`; a step's keys stand below its
    /// name (`step.oltp.users = [[1, 2], [8]]`). `repeat` (1 to 100) goes through all combinations so often; `order` is
    /// `"as_written"`, or `"random"` by the plan's seed, else 1. Default: the plan is run once.
    pub matrix: Option<RawMatrix>,
    /// Thresholds of the audit that are not the usual ones, such as `interval = 10`. Default: those of `docs/audit.md`.
    pub audit: Option<At<RawAudit>>,
}

impl RawPlan {
    /// Seed of the data: its own, that of the inputs, or 1.
    pub fn data_seed(&self) -> u64 {
        let given = self.data_seed.as_ref().or(self.seed.as_ref());
        given.map_or(1, |seed| *seed.get())
    }
}

/// What `[matrix]` holds; its keys are those of the plan, so its shape is checked where it is laid over the plan.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Matrix", with = "BTreeMap<String, serde_json::Value>")]
pub struct RawMatrix(#[allow(dead_code, reason = "`matrix` reads the text")] toml::Table);

plan_table! {
    /// Another machine, which load comes from or the plan is run on: any command that gives the standard input and output of a program there.
    #[schemars(rename = "Host")]
    pub struct RawHost("a table such as { via = \"ssh gen1\" }") {
        /// The command, in words between spaces: `"ssh gen1"`, `"kubectl exec -i pod --"`, `"srun -w node1"`, `"docker exec -i
        /// c1"`; `{host}` in it is the host's name. Default: a process of its own on this machine.
        via: RawText,
        /// plimsoll's path on the host, such as `"/usr/bin/plimsoll"`. Default: it is copied to `~/.cache/plimsoll` there,
        /// unless it has been already.
        program: RawText,
        /// How long the host may be away when its link is cut, such as `"2m"`: the load goes on meanwhile. Whoever waits
        /// longer gives up: plimsoll ends the run, a worker its load.
        patience: RawTime = Nanos::from_secs(60),
    }
}

bounds! {
    /// Factors by which a drive is slowed.
    Slowdown: *SLOWER.start(), *SLOWER.end(), "a factor of 1 to 1000: 20 makes 80 µs 1.6 ms";
    /// Share of a drive's capacity that holds data.
    DriveFill: 0.0, 1.0, "a share of the capacity: 0 is a new drive, 1 a drive in steady state";
}

/// Help for a key of emulated drives on a medium without one.
const NO_DRIVE: &str = "it belongs to an emulated drive: add drive = \"…\", or remove it";
const ONE_OF_THREE: &str =
    "a medium is one of the three: remove the other, or make two media of it";
/// A PostgreSQL with its WAL does not fit in less, and filesystems take their share.
const LEAST_CAPACITY: u64 = Bytes::mib(512).0;

plan_table! {
    /// Where data lives: a directory (`path`), an emulated drive (`drive`), or a device itself (`device`).
    #[schemars(rename = "Medium", extend(
        "anyOf" = [{ "required": ["path"] }, { "required": ["drive"] }, { "required": ["device"] }]
    ))]
    pub struct RawMedium("a table such as { path = \".\" }") {
        /// An existing directory; a relative one counts from where plimsoll is started. plimsoll makes a directory of its
        /// own in it and removes it afterwards. With a `drive`: where that directory is made; default: `"."`.
        #[refused(Kind::Device => ONE_OF_THREE)]
        path: RawText,
        /// A device that block workloads write to directly, such as `"/dev/disk/by-id/nvme-…"`. What is on it is lost: one
        /// that holds anything is refused unless `--overwrite` names it. Default: none.
        device: RawText,
        /// An emulated drive: a name that `plimsoll drive list` shows, or the path of a drive file that ends with
        /// `.toml`. Default: none, the data lie in `path` as it is.
        #[refused(Kind::Device => ONE_OF_THREE)]
        drive: RawText,
        /// Size of the emulated drive, at least `"512MiB"`, at most the rated capacity.
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        capacity: RawSize<LEAST_CAPACITY> = Bytes::mib(32 << 10),
        /// How fast the emulated drive is: slowed down by the smallest factor at which this machine can answer, found before
        /// the run and the same for all such drives of the plan (`"auto"`), or as it is rated (`"full"`).
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        speed: DriveSpeed = DriveSpeed::Auto,
        /// A fixed factor instead: all times of the emulated drive are so many times as long, and its rates as much lower.
        /// Ratios between drives slowed alike stay; the load has to be as much lower. Without it `speed` counts.
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        slower: Decimal<Slowdown>,
        /// Share of the capacity that holds data which nobody rewrites: flash drives write the slower the fuller they are, and
        /// 1 is a drive in steady state.
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        fill: Decimal<DriveFill> = 1.0,
        /// How programs see the emulated drive: a block device with a filesystem, which needs root (`"block"`), a directory
        /// (`"directory"`), or the former for root and else the latter (`"auto"`).
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        form: DriveForm = DriveForm::Auto,
        /// What is made on an emulated block device.
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        filesystem: DriveFilesystem = DriveFilesystem::Ext4,
        /// Where the emulated drive's data really are: in memory (`"memory"`), or in a sparse file below `path`
        /// (`"file"`).
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        backing: DriveBacking = DriveBacking::Memory,
        /// What a flush does: what the drive's file states (`"honest"`), or nothing although it is acknowledged
        /// (`"ignored"`).
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        flush: FlushPolicy = FlushPolicy::Honest,
        /// What to do where FUSE is not to be had: refuse the run (`"refuse"`), or go on in a plain directory with a
        /// warning (`"plain_directory"`).
        #[refused(Kind::WithoutDrive => NO_DRIVE)]
        without_fuse: WithoutFuse = WithoutFuse::Refuse,
    }
}
