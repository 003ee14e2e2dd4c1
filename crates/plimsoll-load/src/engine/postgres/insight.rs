//! What a PostgreSQL server reports about itself: counters of its statistics views, and the wait events of its sessions.
//!
//! Statistics of a session become visible when it is idle, at most once a second (PostgreSQL manual, "The Cumulative
//! Statistics System"), so that rates lag by up to a second; wait events and the log's position are those of now.

use plimsoll_plan::units::Bytes;
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::NotShown;
use plimsoll_record::metric::Metric;
use tokio_postgres::{Client, Error, Row, Statement};

use super::connect::{connect, server_error};
use crate::engine::readings::{Reading, ServerInsight, SessionCount};
use crate::error::LoadError;

mod waits;

/// The first version with `backend_type` and `wait_event` of all kinds of waits.
const OLDEST: i32 = 100_000;

/// Sessions of plimsoll's are those in this database that call themselves what this one does.
/// A session that has just begun has no state yet; that does not mean that it is hidden.
const SESSIONS: &str = "SELECT CASE WHEN query = '<insufficient privilege>' THEN NULL
        ELSE coalesce(state, 'starting') END, wait_event_type, wait_event, count(*) FROM pg_stat_activity
    WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()
      AND datname = current_database() AND coalesce(backend_type, 'client backend') = 'client backend'
    GROUP BY 1, 2, 3";

const SIZE: &str = "SELECT pg_database_size(current_database())";

/// A connection that asks.
pub struct PostgresInsight {
    client: Client,
    user: String,
    version: i32,
    tracks: bool,
    metrics: Vec<Metric>,
    sessions: Statement,
    read: Statement,
    /// Transactions of this connection, which the server counts with all others.
    own: u64,
    hidden: bool,
}

fn error(error: Error) -> LoadError {
    server_error("asking the server about itself", &error)
}

impl ServerInsight for PostgresInsight {
    async fn connect(conninfo: &str, _schema: &str) -> Result<Self, LoadError> {
        let client = connect(conninfo).await?;
        let about = "SELECT current_setting('server_version_num')::int, current_user::text,
            current_setting('track_activities')::bool";
        let about = client.query_one(about, &[]).await.map_err(error)?;
        let version: i32 = about.try_get(0).map_err(error)?;
        if version < OLDEST {
            let why = format!(
                "PostgreSQL {} has no wait events; 10 is the oldest that has",
                version / 10_000
            );
            return Err(LoadError::other("asking the server about itself", why));
        }
        let (metrics, sql) = counters(version);
        let sessions = client.prepare(SESSIONS).await.map_err(error)?;
        let read = client.prepare(&sql).await.map_err(error)?;
        let user = about.try_get(1).map_err(error)?;
        let tracks = about.try_get(2).map_err(error)?;
        Ok(Self {
            client,
            user,
            version,
            tracks,
            metrics,
            sessions,
            read,
            own: 0,
            hidden: false,
        })
    }

    async fn sample_sessions(&mut self) -> Result<Vec<SessionCount>, LoadError> {
        self.own += 1;
        let rows = self
            .client
            .query(&self.sessions, &[])
            .await
            .map_err(error)?;
        let counts: Vec<SessionCount> = rows
            .iter()
            .map(session_count)
            .collect::<Result<_, _>>()
            .map_err(error)?;
        self.hidden |= counts.iter().any(|count| count.event == waits::HIDDEN);
        Ok(counts)
    }

    async fn read(&mut self) -> Result<Reading, LoadError> {
        self.own += 1;
        let row = self
            .client
            .query_one(&self.read, &[])
            .await
            .map_err(error)?;
        let mut reading = Vec::with_capacity(self.metrics.len());
        for (i, metric) in self.metrics.iter().enumerate() {
            let own = if *metric == Metric::DbCommits {
                self.own as f64
            } else {
                0.0
            };
            let value: Option<f64> = row.try_get(i).map_err(error)?;
            reading.extend(value.map(|value| (*metric, value - own)));
        }
        Ok(reading)
    }

    async fn size(&mut self) -> Result<Bytes, LoadError> {
        self.own += 1;
        let size: i64 = self
            .client
            .query_one(SIZE, &[])
            .await
            .and_then(|row| row.try_get(0))
            .map_err(error)?;
        Ok(Bytes(size.unsigned_abs()))
    }

    fn source(&self) -> String {
        "pg_stat_activity".into()
    }

    fn lacks(&self) -> Vec<EventKind> {
        let lacks = [
            (self.version < HAS_WAL_VIEW, NotShown::LogCounters),
            (self.hidden, NotShown::Sessions),
            (!self.tracks, NotShown::Activities),
        ];
        lacks
            .into_iter()
            .filter(|(is_lacking, _)| *is_lacking)
            .map(|(_, what)| EventKind::NotShown {
                what,
                user: self.user.clone(),
                server: format!("PostgreSQL {}", self.version / 10_000),
            })
            .collect()
    }
}

fn session_count(row: &Row) -> Result<SessionCount, Error> {
    let state: Option<&str> = row.try_get(0)?;
    let kind: Option<&str> = row.try_get(1)?;
    let event: Option<&str> = row.try_get(2)?;
    let (state, event) = waits::classify(state, kind, event);
    let sessions: i64 = row.try_get(3)?;
    Ok(SessionCount {
        state,
        event: event.into(),
        sessions: u32::try_from(sessions).unwrap_or(u32::MAX),
    })
}

