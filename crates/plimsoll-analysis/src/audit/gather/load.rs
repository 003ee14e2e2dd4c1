//! Points of ladders.

use std::collections::BTreeSet;

use super::drive_file;
use super::facts::RecordFacts;
use super::printed;
use super::stops::put_stops;
use crate::audit::input::{Known, LoadInput, Percentile, RelatedFigures};
use crate::audit::{AuditSubject, AuditedLoad, Missing};
use crate::summary::{
    Conservation, DriveSummary, Estimate, FAILED_LIMIT, FigureId, FigureSet, Finding, Halves,
    Interval, LadderSummary, LatencySummary, PointSummary, Responses, SIMULATED_MEMORY_FACT,
    Steady, WaitSummary, Withheld, bottleneck,
};
use plimsoll_plan::{Interference, size};
use plimsoll_record::hist::COARSE_ERROR_PERCENT;
use plimsoll_record::import_facts;
use plimsoll_record::import_facts::RESPONSE_FACT;
use plimsoll_record::metric::Metric;
use plimsoll_record::{SubjectId, SubjectKind};
use plimsoll_stats::FEWEST_REPEATS;

/// Fewer transactions of each user: what began or ended outside the window blurs the number under way by more than the
/// limit.
const FEWEST_TURNS: f64 = 20.0;

pub(super) fn of_ladder(facts: &RecordFacts<'_>, ladder: &LadderSummary) -> Vec<LoadInput> {
    ladder
        .points
        .iter()
        .map(|point| of_point(facts, ladder, point))
        .collect()
}

pub(super) fn about(step: &str, on: &str, point: &PointSummary) -> AuditSubject {
    AuditSubject::Load(AuditedLoad {
        step: step.to_owned(),
        on: on.to_owned(),
        job: None,
        load: point.key.load,
        repeat: point.repeat,
    })
}

fn of_point(facts: &RecordFacts<'_>, ladder: &LadderSummary, point: &PointSummary) -> LoadInput {
    let about = about(&ladder.step, &ladder.system, point);
    let mut findings = point.findings.clone();
    findings.extend(ladder.findings.iter().cloned());
    let printed = printed::rows(facts.record, &point.ids);
    if point.measured_s <= 0.0 {
        return LoadInput {
            points: point.ids.clone(),
            rows: printed,
            ..nothing(about, findings)
        };
    }
    let medium = facts.medium(ladder.medium.as_deref());
    let mut load = LoadInput {
        points: point.ids.clone(),
        findings,
        open: point.key.load.is_open(),
        probe: ladder.line.is_some(),
        above_line: point.above_line,
        simulated: facts.record.is_simulated(),
        simulated_memory: facts
            .value(medium, SIMULATED_MEMORY_FACT)
            .map(str::to_owned),
        rows: row(point).into_iter().chain(printed).collect(),
        ..LoadInput::unknown(about)
    };
    put_window(
        &mut load,
        point.measured_s,
        point.conservation,
        point.steady,
        point.halves,
    );
    put_figures(facts, ladder, point, &mut load.figures);
    put_stops(facts, point, &mut load);
    put_conditions(facts, ladder, point, &mut load);
    put_emulated(point.drive.iter(), &mut load);
    load
}

