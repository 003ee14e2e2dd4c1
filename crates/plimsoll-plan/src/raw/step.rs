//! Steps as a person writes them. Load, block and backup steps are tables of one type; each key states which of them
//! lack it.

use super::choice::{Either, Switch};
use super::table::{TableKind as Kind, plan_table};
use crate::load::Arrivals;
use crate::resolved::{CheckPolicy, ResetMethod, ResetPolicy};
use crate::units::Nanos;
use crate::value::{ABOVE_ZERO, At, Decimal, Ladder, RawMoment, RawTime, Whole, bounds};
use plimsoll_stats::rounds::SteadyRule;

const REMOVE: &str = "remove it";
const ADD_RATE: &str = "add rate = 100, or remove it";
const ONLY_BLOCK: &str = "only the step of a [workload.NAME.block] has it: remove it";
const ONLY_BACKUP: &str =
    "only the step of a [workload.NAME.backup] has it, and an entry of `noise`: remove it";
/// Help for loads in the step of a block workload.
const JOBS: &str = "how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`";
const FILLED: &str = "what is written before the first job stands in the workload: `fill`";
/// Help for loads in the step of a backup workload.
const NO_USERS: &str = "a backup has no users; to load the system at the same time, make it the `noise` of a load step";
const OFTEN: &str = "how often stands in `cycles` and `every`: remove it";

/// A number of users, each of whom may wait for a connection.
pub type RawUsers = Whole<1, 100_000>;

bounds! {
    /// Transactions offered per second.
    OfferedRate: ABOVE_ZERO, 1e6, "transactions per second: above 0, at most 1000000";
    /// Factor on keying and think times.
    ThinkFactor: 0.0, 1000.0, "0 is off, 1 as specified, at most 1000";
    /// Factor on the times of a member's drives.
    SlowFactor: 1.0, 1000.0, "1 to 1000 times as long; 1 ends it";
    /// Limit of a response time in milliseconds.
    LimitMillis: 0.001, 3_600_000.0, "";
    /// Distance of the loads between which a search ends.
    SearchPrecision: 0.01, 1.0, "";
    /// Share of the mean over a window of rounds.
    MeanShare: ABOVE_ZERO, 1.0, "a share of the mean: above 0, at most 1";
}

