//! The connection for everything that is not measured.

use std::io::{self, Write};
use std::pin::Pin;

use bytes::Bytes;
use futures_util::SinkExt;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, CopyInSink, Error, SimpleQueryMessage};

use super::connect::{Connected, connect_to, server_error};
use super::copy::CopySink;
use crate::engine::LoadControl;
use crate::engine::sql::part::TablePart;
use crate::engine::sql::{ClientRoute, ServerClient, SqlClient, TextRow};
use crate::error::LoadError;

/// Drives its connection on a runtime of its own while it waits for an answer. Not for threads that are driving a
/// runtime already.
pub struct PostgresClient {
    client: Client,
    runtime: Runtime,
    route: ClientRoute,
}

impl PostgresClient {
    pub fn connect(conninfo: &str) -> Result<Self, LoadError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| LoadError::other("starting a runtime", error))?;
        let Connected { client, route } = runtime.block_on(connect_to(conninfo))?;
        Ok(Self {
            client,
            runtime,
            route,
        })
    }
}

impl SqlClient for PostgresClient {
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        let answer = self.runtime.block_on(self.client.simple_query(sql));
        let answer = answer.map_err(|error| server_error(doing, &error))?;
        let mut rows = Vec::new();
        for message in answer {
            match message {
                SimpleQueryMessage::RowDescription(_) => rows.clear(),
                SimpleQueryMessage::Row(row) => {
                    rows.push(TextRow(
                        (0..row.len())
                            .map(|column| row.get(column).map(str::to_owned))
                            .collect(),
                    ));
                }
                _ => {}
            }
        }
        Ok(rows)
    }
}

impl ServerClient for PostgresClient {
    fn id(&mut self) -> Result<u32, LoadError> {
        self.row("connecting", "SELECT pg_catalog.pg_backend_pid()")?
            .get(0)
    }

    fn route(&self) -> ClientRoute {
        self.route.clone()
    }

    /// One COPY.
    fn fill(&mut self, part: &TablePart, control: &LoadControl) -> Result<(), LoadError> {
        let table = part.table();
        let columns = part.columns();
        let failed = |error: &Error| server_error(&format!("filling table {table}"), error);
        let list = columns.join(", ");
        let copy = format!("COPY {table} ({list}) FROM STDIN (FORMAT binary)");
        let sink = self.runtime.block_on(self.client.copy_in(&copy));
        let mut copy = Copy {
            runtime: &self.runtime,
            sink: Box::pin(sink.map_err(|error| failed(&error))?),
        };
        let mut rows = CopySink::new(columns.len(), &mut copy, control);
        part.fill(&mut rows);
        let written = rows.end();
        // Dropped, a COPY is undone.
        control.check()?;
        let done = self.runtime.block_on(copy.sink.as_mut().finish());
        // The reason, if the server gave one, comes as the answer to the whole COPY.
        done.map_err(|error| failed(&error))?;
        written.map_err(|error| LoadError::other(format!("filling table {table}"), error))
    }
}

/// Sends what is written as data of a COPY.
struct Copy<'a> {
    runtime: &'a Runtime,
    sink: Pin<Box<CopyInSink<Bytes>>>,
}

impl Write for Copy<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let sent = self.sink.send(Bytes::copy_from_slice(data));
        self.runtime.block_on(sent).map_err(io::Error::other)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