fn put_figures(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
    figures: &mut FigureSet,
) {
    let inside = facts.is_mock(ladder.first_system());
    let here = |known: Known<f64>| match inside {
        true => Err(Missing::NotForThisLoad),
        false => known,
    };
    figures.put_all(FigureId::InFlight, in_flight(facts, ladder, point));
    let responses = point.responses.ok_or(Missing::NoResponses);
    figures.put_all(FigureId::ResponseRange, responses.map(of_responses));
    let precision = precision_of(ladder, point);
    figures.put_all(FigureId::IntervalPercent, precision);
    figures.put(FigureId::Checkpoints, here(checkpoints(point)));
    figures.put_all(FigureId::DriveCacheMb, written(facts, ladder, point));
    let sizes = sizes(facts, ladder, point, inside);
    figures.put_all(FigureId::DataMb, sizes);
    figures.put(FigureId::DeviceReads, here(device_reads(point)));
    figures.put(FigureId::GeneratorPercent, generator(facts, point));
    let busy = busy_percent(point).ok_or(Missing::NoCounts);
    figures.put(FigureId::BusyPercent, busy);
    figures.put_all(FigureId::Dropped, dropped(facts, point));
    let steal = steal(point).ok_or(Missing::NoHost);
    figures.put(FigureId::StealPercent, steal);
    figures.put(FigureId::OtherCpuPercent, other_cpu(point));
    let printed = |why| printed::tpm_nopm(facts.record, point).ok_or(why);
    figures.put_all(FigureId::Nopm, tpm_nopm(point).or_else(printed));
    let cpu = simulated_cpu(ladder, point);
    figures.put(FigureId::SimulatedCpu, cpu);
    let acknowledged = point.power_cut.as_ref().map(|cut| {
        let receipts = cut.receipts.iter();
        receipts.map(|receipt| receipt.acknowledged).sum::<u64>() as f64
    });
    figures.put_some(FigureId::Acknowledged, acknowledged);
}

/// Of the machine that had most: the system's, plimsoll's, or a generator's.
fn steal(point: &PointSummary) -> Option<f64> {
    let metric = Metric::CpuSteal.info().name;
    let machines = point.metrics.iter().filter(|mean| {
        mean.metric == metric
            && matches!(mean.subject_kind, SubjectKind::Host | SubjectKind::Worker)
    });
    let others = machines.map(|mean| mean.mean);
    others
        .chain(point.resources.host_cpu_steal_percent)
        .reduce(f64::max)
}

/// Neighbours that the plan wants are not noise.
fn other_cpu(point: &PointSummary) -> Known<f64> {
    point
        .resources
        .host_cpu_busy_percent
        .ok_or(Missing::NoHost)?;
    if point.key.scene == Interference::Noisy {
        return Err(Missing::NotForThisLoad);
    }
    let others = point.cpu.and_then(|cpu| cpu.others_percent);
    others.ok_or(Missing::NoSystemCpu)
}

/// Nothing was measured: the reason for every rule.
pub(super) fn nothing(about: AuditSubject, findings: Vec<Finding>) -> LoadInput {
    LoadInput {
        findings,
        figures: FigureSet::missing(Missing::NothingMeasured),
        ..LoadInput::unknown(about)
    }
}

fn in_flight(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
) -> Known<FigureSet> {
    let thinks = facts
        .load_step(&ladder.step)
        .is_some_and(|step| step.pacing.think > 0.0);
    let counts = &point.overall.counts;
    let failing = (counts.failed + counts.dropped) as f64 > counts.settled() as f64 * FAILED_LIMIT;
    // While users wait for something else than their transactions, these are not all of what is under way.
    if point.key.load.is_open() || thinks || failing || point.power_cut.is_some() {
        return Err(Missing::NotForThisLoad);
    }
    // Where a rate may have been offered, users may not be what is in flight.
    let system = facts.subject(SubjectKind::System, ladder.first_system());
    for id in &point.ids {
        let from = system
            .and_then(|system| import_facts::value_at(facts.record, system, *id, RESPONSE_FACT));
        if from == Some("unknown") {
            return Err(Missing::NoMethod);
        }
    }
    let asked = f64::from(point.key.load.users);
    if (counts.completed() as f64) < asked * FEWEST_TURNS {
        return Err(Missing::TooFew);
    }
    // Users who wait for a connection have nothing in flight: that time is left out of both sides.
    let (asked, latency) = match point.outage {
        Some(outage) => (
            f64::from(point.connections) - outage.connections,
            point.overall.service,
        ),
        None => (asked, None),
    };
    let per_second = point
        .value(FigureId::Transactions)
        .ok_or(Missing::NoInFlight)?;
    let Some(latency) = latency.or(point.overall.response) else {
        return printed::in_flight(facts.record, point, per_second);
    };
    // Counted where it ends: of each user one that began before the window is in, and one that ended after it is not.
    // Where the storage stands still, it does so for all users: each of them may be the longest of all. The longest of
    // all may have ended after the window.
    let longest_ms = latency.max_ms.max(longest_around_ms(facts, point));
    // Before and after an outage all connections are at work: their edges are a larger part of the fewer on average.
    let at_edges = match point.outage {
        Some(_) => f64::from(point.connections),
        None => asked,
    };
    let edges_percent = longest_ms / 10.0 / point.measured_s * at_edges / asked;
    Ok(FigureSet::from_iter([
        (FigureId::PerSecond, per_second),
        (FigureId::TimeInFlight, latency.mean_ms),
        (FigureId::InFlight, asked),
        (FigureId::InFlightEdges, edges_percent),
    ]))
}

