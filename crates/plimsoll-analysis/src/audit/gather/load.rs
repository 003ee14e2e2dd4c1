//! Points of ladders.

use std::collections::BTreeSet;

use super::drive_file;
use super::facts::RecordFacts;
use super::printed;
use super::stops::stops;
use crate::audit::input::{
    Counted, InFlight, Known, LoadFacts, OrderRate, Percentile, Precision, RelatedFigures,
    SimulatedLoad, WindowTrend,
};
use crate::audit::{AuditSubject, AuditedLoad, Missing};
use crate::summary::{
    Conservation, DriveSummary, FAILED_LIMIT, FigureId, Halves, Interval, LadderSummary,
    LatencySummary, PointSummary, SIMULATED_MEMORY_FACT, Steady, WaitSummary, Withheld, bottleneck,
};
use plimsoll_plan::{Interference, size};
use plimsoll_record::hist::COARSE_ERROR_PERCENT;
use plimsoll_record::import_facts;
use plimsoll_record::import_facts::RESPONSE_FACT;
use plimsoll_record::metric::Metric;
use plimsoll_record::{SubjectId, SubjectKind};
use plimsoll_stats::{FEWEST_REPEATS, SHORTEST_S};

/// Fewer transactions of each user: what began or ended outside the window blurs the number under way by more than the
/// limit.
const FEWEST_TURNS: f64 = 20.0;

