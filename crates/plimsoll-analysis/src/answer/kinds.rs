//! What an answer consists of.

use plimsoll_record::{OfferedLoad, Severity};
use serde::Serialize;

use super::arrays::ArrayAnswer;
use super::backups::BackupAnswer;
use super::blocks::BlockAnswer;
use super::cpu_speed::AtCpuSpeeds;
use super::cuts::CutAnswer;
use super::lines::LineAnswer;
use super::noise::NoiseAnswer;
use crate::audit::{AuditFault, Rule};
use crate::summary::{Bottleneck, Estimate, FindingKind, MediumSpeed, Ratio, Verdict};

/// What a run says about its question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunAnswer {
    /// Of the plan, which may be a question.
    pub title: String,
    pub result: AnswerResult,
    /// Where its figures are simulated in virtual time, on which machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<SimulatedMachine>,
    /// Of what the answer rests on, invalid without one; that of the run is in `trust`.
    pub verdict: Verdict,
    /// All media of the run, in the order of the plan.
    #[serde(skip)]
    pub media: Vec<String>,
    /// Whether throughput is new orders per minute; else transactions per second.
    pub nopm: bool,
    /// Of transactions at users or rates: media at one load, or one medium's loads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<AnswerRow>,
    /// Empty where nothing stands out.
    pub limited_by: Vec<LimitedBy>,
    pub trust: Trust,
}

/// As the run's media state it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SimulatedMachine {
    pub cpus: String,
    /// Against the reference's; none: as fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_speed: Option<String>,
    /// For the page cache; none: enough for everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AnswerResult {
    Media(MediaAnswer),
    Load(LoadAnswer),
    /// One for each system that was searched.
    Lines {
        lines: Vec<LineAnswer>,
    },
    /// One for each medium.
    Noise {
        effects: Vec<NoiseAnswer>,
    },
    /// One for each medium.
    PowerCuts {
        media: Vec<CutAnswer>,
    },
    /// One for each medium whose array's members failed.
    Arrays {
        media: Vec<ArrayAnswer>,
    },
    Backups {
        backups: Vec<BackupAnswer>,
    },
    Block {
        jobs: Vec<BlockAnswer>,
    },
    None(NoAnswer),
}

/// Media side by side at one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MediaAnswer {
    pub load: OfferedLoad,
    pub compared: ComparedBy,
    pub basis: RateBasis,
    /// With the highest throughput, or the shortest response time.
    pub best: String,
    /// The others, the nearest first.
    pub others: Vec<MediumRatio>,
    /// Others whose ratio has an interval that is too wide for an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncertain: Vec<MediumRatio>,
    /// Media without a valid figure at this load.
    pub left_out: Vec<String>,
    /// Media with a valid figure that ran at another speed, so that they have no ratio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_speeds: Vec<MediumSpeed>,
    /// Real media among those that are compared, where others are emulated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub real: Vec<String>,
    /// Emulated media among them that ran at full speed, beside predictions for others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unslowed: Vec<String>,
    /// Media whose full speed is too uncertain to be predicted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpredicted: Vec<String>,
}

/// One load on one medium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadAnswer {
    pub medium: Option<String>,
    pub load: OfferedLoad,
    pub compared: ComparedBy,
    pub basis: RateBasis,
    pub rate: Estimate,
    /// Of the rate, where it is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_cpu_speeds: Option<AtCpuSpeeds>,
    pub p99_ms: Option<f64>,
    /// Whether a higher load was tried and gave no more; else throughput may still grow.
    pub is_peak: bool,
    /// Of a plan with several steps, the one that it was measured in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What the other steps with this workload carry at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<StepPeak>,
}

/// The highest valid throughput of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepPeak {
    pub step: String,
    pub rate: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedBy {
    Throughput,
    /// p99: the plan imposes the rate.
    ResponseTime,
}

/// Where the throughput comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "basis", rename_all = "snake_case")]
pub enum RateBasis {
    Measured,
    /// For full speed, from drives that ran so many times slower.
    Predicted {
        slower: f64,
    },
    /// On drives that ran so many times slower, where nothing can be predicted.
    Slowed {
        slower: f64,
    },
}

