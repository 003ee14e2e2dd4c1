//! One virtual user's connection.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use futures_util::TryStreamExt;
use futures_util::future::{Fuse, FutureExt, join, try_join_all};
use plimsoll_plan::resolved::TxnMode;
use plimsoll_plan::units::Nanos;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};

use super::codec::{SqlParam, values};
use super::connect::{Driver, classify, connect_with_driver, server_error};
use super::dialect::{search_path, try_lock};
use crate::clock::Clock;
use crate::engine::Session;
use crate::engine::sql::error::{ErrorKind, not_loaded};
use crate::engine::sql::guard::{self, Use};
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::sysbench::sql::Prepared;
use crate::workload::tpcc::input::{self, CustomerBy};
use crate::workload::tpcc::sql::TpccStmt;
use crate::workload::tpcc::statement::{Param, Rows, Statements};
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

/// A connection with all statements of its mode prepared.
pub struct PostgresSession {
    client: Client,
    wire: Wire,
    pub(super) work: PostgresWork,
    /// By [`TpccStmt`], by transaction type, or as the sysbench script has them.
    prepared: Vec<Statement>,
    /// The BEGIN that is due, which goes out together with the transaction's first statement.
    begin_due: Option<&'static str>,
    round_trips: u64,
}

/// What the session's statements are for.
pub(super) enum PostgresWork {
    Tpcc(TxnMode),
    Sysbench(Prepared),
}

/// Moves the connection within the user's own task, while a request waits: a task of its own for the connection would
/// cost two switches between tasks for each request.
struct Wire {
    driver: Fuse<Driver>,
    /// The server's last message before it ended the connection.
    last_words: Option<String>,
}

impl Wire {
    async fn carry<T>(&mut self, request: impl Future<Output = T>) -> T {
        let mut request = pin!(request);
        poll_fn(|context| {
            if let Poll::Ready(done) = request.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            // When this ends, the request ends with an error that reports it.
            if let Poll::Ready(last_words) = self.driver.poll_unpin(context) {
                self.last_words = last_words;
            }
            request.as_mut().poll(context)
        })
        .await
    }
}

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
        let (client, driver) = connect_with_driver(conninfo).await?;
        let mut wire = Wire {
            driver: driver.fuse(),
            last_words: None,
        };
        let error = |e: Error| server_error("preparing a session", &e);
        wire.carry(client.batch_execute(&search_path(schema)))
            .await
            .map_err(error)?;
        wire.carry(keep(&client, schema)).await?;
        let data = match &work {
            PostgresWork::Tpcc(_) => "TPC-C",
            PostgresWork::Sysbench(_) => "sysbench",
        };
        let prepared = wire
            .carry(try_join_all(texts.iter().map(|text| client.prepare(text))))
            .await
            .map_err(|error| {
                classify(&error).of_preparing(|searched| not_loaded(data, schema, searched))
            })?;
        Ok(Self {
            client,
            wire,
            work,
            prepared,
            begin_due: None,
            round_trips: 0,
        })
    }

    /// One call, one round trip, one database transaction. The result is received and left unread.
    async fn call(&mut self, input: &input::TpccInput) -> Result<(), Error> {
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

    async fn send(&mut self, txn: usize, params: &[&(dyn ToSql + Sync)]) -> Result<(), Error> {
        self.wire
            .carry(self.client.execute(&self.prepared[txn], params))
            .await
            .map(drop)
    }

    /// BEGIN goes out together with the next statement.
    pub(super) fn begin_with(&mut self, begin: &'static str) {
        self.begin_due = Some(begin);
    }

    /// Sends BEGIN ahead of `request` if it is due, without waiting for its answer in between.
    pub(super) async fn first<T>(
        &mut self,
        request: impl AsyncFnOnce(&Client, &[Statement]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.round_trips += 1;
        let request = request(&self.client, &self.prepared);
        let Some(begin) = self.begin_due.take() else {
            return self.wire.carry(request).await;
        };
        let (begun, done) = self
            .wire
            .carry(join(self.client.batch_execute(begin), request))
            .await;
        begun.and(done)
    }

    pub(super) async fn end(&mut self, sql: &str) -> Result<(), SessionError> {
        if self.begin_due.take().is_some() {
            return Ok(());
        }
        self.round_trips += 1;
        self.wire
            .carry(self.client.batch_execute(sql))
            .await
            .map_err(|e| self.error(&e))
    }

    pub(super) fn error(&self, error: &Error) -> SessionError {
        let mut error = classify(error);
        if error.kind == ErrorKind::Other && self.client.is_closed() {
            error.kind = ErrorKind::Lost;
        }
        if let (ErrorKind::Lost, Some(last)) = (error.kind, &self.wire.last_words) {
            error.message = format!("{}; before that the server reported: {last}", error.message);
        }
        error.of_session()
    }
}

#[cfg(test)]
impl PostgresSession {
    /// The server's number of the connection.
    pub async fn backend(&mut self) -> u32 {
        // Not prepared: closing a statement would be the next request, and take the answer that a test waits for.
        let request = self.client.simple_query("SELECT pg_backend_pid()");
        let answer = self.wire.carry(request).await.expect("an answer");
        let pid = answer.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        pid.expect("a number")
    }
}

/// Keeps loaders out of the schema as long as the connection lives, as [`guard::take`] does.
async fn keep(client: &Client, schema: &str) -> Result<(), LoadError> {
    const STEP: Nanos = Nanos::from_millis(100);
    let failed = |error: Error| server_error(&guard::what(schema), &error);
    let lock = try_lock(schema, Use::Keep);
    let clock = Clock::real();
    loop {
        let locked = client.query_one(&lock, &[]).await;
        if locked.and_then(|row| row.try_get(0)).map_err(failed)? {
            return Ok(());
        }
        if clock.now() >= Nanos::from_secs(guard::PATIENCE_SECONDS) {
            return Err(guard::in_use(schema, Use::Keep));
        }
        clock.sleep(STEP).await;
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
                    Err(error) if error.code().is_some_and(|code| code.code() == UNUSED_ITEM) => {
                        Ok(TxnEnd::RolledBack)
                    }
                    Err(error) => Err(self.error(&error)),
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
    /// What only reads sees one snapshot, as the STABLE functions do: an order and its lines belong together.
    async fn begin(&mut self, writes: bool) -> Result<(), SessionError> {
        self.begin_with(if writes {
            "BEGIN"
        } else {
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        });
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.end("COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.end("ROLLBACK").await
    }

    async fn query(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<Rows, SessionError> {
        let rows = self
            .first(async |client, prepared| {
                let rows = client
                    .query_raw(&prepared[id as usize], params.iter().copied().map(SqlParam))
                    .await?;
                rows.and_then(|row| std::future::ready(values(&row)))
                    .try_collect()
                    .await
            })
            .await;
        rows.map_err(|e| self.error(&e))
    }

    async fn execute(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<u64, SessionError> {
        let changed = self
            .first(async |client, prepared| {
                client
                    .execute_raw(&prepared[id as usize], params.iter().copied().map(SqlParam))
                    .await
            })
            .await;
        changed.map_err(|e| self.error(&e))
    }
}
