//! One virtual user's connection.

use plimsoll_plan::resolved::TxnMode;
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

use super::codec::SqlParam;
use super::connect::server_error;
use super::dialect::{search_path, try_lock};
use super::failure::PostgresFailure;
use super::protocol::{PostgresStatement, PostgresWire};
use super::stream::{FIRST_ANSWER_OF_SESSION, Login};
use crate::engine::Session;
use crate::engine::sql::error::not_loaded;
use crate::engine::sql::guard::{self, Use};
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{Param, Rows, Statements};
use crate::workload::sysbench::sql::Prepared;
use crate::workload::tpcc::input::{self, CustomerBy};
use crate::workload::tpcc::sql::TpccStmt;
use crate::workload::tpcc::transactions;
use crate::workload::{Input, sysbench};

/// SQLSTATE that `plimsoll_new_order` raises for an unused item.
const UNUSED_ITEM: &str = "PL001";

/// Lines of an order at most (clause 2.4.1.3).
const MAX_LINES: usize = 15;

/// The functions' calls, in the order of [`plimsoll_plan::resolved::TPCC_TXNS`].
const CALLS: [&str; 5] = [
    "SELECT plimsoll_new_order($1, $2, $3, $4, $5, $6)",
    "SELECT plimsoll_payment($1, $2, $3, $4, $5, $6, $7)",
    "SELECT plimsoll_order_status($1, $2, $3, $4)",
    "SELECT plimsoll_delivery($1, $2)",
    "SELECT plimsoll_stock_level($1, $2, $3)",
];

/// Statements that begin and end transactions, prepared as all others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TxnControl {
    Begin,
    /// What only reads sees one snapshot, as the STABLE functions do: an order and its lines belong together.
    BeginReadOnly,
    Commit,
    Rollback,
}

impl TxnControl {
    const ALL: [Self; 4] = [
        Self::Begin,
        Self::BeginReadOnly,
        Self::Commit,
        Self::Rollback,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Begin => "BEGIN",
            Self::BeginReadOnly => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Commit => "COMMIT",
            Self::Rollback => "ROLLBACK",
        }
    }
}

/// A connection with all statements of its mode prepared.
pub struct PostgresSession {
    wire: PostgresWire,
    pub(super) work: PostgresWork,
    /// Those of [`TxnControl`], and then by [`TpccStmt`], by transaction type, or as the sysbench script has them.
    prepared: Vec<PostgresStatement>,
    /// The BEGIN that is due, which goes out together with the transaction's first statement.
    begin_due: Option<TxnControl>,
    round_trips: u64,
}

/// What the session's statements are for.
pub(super) enum PostgresWork {
    Tpcc(TxnMode),
    Sysbench(Prepared),
}

/// Where the work's statements begin.
const OF_WORK: usize = TxnControl::ALL.len();

