//! What noisy neighbours do to the systems beside them: the same load on the same systems with and without noise.
//!
//! | figure | formula | why |
//! | --- | --- | --- |
//! | ratio | with noise / without; rates are means of the repeats, percentiles those of histograms merged over them | 1: the noise changes nothing |
//! | its interval | ratio × e^±h, h = Student's t over the logarithms of the repeats' own ratios | a repeat is measured with and without noise soon after each other, so that what drifts drops out of its ratio; ratios multiply |
//! | of a single pair | relative errors of the two windows add in squares, with the degrees of freedom of Welch | independent means; of a percentile there is none |
//! | device | requests and time per request of the medium over the measure windows, weighted by requests | what a datastore would show, neighbours included |

use serde::Serialize;

use super::backup::{self, BackupFigures};
use super::estimate::Estimate;
use super::figure::FigureId;
use super::figure_set::FigureSet;
use super::finding::{Finding, FindingKind, Verdict};
use super::index::Index;
use super::ladder_summary::LadderSummary;
use super::medium::{MediumFigures, Track};
use super::point;
use super::point_summary::PointSummary;
use super::ratio::RatioSet;
use plimsoll_plan::Interference;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::{
    BackupKind, BackupRow, OfferedLoad, Point, PointPurpose, Severity, SubjectId,
};

/// One step with noise on one medium.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseEffect {
    pub step: String,
    pub step_index: u32,
    /// The systems that are measured, as their ladder has them.
    pub system: String,
    pub medium: Option<String>,
    pub drive: Option<String>,
    pub mode: String,
    /// Whether rates are NOPM; else transactions per second.
    pub nopm: bool,
    /// Indices into [`super::RunFigures::ladders`].
    pub quiet: usize,
    pub noisy: usize,
    /// Who makes the noise.
    pub neighbours: Vec<String>,
    pub loads: Vec<EffectLoad>,
    pub findings: Vec<Finding>,
}

impl NoiseEffect {
    pub fn rate(&self) -> FigureId {
        FigureId::transactions(self.nopm)
    }
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectLoad {
    pub ordinal: u32,
    /// Of all systems together.
    #[serde(flatten)]
    pub load: OfferedLoad,
    /// Repeats that were measured with and without noise and can be used. With none, figures are of all that were
    /// measured, and there are no ratios.
    pub pairs: u32,
    /// The sum over the systems.
    pub all: VictimEffect,
    /// Each of them; empty where there is one only.
    pub victims: Vec<VictimEffect>,
    /// Mean of the systems' own ratios of rates.
    pub mean_ratio: Option<f64>,
    /// Index of the one whose rate suffers most.
    pub worst: Option<usize>,
    pub medium: Option<MediumEffect>,
    /// Backups that ran beside.
    pub backups: Option<BackupFigures>,
    /// Transactions per second of neighbours under load, together.
    pub neighbours_per_second: Option<f64>,
    /// The worst of its points'.
    pub verdict: Verdict,
}

/// A system without noise and with it: its rate, and response times of the main transaction type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VictimEffect {
    pub system: String,
    pub quiet: FigureSet,
    pub noisy: FigureSet,
    /// Noisy to quiet.
    pub ratios: RatioSet,
}

/// What the medium was asked for by all who use it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MediumEffect {
    pub quiet: MediumFigures,
    pub noisy: MediumFigures,
    /// Noisy to quiet: requests per second, and mean time per request.
    pub ratios: RatioSet,
}

/// The quantiles that are compared.
const QUANTILES: [FigureId; 3] = [FigureId::P50, FigureId::P95, FigureId::P99];

pub(super) fn effects(index: &Index, ladders: &[LadderSummary]) -> Vec<NoiseEffect> {
    of_scene(ladders, Interference::Noisy)
        .filter_map(|(i, noisy)| {
            let quiet = counterpart(ladders, noisy)?;
            Some(effect(index, ladders, (quiet, i)))
        })
        .collect()
}

fn of_scene(
    ladders: &[LadderSummary],
    scene: Interference,
) -> impl Iterator<Item = (usize, &LadderSummary)> {
    let all = ladders.iter().enumerate();
    all.filter(move |(_, own)| own.scene == scene && own.line.is_none())
}

