//! The figures of one ladder point.

use super::array_phases::ArrayPhases;
use super::bottleneck;
use super::conserve::{self, Balance};
use super::cpu::CpuShares;
use super::cut::CutSummary;
use super::drive;
use super::estimate::Estimate;
use super::figure::{FigureId, FigureSet};
use super::finding::{Finding, Verdict};
use super::findings;
use super::imported;
use super::index::Index;
use super::latency::{LatencySummary, TxnSummary};
use super::means::{self, Resources};
use super::outage::OutageSummary;
use super::point_summary::{Consistency, HeldTimes, PointSummary};
use super::responses::{Responses, Times};
use super::stats::{self, Batch, Spread};
use super::steady::Steady;
use super::tick::{self, TickSums};
use super::{database, waits};
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::Counts;
use plimsoll_record::{LoadKey, Phase, Point, SubjectId, Window};
use plimsoll_stats::FEWEST_REPEATS;

/// Whether this load was repeated often enough for an interval.
fn has_repeats(index: &Index, point: &Point) -> bool {
    let place = |own: &Point| (own.step_index, own.ordinal, own.system, own.medium);
    let points = index.record.points.iter();
    points.filter(|own| place(own) == place(point)).count() >= FEWEST_REPEATS
}

pub(super) fn summarise(index: &Index, point: &Point) -> PointSummary {
    with_sums(index, point).0
}

/// The figures, and what they were computed of.
pub(super) fn with_sums(index: &Index, point: &Point) -> (PointSummary, TickSums) {
    let phases = index.load_phases(point);
    let mut sums = TickSums::new(point.txns.len());
    let mut balances = Vec::new();
    let mut times = Vec::new();
    let is_open = point.offered_per_second.is_some() && point.offered_to_per_second.is_none();
    let tpcc = point.txns == TPCC_TXNS;
    // In one pass: rows of hours do not stay in a processor's cache.
    let mut held = vec![HeldTimes::default(); point.txns.len()];
    for phase in &phases {
        let windows = index.windows(phase.id);
        for window in windows {
            if let Some(own) = held.get_mut(window.txn as usize) {
                own.times = own.times.saturating_add(window.response.finished());
            }
        }
        let has_windows = !windows.is_empty();
        for tick in index.ticks.of_phase(phase) {
            balances.push(Balance::of(tick));
            for row in tick.rows().filter(|_| has_windows) {
                if let Some(own) = held.get_mut(row.txn as usize) {
                    own.completed = own.completed.saturating_add(row.counts.completed());
                }
            }
            if phase.kind == PhaseKind::Measure {
                sums.push(tick);
                times.extend(is_open.then(|| Times::of(tick, point, tpcc)));
            }
        }
    }
    let mut figures = rates(point, &sums);
    figures.ids = vec![point.id];
    figures.held = held;
    figures.responses = Responses::of(&times, sums.lasts_s());
    figures.key.system = index.name(point.system);
    figures.key.medium = point.medium.map(|medium| index.name(medium));
    figures.imported = imported::source(index, point.system);
    let measured = phases
        .iter()
        .any(|phase| phase.kind == PhaseKind::Measure && phase.complete);
    let cut_short = phases
        .iter()
        .any(|phase| phase.kind == PhaseKind::Warm && !phase.complete);
    figures.complete = measured && !cut_short;
    // Nothing disturbs a simulation: repeats are enough for an interval, however short they are.
    figures.short &= !(index.record.is_simulated() && has_repeats(index, point));
    latencies(index, point, &phases, &mut figures);
    if let Some(window) = tick::window(&phases) {
        figures.metrics = means::over(
            index,
            means::MeanScope::beside(index, point),
            window.start,
            window.end,
        );
        let completed = figures.overall.counts.completed();
        figures.resources = means::resources(
            index,
            point,
            &[point.system],
            &figures.metrics,
            figures.measured_s,
            completed,
        );
        figures.cpu = CpuShares::of(index, point, window, &figures.resources);
        figures.drive = drive::summarise(index, point, window, &figures);
        figures.waits = waits::summarise(index, point, window);
        figures.database = database::summarise(
            index,
            point,
            window,
            &figures.metrics,
            figures.value(FigureId::Transactions),
        );
    }
    figures.outage = OutageSummary::of(index, point, &phases, figures.measured_s);
    figures.power_cut = index.cut_of(point).map(CutSummary::of);
    figures.array = ArrayPhases::of(index, point, &phases);
    if figures.array.is_some() {
        figures.steady = Steady::NotMeant;
        figures.halves = None;
    }
    figures.conservation = conserve::verify(&balances);
    if figures.imported.is_some() {
        imported::withhold(&mut figures);
    }
    figures.consistency = Consistency::of(
        index
            .record
            .checks
            .iter()
            .filter(|c| c.point == Some(point.id)),
    );
    figures.findings = findings::of_point(index, point, &figures, &phases);
    figures.verdict = Verdict::of(&figures.findings);
    figures.bottleneck = bottleneck::signs(index, None, &figures);
    (figures, sums)
}