/// The longest response of the point's other phases, those of warming up and of finishing what was under way.
fn longest_around_ms(facts: &RecordFacts<'_>, point: &PointSummary) -> f64 {
    let record = facts.record;
    let phases: BTreeSet<_> = record
        .phases
        .iter()
        .filter(|phase| phase.point.is_some_and(|id| point.ids.contains(&id)))
        .map(|phase| phase.id)
        .collect();
    record
        .windows
        .iter()
        .filter(|window| phases.contains(&window.phase))
        .filter_map(|window| window.service.as_ref().unwrap_or(&window.response).max())
        .max()
        .map_or(0.0, |longest| longest.as_millis_f64())
}

/// Length, conservation and steadiness of a window.
pub(super) fn put_window(
    load: &mut LoadInput,
    measured_s: f64,
    conservation: Conservation,
    steady: Steady,
    halves: Option<Halves>,
) {
    // Where a window has no five parts, it is too short or its source reports few intervals.
    let unsteady = match steady {
        Steady::NotMeant => Missing::NotForThisLoad,
        _ if measured_s < 5.0 => Missing::TooShort,
        _ => Missing::FewIntervals,
    };
    let conserved = match conservation {
        Conservation::Holds { seconds } => Ok(seconds as f64),
        // These are findings.
        Conservation::Broken { .. } | Conservation::Open { .. } => Err(Missing::NothingMeasured),
        Conservation::Unknown => Err(Missing::NoCounts),
    };
    load.trend_by_chance = matches!(steady, Steady::TooFew { .. });
    let figures = &mut load.figures;
    figures.put(FigureId::MeasuredS, Ok(measured_s));
    figures.put(FigureId::ConservedS, conserved);
    figures.miss(FigureId::RangePercent, unsteady);
    if let Some((range_percent, slope_percent)) = steady.figures() {
        figures.extend([
            (FigureId::RangePercent, range_percent),
            (FigureId::SlopePercent, slope_percent),
        ]);
    }
    figures.miss(FigureId::HalvesPercent, unsteady);
    if let Some(halves) = halves {
        figures.extend([
            (FigureId::HalvesPercent, halves.off_percent),
            (FigureId::HalvesByChance, halves.by_chance_percent),
        ]);
    }
}

fn of_responses(responses: Responses) -> FigureSet {
    FigureSet::from_iter([
        (FigureId::ResponseRange, responses.range_percent),
        (FigureId::ResponseSlope, responses.slope_percent),
        (
            FigureId::ResponseRangeByChance,
            responses.range_by_chance_percent,
        ),
        (
            FigureId::ResponseSlopeByChance,
            responses.slope_by_chance_percent,
        ),
    ])
}

/// How surely a load's figure is known, of which repeats have `values`; `window_percent` is half the interval of one window.
pub(super) fn precision(values: &[f64], window_percent: Option<f64>) -> FigureSet {
    let percent = if values.len() >= FEWEST_REPEATS {
        Interval::of_values(values)
            .and_then(Interval::relative)
            .map(|half| half * 100.0)
    } else {
        window_percent
    };
    let mut figures = FigureSet::from_iter([(FigureId::Runs, values.len() as f64)]);
    figures.put(
        FigureId::IntervalPercent,
        percent.ok_or(Missing::NoInterval),
    );
    figures
}

