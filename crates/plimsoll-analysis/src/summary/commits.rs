//! A server's count of commits against what its clients saw.
//!
//! PostgreSQL shows what a session committed late: when the session becomes idle, at most once a second, and what was
//! left over then after ten seconds of idleness (`pgstat_report_stat`). What a reading shows is therefore what was
//! committed by then, less the commits that are not visible yet. Readings are compared from one to another, not over the
//! window, whose ends lie between two of them.

use super::figure::FigureId;
use super::finding::{Finding, FindingKind};
use super::index::Index;
use super::point_summary::PointSummary;
use super::tick::{TickRows, window};
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Phase, Point, Severity};

/// How far the database's commits may be off the clients'.
pub const COMMITS_LIMIT: f64 = 0.02;

/// `PGSTAT_MIN_INTERVAL`: a busy session shows what it committed once a second, between two transactions.
const SHOWN_EVERY: Nanos = Nanos::SECOND;

/// A session that becomes idle before that second is over shows the rest after `PGSTAT_IDLE_INTERVAL`, ten seconds.
const VISIBLE_AFTER: Nanos = Nanos::from_secs(11);

/// A reading takes time, and clients count by whole seconds.
const READING: Nanos = Nanos::SECOND;

/// Share of their time in which connections are busy, from which on they do not rest.
const BUSY_SHARE: f64 = 0.9;

/// A server commits by itself as well: autovacuum of the ten tables of TPC-C, about half a one a second.
const OWN_PER_SECOND: f64 = 1.0;

/// Samples and readings of a second, which are taken off, may be counted a second late as well.
const PROBE_COMMITS: f64 = 11.0;

/// The database counted other commits than clients saw. Only where no one else uses the server, since it is plimsoll's,
/// and where a transaction is one commit: in TPC-C. What the specification wants rolled back may be a commit to the
/// server, where a procedure undoes its work by itself.
pub(super) fn findings(
    index: &Index,
    point: &Point,
    figures: &PointSummary,
    phases: &[&Phase],
) -> Vec<Finding> {
    let is_evaluated = point.medium.is_some()
        && figures.value(FigureId::Tpm).is_some()
        && figures.power_cut.is_none()
        && window(phases).is_some_and(|phase| phase.complete);
    let Some(readings) = Readings::of(index, point, phases).filter(|_| is_evaluated) else {
        return Vec::new();
    };
    let clients = ClientCommits::of(index, phases);
    let Readings { start, end, .. } = readings;
    let seconds = end.saturating_sub(start).as_secs_f64();
    let least = clients.committed(start, end);
    let most = clients.completed(start, end);
    // Late commits of the time before are shown among these, and late ones of these are not.
    let (off, late) = if readings.commits < least {
        (readings.commits - least, shown_late(figures, &clients, end))
    } else {
        let off = (readings.commits - most).max(0.0);
        let own = OWN_PER_SECOND * seconds + set_up(point, phases, start);
        (off, shown_late(figures, &clients, start) + own)
    };
    let allowed = COMMITS_LIMIT * least + PROBE_COMMITS + late;
    if least == 0.0 || off.abs() <= allowed {
        return Vec::new();
    }
    let kind = FindingKind::CommitsDisagree {
        database: readings.commits / seconds,
        clients: least / seconds,
        percent: off * 100.0 / least,
        limit_percent: allowed * 100.0 / least,
    };
    vec![kind.with(Severity::Error)]
}

/// How many commits by `until` are not shown then.
fn shown_late(figures: &PointSummary, clients: &ClientCommits<'_>, until: Nanos) -> f64 {
    let times = figures.overall.service.or(figures.overall.response);
    let (mean_ms, longest_ms) = times.map_or((0.0, 0.0), |own| (own.mean_ms, own.max_ms));
    let span = SHOWN_EVERY + READING + Nanos::from_secs_f64(longest_ms / 1e3);
    let shown_late = clients.most_within(span, until);
    let in_flight = figures.value(FigureId::Transactions).unwrap_or(0.0) * mean_ms / 1e3;
    let connections = f64::from(figures.connections);
    if in_flight >= BUSY_SHARE * connections {
        return shown_late;
    }
    // Sessions may rest on what they committed within a second of what they showed last.
    let bursts = connections * SHOWN_EVERY.as_millis_f64() / mean_ms.max(f64::MIN_POSITIVE);
    let all = clients.most_within(VISIBLE_AFTER + READING, until);
    all.min(shown_late + bursts)
}

