//! A server's count of commits against what its clients saw.

use super::finding::{Finding, FindingKind};
use super::index::Index;
use super::means;
use super::point_summary::PointSummary;
use super::tick::window;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Phase, Point, Severity};

/// How far the database's commits may be off the clients'.
pub const COMMITS_LIMIT: f64 = 0.02;

/// A session's counts become visible up to a second late (PostgreSQL manual, "The Cumulative Statistics System"), at
/// both ends of the window.
const EDGES_S: f64 = 2.0;

/// A server commits by itself as well: autovacuum of the ten tables of TPC-C, about half a one a second.
const OWN_PER_SECOND: f64 = 1.0;

/// Samples and readings of a second, which are taken off, may be counted a second late as well.
const PROBE_COMMITS: f64 = 11.0;

/// PostgreSQL shows what a session did when it becomes idle a second after it showed something last, and else after
/// `PGSTAT_IDLE_INTERVAL`, ten seconds.
const VISIBLE_AFTER: Nanos = Nanos::from_secs(11);

/// Part of the window that the server's counters have to cover.
const LEAST_COVERED: f64 = 0.95;

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
        && figures.tpm.is_some()
        && figures.power_cut.is_none()
        && window(phases).is_some_and(|phase| phase.complete && is_covered(index, point, phase));
    let database = figures
        .database
        .as_ref()
        .and_then(|database| database.commits_per_second);
    let Some(database) = database.filter(|_| is_evaluated && figures.measured_s > 0.0) else {
        return Vec::new();
    };
    let counts = &figures.overall.counts;
    let least = counts.committed as f64;
    let most = counts.completed() as f64;
    let counted = database * figures.measured_s;
    let off = if counted < least {
        counted - least
    } else {
        (counted - most).max(0.0)
    };
    let own = if off > 0.0 {
        OWN_PER_SECOND * figures.measured_s + set_up(point, phases)
    } else {
        0.0
    };
    let allowed =
        COMMITS_LIMIT * least + EDGES_S * least / figures.measured_s + PROBE_COMMITS + own;
    if least == 0.0 || off.abs() <= allowed {
        return Vec::new();
    }
    let clients = least / figures.measured_s;
    let kind = FindingKind::CommitsDisagree {
        database,
        clients,
        percent: off / least * 100.0,
    };
    vec![Finding {
        severity: Severity::Warning,
        kind,
    }]
}

/// Commits of sessions before their first transaction, which become visible in the window after a short ramp: for
/// connecting, for the search path and for each statement that is prepared.
fn set_up(point: &Point, phases: &[&Phase]) -> f64 {
    let began = phases
        .iter()
        .map(|phase| phase.start)
        .min()
        .unwrap_or_default();
    if window(phases).is_some_and(|window| window.start.saturating_sub(began) >= VISIBLE_AFTER) {
        return 0.0;
    }
    let prepared = if point.mode == "procedures" {
        5.0
    } else {
        22.0
    };
    f64::from(point.connections) * (2.0 + prepared)
}

/// Whether counters were read for all of the window: a server that answers late, or a probe that lost its connection,
/// leaves gaps, in which the rate may have been another.
fn is_covered(index: &Index, point: &Point, window: &Phase) -> bool {
    let Some(series) = index
        .record
        .series
        .iter()
        .find(|series| series.subject == point.system && series.metric == Metric::DbCommits)
    else {
        return false;
    };
    means::covered_s(series, window.start, window.end)
        >= LEAST_COVERED * window.end.saturating_sub(window.start).as_secs_f64()
}

#[cfg(test)]
mod tests;
