//! What a MariaDB server reports about itself: its status variables, and the states of its sessions.
//!
//! Nothing asked here reads a table, opens a transaction or is a COMMIT. The list of sessions is asked for with `SHOW`:
//! information_schema.PROCESSLIST makes a temporary table in files for each query, on the medium that is measured.

use std::collections::BTreeMap;

use plimsoll_plan::resolved::ServerKind;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::NotShown;
use plimsoll_record::metric::Metric;

use super::DIALECT;
use super::connect::{connect, kind_of};
use super::failure::{MariadbFailure, server_error};
use super::login::MariadbConnection;
use super::protocol::MariadbWire;
use crate::engine::readings::{Reading, ServerInsight, SessionCount};
use crate::engine::sql::TextRow;
use crate::error::LoadError;
use waits::ProcesslistRow;

mod waits;

/// Both in one request. INNODB_TRX needs the privilege PROCESS.
const SESSIONS: &str = "SHOW PROCESSLIST";
const SESSIONS_AND_TRANSACTIONS: &str =
    "SHOW PROCESSLIST; SELECT trx_mysql_thread_id, trx_state FROM information_schema.INNODB_TRX";

/// Of the files; names there are in the charset of file names. Needs the privilege PROCESS.
const SIZE_OF_FILES: &str = "SELECT CAST(COALESCE(SUM(FILE_SIZE), 0) AS UNSIGNED)
    FROM information_schema.INNODB_SYS_TABLESPACES
    WHERE SUBSTRING_INDEX(NAME, '/', 1) = CONVERT(CAST(CONVERT({schema} USING filename) AS BINARY) USING utf8mb4)";
/// MySQL has no charset of file names in SQL; the names of plimsoll's own schemas are the same in it.
const SIZE_OF_MYSQLS_FILES: &str = "SELECT CAST(COALESCE(SUM(FILE_SIZE), 0) AS UNSIGNED)
    FROM information_schema.INNODB_TABLESPACES WHERE SUBSTRING_INDEX(NAME, '/', 1) = {schema}";
/// As statistics of the tables have it.
const SIZE_OF_TABLES: &str = "SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED)
    FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema}";

const ACCESS_DENIED: u16 = 1227;

/// A status variable (manual, "InnoDB Status Variables", "Server Status Variables") and its metric. A server is asked for
/// all and gives those that it has.
const VARIABLES: [(&str, Metric); 16] = [
    // Handler_commit counts statements within transactions, too: it would be several times the number of transactions.
    ("com_commit", Metric::DbCommits),
    ("com_rollback", Metric::DbRollbacks),
    (READS, Metric::DbBufferReads),
    ("innodb_deadlocks", Metric::DbDeadlocks),
    ("innodb_os_log_written", Metric::DbLogBytes),
    ("innodb_log_writes", Metric::DbLogWrites),
    // Up to 10.7.
    ("innodb_os_log_fsyncs", Metric::DbLogSyncs),
    ("innodb_data_fsyncs", Metric::DbSyncs),
    ("created_tmp_disk_tables", Metric::DbTempTables),
    ("innodb_row_lock_current_waits", Metric::DbLockWaiters),
    ("innodb_row_lock_waits", Metric::DbLockWaits),
    ("innodb_history_list_length", Metric::DbPurgeLag),
    ("innodb_checkpoint_age", Metric::DbCheckpointAge),
    ("threads_connected", Metric::DbConnections),
    ("innodb_data_reads", Metric::DbFileReads),
    // MariaDB's.
    (WRITTEN_FOR_ROOM, Metric::DbLazyWrites),
];
const READS: &str = "innodb_buffer_pool_reads";
const WRITTEN_FOR_ROOM: &str = "innodb_buffer_pool_pages_lru_flushed";

/// Those that contain another one, without it: requests for pages that were found, pages that were not written for room.
const WITHOUT: [(&str, &str, Metric); 2] = [
    (
        "innodb_buffer_pool_read_requests",
        READS,
        Metric::DbBufferHits,
    ),
    (
        "innodb_buffer_pool_pages_flushed",
        WRITTEN_FOR_ROOM,
        Metric::DbCheckpointPages,
    ),
];

/// Requests to files and their waits (manual, "File I/O Summary Tables"), in picoseconds. Nothing where the server does not
/// time them: MariaDB does it with `performance_schema = ON` only.
const FILES: &str = "SELECT EVENT_NAME, COUNT_READ, SUM_TIMER_READ, COUNT_WRITE, SUM_TIMER_WRITE
    FROM performance_schema.file_summary_by_event_name
    WHERE EVENT_NAME IN ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file')";
/// Whether the server times them at all.
const TIMES_FILES: &str = "SELECT @@performance_schema";
/// A counter of picoseconds over this, per second, is a share in percent.
const PICOS_PER_PERCENT: f64 = 1e10;

/// A connection that asks.
pub struct MariadbInsight {
    connection: MariadbConnection,
    /// Sessions of plimsoll's are those of this user in this schema.
    user: String,
    schema: String,
    read: String,
    size_of_files: &'static str,
    /// Whether the privilege PROCESS is there.
    sees_transactions: bool,
    files: FileTimes,
}

