//! The order in which reasons of doubt are listed, everywhere: what a person would mend first comes first.
//!
//! What happened to the system under test comes before what follows from it: counts that do not add up because the server
//! went away are mended by a server that stays.

use plimsoll_record::Severity;
use plimsoll_record::message::EventKind;

use crate::summary::{Finding, FindingKind};

/// What a reason of doubt is about, in the order of mending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The run ended early or could not begin.
    RunEnded,
    /// The server or its medium was unavailable.
    ServerAway,
    /// Transactions or backups failed.
    Failed,
    /// Connections were refused or lost, or rights are missing.
    Connections,
    /// Data were lost, or are not what they should be.
    Data,
    /// Load generator, other programs, emulator: the machine did not do what the figures are about.
    Machine,
    /// Accounts or figures contradict each other.
    Accounts,
    /// Sides of a comparison differ.
    Sides,
    /// What was measured is not what it is taken for: data in memory, unwritten blocks.
    Conditions,
    /// The window was too short, or not steady.
    Window,
}

impl Cause {
    /// Whether the others may follow from it, so that it comes first even if it is less severe.
    const fn is_root(self) -> bool {
        matches!(
            self,
            Self::RunEnded | Self::ServerAway | Self::Failed | Self::Connections
        )
    }
}

/// Sorts reasons of doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MendOrder {
    follows: bool,
    severity: std::cmp::Reverse<Severity>,
    cause: Cause,
}

impl MendOrder {
    pub const fn new(cause: Cause, severity: Severity) -> Self {
        let is_first = cause.is_root() && !matches!(severity, Severity::Note);
        Self {
            follows: !is_first,
            severity: std::cmp::Reverse(severity),
            cause,
        }
    }
}

impl Finding {
    pub fn order(&self) -> MendOrder {
        MendOrder::new(self.kind.cause(), self.severity)
    }
}

impl FindingKind {
    pub fn cause(&self) -> Cause {
        match self {
            Self::RunEnded { .. } => Cause::RunEnded,
            Self::ServerAway { .. } | Self::NotRecovered => Cause::ServerAway,
            Self::NotServed { .. }
            | Self::NothingCompleted { .. }
            | Self::NothingMeasured
            | Self::BackupFailed { .. }
            | Self::BackupCancelled { .. } => Cause::Failed,
            Self::Event { message, .. } => event_cause(message),
            Self::ConditionFails { .. }
            | Self::CommittedLost { .. }
            | Self::RestoreDiffers { .. }
            | Self::CutNotEvaluated
            | Self::VerificationFailed { .. }
            | Self::NotVerified => Cause::Data,
            Self::Emulated { .. }
            | Self::EmulationWaited { .. }
            | Self::DriveErrors { .. }
            | Self::EmulationUnreported { .. }
            | Self::EmulationTooFew { .. } => Cause::Machine,
            Self::CountsBroken { .. }
            | Self::NotDrained { .. }
            | Self::HistogramDisagrees { .. }
            | Self::HistogramSample { .. }
            | Self::Clipped { .. }
            | Self::BacklogGrew { .. }
            | Self::Unanswered { .. }
            | Self::CommitsDisagree { .. }
            | Self::RateNotReached { .. }
            | Self::InFlightOff { .. }
            | Self::Unfinished { .. }
            | Self::Contradicted { .. }
            | Self::WorkersApart { .. }
            | Self::WorkersDisagree { .. }
            | Self::RateDisagrees { .. }
            | Self::RateNotEvaluated { .. }
            | Self::Imported { .. }
            | Self::OnlyReported { .. } => Cause::Accounts,
            Self::EffectUnpaired { .. } => Cause::Sides,
            Self::NeverWritten { .. } => Cause::Conditions,
            Self::PhaseIncomplete { .. }
            | Self::CoarseWindow
            | Self::SecondsMissing { .. }
            | Self::ShortWindow { .. }
            | Self::TooFewSamples { .. }
            | Self::FewIntervals { .. }
            | Self::Unsteady { .. }
            | Self::SteadyNotReached { .. }
            | Self::WholeOnly { .. } => Cause::Window,
        }
    }
}

/// By its code: one that is stored as a sentence has no more.
fn event_cause(event: &EventKind) -> Cause {
    if let EventKind::Reconnected {
        server_away: true, ..
    } = event
    {
        return Cause::ServerAway;
    }
    match event.code().as_str() {
        "disk_full" | "overflow" | "no_power_cut" => Cause::RunEnded,
        "server_died" | "not_recovered" | "not_reconnected" => Cause::ServerAway,
        "failed" | "retries_exhausted" | "unanswered" => Cause::Failed,
        "connection_lost" | "connections_lost" | "reconnected" | "not_shown" => Cause::Connections,
        "conservation" | "late" => Cause::Accounts,
        // A disturbance of the machine, of its hosts or of the emulator, and what other tools report.
        _ => Cause::Machine,
    }
}
