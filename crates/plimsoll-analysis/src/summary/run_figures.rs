//! Every figure of a record.

use serde::Serialize;

use super::backup::BackupSummary;
use super::block::{BlockMedium, BlockPlace, BlockSummary};
use super::compare::Comparison;
use super::effect::NoiseEffect;
use super::finding::{Finding, FindingKind};
use super::imported::ImportSummary;
use super::index::Index;
use super::ladder_summary::LadderSummary;
use super::load_line::LoadLine;
use super::load_summary::LoadSummary;
use super::point_summary::{Consistency, PointSummary};
use super::precondition::PreconditionSummary;
use super::reset::ResetSummary;
use super::timeline::StepTimeline;
use plimsoll_record::{Diagnosis, Integrity, RunStatus, Severity};

/// Version of the exported shape.
pub const SUMMARY_VERSION: u32 = 2;

/// Every figure of a record, before the audit: see [`crate::Summary`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunFigures {
    pub schema_version: u32,
    pub run_id: String,
    pub title: String,
    pub status: RunStatus,
    /// About the run as a whole; each point has its own.
    pub findings: Vec<Finding>,
    pub headline: Option<Headline>,
    pub ladders: Vec<LadderSummary>,
    /// Steps on media themselves.
    pub blocks: Vec<BlockSummary>,
    /// Backups and restores.
    pub backups: Vec<BackupSummary>,
    /// What noisy neighbours did to the systems beside them.
    pub effects: Vec<NoiseEffect>,
    /// Steps in which systems share a medium, or back up and restore, second by second.
    pub timelines: Vec<StepTimeline>,
    /// What the doctor found before the first load.
    pub diagnoses: Vec<DiagnosisSummary>,
    /// Load before the first point of a step, of which no figures are taken.
    pub preconditions: Vec<PreconditionSummary>,
    /// Data sets that were brought back to their first state.
    pub resets: Vec<ResetSummary>,
    /// Steps that were run on several media.
    pub comparisons: Vec<Comparison>,
    /// Consistency conditions over the whole run.
    pub consistency: Consistency,
    /// Runs of other tools: which tool, what its output lacks, and what it printed.
    pub imports: Vec<ImportSummary>,
    /// Whether the run file is as it was when the run ended.
    pub file: Integrity,
}

/// A result of the doctor about one subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiagnosisSummary {
    /// The medium; `None`: the machine.
    pub medium: Option<String>,
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
}

impl DiagnosisSummary {
    pub(super) fn of(index: &Index, diagnosis: &Diagnosis) -> Self {
        Self {
            medium: diagnosis.subject.map(|medium| index.name(medium)),
            diagnosis: diagnosis.clone(),
        }
    }
}

/// Where the run's highest rate is, searches left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// Index into [`RunFigures::ladders`].
    pub ladder: usize,
    /// Index into [`LadderSummary::loads`].
    pub load_index: usize,
}

/// An emulated drive that is too fast for the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TooLate {
    /// What lateness or waiting adds to the modelled time; `None`: the emulator had no time left.
    pub added_percent: Option<f64>,
}

impl RunFigures {
    /// Why rule EMULATED makes a point of the run invalid, if it does.
    pub fn too_late(&self) -> Option<TooLate> {
        let points = self.all_findings().map(|(_, finding)| finding);
        let blocks = self.block_findings().map(|(_, _, finding)| finding);
        let mut errors = points
            .chain(blocks)
            .filter(|finding| finding.severity == Severity::Error);
        errors.find_map(|finding| match &finding.kind {
            FindingKind::Emulated { added_percent, .. }
            | FindingKind::EmulationWaited { added_percent, .. } => Some(TooLate {
                added_percent: Some(*added_percent),
            }),
            FindingKind::Event { event, .. } if event == "saturated" => Some(TooLate {
                added_percent: None,
            }),
            _ => None,
        })
    }

    pub fn points(&self) -> impl Iterator<Item = &PointSummary> {
        self.ladders.iter().flat_map(|ladder| &ladder.points)
    }

    pub fn headline(&self) -> Option<(&LadderSummary, &LoadSummary)> {
        let Headline { ladder, load_index } = self.headline?;
        let ladder = self.ladders.get(ladder)?;
        Some((ladder, ladder.loads.get(load_index)?))
    }

    /// The load lines that were searched for, with their ladders.
    pub fn lines(&self) -> impl Iterator<Item = (&LadderSummary, &LoadLine)> {
        self.ladders
            .iter()
            .filter_map(|ladder| Some((ladder, ladder.line.as_ref()?)))
    }

    /// Every finding about block I/O with the job and point it is about; of a medium as a whole without.
    pub fn block_findings(
        &self,
    ) -> impl Iterator<Item = (&BlockMedium, Option<BlockPlace<'_>>, &Finding)> {
        self.blocks
            .iter()
            .flat_map(|block| &block.media)
            .flat_map(BlockMedium::all_findings)
    }

    /// Every finding, of whatever it is: the run's own, of steps and points, of noise, of backups and of block I/O.
    pub fn every_finding(&self) -> impl Iterator<Item = &Finding> {
        let effects = self.effects.iter().flat_map(|own| &own.findings);
        let backups = self.backups.iter().flat_map(BackupSummary::all_findings);
        let blocks = self.block_findings().map(|(_, _, finding)| finding);
        self.all_findings()
            .map(|(_, finding)| finding)
            .chain(effects)
            .chain(backups.map(|(_, finding)| finding))
            .chain(blocks)
    }

    /// Every finding with the point of a ladder it is about, the run's own first; see also [`Self::block_findings`].
    pub fn all_findings(&self) -> impl Iterator<Item = (Option<&PointSummary>, &Finding)> {
        let own = self.findings.iter().map(|f| (None, f));
        let steps = self
            .ladders
            .iter()
            .flat_map(|l| l.findings.iter().map(|f| (None, f)));
        let points = self
            .points()
            .flat_map(|p| p.findings.iter().map(move |f| (Some(p), f)));
        own.chain(steps).chain(points)
    }
}
