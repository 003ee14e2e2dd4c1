//! What a finding may be.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use crate::summary::figure::FigureId;
use plimsoll_plan::objective::Quantile;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::message::{BackupDetail, CheckDetail, EventKind, FirstLost};
use plimsoll_record::{BackupKind, RunStatus, Severity};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub severity: Severity,
    #[serde(flatten)]
    pub kind: FindingKind,
}

/// A closed set, so that each has its sentence in every language.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum FindingKind {
    /// The run ended early; `reason` may be empty.
    RunEnded { status: RunStatus, reason: String },
    /// Nothing was measured at this point.
    NothingMeasured,
    /// Seconds were measured, and no transaction completed on this system.
    NothingCompleted { system: String, measured_s: f64 },
    /// A phase under load ended early.
    PhaseIncomplete { phase: PhaseKind, lasted_s: f64 },
    /// The percentiles come from the seconds' coarse histograms (up to 3.2 % off).
    CoarseWindow,
    /// Parts of the window have no record.
    SecondsMissing { missing_s: f64 },
    /// Too short for an interval and for the check whether it was steady.
    ShortWindow { measured_s: f64 },
    /// A search's window holds fewer transactions than its figure needs.
    TooFewSamples {
        figure: Quantile,
        samples: u64,
        needed: u64,
    },
    /// Long enough, and in too few parts for an interval and for the check whether it was steady.
    FewIntervals { measured_s: f64, intervals: u64 },
    /// Counts and what was in flight disagree.
    CountsBroken {
        at_s: f64,
        offered: u64,
        settled: u64,
        in_flight: u64,
    },
    /// Intents were in flight when the record ends.
    NotDrained { in_flight: u64 },
    /// A histogram holds another number of transactions than completed.
    HistogramDisagrees {
        txn: String,
        histogram: u64,
        completed: u64,
    },
    /// The histograms contain a random sample of the transactions, and counts come from elsewhere.
    HistogramSample {
        histogram: u64,
        completed: u64,
        percent: f64,
    },
    /// Values above the histogram's range were counted as its maximum.
    Clipped { txn: String, values: u64 },
    /// The rate was not steady over the window (see [`Steady`](crate::summary::Steady)).
    Unsteady {
        range_percent: f64,
        slope_percent: f64,
    },
    /// More was offered than settled: the system does not keep up with this rate.
    BacklogGrew { intents: u64, percent: f64 },
    /// So much of an open loop's window was not answered in it that its figures are those of the rest.
    Unanswered {
        intents: u64,
        offered: u64,
        percent: f64,
        limit_percent: f64,
    },
    /// Transactions that were due in the window had no answer when the load was over, after so long or longer. They count
    /// with their age: the mean and the figures from `first` on are lower bounds.
    Unfinished {
        intents: u64,
        offered: u64,
        least_ms: f64,
        first: FigureId,
    },
    /// There was no server for a part of the window.
    ServerAway {
        away_s: f64,
        percent: f64,
        limit_percent: f64,
    },
    /// Figures of the point cannot all be true, as a rule of the audit found.
    Contradicted { rule: String },
    /// Failed or dropped intents.
    NotServed {
        failed: u64,
        dropped: u64,
        percent: f64,
    },
    /// A consistency condition of clause 3.3.2 is violated.
    ConditionFails {
        subject: String,
        clause: String,
        detail: CheckDetail,
    },
    /// The plan wants the conditions verified, and that failed.
    VerificationFailed { error: String },
    /// No consistency condition was verified after this point or at the end of its step.
    NotVerified,
    /// Rule EMULATED: the emulated drive answered later than its model requires, so that the figures are not the drive's.
    Emulated {
        drive: String,
        op: DriveOp,
        ops: u64,
        modelled_p50_us: f64,
        late_p50_us: f64,
        late_percent: f64,
        beyond_percent: f64,
        added_percent: f64,
    },
    /// Requests were queued in the kernel: they took longer there than in the emulator.
    EmulationWaited {
        drive: String,
        kernel_ms: f64,
        emulator_ms: f64,
        added_percent: f64,
    },
    /// The emulated drive answered with errors although it had power.
    DriveErrors {
        drive: String,
        op: DriveOp,
        errors: u64,
    },
    /// Rule EMULATED is not evaluated: the emulator did not report parts of the window.
    EmulationUnreported {
        drive: String,
        missing_s: f64,
        measured_s: f64,
    },
    /// Rule EMULATED is not evaluated: the drive had too few operations.
    EmulationTooFew {
        drive: String,
        ops: u64,
        fewest: u64,
    },
    /// Transactions that clients saw committed are not in the database after a power cut.
    CommittedLost {
        txn: String,
        lost: u64,
        acknowledged: u64,
        first_lost: Option<FirstLost>,
    },
    /// After a power cut the database, or its filesystem, did not come up again.
    NotRecovered,
    /// There were no acknowledged transactions to verify after a power cut.
    #[serde(rename = "cut_unjudged")]
    CutNotEvaluated,
    /// The database and its clients counted different numbers of commits, both per second. The limit is what the server
    /// may show late, and 2 %.
    CommitsDisagree {
        database: f64,
        clients: f64,
        percent: f64,
        limit_percent: f64,
    },
    /// Block I/O did not reach the rate that was to be offered; both per second over all workers.
    RateNotReached {
        offered: f64,
        achieved: f64,
        percent: f64,
    },
    /// Requests in flight on average, by Little's law, beside what the job was to keep in flight.
    InFlightOff { found: f64, asked: u32 },
    /// Workers that should do the same do not: IOPS of the slowest and the fastest on one medium.
    WorkersApart {
        medium: String,
        cv_percent: f64,
        lowest: f64,
        highest: f64,
    },
    /// The workers' totals are not what was counted.
    WorkersDisagree {
        op: String,
        workers: u64,
        counted: u64,
    },
    /// Rounds were given up, or ended, before the jobs were steady.
    SteadyNotReached { rounds: u32, window: u32 },
    /// Reads may have met blocks that were never written, which drives answer without reading the medium.
    NeverWritten { fill: f64 },
    /// Backups or restores that did not complete; cycle and reason are the first one's.
    BackupFailed {
        kind: BackupKind,
        failed: u64,
        of: u64,
        cycle: u32,
        detail: Option<BackupDetail>,
    },
    /// Restored data are not what was saved; cycle and difference are the first one's.
    RestoreDiffers {
        differs: u64,
        of: u64,
        cycle: u32,
        detail: Option<BackupDetail>,
    },
    /// Ended by the user, or with the load beside them.
    BackupCancelled {
        kind: BackupKind,
        cancelled: u64,
        of: u64,
    },
    /// Rule RATE: a backup's files grew by another amount than it reported; all but `times` are of the worst.
    RateDisagrees {
        times: u64,
        cycle: u32,
        system: String,
        stated_mb: f64,
        observed_mb: f64,
        percent: f64,
    },
    /// Rule RATE is not evaluated: the files of these backups were sampled too rarely.
    #[serde(rename = "rate_not_judged")]
    RateNotEvaluated { times: u64, of: u64 },
    /// Of a load with noise, repeats that have no counterpart that can be used.
    EffectUnpaired { left_out: u64, of: u64 },
    /// Measured by another tool, whose output is incomplete: `unknown` are the keys of what it lacks.
    Imported { source: String, unknown: String },
    /// Another tool's output has only totals: no interval, and whether the rate was steady is not evaluated.
    WholeOnly { measured_s: f64 },
    /// There are only figures that another tool printed.
    OnlyReported { source: String },
    /// An event of the record that stands beside the figures; `times` is how often its code occurred, the rest is
    /// about the first.
    Event {
        event: String,
        at_s: f64,
        #[serde(flatten, serialize_with = "without_code")]
        message: EventKind,
        times: u64,
    },
}

