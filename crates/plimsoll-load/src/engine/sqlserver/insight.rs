//! What a SQL Server reports about itself: performance counters, and what its sessions wait for.
//!
//! Views need the permission VIEW SERVER STATE (from 2022 on VIEW SERVER PERFORMANCE STATE). What is not shown, for that or
//! because a server does not have it, is reported once and left out.

use std::collections::BTreeMap;

use plimsoll_plan::resolved::ServerKind;
use plimsoll_plan::units::Bytes;
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::NotShown;
use plimsoll_record::metric::Metric;

use super::client::rows;
use super::connect::{Tds, connect};
use super::dialect::DIALECT;
use crate::engine::readings::{Reading, ServerInsight, SessionCount};
use crate::engine::sql::TextRow;
use crate::error::LoadError;

mod waits;

const DOING: &str = "asking the server about itself";

const BABELFISH: &str = "Babelfish";

/// In request or not, what it waits for, in a transaction or not, and how many sessions are so.
const SESSIONS: &str =
    "SELECT CASE WHEN r.session_id IS NULL THEN 0 ELSE 1 END, COALESCE(r.wait_type, ''),
        CASE WHEN s.open_transaction_count > 0 THEN 1 ELSE 0 END, COUNT(*)
    FROM sys.dm_exec_sessions s LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id
    WHERE s.program_name = 'plimsoll' AND s.database_id = DB_ID({schema}) AND s.session_id <> @@SPID
    GROUP BY CASE WHEN r.session_id IS NULL THEN 0 ELSE 1 END, COALESCE(r.wait_type, ''),
        CASE WHEN s.open_transaction_count > 0 THEN 1 ELSE 0 END";

/// Names are padded with blanks. An instance's objects begin with its own name.
const COUNTERS: &str =
    "SELECT RTRIM(counter_name), CAST(cntr_value AS bigint) FROM sys.dm_os_performance_counters
    WHERE object_name LIKE '%:Databases%' AND instance_name = {schema}
       OR object_name LIKE '%:Locks%' AND instance_name = '_Total'
       OR object_name LIKE '%:Buffer Manager%' OR object_name LIKE '%:General Statistics%'
       OR object_name LIKE '%:Memory Manager%' OR object_name LIKE '%:Latches%'";

/// Reads and writes of data and their waits in milliseconds, and those for writes of the log; as [`FILE_METRICS`].
const FILES: &str =
    "SELECT CAST(SUM(CASE f.type_desc WHEN 'ROWS' THEN s.num_of_reads END) AS bigint),
        CAST(SUM(CASE f.type_desc WHEN 'ROWS' THEN s.io_stall_read_ms END) AS bigint),
        CAST(SUM(CASE f.type_desc WHEN 'ROWS' THEN s.num_of_writes END) AS bigint),
        CAST(SUM(CASE f.type_desc WHEN 'ROWS' THEN s.io_stall_write_ms END) AS bigint),
        CAST(SUM(CASE f.type_desc WHEN 'LOG' THEN s.io_stall_write_ms END) AS bigint)
    FROM sys.dm_io_virtual_file_stats(DB_ID({schema}), NULL) s
    JOIN {name}.sys.database_files f ON f.file_id = s.file_id";

/// The metric of each column, and what its unit is of the column's.
const FILE_METRICS: [(Metric, f64); 5] = [
    (Metric::DbFileReads, 1.0),
    (Metric::DbFileReadTime, PERCENT_OF_MILLIS),
    (Metric::DbFileWrites, 1.0),
    (Metric::DbFileWriteTime, PERCENT_OF_MILLIS),
    (Metric::DbLogWriteTime, PERCENT_OF_MILLIS),
];
/// Milliseconds in a second are tenths of a percent.
const PERCENT_OF_MILLIS: f64 = 0.1;

const SIZE: &str = "SELECT CAST(COALESCE(SUM(CAST(size AS bigint)), 0) * 8192 AS bigint) FROM {name}.sys.database_files
    WHERE type_desc = 'ROWS'";

