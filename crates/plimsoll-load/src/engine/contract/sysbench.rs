//! sysbench's scripts: every one leaves what it can leave, and plimsoll's data and statements are interchangeable with
//! those of sysbench itself, which has to be installed.

use std::process::Command;

use plimsoll_plan::resolved::{Distribution, Script};
use plimsoll_plan::units::Bytes;

use super::server_sql::{CHANGE_ID, SysbenchDriver};
use super::*;
use crate::engine::sql::clean;
use crate::workload::Source;

pub const SMALL: Sysbench = Sysbench {
    script: Script::ReadWrite,
    tables: 2,
    rows: 500,
    distribution: Distribution::Uniform,
    point_selects: 10,
    range_size: 100,
};

fn scripted(script: Script) -> Sysbench {
    Sysbench { script, ..SMALL }
}

fn keeping_rows() -> impl Iterator<Item = Sysbench> {
    let keeps = |script: &Script| script.keeps_rows();
    Script::ALL.iter().copied().filter(keeps).map(scripted)
}

/// A place that no other test uses.
pub struct Tables {
    shared: Arc<Shared>,
    pub place: Place,
}

impl Tables {
    pub fn new(engine: Engine, name: &str) -> Self {
        let shared = Shared::get(engine);
        let place = shared.other(name);
        Self { shared, place }
    }

    pub fn of_server(kind: ServerKind, name: &str) -> Self {
        Self::new(Engine::Server(kind), name)
    }

    pub fn target(&self) -> &Target {
        match &self.place {
            Place::Schema(target) => target,
            Place::File(_) => panic!("no server"),
        }
    }

    /// As the plan's `change_tables`.
    pub fn permit_changes(&mut self) {
        if let Place::Schema(target) = &mut self.place {
            target.changes_tables = true;
        }
    }

    pub fn load(&self, sysbench: &Sysbench, if_other: IfOther) -> Result<Loaded, LoadError> {
        let workload = Workload::Sysbench(*sysbench);
        self.place
            .load(&workload, if_other, &LoadControl::default())
    }

    pub fn check(&self, sysbench: &Sysbench) -> Result<Vec<ConditionResult>, LoadError> {
        self.place.check(CheckedData::Sysbench(sysbench))
    }

    pub fn assert_holds(&self, sysbench: &Sysbench) {
        let results = self.check(sysbench).unwrap();
        assert!(
            results.len() == 3 && failing(&results).is_empty(),
            "{results:#?}"
        );
    }

    pub fn user(&self, sysbench: &Sysbench) -> User {
        self.place.user(&Workload::Sysbench(*sysbench))
    }

    /// Two users at the same time. What has to be tried again is not.
    fn work(&self, sysbench: &Sysbench, transactions: u32) {
        let workload = Workload::Sysbench(*sysbench);
        let opener = self.place.opener(&workload);
        let work = |number| {
            let mut user = User::open(&opener, number).unwrap();
            let mut source = Source::new(&workload, SEED, 0, number);
            for _ in 0..transactions {
                match user.run(&source.next()) {
                    Ok(TxnEnd::Committed) | Err(SessionError::Retry(_)) => {}
                    other => panic!("{:?}: {other:?}", sysbench.script),
                }
            }
        };
        std::thread::scope(|scope| {
            for number in 0..2 {
                scope.spawn(move || work(number));
            }
        });
    }

    /// For sysbench, which makes no schema.
    pub fn create_schema(&self) {
        let schema = &self.target().schema;
        let mut client = self.shared.place().client();
        self.shared.create_schema(&mut client, schema);
    }

    /// sysbench itself, on the same tables; what it printed.
    fn sysbench(&self, script: Script, command: &str) -> String {
        let target = self.target();
        let mut program = Command::new("sysbench");
        program
            .arg(format!("oltp_{}", script.name()))
            .args(["--threads=2", "--events=100", "--time=0"])
            .arg(format!("--tables={}", SMALL.tables))
            .arg(format!("--table_size={}", SMALL.rows))
            .arg("--rand-type=uniform");
        (driver(target).connect)(&mut program, target);
        let output = program
            .arg(command)
            .output()
            .expect("sysbench is installed");
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        assert!(
            output.status.success() && !printed.contains("FATAL"),
            "{script:?} {command}: {printed}"
        );
        printed
    }
}

fn driver(target: &Target) -> &'static SysbenchDriver {
    let driver = server_sql(target.engine).sysbench.as_ref();
    driver.expect("sysbench has a driver for it")
}

