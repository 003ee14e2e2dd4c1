//! The rules that a figure has to survive, and what to do about one that fired.

use serde::{Deserialize, Serialize};

use crate::mend_order::Cause;
use crate::missing::Missing;
use crate::summary::FindingKind;
use plimsoll_record::Severity;

macro_rules! rules {
    ($($variant:ident, $code:literal, $severity:ident, $cause:ident, $no_subject:ident, $about:literal;)*) => {
        /// A closed set with stable codes. What each evaluates is in its own file and in `docs/audit.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $about] $variant),* }

        impl Rule {
            /// In the order of reports.
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            /// Stable: people quote it, files keep it.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            /// The highest severity it can have: with [`Severity::Error`] the figure must not be quoted.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),* }
            }

            /// Where it stands among reasons of doubt.
            pub fn cause(self) -> Cause {
                match self { $(Self::$variant => Cause::$cause),* }
            }

            /// Why it is not evaluated where nothing that it is about was measured or stated.
            pub(super) fn no_subject(self) -> Missing {
                match self { $(Self::$variant => Missing::$no_subject),* }
            }
        }
    };
}

// Name, code, highest severity, cause in the order of mending (FINDING: each has that of its own finding), reason where it has
// no subject, what it requires.
rules! {
    Little, "LITTLE", Error, Accounts, NothingMeasured, "Throughput × mean latency is the number in flight.";
    Conserve, "CONSERVE", Error, Accounts, NothingMeasured, "Offered = committed + rolled back + failed + dropped.";
    Steady, "STEADY", Warning, Window, NothingMeasured, "The rate held over the measured window.";
    Short, "SHORT", Warning, Window, NothingMeasured, "The window was long enough for its figure.";
    Cached, "CACHED", Warning, Conditions, NothingMeasured, "The data did not fit into memory.";
    Client, "CLIENT", Error, Machine, NothingMeasured, "The load generator kept up.";
    SameBox, "SAMEBOX", Error, Sides, NothingMeasured, "Generator and system did not share a machine, or did so on both sides.";
    Omission, "OMISSION", Error, Accounts, NothingMeasured, "Open-loop latencies count from the due time.";
    Durable, "DURABLE", Error, Data, NothingMeasured, "What was acknowledged survives a power cut, equally on both sides.";
    Lies, "LIES", Error, Data, NothingMeasured, "Flushes took as long as the medium needs.";
    Maint, "MAINT", Warning, Sides, OneSide, "Checkpoints, vacuum, purge and backups ran in all compared windows or in none.";
    Thin, "THIN", Warning, Conditions, NothingMeasured, "Reads met blocks that had been written.";
    Entropy, "ENTROPY", Warning, Conditions, NothingMeasured, "Test data was as compressible and as duplicate as the plan states.";
    Noise, "NOISE", Warning, Machine, NothingMeasured, "Nothing else used the machine.";
    PctAvg, "PCTAVG", Error, Accounts, NothingMeasured, "Percentiles were merged and not averaged.";
    OneFactor, "ONEFACTOR", Error, Sides, OneSide, "Compared sides differ in the named factor only.";
    Victims, "VICTIMS", Error, Sides, OneSide, "A noisy-neighbour comparison keeps the number of loaded systems.";
    Ratio, "RATIO", Error, Accounts, NothingMeasured, "TPM/NOPM is that of the mix.";
    Size, "SIZE", Warning, Sides, OneSide, "Bytes per warehouse or row agree.";
    Rate, "RATE", Error, Accounts, NoBackup, "MB/s × seconds are the bytes moved.";
    Wording, "WORDING", Error, Accounts, NoSentence, "Sentences follow from the figures.";
    Consist, "CONSIST", Error, Data, NothingMeasured, "The database is consistent after the run.";
    Emulated, "EMULATED", Error, Machine, NothingMeasured, "The emulated drive answered in time.";
    Virtual, "VIRTUAL", Warning, Conditions, NothingMeasured, "Simulated figures rest on what the model is known to do well.";
    Repeat, "REPEAT", Warning, Sides, OneSide, "A comparison rests on several runs that differ by less than its effect.";
    Plausible, "PLAUSIBLE", Error, Accounts, NothingMeasured, "Figures of a load can all be true at once.";
    Duration, "DURATION", Error, Accounts, NoDuration, "A time is the sum of its parts.";
    Intact, "INTACT", Error, Data, NoRunFile, "The run file is as it was when its run ended.";
    Finding, "FINDING", Error, Failed, NoRunFile, "Nothing else was found that no other rule evaluates.";
}

