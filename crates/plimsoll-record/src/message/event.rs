//! Events beside the figures: what went wrong, or was done, while a plan ran.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::doctor::NoDeviceCause;

/// Times in `_s` count from the start of the point. `error` is the message of an operating system, a server or a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", content = "args", rename_all = "snake_case")]
pub enum EventKind {
    /// A warning of the plan, or what a killed run had left and was removed.
    Plan {
        warning: String,
    },
    Leftovers {
        removed: String,
    },
    /// Intents without an end: `counted` is the count of the connections.
    Conservation {
        in_flight: i64,
        counted: u64,
    },
    Unanswered {
        transactions: u64,
    },
    Late {
        outcomes: u64,
    },
    Overflow {
        outcomes: u64,
    },
    /// Events of one code that were counted and not listed.
    MoreEvents {
        event: String,
        events: u64,
    },
    RetriesExhausted {
        connection: u32,
        error: String,
    },
    Failed {
        connection: u32,
        error: String,
    },
    ConnectionLost {
        connection: u32,
        error: String,
    },
    /// Connections that were lost and open again: with the server itself away, or not.
    Reconnected {
        server_away: bool,
        connections: u32,
        lost: u64,
        reopened: u64,
        refused: u64,
        from_s: f64,
        first_s: f64,
        last_s: f64,
        error: String,
    },
    NotReconnected {
        lost: u64,
        away: u32,
        from_s: f64,
        until_s: f64,
    },
    ConnectionsLost {
        outages: u64,
        lost: u64,
        reopened: u64,
    },
    /// A host of a lane did not come back: its part of the load ends where its last second did.
    HostLost {
        host: String,
        why: String,
        since_s: f64,
    },
    /// A host's link was cut and came back; its worker went on meanwhile.
    LinkCut {
        host: String,
        seconds: f64,
    },
    /// Its plimsoll was killed; what followed was read from the journals of these hosts, so many seconds under load.
    RunJoined {
        hosts: String,
        seconds: f64,
    },
    /// Forwards where positive.
    HostDateSet {
        host: String,
        ms: f64,
    },
    ServerDied {
        system: String,
        error: String,
    },
    /// The last lines of what a server or program that ended printed.
    EndOfLog {
        log: String,
    },
    DiskFull {
        system: String,
        place: String,
        error: String,
        is_quota: bool,
        is_out_of_inodes: bool,
        free_bytes: Option<u64>,
        size_bytes: Option<u64>,
    },
    NotRecovered {
        step: String,
        error: String,
    },
    NoPowerCut {
        step: String,
    },
    /// The consistency conditions that the plan wants verified could not be.
    NotVerified {
        step: String,
        error: String,
    },
    /// Connections to an existing server are not encrypted: TLS was tried and failed.
    WithoutTls {
        error: String,
    },
    /// A pooler that takes connections for an existing server.
    Pooler {
        pooler: String,
    },
    /// A source of metrics that cannot be read, and the figures that are missing without it.
    Unreadable {
        source: String,
        error: String,
        figures: Figures,
    },
    /// Figures that a server does not show, or not to this user.
    NotShown {
        what: NotShown,
        user: String,
        server: String,
    },
    /// A product that speaks the protocol of the server that the plan names.
    StandIn {
        product: String,
        server: String,
    },
    Approximated {
        source: String,
        error: String,
    },
    Ended {
        source: String,
        error: String,
    },
    NoDevice {
        medium: String,
        cause: NoDeviceCause,
        /// Beside the cause: an error, a name or a number.
        what: String,
    },
    Doctor {
        error: String,
    },
    NotEmulated {
        medium: String,
        drive: String,
        path: String,
        error: String,
    },
    /// The emulated drives with `speed = "auto"` run as they are rated.
    FullSpeed,
    /// Those of these media do; others have speeds of their own.
    FullSpeedOf {
        media: Vec<String>,
    },
    /// Those of `media` (empty: all) run slower by `factor`, because `medium` was late when it was tried at `tried` (`None`: as rated), by
    /// `added_percent` of the modelled time (`None`: the emulator had no time left).
    SlowedDown {
        media: Vec<String>,
        factor: u32,
        medium: String,
        tried: Option<u32>,
        added_percent: Option<f64>,
    },
    /// As [`EventKind::SlowedDown`]: the emulator fell behind at `point` in a run that began before this one and is kept.
    BegunAgain {
        media: Vec<String>,
        factor: u32,
        medium: String,
        tried: Option<u32>,
        added_percent: Option<f64>,
        point: String,
        kept: String,
    },
    /// It did not run for so long of a second.
    EmulatorStopped {
        stopped_ms: f64,
    },
    Saturated {
        busy_percent: f64,
    },
    BackingFull {
        limit_bytes: u64,
    },
    /// A member of an emulated array failed, as the plan has it.
    MemberFailed {
        member: u32,
        data_lost: bool,
    },
    /// A new drive took its place.
    MemberReplaced {
        member: u32,
    },
    /// It is there again with what it had.
    MemberReturned {
        member: u32,
    },
    /// It has been missing for so long that what it had is rebuilt on other hosts of a cluster.
    MemberRepairBegun {
        member: u32,
    },
    /// The new drive, or the other hosts, hold all its data.
    MemberRebuilt {
        member: u32,
        seconds: f64,
    },
    /// Its drives take so many times as long as before all events.
    MemberSlowed {
        member: u32,
        factor: f64,
    },
    /// It is as fast again as before all events.
    MemberRecovered {
        member: u32,
    },
    /// The network of every host of a cluster.
    NetworkChanged {
        gbit: u32,
        /// Before all events.
        usual_gbit: u32,
    },
    BackingSlower {
        directory: String,
        disk_mb_per_second: f64,
        disk_read_ns: u64,
        drive_mb_per_second: f64,
        drive_read_ns: u64,
    },
    EmulatorTalk {
        error: String,
    },
    LimitsUntried {
        system: String,
        error: String,
    },
    NotLimited {
        system: String,
        error: String,
    },
    /// A device that is overwritten, and its content.
    Overwritten {
        medium: String,
        device: String,
        signatures: Vec<String>,
        partitions: Vec<String>,
    },
    NotSteady {
        step: String,
        rounds: u32,
    },
    NoCurve {
        step: String,
        job: String,
    },
    Cleanup {
        error: String,
    },
    Teardown {
        error: String,
    },
    /// A sentence as it was recorded, or the arguments of a code that this version does not know.
    #[serde(untagged)]
    Stored {
        code: String,
        text: String,
    },
}