plan_table! {
    /// One entry of the schedule: a workload against a system, over a ladder of users or rates; or a block workload on
    /// media. A block workload's step has `run`, `on`, `at_once`, `repeat`, `steady`, `ramp` and `measure`, and a `name`.
    #[schemars(rename = "Step", extend("required" = ["run"]))]
    pub struct RawStep("a [[step]] table") {
        /// What the report calls this step. Default: the workload's name, numbered if it occurs again.
        name: String,
        /// The workload's name.
        run: String,
        /// The system's name. A block workload has none.
        #[refused(Kind::BlockStep => "fio works on the medium itself: remove it")]
        system: String,
        /// Names of the media, tried one after the other. Default: the only medium of the plan, if the system needs one.
        on: Vec<At<String>>,
        /// Of a block workload: all media at the same time, with their workers counted together, instead of one after the
        /// other.
        #[refused(Kind::LoadStep => ONLY_BLOCK, Kind::BackupStep => REMOVE)]
        at_once: bool = false,
        /// The hosts whose plimsolls share the load, such as `["gen[1-4]"]`. Default: it comes from this machine.
        #[refused(Kind::BlockStep | Kind::BackupStep => "only load on systems comes from other hosts: remove it")]
        from: Vec<At<String>>,
        /// How many users work at the same time: `8`, or a ladder `[1, 2, 4, 8]`. With a `rate`: one number up to 10000, how
        /// many transactions can be under way at once (default: 64).
        #[refused(Kind::BlockStep => JOBS, Kind::BackupStep => NO_USERS)]
        users: Ladder<RawUsers>,
        /// Transactions offered per second whatever the system does (open loop): `100`, or a ladder `[50, 100, 200]`.
        /// Default: none, every user starts its next transaction when the last one has ended (closed loop).
        #[refused(Kind::BlockStep => JOBS, Kind::BackupStep => NO_USERS)]
        rate: Ladder<Decimal<OfferedRate>>,
        /// With a `rate` of one number: the rate at the end of the measurement, towards which it goes evenly. Default: the
        /// rate stays.
        #[refused(Kind::BlockStep => JOBS, Kind::BackupStep => NO_USERS, Kind::ClosedLoop => ADD_RATE)]
        rate_to: Decimal<OfferedRate>,
        /// Without a `rate`: how many connections the users share, such as 64 for 15000 users who think; a user who finds
        /// none free waits, and the wait is part of the response time. Default: one for each user.
        #[refused(
            Kind::BlockStep => JOBS, Kind::BackupStep => NO_USERS,
            Kind::OpenLoop => "with a rate, `users` is how many transactions can be under way at once, each on a connection"
        )]
        connections: Whole<1, 10_000>,
        /// How often the whole ladder is gone through (at most 100 times), or all jobs of a block workload: figures become
        /// medians with intervals.
        #[refused(Kind::BackupStep => OFTEN)]
        repeat: Whole<1, 1000> = 1,
        /// Of a block workload, instead of `repeat`: all jobs are gone through again and again until their IOPS are steady.
        /// `true` is as SNIA has it, `{ rounds = 25, window = 5, range = 0.2, slope = 0.1 }`. Default: false.
        #[refused(Kind::LoadStep => ONLY_BLOCK, Kind::BackupStep => OFTEN)]
        steady: Either<Switch, RawSteadyRule>,
        /// Load before the first point, of which no figures are taken: `{ users = 32, lasts = "6h" }`. Default: none.
        #[refused(Kind::BlockStep => FILLED, Kind::BackupStep => "put a load step before it")]
        precondition: RawPrecondition,
        /// Look for the highest load that meets an objective, instead of going through a ladder: `{ p99_ms = 10, of =
        /// "new_order" }`. `users` or `rate` is then where the search starts.
        #[refused(Kind::BlockStep => JOBS, Kind::BackupStep => REMOVE)]
        find: RawFind,
        /// When the data set is reset: before each point (`"each_point"`), or never.
        #[refused(Kind::BlockStep => FILLED, Kind::BackupStep => REMOVE)]
        reset: ResetPolicy = ResetPolicy::Never,
        /// How: `"files"` (the server stops, its files are put back), `"template"` (PostgreSQL: a database made anew from a
        /// template), `"reload"` (loaded again), or the fastest one that the system has (`"auto"`).
        #[refused(Kind::BlockStep => FILLED, Kind::BackupStep => REMOVE)]
        reset_by: ResetMethod = ResetMethod::Auto,
        /// With a `rate`: equal distances (`"constant"`), or exponentially distributed ones, as independent users have
        /// (`"poisson"`).
        #[refused(Kind::BlockStep => JOBS, Kind::BackupStep => NO_USERS, Kind::ClosedLoop => ADD_RATE)]
        arrivals: Arrivals = Arrivals::Constant,
        /// With a `rate`: how many transactions can wait for a free user; what comes on top is dropped and counted.
        #[refused(Kind::BlockStep => JOBS, Kind::BackupStep => NO_USERS, Kind::ClosedLoop => ADD_RATE)]
        queue: Whole<0, 10_000_000> = 100_000,
        /// Limits that figures of this step must keep at every load, as the plan's own `require`. Default: none.
        #[refused(Kind::BackupStep => REMOVE)]
        require: Vec<At<String>>,
        /// Load before figures are taken: caches fill. Such as `"10s"`, which is the default; of a block workload at least
        /// `"1s"`, and `"2s"` is the default.
        #[refused(Kind::BackupStep => "a backup begins at once: remove it")]
        ramp: RawTime,
        /// How long figures are taken at each point of the ladder, at least a second.
        #[refused(Kind::BackupStep => "a backup lasts as long as it takes: remove it")]
        measure: RawTime = Nanos::from_secs(60),
        /// Longest time for transactions under way to finish after that.
        #[refused(Kind::BlockStep => "fio is ended when the measurement is: remove it", Kind::BackupStep => REMOVE)]
        cool: RawTime = Nanos::from_secs(30),
        /// Users type and think between transactions: a factor on the workload's own times. 0: they do not; 1: as the
        /// specification has it.
        #[refused(Kind::BlockStep => JOBS, Kind::BackupStep => NO_USERS)]
        keying_and_think: Decimal<ThinkFactor> = 0.0,
        /// When the data's consistency is checked.
        #[refused(Kind::BlockStep => REMOVE, Kind::BackupStep => "what is restored is always verified: remove it")]
        check: CheckPolicy = CheckPolicy::EachPoint,
        /// How often a transaction is tried again after a deadlock or serialisation failure.
        #[refused(Kind::BlockStep | Kind::BackupStep => REMOVE)]
        max_retries: Whole<0, 1000> = 10,
        /// The power of an emulated drive fails this long after the measurement began, such as `"10s"`; the point ends with
        /// it, and what clients saw committed is looked for after recovery. Default: it does not fail.
        #[refused(Kind::BlockStep | Kind::BackupStep => REMOVE)]
        power_cut: RawTime,
        /// What happens to members of an emulated array after the measurement began, in order: `[{ at = "20s", fail = 2 },
        /// { at = "40s", replace = 2 }]`. Default: nothing.
        #[refused(Kind::BlockStep | Kind::BackupStep => REMOVE)]
        event: Vec<At<RawEvent>>,
        /// What other systems do on the same medium: `[{ run = "save", system = "neighbour", every = "100s" }]`. Each point
        /// is then measured twice: with these systems idle, and with what they do. Default: none.
        #[refused(
            Kind::BlockStep => "noise stands beside load on systems: remove it",
            Kind::BackupStep => "noise stands beside load: put it into a load step"
        )]
        noise: Vec<At<RawNoise>>,
        /// Of a backup workload: the medium that backups are written to. Default: the medium with the data.
        #[refused(Kind::LoadStep | Kind::BlockStep => ONLY_BACKUP)]
        to: String,
        /// Of a backup workload: how many backups.
        #[refused(Kind::LoadStep | Kind::BlockStep => ONLY_BACKUP)]
        cycles: Whole<1, 1000> = 3,
        /// Of a backup workload: time from the beginning of one backup to the beginning of the next, such as `"100s"`; one
        /// that takes longer is let finish. Default: each follows the one before.
        #[refused(Kind::LoadStep | Kind::BlockStep => ONLY_BACKUP)]
        every: RawTime,
    }
}

