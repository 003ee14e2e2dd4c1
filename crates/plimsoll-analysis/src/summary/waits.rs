//! What a server's sessions did over a measure window, and its own counters against what clients saw.
//!
//! Sessions are sampled some ten times a second. Of the `seen` sessions, summed over all samples, the share in a state
//! estimates the share of session time spent in it. Sessions of one sample are not independent of each other, nor are
//! samples of one second: the standard error takes seconds as clusters (Cochran, Sampling Techniques, 3rd ed., 1977,
//! §2.11 and §9A.2, the ratio of two means of m clusters): √(m/(m−1)·Σ(xᵢ − p·nᵢ)²) / Σnᵢ with xᵢ of nᵢ sessions of second i.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Index;
use super::drive::window;
use super::finding::{Finding, FindingKind};
use super::means::{self, MetricMean};
use super::point::PointSummary;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Phase, Point, Severity, SubjectKind, WaitRow, WaitState};

/// Below so many samples a state of a few percent may have been missed altogether.
pub const FEW_SAMPLES: u64 = 100;
/// Events listed by name, for each state.
const TOP_EVENTS: usize = 3;
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

/// Shares of session time. Those of all states add up to 100 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitSummary {
    /// Number of samples.
    pub samples: u64,
    /// Mean number of sessions.
    pub sessions: f64,
    /// Only those that were sampled, in the order of [`WaitState::ALL`].
    pub states: Vec<StateShare>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StateShare {
    pub state: WaitState,
    /// Mean number of sessions in it.
    pub sessions: f64,
    pub percent: f64,
    /// One standard error of `percent`; `None` with less than two seconds.
    pub standard_error_percent: Option<f64>,
    /// Of the time in which sessions neither are idle nor wait for their clients; `None` for those two.
    pub busy_percent: Option<f64>,
    /// By share, largest first; at most three.
    pub events: Vec<EventShare>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventShare {
    /// The server's name; empty where it names nothing.
    pub event: String,
    /// Of all session time.
    pub percent: f64,
}

impl WaitSummary {
    pub fn is_rough(&self) -> bool {
        self.samples < FEW_SAMPLES
    }

    pub fn of(&self, state: WaitState) -> Option<&StateShare> {
        self.states.iter().find(|share| share.state == state)
    }

    /// Share of a state in the time in which sessions neither are idle nor wait for their clients; `None` if none did
    /// anything else.
    pub fn busy_percent(&self, state: WaitState) -> Option<f64> {
        let any = self.states.iter().any(|share| share.busy_percent.is_some());
        any.then(|| {
            self.of(state)
                .and_then(|share| share.busy_percent)
                .unwrap_or(0.0)
        })
    }

    /// Where most of the time went.
    pub fn most(&self) -> Option<&StateShare> {
        self.states
            .iter()
            .max_by(|a, b| a.percent.total_cmp(&b.percent))
    }
}

/// A server's own counters over a window. Per transaction is per completed one, as clients saw them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DatabaseFigures {
    pub commits_per_second: Option<f64>,
    pub rollbacks_per_second: Option<f64>,
    /// Pages found in the buffer pool, of all that were needed.
    pub buffer_hit_percent: Option<f64>,
    pub log_mb_per_second: Option<f64>,
    pub log_bytes_per_txn: Option<f64>,
    pub log_syncs_per_txn: Option<f64>,
    pub checkpoints_per_minute: Option<f64>,
    pub deadlocks_per_minute: Option<f64>,
    pub size_mb: Option<f64>,
    /// What the data grew by within the window, as its gauge shows.
    pub growth_mb: Option<f64>,
}

/// A second belongs to the window that its middle is in.
pub(super) fn middle(row: &WaitRow) -> Nanos {
    Nanos(row.start.0 / 2 + row.end.0 / 2)
}

/// `None` without samples.
pub(super) fn summarise(index: &Index, point: &Point, window: &Phase) -> Option<WaitSummary> {
    let mut seconds: BTreeMap<Nanos, Vec<&WaitRow>> = BTreeMap::new();
    let all = index
        .waits
        .get(&point.system)
        .map_or(&[][..], Vec::as_slice);
    let from = all.partition_point(|row| middle(row) < window.start);
    let own = all[from..]
        .iter()
        .take_while(|row| middle(row) < window.end);
    own.for_each(|row| seconds.entry(row.start).or_default().push(row));
    let seconds: Vec<Vec<&WaitRow>> = seconds.into_values().collect();
    let samples: u64 = seconds.iter().map(|rows| u64::from(rows[0].looks)).sum();
    let sessions: u64 = seconds
        .iter()
        .flatten()
        .map(|row| u64::from(row.seen))
        .sum();
    if samples == 0 || sessions == 0 {
        return None;
    }
    let all = SampledSessions {
        seconds: &seconds,
        samples: samples as f64,
        sessions: sessions as f64,
    };
    let states = WaitState::ALL
        .iter()
        .copied()
        .filter_map(|state| all.share(state))
        .collect();
    Some(WaitSummary {
        samples,
        sessions: all.sessions / all.samples,
        states,
    })
}

