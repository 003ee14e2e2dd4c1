//! The connection for everything that is not measured.

use tiberius::Row;
use tokio::runtime::{Builder, Runtime};

use super::bulk;
use super::connect::{Tds, connect};
use super::failure::server_error;
use super::values::text;
use crate::engine::LoadControl;
use crate::engine::sql::part::TablePart;
use crate::engine::sql::{ServerClient, SqlClient, TextRow};
use crate::error::LoadError;

/// Drives its connection on a runtime of its own while it waits for an answer. Not for threads that are driving a
/// runtime already.
pub(super) struct SqlserverClient {
    client: Tds,
    runtime: Runtime,
}

impl SqlserverClient {
    pub fn connect(conninfo: &str) -> Result<Self, LoadError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LoadError::other("starting a runtime", error))?;
        let client = runtime.block_on(connect(conninfo))?;
        Ok(Self { client, runtime })
    }
}

/// The rows of the last statement of a batch that has any.
pub(super) async fn rows(
    client: &mut Tds,
    doing: &str,
    sql: &str,
) -> Result<Vec<TextRow>, LoadError> {
    let answer = match client.simple_query(sql).await {
        Ok(answer) => answer.into_results().await,
        Err(error) => Err(error),
    };
    let results = answer.map_err(|error| server_error(doing, &error))?;
    let last = results.into_iter().rfind(|rows| !rows.is_empty());
    Ok(last.unwrap_or_default().into_iter().map(text_row).collect())
}

fn text_row(row: Row) -> TextRow {
    TextRow(row.into_iter().map(text).collect())
}

impl SqlClient for SqlserverClient {
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        self.runtime.block_on(rows(&mut self.client, doing, sql))
    }
}

impl ServerClient for SqlserverClient {
    fn id(&mut self) -> Result<u32, LoadError> {
        self.row("connecting", "SELECT CAST(@@SPID AS int)")?.get(0)
    }

    fn fill(&mut self, part: &TablePart, control: &LoadControl) -> Result<(), LoadError> {
        bulk::fill(&mut self.client, &self.runtime, part, control)
    }
}
