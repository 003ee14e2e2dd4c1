//! What every engine keeps, as tests that an engine makes its own with [`contract_of_servers`] or [`contract_of_engines`].
//!
//! They run against real servers. A machine without one fails them, with a message what to install.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{Home, ManagedKind, ServerKind, Sysbench, Tpcc, TxnMode, Workload};
use plimsoll_plan::schedule::Timeline;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{Endpoint, GeneratorShare, LaneSpec};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::clock::{Clock, LaneClock};
use crate::engine::Session;
use crate::engine::server::{IfOther, MANAGED_SCHEMA, ManagedServer, Target};
use crate::engine::servers::engine;
use crate::engine::sql::SqlClient;
use crate::engine::{
    AnySession, CheckedData, ConditionResult, LoadControl, Loaded, Opener, sqlite,
};
use crate::error::LoadError;
use crate::scratch::Scratch;
use crate::session::{SessionError, TxnEnd};
use crate::workload::Input;
use crate::workload::tpcc::input::{self, CustomerBy, Line};

use server_sql::ContractSql;

pub mod encryption;
pub mod load;
pub mod managed;
pub mod network;
pub mod ownership;
pub mod rows;
pub mod same;
pub mod server;
pub mod server_sql;
pub mod sysbench;
pub mod transactions;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Server(ServerKind),
}

pub const POSTGRES: Engine = Engine::Server(ServerKind::Postgres);
pub const MARIADB: Engine = Engine::Server(ServerKind::Mariadb);

/// Promises of every engine.
macro_rules! contract_of_engines {
    ($engine:expr) => {
        use $crate::engine::contract;

        #[test]
        fn the_load_is_complete_and_used_again() {
            contract::load::complete_and_used_again($engine)
        }
        #[test]
        fn a_row_broken_by_hand_is_named() {
            contract::rows::broken_row_is_named($engine)
        }
        #[test]
        fn an_order_with_an_unused_item_leaves_no_trace() {
            contract::transactions::unused_item($engine)
        }
        #[test]
        fn a_new_order_does_what_the_specification_wants() {
            contract::transactions::new_order_rows($engine)
        }
        #[test]
        fn a_payment_does_what_the_specification_wants() {
            contract::transactions::payment_rows($engine)
        }
        #[test]
        fn deliveries_take_the_oldest_orders_and_readers_read() {
            contract::transactions::delivery_rows($engine)
        }
        #[test]
        fn concurrent_users_keep_the_database_consistent() {
            contract::transactions::concurrent_users($engine)
        }
        #[test]
        fn concurrent_deliveries_never_take_an_order_twice() {
            contract::transactions::concurrent_deliveries($engine)
        }
        #[test]
        fn every_script_leaves_what_it_can_leave() {
            contract::sysbench::every_script($engine)
        }
        #[test]
        fn a_data_set_is_used_again_while_its_rows_are_all_there() {
            contract::sysbench::used_again($engine)
        }
        #[test]
        fn a_wrong_table_is_found() {
            contract::sysbench::wrong_table($engine)
        }
    };
}
pub(in crate::engine) use contract_of_engines;

/// Promises of every server.
macro_rules! contract_of_servers {
    ($kind:expr) => {
        $crate::engine::contract::contract_of_engines!(contract::Engine::Server($kind));

        #[test]
        fn a_schema_in_use_is_not_loaded_and_other_data_is_not_replaced() {
            contract::load::schema_in_use($kind)
        }
        #[test]
        fn a_load_that_was_cut_off_begins_again_and_foreign_tables_are_left_alone() {
            contract::load::cut_off($kind)
        }
        #[test]
        fn emptied_tables_and_unfinished_loads_do_not_pass() {
            contract::rows::emptied_tables($kind)
        }
        #[test]
        fn a_killed_connection_is_lost_and_a_new_one_works() {
            contract::server::killed_connection($kind)
        }
        #[test]
        fn a_table_that_is_gone_is_not_tried_for_again() {
            contract::server::table_that_is_gone($kind)
        }
        #[test]
        fn a_sysbench_load_that_was_cut_off_begins_again() {
            contract::sysbench::cut_off($kind)
        }
        #[test]
        fn tpcc_and_sysbench_share_a_schema() {
            contract::sysbench::shared_schema($kind)
        }
        #[test]
        fn tables_of_others_are_changed_only_with_permission() {
            contract::ownership::foreign_tables($kind)
        }
        #[test]
        fn a_view_or_another_table_named_as_the_marker_proves_nothing() {
            contract::ownership::false_markers($kind)
        }
        #[test]
        fn a_procedure_of_others_with_plimsolls_name_stays() {
            contract::ownership::foreign_procedure($kind)
        }
        #[test]
        fn tables_that_others_need_are_not_removed() {
            contract::ownership::dependents($kind)
        }
        #[test]
        fn a_clean_or_load_killed_at_any_statement_can_be_repeated() {
            contract::ownership::killed_at_each_statement($kind)
        }
        #[test]
        fn a_transaction_begins_with_its_first_statement() {
            contract::sysbench::round_trips($kind)
        }
    };
}
pub(in crate::engine) use contract_of_servers;

