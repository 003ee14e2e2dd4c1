//! One virtual user's connection.

use plimsoll_plan::resolved::ServerKind;
use tokio::runtime::Handle;

use super::DIALECT;
use super::client::MariadbClient;
use super::codec::{ColumnKind, values};
use super::connect::kind_of;
use super::dialect::TABLE_SYNTAX;
use super::failure::MariadbFailure;
use super::login::MariadbConnection;
use super::protocol::{MariadbStatement, MariadbWire};
use super::statements::{Text, Texts, texts};
use crate::engine::ServerConnection;
use crate::engine::sql::error::not_loaded;
use crate::engine::sql::guard::{self, Use};
use crate::error::LoadError;
use crate::session::SessionError;
use crate::workload::statement::{Param, Rows, SqlSession, TableSyntax, TxnAccess, Value};
use crate::workload::work::{SessionWork, WorkKind};

/// Fails where the procedures are not.
const SHOW: &str = "SHOW CREATE PROCEDURE plimsoll_new_order";

/// A connection with what its work needs.
pub struct MariadbSession {
    pub(super) wire: MariadbWire,
    /// The server's number of the connection.
    #[cfg(test)]
    pub id: u32,
    /// By their numbers.
    prepared: Vec<PreparedStatement>,
    /// Whether a transaction that only reads must ask to keep its snapshot.
    asks_for_snapshot: bool,
    /// A CALL's text, written anew for each.
    pub(super) call_text: String,
    pub(super) round_trips: u64,
}

/// What does a statement of the workload.
struct PreparedStatement {
    change: Option<PreparedText>,
    text: PreparedText,
    after: Option<PreparedText>,
}

/// One of a statement's requests.
#[derive(Debug, Clone, Copy)]
enum RequestPart {
    Change,
    Text,
    After,
}

impl PreparedStatement {
    const fn part(&mut self, part: RequestPart) -> Option<&mut PreparedText> {
        match part {
            RequestPart::Change => self.change.as_mut(),
            RequestPart::Text => Some(&mut self.text),
            RequestPart::After => self.after.as_mut(),
        }
    }
}

struct PreparedText {
    statement: MariadbStatement,
    /// Which parameter stands at each `?`.
    params: Vec<usize>,
}

impl ServerConnection for MariadbSession {
    async fn connect(conninfo: &str, schema: &str, work: &SessionWork) -> Result<Self, LoadError> {
        let connection = open(conninfo, schema, work.data).await?;
        let mut session = Self {
            wire: connection.wire,
            #[cfg(test)]
            id: connection.id,
            prepared: Vec::new(),
            asks_for_snapshot: false,
            call_text: String::new(),
            round_trips: 0,
        };
        let prepared = session.prepare(work, kind_of(conninfo)).await;
        prepared.map_err(|failure| unprepared(work.data, schema, &failure))?;
        Ok(session)
    }

    #[cfg(test)]
    async fn connection_id(&mut self) -> u32 {
        self.id
    }
}

impl MariadbSession {
    async fn prepare(
        &mut self,
        work: &SessionWork,
        server: ServerKind,
    ) -> Result<(), MariadbFailure> {
        if matches!(work.kind, WorkKind::TpccProcedures) {
            // Fails where the procedure is not.
            return self.wire.query(SHOW).await;
        }
        for statement in &work.statements {
            let prepared = prepare(&mut self.wire, texts(statement, server)).await?;
            self.prepared.push(prepared);
        }
        if work.has_transactions {
            self.asks_for_snapshot = keeps_no_snapshot(&mut self.wire).await?;
            // From now on a transaction begins with its first statement, without a round trip of its own.
            self.wire.query("SET autocommit = 0").await?;
        }
        Ok(())
    }

    /// A statement that is not prepared, without a result.
    pub(super) async fn control(&mut self, sql: &str) -> Result<(), SessionError> {
        self.round_trips += 1;
        self.wire.query(sql).await.map_err(error)
    }

