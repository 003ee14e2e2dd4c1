//! One side of a comparison: what one run, or several runs of the same, measured at each load.

use std::collections::HashMap;

use super::difference::{Configuration, Difference};
use super::identity::RunIdentity;
use super::workload::WorkloadParameters;
use crate::audited::figures_from;
use crate::latency::Slice;
use crate::summary::{
    BlockMedium, BlockPointSummary, BlockSummary, FigureId, LadderSummary, LoadSummary,
    PointSummary, RunFigures, TickRows, Ticks, Verdict,
};
use plimsoll_plan::Interference;
use plimsoll_plan::requirement::PlanRequirement;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::hist::Hist;
use plimsoll_record::import_facts;
use plimsoll_record::import_facts::{DerivedRate, OFFERED_FACT, is_derived};
use plimsoll_record::{
    LoadKey, OfferedLoad, Phase, PhaseId, Point, PointId, PointPurpose, Record, RunInfo,
    SubjectKind, Window,
};

/// Parts of a window whose latencies are kept apart.
const SLICES: usize = 240;

/// A side, of one run or of several that repeat each other.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedSide {
    pub label: String,
    pub runs: Vec<RunInfo>,
    pub identities: Vec<RunIdentity>,
    /// Of the first run; a side is of runs that were to be the same.
    pub configuration: Configuration,
    pub points: Vec<SidePoint>,
    /// Of the first run's plan.
    pub requirements: Vec<PlanRequirement>,
}

/// One load of a side, over its repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct SidePoint {
    /// The system without its medium, and the load of each, where there are several.
    pub key: LoadKey,
    pub figure: FigureId,
    /// Where no tool printed the offered rate: that rate, and the time over which it was counted.
    pub derived: Option<DerivedRate>,
    /// Of its repeats together.
    pub workload: WorkloadParameters,
    /// How many times slower than rated the drives of its media ran.
    pub slower: Option<f64>,
    /// Systems under this load at the same time; figures are their sums.
    pub systems: usize,
    /// The worst of its repeats.
    pub verdict: Verdict,
    /// Whether it is a load of a search, which goes beyond its limit.
    pub is_search: bool,
    pub repeats: Vec<Repeat>,
}

impl SidePoint {
    /// Everything in which the workloads of two loads differ.
    pub(super) fn workload_differences(&self, other: &Self) -> Vec<Difference> {
        let of = self.key.job.as_ref().unwrap_or(&self.key.step);
        self.workload.differences(&other.workload, of)
    }

    /// What makes two loads ones of different workloads.
    pub(super) fn unlike_workload(&self, other: &Self) -> Vec<Difference> {
        let mut differences = self.workload_differences(other);
        differences.retain(Difference::is_unlike);
        differences
    }
}

/// One window.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// Of each second what was counted, and its length in seconds.
    pub seconds: Vec<(f64, f64)>,
    /// Latencies of consecutive parts of the window.
    pub slices: Vec<Slice>,
    /// Of the whole window, at full precision.
    pub latency: Hist,
    pub figures: RepeatFigures,
}

/// Figures of one window that requirements are for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RepeatFigures {
    /// Transactions of all types.
    pub completed_per_second: Option<f64>,
    pub mb_per_second: Option<f64>,
    /// Transactions that failed or were dropped, and all that ended.
    pub failed: u64,
    pub ended: u64,
}

impl RepeatFigures {
    fn of_load(point: &PointSummary) -> Self {
        let counts = &point.overall.counts;
        Self {
            completed_per_second: point.value(FigureId::Transactions),
            mb_per_second: None,
            failed: counts.failed.saturating_add(counts.dropped),
            ended: counts.settled(),
        }
    }
}

impl Repeat {
    /// What was counted in the window, and its length.
    pub fn whole(&self) -> (f64, f64) {
        self.seconds.iter().fold((0.0, 0.0), |sum, second| {
            (sum.0 + second.0, sum.1 + second.1)
        })
    }
}

impl SidePoint {
    /// Whether it is the same load of the same step, be it of another system or medium.
    pub(super) fn has_load_of(&self, other: &Self) -> bool {
        let own = &self.key;
        let others = &other.key;
        self.figure == other.figure
            && own.step == others.step
            && own.job == others.job
            && own.scene == others.scene
            && self.is_as_high_as(other)
    }

