//! The contract of an engine, kept against a real server. A machine without one fails these tests, with a message what to
//! install.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mysql::Conn;
use mysql::prelude::Queryable;
use plimsoll_plan::resolved::{Home, ServerKind, Tpcc, TxnMode, Workload};
use tempfile::TempDir;

use super::connect::connect_to;
use super::*;
use crate::clock::Clock;
use crate::engine::server::{Facts, IfOther, MANAGED_SCHEMA, Target};
use crate::engine::{CheckedData, ConditionResult, LoadControl, Loaded};
use crate::error::LoadError;
use crate::scratch::Scratch;
use crate::session::{Session, SessionError, TxnEnd};
use crate::workload::Input;
use crate::workload::tpcc::generator::{Generator, UNUSED_ITEM};
use crate::workload::tpcc::input::{self, CustomerBy, Line};
use crate::workload::tpcc::population::Population;
use crate::workload::tpcc::rows::Table;

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
        engine: ServerKind::Mariadb,
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
    server: ManagedMariadb,
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
        let settings = BTreeMap::from([
            ("innodb_buffer_pool_size", "512M"),
            ("innodb_flush_log_at_trx_commit", "2"),
        ]);
        let settings = settings
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let server = ManagedMariadb::start(&mut scratch, &settings, "", None).unwrap();
        let shared = Self {
            server,
            _scratch: scratch,
            _medium: medium,
            turn: Mutex::new(()),
        };
        let control = LoadControl::default();
        assert_eq!(
            shared.load(POPULATION, IfOther::Replace, &control).unwrap(),
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

    fn load(
        &self,
        population: Population,
        how: IfOther,
        control: &LoadControl,
    ) -> Result<Loaded, LoadError> {
        load(&self.conninfo(), SCHEMA, population, how, control)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> Conn {
        connect_to(&self.conninfo(), SCHEMA).unwrap()
    }

    fn session(&self, mode: TxnMode) -> MariadbSession {
        MariadbSession::open(&self.conninfo(), SCHEMA, mode).unwrap()
    }

    fn assert_consistent(&self) {
        let verdicts = check(&self.conninfo(), SCHEMA).unwrap();
        assert_eq!(verdicts.len(), 12);
        let broken: Vec<_> = verdicts.iter().filter(|verdict| !verdict.holds).collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

/// One attempt. A session blocks its thread.
fn run(session: &mut MariadbSession, input: &Input) -> Result<TxnEnd, SessionError> {
    Clock::real().block_on(session.run(input)).unwrap()
}

fn one<T: mysql::prelude::FromValue>(client: &mut Conn, sql: &str) -> T {
    client
        .query_first(sql)
        .unwrap()
        .unwrap_or_else(|| panic!("no row: {sql}"))
}

/// Rows as the server prints them.
fn texts(client: &mut Conn, sql: &str) -> Vec<Vec<String>> {
    let rows: Vec<mysql::Row> = client.query(sql).unwrap();
    let text = |value: mysql::Value| match value {
        mysql::Value::NULL => "NULL".to_owned(),
        value => mysql::from_value(value),
    };
    rows.into_iter()
        .map(|row| row.unwrap().into_iter().map(text).collect())
        .collect()
}

/// A digest of everything in the tables.
fn digest(client: &mut Conn) -> Vec<String> {
    let names: Vec<&str> = Table::ALL.into_iter().map(Table::name).collect();
    let rows = texts(
        client,
        &format!("CHECKSUM TABLE {} EXTENDED", names.join(", ")),
    );
    rows.into_iter().map(|row| row.join(" ")).collect()
}

fn new_order(lines: &[(i32, i32, i32)]) -> Input {
    let lines = lines
        .iter()
        .map(|&(item, supply_warehouse, quantity)| Line {
            item,
            supply_warehouse,
            quantity,
        });
    let lines = lines.collect();
    Input::Tpcc(input::Input::NewOrder(input::NewOrder {
        warehouse: 1,
        district: 3,
        customer: 7,
        lines,
    }))
}