/// The same load without noise.
fn counterpart(ladders: &[LadderSummary], noisy: &LadderSummary) -> Option<usize> {
    let quiet = of_scene(ladders, Interference::Quiet).filter(|(_, own)| {
        (own.step_index, &own.medium, &own.mode) == (noisy.step_index, &noisy.medium, &noisy.mode)
    });
    // The label of several systems contains their number, which an interruption may change.
    quiet
        .min_by_key(|(_, own)| own.system != noisy.system)
        .map(|(i, _)| i)
}

/// A ladder with the points of the record behind it.
struct EffectSide<'a> {
    ladder: &'a LadderSummary,
    points: Vec<&'a Point>,
}

impl<'a> EffectSide<'a> {
    fn of(index: &Index<'a>, ladder: &'a LadderSummary) -> Self {
        Self {
            ladder,
            points: index
                .record
                .points
                .iter()
                .filter(|point| {
                    point.purpose == PointPurpose::Ladder
                        && (point.step_index, point.scene) == (ladder.step_index, ladder.scene)
                        && point.mode == ladder.mode
                        && point.medium.map(|medium| index.name(medium)) == ladder.medium
                        && ladder.has(&index.name(point.system))
                })
                .collect(),
        }
    }

    fn figures(&self, ordinal: u32, repeat: u32) -> Option<(usize, &'a PointSummary)> {
        let mut all = self.ladder.points.iter().enumerate();
        all.find(|(_, own)| (own.ordinal, own.repeat) == (ordinal, repeat))
    }

    fn is_usable(&self, ordinal: u32, repeat: u32) -> bool {
        self.figures(ordinal, repeat)
            .is_some_and(|(_, own)| own.verdict < Verdict::Invalid && own.main_rate().is_some())
    }

    /// Those that were measured at the same time.
    fn members(&self, ordinal: u32, repeat: u32) -> Vec<&'a Point> {
        let all = self.points.iter().copied();
        all.filter(|point| (point.ordinal, point.repeat) == (ordinal, repeat))
            .collect()
    }

    fn systems(&self, ordinal: u32, repeat: u32) -> Vec<SubjectId> {
        let mut all: Vec<SubjectId> = self
            .members(ordinal, repeat)
            .iter()
            .map(|point| point.system)
            .collect();
        all.sort_unstable();
        all
    }

    /// The rate of one system, or of all together, and quantiles of its response times.
    fn figures_of(
        &self,
        at: &EffectRepeats<'_, '_>,
        repeat: u32,
        system: Option<&str>,
    ) -> FigureSet {
        let response = self.response(at.index, at.ordinal, repeat, system);
        QUANTILES.into_iter().fold(
            FigureSet::default().with(at.rate, self.rate(at, repeat, system)),
            |figures, figure| {
                let quantile = figure.share().and_then(|own| response.quantile(own));
                let ms = quantile.map(Nanos::as_millis_f64);
                figures.with(figure, ms.and_then(|ms| Estimate::single(ms, None)))
            },
        )
    }

    fn rate(
        &self,
        at: &EffectRepeats<'_, '_>,
        repeat: u32,
        system: Option<&str>,
    ) -> Option<Estimate> {
        let (index, sum) = self.figures(at.ordinal, repeat)?;
        let Some(system) = system else {
            return sum.figures.get(at.rate);
        };
        let shares = &self.ladder.fleet.as_ref()?.points.get(index)?.systems;
        let share = shares.iter().find(|share| share.system == system)?;
        share.figures.get(at.rate)
    }

    fn response(&self, index: &Index, ordinal: u32, repeat: u32, system: Option<&str>) -> Hist {
        let mut members = self.members(ordinal, repeat);
        members.retain(|point| system.is_none_or(|system| index.name(point.system) == system));
        point::main_response(index, &members)
    }

    /// The measure windows, one for each repeat.
    fn windows(&self, index: &Index, ordinal: u32, repeats: &[u32]) -> Vec<(Nanos, Nanos)> {
        repeats
            .iter()
            .filter_map(|repeat| {
                let members = self.members(ordinal, *repeat);
                let phases = members.iter().flat_map(|point| index.load_phases(point));
                let measured: Vec<_> = phases
                    .filter(|phase| phase.kind == PhaseKind::Measure)
                    .collect();
                measured
                    .iter()
                    .map(|phase| phase.start)
                    .min()
                    .zip(measured.iter().map(|phase| phase.end).max())
            })
            .collect()
    }
}