/// What the server shows of requests to its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileTimes {
    Shown,
    /// The server times none, whoever asks.
    Off,
    /// Not to this user.
    Hidden,
}

fn error(failure: MariadbFailure) -> LoadError {
    server_error("asking the server about itself", &failure)
}

impl MariadbInsight {
    /// All sessions that are shown, and states of transactions by their sessions.
    async fn sessions(
        &mut self,
    ) -> Result<(Vec<ProcesslistRow>, BTreeMap<u64, String>), MariadbFailure> {
        let sql = if self.sees_transactions {
            SESSIONS_AND_TRANSACTIONS
        } else {
            SESSIONS
        };
        let results = self.connection.wire.text(sql).await?;
        let of = |result: usize| results.get(result).map_or(&[][..], Vec::as_slice);
        let transactions = of(1).iter().filter_map(transaction).collect();
        let sessions = of(0).iter().map(ProcesslistRow::new).collect();
        Ok((sessions, transactions))
    }
}

impl ServerInsight for MariadbInsight {
    /// InnoDB gathers what INNODB_TRX shows only when it was not read for 100 ms, since it locks all transactions to do
    /// so (CACHE_MIN_IDLE_TIME_NS in storage/innobase/trx/trx0i_s.cc); asked sooner, it shows the same again.
    fn rest(&self) -> Nanos {
        Nanos::from_millis(101)
    }

    async fn connect(conninfo: &str, schema: &str) -> Result<Self, LoadError> {
        let MariadbConnection {
            mut wire,
            id: own,
            without_tls,
        } = connect(conninfo).await?;
        let size_of_files = match kind_of(conninfo) {
            ServerKind::Mysql => SIZE_OF_MYSQLS_FILES,
            _ => SIZE_OF_FILES,
        };
        // A default of 0 would leave transactions open.
        let set = wire.query("SET SESSION autocommit = 1").await;
        set.map_err(error)?;
        let sessions = wire.text(SESSIONS).await.map_err(error)?.concat();
        let user = sessions
            .iter()
            .map(ProcesslistRow::new)
            .find(|session| session.id == u64::from(own))
            .map(|session| session.user);
        let sees_transactions = match wire.query(&DIALECT.of_schema(size_of_files, schema)).await {
            Ok(()) => true,
            Err(refused) if refused.code == Some(ACCESS_DENIED) => false,
            Err(other) => return Err(error(other)),
        };
        let files = file_times(&mut wire).await.map_err(error)?;
        let schema = schema.to_owned();
        Ok(Self {
            connection: MariadbConnection {
                wire,
                id: own,
                without_tls,
            },
            user: user.unwrap_or_default(),
            schema,
            read: read_statement(),
            size_of_files,
            sees_transactions,
            files,
        })
    }

    async fn sample_sessions(&mut self) -> Result<Vec<SessionCount>, LoadError> {
        let (sessions, transactions) = self.sessions().await.map_err(error)?;
        let own = u64::from(self.connection.id);
        let mut counts = BTreeMap::new();
        for session in &sessions {
            let is_theirs = session.id != own
                && session.user == self.user
                && session.schema.as_deref() == Some(&*self.schema);
            if !is_theirs {
                continue;
            }
            let transaction = transactions.get(&session.id).map(String::as_str);
            *counts
                .entry(waits::classify(session, transaction))
                .or_insert(0) += 1;
        }
        Ok(counts
            .into_iter()
            .map(|((state, event), sessions)| SessionCount {
                state,
                event: event.into(),
                sessions,
            })
            .collect())
    }

    async fn read(&mut self) -> Result<Reading, LoadError> {
        let wire = &mut self.connection.wire;
        let variables = wire.text(&self.read).await.map_err(error)?.concat();
        let mut reading = reading(variables.into_iter().filter_map(pair).collect());
        if self.files == FileTimes::Shown {
            let files = wire.text(FILES).await.map_err(error)?.concat();
            let files = of_files(&files);
            // Data files alone, and not temporary ones as well.
            reading.retain(|(metric, _)| files.iter().all(|(own, _)| own != metric));
            reading.extend(files);
        }
        Ok(reading)
    }

    async fn size(&mut self) -> Result<Bytes, LoadError> {
        let sql = if self.sees_transactions {
            self.size_of_files
        } else {
            SIZE_OF_TABLES
        };
        let sql = DIALECT.of_schema(sql, &self.schema);
        let rows = self.connection.wire.text(&sql).await;
        let rows = rows.map_err(error)?.concat();
        let size = rows.first().map_or(Ok(0), |row| row.get(0))?;
        Ok(Bytes(size))
    }

    /// Names what this server never reports: it is no fault of this run.
    fn source(&self) -> String {
        let from = if self.sees_transactions {
            "SHOW PROCESSLIST, INNODB_TRX"
        } else {
            "SHOW PROCESSLIST"
        };
        format!("{from}; reads and writes of data and latches are not distinguished from cpu")
    }

