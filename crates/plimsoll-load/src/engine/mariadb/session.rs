//! One virtual user's connection.

use plimsoll_plan::resolved::{ServerKind, TxnMode};
use tokio::runtime::Handle;

use super::DIALECT;
use super::client::MariadbClient;
use super::codec::values;
use super::connect::kind_of;
use super::failure::MariadbFailure;
use super::login::MariadbConnection;
use super::protocol::{MariadbStatement, MariadbWire};
use super::statements::{DecimalText, Text, Texts, texts};
use crate::engine::Session;
use crate::engine::sql::error::not_loaded;
use crate::engine::sql::guard::{self, Use};
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{Param, Rows, Statements, Value};
use crate::workload::tpcc::input::{self, CustomerBy};
use crate::workload::tpcc::sql::TpccStmt;
use crate::workload::tpcc::transactions;
use crate::workload::{Input, sysbench};

/// SQLSTATE that `plimsoll_new_order` raises for an unused item.
const UNUSED_ITEM: &str = "PL001";

/// A connection with what its work needs.
pub struct MariadbSession {
    pub(super) wire: MariadbWire,
    /// The server's number of the connection.
    #[cfg(test)]
    pub id: u32,
    pub(super) work: MariadbWork,
    /// A CALL's text, written anew for each.
    text: String,
    pub(super) round_trips: u64,
}

/// What the session's statements are for.
pub(super) enum MariadbWork {
    Procedures,
    Statements {
        /// By [`TpccStmt`].
        prepared: Vec<PreparedStatement>,
        /// Whether a transaction that only reads must ask to keep its snapshot.
        asks_for_snapshot: bool,
    },
    Sysbench {
        prepared: sysbench::sql::Prepared,
        /// In its order.
        statements: Vec<MariadbStatement>,
    },
}

/// What does a statement of the workload.
pub(super) struct PreparedStatement {
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

impl MariadbSession {
    /// Opens a connection and keeps loaders out of the schema as long as it lives.
    pub async fn open(conninfo: &str, schema: &str, mode: TxnMode) -> Result<Self, LoadError> {
        let kind = kind_of(conninfo);
        Self::prepare(conninfo, schema, "TPC-C", async |wire| match mode {
            // Fails where the procedure is not.
            TxnMode::Procedures => {
                wire.query("SHOW CREATE PROCEDURE plimsoll_new_order")
                    .await?;
                Ok(MariadbWork::Procedures)
            }
            TxnMode::Statements => prepare_all(wire, kind).await,
        })
        .await
    }

    pub(super) async fn prepare(
        conninfo: &str,
        schema: &str,
        data: &'static str,
        work: impl AsyncFnOnce(&mut MariadbWire) -> Result<MariadbWork, MariadbFailure>,
    ) -> Result<Self, LoadError> {
        let mut connection = open(conninfo, schema, data).await?;
        let work = work(&mut connection.wire).await;
        let work = work.map_err(|failure| unprepared(data, schema, &failure))?;
        Ok(Self {
            wire: connection.wire,
            #[cfg(test)]
            id: connection.id,
            work,
            text: String::new(),
            round_trips: 0,
        })
    }

    /// One call, one round trip, one database transaction. The results are received and left unread.
    async fn call(&mut self, input: &input::TpccInput) -> Result<(), MariadbFailure> {
        self.round_trips += 1;
        self.text.clear();
        write_call(&mut self.text, input);
        self.wire.query(&self.text).await
    }

    /// A statement that is not prepared, without a result.
    pub(super) async fn control(&mut self, sql: &str) -> Result<(), SessionError> {
        self.round_trips += 1;
        self.wire.query(sql).await.map_err(error)
    }

