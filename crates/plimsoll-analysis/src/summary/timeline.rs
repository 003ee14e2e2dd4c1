//! A step second by second where several systems share a medium, or back up and restore: what the medium was asked for,
//! what the systems achieved together, and when backups ran.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::index::{Index, is_of_ladder};
use super::medium::{MediumSecond, MediumSource, Track};
use plimsoll_plan::Interference;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::metric::Metric;
use plimsoll_record::{
    BackupKind, BackupOutcome, BackupRow, OfferedLoad, Phase, Point, PointPurpose, Sample,
    SubjectId, SubjectKind,
};

/// One step on one medium. Times are seconds since the start of the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepTimeline {
    pub step: String,
    pub step_index: u32,
    pub medium: Option<String>,
    pub drive: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_simulated: bool,
    /// In time order; only seconds within them are here.
    pub slots: Vec<TimelineSlot>,
    /// The medium with the data, then those with backups.
    pub media: Vec<TimelineMedium>,
    /// Of the systems that are measured, together.
    pub transactions: Vec<TransactionSecond>,
    /// Of neighbours that are under load, together.
    pub neighbours: Vec<TransactionSecond>,
    /// By how much files of backups and restores grew, of all systems together.
    pub written: Vec<WrittenSecond>,
    pub bands: Vec<TimelineBand>,
}

/// A point, or all backups and restores of a step that is about them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TimelineSlot {
    pub start_s: f64,
    pub end_s: f64,
    /// Begin and end of the measurement.
    pub measured_s: Option<(f64, f64)>,
    pub load: Option<SlotLoad>,
}

/// What each system was asked for at a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SlotLoad {
    pub scene: Interference,
    pub ordinal: u32,
    #[serde(flatten)]
    pub load: OfferedLoad,
    pub repeat: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineMedium {
    pub medium: String,
    /// Whether backups are written to it, and it holds no data.
    pub target: bool,
    /// `None`: no source.
    pub source: Option<MediumSource>,
    pub seconds: Vec<MediumSecond>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TransactionSecond {
    /// Its end.
    pub at_s: f64,
    /// Completed, all types.
    pub per_second: f64,
    /// Within 3.2 %.
    pub p99_ms: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WrittenSecond {
    pub at_s: f64,
    pub mb_per_second: f64,
}

/// A backup or restore.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineBand {
    pub system: String,
    pub kind: BackupKind,
    pub cycle: u32,
    pub outcome: BackupOutcome,
    pub start_s: f64,
    pub end_s: f64,
}

#[derive(Default)]
struct TimelineGroup<'a> {
    points: Vec<&'a Point>,
    rows: Vec<&'a BackupRow>,
}

impl TimelineGroup<'_> {
    /// Whether it has more than one system.
    fn is_shared(&self, index: &Index) -> bool {
        let instances = self
            .points
            .iter()
            .filter(|point| index.base_of(point.system).is_some());
        let instances: BTreeSet<SubjectId> = instances.map(|point| point.system).collect();
        let noise = self
            .points
            .iter()
            .any(|point| point.scene != Interference::Alone);
        noise || !self.rows.is_empty() || instances.len() > 1
    }
}

pub(super) fn of_run(index: &Index) -> Vec<StepTimeline> {
    let mut groups: BTreeMap<(u32, Option<SubjectId>), TimelineGroup<'_>> = BTreeMap::new();
    for point in index
        .record
        .points
        .iter()
        .filter(|point| is_of_ladder(point) || point.purpose == PointPurpose::Noise)
    {
        groups
            .entry((point.step_index, point.medium))
            .or_default()
            .points
            .push(point);
    }
    for row in &index.record.backups {
        groups
            .entry((row.step_index, row.medium))
            .or_default()
            .rows
            .push(row);
    }
    let shared = groups
        .into_iter()
        .filter(|(_, group)| group.is_shared(index));
    shared
        .filter_map(|((_, medium), group)| timeline(index, medium, &group))
        .collect()
}

