//! One virtual user's connection.

use std::fmt;

use futures_util::TryStreamExt;
use plimsoll_plan::resolved::TxnMode;
use tiberius::{Command, CommandItem, QueryItem, ToSql};

use super::client::rows;
use super::connect::{Tds, connect};
use super::dialect::{DIALECT, try_lock};
use super::failure::SqlserverFailure;
use super::statements::text;
use super::values::{RpcParam, amount, value};
use crate::engine::Session;
use crate::engine::sql::error::not_loaded;
use crate::engine::sql::guard::{self, Use};
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{Param, Rows, Statements};
use crate::workload::tpcc::input::{self, CustomerBy};
use crate::workload::tpcc::rows::TpccTable;
use crate::workload::tpcc::sql::TpccStmt;
use crate::workload::tpcc::transactions;
use crate::workload::{Input, sysbench};

/// The error that `plimsoll_new_order` throws for an unused item.
const UNUSED_ITEM: u32 = 50_001;

/// Ends what an error may have left open.
const ROLL_BACK: &str = "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION";
/// From now on a transaction begins with its first statement, without a round trip of its own.
const WITHOUT_BEGIN: &str = "SET IMPLICIT_TRANSACTIONS ON";

/// A connection with what its work needs.
pub struct SqlserverSession {
    client: Tds,
    pub(super) work: SqlserverWork,
    /// That of the last transaction.
    isolation: Isolation,
    /// That of transactions that only read: they see one state of the data.
    of_readers: Isolation,
    round_trips: u64,
}

/// What the session's statements are for.
pub(super) enum SqlserverWork {
    Procedures,
    /// By [`TpccStmt`].
    Statements(Vec<String>),
    /// `texts` in the order of `prepared`.
    Sysbench {
        prepared: sysbench::sql::Prepared,
        texts: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Isolation {
    ReadCommitted,
    RepeatableRead,
    Snapshot,
}

impl Isolation {
    fn text(self) -> &'static str {
        match self {
            Self::ReadCommitted => "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            Self::RepeatableRead => "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            Self::Snapshot => "SET TRANSACTION ISOLATION LEVEL SNAPSHOT",
        }
    }
}

impl SqlserverWork {
    fn data(&self) -> &'static str {
        match self {
            Self::Procedures | Self::Statements(_) => "TPC-C",
            Self::Sysbench { .. } => "sysbench",
        }
    }

    fn texts(&self) -> &[String] {
        match self {
            Self::Procedures => &[],
            Self::Statements(texts) | Self::Sysbench { texts, .. } => texts,
        }
    }
}

/// What a session is opened for.
pub(super) struct Opening {
    pub work: SqlserverWork,
    /// Fails where the work has nothing to work on.
    pub probe: String,
    /// Whether its transactions are of several statements.
    pub has_transactions: bool,
}

/// A row of each.
pub(super) fn probe<T: fmt::Display>(tables: impl IntoIterator<Item = T>) -> String {
    let tables = tables.into_iter();
    tables
        .map(|table| format!("SELECT TOP (1) 1 FROM {table};"))
        .collect()
}

impl SqlserverSession {
    /// Opens a connection and keeps loaders out of the schema as long as it lives.
    pub async fn open(conninfo: &str, schema: &str, mode: TxnMode) -> Result<Self, LoadError> {
        let opening = match mode {
            TxnMode::Procedures => Opening {
                work: SqlserverWork::Procedures,
                probe: "EXEC plimsoll_stock_level 1, 1, 10".into(),
                has_transactions: false,
            },
            TxnMode::Statements => {
                let texts = TpccStmt::ALL.iter().map(|&stmt| text(stmt));
                Opening {
                    work: SqlserverWork::Statements(texts.collect()),
                    probe: probe(TpccTable::ALL.iter().map(|table| table.name())),
                    has_transactions: true,
                }
            }
        };
        Self::prepare(conninfo, schema, opening).await
    }

    pub(super) async fn prepare(
        conninfo: &str,
        schema: &str,
        opening: Opening,
    ) -> Result<Self, LoadError> {
        let Opening {
            work,
            probe,
            has_transactions,
        } = opening;
        let mut client = connect(conninfo).await?;
        keep(&mut client, schema).await?;
        let data = work.data();
        let unprepared = |failure: SqlserverFailure| {
            let error = failure.classify();
            error.of_preparing(|searched| not_loaded(data, schema, searched))
        };
        let mut session = Self {
            client,
            work,
            isolation: Isolation::ReadCommitted,
            of_readers: Isolation::RepeatableRead,
            round_trips: 0,
        };
        let used = DIALECT.of_schema(DIALECT.use_schema, schema);
        for sql in [&used, Isolation::ReadCommitted.text(), &probe] {
            session.batch(sql).await.map_err(unprepared)?;
        }
        session.of_readers = readers(&mut session.client).await?;
        if has_transactions {
            session.batch(WITHOUT_BEGIN).await.map_err(unprepared)?;
        }
        session.round_trips = 0;
        Ok(session)
    }