/// Half the 95 % interval of an estimate, in percent of its middle.
pub(super) fn half_percent(estimate: Option<Estimate>) -> Option<f64> {
    Some(estimate?.interval?.relative()? * 100.0)
}

/// Precision of the rate or, of an open loop, of the mean response time.
fn precision_of(ladder: &LadderSummary, point: &PointSummary) -> Known<FigureSet> {
    if point.key.load.offered_to_per_second.is_some() {
        return Err(Missing::NotForThisLoad);
    }
    let is_open = point.key.load.is_open();
    let repeats = ladder
        .loads
        .iter()
        .find(|load| {
            load.points
                .iter()
                .any(|own| std::ptr::eq(&ladder.points[*own], point))
        })
        .map_or(&[][..], |load| &load.points);
    let values: Vec<f64> = repeats
        .iter()
        .map(|own| &ladder.points[*own])
        .filter_map(|point| match is_open {
            true => point.overall.response.map(|times| times.mean_ms),
            false => point.value(FigureId::Transactions),
        })
        .collect();
    let window_percent = match is_open {
        true => {
            point
                .responses
                .ok_or(Missing::NoResponses)?
                .half_interval_percent
        }
        false => half_percent(point.figures.get(FigureId::Transactions)),
    };
    Ok(precision(&values, window_percent))
}

pub(super) fn checkpoints(point: &PointSummary) -> Known<f64> {
    let database = point.database.as_ref();
    let per_minute = database.and_then(|database| database.checkpoints_per_minute);
    let log = database.and_then(|database| database.log_mb_per_second);
    // SQLite checkpoints what was written, and has no checkpoints by time.
    if (per_minute, log) == (Some(0.0), Some(0.0)) {
        return Err(Missing::NotForThisLoad);
    }
    per_minute
        .map(|n| n * point.measured_s / 60.0)
        .ok_or(Missing::NoCheckpoints)
}

/// Only of emulated drives is it known how much memory they have.
fn written(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
) -> Known<FigureSet> {
    let file = facts
        .value(facts.medium(ladder.medium.as_deref()), "drive_file")
        .ok_or(Missing::NoDriveCache)?;
    let cache_mb = drive_file::buffer_mb(file).ok_or(Missing::NoDriveCache)?;
    let writes = point
        .resources
        .device_write_mb_per_second
        .ok_or(Missing::NoDeviceCounters)?;
    Ok(FigureSet::from_iter([
        (FigureId::WrittenMb, writes * point.measured_s),
        (FigureId::DriveCacheMb, cache_mb),
    ]))
}

fn mean(
    point: &PointSummary,
    kind: SubjectKind,
    subject: Option<&str>,
    metric: Metric,
) -> Option<f64> {
    let mut own = point.metrics.iter().filter(|mean| {
        mean.subject_kind == kind && subject.is_none_or(|subject| subject == mean.subject)
    });
    own.find(|mean| mean.metric == metric.info().name)
        .map(|mean| mean.mean)
}

/// Of systems that share a machine, all of their data against all of its memory, or of each against its limit.
fn sizes(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
    mock: bool,
) -> Known<FigureSet> {
    if mock {
        return Err(Missing::NotForThisLoad);
    }
    let system = ladder.first_system();
    if facts
        .system(system)
        .is_some_and(|system| system.kind.is_remote())
    {
        // The memory that is known is the generator's.
        return Err(Missing::NoSizes);
    }
    let data_mb = data_mb(facts, system, point).ok_or(Missing::NoSizes)?;
    let of_host = mean(point, SubjectKind::Host, None, Metric::MemoryTotal)
        .or_else(|| of_all_hosts(point, Metric::MemoryTotal))
        .map(|bytes| bytes / 1e6);
    let systems = ladder.fleet.as_ref().map_or(1, |fleet| fleet.systems.len()) as f64;
    let (data_mb, memory_mb) = match facts.memory_limit_mb(system) {
        Some(limit) => (data_mb, limit),
        None => (data_mb * systems, of_host.ok_or(Missing::NoSizes)?),
    };
    Ok(data_and_memory(data_mb, memory_mb))
}

