//! What is another's in a schema stays as it is: tables, views and procedures that only have a name of plimsoll's.

use plimsoll_plan::resolved::Script;

use super::server_sql::PartOfOthers;
use super::sysbench::{SMALL, Tables};
use super::*;
use crate::engine::sql::part::TablePart;
use crate::engine::sql::{ServerClient, TextRow, clean, load};
use crate::workload::sysbench::sql::create_table;

/// One table of one row.
const ONE_ROW: Sysbench = Sysbench {
    tables: 1,
    rows: 1,
    ..SMALL
};

/// The marker's columns with the type names that all servers take.
const MARKER_COLUMNS: &str =
    "(version integer, state varchar(10), warehouses integer, seed varchar(20), since {timestamp})";

fn marker_columns(target: &Target) -> String {
    MARKER_COLUMNS.replace("{timestamp}", target.dialect().timestamp)
}

/// Clean, forget, and a load of TPC-C are refused with this reason.
fn assert_refused(target: &Target, why: &str) {
    let workload = Workload::Tpcc(TPCC);
    let control = LoadControl::default();
    let refusals = [
        clean::list(target).map(drop),
        clean::clean(target).map(drop),
        target.forget(),
        target.check_usable(&workload, SEED),
        target
            .load(&workload, SEED, IfOther::Replace, &control)
            .map(drop),
    ];
    for refused in refusals {
        let error = refused.unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(
                error,
                LoadError::Unproven { .. } | LoadError::Foreign { .. }
            ) && text.contains(why)
                && text.lines().count() == 3,
            "{text}"
        );
    }
}

pub fn foreign_tables(kind: ServerKind) {
    let mut tables = Tables::of_server(kind, "sysbench_of_others");
    tables.create_schema();
    let mut client = tables.place.client();
    client.execute(&create_table(1, tables.target().dialect().table_syntax));
    client.execute("INSERT INTO sbtest1 (k, c, pad) VALUES (1, 'diary', 'x')");
    let writes = |script| Sysbench { script, ..ONE_ROW };
    for &script in Script::ALL {
        let loaded = tables.load(&writes(script), IfOther::Replace);
        let workload = Workload::Sysbench(writes(script));
        let checked = tables.target().check_usable(&workload, SEED);
        if !script.changes_rows() {
            assert_eq!(loaded.unwrap(), Loaded::Reused);
            checked.unwrap();
            continue;
        }
        let text = loaded.unwrap_err().to_string();
        let permission = "change_tables = \"sysbench_of_others\"";
        assert!(
            text.lines().count() == 3 && text.ends_with(permission),
            "{text}"
        );
        assert_eq!(checked.unwrap_err().to_string(), text);
    }
    let rows = client.lines("SELECT id, k, c FROM sbtest1");
    assert_eq!(rows[0].trim(), "1 1 diary");
    tables.permit_changes();
    let loaded = tables.load(&ONE_ROW, IfOther::Refuse);
    assert_eq!(loaded.unwrap(), Loaded::Reused);
    let nothing = clean::clean(tables.target()).unwrap();
    assert!(nothing.names.is_empty(), "{nothing:?}");
}