/// pg_stat_wal came with 14.
const HAS_WAL_VIEW: i32 = 140_000;
/// What checkpoints do moved to pg_stat_checkpointer in 17.
const HAS_CHECKPOINTER_VIEW: i32 = 170_000;
/// Writes and syncs of the log moved from pg_stat_wal to pg_stat_io in 18.
const HAS_WAL_IN_IO_VIEW: i32 = 180_000;

const ANY_VERSION: [(Metric, &str); 10] = [
    (Metric::DbCommits, "d.xact_commit"),
    (Metric::DbRollbacks, "d.xact_rollback"),
    (Metric::DbBufferHits, "d.blks_hit"),
    (Metric::DbBufferReads, "d.blks_read"),
    (Metric::DbTempBytes, "d.temp_bytes"),
    (Metric::DbDeadlocks, "d.deadlocks"),
    // A standby writes no log of its own.
    (
        Metric::DbLogBytes,
        "CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_insert_lsn() - '0/0' END",
    ),
    (
        Metric::DbVacuums,
        "(SELECT count(*) FROM pg_stat_progress_vacuum WHERE datid = d.datid)",
    ),
    (
        Metric::DbLockWaiters,
        "(SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datid = d.datid)",
    ),
    (
        Metric::DbConnections,
        "(SELECT count(*) FROM pg_stat_activity WHERE coalesce(backend_type, 'client backend') = 'client backend')",
    ),
];

/// What a server of this version counts, and the statement that reads it: one row, with columns in this order.
fn counters(version: i32) -> (Vec<Metric>, String) {
    let mut columns = ANY_VERSION.to_vec();
    // Milliseconds in a second are tenths of a percent.
    let checkpoints = if version >= HAS_CHECKPOINTER_VIEW {
        [
            (
                Metric::DbCheckpoints,
                "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)",
            ),
            (
                Metric::DbCheckpointTime,
                "(SELECT (write_time + sync_time) / 10 FROM pg_stat_checkpointer)",
            ),
        ]
    } else {
        [
            (
                Metric::DbCheckpoints,
                "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)",
            ),
            (
                Metric::DbCheckpointTime,
                "(SELECT (checkpoint_write_time + checkpoint_sync_time) / 10 FROM pg_stat_bgwriter)",
            ),
        ]
    };
    columns.extend(checkpoints);
    if version >= HAS_WAL_IN_IO_VIEW {
        columns.extend([
            (
                Metric::DbLogWrites,
                "(SELECT sum(writes) FROM pg_stat_io WHERE object = 'wal' AND context = 'normal')",
            ),
            (
                Metric::DbLogSyncs,
                "(SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal' AND context = 'normal')",
            ),
        ]);
    } else if version >= HAS_WAL_VIEW {
        columns.extend([
            (Metric::DbLogWrites, "(SELECT wal_write FROM pg_stat_wal)"),
            (Metric::DbLogSyncs, "(SELECT wal_sync FROM pg_stat_wal)"),
        ]);
    }
    let expressions: Vec<String> = columns
        .iter()
        .map(|(_, sql)| format!("({sql})::float8"))
        .collect();
    let sql = format!(
        "SELECT {} FROM pg_stat_database AS d WHERE d.datname = current_database()",
        expressions.join(",\n       ")
    );
    (columns.into_iter().map(|(metric, _)| metric).collect(), sql)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Views and columns that a version does not have would make the whole statement fail.
    #[test]
    fn each_version_is_asked_for_what_it_has() {
        let sql = |version| counters(version).1;
        let words = |version: i32, has: &[&str], lacks: &[&str]| {
            let sql = sql(version);
            assert!(
                has.iter().all(|word| sql.contains(word)),
                "{version}: {sql}"
            );
            assert!(
                !lacks.iter().any(|word| sql.contains(word)),
                "{version}: {sql}"
            );
        };
        words(
            100_023,
            &["checkpoints_timed"],
            &["pg_stat_wal", "pg_stat_io", "pg_stat_checkpointer"],
        );
        words(
            130_014,
            &["checkpoints_req"],
            &["pg_stat_wal", "pg_stat_io", "pg_stat_checkpointer"],
        );
        words(
            140_000,
            &["wal_sync", "checkpoints_req"],
            &["pg_stat_io", "pg_stat_checkpointer"],
        );
        words(
            160_002,
            &["wal_sync", "checkpoints_req"],
            &["pg_stat_io", "pg_stat_checkpointer"],
        );
        words(
            170_000,
            &["wal_sync", "num_requested"],
            &["pg_stat_io", "pg_stat_bgwriter"],
        );
        words(
            180_000,
            &["object = 'wal'", "num_requested"],
            &["wal_sync", "pg_stat_bgwriter"],
        );
        for version in [100_000, 150_000, 170_000, 180_000] {
            let (metrics, sql) = counters(version);
            assert_eq!(sql.matches("::float8").count(), metrics.len());
            let mut once = metrics.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), metrics.len(), "each once");
        }
    }
}