const NO_PARAMS: [SqlParam<'static>; 0] = [];

impl PostgresSession {
    /// Opens a connection and keeps loaders out of the schema as long as it lives.
    pub async fn open(conninfo: &str, schema: &str, mode: TxnMode) -> Result<Self, LoadError> {
        let texts: Vec<String> = match mode {
            TxnMode::Procedures => CALLS.map(str::to_owned).into(),
            TxnMode::Statements => TpccStmt::ALL
                .iter()
                .map(|stmt| stmt.sql().replace("{now}", "now()"))
                .collect(),
        };
        Self::prepare(conninfo, schema, &texts, PostgresWork::Tpcc(mode)).await
    }

    pub(super) async fn prepare(
        conninfo: &str,
        schema: &str,
        texts: &[String],
        work: PostgresWork,
    ) -> Result<Self, LoadError> {
        const WHAT: &str = "preparing a session";
        let mut login = Login::open(conninfo, FIRST_ANSWER_OF_SESSION).await?;
        login
            .carry(async |client| client.batch_execute(&search_path(schema)).await)
            .await
            .map_err(|error| server_error(WHAT, &error))?;
        keep(&mut login, schema).await?;
        let stream = login.done();
        let stream = stream.ok_or_else(|| LoadError::other(WHAT, "the driver kept the stream"))?;
        let mut wire = PostgresWire::new(stream);
        let data = match &work {
            PostgresWork::Tpcc(_) => "TPC-C",
            PostgresWork::Sysbench(_) => "sysbench",
        };
        let control = TxnControl::ALL.iter().map(|control| control.text());
        let prepared = wire
            .prepare(control.chain(texts.iter().map(String::as_str)))
            .await
            .map_err(|failure| {
                let error = failure.classify();
                error.of_preparing(|searched| not_loaded(data, schema, searched))
            })?;
        Ok(Self {
            wire,
            work,
            prepared,
            begin_due: None,
            round_trips: 0,
        })
    }

    /// One call, one round trip, one database transaction. The result is received and left unread.
    async fn call(&mut self, input: &input::TpccInput) -> Result<(), PostgresFailure> {
        self.round_trips += 1;
        match input {
            input::TpccInput::NewOrder(order) => {
                let mut columns = [[0i32; MAX_LINES]; 3];
                let lines = &order.lines[..order.lines.len().min(MAX_LINES)];
                for (i, line) in lines.iter().enumerate() {
                    (columns[0][i], columns[1][i], columns[2][i]) =
                        (line.item, line.supply_warehouse, line.quantity);
                }
                let [items, supply, quantity] =
                    columns.each_ref().map(|column| &column[..lines.len()]);
                let w = &order.warehouse;
                let d = &order.district;
                let c = &order.customer;
                self.send(0, &[w, d, c, &items, &supply, &quantity]).await
            }
            input::TpccInput::Payment(payment) => {
                let (id, name) = by(&payment.customer);
                let amount = SqlParam(Param::Cents(payment.amount_cents));
                let w = &payment.warehouse;
                let d = &payment.district;
                let cw = &payment.customer_warehouse;
                let cd = &payment.customer_district;
                self.send(1, &[w, d, cw, cd, &id, &name, &amount]).await
            }
            input::TpccInput::OrderStatus(status) => {
                let (id, name) = by(&status.customer);
                self.send(2, &[&status.warehouse, &status.district, &id, &name])
                    .await
            }
            input::TpccInput::Delivery(delivery) => {
                self.send(3, &[&delivery.warehouse, &delivery.carrier])
                    .await
            }
            input::TpccInput::StockLevel(level) => {
                self.send(4, &[&level.warehouse, &level.district, &level.threshold])
                    .await
            }
        }
    }

    async fn send(
        &mut self,
        txn: usize,
        params: &[&(dyn ToSql + Sync)],
    ) -> Result<(), PostgresFailure> {
        let statement = &self.prepared[OF_WORK + txn];
        self.wire.execute(statement, params.iter().copied())?;
        self.wire.changed().await.map(drop)
    }

    /// BEGIN goes out together with the next statement, without waiting for its answer in between.
    pub(super) fn begin_with(&mut self, begin: TxnControl) {
        self.begin_due = Some(begin);
    }

    /// Writes BEGIN if it is due, and counts the round trip that follows.
    fn set_out(&mut self) -> Result<(), PostgresFailure> {
        self.round_trips += 1;
        match self.begin_due.take() {
            Some(begin) => self.wire.execute(&self.prepared[begin as usize], NO_PARAMS),
            None => Ok(()),
        }
    }

    fn write(&mut self, statement: usize, params: &[Param<'_>]) -> Result<(), PostgresFailure> {
        self.set_out()?;
        let statement = &self.prepared[OF_WORK + statement];
        self.wire
            .execute(statement, params.iter().copied().map(SqlParam))
    }

    /// Executes the work's statement of this number; gives how many rows it changed.
    pub(super) async fn change(
        &mut self,
        statement: usize,
        params: &[Param<'_>],
    ) -> Result<u64, PostgresFailure> {
        self.write(statement, params)?;
        self.wire.changed().await
    }

    async fn read(
        &mut self,
        statement: usize,
        params: &[Param<'_>],
    ) -> Result<Rows, PostgresFailure> {
        self.write(statement, params)?;
        self.wire.rows(&self.prepared[OF_WORK + statement]).await
    }

    /// A statement that is not prepared.
    pub(super) async fn text(&mut self, sql: &str) -> Result<(), PostgresFailure> {
        self.set_out()?;
        self.wire.query(sql)?;
        self.wire.changed().await.map(drop)
    }

    pub(super) async fn end(&mut self, end: TxnControl) -> Result<(), SessionError> {
        if self.begin_due.take().is_some() {
            return Ok(());
        }
        self.round_trips += 1;
        let sent = self.wire.execute(&self.prepared[end as usize], NO_PARAMS);
        let ended = match sent {
            Ok(()) => self.wire.changed().await,
            Err(failure) => Err(failure),
        };
        ended.map(drop).map_err(error)
    }
}

pub(super) fn error(failure: PostgresFailure) -> SessionError {
    failure.classify().of_session()
}

#[cfg(test)]
impl PostgresSession {
    /// The server's number of the connection.
    pub async fn backend(&mut self) -> u32 {
        let rows = self.rows_of("SELECT pg_backend_pid()", &[]).await;
        match rows.expect("an answer")[0][0] {
            crate::workload::statement::Value::Int(pid) => pid as u32,
            ref other => panic!("{other:?} is no number"),
        }
    }

    /// A statement of a test's own.
    pub(super) async fn rows_of(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Rows, PostgresFailure> {
        let statement = self.wire.prepare([sql]).await?.remove(0);
        self.wire
            .execute(&statement, params.iter().copied().map(SqlParam))?;
        self.wire.rows(&statement).await
    }
}

/// Keeps loaders out of the schema as long as the connection lives.
async fn keep(login: &mut Login, schema: &str) -> Result<(), LoadError> {
    let lock = try_lock(schema, Use::Keep);
    let patience = guard::LockPatience::new();
    loop {
        let locked = login
            .carry(async |client| client.query_one(&lock, &[]).await)
            .await;
        let locked = locked.and_then(|row| row.try_get(0));
        if locked.map_err(|error: Error| server_error(&guard::what(schema), &error))? {
            return Ok(());
        }
        patience.wait(schema, Use::Keep).await?;
    }
}

/// One of the two is given, the other is NULL.
fn by(customer: &CustomerBy) -> (Option<i32>, Option<&str>) {
    match customer {
        CustomerBy::Id(id) => (Some(*id), None),
        CustomerBy::LastName(name) => (None, Some(name)),
    }
}

impl Session for PostgresSession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        match (input, &self.work) {
            (Input::Tpcc(input), PostgresWork::Tpcc(TxnMode::Statements)) => {
                transactions::run(self, input).await
            }
            (Input::Tpcc(input), PostgresWork::Tpcc(TxnMode::Procedures)) => {
                match self.call(input).await {
                    Ok(()) => Ok(TxnEnd::Committed),
                    Err(failure) if failure.is(UNUSED_ITEM) => Ok(TxnEnd::RolledBack),
                    Err(failure) => Err(error(failure)),
                }
            }
            (Input::Sysbench(input), PostgresWork::Sysbench(_)) => {
                sysbench::transactions::run(self, input).await
            }
            (Input::Tpcc(_), PostgresWork::Sysbench(_))
            | (Input::Sysbench(_), PostgresWork::Tpcc(_)) => Err(SessionError::other_work()),
        }
    }

    /// Waits for the server. BEGIN and the statement that it travels with are one.
    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}

impl Statements<TpccStmt> for PostgresSession {
    async fn begin(&mut self, writes: bool) -> Result<(), SessionError> {
        self.begin_with(if writes {
            TxnControl::Begin
        } else {
            TxnControl::BeginReadOnly
        });
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end(TxnControl::Commit).await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.end(TxnControl::Rollback).await
    }

    async fn query(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<Rows, SessionError> {
        self.read(id as usize, params).await.map_err(error)
    }

    async fn execute(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<u64, SessionError> {
        self.change(id as usize, params).await.map_err(error)
    }
}