pub(super) fn data_and_memory(data_mb: f64, memory_mb: f64) -> FigureSet {
    FigureSet::from_iter([(FigureId::DataMb, data_mb), (FigureId::MemoryMb, memory_mb)])
}

/// Where several hosts run the plan: what all of them have.
fn of_all_hosts(point: &PointSummary, metric: Metric) -> Option<f64> {
    let name = metric.info().name;
    let hosts = point
        .metrics
        .iter()
        .filter(|mean| mean.metric == name && mean.subject_kind == SubjectKind::Worker);
    hosts.map(|mean| mean.mean).reduce(|sum, more| sum + more)
}

/// Of one system: as the server reports, else the size of its directory, else the size after loading.
pub(super) fn data_mb(facts: &RecordFacts<'_>, system: &str, point: &PointSummary) -> Option<f64> {
    let id: Option<SubjectId> = facts.subject(SubjectKind::System, system);
    let reported = point
        .database
        .as_ref()
        .and_then(|database| database.size_mb);
    reported
        .or_else(|| {
            mean(point, SubjectKind::System, Some(system), Metric::SystemData)
                .map(|bytes| bytes / 1e6)
        })
        .or_else(|| loaded_mb(facts, id))
}

/// After loading.
pub(super) fn loaded_mb(facts: &RecordFacts<'_>, system: Option<SubjectId>) -> Option<f64> {
    let text = facts.value(system, "database_size")?;
    size::parse(text).ok().map(|bytes| bytes.0 as f64 / 1e6)
}

fn device_reads(point: &PointSummary) -> Known<f64> {
    let reads = point.resources.device_reads_per_second;
    let rate = point
        .value(FigureId::Transactions)
        .filter(|rate| *rate > 0.0);
    let each = reads.zip(rate).map(|(reads, rate)| reads / rate);
    each.ok_or(Missing::NoDeviceCounters)
}

fn generator(facts: &RecordFacts<'_>, point: &PointSummary) -> Known<f64> {
    if point.resources.generator_cpu_withheld == Some(Withheld::EmbeddedSystem) {
        return Err(Missing::Embedded);
    }
    bottleneck::generator(facts.record, point).ok_or(Missing::NoGenerator)
}

/// By Little's law: rate × mean service time are the connections that are busy.
fn busy_percent(point: &PointSummary) -> Option<f64> {
    let (rate, service) = point
        .value(FigureId::Transactions)
        .zip(point.overall.service)?;
    (point.connections > 0)
        .then(|| rate * service.mean_ms / 1e3 * 100.0 / f64::from(point.connections))
}

/// Of another tool's open loop only where its output counts what was not served; its closed loop drops nothing.
fn dropped(facts: &RecordFacts<'_>, point: &PointSummary) -> Known<FigureSet> {
    let counts = &point.overall.counts;
    if point.imported.is_some() && counts.dropped == 0 {
        if !point.key.load.is_open() {
            return Err(Missing::NotForThisLoad);
        }
        if point.ids.iter().any(|id| facts.lacks(*id, "unserved")) {
            return Err(Missing::NoCounts);
        }
    }
    let percent = counts.dropped as f64 * 100.0 / counts.settled().max(1) as f64;
    Ok(FigureSet::from_iter([
        (FigureId::Dropped, counts.dropped as f64),
        (FigureId::DroppedPercent, percent),
    ]))
}

fn tpm_nopm(point: &PointSummary) -> Known<FigureSet> {
    let [tpm, nopm] = point.figures.read_all(RelatedFigures::ORDERS)?;
    if nopm <= 0.0 {
        return Err(Missing::TooFew);
    }
    Ok(FigureSet::from_iter([
        (FigureId::Tpm, tpm),
        (FigureId::Nopm, nopm),
        (FigureId::NewOrders, nopm * point.measured_s / 60.0),
    ]))
}

