//! What is PostgreSQL's own, against a real server.

use plimsoll_plan::resolved::{ManagedKind, TxnMode, Workload};
use plimsoll_plan::units::Nanos;
use tokio_postgres::types::FromSqlOwned;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::connect::connect;
use super::dialect::search_path;
use super::session::PostgresSession;
use crate::clock::Clock;
use crate::engine::contract::{
    POSTGRES, Shared, TPCC, contract_of_managed_servers, new_order, stock_level, tpcc,
};
use crate::engine::server::{IfOther, MANAGED_SCHEMA, Target};
use crate::engine::{LoadControl, Loaded};
use crate::engine::{ServerConnection, Session, WorkSession};
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{Param, SqlSession, TxnAccess, Value};
use crate::workload::tpcc::generator::UNUSED_ITEM;
use crate::workload::tpcc::sql::TpccStmt;
use crate::workload::work::SessionWork;

mod functions;
mod server;

contract_of_managed_servers!(ManagedKind::Postgres);

#[test]
fn rows_of_tables_that_inherit_stay() {
    crate::engine::contract::ownership::heirs();
}

const MODES: [TxnMode; 2] = [TxnMode::Procedures, TxnMode::Statements];
const SCHEMA: &str = MANAGED_SCHEMA;

fn conninfo(shared: &Shared) -> String {
    shared.target().conninfo.to_string()
}

async fn client(shared: &Shared) -> Client {
    let client = connect(&conninfo(shared)).await.unwrap();
    client.batch_execute(&search_path(SCHEMA)).await.unwrap();
    client
}

async fn session(shared: &Shared, mode: TxnMode) -> WorkSession<PostgresSession> {
    let opened = WorkSession::open(&conninfo(shared), SCHEMA, &tpcc(mode)).await;
    opened.unwrap()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    Clock::real().block_on(work).unwrap()
}

async fn one<T: FromSqlOwned>(client: &Client, sql: &str) -> T {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

/// Rows as the server prints them.
async fn texts(client: &Client, sql: &str) -> Vec<Vec<String>> {
    let messages = client.simple_query(sql).await.unwrap();
    let rows = messages.iter().filter_map(|m| {
        if let SimpleQueryMessage::Row(row) = m {
            Some(row)
        } else {
            None
        }
    });
    rows.map(|row| {
        (0..row.len())
            .map(|i| row.get(i).unwrap_or("NULL").to_owned())
            .collect()
    })
    .collect()
}