pub fn every_script(engine: Engine) {
    let tables = Tables::new(engine, "sysbench_scripts");
    for sysbench in Script::ALL.iter().copied().map(scripted) {
        tables.load(&sysbench, IfOther::Replace).unwrap();
        tables.work(&sysbench, 50);
        tables.assert_holds(&sysbench);
        let rows = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
        let rows = tables.place.client().number(rows);
        match sysbench.script {
            Script::Insert => assert_eq!(rows, 1_100),
            Script::Delete => assert!((900..1_000).contains(&rows), "{rows}"),
            _ => assert_eq!(rows, 1_000),
        }
    }
}

pub fn used_again(engine: Engine) {
    let tables = Tables::new(engine, "sysbench_again");
    let load = |script| tables.load(&scripted(script), IfOther::Refuse).unwrap();
    assert_eq!(load(Script::ReadWrite), Loaded::Fresh);
    assert_eq!(load(Script::UpdateIndex), Loaded::Reused);
    assert_eq!(load(Script::Insert), Loaded::Reused);
    assert_eq!(load(Script::Insert), Loaded::Fresh, "rows were added");
    assert_eq!(load(Script::ReadOnly), Loaded::Fresh);
    let more = Sysbench { rows: 501, ..SMALL };
    if let Place::Schema(target) = &tables.place {
        target.forget().unwrap();
        assert_eq!(load(Script::ReadOnly), Loaded::Fresh, "forgotten");
        let error = tables.load(&more, IfOther::Refuse).unwrap_err();
        assert!(
            matches!(&error, LoadError::Occupied { holds, .. } if holds.contains("2 of 500 rows, uniform, seed 42")),
            "{error}"
        );
    }
    assert_eq!(tables.load(&more, IfOther::Replace).unwrap(), Loaded::Fresh);
    tables.assert_holds(&more);
}

pub fn wrong_table(engine: Engine) {
    let tables = Tables::new(engine, "sysbench_wrong");
    tables.load(&SMALL, IfOther::Refuse).unwrap();
    let failing_after = |sql: &str| {
        tables.place.client().execute(sql);
        failing(&tables.check(&SMALL).unwrap())
    };
    assert_eq!(
        failing_after("UPDATE sbtest2 SET c = 'cut' WHERE id = 5"),
        ["values"]
    );
    let moved = failing_after(match engine {
        Engine::Sqlite => CHANGE_ID,
        Engine::Server(kind) => server_sql(kind).change_id,
    });
    assert_eq!(moved, ["ids", "values"]);
    assert_eq!(
        failing_after("DELETE FROM sbtest2 WHERE id = 501"),
        ["rows", "ids"]
    );
    if engine == Engine::Sqlite {
        return;
    }
    tables.place.client().execute("DROP TABLE sbtest2");
    let opener = tables.place.opener(&Workload::Sysbench(SMALL));
    let gone = [tables.check(&SMALL).err(), User::open(&opener, 0).err()];
    let is_missing = |error: &Option<LoadError>| matches!(error, Some(LoadError::Missing { .. }));
    assert!(gone.iter().all(is_missing), "{gone:?}");
}

pub fn cut_off(kind: ServerKind) {
    let tables = Tables::of_server(kind, "sysbench_cut");
    let large = Sysbench {
        tables: 3,
        rows: 1_000_000,
        ..SMALL
    };
    load::cancel(&tables.place, &Workload::Sysbench(large));
    assert_eq!(tables.load(&SMALL, IfOther::Refuse).unwrap(), Loaded::Fresh);
    tables.assert_holds(&SMALL);
    let target = tables.target();
    let there = target.relations(target.connect().unwrap().as_mut());
    let is_gone = !there.unwrap().contains(&"sbtest3".to_owned());
    assert!(is_gone, "the table that only the first load had");
}

pub fn shared_schema(kind: ServerKind) {
    let tables = Tables::of_server(kind, "sysbench_and_tpcc");
    tables.load(&SMALL, IfOther::Refuse).unwrap();
    let tpcc = Workload::Tpcc(Tpcc {
        warehouses: 1,
        ..TPCC
    });
    let loaded = tables
        .place
        .load(&tpcc, IfOther::Refuse, &LoadControl::default());
    assert_eq!(loaded.unwrap(), Loaded::Fresh);
    assert_eq!(
        tables.load(&SMALL, IfOther::Refuse).unwrap(),
        Loaded::Reused
    );
    tables.assert_holds(&SMALL);
    let target = tables.target();
    let made = clean::list(target).unwrap();
    assert_eq!(clean::clean(target).unwrap().names, made.names);
    assert!(
        ["sbtest1", "stock"]
            .iter()
            .all(|table| made.names.iter().any(|name| name == table)),
        "{made:?}"
    );
    // 100,000 items and 2 × 100 rows, with their indexes.
    let is_shown = made.size.is_some() || !server_sql(kind).shows_sizes;
    assert!(
        is_shown && made.size.is_none_or(|size| size > Bytes::mib(5)),
        "{made}"
    );
    assert!(made.to_string().starts_with("13 tables"), "{made}");
    assert_eq!(
        target
            .relations(target.connect().unwrap().as_mut())
            .unwrap(),
        [""; 0]
    );
    assert_eq!(clean::clean(target).unwrap().names, [""; 0]);
}

