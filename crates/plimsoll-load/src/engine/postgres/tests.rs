//! The contract of an engine, kept against a real server. A machine without one fails these tests, with a message what to
//! install.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use plimsoll_plan::resolved::{Home, ServerKind, Tpcc, TxnMode, Workload};
use plimsoll_plan::units::Nanos;
use tempfile::TempDir;
use tokio_postgres::types::{FromSqlOwned, ToSql};
use tokio_postgres::{Client, SimpleQueryMessage};

use super::codec::{SqlParam, values};
use super::connect::connect;
use super::dialect::search_path;
use super::*;
use crate::clock::Clock;
use crate::engine::server::{Facts, IfOther, MANAGED_SCHEMA, Target};
use crate::engine::{CheckedData, ConditionResult, LoadControl, Loaded};
use crate::scratch::Scratch;
use crate::session::{Session, SessionError, TxnEnd};
use crate::workload::Input;
use crate::workload::tpcc::generator::{Generator, UNUSED_ITEM};
use crate::workload::tpcc::input::{self, CustomerBy, Line};
use crate::workload::tpcc::population::Population;
use crate::workload::tpcc::rows::Table;
use crate::workload::tpcc::sql::Stmt;
use crate::workload::tpcc::statement::{Param, Statements, Value};

mod load;
mod server;
mod sysbench;
mod transactions;

const MODES: [TxnMode; 2] = [TxnMode::Procedures, TxnMode::Statements];
const POPULATION: Population = Population {
    warehouses: 2,
    seed: 42,
};
const SCHEMA: &str = MANAGED_SCHEMA;

fn target(conninfo: &str, schema: &str) -> Target {
    Target {
        engine: ServerKind::Postgres,
        conninfo: conninfo.into(),
        schema: schema.into(),
    }
}

fn load(
    conninfo: &str,
    schema: &str,
    population: Population,
    if_other: IfOther,
    control: &LoadControl,
) -> Result<Loaded, LoadError> {
    let workload = Workload::Tpcc(Tpcc {
        warehouses: population.warehouses,
        mode: TxnMode::Statements,
        home: Home::Fixed,
    });
    target(conninfo, schema).load(&workload, population.seed, if_other, control)
}

fn check(conninfo: &str, schema: &str) -> Result<Vec<ConditionResult>, LoadError> {
    target(conninfo, schema).check(CheckedData::Tpcc)
}

fn facts(conninfo: &str) -> Result<Facts, LoadError> {
    target(conninfo, SCHEMA).facts()
}

/// One loaded server for all tests that run at the time. Fields are dropped in this order.
struct Shared {
    server: ManagedPostgres,
    _scratch: Scratch,
    _medium: TempDir,
    /// Tests that change data take turns.
    turn: Mutex<()>,
}

impl Shared {
    fn get() -> Arc<Self> {
        static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let new = Arc::new(Self::start());
            *shared = Arc::downgrade(&new);
            new
        })
    }

    fn start() -> Self {
        let medium = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(medium.path(), open).unwrap();
        let mut scratch = Scratch::create(medium.path(), "tests").unwrap();
        let settings = BTreeMap::from([("work_mem", "5MB"), ("synchronous_commit", "off")]);
        let settings = settings
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let server = ManagedPostgres::start(&mut scratch, &settings, "", None).unwrap();
        let shared = Self {
            server,
            _scratch: scratch,
            _medium: medium,
            turn: Mutex::new(()),
        };
        let control = LoadControl::default();
        assert_eq!(
            load(
                &shared.conninfo(),
                SCHEMA,
                POPULATION,
                IfOther::Replace,
                &control
            )
            .unwrap(),
            Loaded::Fresh
        );
        assert_eq!(
            (control.rows_done(), control.rows_total()),
            (POPULATION.rows(), POPULATION.rows())
        );
        shared
    }

    fn conninfo(&self) -> String {
        self.server.conninfo()
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn client(&self) -> Client {
        let client = connect(&self.conninfo()).await.unwrap();
        client.batch_execute(&search_path(SCHEMA)).await.unwrap();
        client
    }

    async fn session(&self, mode: TxnMode) -> PostgresSession {
        PostgresSession::open(&self.conninfo(), SCHEMA, mode)
            .await
            .unwrap()
    }

    fn assert_consistent(&self) {
        let verdicts = check(&self.conninfo(), SCHEMA).unwrap();
        assert_eq!(verdicts.len(), 12);
        let broken: Vec<_> = verdicts.iter().filter(|verdict| !verdict.holds).collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }
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

/// A digest of everything in the tables.
async fn digest(client: &Client) -> Vec<String> {
    let mut digests = Vec::new();
    for table in Table::ALL {
        let sql = format!(
            "SELECT count(*) || ' ' || sum(hashtextextended(t::text, 0)) FROM {} AS t",
            table.name()
        );
        digests.push(one(client, &sql).await);
    }
    digests
}

fn order(lines: &[(i32, i32, i32)]) -> input::NewOrder {
    let lines = lines
        .iter()
        .map(|&(item, supply_warehouse, quantity)| Line {
            item,
            supply_warehouse,
            quantity,
        });
    input::NewOrder {
        warehouse: 1,
        district: 3,
        customer: 7,
        lines: lines.collect(),
    }
}

fn new_order(lines: &[(i32, i32, i32)]) -> Input {
    Input::Tpcc(input::Input::NewOrder(order(lines)))
}