/// Promises of every server that plimsoll starts, and that sysbench has a driver for.
macro_rules! contract_of_managed_servers {
    ($kind:expr) => {
        $crate::engine::contract::contract_of_servers!($kind.server());

        #[test]
        fn the_server_is_described() {
            contract::server::described($kind)
        }
        #[test]
        fn sysbench_itself_works_on_plimsolls_tables() {
            contract::sysbench::theirs_on_ours($kind)
        }
        #[test]
        fn plimsoll_works_on_tables_that_sysbench_prepared_and_keeps_them() {
            contract::sysbench::ours_on_theirs($kind)
        }
        #[test]
        fn the_tables_are_made_as_sysbench_makes_them() {
            contract::sysbench::tables_as_theirs($kind)
        }
        #[test]
        fn an_answer_that_is_cut_off_loses_the_connection() {
            contract::network::cut($kind)
        }
        #[test]
        fn an_answer_in_pieces_is_the_same() {
            contract::network::in_pieces($kind)
        }
        #[test]
        fn the_same_transactions_leave_the_same_rows_as_on_sqlite() {
            contract::same::as_on_sqlite($kind.server())
        }
        #[test]
        fn a_late_answer_is_waited_for() {
            contract::network::slow($kind)
        }
        #[test]
        fn a_statement_without_memory_fails_its_transaction_alone() {
            contract::server::out_of_memory($kind)
        }
        #[test]
        fn a_cancelled_statement_fails_its_transaction_alone() {
            contract::server::cancelled($kind)
        }
        #[test]
        fn a_wrong_setting_is_named_in_the_servers_words_and_nothing_remains() {
            contract::managed::wrong_setting($kind)
        }
        #[test]
        fn a_crashed_server_recovers() {
            contract::managed::crash($kind)
        }
        #[test]
        fn a_server_lives_dies_and_is_swept() {
            contract::managed::lives_and_dies($kind)
        }
    };
}
pub(in crate::engine) use contract_of_managed_servers;

pub const TPCC: Tpcc = Tpcc {
    warehouses: 2,
    mode: TxnMode::Statements,
    home: Home::Fixed,
};
const SEED: u64 = 42;

pub(in crate::engine) fn tpcc(mode: TxnMode) -> Workload {
    Workload::Tpcc(Tpcc { mode, ..TPCC })
}

impl Engine {
    fn modes(self) -> &'static [TxnMode] {
        match self {
            Self::Sqlite => &[TxnMode::Statements],
            Self::Server(_) => &[TxnMode::Procedures, TxnMode::Statements],
        }
    }

    /// SQL for an amount of money.
    fn amount(self, cents: i64) -> String {
        match self {
            Self::Sqlite => cents.to_string(),
            Self::Server(_) => format!("{:.2}", cents as f64 / 100.0),
        }
    }

    /// SQL for the seconds since a time.
    fn age(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("(unixepoch('subsec') - {column} / 1000000)"),
            Self::Server(kind) => server_sql(kind).age.replace("{column}", column),
        }
    }

    /// The function that counts a text's characters.
    fn length(self) -> &'static str {
        match self {
            Self::Sqlite => "length",
            Self::Server(kind) => engine(kind).dialect.table_syntax.length,
        }
    }
}

