//! The figures of a record, computed once: what the terminal's table, the HTML report, JSON and CSV show.
//!
//! [`RunFigures`] is also the stored shape of `--format json`: units are part of the names, and
//! [`SUMMARY_VERSION`] changes when a name or a meaning does.
//!
//! Only ticks of [`PhaseKind::Measure`] enter a point's figures. A figure that cannot be computed is `None`, never 0.
//! Whatever makes a figure less than trustworthy stands beside it as a [`Finding`].
//!
//! | figure | formula | why |
//! | --- | --- | --- |
//! | measured time | Σ (end − start) over the recorded ticks | the planned time would flatter an interrupted point |
//! | TPM | (committed + rolled back) of all types × 60 / measured time | a New-Order rolled back as clause 2.4.1.4 wants is a whole business transaction |
//! | NOPM | committed New-Orders × 60 / measured time | orders that are in the database afterwards |
//! | rolled-back share | rolled back / (committed + rolled back) of New-Orders | clause 2.4.1.4 wants 1 % |
//! | round trips per transaction | round trips / completed | what a retry or a failure costs counts for the transactions that succeeded |
//! | percentiles | quantiles of merged histograms | percentiles do not average |
//! | lateness of an emulated drive | median of (real − modelled) / median modelled | how far the drive was from what it shall be |
//! | ratio of two media | rate / rate at the same load; the relative half widths of the two 95 % intervals add in squares | the delta method for independent means |
//! | time without a server | see `summary/outage.rs` | a part of the window: rates count it, Little's law leaves it out |
//! | generator CPU per transaction | mean generator CPU × measured time / completed | what the measuring costs the machine it measures; withheld where the system runs inside plimsoll |

mod backup;
mod block;
pub(crate) mod bottleneck;
mod compare;
mod conserve;
mod cut;
mod data;
mod drive;
mod effect;
mod finding;
mod fleet;
mod imported;
mod latency;
mod line;
mod load_summary;
mod means;
mod medium;
mod objective;
mod outage;
mod point;
mod precondition;
mod reset;
mod responses;
mod scaling;
mod stats;
mod steady;
mod tick;
mod timeline;
mod waits;

use std::collections::BTreeMap;

use serde::Serialize;

pub use backup::{
    BackupFigures, BackupMedium, BackupOperation, BackupSummary, BesideLoad, RATE_COVERED,
    RATE_LIMIT, RateCheck, RateNotChecked,
};
pub use block::{
    BlockCurvePoint, BlockFigures, BlockJobSummary, BlockLatency, BlockMedium, BlockOpSummary,
    BlockPlace, BlockPointSummary, BlockRatios, BlockSecond, BlockSummary, BlockWorkerSummary,
    Rounds, RoundsOfJob,
};
pub use bottleneck::{Bottleneck, Sign};
pub use compare::{ComparedFigures, ComparedLoad, ComparedMedium, Comparison, Ratio};
pub use conserve::Conservation;
pub use cut::CutSummary;
pub use data::{DATA_FACT, DataState, FRESH, ORDERS_ADDED_FACT, REUSED};
pub use drive::{
    BEYOND_LIMIT, DRIVE_FACT, DRIVE_TITLE_FACT, DriveOpSummary, DriveSummary, DriveTimes,
    FEWEST_OPS, LATENESS_LIMIT, lateness_us,
};
pub use effect::{EffectLoad, MediumEffect, NoiseChange, NoiseEffect, VictimEffect};
pub use finding::{FAILED_LIMIT, Finding, FindingKind, Verdict};
pub use fleet::{Fleet, FleetPoint, FleetShare};
pub use imported::{ImportSummary, ReportedFigure, ReportedPoint, Unknown};
pub use latency::{LatencySummary, TxnSummary};
pub use line::{LoadLine, TriedLoad};
pub use load_summary::{LoadSummary, RepeatedFigure};
pub use means::{DEVICE_FACT, MetricMean, Resources, Withheld};
pub use medium::{MediumFigures, MediumSecond, MediumSource};
pub use objective::{MeasuredPoint, ObjectiveResult, Shortfall, evaluate};
pub use outage::{AWAY_LIMIT, OutageSummary};
pub use point::{Consistency, PointSummary};
pub use precondition::PreconditionSummary;
pub use reset::ResetSummary;
pub use responses::Responses;
pub use scaling::{FIT_LIMIT, Scaling, ScalingLaw, ScalingPeak, ScalingPoint, fit as fit_scaling};
pub use stats::{Halves, Interval, Sampled, Spread};
pub use steady::{RANGE_LIMIT, SLOPE_LIMIT, Steady};
pub(crate) use tick::{TickRows, Ticks};
pub use timeline::{
    SlotLoad, StepTimeline, TimelineBand, TimelineMedium, TimelineSlot, TransactionSecond,
    WrittenSecond,
};
pub use waits::{COMMITS_LIMIT, DatabaseFigures, EventShare, FEW_SAMPLES, StateShare, WaitSummary};