plan_table! {
    /// When rounds are enough.
    #[schemars(rename = "Steady")]
    pub struct RawSteadyRule("true, or a table such as { rounds = 25, window = 5 }") {
        /// At most so many.
        rounds: Whole<2, 1000> = SteadyRule::SNIA_ROUNDS,
        /// The last so many are compared.
        window: Whole<2, 100> = SteadyRule::SNIA.window,
        /// Highest less lowest in the window, at most this share of the mean.
        range: Decimal<MeanShare> = SteadyRule::SNIA.range,
        /// Rise or fall of the least-squares line over the window, at most this share of the mean.
        slope: Decimal<MeanShare> = SteadyRule::SNIA.slope,
    }
}

/// A member of an array, or a host of a cluster, counted from 0.
type Member = Whole<0, 63>;

plan_table! {
    /// What happens to a member of an emulated array.
    #[schemars(rename = "Event", extend("required" = ["at"]))]
    pub struct RawEvent("a table such as { at = \"20s\", fail = 2 }") {
        /// When, counted from the beginning of the measurement; `"random"`: at a moment drawn by `seed` (without one by
        /// `data_seed`), between the events that are written before and after it.
        at: RawMoment,
        /// This member fails, counted from 0.
        fail: Member,
        /// A new drive takes this member's place and is filled from the others.
        replace: Member,
        /// This member, which failed, is there again with its old data. What was written meanwhile is copied from the others:
        /// of an array without a bitmap everything.
        r#return: Member,
        /// This member's drives take `factor` times as long as before all events.
        slow: Member,
        /// Of `slow`; 1 ends it.
        factor: Decimal<SlowFactor>,
        /// Of a cluster, or of an array behind a network: its bandwidth in each direction, such as `"1Gb"`.
        network: String,
    }
}

const ONLY_BACKUP_NOISE: &str = "only backups have it: remove it";

plan_table! {
    /// What another system does beside the one that a step measures: a backup, or load.
    #[schemars(rename = "Noise", extend("required" = ["run", "system"]))]
    pub struct RawNoise("a table such as { run = \"save\", system = \"neighbour\" }") {
        /// The name of a backup workload, or of one that users run.
        run: String,
        /// The system's name; not the one of the step. All its instances do it.
        system: String,
        /// Of a backup: the medium that it is written to. Default: the medium with the data.
        #[refused(Kind::LoadNoise => ONLY_BACKUP_NOISE)]
        to: String,
        /// Of a backup: how many; none begins after the measurement. As many as there is time for.
        #[refused(Kind::LoadNoise => ONLY_BACKUP_NOISE)]
        cycles: Whole<1, 1000> = 1000,
        /// Of a backup: time from the beginning of one to the beginning of the next. Default: each follows the one before.
        #[refused(Kind::LoadNoise => ONLY_BACKUP_NOISE)]
        every: RawTime,
        /// Of load: how many users work at the same time, on each instance.
        #[refused(Kind::BackupNoise => REMOVE)]
        users: Whole<1, 10_000>,
    }
}

plan_table! {
    /// Load that brings drive and database into the state that they have in long use.
    #[schemars(rename = "Precondition", extend("required" = ["lasts"]))]
    pub struct RawPrecondition("a table such as { users = 32, lasts = \"6h\" }") {
        /// How many users work at the same time. Default: the most of the ladder; with a `rate`, its highest.
        users: RawUsers,
        /// How long, such as `"6h"`.
        lasts: RawTime,
    }
}

plan_table! {
    /// What a load must meet: exactly one of the `_ms` keys, in milliseconds of response time.
    #[schemars(rename = "Find")]
    pub struct RawFind("a table such as { p99_ms = 10 }") {
        mean_ms: Decimal<LimitMillis>,
        p50_ms: Decimal<LimitMillis>,
        p90_ms: Decimal<LimitMillis>,
        p95_ms: Decimal<LimitMillis>,
        p99_ms: Decimal<LimitMillis>,
        p999_ms: Decimal<LimitMillis>,
        max_ms: Decimal<LimitMillis>,
        /// The transaction type that it is about, such as `"new_order"`. Default: all together.
        of: String,
        /// No more users, or transactions per second, than this. Default: 10000 users, 1000000 per second.
        most: f64,
        /// How close the lowest load that fails must be to the highest that meets it, as a share.
        precision: Decimal<SearchPrecision> = 0.05,
        /// A measurement is lengthened up to this where it holds too few transactions for the figure: p99 needs 2000 of the
        /// type. At least as long as `measure`.
        longest: RawTime = Nanos::from_secs(300),
    }
}
