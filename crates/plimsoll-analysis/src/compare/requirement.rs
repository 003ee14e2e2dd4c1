//! Requirements: limits that figures of one run must keep, without a baseline.

use serde::Serialize;

use super::figures::{SideLatency, rate};
use super::gate_outcome::GateOutcome;
use super::side::{ComparedSide, Repeat, SidePoint};
use crate::summary::{FigureId, Verdict};
use plimsoll_plan::objective::Quantile;
use plimsoll_plan::requirement::{PlanRequirement, RequiredFigure, Requirement};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{LoadKey, RunStatus};

/// Why a requirement has its outcome at a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RequirementReason {
    Met,
    Missed,
    /// The point is invalid: its figure shows neither.
    Invalid,
    /// The figure was not measured, or too few response times resolve the percentile.
    NoFigure,
    /// No load is of a kind that has the figure.
    NoLoad,
}

impl RequirementReason {
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Invalid => "invalid",
            Self::NoFigure => "no_figure",
            Self::NoLoad => "no_load",
        }
    }
}

/// A requirement at one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequiredPoint {
    pub requirement: Requirement,
    /// `None`: no load has the figure.
    pub place: Option<LoadKey>,
    /// In the requirement's unit. Rates and shares are over all repeats, percentiles the median of the repeats' own, the
    /// maximum that of all.
    pub value: Option<f64>,
    pub outcome: GateOutcome,
    pub reason: RequirementReason,
}

/// All requirements at all loads that have their figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequirementReport {
    pub outcome: GateOutcome,
    pub points: Vec<RequiredPoint>,
    /// A run ended before its plan did: loads that were not measured cannot keep a limit.
    pub ended_early: bool,
    /// Loads in scope whose points are doubtful.
    pub doubtful_loads: usize,
}

impl RequirementReport {
    /// The first requirement that is missed.
    pub fn missed(&self) -> Option<&RequiredPoint> {
        let mut points = self.points.iter();
        points.find(|point| point.outcome == GateOutcome::Failed)
    }
}

/// Checks a side's loads. Loads of a search are left out: it goes beyond its limit to find it.
pub fn require(side: &ComparedSide, requirements: &[PlanRequirement]) -> RequirementReport {
    let each = requirements.iter().flat_map(|own| {
        let in_scope = |point: &&SidePoint| {
            let step = own.step.as_ref();
            !point.is_search && step.is_none_or(|step| *step == point.key.step)
        };
        let points = side.points.iter().filter(in_scope);
        let found: Vec<RequiredPoint> = points
            .filter(|point| has_figure(point, own.requirement.figure))
            .map(|point| required_point(point, own.requirement))
            .collect();
        match found.is_empty() {
            true => vec![RequiredPoint {
                requirement: own.requirement,
                place: None,
                value: None,
                outcome: GateOutcome::Inconclusive,
                reason: RequirementReason::NoLoad,
            }],
            false => found,
        }
    });
    let points: Vec<RequiredPoint> = each.collect();
    let mut runs = side.runs.iter();
    let ended_early = runs.any(|run| run.status != RunStatus::Complete);
    let worst = points.iter().map(|point| point.outcome).max();
    let outcome = match worst.unwrap_or(GateOutcome::Passed) {
        GateOutcome::Passed if ended_early => GateOutcome::Inconclusive,
        worst => worst,
    };
    let doubtful = side.points.iter().filter(|own| {
        let has_requirement = |point: &RequiredPoint| point.place.as_ref() == Some(&own.key);
        own.verdict == Verdict::Doubtful && points.iter().any(has_requirement)
    });
    RequirementReport {
        outcome,
        doubtful_loads: doubtful.count(),
        points,
        ended_early,
    }
}

/// Whether loads of this kind have such a figure.
fn has_figure(point: &SidePoint, figure: RequiredFigure) -> bool {
    let is_block = point.figure == FigureId::Iops;
    match figure {
        RequiredFigure::Nopm => point.figure == FigureId::Nopm,
        RequiredFigure::Throughput | RequiredFigure::Failed => !is_block,
        RequiredFigure::Iops | RequiredFigure::Bandwidth => is_block,
        RequiredFigure::Response(_) => true,
    }
}

fn required_point(point: &SidePoint, requirement: Requirement) -> RequiredPoint {
    let value = value(point, requirement.figure).filter(|value| value.is_finite());
    // What makes a point invalid does not make failures fewer than were counted.
    let is_usable =
        point.verdict != Verdict::Invalid || requirement.figure == RequiredFigure::Failed;
    let (outcome, reason) = match value {
        Some(value) if is_usable && !requirement.is_met_by(value) => {
            (GateOutcome::Failed, RequirementReason::Missed)
        }
        _ if point.verdict == Verdict::Invalid => {
            (GateOutcome::Inconclusive, RequirementReason::Invalid)
        }
        None => (GateOutcome::Inconclusive, RequirementReason::NoFigure),
        Some(_) => (GateOutcome::Passed, RequirementReason::Met),
    };
    RequiredPoint {
        requirement,
        place: Some(point.key.clone()),
        value,
        outcome,
        reason,
    }
}

fn value(point: &SidePoint, figure: RequiredFigure) -> Option<f64> {
    match figure {
        RequiredFigure::Nopm | RequiredFigure::Iops => {
            rate(point).map(|rate| rate * point.figure.per_second())
        }
        RequiredFigure::Throughput => mean(point, |repeat| repeat.figures.completed_per_second),
        RequiredFigure::Bandwidth => mean(point, |repeat| repeat.figures.mb_per_second),
        RequiredFigure::Failed => failed_percent(point),
        RequiredFigure::Response(quantile) => response_ms(point, quantile),
    }
}

/// `None` unless all repeats have it.
fn mean(point: &SidePoint, figure: fn(&Repeat) -> Option<f64>) -> Option<f64> {
    let all: Option<Vec<f64>> = point.repeats.iter().map(figure).collect();
    let all = all.filter(|all| !all.is_empty())?;
    Some(all.iter().sum::<f64>() / all.len() as f64)
}

fn failed_percent(point: &SidePoint) -> Option<f64> {
    let ended = point.repeats.iter().map(|repeat| repeat.figures.ended);
    let failed = point.repeats.iter().map(|repeat| repeat.figures.failed);
    let ended = ended.sum::<u64>() as f64;
    (ended > 0.0).then(|| failed.sum::<u64>() as f64 * 100.0 / ended)
}

fn response_ms(point: &SidePoint, quantile: Quantile) -> Option<f64> {
    let latency = SideLatency::of(point);
    if let Some(share) = quantile.share() {
        return latency.quantile(share).map(|own| own.value);
    }
    if quantile == Quantile::Max {
        let all = latency.repeats.iter().filter_map(|hist| hist.max());
        return all.max().map(Nanos::as_millis_f64);
    }
    let sum: u128 = latency.repeats.iter().map(|hist| hist.sum()).sum();
    let count: u64 = latency.repeats.iter().map(|hist| hist.count()).sum();
    (count > 0).then(|| sum as f64 / count as f64 / 1e6)
}
