//! A gate for automatic checks: whether a run is worse than its baseline by more than is allowed.

use serde::Serialize;

use super::comparison::Against;
use super::figures::PointComparison;
use super::side::{LoadKey, RateKind};
use crate::audit::Rule;
use crate::summary::Interval;
use plimsoll_record::Severity;

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

/// The result of a gate. Ordered from good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Whatever the truth within the interval, it is no worse than allowed.
    Passed,
    /// The interval contains both what is allowed and what is not; or there is none; or a rule forbids the comparison.
    Inconclusive,
    /// The whole interval is worse than allowed.
    Regression,
}

impl GateOutcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Inconclusive => "inconclusive",
            Self::Regression => "regression",
        }
    }
}

/// One figure that was compared with its limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GatedPoint {
    pub place: LoadKey,
    pub figure: RateKind,
    /// Whether it is the 99th percentile and not the rate.
    pub latency: bool,
    /// Second by first.
    pub ratio: Option<Interval>,
    /// The lowest rate or the highest latency allowed.
    pub limit: f64,
    pub outcome: GateOutcome,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateReport {
    pub limits: GateLimits,
    /// A regression anywhere is one; else what is inconclusive anywhere.
    pub outcome: GateOutcome,
    pub points: Vec<GatedPoint>,
    /// Rules of severity error that fired and were not allowed.
    pub forbidden_by: Vec<Rule>,
    /// Whether some loads are of different workloads, which cannot be evaluated.
    pub unlike: bool,
}

/// Checks the comparison of a run with its baseline against limits.
pub fn gate(against: &Against, limits: &GateLimits) -> GateReport {
    let points: Vec<GatedPoint> = against
        .points
        .iter()
        .flat_map(|point| gated(point, limits))
        .collect();
    let errors = against
        .marks
        .iter()
        .filter(|mark| mark.severity == Severity::Error)
        .map(|mark| mark.rule);
    let mut forbidden_by: Vec<Rule> = errors.filter(|rule| !limits.allow.contains(rule)).collect();
    forbidden_by.dedup();
    let worst = points
        .iter()
        .map(|point| point.outcome)
        .max()
        .unwrap_or(GateOutcome::Inconclusive);
    // What was measured in the baseline alone may be what has become worse.
    let gaps = !against.only_first.is_empty();
    let outcome = match worst {
        _ if !forbidden_by.is_empty() => GateOutcome::Inconclusive,
        GateOutcome::Passed if gaps => GateOutcome::Inconclusive,
        worst => worst,
    };
    let unlike = against.points.iter().any(|point| !point.unlike.is_empty());
    GateReport {
        limits: limits.clone(),
        outcome,
        points,
        forbidden_by,
        unlike,
    }
}

fn gated(point: &PointComparison, limits: &GateLimits) -> Vec<GatedPoint> {
    let offered =
        point.place.load.offered_per_second.is_some() || point.place.load.share_percent.is_some();
    let p99 = point
        .latencies
        .iter()
        .find(|latency| latency.quantile == 0.99);
    let mut points = vec![gated_point(
        point,
        false,
        point.interval,
        limits.max_regression,
    )];
    // The rate of an open loop shows only that the system kept up.
    let allowed = limits
        .max_latency_regression
        .or(offered.then_some(limits.max_regression));
    let p99_ratio = p99.and_then(|p99| p99.ratio);
    points.extend(allowed.map(|allowed| gated_point(point, true, p99_ratio, allowed)));
    points
}

fn gated_point(
    point: &PointComparison,
    latency: bool,
    ratio: Option<Interval>,
    allowed: f64,
) -> GatedPoint {
    let limit = if latency {
        1.0 + allowed
    } else {
        1.0 - allowed
    };
    let outcome = match ratio {
        None => GateOutcome::Inconclusive,
        Some(ratio) if latency && ratio.low > limit || !latency && ratio.high < limit => {
            GateOutcome::Regression
        }
        Some(ratio) if latency && ratio.high <= limit || !latency && ratio.low >= limit => {
            GateOutcome::Passed
        }
        Some(_) => GateOutcome::Inconclusive,
    };
    GatedPoint {
        place: point.place.clone(),
        figure: point.figure,
        latency,
        ratio,
        limit,
        outcome,
    }
}