    /// Rates that were counted and not printed differ by chance.
    fn is_as_high_as(&self, other: &Self) -> bool {
        let own = &self.key.load;
        let others = &other.key.load;
        let derived = self.derived.zip(other.derived);
        own == others
            || derived.is_some_and(|(rate, other)| own.users == others.users && rate.is_like(other))
    }

    pub(super) fn has_names_of(&self, other: &Self) -> bool {
        self.key.medium == other.key.medium && self.key.system == other.key.system
    }
}

impl ComparedSide {
    /// A side of one run. Of the record's series nothing is read, and of its seconds' histograms those of the figures.
    pub fn of(label: impl Into<String>, record: &Record) -> Self {
        let ticks = Ticks::of(record);
        Self::of_figures(label, record, &ticks, &figures_from(record, &ticks))
    }

    /// A side of one run whose summary is known.
    pub fn of_summary(label: impl Into<String>, record: &Record, summary: &RunFigures) -> Self {
        Self::of_figures(label, record, &Ticks::of(record), summary)
    }

    pub(super) fn of_figures(
        label: impl Into<String>,
        record: &Record,
        ticks: &Ticks<'_>,
        summary: &RunFigures,
    ) -> Self {
        let rows = MeasureRows::of(record, ticks);
        let ladders = summary.ladders.iter().flat_map(|ladder| {
            ladder
                .loads
                .iter()
                .filter_map(|load| ladder_point(&rows, ladder, load))
        });
        let blocks = summary.blocks.iter().flat_map(|block| {
            let media = block.media.iter();
            media
                .flat_map(|medium| block_points(&rows, block, medium))
                .collect::<Vec<_>>()
        });
        Self {
            label: label.into(),
            runs: vec![record.run.clone()],
            identities: vec![RunIdentity::of(record)],
            configuration: Configuration::of(record),
            points: ladders.chain(blocks).collect(),
            requirements: record
                .plan
                .resolved()
                .map(|plan| plan.requirements.clone())
                .unwrap_or_default(),
        }
    }

    /// Another run of the same: its windows are further repeats.
    pub fn add(&mut self, other: Self) {
        let Self {
            label: _,
            runs,
            identities,
            configuration,
            points,
            requirements: _,
        } = other;
        self.runs.extend(runs);
        self.identities.extend(identities);
        self.configuration.merge(configuration);
        for point in points {
            match self
                .points
                .iter_mut()
                .find(|own| own.has_load_of(&point) && own.has_names_of(&point))
            {
                Some(own) => {
                    own.verdict = own.verdict.max(point.verdict);
                    own.workload.merge(point.workload);
                    own.repeats.extend(point.repeats);
                }
                None => self.points.push(point),
            }
        }
    }

    /// Whether a run of the other side is one of this side's.
    pub fn shares_run(&self, other: &Self) -> bool {
        self.holds_any(&other.identities)
    }

    pub fn holds_any(&self, runs: &[RunIdentity]) -> bool {
        self.identities
            .iter()
            .any(|own| runs.iter().any(|other| own.is_same_run(other)))
    }

    /// The most systems that were under load at the same time.
    pub fn systems(&self) -> usize {
        self.points
            .iter()
            .map(|point| point.systems)
            .max()
            .unwrap_or_default()
    }
}