struct SampledSessions<'a> {
    seconds: &'a [Vec<&'a WaitRow>],
    samples: f64,
    sessions: f64,
}

fn is_busy(state: WaitState) -> bool {
    !matches!(state, WaitState::Idle | WaitState::Client)
}

fn sum<'a>(rows: impl Iterator<Item = &'a WaitRow>) -> f64 {
    rows.map(|row| f64::from(row.seen)).sum()
}

impl SampledSessions<'_> {
    fn rows(&self) -> impl Iterator<Item = &WaitRow> {
        self.seconds.iter().flatten().copied()
    }

    fn share(&self, state: WaitState) -> Option<StateShare> {
        let own = sum(self.rows().filter(|row| row.state == state));
        if own == 0.0 {
            return None;
        }
        let busy = sum(self.rows().filter(|row| is_busy(row.state)));
        Some(StateShare {
            state,
            sessions: own / self.samples,
            percent: own / self.sessions * 100.0,
            standard_error_percent: self
                .standard_error(state, own / self.sessions)
                .map(|error| error * 100.0),
            busy_percent: is_busy(state).then_some(own / busy * 100.0),
            events: self.events(state),
        })
    }

    fn standard_error(&self, state: WaitState, share: f64) -> Option<f64> {
        let m = self.seconds.len() as f64;
        let residual = |rows: &Vec<&WaitRow>| {
            let of_state = sum(rows.iter().copied().filter(|row| row.state == state));
            of_state - share * sum(rows.iter().copied())
        };
        let squares: f64 = self.seconds.iter().map(|rows| residual(rows).powi(2)).sum();
        (m >= 2.0).then(|| (m / (m - 1.0) * squares).sqrt() / self.sessions)
    }

    fn events(&self, state: WaitState) -> Vec<EventShare> {
        let mut events: BTreeMap<&str, f64> = BTreeMap::new();
        for row in self.rows().filter(|row| row.state == state && row.seen > 0) {
            *events.entry(&row.event).or_default() += f64::from(row.seen);
        }
        let mut events: Vec<EventShare> = events
            .into_iter()
            .map(|(event, count)| EventShare {
                event: event.into(),
                percent: count / self.sessions * 100.0,
            })
            .collect();
        events.sort_by(|a, b| b.percent.total_cmp(&a.percent));
        events.truncate(TOP_EVENTS);
        events
    }
}

/// `None` for a system without statistics of its own.
pub(super) fn database(
    index: &Index,
    point: &Point,
    figures: &PointSummary,
    window: &Phase,
) -> Option<DatabaseFigures> {
    let of = |metric: Metric| mean(&figures.metrics, &figures.system, metric).map(|mean| mean.mean);
    if !figures
        .metrics
        .iter()
        .any(|mean| mean.subject == figures.system && mean.metric.starts_with("db_"))
    {
        return None;
    }
    let per_txn =
        |rate: Option<f64>| Some(rate? / figures.completed_per_second.filter(|rate| *rate > 0.0)?);
    let pages = of(Metric::DbBufferHits).zip(of(Metric::DbBufferReads));
    let pages = pages.filter(|(hits, reads)| hits + reads > 0.0);
    Some(DatabaseFigures {
        commits_per_second: of(Metric::DbCommits),
        rollbacks_per_second: of(Metric::DbRollbacks),
        buffer_hit_percent: pages.map(|(hits, reads)| hits / (hits + reads) * 100.0),
        log_mb_per_second: of(Metric::DbLogBytes).map(|bytes| bytes / 1e6),
        log_bytes_per_txn: per_txn(of(Metric::DbLogBytes)),
        log_syncs_per_txn: per_txn(of(Metric::DbLogSyncs)),
        checkpoints_per_minute: of(Metric::DbCheckpoints).map(|rate| rate * 60.0),
        deadlocks_per_minute: of(Metric::DbDeadlocks).map(|rate| rate * 60.0),
        size_mb: of(Metric::DbSize).map(|bytes| bytes / 1e6),
        growth_mb: growth(index, point, window).map(|bytes| bytes / 1e6),
    })
}

fn mean<'a>(metrics: &'a [MetricMean], system: &str, metric: Metric) -> Option<&'a MetricMean> {
    metrics
        .iter()
        .filter(|mean| mean.subject_kind == SubjectKind::System && mean.subject == system)
        .find(|mean| mean.metric == metric.info().name)
}

/// Last size in the window less the first.
fn growth(index: &Index, point: &Point, window: &Phase) -> Option<f64> {
    let samples = &index
        .record
        .series
        .iter()
        .find(|series| series.subject == point.system && series.metric == Metric::DbSize)?
        .samples;
    let from = samples.partition_point(|sample| sample.at <= window.start);
    let to = samples.partition_point(|sample| sample.at <= window.end);
    match samples.get(from..to)? {
        [first, .., last] => Some(f64::from(last.value) - f64::from(first.value)),
        _ => None,
    }
}

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
#[path = "waits_tests.rs"]
mod tests;
