//! Time without a server, as a part of a point's window.
//!
//! | figure | formula | why |
//! | --- | --- | --- |
//! | time without a server | Σ over the window's ticks | from the first connection's loss until one is open again: longer than the server was down by at most a pause between attempts (1 s) |
//! | connections without a server | Σ of the connections' lost time / measured time | their mean number: by so many fewer transactions are in flight in Little's law. Lost from the start of the transaction that never completed |

use serde::Serialize;

use super::finding::{Finding, FindingKind};
use super::index::Index;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::lane::Absence;
use plimsoll_record::{Phase, Point, Severity};

/// Share of a window without a server, in percent, above which figures are those of the outage.
pub const AWAY_LIMIT: f64 = 1.0;

/// Time without a server in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct OutageSummary {
    pub server_s: f64,
    /// Of the measured time.
    pub percent: f64,
    /// Lost connections, on average over the measured time.
    pub connections: f64,
}

impl OutageSummary {
    /// `None` where there was a server all the time.
    pub(super) fn of(
        index: &Index,
        point: &Point,
        phases: &[&Phase],
        measured_s: f64,
    ) -> Option<Self> {
        let is_measured = |id| {
            phases
                .iter()
                .any(|phase| phase.id == id && phase.kind == PhaseKind::Measure)
        };
        let rows = index.record.outages.iter();
        let own = rows.filter(|row| row.subject == point.system && is_measured(row.phase));
        let sum = own.fold(Absence::default(), |mut sum, row| {
            sum.server += row.absence.server;
            sum.connections += row.absence.connections;
            sum
        });
        if sum.is_none() || measured_s <= 0.0 {
            return None;
        }
        let server_s = sum.server.as_secs_f64().min(measured_s);
        let connections = sum.connections.as_secs_f64() / measured_s;
        Some(Self {
            server_s,
            percent: server_s * 100.0 / measured_s,
            connections,
        })
    }

    /// Of systems under load at the same time: the longest, and all connections.
    pub(super) fn of_all(systems: impl Iterator<Item = Self>) -> Option<Self> {
        systems.reduce(|a, b| Self {
            server_s: a.server_s.max(b.server_s),
            percent: a.percent.max(b.percent),
            connections: a.connections + b.connections,
        })
    }

    pub(super) fn finding(self) -> Option<Finding> {
        let Self {
            server_s: away_s,
            percent,
            connections: _,
        } = self;
        let severity = if percent > AWAY_LIMIT {
            Severity::Error
        } else {
            Severity::Warning
        };
        (away_s > 0.0).then(|| {
            FindingKind::ServerAway {
                away_s,
                percent,
                limit_percent: AWAY_LIMIT,
            }
            .with(severity)
        })
    }
}
