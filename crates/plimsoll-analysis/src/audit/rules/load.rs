//! Rules about one load, or one row of a published table.

use super::client::client;
use super::plausible::plausible;
use super::result::RuleResult;
use crate::audit::input::{Counted, InFlight, LoadFacts, Precision};
use crate::audit::{Evidence, Missing, Next, Rule, RuleVerdict};
use crate::summary::{Conservation, Finding, FindingKind};
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity;
use plimsoll_record::Severity::{Error, Warning};
use plimsoll_record::message::CheckDetail;
use plimsoll_stats::{FEWEST_REPEATS, SHORTEST_S};

/// A window of block I/O ends with the report of fio that comes nearest.
const ROUNDING_S: f64 = 0.5;
/// So many standard deviations of a count are no chance: 1 in 10,000.
const CHANCE: f64 = 3.9;

type LoadCheck = fn(&LoadFacts, &Thresholds, &mut RuleResult);

pub(super) fn evaluate(load: &LoadFacts, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let rules: [(Rule, LoadCheck); 12] = [
        (Rule::Little, little),
        (Rule::Conserve, conserve),
        (Rule::Steady, steady),
        (Rule::Short, short),
        (Rule::Cached, cached),
        (Rule::Client, client),
        (Rule::Noise, noise),
        (Rule::Ratio, ratio),
        (Rule::Consist, consist),
        (Rule::Emulated, emulated),
        (Rule::Virtual, simulated),
        (Rule::Plausible, plausible),
    ];
    let cut = load.cut.map(|acknowledged| durable(load, acknowledged));
    let suspicion = (!load.suspicions.is_empty()).then(|| suspected(load));
    rules
        .into_iter()
        .map(|(rule, check)| {
            let mut result = RuleResult::default();
            check(load, thresholds, &mut result);
            result.verdict(rule, &load.about)
        })
        .chain(cut)
        .chain(suspicion)
        .collect()
}

/// The findings of the summary on the same subject.
fn found(load: &LoadFacts, is: fn(&FindingKind) -> bool) -> impl Iterator<Item = &Finding> {
    load.findings
        .iter()
        .filter(move |finding| is(&finding.kind))
}

fn evidence(finding: &Finding) -> Evidence {
    Evidence::Found {
        finding: finding.kind.clone(),
    }
}

fn percent_off(a: f64, b: f64) -> f64 {
    (a / b - 1.0) * 100.0
}

/// Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9 (3), 1961.
fn little(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    let own = found(load, |kind| matches!(kind, FindingKind::InFlightOff { .. })).next();
    if let Some(finding) = own {
        let next = match finding.kind {
            FindingKind::InFlightOff { found, asked } if found < f64::from(asked) => {
                Next::RelieveClient
            }
            _ => Next::AskForWindow,
        };
        return result.fail(evidence(finding), finding.severity, next);
    }
    match load.in_flight {
        Err(missing) => result.missing(missing),
        Ok(InFlight {
            per_second,
            mean_ms,
            asked,
            edges_percent,
        }) => {
            let found = per_second * mean_ms / 1e3;
            let off_percent = percent_off(found, asked);
            let limit_percent = thresholds.in_flight.max(edges_percent);
            let evidence = Evidence::InFlight {
                per_second,
                mean_ms,
                found,
                asked,
                off_percent,
                limit_percent,
            };
            let off = off_percent.abs();
            if off > thresholds.in_flight && off <= edges_percent {
                // It may be right and it may be wrong: the window is too short for its longest transaction.
                return result.missing(Missing::TooShortForLongest);
            }
            let next = if off_percent < 0.0 {
                Next::FindIdleUsers
            } else {
                Next::AskForWindow
            };
            result.check(off <= limit_percent, evidence, Error, next);
        }
    }
}