/// A counter ("Use SQL Server Objects" in the manual) and its metric. Those "per second" are totals since the start.
const METRICS: [(&str, Metric); 13] = [
    // Those that have written something.
    ("Write Transactions/sec", Metric::DbCommits),
    (LOOKUPS, Metric::DbBufferHits),
    (READS, Metric::DbBufferReads),
    ("Checkpoint pages/sec", Metric::DbCheckpointPages),
    ("Lazy writes/sec", Metric::DbLazyWrites),
    ("Number of Deadlocks/sec", Metric::DbDeadlocks),
    ("Log Bytes Flushed/sec", Metric::DbLogBytes),
    ("Log Flushes/sec", Metric::DbLogWrites),
    ("Lock Waits/sec", Metric::DbLockWaits),
    ("Latch Waits/sec", Metric::DbLatchWaits),
    (MEMORY, Metric::DbMemory),
    ("Processes blocked", Metric::DbLockWaiters),
    ("User Connections", Metric::DbConnections),
];
const LOOKUPS: &str = "Page lookups/sec";
const READS: &str = "Page reads/sec";
const MEMORY: &str = "Total Server Memory (KB)";

/// A connection that asks.
pub struct SqlserverInsight {
    client: Tds,
    schema: String,
    shows_sessions: bool,
    shows_counters: bool,
    shows_files: bool,
    is_babelfish: bool,
}

impl SqlserverInsight {
    async fn ask(&mut self, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        rows(
            &mut self.client,
            DOING,
            &DIALECT.of_schema(sql, &self.schema),
        )
        .await
    }
}

impl ServerInsight for SqlserverInsight {
    async fn connect(conninfo: &str, schema: &str) -> Result<Self, LoadError> {
        let mut insight = Self {
            client: connect(conninfo).await?,
            schema: schema.to_owned(),
            shows_sessions: true,
            shows_counters: true,
            shows_files: true,
            is_babelfish: false,
        };
        let version = insight.ask("SELECT @@VERSION").await?;
        let version = version.first().and_then(|row| row.text(0));
        insight.is_babelfish = version.is_some_and(|version| version.contains(BABELFISH));
        insight.shows_sessions = is_shown(insight.ask(SESSIONS).await)?;
        insight.shows_counters = is_shown(insight.ask(COUNTERS).await)?;
        insight.shows_files = is_shown(insight.ask(FILES).await)?;
        Ok(insight)
    }

    async fn sample_sessions(&mut self) -> Result<Vec<SessionCount>, LoadError> {
        if !self.shows_sessions {
            return Ok(Vec::new());
        }
        let rows = self.ask(SESSIONS).await?;
        rows.iter().map(session_count).collect()
    }

    async fn read(&mut self) -> Result<Reading, LoadError> {
        let mut reading = Reading::new();
        if self.shows_counters {
            reading.extend(counters(&self.ask(COUNTERS).await?));
        }
        if self.shows_files {
            reading.extend(files(&self.ask(FILES).await?));
        }
        Ok(reading)
    }

    /// Of the data's files; the log's are not among them.
    async fn size(&mut self) -> Result<Bytes, LoadError> {
        let rows = self.ask(SIZE).await?;
        let size = rows.first().map_or(Ok(0), |row| row.get(0))?;
        Ok(Bytes(size))
    }

    fn source(&self) -> String {
        "sys.dm_exec_requests, sys.dm_exec_sessions".into()
    }

    fn lacks(&self) -> Vec<EventKind> {
        let lacks = [
            (!self.shows_sessions, "sys.dm_exec_requests"),
            (!self.shows_counters, "sys.dm_os_performance_counters"),
            (!self.shows_files, "sys.dm_io_virtual_file_stats"),
        ];
        let hidden: Vec<&str> = lacks
            .into_iter()
            .filter_map(|(is_lacking, view)| is_lacking.then_some(view))
            .collect();
        let mut lacks = Vec::new();
        if self.is_babelfish {
            lacks.push(EventKind::StandIn {
                product: BABELFISH.into(),
                server: ServerKind::Sqlserver.title().into(),
            });
        }
        if !hidden.is_empty() {
            lacks.push(EventKind::NotShown {
                what: NotShown::Views,
                user: String::new(),
                server: hidden.join(", "),
            });
        }
        lacks
    }
}

/// A view that is missing or forbidden is not shown; a connection that is gone is an error.
fn is_shown(asked: Result<Vec<TextRow>, LoadError>) -> Result<bool, LoadError> {
    match asked {
        Ok(_) => Ok(true),
        Err(lost @ LoadError::Died { .. }) => Err(lost),
        Err(_) => Ok(false),
    }
}