pub fn theirs_on_ours(kind: ManagedKind) {
    let tables = Tables::of_server(kind.server(), "sysbench_theirs_on_ours");
    tables.load(&SMALL, IfOther::Refuse).unwrap();
    for sysbench in keeping_rows() {
        let printed = tables.sysbench(sysbench.script, "run");
        let events = "total number of events:              100";
        assert!(printed.contains(events), "{printed}");
        tables.assert_holds(&sysbench);
    }
    for sysbench in [Script::Insert, Script::Delete].map(scripted) {
        tables.load(&sysbench, IfOther::Refuse).unwrap();
        tables.sysbench(sysbench.script, "run");
        tables.assert_holds(&sysbench);
    }
}

pub fn ours_on_theirs(kind: ManagedKind) {
    let mut tables = Tables::of_server(kind.server(), "sysbench_ours_on_theirs");
    tables.permit_changes();
    tables.create_schema();
    tables.sysbench(Script::ReadWrite, "prepare");
    for sysbench in keeping_rows() {
        let loaded = tables.load(&sysbench, IfOther::Replace);
        assert_eq!(loaded.unwrap(), Loaded::Reused);
        tables.work(&sysbench, 20);
        tables.assert_holds(&sysbench);
    }
    let fewer = Sysbench { rows: 499, ..SMALL };
    let more = Sysbench { tables: 3, ..SMALL };
    for (other, holds) in [
        (fewer, "500 rows in sbtest1, and the plan wants 499"),
        (more, "2 of 3 tables, sbtest3 is missing"),
    ] {
        let error = tables.load(&other, IfOther::Replace).unwrap_err();
        assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
        let message = error.to_string();
        // Known before a run begins.
        let checked = tables
            .target()
            .check_usable(&Workload::Sysbench(other), SEED);
        assert_eq!(checked.unwrap_err().to_string(), message);
        assert!(
            message.contains(holds) && message.contains("`tables` and `rows`"),
            "{message}"
        );
    }
    let rows = tables.place.client().number("SELECT count(*) FROM sbtest2");
    assert_eq!(rows, 500, "nothing of theirs was replaced");
}

/// The columns, keys, indexes and options are those that sysbench makes.
pub fn tables_as_theirs(kind: ManagedKind) {
    let ours = Tables::of_server(kind.server(), "sysbench_ours");
    let theirs = Tables::of_server(kind.server(), "sysbench_theirs");
    ours.load(&SMALL, IfOther::Refuse).unwrap();
    theirs.create_schema();
    theirs.sysbench(Script::ReadWrite, "prepare");
    let description = describe(&ours);
    assert_eq!(description, describe(&theirs));
    let SysbenchDriver {
        next_id, matches, ..
    } = driver(ours.target());
    assert!(description.concat().contains(next_id), "{description:?}");
    let forms = format!(
        "SELECT count(*) FROM sbtest1 WHERE c {matches} '^([0-9]{{11}}-){{9}}[0-9]{{11}} *$'
         AND pad {matches} '^([0-9]{{11}}-){{4}}[0-9]{{11}} *$' AND k BETWEEN 1 AND 500"
    );
    assert_eq!(
        [&ours, &theirs].map(|tables| tables.place.client().number(&forms)),
        [500, 500]
    );
}

/// Columns, indexes and the next id, without the schema's name.
fn describe(tables: &Tables) -> Vec<String> {
    let questions = driver(tables.target()).describe;
    let mut client = tables.place.client();
    questions.iter().flat_map(|sql| client.lines(sql)).collect()
}

pub fn round_trips(kind: ServerKind) {
    let tables = Tables::of_server(kind, "sysbench_trips");
    tables.load(&SMALL, IfOther::Refuse).unwrap();
    for (script, trips) in [
        (Script::ReadWrite, 19),
        (Script::ReadOnly, 15),
        (Script::PointSelect, 1),
        (Script::UpdateIndex, 1),
    ] {
        let sysbench = scripted(script);
        let mut user = tables.user(&sysbench);
        let input = Source::new(&Workload::Sysbench(sysbench), SEED, 0, 0).next();
        assert_eq!(user.run(&input), Ok(TxnEnd::Committed));
        assert_eq!(user.session.take_round_trips(), trips, "{script:?}");
    }
}