fn conserve(load: &LoadFacts, _: &Thresholds, result: &mut RuleResult) {
    found(load, |kind| {
        matches!(
            kind,
            FindingKind::CountsBroken { .. }
                | FindingKind::HistogramDisagrees { .. }
                | FindingKind::WorkersDisagree { .. }
                | FindingKind::CommitsDisagree { .. }
                | FindingKind::NotDrained { .. }
                | FindingKind::Unanswered { .. }
        )
    })
    .for_each(|finding| result.fail(evidence(finding), finding.severity, Next::DistrustCounts));
    match load.counted {
        Err(missing) => result.missing(missing),
        Ok(Counted::PerSecond(Conservation::Holds { seconds })) => {
            result.pass(Evidence::Conserved { seconds })
        }
        // Both have a finding.
        Ok(Counted::PerSecond(Conservation::Broken { .. } | Conservation::Open { .. })) => {}
        Ok(Counted::PerSecond(Conservation::Unknown)) => result.missing(Missing::NoCounts),
        Ok(Counted::Table { offered, settled }) => {
            result.check(
                offered == settled,
                Evidence::Counted { offered, settled },
                Error,
                Next::DistrustCounts,
            );
        }
    }
}

/// A search goes where a system does not keep up; there the summary has its finding as a note.
fn excused(load: &LoadFacts, is: fn(&FindingKind) -> bool, severity: Severity) -> Severity {
    found(load, is)
        .map(|finding| finding.severity)
        .max()
        .unwrap_or(severity)
}

/// Above a load line nothing is steady, and that is what was to be found out.
fn unsteadiness(load: &LoadFacts) -> Severity {
    if load.above_line {
        Severity::Note
    } else {
        excused(
            load,
            |kind| matches!(kind, FindingKind::Unsteady { .. }),
            Warning,
        )
    }
}

fn steady(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    let severity = unsteadiness(load);
    // The rate of an open loop is that of its arrivals: alone it proves nothing.
    let unproven = match (load.measured_s, load.open, load.responses) {
        (None, ..) => Some(Missing::NoWindow),
        (Some(measured_s), ..) if measured_s + ROUNDING_S < thresholds.window => {
            Some(Missing::TooShort)
        }
        (_, true, Err(missing)) => Some(missing),
        _ => None,
    };
    let mut hold = |within: bool, evidence: Evidence| match unproven.filter(|_| within) {
        Some(missing) => result.missing(missing),
        None => result.check(within, evidence, severity, Next::WarmUpLonger),
    };
    let range = thresholds.steady_range;
    let slope = thresholds.steady_slope;
    if let (true, Ok(own)) = (load.open, load.responses) {
        let range_limit_percent = range.max(own.range_by_chance_percent);
        let slope_limit_percent = slope.max(own.slope_by_chance_percent);
        let range_percent = own.range_percent;
        let slope_percent = own.slope_percent;
        let within =
            range_percent <= range_limit_percent && slope_percent.abs() <= slope_limit_percent;
        hold(
            within,
            Evidence::ResponseTimes {
                range_percent,
                slope_percent,
                range_limit_percent,
                slope_limit_percent,
            },
        );
    }
    if let Ok(trend) = load.trend {
        let within = trend.range_percent <= range && trend.slope_percent.abs() <= slope;
        let evidence = Evidence::Held {
            range_percent: trend.range_percent,
            slope_percent: trend.slope_percent,
            range_limit_percent: range,
            slope_limit_percent: slope,
        };
        if within || !trend.by_chance {
            hold(within, evidence);
        }
    }
    if let Ok((off_percent, by_chance)) = load.halves {
        let limit_percent = thresholds.halves.max(by_chance);
        hold(
            off_percent.abs() <= limit_percent,
            Evidence::Halves {
                off_percent,
                limit_percent,
            },
        );
    }
    match load.trend {
        Err(missing) => result.missing(missing),
        Ok(trend) if trend.by_chance => result.missing(Missing::TooFew),
        Ok(_) => {}
    }
    load.halves
        .err()
        .into_iter()
        .for_each(|missing| result.missing(missing));
}