impl LadderSummary {
    fn has(&self, system: &str) -> bool {
        self.fleet.as_ref().map_or(self.system == system, |fleet| {
            fleet.systems.iter().any(|own| own == system)
        })
    }
}

fn effect(index: &Index, ladders: &[LadderSummary], (quiet, noisy): (usize, usize)) -> NoiseEffect {
    let sides = [quiet, noisy].map(|i| EffectSide::of(index, &ladders[i]));
    let ladder = &ladders[noisy];
    let mut loads = Vec::new();
    let mut findings = Vec::new();
    for load in &ladder.loads {
        let (found, left_out) = load_effect(index, &sides, load.ordinal);
        if left_out > 0 {
            let kind = FindingKind::EffectUnpaired {
                left_out,
                of: left_out + u64::from(found.pairs),
            };
            findings.push(kind.with(Severity::Warning));
        }
        loads.push(EffectLoad {
            load: load.load,
            ..found
        });
    }
    let backups = index
        .record
        .backups
        .iter()
        .filter(|row| is_beside(&sides[1].points, row))
        .map(|row| row.system);
    let points = index
        .record
        .points
        .iter()
        .filter(|point| is_noise(point, &sides[1]));
    let mut neighbours: Vec<SubjectId> = backups.chain(points.map(|point| point.system)).collect();
    neighbours.sort_unstable();
    neighbours.dedup();
    NoiseEffect {
        step: ladder.step.clone(),
        step_index: ladder.step_index,
        system: ladder.system.clone(),
        medium: ladder.medium.clone(),
        drive: ladder.drive.clone(),
        mode: ladder.mode.clone(),
        nopm: rate_of(ladder) == FigureId::Nopm,
        quiet,
        noisy,
        neighbours: neighbours
            .into_iter()
            .map(|system| index.name(system))
            .collect(),
        loads,
        findings,
    }
}

fn is_beside(points: &[&Point], row: &BackupRow) -> bool {
    points.iter().any(|point| Some(point.id) == row.point)
}

/// Load of neighbours on the same medium.
fn is_noise(point: &Point, noisy: &EffectSide<'_>) -> bool {
    let first = noisy.points.first();
    point.purpose == PointPurpose::Noise
        && point.scene == Interference::Noisy
        && first.is_some_and(|first| {
            (first.step_index, first.medium) == (point.step_index, point.medium)
        })
}

/// What its points are counted by.
fn rate_of(ladder: &LadderSummary) -> FigureId {
    let mut points = ladder.points.iter();
    FigureId::transactions(points.all(|point| point.value(FigureId::Nopm).is_some()))
}

/// One load, and how many of its repeats have no counterpart.
fn load_effect(index: &Index, sides: &[EffectSide<'_>; 2], ordinal: u32) -> (EffectLoad, u64) {
    let [quiet, noisy] = sides;
    let mut repeats: Vec<u32> = sides
        .iter()
        .flat_map(|side| &side.points)
        .map(|point| point.repeat)
        .collect();
    repeats.sort_unstable();
    repeats.dedup();
    repeats.retain(|repeat| {
        sides
            .iter()
            .any(|side| !side.members(ordinal, *repeat).is_empty())
    });
    // The same systems on both sides: otherwise a change of their number would be taken for the noise's.
    let pairs: Vec<u32> = repeats
        .iter()
        .filter(|repeat| {
            sides.iter().all(|side| side.is_usable(ordinal, **repeat))
                && quiet.systems(ordinal, **repeat) == noisy.systems(ordinal, **repeat)
        })
        .copied()
        .collect();
    let load = EffectRepeats {
        index,
        sides,
        ordinal,
        rate: rate_of(noisy.ladder),
        repeats: if pairs.is_empty() { &repeats } else { &pairs },
        pairs: &pairs,
    };
    let systems: &[String] = noisy
        .ladder
        .fleet
        .as_ref()
        .map_or(&[], |fleet| &fleet.systems);
    let victims: Vec<VictimEffect> = systems
        .iter()
        .map(|system| load.victim(system, Some(system)))
        .collect();
    let ratios = victims
        .iter()
        .enumerate()
        .filter_map(|(i, victim)| Some((i, victim.ratios.get(load.rate)?.ratio)));
    let ratios: Vec<(usize, f64)> = ratios.collect();
    let sum: f64 = ratios.iter().map(|(_, ratio)| ratio).sum();
    let verdicts = sides.iter().flat_map(|side| {
        load.repeats
            .iter()
            .filter_map(move |repeat| Some(side.figures(ordinal, *repeat)?.1.verdict))
    });
    let found = EffectLoad {
        ordinal,
        load: OfferedLoad::default(),
        pairs: pairs.len() as u32,
        all: load.victim(&noisy.ladder.system, None),
        mean_ratio: (!ratios.is_empty()).then(|| sum / ratios.len() as f64),
        worst: ratios
            .iter()
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(i, _)| *i),
        victims,
        medium: load.medium(),
        backups: load.backups(),
        neighbours_per_second: load.neighbours(),
        verdict: verdicts.max().unwrap_or_default(),
    };
    (found, (repeats.len() - pairs.len()) as u64)
}