    /// Statements that are executed as they are; their results are received and left unread.
    pub(super) async fn batch(&mut self, sql: &str) -> Result<(), SqlserverFailure> {
        self.round_trips += 1;
        let answer = self.client.simple_query(sql).await;
        let mut answer = answer.map_err(|error| SqlserverFailure::from(&error))?;
        while let Some(_item) = received(answer.try_next().await)? {}
        Ok(())
    }

    /// Executes the work's statement of this number.
    pub(super) async fn read(
        &mut self,
        statement: usize,
        params: &[Param<'_>],
    ) -> Result<Rows, SqlserverFailure> {
        self.round_trips += 1;
        let text = &self.work.texts()[statement];
        let params: Vec<RpcParam<'_>> = params.iter().copied().map(RpcParam).collect();
        let answer = self.client.query(text.as_str(), &dynamic(&params)).await;
        let mut answer = answer.map_err(|error| SqlserverFailure::from(&error))?;
        let mut rows = Rows::new();
        while let Some(item) = received(answer.try_next().await)? {
            if let QueryItem::Row(row) = item {
                rows.push(row.into_iter().map(value).collect::<Result<_, _>>()?);
            }
        }
        Ok(rows)
    }

    /// The same; gives how many rows it changed.
    async fn change(
        &mut self,
        statement: usize,
        params: &[Param<'_>],
    ) -> Result<u64, SqlserverFailure> {
        self.round_trips += 1;
        let text = &self.work.texts()[statement];
        let params: Vec<RpcParam<'_>> = params.iter().copied().map(RpcParam).collect();
        let changed = received(self.client.execute(text.as_str(), &dynamic(&params)).await)?;
        Ok(changed.total())
    }

    pub(super) async fn end(&mut self, sql: &str) -> Result<(), SessionError> {
        self.batch(sql).await.map_err(error)
    }

    pub(super) async fn roll_back(&mut self) -> Result<(), SessionError> {
        self.end(ROLL_BACK).await
    }

    /// One call, one round trip, one database transaction. The results are received and left unread.
    async fn call(&mut self, input: &input::TpccInput) -> Result<(), SqlserverFailure> {
        self.round_trips += 1;
        let answer = command(input, self.of_readers).exec(&mut self.client).await;
        let mut answer = answer.map_err(|error| SqlserverFailure::from(&error))?;
        while let Some(_item) = received::<Option<CommandItem>>(answer.try_next().await)? {}
        Ok(())
    }

    /// Whatever went wrong, the next attempt begins outside of a transaction.
    async fn failed(&mut self, failure: SqlserverFailure) -> SessionError {
        match error(failure) {
            lost @ SessionError::Lost(_) => lost,
            other => self.roll_back().await.err().unwrap_or(other),
        }
    }
}

#[cfg(test)]
impl SqlserverSession {
    /// The server's number of the connection.
    pub async fn connection_id(&mut self) -> u32 {
        let rows = rows(&mut self.client, "testing", "SELECT CAST(@@SPID AS int)").await;
        rows.expect("an answer")[0].get(0).expect("a number")
    }
}

fn dynamic<'a>(params: &'a [RpcParam<'a>]) -> Vec<&'a dyn ToSql> {
    params.iter().map(|own| own as &dyn ToSql).collect()
}

fn received<T>(answer: tiberius::Result<T>) -> Result<T, SqlserverFailure> {
    answer.map_err(|error| SqlserverFailure::from(&error))
}

/// A database that keeps versions of rows lets readers see one snapshot; in others they lock what they have read.
async fn readers(client: &mut Tds) -> Result<Isolation, LoadError> {
    let sql =
        "SELECT CAST(snapshot_isolation_state AS int) FROM sys.databases WHERE name = DB_NAME()";
    let state = rows(client, "preparing a session", sql).await?;
    Ok(match state.first().and_then(|row| row.text(0)) {
        Some("1") => Isolation::Snapshot,
        _ => Isolation::RepeatableRead,
    })
}

/// Keeps loaders out of the schema as long as the connection lives.
async fn keep(client: &mut Tds, schema: &str) -> Result<(), LoadError> {
    let lock = try_lock(schema, Use::Keep);
    let patience = guard::LockPatience::new();
    loop {
        let got = rows(client, &guard::what(schema), &lock).await?;
        if got.first().is_some_and(|row| row.flag(0)) {
            return Ok(());
        }
        patience.wait(schema, Use::Keep).await?;
    }
}

pub(super) fn error(failure: SqlserverFailure) -> SessionError {
    failure.classify().of_session()
}

/// One of the two is given, the other is left out.
fn bind_customer<'a>(command: &mut Command<'a>, customer: &'a CustomerBy) {
    match customer {
        CustomerBy::Id(id) => command.bind_param("@in_c", *id),
        CustomerBy::LastName(name) => command.bind_param("@in_last", name.as_str()),
    }
}

/// The remote call with its arguments.
fn command(input: &input::TpccInput, of_readers: Isolation) -> Command<'_> {
    match input {
        input::TpccInput::NewOrder(order) => {
            let mut lines = String::new();
            order.write_lines(&mut lines);
            let mut command = Command::new("plimsoll_new_order");
            command.bind_param("@in_w", order.warehouse);
            command.bind_param("@in_d", order.district);
            command.bind_param("@in_c", order.customer);
            command.bind_param("@in_count", order.lines.len() as i32);
            command.bind_param("@in_all_local", i32::from(order.is_local()));
            command.bind_param("@in_lines", lines);
            command
        }
        input::TpccInput::Payment(payment) => {
            let mut command = Command::new("plimsoll_payment");
            command.bind_param("@in_w", payment.warehouse);
            command.bind_param("@in_d", payment.district);
            command.bind_param("@in_c_w", payment.customer_warehouse);
            command.bind_param("@in_c_d", payment.customer_district);
            bind_customer(&mut command, &payment.customer);
            command.bind_param("@in_amount", amount(payment.amount_cents));
            command
        }
        input::TpccInput::OrderStatus(status) => {
            let mut command = Command::new("plimsoll_order_status");
            command.bind_param("@in_w", status.warehouse);
            command.bind_param("@in_d", status.district);
            let has_snapshot = of_readers == Isolation::Snapshot;
            command.bind_param("@in_snapshot", i32::from(has_snapshot));
            bind_customer(&mut command, &status.customer);
            command
        }
        input::TpccInput::Delivery(delivery) => {
            let mut command = Command::new("plimsoll_delivery");
            command.bind_param("@in_w", delivery.warehouse);
            command.bind_param("@in_carrier", delivery.carrier);
            command
        }
        input::TpccInput::StockLevel(level) => {
            let mut command = Command::new("plimsoll_stock_level");
            command.bind_param("@in_w", level.warehouse);
            command.bind_param("@in_d", level.district);
            command.bind_param("@in_threshold", level.threshold);
            command
        }
    }
}

impl Session for SqlserverSession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        match (input, &self.work) {
            (Input::Tpcc(input), SqlserverWork::Statements(_)) => {
                transactions::run(self, input).await
            }
            (Input::Tpcc(input), SqlserverWork::Procedures) => match self.call(input).await {
                Ok(()) => Ok(TxnEnd::Committed),
                Err(failure) if failure.code == Some(UNUSED_ITEM) => Ok(TxnEnd::RolledBack),
                Err(failure) => Err(self.failed(failure).await),
            },
            (Input::Sysbench(input), SqlserverWork::Sysbench { .. }) => {
                sysbench::transactions::run(self, input).await
            }
            (Input::Tpcc(_), SqlserverWork::Sysbench { .. }) | (Input::Sysbench(_), _) => {
                Err(SessionError::other_work())
            }
        }
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}

impl Statements<TpccStmt> for SqlserverSession {
    /// The first statement begins it. What only reads sees one state: an order and its lines belong together.
    async fn begin(&mut self, writes: bool) -> Result<(), SessionError> {
        let wanted = if writes {
            Isolation::ReadCommitted
        } else {
            self.of_readers
        };
        if self.isolation != wanted {
            self.end(wanted.text()).await?;
            self.isolation = wanted;
        }
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end("COMMIT TRANSACTION").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.roll_back().await
    }

    async fn query(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<Rows, SessionError> {
        self.read(id as usize, params).await.map_err(error)
    }

    async fn execute(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<u64, SessionError> {
        self.change(id as usize, params).await.map_err(error)
    }
}