fn is_too_short(kind: &FindingKind) -> bool {
    use FindingKind::{
        FewIntervals, NothingCompleted, NothingMeasured, ShortWindow, TooFewSamples,
    };
    matches!(
        kind,
        ShortWindow { .. }
            | FewIntervals { .. }
            | TooFewSamples { .. }
            | NothingMeasured
            | NothingCompleted { .. }
    )
}

/// Where nothing completed, more time does not help; a long window in few parts needs more of them.
fn next_of_short(kind: &FindingKind) -> Next {
    match kind {
        FindingKind::FewIntervals { .. } => Next::ReportOften,
        FindingKind::ShortWindow { .. } | FindingKind::TooFewSamples { .. } => Next::MeasureLonger,
        _ => Next::MendFinding,
    }
}

fn short(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    let (few, others): (Vec<&Finding>, Vec<&Finding>) = found(load, is_too_short)
        .partition(|finding| matches!(finding.kind, FindingKind::FewIntervals { .. }));
    let fail = |finding: &Finding, result: &mut RuleResult| {
        let next = next_of_short(&finding.kind);
        result.fail(evidence(finding), finding.severity, next);
    };
    let is_stated = !others.is_empty();
    others.into_iter().for_each(|finding| fail(finding, result));
    if let Some(measured_s) = load
        .measured_s
        .filter(|measured_s| *measured_s + ROUNDING_S < thresholds.window)
        && !is_stated
    {
        result.fail(
            Evidence::Window {
                measured_s,
                fewest_s: thresholds.window,
            },
            Warning,
            Next::MeasureLonger,
        );
    }
    precision(load, thresholds, result);
    few.into_iter().for_each(|finding| fail(finding, result));
    match load.checkpoints {
        Err(missing) => result.missing(missing),
        Ok(found) => {
            let fewest = thresholds.checkpoints;
            result.check(
                found >= fewest,
                Evidence::Checkpoints { found, fewest },
                Warning,
                Next::MeasureLonger,
            );
        }
    }
    match load.written {
        Err(missing) => result.missing(missing),
        Ok((written_mb, cache_mb)) => {
            let evidence = Evidence::Written {
                written_mb,
                cache_mb,
            };
            result.check(
                written_mb >= cache_mb,
                evidence,
                Warning,
                Next::MeasureLonger,
            );
        }
    }
    if load.measured_s.is_none() {
        result.missing(Missing::NoWindow);
    }
}

/// Longer windows do not make repeats agree.
fn next_of_interval(of_repeats: bool) -> Next {
    match of_repeats {
        true => Next::FindDifference,
        false => Next::MeasureLonger,
    }
}

/// Of the rate; of an open loop, whose rate is given, of the mean response time.
fn precision(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    match load.precision {
        Err(missing) => result.missing(missing),
        Ok(Precision::Half {
            percent,
            of_repeats,
            ..
        }) if load.open => {
            let limit_percent = thresholds.response_interval;
            let evidence = Evidence::ResponseInterval {
                percent,
                limit_percent,
            };
            result.check(
                percent <= limit_percent,
                evidence,
                unsteadiness(load),
                next_of_interval(of_repeats),
            );
        }
        Ok(Precision::Half {
            percent,
            measured_s,
            of_repeats,
        }) => {
            let limit_percent = thresholds.interval;
            let evidence = Evidence::Interval {
                percent,
                limit_percent,
                measured_s,
            };
            result.check(
                percent <= limit_percent,
                evidence,
                Warning,
                next_of_interval(of_repeats),
            );
        }
        Ok(Precision::TooShort {
            measured_s,
            repeats,
        }) => {
            let fewest_repeats = FEWEST_REPEATS as u32;
            let evidence = Evidence::NoInterval {
                measured_s,
                fewest_s: SHORTEST_S,
                repeats,
                fewest_repeats,
            };
            // A search tries many loads, and its answer is the load line.
            let severity = if load.probe { Severity::Note } else { Warning };
            result.fail(evidence, severity, Next::MeasureLongerOrRepeat);
        }
    }
}