/// What the server counted between its first and its last reading that are about the window and within the load.
struct Readings {
    start: Nanos,
    end: Nanos,
    commits: f64,
}

impl Readings {
    /// `None` without two readings, and where some are missing in between: a server that answers late, or a probe that
    /// lost its connection, leaves gaps.
    fn of(index: &Index, point: &Point, phases: &[&Phase]) -> Option<Self> {
        let window = window(phases)?;
        let began = phases.iter().map(|phase| phase.start).min()?;
        let ended = phases.iter().map(|phase| phase.end).max()?;
        let mut series = index.record.series.iter();
        let series = series
            .find(|series| series.subject == point.system && series.metric == Metric::DbCommits)?;
        let near = series.near(window.start, window.end);
        let mut inside = near.filter(|sample| {
            sample.over > Nanos::ZERO
                && sample.at.saturating_sub(sample.over) >= began
                && sample.at <= ended
        });
        let first = inside.next()?;
        let mut all = Self {
            start: first.at.saturating_sub(first.over),
            end: first.at,
            commits: f64::from(first.value) * first.over.as_secs_f64(),
        };
        for sample in inside {
            if sample.at.saturating_sub(sample.over) > all.end + GAP {
                return None;
            }
            all.end = sample.at;
            all.commits += f64::from(sample.value) * sample.over.as_secs_f64();
        }
        Some(all)
    }
}

/// Intervals of neighbouring samples are stored rounded.
const GAP: Nanos = Nanos::from_millis(1);

/// What clients counted, second by second, from the first load of the point to its end.
struct ClientCommits<'a>(Vec<TickRows<'a>>);

impl<'a> ClientCommits<'a> {
    fn of(index: &'a Index, phases: &'a [&Phase]) -> Self {
        let ticks = phases.iter().flat_map(|phase| index.ticks.of_phase(phase));
        Self(ticks.collect())
    }

    fn committed(&self, start: Nanos, end: Nanos) -> f64 {
        self.sum(start, end, |tick| tick.total().committed)
    }

    fn completed(&self, start: Nanos, end: Nanos) -> f64 {
        self.sum(start, end, |tick| tick.total().completed())
    }

    /// A second that lies partly in it counts by that part.
    fn sum(&self, start: Nanos, end: Nanos, of: fn(TickRows<'_>) -> u64) -> f64 {
        let inside = |tick: &TickRows<'_>| {
            let within = tick.end().min(end).saturating_sub(tick.start().max(start));
            within.as_secs_f64() / tick.seconds().max(f64::MIN_POSITIVE)
        };
        let parts = self
            .0
            .iter()
            .map(|tick| of(*tick) as f64 * inside(tick).min(1.0));
        parts.sum()
    }

    /// The most that completed within `span`, in the time before `until` of which not everything is shown then.
    fn most_within(&self, span: Nanos, until: Nanos) -> f64 {
        let from = until.saturating_sub(VISIBLE_AFTER + span);
        let begins = self.0.iter().map(|tick| tick.start());
        let spans = begins.filter(|start| *start >= from && *start < until);
        let whole = spans.map(|start| self.completed(start, (start + span).min(until)));
        let last = self.completed(until.saturating_sub(span), until);
        whole.fold(last, f64::max)
    }
}

/// Commits of sessions before their first transaction, which become visible in the window after a short ramp: for
/// connecting, for the search path and for each statement that is prepared.
fn set_up(point: &Point, phases: &[&Phase], start: Nanos) -> f64 {
    let began = phases.iter().map(|phase| phase.start).min();
    if start.saturating_sub(began.unwrap_or_default()) >= VISIBLE_AFTER {
        return 0.0;
    }
    let prepared = if point.mode == "procedures" {
        5.0
    } else {
        22.0
    };
    f64::from(point.connections) * (2.0 + prepared)
}

#[cfg(test)]
mod tests;