    fn lacks(&self) -> Vec<EventKind> {
        let lacks = [
            (!self.sees_transactions, NotShown::Transactions),
            (self.files == FileTimes::Hidden, NotShown::Files),
        ];
        let hidden = lacks.into_iter().filter(|(is_lacking, _)| *is_lacking);
        hidden
            .map(|(_, what)| EventKind::NotShown {
                what,
                user: self.user.clone(),
                server: String::new(),
            })
            .collect()
    }
}

async fn file_times(wire: &mut MariadbWire) -> Result<FileTimes, MariadbFailure> {
    match wire.query(FILES).await {
        Ok(()) => return Ok(FileTimes::Shown),
        Err(failure) if failure.is_lost => return Err(failure),
        Err(_) => {}
    }
    let times = wire.text(TIMES_FILES).await?.concat();
    Ok(match times.first() {
        Some(row) if row.flag(0) => FileTimes::Hidden,
        _ => FileTimes::Off,
    })
}

fn pair(row: TextRow) -> Option<(String, String)> {
    let mut texts = row.into_texts();
    Some((texts.next()?, texts.next()?))
}

/// A session's number and its transaction's state.
fn transaction(row: &TextRow) -> Option<(u64, String)> {
    Some((row.get(0).ok()?, row.text(1)?.to_owned()))
}

fn read_statement() -> String {
    let single = VARIABLES.iter().map(|(name, _)| *name);
    let whole = WITHOUT.iter().map(|(name, ..)| *name);
    let names: Vec<String> = single
        .chain(whole)
        .map(|name| format!("'{name}'"))
        .collect();
    format!(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ({})",
        names.join(", ")
    )
}

fn reading(rows: Vec<(String, String)>) -> Reading {
    let values = rows
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_lowercase(), value.parse::<f64>().ok()?)));
    let values: BTreeMap<String, f64> = values.collect();
    let single = VARIABLES
        .iter()
        .filter_map(|(name, metric)| Some((*metric, *values.get(*name)?)));
    let without = WITHOUT.iter().filter_map(|(whole, part, metric)| {
        let rest = values.get(*whole)? - values.get(*part)?;
        Some((*metric, rest.max(0.0)))
    });
    single.chain(without).collect()
}

/// Of rows of [`FILES`].
fn of_files(rows: &[TextRow]) -> Reading {
    let mut reading = Reading::new();
    for row in rows {
        let number = |column: usize| row.get::<f64>(column).unwrap_or_default();
        if row.text(0).is_some_and(|event| event.ends_with("log_file")) {
            reading.push((Metric::DbLogWriteTime, number(4) / PICOS_PER_PERCENT));
        } else {
            reading.extend([
                (Metric::DbFileReads, number(1)),
                (Metric::DbFileReadTime, number(2) / PICOS_PER_PERCENT),
                (Metric::DbFileWrites, number(3)),
                (Metric::DbFileWriteTime, number(4) / PICOS_PER_PERCENT),
            ]);
        }
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn variables_are_read_as_metrics() {
        let metrics = reading(rows(&[
            ("Com_commit", "16717"),
            ("Innodb_buffer_pool_read_requests", "914"),
            ("Innodb_buffer_pool_reads", "165"),
            ("Innodb_checkpoint_age", "16"),
            ("Innodb_history_list_length", "7"),
            ("Innodb_buffer_pool_load_status", "completed"),
            ("Innodb_row_lock_waits", ""),
        ]));
        let expected = [
            (Metric::DbCommits, 16717.0),
            (Metric::DbBufferReads, 165.0),
            (Metric::DbPurgeLag, 7.0),
            (Metric::DbCheckpointAge, 16.0),
            (Metric::DbBufferHits, 749.0),
        ];
        assert_eq!(
            metrics, expected,
            "what a server lacks, or reports as no number, is left out"
        );
    }

    #[test]
    fn each_metric_is_read_once() {
        let single = VARIABLES.iter().map(|(name, _)| *name);
        let names = single.chain(WITHOUT.iter().map(|(name, ..)| *name));
        let all: Vec<_> = names
            .map(|name| (name.to_owned(), "1".to_owned()))
            .collect();
        let mut metrics: Vec<Metric> = reading(all).into_iter().map(|(metric, _)| metric).collect();
        metrics.sort();
        metrics.dedup();
        assert_eq!(metrics.len(), VARIABLES.len() + WITHOUT.len());
    }

    #[test]
    fn waits_for_files_are_shares_of_the_time() {
        let row = |event: &str, numbers: [&str; 4]| {
            let event = format!("wait/io/file/innodb/{event}");
            let numbers = numbers.map(|text| Some(text.to_owned()));
            TextRow([Some(event)].into_iter().chain(numbers).collect())
        };
        let rows = [
            row("innodb_data_file", ["12", "20000000000", "7", "5000000000"]),
            row("innodb_log_file", ["1", "2", "30", "990000000000"]),
        ];
        let expected = [
            (Metric::DbFileReads, 12.0),
            (Metric::DbFileReadTime, 2.0),
            (Metric::DbFileWrites, 7.0),
            (Metric::DbFileWriteTime, 0.5),
            (Metric::DbLogWriteTime, 99.0),
        ];
        assert_eq!(of_files(&rows), expected);
    }
}