fn server_sql(kind: ServerKind) -> &'static ContractSql {
    engine(kind).contract
}

/// SQL for 1 where that is so, else 0.
fn truth(condition: &str) -> String {
    format!("CASE WHEN {condition} THEN 1 ELSE 0 END")
}

/// Where a data set is.
#[derive(Clone)]
pub enum Place {
    Schema(Target),
    File(PathBuf),
}

impl Place {
    fn load(
        &self,
        workload: &Workload,
        if_other: IfOther,
        control: &LoadControl,
    ) -> Result<Loaded, LoadError> {
        let none = BTreeMap::new();
        match (self, workload) {
            (Self::Schema(target), _) => target.load(workload, SEED, if_other, control),
            (Self::File(path), Workload::Tpcc(tpcc)) if sqlite::is_loaded(path, tpcc, SEED)? => {
                Ok(Loaded::Reused)
            }
            (Self::File(path), Workload::Tpcc(tpcc)) => {
                sqlite::load(path, tpcc, SEED, &none, control).map(|()| Loaded::Fresh)
            }
            (Self::File(path), Workload::Sysbench(sysbench)) => {
                sqlite::sysbench::load(path, sysbench, SEED, &none, control)
            }
        }
    }

    fn check(&self, data: CheckedData<'_>) -> Result<Vec<ConditionResult>, LoadError> {
        match (self, data) {
            (Self::Schema(target), _) => target.check(data),
            (Self::File(path), CheckedData::Tpcc) => sqlite::check(path),
            (Self::File(path), CheckedData::Sysbench(sysbench)) => {
                sqlite::sysbench::check(path, sysbench)
            }
        }
    }

    pub fn assert_consistent(&self) {
        let results = self.check(CheckedData::Tpcc).unwrap();
        assert_eq!(results.len(), 12);
        assert_eq!(failing(&results), [""; 0], "{results:#?}");
    }

    pub fn client(&self) -> Client {
        match self {
            Self::Schema(target) => Client(target.open("The test's").unwrap()),
            Self::File(path) => Client(Box::new(File {
                connection: Connection::open(path).unwrap(),
                path: path.clone(),
            })),
        }
    }

    fn endpoint(&self) -> Endpoint {
        match self {
            Self::Schema(target) => Endpoint::Server {
                engine: target.engine,
                conninfo: target.conninfo.clone(),
                schema: target.schema.clone(),
            },
            Self::File(path) => Endpoint::Sqlite {
                path: path.display().to_string(),
                pragmas: settings(&[("synchronous", "off")]),
                vfs: None,
            },
        }
    }

    /// Opens sessions that belong to one lane.
    pub fn opener(&self, workload: &Workload) -> Opener {
        opener(self.endpoint(), workload)
    }

    pub fn user(&self, workload: &Workload) -> User {
        User::open(&self.opener(workload), 0).unwrap()
    }
}

fn opener(endpoint: Endpoint, workload: &Workload) -> Opener {
    let spec = LaneSpec {
        endpoint,
        workload: workload.clone(),
        load: LoadShape::closed(1),
        share: GeneratorShare::default(),
        timeline: Timeline {
            warm: Nanos::ZERO,
            measure: Nanos::SECOND,
            cool: Nanos::SECOND,
        },
        pacing: Default::default(),
        seed: SEED.into(),
        round: 1,
        max_retries: 0,
        power_cut: false,
    };
    Opener::new(&spec, LaneClock::new(Clock::real()))
}

/// Clauses of the conditions that do not hold.
fn failing(results: &[ConditionResult]) -> Vec<&'static str> {
    let failing = results.iter().filter(|result| !result.holds);
    failing.map(|result| result.clause).collect()
}

/// One virtual user's session, with the runtime that it lives on. Fields are dropped in this order.
pub struct User {
    pub session: AnySession,
    runtime: Runtime,
}

impl User {
    /// The only user of a system.
    pub fn of(endpoint: Endpoint, workload: &Workload) -> Self {
        Self::open(&opener(endpoint, workload), 0).unwrap()
    }