impl Rule {
    /// Codes are written in capitals and accepted in any case.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|rule| rule.code().eq_ignore_ascii_case(code))
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::parse(&code)
            .ok_or_else(|| serde::de::Error::custom(format!("there is no audit rule {code}")))
    }
}

impl FindingKind {
    /// The rule that evaluates the same thing; `None`: no other than [`Rule::Finding`].
    pub fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::Unsteady { .. } | Self::SteadyNotReached { .. } => Rule::Steady,
            Self::NothingMeasured
            | Self::NothingCompleted { .. }
            | Self::ShortWindow { .. }
            | Self::TooFewSamples { .. }
            | Self::FewIntervals { .. }
            | Self::WholeOnly { .. } => Rule::Short,
            Self::InFlightOff { .. } => Rule::Little,
            Self::Contradicted { rule } => Rule::parse(rule)?,
            Self::CountsBroken { .. }
            | Self::HistogramDisagrees { .. }
            | Self::WorkersDisagree { .. }
            | Self::CommitsDisagree { .. }
            | Self::NotDrained { .. }
            | Self::Unanswered { .. } => Rule::Conserve,
            // CLIENT is about what was dropped.
            Self::NotServed { failed: 0, .. } => Rule::Client,
            Self::ConditionFails { .. } | Self::VerificationFailed { .. } => Rule::Consist,
            Self::CommittedLost { .. } | Self::NotRecovered => Rule::Durable,
            Self::Emulated { .. } | Self::EmulationWaited { .. } | Self::DriveErrors { .. } => {
                Rule::Emulated
            }
            Self::NeverWritten { .. } => Rule::Thin,
            Self::RateDisagrees { .. } => Rule::Rate,
            _ => return None,
        })
    }
}

/// What to do about a rule that fired: one for each rule and way of firing. Its sentence is `next-` and its name in the export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    AskForWindow,
    FindIdleUsers,
    RelieveClient,
    DistrustCounts,
    MeasureLonger,
    ReportOften,
    FindDifference,
    MeasureLongerOrRepeat,
    WarmUpLonger,
    GrowData,
    BypassCache,
    VerifyFile,
    StrengthenClient,
    LiftQuota,
    LetClientRun,
    OfferLess,
    FindDropCause,
    MoveClient,
    MoveBothClients,
    CountFromDue,
    MakeDurable,
    MakeEqual,
    CheckFlush,
    CoverMaintenance,
    WriteFirst,
    UseRandomData,
    QuietMachine,
    MergeHistograms,
    ChangeOneThing,
    SameWorkload,
    KeepVictims,
    CountTransactions,
    LoadSameData,
    AskForBytes,
    StateRatio,
    KeepDatabaseAndAsk,
    MeasureWithoutErrors,
    SlowerDriveOrLess,
    OtherCpuSpeeds,
    MemoryOnRealDrive,
    RepeatMore,
    CheckSource,
    AskForTimes,
    RestoreFile,
    MendFinding,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_read_back() {
        for rule in Rule::ALL {
            assert_eq!(Rule::parse(rule.code()), Some(rule));
            assert_eq!(Rule::parse(&rule.code().to_lowercase()), Some(rule));
        }
        assert_eq!(Rule::parse("LITTLES"), None);
    }
}
