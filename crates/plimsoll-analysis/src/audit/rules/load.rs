//! Rules about one load, or one row of a published table.

use super::client::client;
use super::plausible::plausible;
use super::result::{RuleCheck, RuleResult, verdicts};
use crate::audit::input::LoadInput;
use crate::audit::{Evidence, Missing, Next, Rule, RuleVerdict};
use crate::summary::{FigureId, Finding, FindingKind};
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity;
use plimsoll_record::Severity::{Error, Warning};
use plimsoll_record::message::CheckDetail;
use plimsoll_stats::{FEWEST_REPEATS, SHORTEST_S};

/// A window of block I/O ends with the report of fio that comes nearest.
const ROUNDING_S: f64 = 0.5;
/// So many standard deviations of a count are no chance: 1 in 10,000.
const CHANCE: f64 = 3.9;

const RULES: &[RuleCheck<LoadInput>] = &[
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

pub(super) fn evaluate(load: &LoadInput, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let mut all = verdicts(RULES, load, &load.about, thresholds);
    let acknowledged = load.figures.value(FigureId::Acknowledged);
    all.extend(acknowledged.map(|acknowledged| durable(load, acknowledged as u64)));
    if !load.suspicions.is_empty() {
        all.push(suspected(load));
    }
    all
}

/// The findings of the summary on the same subject.
fn found(load: &LoadInput, is: fn(&FindingKind) -> bool) -> impl Iterator<Item = &Finding> {
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
fn little(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
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
    let figures = [
        FigureId::InFlight,
        FigureId::PerSecond,
        FigureId::TimeInFlight,
    ];
    let Some([asked, per_second, mean_ms]) = result.read(load.figures.read_all(figures)) else {
        return;
    };
    let edges = load.figures.value(FigureId::InFlightEdges);
    let edges_percent = edges.unwrap_or_default();
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

fn conserve(load: &LoadInput, _: &Thresholds, result: &mut RuleResult) {
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
    // Second by second, or as a table has them.
    let counts = [FigureId::Offered, FigureId::Settled];
    match (
        load.figures.read(FigureId::ConservedS),
        load.figures.read_all(counts),
    ) {
        (Ok(seconds), _) => result.pass(Evidence::Conserved {
            seconds: seconds as u64,
        }),
        (Err(_), Ok([offered, settled])) => {
            let evidence = Evidence::Counted {
                offered: offered as u64,
                settled: settled as u64,
            };
            result.check(offered == settled, evidence, Error, Next::DistrustCounts);
        }
        (Err(missing), Err(_)) => result.missing(missing),
    }
}

/// A search goes where a system does not keep up; there the summary has its finding as a note.
fn excused(load: &LoadInput, is: fn(&FindingKind) -> bool, severity: Severity) -> Severity {
    found(load, is)
        .map(|finding| finding.severity)
        .max()
        .unwrap_or(severity)
}

/// Above a load line nothing is steady, and that is what was to be found out.
fn unsteadiness(load: &LoadInput) -> Severity {
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

fn steady(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let severity = unsteadiness(load);
    let figures = &load.figures;
    let responses = figures.read_all([
        FigureId::ResponseRange,
        FigureId::ResponseSlope,
        FigureId::ResponseRangeByChance,
        FigureId::ResponseSlopeByChance,
    ]);
    // The rate of an open loop is that of its arrivals: alone it proves nothing.
    let unproven = match (load.window_s(), responses) {
        (Err(missing), _) => Some(missing),
        (Ok(measured_s), _) if measured_s + ROUNDING_S < thresholds.window => {
            Some(Missing::TooShort)
        }
        (Ok(_), Err(missing)) if load.open => Some(missing),
        _ => None,
    };
    let mut hold = |within: bool, evidence: Evidence| match unproven.filter(|_| within) {
        Some(missing) => result.missing(missing),
        None => result.check(within, evidence, severity, Next::WarmUpLonger),
    };
    let range = thresholds.steady_range;
    let slope = thresholds.steady_slope;
    if let (true, Ok([range_percent, slope_percent, by_chance, slope_by_chance])) =
        (load.open, responses)
    {
        let range_limit_percent = range.max(by_chance);
        let slope_limit_percent = slope.max(slope_by_chance);
        let within =
            range_percent <= range_limit_percent && slope_percent.abs() <= slope_limit_percent;
        let evidence = Evidence::ResponseTimes {
            range_percent,
            slope_percent,
            range_limit_percent,
            slope_limit_percent,
        };
        hold(within, evidence);
    }
    let trend = figures.read_all([FigureId::RangePercent, FigureId::SlopePercent]);
    if let Ok([range_percent, slope_percent]) = trend {
        let within = range_percent <= range && slope_percent.abs() <= slope;
        let evidence = Evidence::Held {
            range_percent,
            slope_percent,
            range_limit_percent: range,
            slope_limit_percent: slope,
        };
        if within || !load.trend_by_chance {
            hold(within, evidence);
        }
    }
    let halves = figures.read(FigureId::HalvesPercent);
    if let Ok(off_percent) = halves {
        let by_chance = figures.value(FigureId::HalvesByChance);
        let limit_percent = thresholds.halves.max(by_chance.unwrap_or_default());
        let evidence = Evidence::Off {
            evidence: "halves",
            off_percent,
            limit_percent,
        };
        hold(off_percent.abs() <= limit_percent, evidence);
    }
    if result.read(trend).is_some() && load.trend_by_chance {
        result.missing(Missing::TooFew);
    }
    result.read(halves);
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

fn short(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let (few, others): (Vec<&Finding>, Vec<&Finding>) = found(load, is_too_short)
        .partition(|finding| matches!(finding.kind, FindingKind::FewIntervals { .. }));
    let fail = |finding: &Finding, result: &mut RuleResult| {
        let next = next_of_short(&finding.kind);
        result.fail(evidence(finding), finding.severity, next);
    };
    let is_stated = !others.is_empty();
    others.into_iter().for_each(|finding| fail(finding, result));
    let window_s = load.window_s();
    if let Ok(measured_s) = window_s
        && measured_s + ROUNDING_S < thresholds.window
        && !is_stated
    {
        let evidence = Evidence::Window {
            measured_s,
            fewest_s: thresholds.window,
        };
        result.fail(evidence, Warning, Next::MeasureLonger);
    }
    precision(load, thresholds, result);
    few.into_iter().for_each(|finding| fail(finding, result));
    result.at_least(
        "checkpoints",
        load.figures.read(FigureId::Checkpoints),
        thresholds.checkpoints,
        (Warning, Next::MeasureLonger),
    );
    let written = [FigureId::DriveCacheMb, FigureId::WrittenMb];
    if let Some([cache_mb, written_mb]) = result.read(load.figures.read_all(written)) {
        let evidence = Evidence::Written {
            written_mb,
            cache_mb,
        };
        let is_enough = written_mb >= cache_mb;
        result.check(is_enough, evidence, Warning, Next::MeasureLonger);
    }
    result.read(window_s);
}

/// Longer windows do not make repeats agree.
fn next_of_interval(of_repeats: bool) -> Next {
    match of_repeats {
        true => Next::FindDifference,
        false => Next::MeasureLonger,
    }
}

/// Of the rate; of an open loop, whose rate is given, of the mean response time.
fn precision(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let measured_s = load.figures.value(FigureId::MeasuredS);
    let runs = load.figures.value(FigureId::Runs);
    let is_repeated = runs.is_some_and(|runs| runs >= FEWEST_REPEATS as f64);
    let next = next_of_interval(is_repeated);
    match (
        load.figures.read(FigureId::IntervalPercent),
        measured_s,
        runs,
    ) {
        // The clock may cut a window by a fraction of a second.
        (Err(Missing::NoInterval), Some(measured_s), Some(runs))
            if !is_repeated && measured_s + ROUNDING_S < SHORTEST_S =>
        {
            let evidence = Evidence::NoInterval {
                measured_s,
                fewest_s: SHORTEST_S,
                repeats: runs as u32,
                fewest_repeats: FEWEST_REPEATS as u32,
            };
            // A search tries many loads, and its answer is the load line.
            let severity = if load.probe { Severity::Note } else { Warning };
            result.fail(evidence, severity, Next::MeasureLongerOrRepeat);
        }
        (interval, ..) if load.open => result.at_most(
            "response_interval",
            interval,
            thresholds.response_interval,
            (unsteadiness(load), next),
        ),
        (interval, ..) => {
            if let Some(percent) = result.read(interval) {
                let limit_percent = thresholds.interval;
                let evidence = Evidence::Interval {
                    percent,
                    limit_percent,
                    measured_s,
                };
                result.check(percent <= limit_percent, evidence, Warning, next);
            }
        }
    }
}

/// Either is enough: data that fit into memory will be read from it sooner or later, and data that are not
/// read from the device do not show how it reads.
fn cached(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    match load
        .figures
        .read_all([FigureId::DataMb, FigureId::MemoryMb])
    {
        Err(_) if load.buffered => result.fail(Evidence::PageCache, Warning, Next::BypassCache),
        Err(missing) => result.missing(missing),
        Ok([data_mb, memory_mb]) => {
            let evidence = Evidence::DataAndMemory { data_mb, memory_mb };
            result.check(data_mb >= memory_mb, evidence, Warning, Next::GrowData);
        }
    }
    if let Some(per_transaction) = result.read(load.figures.read(FigureId::DeviceReads)) {
        let fewest = thresholds.reads;
        let evidence = Evidence::DeviceReads {
            per_transaction,
            fewest,
        };
        result.check(per_transaction >= fewest, evidence, Warning, Next::GrowData);
    }
}

fn is_lost(kind: &FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::CommittedLost { .. } | FindingKind::NotRecovered
    )
}

/// What a power cut showed.
fn durable(load: &LoadInput, acknowledged: u64) -> RuleVerdict {
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
fn suspected(load: &LoadInput) -> RuleVerdict {
    let mut result = RuleResult::default();
    for evidence in &load.suspicions {
        result.fail(evidence.clone(), Warning, Next::VerifyFile);
    }
    result.verdict(Rule::Thin, &load.about)
}

fn noise(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    result.at_most(
        "steal",
        load.figures.read(FigureId::StealPercent),
        thresholds.steal,
        (Warning, Next::QuietMachine),
    );
    result.at_most(
        "other_cpu",
        load.figures.read(FigureId::OtherCpuPercent),
        thresholds.other_cpu,
        (Warning, Next::QuietMachine),
    );
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

fn ratio(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let figures = load.figures.read_all([FigureId::Nopm, FigureId::Tpm]);
    let Some([nopm, tpm]) = result.read(figures) else {
        return;
    };
    let found = tpm / nopm;
    let expected = thresholds.tpm_per_nopm;
    let off_percent = percent_off(found, expected);
    let orders = load.figures.value(FigureId::NewOrders);
    let by_chance = orders.map_or(0.0, |orders| scatter(thresholds, &[orders]));
    let limit_percent = thresholds.ratio.max(by_chance);
    let evidence = Evidence::TpmPerNopm {
        found,
        expected,
        off_percent,
        limit_percent,
    };
    // NOPM can be quoted whatever TPM counts.
    let within = off_percent.abs() <= limit_percent;
    result.check(within, evidence, Warning, Next::CountTransactions);
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

fn consist(load: &LoadInput, _: &Thresholds, result: &mut RuleResult) {
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
    if let Some(verified) = result.read(load.figures.read(FigureId::ConditionsVerified)) {
        let evidence = Evidence::Conditions {
            verified: verified as u32,
            failed: load.failed_conditions.clone(),
        };
        let holds = load.failed_conditions.is_empty();
        result.check(holds, evidence, Error, Next::KeepDatabaseAndAsk);
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

/// From here on the costs of CPU, which are assumed, decide more than the drive, in percent.
const MOSTLY_CPU: f64 = 50.0;

fn simulated(load: &LoadInput, _: &Thresholds, result: &mut RuleResult) {
    let cpu = load.figures.read(FigureId::SimulatedCpu);
    let as_note = (Severity::Note, Next::OtherCpuSpeeds);
    result.at_most("simulated_cpu", cpu, MOSTLY_CPU, as_note);
    if cpu.is_err() {
        return;
    }
    match load.simulated_memory.clone() {
        Some(memory) => {
            let evidence = Evidence::SimulatedMemory { memory };
            result.fail(evidence, Warning, Next::MemoryOnRealDrive);
        }
        None => result.pass(Evidence::SimulatedEnough),
    }
}

/// The summary evaluates it: the severity of lateness depends on what it adds to all operations.
fn emulated(load: &LoadInput, _: &Thresholds, result: &mut RuleResult) {
    found(load, is_behind).for_each(|finding| {
        result.fail(evidence(finding), finding.severity, Next::SlowerDriveOrLess)
    });
    let has = |is: fn(&FindingKind) -> bool| found(load, is).next().is_some();
    if has(|kind| matches!(kind, FindingKind::EmulationUnreported { .. })) {
        return result.missing(Missing::EmulationUnreported);
    }
    if has(|kind| matches!(kind, FindingKind::EmulationTooFew { .. })) {
        return result.missing(Missing::TooFew);
    }
    let figures = [
        FigureId::EmulatedOps,
        FigureId::LatePercent,
        FigureId::BeyondPercent,
    ];
    if let Some([ops, late_percent, beyond_percent]) = result.read(load.figures.read_all(figures))
        && !has(is_behind)
    {
        result.pass(Evidence::KeptUp {
            drive: load.drive.clone(),
            ops: ops as u64,
            late_percent,
            beyond_percent,
        });
    }
}
