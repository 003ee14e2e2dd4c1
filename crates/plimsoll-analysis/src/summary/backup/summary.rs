//! The figures of backups and restores.

use serde::Serialize;

use super::super::figure::FigureSet;
use super::super::finding::{Finding, Verdict};
use super::super::medium::{MediumFigures, MediumSource};
use super::super::ratio::RatioSet;
use super::super::speed::is_like_speed;
use plimsoll_record::message::BackupDetail;
use plimsoll_record::{BackupKind, BackupOutcome, OfferedLoad};

/// A step's backups and restores, media beside each other. Of backups beside load: those at one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackupSummary {
    pub step: String,
    pub step_index: u32,
    /// The load that they ran beside; `None` where they are what the step is about.
    pub beside: Option<BesideLoad>,
    pub method: String,
    /// What did it, with versions.
    pub programs: Vec<String>,
    /// In the plan's order; ratios are against the first.
    pub media: Vec<BackupMedium>,
}

/// A load of each system that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BesideLoad {
    pub ordinal: u32,
    #[serde(flatten)]
    pub load: OfferedLoad,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackupMedium {
    /// With the data.
    pub medium: Option<String>,
    pub drive: Option<String>,
    /// With the backups.
    pub target: String,
    pub target_drive: Option<String>,
    /// Both drives are simulated in virtual time, not emulated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
    /// How many times slower than rated these drives ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_slower: Option<f64>,
    /// Where the figures come from.
    pub source: Option<MediumSource>,
    pub target_source: Option<MediumSource>,
    /// In time order.
    pub operations: Vec<BackupOperation>,
    /// Backups first; only kinds that there are.
    pub kinds: Vec<BackupFigures>,
    pub findings: Vec<Finding>,
    pub verdict: Verdict,
}

/// One backup or restore of one system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackupOperation {
    pub system: String,
    pub cycle: u32,
    pub kind: BackupKind,
    /// Id of the point that it ran beside.
    pub point: Option<u32>,
    pub start_s: f64,
    pub seconds: f64,
    pub bytes: u64,
    /// MB are 10⁶ bytes. `None` of what did not complete.
    pub mb_per_second: Option<f64>,
    pub outcome: BackupOutcome,
    pub detail: Option<BackupDetail>,
    /// What the media did meanwhile. `None`: unknown, or over in less than a second.
    pub data_io: Option<MediumFigures>,
    pub target_io: Option<MediumFigures>,
    pub rate: RateCheck,
}

impl BackupMedium {
    /// Whether figures of both may stand in one ratio.
    pub(in crate::summary) fn is_comparable(&self, other: &Self) -> bool {
        self.verdict.max(other.verdict) < Verdict::Invalid
            && is_like_speed(self.slower, other.slower)
            && is_like_speed(self.target_slower, other.target_slower)
    }
}

/// All operations of one kind. Only complete ones have figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackupFigures {
    pub kind: BackupKind,
    pub complete: u64,
    pub failed: u64,
    pub cancelled: u64,
    /// Restores whose data are not what was saved.
    pub differs: u64,
    /// Of all together.
    pub bytes: u64,
    /// Means of time and of rate.
    #[serde(flatten)]
    pub figures: FigureSet,
    pub data_io: Option<MediumFigures>,
    pub target_io: Option<MediumFigures>,
    /// Against the first medium; empty on that itself, where one of the two has no figure or is invalid, and where one
    /// was slowed more than the other.
    pub ratios: RatioSet,
}

impl BackupSummary {
    /// Every finding with the medium that it is about.
    pub fn all_findings(&self) -> impl Iterator<Item = (&BackupMedium, &Finding)> {
        self.media
            .iter()
            .flat_map(|medium| medium.findings.iter().map(move |finding| (medium, finding)))
    }

    pub fn verdict(&self) -> Verdict {
        self.media
            .iter()
            .map(|medium| medium.verdict)
            .max()
            .unwrap_or_default()
    }
}

/// Whether both accounts of what was written agree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "rate", rename_all = "snake_case")]
pub enum RateCheck {
    /// `percent` is the difference, in percent of the bytes.
    Agrees {
        observed_bytes: f64,
        percent: f64,
    },
    Disagrees {
        observed_bytes: f64,
        percent: f64,
    },
    NotEvaluated {
        why: RateNotChecked,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RateNotChecked {
    /// What a restore writes is not what it reads.
    Restore,
    /// It did not complete.
    NotComplete,
    /// The files were not sampled, or too rarely.
    NotSampled,
}