/// Either is enough: data that fit into memory will be read from it sooner or later, and data that are not
/// read from the device do not show how it reads.
fn cached(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    match load.sizes {
        Err(_) if load.buffered == Ok(true) => {
            result.fail(Evidence::PageCache, Warning, Next::BypassCache);
        }
        Err(missing) => result.missing(missing),
        Ok((data_mb, memory_mb)) => {
            let evidence = Evidence::DataAndMemory { data_mb, memory_mb };
            result.check(data_mb >= memory_mb, evidence, Warning, Next::GrowData);
        }
    }
    match load.reads {
        Err(missing) => result.missing(missing),
        Ok(per_transaction) => {
            let evidence = Evidence::DeviceReads {
                per_transaction,
                fewest: thresholds.reads,
            };
            result.check(
                per_transaction >= thresholds.reads,
                evidence,
                Warning,
                Next::GrowData,
            );
        }
    }
}

fn is_lost(kind: &FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::CommittedLost { .. } | FindingKind::NotRecovered
    )
}

/// What a power cut showed.
fn durable(load: &LoadFacts, acknowledged: u64) -> RuleVerdict {
    let mut result = RuleResult::default();
    found(load, is_lost)
        .for_each(|finding| result.fail(evidence(finding), finding.severity, Next::MakeDurable));
    if acknowledged == 0 {
        result.missing(Missing::NothingToLose);
    } else if found(load, is_lost).next().is_none() {
        result.pass(Evidence::Kept { acknowledged });
    }
    result.verdict(Rule::Durable, &load.about)
}

/// Rates at which reads cannot have come from the medium.
fn suspected(load: &LoadFacts) -> RuleVerdict {
    let mut result = RuleResult::default();
    for evidence in &load.suspicions {
        result.fail(evidence.clone(), Warning, Next::VerifyFile);
    }
    result.verdict(Rule::Thin, &load.about)
}

fn noise(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    match load.steal {
        Err(missing) => result.missing(missing),
        Ok(percent) => {
            let evidence = Evidence::Steal {
                percent,
                limit_percent: thresholds.steal,
            };
            result.check(
                percent <= thresholds.steal,
                evidence,
                Warning,
                Next::QuietMachine,
            );
        }
    }
    match load.other_cpu {
        Err(missing) => result.missing(missing),
        Ok(percent) => {
            let limit_percent = thresholds.other_cpu;
            let evidence = Evidence::OtherCpu {
                percent,
                limit_percent,
            };
            result.check(
                percent <= limit_percent,
                evidence,
                Warning,
                Next::QuietMachine,
            );
        }
    }
}

/// Percent that TPM/NOPM is off by chance, or that of two sides differ by: New-Orders are a share p of all n transactions,
/// which scatters by √((1−p)/(p·n)) of itself where users choose by chance; p·n are the orders.
pub(super) fn scatter(thresholds: &Thresholds, orders: &[f64]) -> f64 {
    CHANCE
        * 100.0
        * orders
            .iter()
            .map(|orders| (1.0 - 1.0 / thresholds.tpm_per_nopm) / orders)
            .sum::<f64>()
            .sqrt()
}

fn ratio(load: &LoadFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    match load.tpm_nopm {
        Err(missing) => result.missing(missing),
        Ok((tpm, nopm, orders)) => {
            let found = tpm / nopm;
            let expected = thresholds.tpm_per_nopm;
            let off_percent = percent_off(found, expected);
            let limit_percent = thresholds
                .ratio
                .max(orders.map_or(0.0, |orders| scatter(thresholds, &[orders])));
            let evidence = Evidence::TpmPerNopm {
                found,
                expected,
                off_percent,
                limit_percent,
            };
            // NOPM can be quoted whatever TPM counts.
            result.check(
                off_percent.abs() <= limit_percent,
                evidence,
                Warning,
                Next::CountTransactions,
            );
        }
    }
}