/// The finding has the code.
fn without_code<S: Serializer>(message: &EventKind, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serde_json::to_value(message).map_err(S::Error::custom)?;
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("code");
    }
    fields.serialize(serializer)
}

impl Finding {
    /// Merges the findings of several systems at the same time. All of them use the same drive, each in its own window, so that its figures differ a little.
    pub(crate) fn of_all<'a>(each: impl Iterator<Item = &'a Self>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for finding in each {
            if !all
                .iter()
                .any(|own| own == finding || (finding.is_of_the_drive() && own.is_like(finding)))
            {
                all.push(finding.clone());
            }
        }
        all
    }

    fn is_of_the_drive(&self) -> bool {
        matches!(
            self.kind,
            FindingKind::Emulated { .. }
                | FindingKind::EmulationWaited { .. }
                | FindingKind::DriveErrors { .. }
                | FindingKind::EmulationUnreported { .. }
                | FindingKind::EmulationTooFew { .. }
        )
    }

    /// The same kind of thing, and as severe.
    fn is_like(&self, other: &Self) -> bool {
        self.severity == other.severity
            && std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
    }
}

impl FindingKind {
    pub(in crate::summary) fn with(self, severity: Severity) -> Finding {
        Finding {
            severity,
            kind: self,
        }
    }
}