fn ladder_point(
    rows: &MeasureRows<'_>,
    ladder: &LadderSummary,
    load: &LoadSummary,
) -> Option<SidePoint> {
    let points: Vec<&PointSummary> = load.points.iter().map(|i| &ladder.points[*i]).collect();
    let orders = points
        .iter()
        .all(|point| point.value(FigureId::Nopm).is_some());
    let systems = ladder
        .fleet
        .as_ref()
        .map_or(1, |fleet| fleet.systems.len().max(1));
    let repeats: Vec<Repeat> = points
        .iter()
        .filter_map(|point| {
            Some(Repeat {
                figures: RepeatFigures::of_load(point),
                ..rows.repeat(&point.ids, orders)?
            })
        })
        .collect();
    let workload = rows.workload(points.iter().flat_map(|point| &point.ids));
    let key = LoadKey {
        step: ladder.step.clone(),
        system: rows.system_name(ladder.first_system()).to_owned(),
        medium: ladder.medium.clone(),
        scene: ladder.scene,
        job: None,
        load: load.load.of_each(systems),
    };
    let figure = if orders {
        FigureId::Nopm
    } else {
        FigureId::Transactions
    };
    let derived = rows.derived(&points);
    let verdict = load.verdict;
    (!repeats.is_empty()).then_some(SidePoint {
        key,
        figure,
        derived,
        workload,
        slower: ladder.slower,
        systems,
        verdict,
        is_search: rows.is_search(&points),
        repeats,
    })
}

fn block_points(
    rows: &MeasureRows<'_>,
    block: &BlockSummary,
    medium: &BlockMedium,
) -> Vec<SidePoint> {
    let mut all = Vec::new();
    for job in &medium.jobs {
        let curve = job
            .curve
            .iter()
            .map(|at| at.points.iter().collect::<Vec<&BlockPointSummary>>());
        for points in std::iter::once(job.points.iter().collect()).chain(curve) {
            let counted: Vec<&BlockPointSummary> =
                points.into_iter().filter(|point| point.counts).collect();
            let repeats: Vec<Repeat> = counted
                .iter()
                .filter_map(|point| {
                    let mut repeat = rows.repeat(&[PointId(point.point)], false)?;
                    repeat.figures.mb_per_second = point.value(FigureId::MbPerSecond);
                    Some(repeat)
                })
                .collect();
            let Some(first) = counted.first().filter(|_| !repeats.is_empty()) else {
                continue;
            };
            let ids: Vec<PointId> = counted.iter().map(|point| PointId(point.point)).collect();
            all.push(SidePoint {
                key: LoadKey {
                    step: block.step.clone(),
                    system: String::new(),
                    medium: Some(medium.medium.clone()),
                    scene: Interference::Alone,
                    job: Some(job.job.clone()),
                    // Of a share the rate differs between the sides.
                    load: OfferedLoad {
                        offered_per_second: first
                            .offered_per_second
                            .filter(|_| first.share_percent.is_none()),
                        ..first.load()
                    },
                },
                figure: FigureId::Iops,
                derived: None,
                workload: rows.workload(&ids),
                slower: medium.slower,
                systems: 1,
                verdict: counted
                    .iter()
                    .map(|point| point.verdict)
                    .max()
                    .unwrap_or_default(),
                is_search: false,
                repeats,
            });
        }
    }
    all
}

/// A record's rows by measure phase.
struct MeasureRows<'a> {
    record: &'a Record,
    phases: HashMap<PointId, Vec<&'a Phase>>,
    ticks: &'a Ticks<'a>,
    windows: HashMap<PhaseId, Vec<&'a Window>>,
}

impl<'a> MeasureRows<'a> {
    fn of(record: &'a Record, ticks: &'a Ticks<'a>) -> Self {
        let mut phases: HashMap<PointId, Vec<&Phase>> = HashMap::new();
        for phase in record
            .phases
            .iter()
            .filter(|phase| phase.kind == PhaseKind::Measure)
        {
            phases
                .entry(phase.point.unwrap_or_default())
                .or_default()
                .push(phase);
        }
        let mut windows: HashMap<PhaseId, Vec<&Window>> = HashMap::new();
        record
            .windows
            .iter()
            .for_each(|window| windows.entry(window.phase).or_default().push(window));
        Self {
            record,
            phases,
            ticks,
            windows,
        }
    }