/// The sum of points that were measured at the same time, on different systems: `own` are their figures.
pub(super) fn sum_of(
    index: &Index,
    members: &[&Point],
    own: &[(PointSummary, TickSums)],
) -> PointSummary {
    let phases: Vec<&Phase> = members
        .iter()
        .flat_map(|point| index.load_phases(point))
        .collect();
    let first = members[0];
    let mut sums = TickSums::new(first.txns.len());
    own.iter().for_each(|(_, own)| sums.add(own));
    let all = Point {
        users: members.iter().map(|point| point.users).sum(),
        connections: members.iter().map(|point| point.connections).sum(),
        offered_per_second: first
            .offered_per_second
            .map(|rate| rate * members.len() as f64),
        offered_to_per_second: first
            .offered_to_per_second
            .map(|rate| rate * members.len() as f64),
        ..first.clone()
    };
    let mut figures = rates(&all, &sums);
    figures.ids = members.iter().map(|point| point.id).collect();
    figures.key.medium = first.medium.map(|medium| index.name(medium));
    figures.complete = own.iter().all(|(point, _)| point.complete);
    latencies(index, &all, &phases, &mut figures);
    if let Some(window) = tick::window(&phases) {
        figures.metrics = means::over(index, means::MeanScope::All, window.start, window.end);
        let systems: Vec<SubjectId> = members.iter().map(|point| point.system).collect();
        let completed = figures.overall.counts.completed();
        figures.resources = means::resources(
            index,
            &all,
            &systems,
            &figures.metrics,
            figures.measured_s,
            completed,
        );
        figures.cpu = CpuShares::of(index, &all, window, &figures.resources);
        figures.drive = drive::summarise(index, &all, window, &figures);
    }
    figures.outage = OutageSummary::of_all(own.iter().filter_map(|(point, _)| point.outage));
    figures.conservation = conserve::of_all(own.iter().map(|(point, _)| point.conservation));
    figures.findings = Finding::of_all(own.iter().flat_map(|(point, _)| &point.findings));
    figures.consistency = Consistency::of(
        index
            .record
            .checks
            .iter()
            .filter(|check| members.iter().any(|point| check.point == Some(point.id))),
    );
    figures.verdict = Verdict::of(&figures.findings);
    figures.bottleneck = bottleneck::signs(index, None, &figures);
    figures
}

/// Counts and rates over the measure ticks; everything else is still empty.
fn rates(point: &Point, sums: &TickSums) -> PointSummary {
    let measured_s = sums.lasts_s();
    let types: Vec<Counts> = (0..point.txns.len()).map(|i| sums.total(i)).collect();
    let total = tick::sum(
        types
            .iter()
            .enumerate()
            .filter(|(i, _)| point.is_counted(*i))
            .map(|(_, counts)| counts),
    );
    let txn = |name: &str, counts: Counts| TxnSummary {
        name: name.to_owned(),
        counts,
        completed_per_minute: per_minute(counts.completed(), measured_s),
        share_percent: share(counts.completed(), total.completed()),
        response: None,
        service: None,
    };
    let completed = sums.batches(|types| tick::completed(point, types));
    let new_order = point.txns.iter().position(|name| name == TPCC_TXNS[0]);
    let orders = new_order
        .map(|i| sums.batches(|types| types[i].committed))
        .unwrap_or_default();
    let tpcc = point.txns == TPCC_TXNS;
    let per_minute_of = |n: u64, batches: &[Batch]| {
        let interval = stats::interval(batches).ok();
        Estimate::single(
            per_minute(n, measured_s)?,
            interval.map(|own| own.scaled(60.0)),
        )
    };
    let transactions = per_second(total.completed(), measured_s)
        .and_then(|rate| Estimate::single(rate, stats::interval(&completed).ok()));
    let tpm = per_minute_of(total.completed(), &completed).filter(|_| tpcc);
    let nopm = new_order.and_then(|i| per_minute_of(types[i].committed, &orders));
    let rolled_back = new_order.and_then(|i| share(types[i].rolled_back, types[i].completed()));
    let round_trips = ratio(total.round_trips, total.completed());
    let per_user = tpm
        .filter(|_| point.users > 0)
        .map(|tpm| tpm.value / f64::from(point.users));
    let plain = |value: Option<f64>| Estimate::single(value?, None);
    let spread = Spread::of(&completed);
    let spreads = [
        (FigureId::Transactions, spread),
        (
            FigureId::Tpm,
            spread.filter(|_| tpcc).map(|own| own.scaled(60.0)),
        ),
        (
            FigureId::Nopm,
            Spread::of(&orders).map(|own| own.scaled(60.0)),
        ),
    ];
    PointSummary {
        key: LoadKey {
            step: point.step.clone(),
            scene: point.scene,
            load: point.load(),
            ..LoadKey::default()
        },
        ordinal: point.ordinal,
        mode: point.mode.clone(),
        connections: point.connections,
        repeat: point.repeat,
        measured_s,
        complete: false,
        verdict: Verdict::Valid,
        findings: Vec::new(),
        figures: FigureSet::default()
            .with(FigureId::Nopm, nopm)
            .with(FigureId::Tpm, tpm)
            .with(FigureId::Transactions, transactions)
            .with(FigureId::TpmPerUser, plain(per_user))
            .with(FigureId::RolledBack, plain(rolled_back))
            .with(FigureId::RoundTrips, plain(round_trips)),
        short: stats::parts(&completed).is_none(),
        spreads: spreads
            .into_iter()
            .filter_map(|(figure, own)| Some((figure, own?)))
            .collect(),
        steady: if point.offered_to_per_second.is_some() {
            Steady::NotMeant
        } else {
            Steady::of(&completed)
        },
        above_line: false,
        responses: None,
        halves: stats::halves(&completed).filter(|_| point.offered_to_per_second.is_none()),
        overall: txn("all", total),
        types: point
            .txns
            .iter()
            .zip(&types)
            .map(|(name, counts)| txn(name, *counts))
            .collect(),
        resources: Resources::default(),
        metrics: Vec::new(),
        ticks: sums.len(),
        ..PointSummary::default()
    }
}