    /// Sends one request and gives its rows, or how many it changed.
    async fn request(
        &mut self,
        part: RequestPart,
        id: TpccStmt,
        params: &[Param<'_>],
        rows: &mut Rows,
    ) -> Result<u64, SessionError> {
        let MariadbWork::Statements { prepared, .. } = &mut self.work else {
            return Err(SessionError::other_work());
        };
        let Some(own) = prepared[id as usize].part(part) else {
            return Ok(0);
        };
        self.round_trips += 1;
        let bound = own.params.iter();
        let bound = bound.map(|&i| params.get(i).copied().unwrap_or(Param::Null));
        let done = self
            .wire
            .execute(&mut own.statement, bound, |row, columns| {
                rows.push(values(row, columns)?);
                Ok(())
            });
        done.await.map_err(error)
    }
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

#[cfg(test)]
impl MariadbSession {
    pub async fn set(&mut self, sql: &str) {
        let set = self.wire.query(sql).await;
        set.expect("a setting of the session");
    }
}

async fn prepare_all(
    wire: &mut MariadbWire,
    server: ServerKind,
) -> Result<MariadbWork, MariadbFailure> {
    let mut prepared = Vec::with_capacity(TpccStmt::ALL.len());
    for &stmt in TpccStmt::ALL {
        prepared.push(prepare(wire, texts(stmt, server)).await?);
    }
    let asks_for_snapshot = keeps_no_snapshot(wire).await?;
    without_begin(wire).await?;
    Ok(MariadbWork::Statements {
        prepared,
        asks_for_snapshot,
    })
}

/// From now on a transaction begins with its first statement, without a round trip of its own.
pub(super) async fn without_begin(wire: &mut MariadbWire) -> Result<(), MariadbFailure> {
    wire.query("SET autocommit = 0").await
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

fn by(customer: &CustomerBy) -> String {
    match customer {
        CustomerBy::Id(id) => format!("{id}, NULL"),
        CustomerBy::LastName(name) => format!("NULL, '{}'", name.replace(['\'', '\\'], "")),
    }
}

/// The CALL with its arguments as text: all are numbers, or letters that plimsoll has drawn itself.
fn write_call(out: &mut String, input: &input::TpccInput) {
    use std::fmt::Write as _;
    // A String takes all text.
    let _ = match input {
        input::TpccInput::NewOrder(order) => {
            let w = order.warehouse;
            let d = order.district;
            let c = order.customer;
            let local = i32::from(order.is_local());
            let _ = write!(
                out,
                "CALL plimsoll_new_order({w}, {d}, {c}, {}, {local}, '",
                order.lines.len()
            );
            order.write_lines(out);
            out.write_str("')")
        }
        input::TpccInput::Payment(payment) => {
            let input::Payment {
                warehouse,
                district,
                customer_warehouse,
                customer_district,
                customer,
                amount_cents,
            } = payment;
            let customer = by(customer);
            let amount = DecimalText(*amount_cents);
            write!(
                out,
                "CALL plimsoll_payment({warehouse}, {district}, {customer_warehouse}, {customer_district}, {customer}, {amount})"
            )
        }
        input::TpccInput::OrderStatus(status) => {
            let customer = by(&status.customer);
            write!(
                out,
                "CALL plimsoll_order_status({}, {}, {customer})",
                status.warehouse, status.district
            )
        }
        input::TpccInput::Delivery(delivery) => {
            write!(
                out,
                "CALL plimsoll_delivery({}, {})",
                delivery.warehouse, delivery.carrier
            )
        }
        input::TpccInput::StockLevel(level) => {
            write!(
                out,
                "CALL plimsoll_stock_level({}, {}, {})",
                level.warehouse, level.district, level.threshold
            )
        }
    };
}

pub(super) fn error(failure: MariadbFailure) -> SessionError {
    failure.classify().of_session()
}

impl Session for MariadbSession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        match (input, &self.work) {
            (Input::Tpcc(input), MariadbWork::Statements { .. }) => {
                transactions::run(self, input).await
            }
            (Input::Tpcc(input), MariadbWork::Procedures) => match self.call(input).await {
                Ok(()) => Ok(TxnEnd::Committed),
                Err(failed) if failed.state == UNUSED_ITEM => Ok(TxnEnd::RolledBack),
                Err(failed) if failed.is_lost => Err(error(failed)),
                Err(failed) => {
                    // MySQL's handlers do not see that a query was cancelled: the procedure's transaction goes on.
                    self.control("ROLLBACK").await?;
                    Err(error(failed))
                }
            },
            (Input::Sysbench(input), MariadbWork::Sysbench { .. }) => {
                sysbench::transactions::run(self, input).await
            }
            (Input::Tpcc(_), MariadbWork::Sysbench { .. }) | (Input::Sysbench(_), _) => {
                Err(SessionError::other_work())
            }
        }
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}

impl Statements<TpccStmt> for MariadbSession {
    /// What only reads sees one snapshot: an order and its lines belong together.
    async fn begin(&mut self, writes: bool) -> Result<(), SessionError> {
        match self.work {
            MariadbWork::Statements {
                asks_for_snapshot: true,
                ..
            } if !writes => {
                let sql = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
                self.control(sql).await
            }
            _ => Ok(()),
        }
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        self.control("COMMIT").await
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        self.control("ROLLBACK").await
    }

    async fn query(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<Rows, SessionError> {
        let mut rows = Rows::new();
        self.request(RequestPart::Change, id, params, &mut rows)
            .await?;
        self.request(RequestPart::Text, id, params, &mut rows)
            .await?;
        if let Some(Value::Int(found)) = rows.first().and_then(|row| row.first()) {
            let [first, second] = [0, 1].map(|i| params.get(i).copied().unwrap_or(Param::Null));
            let params = [first, second, Param::Int(*found)];
            self.request(RequestPart::After, id, &params, &mut Rows::new())
                .await?;
        }
        Ok(rows)
    }

    async fn execute(&mut self, id: TpccStmt, params: &[Param<'_>]) -> Result<u64, SessionError> {
        self.request(RequestPart::Text, id, params, &mut Rows::new())
            .await
    }
}