/// A user's tables beside what has the marker's name: a view that can be updated, other columns, several rows, a row that
/// plimsoll does not write, none; and a true marker beside a table that has only its name from plimsoll.
pub fn false_markers(kind: ServerKind) {
    let tables = Tables::of_server(kind, "false_markers");
    tables.create_schema();
    let target = tables.target();
    let mut client = tables.place.client();
    for sql in [
        "CREATE TABLE customer (name varchar(20))",
        "INSERT INTO customer VALUES ('Ada')",
        "CREATE TABLE orders (name varchar(20))",
    ] {
        client.execute(sql);
    }
    let columns = marker_columns(target);
    let now = target.dialect().now;
    let row =
        |state: &str| format!("INSERT INTO plimsoll_load VALUES (2, '{state}', 1, '42', {now})");
    let finished = row("finished");
    let marker = format!("CREATE TABLE plimsoll_load {columns}");
    let states: [(&[&str], &str, &str); 6] = [
        (
            &[
                &format!("CREATE TABLE notes {columns}"),
                "CREATE VIEW plimsoll_load AS SELECT * FROM notes",
                &finished,
            ],
            "DROP VIEW plimsoll_load",
            "it is a view",
        ),
        (
            &["CREATE TABLE plimsoll_load (state varchar(20))"],
            "DROP TABLE plimsoll_load",
            "its columns are others",
        ),
        (
            &[&marker, &finished, &finished],
            "DROP TABLE plimsoll_load",
            "it has 2 rows",
        ),
        (
            &[&marker, &row("mine")],
            "DROP TABLE plimsoll_load",
            "its row is not one",
        ),
        (
            &[&marker, &finished],
            "DROP TABLE plimsoll_load",
            "Table customer in schema false_markers is not known to be plimsoll's",
        ),
        (
            &[
                "DROP TABLE customer",
                "CREATE VIEW customer AS SELECT name FROM orders",
                &marker,
                &finished,
            ],
            "DROP VIEW customer",
            "Table customer in schema false_markers is not known to be plimsoll's",
        ),
    ];
    for (create, drop, why) in states {
        create.iter().for_each(|sql| client.execute(sql));
        assert_refused(target, why);
        if drop != "DROP VIEW customer" {
            assert_eq!(client.column("SELECT name FROM customer"), ["Ada"]);
        }
        client.execute(drop);
    }
    assert_eq!(client.number("SELECT count(*) FROM orders"), 0);
    assert_eq!(client.number("SELECT count(*) FROM notes"), 1);
    // An empty marker proves only itself.
    client.execute("DELETE FROM plimsoll_load");
    let control = LoadControl::default();
    let error = target
        .load(&Workload::Tpcc(TPCC), SEED, IfOther::Replace, &control)
        .unwrap_err();
    assert!(
        error.to_string().contains("table plimsoll_load is empty"),
        "{error}"
    );
    assert_eq!(clean::clean(target).unwrap().names, ["plimsoll_load"]);
    assert_eq!(client.number("SELECT count(*) FROM orders"), 0);
}

pub fn foreign_procedure(kind: ServerKind) {
    let tables = Tables::of_server(kind, "foreign_procedure");
    tables.create_schema();
    let mut client = tables.place.client();
    client.execute(server_sql(kind).create_procedure);
    let workload = Workload::Tpcc(TPCC);
    let control = LoadControl::default();
    let loaded = tables
        .target()
        .load(&workload, SEED, IfOther::Replace, &control);
    let checked = tables.target().check_usable(&workload, SEED);
    for refused in [loaded.map(drop), checked] {
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains(
                "Procedure plimsoll_delivery in schema foreign_procedure is not known to be plimsoll's"
            ),
            "{text}"
        );
    }
    assert!(clean::clean(tables.target()).unwrap().names.is_empty());
    let call = server_sql(kind).call_procedure;
    assert_eq!(client.column(call), ["mine"]);
}

pub fn dependents(kind: ServerKind) {
    let tables = Tables::of_server(kind, "dependents");
    let target = tables.target();
    tables.load(&ONE_ROW, IfOther::Refuse).unwrap();
    let more = Sysbench { rows: 2, ..ONE_ROW };
    let mut client = tables.place.client();
    let everywhere = [
        PartOfOthers {
            create: "CREATE VIEW totals AS SELECT k FROM sbtest1",
            drop: "DROP VIEW totals",
            name: "view ",
        },
        PartOfOthers {
            create: "CREATE TABLE notes (id integer, CONSTRAINT to_ours FOREIGN KEY (id) REFERENCES sbtest1 (id))",
            drop: "DROP TABLE notes",
            name: "to_ours",
        },
    ];
    let others = everywhere.iter().chain(server_sql(kind).parts_of_others);
    for PartOfOthers { create, drop, name } in others {
        client.execute(create);
        let refusals = [
            clean::clean(target).map(drop_value),
            tables.load(&more, IfOther::Replace).map(drop_value),
        ];
        for refused in refusals {
            let text = refused.unwrap_err().to_string();
            assert!(
                text.contains(name)
                    && text.contains("needs table sbtest1")
                    && text.lines().count() == 3,
                "{text}"
            );
        }
        assert_eq!(client.number("SELECT count(*) FROM sbtest1"), 1);
        client.execute(drop);
    }
    assert_eq!(clean::clean(target).unwrap().names.len(), 2);
}