fn row(point: &PointSummary) -> Option<RelatedFigures> {
    let latency = point.overall.response?;
    let mut figures = point.figures.clone();
    figures.put(FigureId::Mean, Ok(latency.mean_ms));
    Some(RelatedFigures {
        percentiles: percentiles(&latency),
        figures,
        // Percentiles of a window that was never closed come from the seconds' coarse buckets, its mean does not.
        resolution_percent: if point.coarse {
            COARSE_ERROR_PERCENT
        } else {
            0.0
        },
        ..RelatedFigures::default()
    })
}

/// Up to the maximum.
fn percentiles(latency: &LatencySummary) -> Vec<Percentile> {
    let kept = latency.percentiles().filter_map(|(figure, ms)| {
        let share = figure.share()?;
        Some(Percentile {
            name: format!("p{}", share * 100.0),
            share,
            ms,
        })
    });
    kept.chain([Percentile {
        name: "max".to_owned(),
        share: 1.0,
        ms: latency.max_ms,
    }])
    .collect()
}

/// Consistency conditions, verified after the point or at the end of its step.
fn put_conditions(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
    load: &mut LoadInput,
) {
    let verified = if point.consistency.verified > 0 {
        load.failed_conditions = point.consistency.failed.join(", ");
        Ok(f64::from(point.consistency.verified))
    } else if point.value(FigureId::Tpm).is_none() {
        Err(Missing::NotForThisLoad)
    } else {
        let system = facts.subject(SubjectKind::System, ladder.first_system());
        let checks = facts.record.checks.iter();
        let at_end: Vec<_> = checks
            .filter(|check| check.point.is_none() && Some(check.subject) == system)
            .collect();
        let failed = at_end.iter().filter(|check| !check.holds);
        let clauses: Vec<&str> = failed.map(|check| check.clause.as_str()).collect();
        load.failed_conditions = clauses.join(", ");
        match at_end.is_empty() {
            true => Err(Missing::NotVerified),
            false => Ok(at_end.len() as f64),
        }
    };
    load.figures.put(FigureId::ConditionsVerified, verified);
}

fn simulated_cpu(ladder: &LadderSummary, point: &PointSummary) -> Known<f64> {
    if !ladder.is_simulated {
        return Err(Missing::NoSimulation);
    }
    let waits = point.waits.as_ref();
    let percent = waits.and_then(WaitSummary::cpu_of_work_percent);
    percent.ok_or(Missing::NoWaits)
}

/// Lateness of emulated drives: the highest of the kinds of operations of which there are enough.
pub(super) fn put_emulated<'a>(
    drives: impl Iterator<Item = &'a DriveSummary>,
    load: &mut LoadInput,
) {
    let drives: Vec<&DriveSummary> = drives.collect();
    let names: Vec<&str> = drives.iter().map(|drive| drive.drive.as_str()).collect();
    load.drive = names.join(" + ");
    let evaluated: Vec<_> = drives
        .iter()
        .flat_map(|drive| &drive.ops)
        .filter(|op| op.has_enough_operations())
        .collect();
    if evaluated.is_empty() {
        let why = match drives.is_empty() {
            true => Missing::NoEmulation,
            false => Missing::TooFew,
        };
        return load.figures.miss(FigureId::EmulatedOps, why);
    }
    let ops: u64 = evaluated.iter().map(|op| op.ops).sum();
    let late = evaluated.iter().filter_map(|op| op.late_percent);
    let beyond = evaluated.iter().filter_map(|op| op.beyond_percent);
    load.figures.extend([
        (FigureId::EmulatedOps, ops as f64),
        (FigureId::LatePercent, late.fold(0.0, f64::max)),
        (FigureId::BeyondPercent, beyond.fold(0.0, f64::max)),
    ]);
}
