//! Whether the load generator is a part of the figures.

use super::result::RuleResult;
use crate::audit::input::{GeneratorStops, LoadFacts};
use crate::audit::{DropCause, Evidence, GeneratorStopCause, Next};
use crate::summary::FindingKind;
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

pub(super) fn client(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    match load.generator {
        Err(missing) => result.missing(missing),
        Ok(percent) => {
            let evidence = Evidence::GeneratorBusy {
                percent,
                limit_percent: thresholds.generator,
            };
            result.check(
                percent <= thresholds.generator,
                evidence,
                Error,
                Next::StrengthenClient,
            );
        }
    }
    match load.stops {
        Err(missing) => result.missing(missing),
        Ok(stops) => stopped(&stops, thresholds, result),
    }
    match load.lag {
        Err(missing) => result.missing(missing),
        Ok((p99_ms, response_p50_ms)) => {
            let percent = p99_ms * 100.0 / response_p50_ms;
            let limit_percent = thresholds.lag;
            let evidence = Evidence::ScheduleLag {
                p99_ms,
                response_p50_ms,
                percent,
                limit_percent,
            };
            result.check(
                percent <= limit_percent,
                evidence,
                Error,
                Next::StrengthenClient,
            );
        }
    }
    match load.dropped {
        Err(missing) => result.missing(missing),
        Ok((dropped, percent)) => {
            // The summary decides from how many on they make figures doubtful or invalid.
            let not_served = load.findings.iter();
            let not_served =
                not_served.filter(|own| matches!(own.kind, FindingKind::NotServed { .. }));
            let alone = if percent > MOST_DROPPED {
                Error
            } else {
                Warning
            };
            let severity = not_served.map(|own| own.severity).max().unwrap_or(alone);
            let cause = if dropped > 0 {
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
                dropped,
                percent,
                cause,
                busy_percent: load.connections.ok(),
            };
            result.check(dropped == 0, evidence, severity, next);
        }
    }
}

/// Response times include time in which the generator did not run.
fn stopped(stops: &GeneratorStops, thresholds: &Thresholds, result: &mut RuleResult) {
    let GeneratorStops {
        measured_s,
        percent,
        cause,
        waits_percent,
    } = *stops;
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
    let percent = match waits_percent {
        Ok(percent) => percent,
        Err(missing) => return result.missing(missing),
    };
    let limit_percent = thresholds.lag;
    let severity = if percent > MOSTLY_WAITS {
        Error
    } else {
        Warning
    };
    result.check(
        percent <= limit_percent,
        Evidence::GeneratorWaits {
            percent,
            limit_percent,
        },
        severity,
        Next::StrengthenClient,
    );
}

/// Why transactions were dropped: where the generator had CPU to spare and all of its connections were
/// waiting for the system, the system was full.
pub(super) fn drop_cause(load: &LoadFacts, thresholds: &Thresholds) -> DropCause {
    match (load.generator, load.connections) {
        (Ok(percent), _) if percent > thresholds.generator => DropCause::Generator,
        (_, Ok(busy)) if busy >= BUSY => DropCause::System,
        _ => DropCause::Unknown,
    }
}
