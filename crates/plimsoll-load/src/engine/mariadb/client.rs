//! The connection for everything that is not measured.

use std::io::{self, Write};

use tokio::runtime::{Builder, Handle, Runtime};

use super::connect::connect;
use super::failure::{MariadbFailure, server_error};
use super::login::MariadbConnection;
use super::protocol::MariadbWire;
use super::tsv::TsvSink;
use crate::engine::LoadControl;
use crate::engine::sql::part::TablePart;
use crate::engine::sql::{ClientRoute, ServerClient, SqlClient, TextRow};
use crate::error::LoadError;

/// What LOAD DATA names; its content is made in memory.
const FILE: &str = "part";

/// Blocks its caller, who must not be driving a runtime, while it waits for an answer.
pub(crate) struct MariadbClient {
    connection: MariadbConnection,
    runtime: ClientRuntime,
}

/// What drives the connection.
enum ClientRuntime {
    Own(Runtime),
    /// Another thread's, which drives it meanwhile.
    Others(Handle),
}

impl ClientRuntime {
    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        match self {
            Self::Own(runtime) => runtime.block_on(work),
            Self::Others(handle) => handle.block_on(work),
        }
    }
}

impl MariadbClient {
    pub fn connect(conninfo: &str) -> Result<Self, LoadError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LoadError::other("starting a runtime", error))?;
        Self::connect_by(conninfo, ClientRuntime::Own(runtime))
    }

    /// Of a runtime that another thread drives until the connection is given to it.
    pub fn connect_on(conninfo: &str, handle: Handle) -> Result<Self, LoadError> {
        Self::connect_by(conninfo, ClientRuntime::Others(handle))
    }

    /// With `schema` as its database, which must exist.
    #[cfg(test)]
    pub fn connect_to(conninfo: &str, schema: &str) -> Result<Self, LoadError> {
        let mut client = Self::connect(conninfo)?;
        let used = client.query(&format!("USE `{schema}`"));
        used.map_err(|failure| server_error(&format!("schema {schema}"), &failure))?;
        Ok(client)
    }

    fn connect_by(conninfo: &str, runtime: ClientRuntime) -> Result<Self, LoadError> {
        let connection = runtime.block_on(connect(conninfo))?;
        Ok(Self {
            connection,
            runtime,
        })
    }

    pub(super) fn into_connection(self) -> MariadbConnection {
        self.connection
    }

    /// A statement whose rows nobody wants.
    pub fn query(&mut self, sql: &str) -> Result<(), MariadbFailure> {
        self.results(sql).map(drop)
    }

    /// The rows of each result.
    pub fn results(&mut self, sql: &str) -> Result<Vec<Vec<TextRow>>, MariadbFailure> {
        self.runtime.block_on(self.connection.wire.text(sql))
    }
}

impl SqlClient for MariadbClient {
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        let results = self.results(sql);
        let results = results.map_err(|failure| server_error(doing, &failure))?;
        Ok(results.into_iter().next().unwrap_or_default())
    }
}

impl ServerClient for MariadbClient {
    fn id(&mut self) -> Result<u32, LoadError> {
        Ok(self.connection.id)
    }

    fn route(&self) -> ClientRoute {
        ClientRoute {
            announced_id: Some(self.connection.id),
            without_tls: self.connection.without_tls.clone(),
        }
    }

    /// One LOAD DATA.
    fn fill(&mut self, part: &TablePart, control: &LoadControl) -> Result<(), LoadError> {
        let table = part.table();
        let columns = part.columns().join(", ");
        let sql = format!(
            "LOAD DATA LOCAL INFILE '{FILE}' INTO TABLE {table} CHARACTER SET latin1 ({columns})"
        );
        let doing = format!("filling table {table}");
        let failed = |failure| server_error(&doing, &failure);
        let Self {
            connection: MariadbConnection { wire, .. },
            runtime,
        } = self;
        runtime
            .block_on(wire.begin_load(&sql, FILE))
            .map_err(failed)?;
        let mut rows = TsvSink::new(LoadedFile { wire, runtime }, control);
        part.fill(&mut rows);
        let written = rows.end();
        // The reason, if the server gave one, is the answer to the whole file.
        let loaded = runtime.block_on(wire.end_load());
        control.check()?;
        loaded.map_err(failed)?;
        written.map_err(|error| LoadError::other(&doing, error))
    }
}

/// Sends what is written as the file of a LOAD DATA.
struct LoadedFile<'a> {
    wire: &'a mut MariadbWire,
    runtime: &'a ClientRuntime,
}

impl Write for LoadedFile<'_> {
    /// In pieces that are far from a packet's limit, and never empty: that would be the end.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if !data.is_empty() {
            let sent = self.runtime.block_on(self.wire.send_packet(data));
            sent.map_err(|failure| io::Error::other(failure.text()))?;
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