/// What another tool reports, and no condition on its database.
fn is_of_tool(detail: &CheckDetail) -> bool {
    matches!(
        detail,
        CheckDetail::RequestsFailed { .. }
            | CheckDetail::UsersFailed { .. }
            | CheckDetail::ResultsIncomplete { .. }
    )
}

fn consist(load: &LoadFacts, _: &Thresholds, result: &mut RuleResult) {
    found(load, |kind| {
        matches!(
            kind,
            FindingKind::ConditionFails { .. } | FindingKind::VerificationFailed { .. }
        )
    })
    .for_each(|finding| {
        let next = match &finding.kind {
            FindingKind::ConditionFails { detail, .. } if is_of_tool(detail) => {
                Next::MeasureWithoutErrors
            }
            _ => Next::KeepDatabaseAndAsk,
        };
        result.fail(evidence(finding), finding.severity, next);
    });
    match &load.conditions {
        Err(missing) => result.missing(*missing),
        Ok((verified, failed)) => {
            let evidence = Evidence::Conditions {
                verified: *verified,
                failed: failed.clone(),
            };
            result.check(failed.is_empty(), evidence, Error, Next::KeepDatabaseAndAsk);
        }
    }
}

fn is_behind(kind: &FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::Emulated { .. }
            | FindingKind::EmulationWaited { .. }
            | FindingKind::DriveErrors { .. }
    )
}

/// The summary evaluates it: the severity of lateness depends on what it adds to all operations.
/// From here on the costs of CPU, which are assumed, decide more than the drive, in percent.
const MOSTLY_CPU: f64 = 50.0;

fn simulated(load: &LoadFacts, _: &Thresholds, result: &mut RuleResult) {
    let simulated = match &load.simulated {
        Ok(simulated) => simulated,
        Err(missing) => return result.missing(*missing),
    };
    let cpu = Evidence::SimulatedCpu {
        percent: simulated.cpu_percent,
        limit_percent: MOSTLY_CPU,
    };
    result.check(
        simulated.cpu_percent <= MOSTLY_CPU,
        cpu,
        Severity::Note,
        Next::OtherCpuSpeeds,
    );
    match &simulated.memory {
        Some(memory) => {
            let memory = memory.clone();
            result.fail(
                Evidence::SimulatedMemory { memory },
                Warning,
                Next::MemoryOnRealDrive,
            );
        }
        None => result.pass(Evidence::SimulatedEnough),
    }
}

fn emulated(load: &LoadFacts, _: &Thresholds, result: &mut RuleResult) {
    found(load, is_behind).for_each(|finding| {
        result.fail(evidence(finding), finding.severity, Next::SlowerDriveOrLess)
    });
    match &load.emulated {
        _ if found(load, |kind| {
            matches!(kind, FindingKind::EmulationUnreported { .. })
        })
        .next()
        .is_some() =>
        {
            result.missing(Missing::EmulationUnreported)
        }
        _ if found(load, |kind| {
            matches!(kind, FindingKind::EmulationTooFew { .. })
        })
        .next()
        .is_some() =>
        {
            result.missing(Missing::TooFew)
        }
        Err(missing) => result.missing(*missing),
        Ok((drive, ops, late_percent, beyond_percent)) => {
            // A finding takes precedence.
            if found(load, is_behind).next().is_none() {
                let late_percent = *late_percent;
                let beyond_percent = *beyond_percent;
                result.pass(Evidence::KeptUp {
                    drive: drive.clone(),
                    ops: *ops,
                    late_percent,
                    beyond_percent,
                });
            }
        }
    }
}