/// Figures that a source of metrics gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figures {
    Cpu,
    Memory,
    Pressure,
    Network,
    Device,
    Flushes,
    Space,
    DataSize,
    BackupWrites,
    ProcessIo,
    GeneratorCpu,
    GeneratorMemory,
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotShown {
    LogCounters,
    Sessions,
    Activities,
    Transactions,
    /// Requests to data and log files, with their waits.
    Files,
    /// `server` holds their names.
    Views,
}

impl EventKind {
    pub fn stored(code: &str, text: &str) -> Self {
        Self::Stored {
            code: code.to_owned(),
            text: text.to_owned(),
        }
    }

    /// The plan orders it: nothing to be warned of.
    pub const fn is_planned(&self) -> bool {
        matches!(
            self,
            Self::MemberFailed { .. }
                | Self::MemberReplaced { .. }
                | Self::MemberReturned { .. }
                | Self::MemberRepairBegun { .. }
                | Self::MemberRebuilt { .. }
                | Self::MemberSlowed { .. }
                | Self::MemberRecovered { .. }
                | Self::NetworkChanged { .. }
        )
    }

    /// Stable, for machines: `connection_lost`, `unreadable`.
    pub fn code(&self) -> String {
        let kind = serde_json::to_value(self).unwrap_or_default();
        kind["code"].as_str().unwrap_or_default().to_owned()
    }

    /// As a run file has them: JSON.
    pub fn args(&self) -> String {
        match self {
            Self::Stored { text, .. } => Value::from(text.as_str()).to_string(),
            coded => {
                let coded = serde_json::to_value(coded).unwrap_or_default();
                // A code without arguments has none.
                coded.get("args").unwrap_or(&Value::Null).to_string()
            }
        }
    }

    /// The event with these columns of a run file. One of a code that this version does not know keeps its arguments.
    pub fn from_columns(code: String, args: String) -> Self {
        let args = serde_json::from_str(&args).unwrap_or(Value::String(args));
        let known = serde_json::from_value(serde_json::json!({ "code": code, "args": args }));
        known.unwrap_or_else(|_| Self::Stored {
            code,
            text: match args {
                Value::String(text) => text,
                args => args.to_string(),
            },
        })
    }
}