pub(super) fn of_ladder(facts: &RecordFacts<'_>, ladder: &LadderSummary) -> Vec<LoadFacts> {
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

fn of_point(facts: &RecordFacts<'_>, ladder: &LadderSummary, point: &PointSummary) -> LoadFacts {
    let about = about(&ladder.step, &ladder.system, point);
    let mut findings = point.findings.clone();
    findings.extend(ladder.findings.iter().cloned());
    if point.measured_s <= 0.0 {
        return LoadFacts {
            points: point.ids.clone(),
            printed: printed::rows(facts.record, &point.ids),
            ..nothing(about, findings)
        };
    }
    let system = ladder.first_system();
    let inside = facts.is_mock(system);
    let here = |known: Known<f64>| {
        if inside {
            Err(Missing::NotForThisLoad)
        } else {
            known
        }
    };
    let resources = &point.resources;
    let each = |per_second: Option<f64>| {
        Some(
            per_second?
                / point
                    .value(FigureId::Transactions)
                    .filter(|rate| *rate > 0.0)?,
        )
    };
    LoadFacts {
        points: point.ids.clone(),
        findings,
        open: point.key.load.is_open(),
        probe: ladder.line.is_some(),
        above_line: point.above_line,
        // Nothing disturbs a simulation: the interval alone decides whether it was long enough.
        measured_s: Some(point.measured_s).filter(|_| !facts.record.is_simulated()),
        in_flight: in_flight(facts, ladder, point),
        counted: counted(point),
        trend: trend(point.steady, point.measured_s),
        halves: halves(point.halves, point.steady, point.measured_s),
        responses: point.responses.ok_or(Missing::NoResponses),
        precision: precision_of(ladder, point),
        checkpoints: here(checkpoints(point)),
        written: written(facts, ladder, point),
        sizes: sizes(facts, ladder, point, inside),
        reads: here(each(resources.device_reads_per_second).ok_or(Missing::NoDeviceCounters)),
        generator: generator(facts, point),
        stops: stops(facts, point).ok_or(Missing::NoGenerator),
        lag: Err(Missing::NoLag),
        connections: connections(point).ok_or(Missing::NoCounts),
        dropped: dropped(facts, point),
        steal: steal(point).ok_or(Missing::NoHost),
        other_cpu: other_cpu(point),
        tpm_nopm: tpm_nopm(point).or_else(|why| printed::tpm_nopm(facts.record, point).ok_or(why)),
        conditions: conditions(facts, ladder, point),
        emulated: emulated(point.drive.iter()),
        simulated: simulated(facts, ladder, point),
        row: row(point),
        printed: printed::rows(facts.record, &point.ids),
        cut: point.power_cut.as_ref().map(|cut| {
            cut.receipts
                .iter()
                .map(|receipt| receipt.acknowledged)
                .sum()
        }),
        ..LoadFacts::unknown(about)
    }
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
pub(super) fn nothing(about: AuditSubject, findings: Vec<crate::summary::Finding>) -> LoadFacts {
    let none = Missing::NothingMeasured;
    LoadFacts {
        findings,
        in_flight: Err(none),
        counted: Err(none),
        trend: Err(none),
        halves: Err(none),
        responses: Err(none),
        precision: Err(none),
        checkpoints: Err(none),
        written: Err(none),
        sizes: Err(none),
        reads: Err(none),
        generator: Err(none),
        lag: Err(none),
        connections: Err(none),
        dropped: Err(none),
        steal: Err(none),
        other_cpu: Err(none),
        tpm_nopm: Err(none),
        conditions: Err(none),
        emulated: Err(none),
        simulated: Err(none),
        row: Err(none),
        ..LoadFacts::unknown(about)
    }
}

fn in_flight(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
) -> Known<InFlight> {
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
    Ok(InFlight {
        per_second,
        mean_ms: latency.mean_ms,
        asked,
        edges_percent,
    })
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

fn counted(point: &PointSummary) -> Known<Counted> {
    match point.conservation {
        Conservation::Unknown => Err(Missing::NoCounts),
        counts => Ok(Counted::PerSecond(counts)),
    }
}

/// Why a window has no five parts: it is too short, or its source reports few intervals.
fn too_short(measured_s: f64) -> Missing {
    if measured_s < 5.0 {
        Missing::TooShort
    } else {
        Missing::FewIntervals
    }
}

pub(super) fn trend(steady: Steady, measured_s: f64) -> Known<WindowTrend> {
    let by_chance = matches!(steady, Steady::TooFew { .. });
    match (steady, steady.figures()) {
        (Steady::NotMeant, _) => Err(Missing::NotForThisLoad),
        (_, Some((range_percent, slope_percent))) => Ok(WindowTrend {
            range_percent,
            slope_percent,
            by_chance,
        }),
        (_, None) => Err(too_short(measured_s)),
    }
}

pub(super) fn halves(halves: Option<Halves>, steady: Steady, measured_s: f64) -> Known<(f64, f64)> {
    let why = if steady == Steady::NotMeant {
        Missing::NotForThisLoad
    } else {
        too_short(measured_s)
    };
    halves
        .map(|halves| (halves.off_percent, halves.by_chance_percent))
        .ok_or(why)
}

/// Of one window: `own` is its interval.
pub(super) fn precision(
    values: &[f64],
    own: Option<Interval>,
    measured_s: f64,
) -> Known<Precision> {
    if values.len() >= FEWEST_REPEATS {
        return half_width(Interval::of_values(values), measured_s, true);
    }
    // The clock may cut a window by a fraction of a second.
    let is_short = measured_s + 0.5 < SHORTEST_S;
    match own {
        None if is_short => Ok(Precision::TooShort {
            measured_s,
            repeats: values.len() as u32,
        }),
        own => half_width(own, measured_s, false),
    }
}

fn half_width(interval: Option<Interval>, measured_s: f64, of_repeats: bool) -> Known<Precision> {
    let half = interval
        .and_then(Interval::relative)
        .ok_or(Missing::NoInterval)?;
    Ok(Precision::Half {
        percent: half * 100.0,
        measured_s: Some(measured_s),
        of_repeats,
    })
}

fn precision_of(ladder: &LadderSummary, point: &PointSummary) -> Known<Precision> {
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
    if !is_open {
        return precision(
            &values,
            point
                .figures
                .get(FigureId::Transactions)
                .and_then(|rate| rate.interval),
            point.measured_s,
        );
    }
    let responses = point.responses.ok_or(Missing::NoResponses)?;
    match responses
        .half_interval_percent
        .filter(|_| values.len() < FEWEST_REPEATS)
    {
        Some(percent) => Ok(Precision::Half {
            percent,
            measured_s: Some(point.measured_s),
            of_repeats: false,
        }),
        None => precision(&values, None, point.measured_s),
    }
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
) -> Known<(f64, f64)> {
    let file = facts
        .value(facts.medium(ladder.medium.as_deref()), "drive_file")
        .ok_or(Missing::NoDriveCache)?;
    let cache_mb = drive_file::buffer_mb(file).ok_or(Missing::NoDriveCache)?;
    let writes = point
        .resources
        .device_write_mb_per_second
        .ok_or(Missing::NoDeviceCounters)?;
    Ok((writes * point.measured_s, cache_mb))
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
) -> Known<(f64, f64)> {
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
    match (facts.memory_limit_mb(system), of_host) {
        (Some(limit), _) => Ok((data_mb, limit)),
        (None, Some(host)) => Ok((data_mb * systems, host)),
        (None, None) => Err(Missing::NoSizes),
    }
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

fn generator(facts: &RecordFacts<'_>, point: &PointSummary) -> Known<f64> {
    if point.resources.generator_cpu_withheld == Some(Withheld::EmbeddedSystem) {
        return Err(Missing::Embedded);
    }
    bottleneck::generator(facts.record, point).ok_or(Missing::NoGenerator)
}

/// By Little's law: rate × mean service time are the connections that are busy.
fn connections(point: &PointSummary) -> Option<f64> {
    let (rate, service) = point
        .value(FigureId::Transactions)
        .zip(point.overall.service)?;
    (point.connections > 0)
        .then(|| rate * service.mean_ms / 1e3 * 100.0 / f64::from(point.connections))
}

/// Of another tool's open loop only where its output counts what was not served; its closed loop drops nothing.
fn dropped(facts: &RecordFacts<'_>, point: &PointSummary) -> Known<(u64, f64)> {
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
    Ok((counts.dropped, percent))
}

fn tpm_nopm(point: &PointSummary) -> Known<(f64, f64, Option<f64>)> {
    let (tpm, nopm) = point
        .value(FigureId::Tpm)
        .zip(point.value(FigureId::Nopm))
        .ok_or(Missing::NoTpm)?;
    if nopm <= 0.0 {
        return Err(Missing::TooFew);
    }
    Ok((tpm, nopm, Some(nopm * point.measured_s / 60.0)))
}

fn row(point: &PointSummary) -> Known<RelatedFigures> {
    let latency = point.overall.response.ok_or(Missing::OneFigure)?;
    Ok(RelatedFigures {
        percentiles: percentiles(&latency),
        mean_ms: Some(latency.mean_ms),
        orders: point
            .value(FigureId::Tpm)
            .zip(point.value(FigureId::Nopm))
            .map(|(tpm, nopm)| OrderRate { tpm, nopm }),
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
    let kept = LatencySummary::QUANTILES
        .into_iter()
        .zip(latency.quantiles())
        .map(|(share, ms)| Percentile {
            name: format!("p{}", share * 100.0),
            share,
            ms,
        });
    kept.chain([Percentile {
        name: "max".to_owned(),
        share: 1.0,
        ms: latency.max_ms,
    }])
    .collect()
}

/// After the point, or at the end of its step.
fn conditions(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
) -> Known<(u32, String)> {
    if point.value(FigureId::Tpm).is_none() && point.consistency.verified == 0 {
        return Err(Missing::NotForThisLoad);
    }
    if point.consistency.verified > 0 {
        return Ok((
            point.consistency.verified,
            point.consistency.failed.join(", "),
        ));
    }
    let system = facts.subject(SubjectKind::System, ladder.first_system());
    let at_end = facts
        .record
        .checks
        .iter()
        .filter(|check| check.point.is_none() && Some(check.subject) == system);
    let verified: Vec<_> = at_end.clone().collect();
    let failed: Vec<_> = at_end.filter(|c| !c.holds).collect();
    if verified.is_empty() {
        return Err(Missing::NotVerified);
    }
    Ok((
        verified.len() as u32,
        failed
            .iter()
            .map(|check| check.clause.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    ))
}

/// The kinds of operations by which the drive is evaluated; the figures are those of the latest.
fn simulated(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
) -> Known<SimulatedLoad> {
    if !ladder.is_simulated {
        return Err(Missing::NoSimulation);
    }
    let cpu_percent = point
        .waits
        .as_ref()
        .and_then(WaitSummary::cpu_of_work_percent);
    let medium = facts.medium(ladder.medium.as_deref());
    Ok(SimulatedLoad {
        cpu_percent: cpu_percent.ok_or(Missing::NoWaits)?,
        memory: facts
            .value(medium, SIMULATED_MEMORY_FACT)
            .map(str::to_owned),
    })
}

pub(super) fn emulated<'a>(
    drives: impl Iterator<Item = &'a DriveSummary>,
) -> Known<(String, u64, f64, f64)> {
    let drives: Vec<&DriveSummary> = drives.collect();
    let names: Vec<&str> = drives.iter().map(|drive| drive.drive.as_str()).collect();
    if names.is_empty() {
        return Err(Missing::NoEmulation);
    }
    let evaluated: Vec<_> = drives
        .iter()
        .flat_map(|drive| &drive.ops)
        .filter(|op| op.has_enough_operations())
        .collect();
    if evaluated.is_empty() {
        return Err(Missing::TooFew);
    }
    let ops = evaluated.iter().map(|op| op.ops).sum();
    let late = evaluated.iter().filter_map(|op| op.late_percent);
    let beyond = evaluated.iter().filter_map(|op| op.beyond_percent);
    Ok((
        names.join(" + "),
        ops,
        late.fold(0.0, f64::max),
        beyond.fold(0.0, f64::max),
    ))
}