    pub fn open(opener: &Opener, number: u32) -> Result<Self, LoadError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let session = runtime.block_on(opener.open(number))?;
        Ok(Self { session, runtime })
    }

    pub fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        self.runtime.block_on(self.session.run(input))
    }

    /// Until it ends in another way than to be tried again.
    fn insist(&mut self, input: &Input) -> TxnEnd {
        loop {
            match self.run(input) {
                Err(SessionError::Retry(_)) => {}
                end => return end.unwrap(),
            }
        }
    }

    /// A setting of the session.
    pub fn set(&mut self, sql: &str) {
        match &mut self.session {
            AnySession::Server(session) => self.runtime.block_on(session.set(sql)),
            _ => panic!("no server"),
        }
    }

    /// The server's number of the connection.
    fn id(&mut self) -> u32 {
        match &mut self.session {
            AnySession::Server(session) => self.runtime.block_on(session.connection_id()),
            AnySession::Mock(_) | AnySession::Sqlite(_) | AnySession::SimulatedSqlite(_) => {
                panic!("no server")
            }
        }
    }
}

struct File {
    connection: Connection,
    path: PathBuf,
}

impl SqlClient for File {
    fn rows(
        &mut self,
        doing: &str,
        sql: &str,
    ) -> Result<Vec<crate::engine::sql::TextRow>, LoadError> {
        let Self { connection, path } = self;
        sqlite::SqliteClient { connection, path }.rows(doing, sql)
    }
}

/// A connection for what a test asks and changes by itself.
pub struct Client(Box<dyn SqlClient>);

impl Client {
    pub fn execute(&mut self, sql: &str) {
        self.0.execute("testing", sql).unwrap();
    }

    /// Rows as the database prints them, but for booleans, which are 1 and 0.
    pub fn texts(&mut self, sql: &str) -> Vec<Vec<String>> {
        let text = |value: Option<String>| match value.as_deref() {
            None => "NULL".to_owned(),
            Some("t") => "1".into(),
            Some("f") => "0".into(),
            Some(text) => text.into(),
        };
        let rows = self.0.rows("testing", sql).unwrap();
        rows.into_iter()
            .map(|row| row.0.into_iter().map(text).collect())
            .collect()
    }

    /// The first column of each row.
    fn column(&mut self, sql: &str) -> Vec<String> {
        let rows = self.texts(sql);
        rows.into_iter().map(|row| row[0].clone()).collect()
    }

    pub fn number(&mut self, sql: &str) -> i64 {
        let found = self.texts(sql).concat();
        assert_eq!(found.len(), 1, "{sql}");
        found[0].parse().unwrap()
    }

    /// Rows with their columns joined.
    fn lines(&mut self, sql: &str) -> Vec<String> {
        self.texts(sql).iter().map(|row| row.join(" ")).collect()
    }
}

/// A medium that a server's user can reach. Its name has every sign in it that is not refused: all that a server does, it does
/// there.
pub fn medium() -> TempDir {
    let mut name = tempfile::Builder::new();
    let medium = name.prefix("it's#1,a;b=c%d~&(e)!{f}ä").tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(medium.path(), open).unwrap();
    medium
}

pub fn settings(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(pair).collect()
}

/// One loaded database for all tests of an engine: loading it takes longer than they do. It ends with this process.
pub struct Shared {
    pub engine: Engine,
    server: Option<ManagedServer>,
    /// Where a server is.
    target: Option<Target>,
    _scratch: Scratch,
    medium: TempDir,
    /// Tests that change data take turns.
    turn: Mutex<()>,
}

impl Shared {
    pub fn get(engine: Engine) -> Arc<Self> {
        const ENGINES: usize = ServerKind::ALL.len() + 1;
        static SHARED: [Mutex<Option<Arc<Shared>>>; ENGINES] =
            [const { Mutex::new(None) }; ENGINES];
        let place = match engine {
            Engine::Sqlite => 0,
            Engine::Server(kind) => 1 + kind as usize,
        };
        let mut shared = SHARED[place].lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(shared.get_or_insert_with(|| Arc::new(Self::start(engine))))
    }