/// A slot with the points that run in it.
struct Slot<'a> {
    start: Nanos,
    end: Nanos,
    measured: Option<(Nanos, Nanos)>,
    points: Vec<&'a Point>,
}

fn timeline(
    index: &Index,
    medium: Option<SubjectId>,
    group: &TimelineGroup<'_>,
) -> Option<StepTimeline> {
    let slots = slots(index, group);
    let named = group
        .points
        .first()
        .map(|point| (&point.step, point.step_index));
    let (step, step_index) =
        named.or_else(|| group.rows.first().map(|row| (&row.step, row.step_index)))?;
    let mut bands: Vec<TimelineBand> = group.rows.iter().map(|row| band(index, row)).collect();
    bands.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    Some(StepTimeline {
        step: step.clone(),
        step_index,
        medium: medium.map(|medium| index.name(medium)),
        drive: index.drive_title(medium),
        is_simulated: index.record.is_simulated(),
        media: media(index, medium, group, &slots),
        transactions: of_slots(index, &slots, false),
        neighbours: of_slots(index, &slots, true),
        written: written(index, group, &slots),
        bands,
        slots: slots.iter().map(timeline_slot).collect(),
    })
}

fn timeline_slot(slot: &Slot<'_>) -> TimelineSlot {
    let first = slot
        .points
        .iter()
        .find(|point| point.purpose != PointPurpose::Noise);
    TimelineSlot {
        start_s: slot.start.as_secs_f64(),
        end_s: slot.end.as_secs_f64(),
        measured_s: slot
            .measured
            .map(|(start, end)| (start.as_secs_f64(), end.as_secs_f64())),
        load: first.map(|point| SlotLoad {
            scene: point.scene,
            ordinal: point.ordinal,
            load: point.load(),
            repeat: point.repeat,
        }),
    }
}

/// In time order: each load by itself, and what is no part of any.
fn band(index: &Index, row: &BackupRow) -> TimelineBand {
    TimelineBand {
        system: index.name(row.system),
        kind: row.kind,
        cycle: row.cycle,
        outcome: row.outcome,
        start_s: row.start.as_secs_f64(),
        end_s: row.end.as_secs_f64(),
    }
}

/// Transactions of those that make noise, or of all others.
fn of_slots(index: &Index, slots: &[Slot<'_>], noise: bool) -> Vec<TransactionSecond> {
    let mut seconds = Vec::new();
    for slot in slots {
        let mut own = slot.points.clone();
        own.retain(|point| (point.purpose == PointPurpose::Noise) == noise);
        seconds.extend(transactions(index, &own));
    }
    seconds
}

fn slots<'a>(index: &Index, group: &TimelineGroup<'a>) -> Vec<Slot<'a>> {
    let mut loads: BTreeMap<(Interference, u32, u32), Vec<&Point>> = BTreeMap::new();
    for point in &group.points {
        loads
            .entry((point.scene, point.ordinal, point.repeat))
            .or_default()
            .push(point);
    }
    let mut slots: Vec<Slot<'_>> = loads
        .into_values()
        .filter_map(|points| slot_of(index, points))
        .collect();
    let mut alone = group.rows.clone();
    alone.retain(|row| row.point.is_none());
    if let Some((start, end)) = alone
        .iter()
        .map(|row| row.start)
        .min()
        .zip(alone.iter().map(|row| row.end).max())
    {
        slots.push(Slot {
            start,
            end,
            measured: None,
            points: Vec::new(),
        });
    }
    slots.sort_by_key(|slot| slot.start);
    slots
}

fn slot_of<'a>(index: &Index, points: Vec<&'a Point>) -> Option<Slot<'a>> {
    let phases: Vec<&Phase> = points
        .iter()
        .flat_map(|point| index.load_phases(point))
        .collect();
    let mut measured = phases.clone();
    measured.retain(|phase| phase.kind == PhaseKind::Measure);
    Some(Slot {
        start: phases.iter().map(|phase| phase.start).min()?,
        end: phases.iter().map(|phase| phase.end).max()?,
        measured: span(&measured),
        points,
    })
}

