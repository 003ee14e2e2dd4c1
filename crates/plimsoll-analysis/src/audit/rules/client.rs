//! Whether the load generator is a part of the figures.

use super::result::RuleResult;
use crate::audit::input::LoadInput;
use crate::audit::{DropCause, Evidence, GeneratorStopCause, Missing, Next};
use crate::summary::{FigureId, FindingKind};
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity::{Error, Warning};

/// Percent of an open load that may be dropped before its figures are those of another load.
const MOST_DROPPED: f64 = 10.0;
/// Percent of their time that connections are busy where there is always something waiting for them.
const BUSY: f64 = 90.0;

/// Percent of the window in which a generator may have stood still: the 99th percentile is beyond it.
const MOST_STOPPED: f64 = 1.0;
/// As much without a CPU is no ordinary competition for it.
const MOST_WITHOUT_CPU: f64 = 5.0;
/// Percent of all response times that are waits of the generator: most of what was measured is plimsoll.
const MOSTLY_WAITS: f64 = 50.0;

pub(super) fn client(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    result.at_most(
        "generator_busy",
        load.figures.read(FigureId::GeneratorPercent),
        thresholds.generator,
        (Error, Next::StrengthenClient),
    );
    stopped(load, thresholds, result);
    lag(load, thresholds, result);
    dropped(load, thresholds, result);
}

/// Response times include time in which the generator did not run.
fn stopped(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let figures = [FigureId::StoppedPercent, FigureId::MeasuredS];
    let Some([percent, measured_s]) = result.read(load.figures.read_all(figures)) else {
        return;
    };
    let cause = load.stop_cause;
    let evidence = Evidence::GeneratorStopped {
        stopped_s: percent * measured_s / 100.0,
        measured_s,
        percent,
        limit_percent: MOST_STOPPED,
        cause,
    };
    let is_shared = cause == GeneratorStopCause::Cpu && percent <= MOST_WITHOUT_CPU;
    let severity = if is_shared { Warning } else { Error };
    let next = match cause {
        GeneratorStopCause::Quota => Next::LiftQuota,
        GeneratorStopCause::Cpu => Next::StrengthenClient,
        GeneratorStopCause::Unknown => Next::LetClientRun,
    };
    result.check(percent <= MOST_STOPPED, evidence, severity, next);
    let waits = load.figures.read(FigureId::GeneratorWaits);
    let is_most = waits.is_ok_and(|percent| percent > MOSTLY_WAITS);
    let severity = if is_most { Error } else { Warning };
    result.at_most(
        "generator_waits",
        waits,
        thresholds.lag,
        (severity, Next::StrengthenClient),
    );
}

/// How late transactions were begun, against the median response time.
fn lag(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let Some(p99_ms) = result.read(load.figures.read(FigureId::LagP99)) else {
        return;
    };
    let response = load.figures.value(FigureId::P50).filter(|ms| *ms > 0.0);
    let Some(response_p50_ms) = result.read(response.ok_or(Missing::NoLag)) else {
        return;
    };
    let percent = p99_ms * 100.0 / response_p50_ms;
    let limit_percent = thresholds.lag;
    let evidence = Evidence::ScheduleLag {
        p99_ms,
        response_p50_ms,
        percent,
        limit_percent,
    };
    let within = percent <= limit_percent;
    result.check(within, evidence, Error, Next::StrengthenClient);
}

fn dropped(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let figures = [FigureId::Dropped, FigureId::DroppedPercent];
    let Some([dropped, percent]) = result.read(load.figures.read_all(figures)) else {
        return;
    };
    // The summary decides from how many on they make figures doubtful or invalid.
    let not_served = load
        .findings
        .iter()
        .filter(|finding| matches!(finding.kind, FindingKind::NotServed { .. }));
    let alone = if percent > MOST_DROPPED {
        Error
    } else {
        Warning
    };
    let severity = not_served
        .map(|finding| finding.severity)
        .max()
        .unwrap_or(alone);
    let cause = if dropped > 0.0 {
        drop_cause(load, thresholds)
    } else {
        DropCause::None
    };
    let next = match cause {
        DropCause::Generator => Next::StrengthenClient,
        DropCause::System => Next::OfferLess,
        DropCause::Unknown | DropCause::None => Next::FindDropCause,
    };
    let evidence = Evidence::Dropped {
        dropped: dropped as u64,
        percent,
        cause,
        busy_percent: load.figures.value(FigureId::BusyPercent),
    };
    result.check(dropped == 0.0, evidence, severity, next);
}

/// Why transactions were dropped: where the generator had CPU to spare and all of its connections were
/// waiting for the system, the system was full.
pub(super) fn drop_cause(load: &LoadInput, thresholds: &Thresholds) -> DropCause {
    let generator = load.figures.value(FigureId::GeneratorPercent);
    let connections = load.figures.value(FigureId::BusyPercent);
    if generator.is_some_and(|percent| percent > thresholds.generator) {
        DropCause::Generator
    } else if connections.is_some_and(|percent| percent >= BUSY) {
        DropCause::System
    } else {
        DropCause::Unknown
    }
}