use plimsoll_plan::Interference;
use plimsoll_record::{
    Diagnosis, DriveRow, Integrity, Phase, PhaseId, Point, PointId, PointPurpose, Record,
    RunStatus, SubjectId, WaitRow, Window,
};

/// Version of the exported shape.
pub const SUMMARY_VERSION: u32 = 1;

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
    fn of(index: &Index, diagnosis: &Diagnosis) -> Self {
        Self {
            medium: diagnosis.subject.map(|medium| index.name(medium)),
            diagnosis: diagnosis.clone(),
        }
    }
}

/// One step on one medium: the points that belong on one curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LadderSummary {
    pub step: String,
    pub step_index: u32,
    pub system: String,
    pub medium: Option<String>,
    /// What people call the drive that is emulated on the medium; `None` where nothing is.
    pub drive: Option<String>,
    pub workload: String,
    pub mode: String,
    /// Of the first of the systems, when the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataState>,
    /// What the systems share their medium with.
    pub scene: Interference,
    /// By index in the ladder, and by repeat; of a search by load.
    pub points: Vec<PointSummary>,
    /// Each load over its repeats.
    pub loads: Vec<LoadSummary>,
    /// Index of the load with the highest rate among those that are not invalid; of a search the load line's.
    pub peak: Option<usize>,
    /// What the search has found, where the step is one.
    pub line: Option<LoadLine>,
    /// How rates grow with users, in closed loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// Conditions verified at the end of the step, beside those of the points.
    pub findings: Vec<Finding>,
    /// Where the figures are sums: the systems behind them.
    pub fleet: Option<Fleet>,
}

/// Where the run's highest rate is, searches left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// Index into [`RunFigures::ladders`].
    pub ladder: usize,
    /// Index into [`LadderSummary::loads`].
    pub load_index: usize,
}