/// How many times better the best medium is than another one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MediumRatio {
    pub medium: String,
    /// At least 1, of throughput or of response times.
    pub ratio: Ratio,
    /// Of what was measured, where `ratio` is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Ratio>,
    /// Of throughput, where that is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_cpu_speeds: Option<AtCpuSpeeds>,
    /// By its model it is at least as fast as the best medium.
    #[serde(skip)]
    pub is_as_fast: bool,
}

impl MediumRatio {
    /// Whether the interval leaves no doubt about which one is better; `None` without an interval.
    pub fn is_certain(&self) -> Option<bool> {
        match self.is_as_fast {
            true => Some(false),
            false => self.ratio.interval.map(|interval| interval.low > 1.0),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoAnswer {
    /// Nothing completed, or every point is invalid.
    NothingMeasured,
    /// Only one medium is valid at any load.
    OneValidMedium { valid: Option<String> },
    /// Media are valid, but no two of them at the same load.
    NoCommonLoad,
    /// Media ran at unlike speeds, and full speed cannot be predicted; of some because that is too uncertain.
    UnequalSpeeds {
        media: Vec<MediumSpeed>,
        unpredicted: Vec<String>,
    },
    /// The intervals of all ratios are too wide for an answer.
    TooUncertain {
        best: String,
        ratios: Vec<MediumRatio>,
    },
    /// One came out better than another one whose drive is at least as fast for every kind of request.
    WrongOrder {
        best: String,
        faster: String,
        ratio: Ratio,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerRow {
    pub medium: Option<String>,
    /// What people call the drive that is emulated on the medium.
    pub drive: Option<String>,
    /// How many times slower than rated that drive ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    pub load: OfferedLoad,
    /// As measured.
    pub throughput: Option<Estimate>,
    /// The same, predicted for full speed, where the drive was slowed.
    pub at_full_speed: Option<Estimate>,
    /// The same with slower and faster processors, where it is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_cpu_speeds: Option<AtCpuSpeeds>,
    /// Whether full speed is too uncertain to be predicted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_uncertain: bool,
    pub p99_ms: Option<f64>,
    /// How many times the throughput of this row the best medium has; at a rate that the plan imposes, how many times the
    /// p99 of the best medium this row has. As in the sentence; `None` of the best medium itself.
    pub ratio: Option<Ratio>,
    pub verdict: Verdict,
}

/// What most of a transaction's time goes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitedBy {
    pub medium: Option<String>,
    pub limiter: Bottleneck,
    /// Whether it is that of the prediction for full speed, which knows CPU, reads and the log.
    pub is_predicted: bool,
    /// Predicted: of a transaction's time without waiting for locks. Else the figure of the limiter, in percent.
    pub percent: f64,
    /// Waiting for locks, where it is most of a transaction's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks_percent: Option<f64>,
}

/// Whether the figures can be used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trust {
    /// Of the run: the worst of its points and of the audit.
    pub verdict: Verdict,
    pub points: PointCounts,
    /// Rules of the audit that fired and findings that no rule is about: what a person would mend first comes first.
    pub limits: Vec<TrustLimit>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PointCounts {
    pub valid: usize,
    pub doubtful: usize,
    pub invalid: usize,
}

impl PointCounts {
    pub(super) fn with(mut self, verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid => self.valid += 1,
            Verdict::Doubtful => self.doubtful += 1,
            Verdict::Invalid => self.invalid += 1,
        }
        self
    }

    pub fn worst(self) -> Verdict {
        match self {
            Self { invalid: 1.., .. } => Verdict::Invalid,
            Self { doubtful: 1.., .. } => Verdict::Doubtful,
            _ => Verdict::Valid,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TrustReason {
    Rule {
        rule: Rule,
    },
    Finding(FindingKind),
    /// Why nothing could be evaluated.
    Fault(AuditFault),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrustLimit {
    #[serde(flatten)]
    pub reason: TrustReason,
    /// The error that fired the rule, where it is one of the run's findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<FindingKind>,
    pub severity: Severity,
    /// Points or comparisons.
    pub cases: usize,
}