    /// Name of the plan's system that this one is an instance of.
    fn system_name(&self, system: &str) -> &'a str {
        let own = self.record.subject(SubjectKind::System, system);
        own.map_or("", |own| self.record.system_name(own))
    }

    fn workload<'p>(&self, points: impl IntoIterator<Item = &'p PointId>) -> WorkloadParameters {
        let mut all = WorkloadParameters::default();
        for id in points {
            let point = self.record.points.iter().find(|point| point.id == *id);
            point
                .into_iter()
                .for_each(|point| all.merge(WorkloadParameters::of(self.record, point)));
        }
        all
    }

    /// Whether the rate that was offered is derived from counts.
    fn is_counted(&self, id: PointId) -> bool {
        let mut points = self.record.points.iter();
        let system = points
            .find(|point| point.id == id)
            .map(|point| point.system);
        system
            .and_then(|system| import_facts::value_at(self.record, system, id, OFFERED_FACT))
            .is_some_and(is_derived)
    }

    fn is_search(&self, points: &[&PointSummary]) -> bool {
        let ids: Vec<PointId> = points.iter().flat_map(|point| point.ids.clone()).collect();
        let mut all = self.record.points.iter();
        all.any(|point| ids.contains(&point.id) && point.purpose == PointPurpose::Search)
    }

    /// Of all repeats of one load, where each of them was counted.
    fn derived(&self, points: &[&PointSummary]) -> Option<DerivedRate> {
        let all = points
            .iter()
            .flat_map(|point| &point.ids)
            .all(|id| self.is_counted(*id));
        let over_s: f64 = points.iter().map(|point| point.measured_s).sum();
        let per_second = points
            .first()?
            .key
            .load
            .offered_per_second
            .filter(|_| all && over_s > 0.0)?;
        Some(DerivedRate { per_second, over_s })
    }

    /// What was measured at these points, which lay at the same time. `orders`: only committed ones of the first type.
    fn repeat(&self, points: &[PointId], orders: bool) -> Option<Repeat> {
        let mut seconds = SummedSeconds::default();
        let mut latency = Hist::new();
        for id in points {
            let point = self.record.points.iter().find(|point| point.id == *id)?;
            let phases = self.phases.get(id).map_or(&[][..], Vec::as_slice);
            let ticks: Vec<TickRows> = phases
                .iter()
                .flat_map(|phase| self.ticks.of_phase(phase))
                .collect();
            seconds.add(&ticks, point, orders);
            let windows = phases
                .iter()
                .filter_map(|phase| self.windows.get(&phase.id))
                .flatten();
            windows
                .filter(|w| counts(point, w.txn, orders))
                .for_each(|w| latency.merge(&w.response));
        }
        seconds.repeat(latency)
    }
}

fn counts(point: &Point, txn: u32, orders: bool) -> bool {
    if orders {
        txn == 0
    } else {
        point.is_counted(txn as usize)
    }
}

/// Seconds of several systems that lie at the same time are added by their number, as [`crate::summary::Fleet`] has it.
#[derive(Default)]
struct SummedSeconds {
    seconds: Vec<(f64, f64)>,
    slices: Vec<Slice>,
}

impl SummedSeconds {
    fn add(&mut self, ticks: &[TickRows<'_>], point: &Point, orders: bool) {
        if self.slices.is_empty() {
            self.slices = vec![Slice::default(); ticks.len().clamp(1, SLICES)];
        }
        let slices = self.slices.len();
        for (index, tick) in ticks.iter().enumerate() {
            if self.seconds.len() <= index {
                self.seconds.push((0.0, tick.seconds()));
            }
            let slice = &mut self.slices[(index * slices / ticks.len()).min(slices - 1)];
            for row in tick.rows().filter(|row| counts(point, row.txn, orders)) {
                let n = if orders {
                    row.counts.committed
                } else {
                    row.counts.completed()
                };
                self.seconds[index].0 += n as f64;
                slice.add(&row.response());
            }
        }
    }

    /// A tick that is too short for a rate of its own is joined to the one before.
    fn repeat(self, latency: Hist) -> Option<Repeat> {
        let mut seconds: Vec<(f64, f64)> = Vec::with_capacity(self.seconds.len());
        for second in self.seconds {
            match seconds.last_mut() {
                Some(last) if second.1 < 0.5 => *last = (last.0 + second.0, last.1 + second.1),
                _ => seconds.push(second),
            }
        }
        let measured = seconds.iter().any(|second| second.1 > 0.0);
        measured.then_some(Repeat {
            seconds,
            slices: self.slices,
            latency,
            figures: RepeatFigures::default(),
        })
    }
}