fn span(phases: &[&Phase]) -> Option<(Nanos, Nanos)> {
    let start = phases.iter().map(|phase| phase.start).min()?;
    let end = phases.iter().map(|phase| phase.end).max()?;
    Some((start, end))
}

fn media(
    index: &Index,
    data: Option<SubjectId>,
    group: &TimelineGroup<'_>,
    slots: &[Slot<'_>],
) -> Vec<TimelineMedium> {
    let mut all: Vec<(SubjectId, bool)> = data.map(|medium| (medium, false)).into_iter().collect();
    let targets: BTreeSet<SubjectId> = group.rows.iter().map(|row| row.target).collect();
    all.extend(
        targets
            .into_iter()
            .filter(|target| Some(*target) != data)
            .map(|target| (target, true)),
    );
    all.into_iter()
        .map(|(medium, target)| {
            let track = Track::of(index, Some(medium));
            TimelineMedium {
                medium: index.name(medium),
                target,
                seconds: slots
                    .iter()
                    .flat_map(|slot| track.seconds(slot.start, slot.end))
                    .collect(),
                source: track.source,
            }
        })
        .collect()
}

#[derive(Default)]
struct Sum {
    end: Nanos,
    seconds: f64,
    completed: u64,
    response: CoarseHist,
}

/// Seconds of points that were measured at the same time. They begin together, so that they are added by their number.
fn transactions(index: &Index, points: &[&Point]) -> Vec<TransactionSecond> {
    let mut sums: BTreeMap<(PhaseKind, usize), Sum> = BTreeMap::new();
    for point in points {
        for phase in index.load_phases(point) {
            for (nth, tick) in index.ticks.of_phase(phase).enumerate() {
                let sum = sums.entry((phase.kind, nth)).or_default();
                sum.end = sum.end.max(tick.end());
                sum.seconds = sum.seconds.max(tick.seconds());
                for row in tick.rows().filter(|row| point.is_counted(row.txn as usize)) {
                    sum.completed = sum.completed.saturating_add(row.counts.completed());
                    sum.response.merge(&row.response());
                }
            }
        }
    }
    sums.into_values()
        .filter(|sum| sum.seconds > 0.0)
        .map(|sum| TransactionSecond {
            at_s: sum.end.as_secs_f64(),
            per_second: sum.completed as f64 / sum.seconds,
            p99_ms: sum.response.quantile(0.99).map(Nanos::as_millis_f64),
        })
        .collect()
}

fn written(index: &Index, group: &TimelineGroup<'_>, slots: &[Slot<'_>]) -> Vec<WrittenSecond> {
    let systems: BTreeSet<String> = group
        .rows
        .iter()
        .map(|row| index.name(row.system))
        .collect();
    let files: BTreeSet<SubjectId> = index
        .record
        .subjects
        .iter()
        .filter(|subject| subject.kind == SubjectKind::Backup && systems.contains(&subject.name))
        .map(|subject| subject.id)
        .collect();
    let mut sums: BTreeMap<Nanos, f64> = BTreeMap::new();
    for series in index
        .record
        .series
        .iter()
        .filter(|s| s.metric == Metric::BackupWritten && files.contains(&s.subject))
    {
        for sample in series
            .samples
            .iter()
            .filter(|sample| overlaps(slots, sample))
        {
            *sums.entry(sample.at).or_default() += f64::from(sample.value) / 1e6;
        }
    }
    sums.into_iter()
        .map(|(at, mb_per_second)| WrittenSecond {
            at_s: at.as_secs_f64(),
            mb_per_second,
        })
        .collect()
}

fn overlaps(slots: &[Slot<'_>], sample: &Sample) -> bool {
    let start = sample.at.saturating_sub(sample.over);
    slots
        .iter()
        .any(|slot| slot.start < sample.at && start < slot.end)
}
