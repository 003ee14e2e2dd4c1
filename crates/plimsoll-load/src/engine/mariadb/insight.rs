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
use crate::engine::readings::{Reading, SessionCount};
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
const VARIABLES: [(&str, Metric); 15] = [
    // Handler_commit counts statements within transactions, too: it would be several times the number of transactions.
    ("com_commit", Metric::DbCommits),
    ("com_rollback", Metric::DbRollbacks),
    (READ_REQUESTS, Metric::DbBufferHits),
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
];
const READ_REQUESTS: &str = "innodb_buffer_pool_read_requests";
const READS: &str = "innodb_buffer_pool_reads";

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
}

fn error(failure: MariadbFailure) -> LoadError {
    server_error("asking the server about itself", &failure)
}

impl MariadbInsight {
    /// InnoDB gathers what INNODB_TRX shows only when it was not read for 100 ms, since it locks all transactions to do
    /// so (CACHE_MIN_IDLE_TIME_NS in storage/innobase/trx/trx0i_s.cc); asked sooner, it shows the same again.
    pub const REST: Nanos = Nanos::from_millis(101);

    pub async fn connect(conninfo: &str, schema: &str) -> Result<Self, LoadError> {
        let MariadbConnection { mut wire, id: own } = connect(conninfo).await?;
        let size_of_files = match kind_of(conninfo) {
            ServerKind::Mysql => SIZE_OF_MYSQLS_FILES,
            ServerKind::Mariadb | ServerKind::Postgres | ServerKind::Sqlserver => SIZE_OF_FILES,
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
        let schema = schema.to_owned();
        Ok(Self {
            connection: MariadbConnection { wire, id: own },
            user: user.unwrap_or_default(),
            schema,
            read: read_statement(),
            size_of_files,
            sees_transactions,
        })
    }

    pub async fn sample_sessions(&mut self) -> Result<Vec<SessionCount>, LoadError> {
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
        let transaction = |row: &TextRow| Some((row.get(0).ok()?, row.text(1)?.to_owned()));
        let transactions = of(1).iter().filter_map(transaction).collect();
        let sessions = of(0).iter().map(ProcesslistRow::new).collect();
        Ok((sessions, transactions))
    }

    pub async fn read(&mut self) -> Result<Reading, LoadError> {
        let rows = self.connection.wire.text(&self.read).await;
        let rows = rows.map_err(error)?.concat();
        let pair = |row: TextRow| {
            let mut texts = row.into_texts();
            Some((texts.next()?, texts.next()?))
        };
        Ok(reading(rows.into_iter().filter_map(pair).collect()))
    }

    pub async fn size(&mut self) -> Result<Bytes, LoadError> {
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
    pub fn source(&self) -> String {
        let from = if self.sees_transactions {
            "SHOW PROCESSLIST, INNODB_TRX"
        } else {
            "SHOW PROCESSLIST"
        };
        format!("{from}; reads and writes of data and latches are not distinguished from cpu")
    }

    pub fn lacks(&self) -> Vec<EventKind> {
        if self.sees_transactions {
            return Vec::new();
        }
        vec![EventKind::NotShown {
            what: NotShown::Transactions,
            user: self.user.clone(),
            server: String::new(),
        }]
    }
}

fn read_statement() -> String {
    let names: Vec<String> = VARIABLES
        .iter()
        .map(|(name, _)| format!("'{name}'"))
        .collect();
    format!(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ({})",
        names.join(", ")
    )
}

/// Requests for pages are those that were found and those that were not.
fn reading(rows: Vec<(String, String)>) -> Reading {
    let values = rows
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_lowercase(), value.parse::<f64>().ok()?)));
    let values: BTreeMap<String, f64> = values.collect();
    VARIABLES
        .iter()
        .filter_map(|(name, metric)| {
            let value = *values.get(*name)?;
            let value = if *name == READ_REQUESTS {
                (value - values.get(READS)?).max(0.0)
            } else {
                value
            };
            Some((*metric, value))
        })
        .collect()
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
            (Metric::DbBufferHits, 749.0),
            (Metric::DbBufferReads, 165.0),
            (Metric::DbPurgeLag, 7.0),
            (Metric::DbCheckpointAge, 16.0),
        ];
        assert_eq!(
            metrics, expected,
            "what a server lacks, or reports as no number, is left out"
        );
    }

    #[test]
    fn each_metric_is_read_once() {
        let all: Vec<_> = VARIABLES
            .iter()
            .map(|(name, _)| ((*name).to_owned(), "1".to_owned()))
            .collect();
        let mut metrics: Vec<Metric> = reading(all).into_iter().map(|(metric, _)| metric).collect();
        metrics.sort();
        metrics.dedup();
        assert_eq!(metrics.len(), VARIABLES.len());
    }
}