fn session_count(row: &TextRow) -> Result<SessionCount, LoadError> {
    let wait = row.text(1).unwrap_or_default();
    let state = if row.flag(0) {
        waits::of_type(wait)
    } else {
        waits::between_requests(row.flag(2))
    };
    Ok(SessionCount {
        state,
        event: wait.to_owned(),
        sessions: row.get(3)?,
    })
}

fn files(rows: &[TextRow]) -> Reading {
    let Some(row) = rows.first() else {
        return Reading::new();
    };
    let columns = (0..).zip(FILE_METRICS);
    columns
        .filter_map(|(i, (metric, unit))| Some((metric, row.get::<f64>(i).ok()? * unit)))
        .collect()
}

/// Requests for pages are those that were found and those that were not.
fn counters(rows: &[TextRow]) -> Reading {
    let values = rows.iter().filter_map(|row| {
        let name = row.text(0)?.trim_end();
        Some((name, row.get::<f64>(1).ok()?))
    });
    let values: BTreeMap<&str, f64> = values.collect();
    METRICS
        .iter()
        .filter_map(|(name, metric)| {
            let value = *values.get(name)?;
            let value = match *name {
                LOOKUPS => (value - values.get(READS)?).max(0.0),
                MEMORY => value * 1024.0,
                _ => value,
            };
            Some((*metric, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_record::WaitState;

    use super::*;

    fn row(texts: &[&str]) -> TextRow {
        TextRow(texts.iter().map(|text| Some((*text).to_owned())).collect())
    }

    /// Names and kinds as the manual lists them; the counters of an instance are padded to 128 characters.
    #[test]
    fn counters_are_read_as_metrics() {
        let padded = format!("{:<128}", "Log Flushes/sec");
        let metrics = counters(&[
            row(&["Write Transactions/sec", "16717"]),
            row(&["Page lookups/sec", "914"]),
            row(&["Page reads/sec", "165"]),
            row(&[&padded, "77"]),
            row(&["User Connections", "9"]),
            row(&["Page life expectancy", "300"]),
            row(&["Total Server Memory (KB)", "2048"]),
        ]);
        let expected = [
            (Metric::DbCommits, 16717.0),
            (Metric::DbBufferHits, 749.0),
            (Metric::DbBufferReads, 165.0),
            (Metric::DbLogWrites, 77.0),
            (Metric::DbMemory, 2_097_152.0),
            (Metric::DbConnections, 9.0),
        ];
        assert_eq!(metrics, expected);
    }

    #[test]
    fn waits_for_files_are_a_share_of_time() {
        let mut read = row(&["1000", "2500", "400", "80", "910"]);
        let expected = [1000.0, 250.0, 400.0, 8.0, 91.0];
        let values = |rows: &[TextRow]| files(rows).iter().map(|own| own.1).collect::<Vec<_>>();
        assert_eq!(values(&[read.clone()]), expected);
        read.0[4] = None;
        assert_eq!(values(&[read]), expected[..4], "a login that sees no log");
        assert!(files(&[]).is_empty());
    }

    #[test]
    fn each_metric_is_read_once() {
        let of_counters = METRICS.iter().map(|(_, metric)| *metric);
        let of_files = FILE_METRICS.iter().map(|(metric, _)| *metric);
        let mut metrics: Vec<Metric> = of_counters.chain(of_files).collect();
        metrics.sort();
        metrics.dedup();
        assert_eq!(metrics.len(), METRICS.len() + FILE_METRICS.len());
    }

    #[test]
    fn a_session_is_in_the_state_of_its_request() {
        let state = |texts: &[&str]| session_count(&row(texts)).unwrap();
        let waits = state(&["1", "WRITELOG", "1", "7"]);
        assert_eq!((waits.state, waits.sessions), (WaitState::Log, 7));
        assert_eq!(waits.event, "WRITELOG");
        assert_eq!(state(&["1", "", "1", "2"]).state, WaitState::Cpu);
        assert_eq!(state(&["0", "", "1", "2"]).state, WaitState::Client);
        assert_eq!(state(&["0", "", "0", "2"]).state, WaitState::Idle);
    }

    #[test]
    fn a_view_that_is_missing_is_not_shown() {
        let missing = LoadError::other(DOING, "Invalid object name (error 208)");
        assert!(matches!(is_shown(Err(missing)), Ok(false)));
        let lost = LoadError::Died {
            what: "the connection".into(),
            why: "gone".into(),
            next: String::new(),
            log: String::new(),
        };
        assert!(is_shown(Err(lost)).is_err());
    }
}