impl RunFigures {
    /// The worst of all findings, without the audit's and the doctor's.
    pub(crate) fn worst_finding(&self) -> Verdict {
        let own = Verdict::of(&self.findings);
        let ladders = self
            .ladders
            .iter()
            .map(|ladder| Verdict::of(&ladder.findings));
        let points = self.points().map(|point| point.verdict);
        let backups = self.backups.iter().map(BackupSummary::verdict);
        let media = self.blocks.iter().flat_map(|block| &block.media);
        let blocks = media.map(|medium| medium.verdict);
        ladders
            .chain(points)
            .chain(backups)
            .chain(blocks)
            .fold(own, Verdict::max)
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

/// Computes every figure of `record`. Reads nothing else, so the same record gives the same figures for ever.
pub(crate) fn figures_and_timelines(record: &Record) -> RunFigures {
    let ticks = Ticks::of(record);
    let index = Index::new(record, &ticks);
    RunFigures {
        timelines: timeline::of_run(&index),
        ..figures_of(&index)
    }
}

/// The same without [`RunFigures::timelines`], which only charts use and no rule does.
pub fn figures(record: &Record) -> RunFigures {
    figures_from(record, &Ticks::of(record))
}

pub(crate) fn figures_from(record: &Record, ticks: &Ticks<'_>) -> RunFigures {
    figures_of(&Index::new(record, ticks))
}

fn figures_of(index: &Index) -> RunFigures {
    let record = index.record;
    let ladders = ladders(index);
    RunFigures {
        schema_version: SUMMARY_VERSION,
        run_id: record.run.id.clone(),
        title: record.run.title.clone(),
        status: record.run.status,
        findings: finding::of_run(index),
        headline: headline(&ladders),
        comparisons: compare::comparisons(&ladders),
        preconditions: precondition::of_run(index),
        resets: reset::of_run(index),
        blocks: block::of_run(index),
        backups: backup::of_run(index),
        effects: effect::effects(index, &ladders),
        timelines: Vec::new(),
        diagnoses: record
            .diagnoses
            .iter()
            .map(|diagnosis| DiagnosisSummary::of(index, diagnosis))
            .collect(),
        ladders,
        consistency: Consistency::of(record.checks.iter()),
        imports: imported::of_run(index),
        file: record.integrity.clone(),
    }
}

/// What the points of one ladder have in common: index of the step, the plan's system of which it is an instance or else the
/// system, medium, mode, what runs beside.
type LadderKey<'a> = (
    u32,
    Result<&'a str, SubjectId>,
    Option<SubjectId>,
    &'a str,
    Interference,
);

fn ladders(index: &Index) -> Vec<LadderSummary> {
    // Instances of one system belong together.
    let mut grouped: BTreeMap<LadderKey<'_>, Vec<&Point>> = BTreeMap::new();
    for point in index
        .record
        .points
        .iter()
        .filter(|point| is_of_ladder(point))
    {
        let system = fleet::base_of(index, point.system).ok_or(point.system);
        grouped
            .entry((
                point.step_index,
                system,
                point.medium,
                &point.mode,
                point.scene,
            ))
            .or_default()
            .push(point);
    }
    let ladder = |((_, system, ..), points): (LadderKey<'_>, Vec<&Point>)| match system {
        Ok(base) => fleet::ladder(index, base, &points),
        Err(_) => ladder(index, points),
    };
    let mut ladders: Vec<LadderSummary> = grouped.into_iter().map(ladder).collect();
    ladders.sort_by_key(|ladder| ladder.step_index);
    ladders
}

/// Points of which [`LadderSummary`]s are made: load of transactions of which figures are taken.
fn is_of_ladder(point: &Point) -> bool {
    matches!(point.purpose, PointPurpose::Ladder | PointPurpose::Search) && !point.is_block()
}

fn ladder(index: &Index, mut points: Vec<&Point>) -> LadderSummary {
    points.sort_by_key(|point| (point.ordinal, point.repeat, point.id));
    if points
        .iter()
        .any(|point| point.purpose == PointPurpose::Search)
    {
        points.sort_by(|a, b| line::load_of(a).total_cmp(&line::load_of(b)));
    }
    let first = points[0];
    let mut ladder = LadderSummary {
        step: first.step.clone(),
        step_index: first.step_index,
        system: index.name(first.system),
        medium: first.medium.map(|medium| index.name(medium)),
        drive: drive::title(index, first.medium),
        workload: first.workload.clone(),
        mode: first.mode.clone(),
        data: data::state(index, first.system),
        scene: first.scene,
        points: points
            .iter()
            .map(|point| point::summarise(index, point))
            .collect(),
        loads: Vec::new(),
        peak: None,
        line: None,
        scaling: None,
        findings: Vec::new(),
        fleet: None,
    };
    ladder.findings = finding::of_step(index, &ladder, first);
    // A database that is inconsistent at the end of the step may have been so at any of its points.
    let verdict = Verdict::of(&ladder.findings);
    ladder
        .points
        .iter_mut()
        .for_each(|point| point.verdict = point.verdict.max(verdict));
    ladder.loads = load_summary::rungs(&ladder.points);
    ladder.line = line::of(index, &ladder, &points);
    if let Some(line) = ladder
        .line
        .as_ref()
        .map(|line| line.line.unwrap_or_default())
    {
        let above = ladder
            .points
            .iter_mut()
            .zip(&points)
            .filter(|(_, point)| line::load_of(point) > line);
        above.for_each(|(figures, _)| {
            figures.above_line = true;
            figures
                .findings
                .iter_mut()
                .for_each(finding::excuse_above_the_line);
            figures.verdict = Verdict::of(&figures.findings).max(verdict);
        });
        ladder.loads = load_summary::rungs(&ladder.points);
    }
    ladder.peak = match &ladder.line {
        Some(line) => line
            .load_index
            .filter(|index| ladder.loads[*index].verdict < Verdict::Invalid),
        None => peak(&ladder.loads),
    };
    ladder.scaling = scaling::of(&ladder);
    ladder
}

fn peak(rungs: &[LoadSummary]) -> Option<usize> {
    let usable = rungs
        .iter()
        .enumerate()
        .filter(|(_, rung)| rung.verdict < Verdict::Invalid);
    usable
        .filter_map(|(i, rung)| Some((i, rung.main_rate()?.median)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(i, _)| i)
}

/// The highest rate of the run, but for searches, which have a load line; of rungs whose main figures differ in kind, those with NOPM come first.
fn headline(ladders: &[LadderSummary]) -> Option<Headline> {
    let ladders = ladders
        .iter()
        .enumerate()
        .filter(|(_, ladder)| ladder.line.is_none());
    let peaks = ladders.filter_map(|(i, ladder)| Some((i, ladder.peak?, ladder)));
    peaks
        .max_by(|(_, p, a), (_, q, b)| {
            let key = |rung: &LoadSummary| {
                (
                    rung.nopm.is_some(),
                    rung.main_rate().map_or(0.0, |rate| rate.median),
                )
            };
            let a = key(&a.loads[*p]);
            let b = key(&b.loads[*q]);
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
        .map(|(ladder, load_index, _)| Headline { ladder, load_index })
}

/// The record, with its rows indexed by what they are looked up by.
struct Index<'a> {
    record: &'a Record,
    ticks: &'a Ticks<'a>,
    windows: BTreeMap<PhaseId, Vec<&'a Window>>,
    /// Under load, by point, in time order.
    phases: BTreeMap<PointId, Vec<&'a Phase>>,
    /// By system, in time order.
    waits: BTreeMap<SubjectId, Vec<&'a WaitRow>>,
    /// By medium, in time order.
    drive: BTreeMap<SubjectId, Vec<&'a DriveRow>>,
}

impl<'a> Index<'a> {
    fn new(record: &'a Record, ticks: &'a Ticks<'a>) -> Self {
        let mut windows: BTreeMap<PhaseId, Vec<&Window>> = BTreeMap::new();
        record
            .windows
            .iter()
            .for_each(|window| windows.entry(window.phase).or_default().push(window));
        let mut waits: BTreeMap<SubjectId, Vec<&WaitRow>> = BTreeMap::new();
        record
            .waits
            .iter()
            .for_each(|row| waits.entry(row.subject).or_default().push(row));
        waits
            .values_mut()
            .for_each(|rows| rows.sort_by_key(|row| waits::middle(row)));
        let mut phases: BTreeMap<PointId, Vec<&Phase>> = BTreeMap::new();
        for phase in record
            .phases
            .iter()
            .filter(|phase| phase.kind.is_under_load())
        {
            phase
                .point
                .into_iter()
                .for_each(|point| phases.entry(point).or_default().push(phase));
        }
        phases
            .values_mut()
            .for_each(|phases| phases.sort_by_key(|phase| phase.start));
        let mut drive: BTreeMap<SubjectId, Vec<&DriveRow>> = BTreeMap::new();
        for row in &record.drive {
            drive.entry(row.subject).or_default().push(row);
        }
        for rows in drive.values_mut() {
            rows.sort_by_key(|row| row.start);
        }
        Self {
            record,
            ticks,
            windows,
            phases,
            waits,
            drive,
        }
    }

    /// What an emulated drive did in the seconds that reach into a phase, in time order.
    fn drive_rows(&self, medium: SubjectId, phase: &Phase) -> Vec<&'a DriveRow> {
        let all = self.drive.get(&medium).map_or(&[][..], Vec::as_slice);
        let before_its_end = &all[..all.partition_point(|row| row.start < phase.end)];
        let from = before_its_end
            .iter()
            .rposition(|row| row.end <= phase.start)
            .map_or(0, |last| last + 1);
        before_its_end[from..].to_vec()
    }

    fn windows(&self, phase: PhaseId) -> &[&'a Window] {
        self.windows.get(&phase).map_or(&[], Vec::as_slice)
    }

    fn name(&self, id: SubjectId) -> String {
        let found = self.record.subjects.iter().find(|subject| subject.id == id);
        found.map_or_else(|| format!("#{}", id.0), |subject| subject.name.clone())
    }

    /// The phases of `point` under load, in time order.
    fn load_phases(&self, point: &Point) -> Vec<&'a Phase> {
        self.phases.get(&point.id).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