    /// Sends one request and hands its rows to `each`.
    async fn request(
        &mut self,
        part: RequestPart,
        statement: usize,
        params: &[Param<'_>],
        each: impl FnMut(&[u8], &[ColumnKind]) -> Result<(), String>,
    ) -> Result<(), SessionError> {
        let Some(own) = self.prepared[statement].part(part) else {
            return Ok(());
        };
        self.round_trips += 1;
        let bound = own.params.iter();
        let bound = bound.map(|&i| params.get(i).copied().unwrap_or(Param::Null));
        let done = self.wire.execute(&mut own.statement, bound, each);
        done.await.map(drop).map_err(error)
    }
}

fn unread(_: &[u8], _: &[ColumnKind]) -> Result<(), String> {
    Ok(())
}

/// A connection to the schema that keeps loaders out of it as long as it lives. Waits for the schema on a thread that is not
/// that of other sessions: they go on when one of them opens again.
async fn open(
    conninfo: &str,
    schema: &str,
    data: &'static str,
) -> Result<MariadbConnection, LoadError> {
    let conninfo = conninfo.to_owned();
    let schema = schema.to_owned();
    let handle = Handle::current();
    let opened = tokio::task::spawn_blocking(move || {
        let mut client = MariadbClient::connect_on(&conninfo, handle)?;
        let used = client.query(&DIALECT.of_schema(DIALECT.use_schema, &schema));
        used.map_err(|failure| unprepared(data, &schema, &failure))?;
        guard::take(&mut client, &DIALECT, &schema, Use::Keep)?;
        Ok(client.into_connection())
    });
    opened
        .await
        .map_err(|error| LoadError::other("opening a session", error))?
}

/// An error of preparing what a session needs.
fn unprepared(data: &str, schema: &str, failure: &MariadbFailure) -> LoadError {
    let error = failure.classify();
    error.of_preparing(|searched| not_loaded(data, schema, searched))
}

async fn prepare(
    wire: &mut MariadbWire,
    texts: Texts,
) -> Result<PreparedStatement, MariadbFailure> {
    let Texts {
        change,
        text,
        after,
    } = texts;
    Ok(PreparedStatement {
        change: prepare_if_any(wire, change).await?,
        text: prepare_one(wire, text).await?,
        after: prepare_if_any(wire, after).await?,
    })
}

async fn prepare_if_any(
    wire: &mut MariadbWire,
    text: Option<Text>,
) -> Result<Option<PreparedText>, MariadbFailure> {
    Ok(match text {
        None => None,
        Some(text) => Some(prepare_one(wire, text).await?),
    })
}

async fn prepare_one(wire: &mut MariadbWire, text: Text) -> Result<PreparedText, MariadbFailure> {
    let Text { sql, params } = text;
    let statement = wire.prepare(&sql).await?;
    Ok(PreparedText { statement, params })
}

/// A server whose default is READ COMMITTED reads anew with each statement.
async fn keeps_no_snapshot(wire: &mut MariadbWire) -> Result<bool, MariadbFailure> {
    let names = "SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')";
    let rows = wire.text(names).await?.concat();
    let level = rows.first().and_then(|row| row.text(1));
    Ok(!matches!(level, Some("REPEATABLE-READ" | "SERIALIZABLE")))
}

pub(super) fn error(failure: MariadbFailure) -> SessionError {
    failure.classify().of_session()
}

impl SqlSession for MariadbSession {
    /// Due to `autocommit = 0` the next statement begins it.
    async fn begin(&mut self, access: TxnAccess) -> Result<(), SessionError> {
        if access == TxnAccess::ReadSnapshot && self.asks_for_snapshot {
            let sql = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
            self.control(sql).await?;
        }
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.control("COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.control("ROLLBACK").await
    }

    async fn query(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<Rows, SessionError> {
        let statement = statement.into();
        let mut rows = Rows::new();
        self.request(RequestPart::Change, statement, params, unread)
            .await?;
        self.request(RequestPart::Text, statement, params, |row, columns| {
            rows.push(values(row, columns)?);
            Ok(())
        })
        .await?;
        if let Some(Value::Int(found)) = rows.first().and_then(|row| row.first()) {
            let found = [params, &[Param::Int(*found)]].concat();
            self.request(RequestPart::After, statement, &found, unread)
                .await?;
        }
        Ok(rows)
    }

    async fn execute(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<(), SessionError> {
        let statement = statement.into();
        self.request(RequestPart::Change, statement, params, unread)
            .await?;
        self.request(RequestPart::Text, statement, params, unread)
            .await
    }

    async fn execute_text(&mut self, sql: &str) -> Result<(), SessionError> {
        self.control(sql).await
    }

    fn table_syntax(&self) -> &'static TableSyntax {
        &TABLE_SYNTAX
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}