/// PostgreSQL changes and deletes rows of tables that inherit from the one that is named.
pub fn heirs() {
    let tables = Tables::of_server(ServerKind::Postgres, "heirs");
    tables.load(&ONE_ROW, IfOther::Refuse).unwrap();
    let mut client = tables.place.client();
    client.execute("CREATE TABLE diary () INHERITS (sbtest1)");
    let refusals = [
        clean::clean(tables.target()).map(drop_value),
        tables.load(&ONE_ROW, IfOther::Refuse).map(drop_value),
    ];
    for refused in refusals {
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("Table sbtest1 in schema heirs is not known to be plimsoll's"),
            "{text}"
        );
    }
    client.execute("DROP TABLE diary");
    tables.load(&ONE_ROW, IfOther::Refuse).unwrap();
}

fn drop_value<T>(_: T) {}

/// A connection whose client is killed after some statements.
struct Killed {
    client: Box<dyn ServerClient>,
    left: usize,
}

impl SqlClient for Killed {
    fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>, LoadError> {
        let left = self.left.checked_sub(1).ok_or(LoadError::Cancelled)?;
        self.left = left;
        self.client.rows(doing, sql)
    }
}

impl ServerClient for Killed {
    fn id(&mut self) -> Result<u32, LoadError> {
        self.client.id()
    }

    fn fill(&mut self, part: &TablePart, control: &LoadControl) -> Result<(), LoadError> {
        self.client.fill(part, control)
    }
}

/// After each statement of a clean and of a load that replaces another. What is left is known as plimsoll's; a table of
/// the user's stays.
pub fn killed_at_each_statement(kind: ServerKind) {
    let tables = Tables::of_server(kind, "killed");
    let target = tables.target();
    let loads = [ONE_ROW, Sysbench { rows: 2, ..ONE_ROW }];
    tables.load(&loads[0], IfOther::Refuse).unwrap();
    let mut client = tables.place.client();
    client.execute("CREATE TABLE mine (x integer)");
    let count = "SELECT count(*) FROM mine";
    for left in 0.. {
        let main = Box::new(Killed {
            client: target.connect().unwrap(),
            left,
        });
        let workload = Workload::Sysbench(loads[1]);
        let control = LoadControl::default();
        let loaded = load::load_by(target, &workload, SEED, IfOther::Replace, &control, main);
        let was_killed = matches!(loaded, Err(LoadError::Cancelled));
        assert!(was_killed || loaded.is_ok(), "{left}: {loaded:?}");
        tables.load(&loads[0], IfOther::Replace).unwrap();
        assert_eq!(client.number(count), 0);
        if !was_killed {
            assert!(left > 10, "{left} statements");
            break;
        }
    }
    for left in 0.. {
        let mut killed = Killed {
            client: target.open("The test's").unwrap(),
            left,
        };
        let cleaned = clean::clean_by(target, &mut killed);
        drop(killed);
        let there = clean::list(target).unwrap().names;
        if target.dialect().transactional_tables && cleaned.is_err() {
            assert!(matches!(there.len(), 0 | 2), "{left}: {there:?}");
        }
        assert_eq!(client.number(count), 0);
        if cleaned.is_ok() {
            assert!(left > 8 && there.is_empty(), "{left} statements, {there:?}");
            break;
        }
        tables.load(&loads[0], IfOther::Refuse).unwrap();
    }
}
