//! A gate for automatic checks: whether a run is worse than its baseline by more than is allowed.

use serde::Serialize;

use super::comparison::Against;
use super::difference::Factor;
use super::figures::{IntervalBasis, NotComparable, PointComparison};
use super::gate_outcome::GateOutcome;
use super::mark::Mark;
use super::requirement::RequirementReport;
use crate::audit::Rule;
use crate::summary::FigureId;
use crate::summary::Interval;
use plimsoll_record::{LoadKey, Severity};

/// How much worse is allowed, as shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateLimits {
    /// Of rates; of the 99th percentile where the rate was offered and not found.
    pub max_regression: f64,
    /// Of the 99th percentile of response times wherever it is known; `None`: not checked.
    pub max_latency_regression: Option<f64>,
    /// Rules that may fire without making the gate inconclusive.
    pub allow: Vec<Rule>,
}

/// Why a figure has its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PointReason {
    /// The whole interval is within the limit.
    Within,
    /// The whole interval is beyond it.
    Beyond,
    /// The limit lies within the interval.
    LimitInInterval,
    /// There is no interval.
    NoInterval(NotComparable),
    /// The percentile has no interval: too few response times.
    NoPercentile,
    /// The sides cannot be compared: an objection of the report.
    Objection,
}

impl PointReason {
    pub fn name(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Beyond => "beyond",
            Self::LimitInInterval => "limit_in_interval",
            Self::NoInterval(because) => because.name(),
            Self::NoPercentile => "no_percentile",
            Self::Objection => "objection",
        }
    }
}

/// One figure that was compared with its limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GatedPoint {
    pub place: LoadKey,
    /// The rate or the 99th percentile.
    pub figure: FigureId,
    /// Second by first.
    pub ratio: Option<Interval>,
    /// The lowest rate or the highest latency allowed.
    pub limit: f64,
    pub outcome: GateOutcome,
    pub reason: PointReason,
    /// Whether the interval is of single windows, which do not show how runs vary.
    pub one_window: bool,
}

/// What keeps a gate from an outcome, whatever the figures are.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "objection", rename_all = "snake_case")]
pub enum Objection {
    /// A rule of severity error fired.
    Rule(Mark),
    /// The machine differs beside something else: which of them changed the figures is not shown.
    OtherMachine { factors: Vec<Factor> },
}

impl Objection {
    /// The rule that `--allow` takes.
    pub fn rule(&self) -> Rule {
        match self {
            Self::Rule(mark) => mark.rule,
            Self::OtherMachine { .. } => Rule::OneFactor,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateReport {
    pub limits: GateLimits,
    /// Inconclusive with an objection; else a regression anywhere is one; else what is inconclusive anywhere.
    pub outcome: GateOutcome,
    pub points: Vec<GatedPoint>,
    pub objections: Vec<Objection>,
    /// Loads that only the baseline has: what was not measured may be what has become worse.
    pub missing: Vec<LoadKey>,
}

/// All that a gate checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateResult {
    /// The worst of the two.
    pub outcome: GateOutcome,
    /// Against a baseline.
    pub baseline: Option<GateReport>,
    pub requirements: Option<RequirementReport>,
}

impl GateResult {
    /// `None` where nothing was to be checked.
    pub fn new(
        baseline: Option<GateReport>,
        requirements: Option<RequirementReport>,
    ) -> Option<Self> {
        let outcomes = baseline.iter().map(|gate| gate.outcome);
        let required = requirements.iter().map(|report| report.outcome);
        Some(Self {
            outcome: outcomes.chain(required).max()?,
            baseline,
            requirements,
        })
    }
}

/// Checks the comparison of a run with its baseline against limits.
pub fn gate(against: &Against, limits: &GateLimits) -> GateReport {
    let objections = objections(against, &limits.allow);
    let points = against.points.iter();
    let mut points: Vec<GatedPoint> = points.flat_map(|point| gated(point, limits)).collect();
    if !objections.is_empty() {
        for point in &mut points {
            (point.outcome, point.reason) = (GateOutcome::Inconclusive, PointReason::Objection);
        }
    }
    let worst = points.iter().map(|point| point.outcome).max();
    let missing = against.only_first.clone();
    let outcome = match worst.unwrap_or(GateOutcome::Inconclusive) {
        GateOutcome::Passed if !missing.is_empty() => GateOutcome::Inconclusive,
        worst => worst,
    };
    GateReport {
        limits: limits.clone(),
        outcome,
        points,
        objections,
        missing,
    }
}

/// A change of settings, software or load is what a gate is for, however many there are. The machine is not: beside such a
/// change it may be what made the run slower, or hide that it became slower.
fn objections(against: &Against, allow: &[Rule]) -> Vec<Objection> {
    let errors = against
        .marks
        .iter()
        .filter(|mark| mark.severity == Severity::Error);
    let mut all: Vec<Objection> = errors.cloned().map(Objection::Rule).collect();
    let factors = &against.factors;
    if factors.len() > 1 && factors.iter().any(|factor| factor.group.is_of_machine()) {
        all.push(Objection::OtherMachine {
            factors: factors.clone(),
        });
    }
    all.retain(|objection| !allow.contains(&objection.rule()));
    all
}

fn gated(point: &PointComparison, limits: &GateLimits) -> Vec<GatedPoint> {
    let offered = point.place.load.is_open() || point.place.load.share_percent.is_some();
    let mut times = point.times.iter();
    let p99 = times.find(|own| own.figure == FigureId::P99);
    let p99_ratio = p99.and_then(|own| own.interval());
    let rate = &point.rate;
    let mut points = vec![gated_point(
        point,
        rate.figure,
        rate.interval(),
        limits.max_regression,
    )];
    // The rate of an open loop shows only that the system kept up.
    let allowed = limits
        .max_latency_regression
        .or(offered.then_some(limits.max_regression));
    points.extend(allowed.map(|allowed| gated_point(point, FigureId::P99, p99_ratio, allowed)));
    points
}

fn gated_point(
    point: &PointComparison,
    figure: FigureId,
    ratio: Option<Interval>,
    allowed: f64,
) -> GatedPoint {
    let latency = figure.is_time();
    let limit = if latency {
        1.0 + allowed
    } else {
        1.0 - allowed
    };
    let (outcome, reason) = match (ratio, point.method) {
        (None, IntervalBasis::None { because }) => {
            (GateOutcome::Inconclusive, PointReason::NoInterval(because))
        }
        (None, _) => (GateOutcome::Inconclusive, PointReason::NoPercentile),
        (Some(ratio), _) if latency && ratio.low > limit || !latency && ratio.high < limit => {
            (GateOutcome::Regression, PointReason::Beyond)
        }
        (Some(ratio), _) if latency && ratio.high <= limit || !latency && ratio.low >= limit => {
            (GateOutcome::Passed, PointReason::Within)
        }
        (Some(_), _) => (GateOutcome::Inconclusive, PointReason::LimitInInterval),
    };
    GatedPoint {
        place: point.place.clone(),
        figure,
        ratio,
        limit,
        outcome,
        reason,
        one_window: matches!(point.method, IntervalBasis::Windows),
    }
}