fn per_second(n: u64, measured_s: f64) -> Option<f64> {
    (measured_s > 0.0).then(|| n as f64 / measured_s)
}

fn per_minute(n: u64, measured_s: f64) -> Option<f64> {
    (measured_s > 0.0).then(|| n as f64 * 60.0 / measured_s)
}

fn ratio(n: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| n as f64 / of as f64)
}

fn share(n: u64, of: u64) -> Option<f64> {
    ratio(n, of).map(|ratio| ratio * 100.0)
}

/// Response times of the main transaction type of `points`, as [`PointSummary::main_latency`] has it, in one histogram.
pub(super) fn main_response(index: &Index, points: &[&Point]) -> Hist {
    let mut sum = Hist::new();
    for point in points {
        let orders = point.txns.iter().any(|name| name == TPCC_TXNS[0]);
        let measured = index
            .load_phases(point)
            .into_iter()
            .filter(|phase| phase.kind == PhaseKind::Measure);
        let windows = measured.flat_map(|phase| index.windows(phase.id));
        windows
            .filter(|window| {
                if orders {
                    window.txn == 0
                } else {
                    point.is_counted(window.txn as usize)
                }
            })
            .for_each(|window| sum.merge(&window.response));
    }
    sum
}

/// Fills in latencies from the measure phase's merged histograms.
fn latencies(index: &Index, point: &Point, phases: &[&Phase], figures: &mut PointSummary) {
    let windows: Vec<&Window> = tick::measured(phases)
        .flat_map(|phase| index.windows(phase.id))
        .copied()
        .collect();
    let mut all = Hist::new();
    let mut all_service = Hist::new();
    let differs = windows.iter().any(|window| window.service.is_some());
    for (i, txn) in figures.types.iter_mut().enumerate() {
        let of_type: Vec<&Window> = windows
            .iter()
            .copied()
            .filter(|window| window.txn as usize == i)
            .collect();
        let response = merged(of_type.iter().map(|window| &window.response));
        txn.response = LatencySummary::of(&response);
        if response.clipped() > 0 {
            figures.clipped.push((txn.name.clone(), response.clipped()));
        }
        if point.is_counted(i) {
            all.merge(&response);
        }
        if !differs {
            continue;
        }
        let service = merged(
            of_type
                .iter()
                .map(|window| window.service.as_ref().unwrap_or(&window.response)),
        );
        if of_type.iter().any(|window| window.service.is_some()) {
            txn.service = LatencySummary::of(&service);
        }
        if point.is_counted(i) {
            all_service.merge(&service);
        }
    }
    figures.overall.response = LatencySummary::of(&all);
    let unfinished = windows.iter().filter_map(|own| own.response.unfinished());
    figures.unfinished = unfinished.map(|own| own.count).sum();
    figures.overall.service = differs.then(|| LatencySummary::of(&all_service)).flatten();
    figures.coarse = windows.iter().any(|window| window.coarse);
    let main = figures.main_latency();
    figures.figures = std::mem::take(&mut figures.figures).with_times(main);
}

fn merged<'a>(hists: impl Iterator<Item = &'a Hist>) -> Hist {
    hists.fold(Hist::new(), |mut sum, hist| {
        sum.merge(hist);
        sum
    })
}