/// A load with the repeats that figures are of.
struct EffectRepeats<'b, 'a> {
    index: &'b Index<'a>,
    sides: &'b [EffectSide<'a>; 2],
    ordinal: u32,
    /// What transactions are counted by.
    rate: FigureId,
    repeats: &'b [u32],
    /// Those of them that ratios are of.
    pairs: &'b [u32],
}

impl EffectRepeats<'_, '_> {
    fn victim(&self, name: &str, system: Option<&str>) -> VictimEffect {
        let each = self.pairs_of(|side, repeat| side.figures_of(self, repeat, system));
        let [quiet, noisy] =
            [0, 1].map(|side| FigureSet::mean_over(each.iter().map(move |pair| &pair[side])));
        VictimEffect {
            system: name.to_owned(),
            ratios: self.ratios([&quiet, &noisy], &each),
            quiet,
            noisy,
        }
    }

    /// What is without and with noise in each repeat.
    fn pairs_of(&self, of: impl Fn(&EffectSide<'_>, u32) -> FigureSet) -> Vec<[FigureSet; 2]> {
        let repeats = self.repeats.iter();
        repeats
            .map(|repeat| self.sides.each_ref().map(|side| of(side, *repeat)))
            .collect()
    }

    /// Without a pair that can be used there are none.
    fn ratios(&self, [quiet, noisy]: [&FigureSet; 2], each: &[[FigureSet; 2]]) -> RatioSet {
        match self.pairs {
            [] => RatioSet::default(),
            _ => noisy.paired_ratios(quiet, each),
        }
    }

    fn medium(&self) -> Option<MediumEffect> {
        let track = Track::of(self.index, self.sides[1].points.first()?.medium);
        let over = |side: &EffectSide<'_>, repeats: &[u32]| {
            track.over(&side.windows(self.index, self.ordinal, repeats))
        };
        let [quiet, noisy] = self.sides.each_ref().map(|side| over(side, self.repeats));
        let quiet = quiet?;
        let noisy = noisy?;
        let each = self.pairs_of(|side, repeat| {
            let own = over(side, &[repeat]);
            own.map_or_else(FigureSet::default, |own| own.figures())
        });
        Some(MediumEffect {
            ratios: self.ratios([&quiet.figures(), &noisy.figures()], &each),
            quiet,
            noisy,
        })
    }

    fn backups(&self) -> Option<BackupFigures> {
        let members: Vec<&Point> = self
            .repeats
            .iter()
            .flat_map(|repeat| self.sides[1].members(self.ordinal, *repeat))
            .collect();
        let rows: Vec<&BackupRow> = self
            .index
            .record
            .backups
            .iter()
            .filter(|row| is_beside(&members, row))
            .collect();
        let first = rows.first()?;
        let [data, target] =
            [first.medium, Some(first.target)].map(|medium| Track::of(self.index, medium));
        backup::figures(&rows, BackupKind::Backup, &data, &target)
    }

    /// Mean of the repeats.
    fn neighbours(&self) -> Option<f64> {
        let points: Vec<&Point> = self
            .index
            .record
            .points
            .iter()
            .filter(|point| {
                is_noise(point, &self.sides[1])
                    && point.ordinal == self.ordinal
                    && self.repeats.contains(&point.repeat)
            })
            .collect();
        let rates: Vec<f64> = points
            .iter()
            .filter_map(|point| point::summarise(self.index, point).value(FigureId::Transactions))
            .collect();
        let mut repeats: Vec<u32> = points.iter().map(|point| point.repeat).collect();
        repeats.sort_unstable();
        repeats.dedup();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / repeats.len() as f64)
    }
}

#[cfg(test)]
mod tests;