    fn start(engine: Engine) -> Self {
        let medium = medium();
        let mut scratch = Scratch::create(medium.path(), "tests").unwrap();
        let managed = |kind: ManagedKind| {
            let mut settings = settings(server::settings_of(kind));
            settings.extend(encryption::settings_of(kind, medium.path()));
            ManagedServer::start(kind, &mut scratch, &settings, "", None).unwrap()
        };
        let kind = match engine {
            Engine::Sqlite => None,
            Engine::Server(kind) => Some(kind),
        };
        let server = kind.and_then(ServerKind::managed).map(managed);
        let target = match &server {
            Some(server) => Some(server.target()),
            None => kind.map(server::existing),
        };
        let shared = Self {
            engine,
            server,
            target,
            _scratch: scratch,
            medium,
            turn: Mutex::new(()),
        };
        shared.clear_after_this_process();
        let control = LoadControl::default();
        let loaded = shared
            .place()
            .load(&Workload::Tpcc(TPCC), IfOther::Replace, &control);
        assert_eq!(loaded.unwrap(), Loaded::Fresh);
        assert!(control.done() > 500_000);
        assert_eq!(control.done(), control.total());
        shared
    }

    /// What is static is not dropped: a shell ends the server and removes its files once this process has gone, however
    /// it went.
    fn clear_after_this_process(&self) {
        const CLEAR: &str = "read -r _; [ -z \"$2\" ] || kill -QUIT \"$2\"; \
                             for _ in 1 2 3 4 5 6 7 8 9; do rm -rf \"$1\" && break; sleep 0.3; done; \
                             [ -z \"$2\" ] || kill -KILL \"$2\"";
        let server = self.server.as_ref();
        let pid = server.map_or(String::new(), |server| server.process().pid().to_string());
        let mut shell = Command::new("sh");
        shell
            .args(["-c", CLEAR, "sh"])
            .arg(self.medium.path())
            .arg(pid)
            // Its end of the pipe closes with this process.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        std::mem::forget(shell.spawn().unwrap());
    }

    pub fn server(&self) -> &ManagedServer {
        self.server.as_ref().expect("a server")
    }

    pub fn target(&self) -> Target {
        self.target.clone().expect("a server")
    }

    pub fn create_schema(&self, client: &mut Client, schema: &str) {
        let dialect = self.target().dialect();
        client.execute(&dialect.of_schema(dialect.create_schema, schema));
    }

    /// A table in that schema, as SQL names it.
    pub fn qualified(&self, schema: &str, table: &str) -> String {
        let schema = self.target().dialect().identifier(schema);
        let qualified = server_sql(self.target().engine).qualified;
        qualified
            .replace("{schema}", &schema)
            .replace("{table}", table)
    }

    /// Where TPC-C's data is.
    pub fn place(&self) -> Place {
        self.other(MANAGED_SCHEMA)
    }

    /// Where nothing is yet.
    pub fn other(&self, name: &str) -> Place {
        match &self.target {
            Some(target) => Place::Schema(Target {
                schema: name.into(),
                ..target.clone()
            }),
            None => Place::File(self.medium.path().join(name)),
        }
    }

    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn user(&self, mode: TxnMode) -> User {
        self.place().user(&tpcc(mode))
    }
}

pub fn new_order(lines: &[(i32, i32, i32)]) -> Input {
    let line = |&(item, supply_warehouse, quantity): &(i32, i32, i32)| Line {
        item,
        supply_warehouse,
        quantity,
    };
    Input::Tpcc(input::TpccInput::NewOrder(input::NewOrder {
        warehouse: 1,
        district: 3,
        customer: 7,
        lines: lines.iter().map(line).collect(),
    }))
}

pub fn stock_level() -> Input {
    Input::Tpcc(input::TpccInput::StockLevel(input::StockLevel {
        warehouse: 1,
        district: 2,
        threshold: 15,
    }))
}

fn order_status(customer: CustomerBy) -> Input {
    Input::Tpcc(input::TpccInput::OrderStatus(input::OrderStatus {
        warehouse: 2,
        district: 2,
        customer,
    }))
}

fn delivery(warehouse: i32) -> Input {
    Input::Tpcc(input::TpccInput::Delivery(input::Delivery {
        warehouse,
        carrier: 8,
    }))
}
