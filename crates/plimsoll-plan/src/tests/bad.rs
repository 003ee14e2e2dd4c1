//! What people get to read when a plan is wrong.

use insta::assert_snapshot;

use super::bad;

/// A line that is not TOML.
#[test]
fn not_toml() {
    let text = r#"title = "t
[medium.here]
path = .
"#;
    assert_snapshot!(bad(text), @r#"
    1:11: invalid basic string, expected `"`
      help: text ends with a quotation mark, on the same line
    "#);
}

/// Two keys in one line.
#[test]
fn sketch_semicolon() {
    let text = r#"title = "t"
[[step]]
run = "oltp"; system = "db"
"#;
    assert_snapshot!(bad(text), @r#"
    3:13: unexpected key or value, expected newline, `#`
      help: it has to be TOML, see https://toml.io
    "#);
}

/// An empty plan.
#[test]
fn empty() {
    let text = r#""#;
    assert_snapshot!(bad(text), @r#"
    1:1: `title` is missing
      help: state which question the plan answers: title = "…"
    1:1: the plan has no [[step]]
      help: add one: [[step]] with `run`, `system` and `users`
    "#);
}

/// Misspelled keys and names.
#[test]
fn misspelled() {
    let text = r#"titel = "t"
[medium.here]
path = "."
[sytem.db]
engine = "sqlite"
[workload.oltp.tpc]
warehouses = 1
[[step]]
run = "oltpp"
system = "db"
on = ["hre"]
usres = 8
"#;
    assert_snapshot!(bad(text), @r#"
    1:1: unknown key `titel`
      help: did you mean `title`?
    4:2: unknown key `sytem`
      help: did you mean `system`?
    6:16: unknown key `tpc`
      help: did you mean `tpcc`?
    9:7: there is no workload `oltpp`
      help: did you mean `oltp`?
    11:7: there is no medium `hre`
      help: did you mean `here`?
    12:1: unknown key `usres`
      help: did you mean `users`?
    "#);
}

/// Wrong types.
#[test]
fn types() {
    let text = r#"title = 5
seed = -1
[medium]
here = "."
[system.db]
engine = "postgress"
settings = { a = [1] }
[workload.oltp.tpcc]
warehouses = "four"
mode = "procedure"
[[step]]
run = "oltp"
system = "db"
users = [1, "2", 3.5]
rate = true
measure = [1]
"#;
    assert_snapshot!(bad(text), @r#"
    1:9: expected text in quotes, found 5
    2:8: expected a whole number, 0 or more, found -1
    4:8: expected a table such as { path = "." }, found "."
    6:10: unknown value `postgress`
      help: did you mean `postgres`?
    7:18: expected text in quotes, a number, true or false, found a list
    9:14: expected a whole number, found "four"
      help: numbers stand without quotes
    10:8: unknown value `procedure`
      help: did you mean `procedures`?
    14:13: expected a whole number, found "2"
      help: numbers stand without quotes
    14:18: expected a whole number, found 3.5
    15:8: expected a number or a list of numbers, found true
    16:11: expected a length of time such as "10s", found a list
    "#);
}

/// Times.
#[test]
fn times() {
    let text = r#"title = "t"
[system.m.mock]
latency = "-1ms"
stalls = [{ at = "3s" }, { at = "1s", lasts = "2 parsecs" }]
[workload.w.tpcc]
warehouses = 1
[[step]]
run = "w"
system = "m"
users = 1
ramp = 10
measure = "0s"
cool = "30"
[[step]]
run = "w"
system = "m"
users = 1
ramp = "1000h"
measure = 1979-05-27
"#;
    assert_snapshot!(bad(text), @r#"
    3:11: "-1ms" is negative
      help: write times such as "10s", "2m", "1h 30m" or "250ms"
    4:11: `lasts` is missing
      help: state how long: lasts = "2s"
    4:47: "2 parsecs" is not a length of time
      help: write times such as "10s", "2m", "1h 30m" or "250ms"
    11:8: 10 has no unit
      help: write times with a unit and in quotes: "10s"
    12:11: there is no time to measure
      help: write how long figures are taken, such as measure = "60s"
    13:8: "30" has no unit
      help: write times with a unit: "30s"
    18:8: "1000h" is longer than 30 days
      help: write times such as "10s", "2m", "1h 30m" or "250ms"
    19:11: expected a length of time such as "10s", found a table
    "#);
}

/// Ladders and numbers.
#[test]
fn ladders() {
    let text = r#"title = "t"
[system.m.mock]
fail_every = 0
[workload.w.tpcc]
warehouses = 0
[workload.big.tpcc]
warehouses = 100001
[[step]]
run = "w"
system = "m"
users = []
[[step]]
run = "w"
system = "m"
users = [1, 0, 10001]
[[step]]
run = "big"
system = "m"
users = [1, 2]
rate = [10, 0, -1, nan]
queue = -5
keying_and_think = -1
[[step]]
run = "w"
system = "m"
arrivals = "poisson"
max_retries = 5000
"#;
    assert_snapshot!(bad(text), @r#"
    3:14: `fail_every` cannot be 0
      help: 1 to 4294967295 is possible
    5:14: `warehouses` cannot be 0
      help: 1 to 100000 is possible
    7:14: `warehouses` cannot be 100001
      help: 1 to 100000 is possible
    11:9: the ladder is empty
      help: users = [1, 2, 4, 8]
    15:13: `users` cannot be 0
      help: 1 to 100000 is possible
    15:16: 10001 users, each with a connection
      help: at most 10000 can be open: share them, with connections = 64
    19:9: `users` has to be one number beside a `rate`
      help: with a rate, `users` is how many transactions can be under way at once; or make two steps
    20:13: `rate` cannot be 0
      help: transactions per second: above 0, at most 1000000
    20:16: `rate` cannot be -1
      help: transactions per second: above 0, at most 1000000
    20:20: `rate` cannot be NaN
      help: transactions per second: above 0, at most 1000000
    21:9: `queue` cannot be -5
      help: 0 to 10000000 is possible
    22:20: `keying_and_think` cannot be -1
      help: 0 is off, 1 as specified, at most 1000
    23:1: `users` is missing
      help: state how many: users = 8, or a ladder users = [1, 2, 4, 8]
    26:12: `arrivals` is not supported without a `rate`
      help: add rate = 100, or remove it
    27:15: `max_retries` cannot be 5000
      help: 0 to 1000 is possible
    "#);
}

/// Media.
#[test]
fn media() {
    let text = r#"title = "t"
[medium.a]
path = "/a"
[medium.b]
path = ""
[system.db]
engine = "postgres"
[workload.w.tpcc]
warehouses = 1
[[step]]
run = "w"
system = "db"
users = 1
[[step]]
run = "w"
system = "db"
users = 1
on = ["a", "c", "a"]
[[step]]
run = "w"
system = "db"
users = 1
on = []
"#;
    assert_snapshot!(bad(text), @r#"
    5:8: `path` is empty
      help: write one line of text here
    10:1: `on` is missing, and the plan has several media
      help: state which, for example on = ["a"]; known here: `a`, `b`
    18:12: there is no medium `c`
      help: known here: `a`, `b`
    18:17: `a` is named twice
      help: a medium is tried once per step
    23:6: `on` names no medium
      help: known here: `a`, `b`
    "#);
}

/// PostgreSQL without a medium, procedures on SQLite.
#[test]
fn no_medium() {
    let text = r#"title = "t"
[system.pg]
engine = "postgres"
[system.lite]
engine = "sqlite"
[workload.w.tpcc]
warehouses = 1
mode = "procedures"
[[step]]
run = "w"
system = "pg"
users = 1
[[step]]
run = "w"
system = "lite"
users = 1
"#;
    assert_snapshot!(bad(text), @r#"
    8:8: the system `lite` is sqlite, which has no procedures
      help: mode = "statements"
    11:10: the system `pg` (postgres) needs a medium for its data
      help: add [medium.here] with path = "."
    15:10: the system `lite` (sqlite) needs a medium for its data
      help: add [medium.here] with path = "."
    "#);
}

/// Systems that cannot be.
#[test]
fn systems() {
    let text = r#"title = "t"
[medium.here]
path = "."
[system.what]
[system.url]
url = "postgres://u:secret@h/d"
settings = { a = 1 }
binaries = "/usr/bin"
schema = "Public"
[system.nourl]
url = "u:secret@h"
[system.lite]
engine = "sqlite"
url = "postgres://u:secret@h/d"
schema = "x"
mock = {}
[system.own]
engine = "postgres"
settings = { port = 5433, "a b" = 1, c = "x\ny" }
[workload."bad/name".tpcc]
warehouses = 1
[workload.none]
"#;
    assert_snapshot!(bad(text), @r#"
    1:1: the plan has no [[step]]
      help: add one: [[step]] with `run`, `system` and `users`
    4:1: the system `what` has no engine
      help: engine = "postgres", "mariadb", "mysql", "sqlite" or "mock", or url = "postgres://…" of an existing one
    7:12: `settings` is not supported for an existing server
      help: plimsoll changes no server that it did not start: set them there, or leave `url` out
    8:12: `binaries` is not supported for an existing server
      help: only a server that plimsoll starts needs them
    9:10: this cannot be the name of plimsoll's schema
      help: 1 to 63 lower-case letters, digits and `_`, not `public` and not starting with `pg_`
    11:7: this is not the URL of a server
      help: url = "postgres://user@host:5432/database" or url = "mariadb://user@host:3306" or url = "mysql://user@host:3306" or url = "mssql://user@host:1433"
    14:7: `url` is not supported for sqlite
      help: only an existing server has one, with an engine such as "postgres" or "mariadb"
    15:10: `schema` is not supported for sqlite
      help: only an existing server needs one, see `url`
    16:8: `mock` is not supported for sqlite
      help: it belongs to engine = "mock"
    19:14: `port` cannot be set
      help: remove it: plimsoll starts the server apart from all others and chooses this itself
    19:27: this cannot be the name of a setting
      help: letters, digits, `_` and `.`
    19:42: the value holds line breaks or control characters
      help: write it in one line
    20:11: this cannot be the name of a workload
      help: 1 to 64 letters, digits, `-`, `_`, and in between also `.` and spaces
    22:1: the workload `none` is of no kind
      help: state what users do: [workload.none.tpcc] or [workload.none.sysbench]; or what fio does: [workload.none.block]; or what is saved: [workload.none.backup]
    "#);
}

/// Step names.
#[test]
fn names() {
    let text = r#"title = "t"
[system.m.mock]
[workload.w.tpcc]
warehouses = 1
[[step]]
run = "w"
system = "m"
users = 1
name = "same"
[[step]]
run = "w"
system = "m"
users = 1
name = "same"
[[step]]
users = 1
"#;
    assert_snapshot!(bad(text), @r#"
    14:8: two steps are named `same`
      help: give each its own name
    15:1: `run` is missing
      help: name a workload: `w`
    15:1: `system` is missing
      help: name a system: `m`
    "#);
}

/// A key given twice.
#[test]
fn duplicate() {
    let text = r#"title = "t"
title = "u"
"#;
    assert_snapshot!(bad(text), @"
    2:1: duplicate key
      help: `title` is there already; remove one of them
    ");
}

/// Mistakes that used to fill a screen: each is one error, in the line of the mistake, with what to write.
#[test]
fn one_mistake_is_one_error() {
    const PLAN: &str = r#"title = "t"
[medium.here]
path = "."
[system.db]
engine = "sqlite"
[workload.oltp.tpcc]
warehouses = 1
[[step]]
run = "oltp"
system = "db"
on = ["here"]
users = [1, 2]
measure = "10s"
[[step]]
name = "again"
run = "oltp"
system = "db"
on = ["here"]
rate = 100
users = 4
find = { p99_ms = 20 }
measure = "10s"
"#;
    let mistakes = [
        ("[[step]]", "[step]", "[[step]]"),
        ("[[step]]\nrun", "[step]\nrun", "[[step]]"),
        ("[1, 2]", "[1, 2", "a list ends with ]"),
        ("title = \"t\"", "title = \"t", "quotation mark"),
        ("\"10s\"", "10s", "measure = \"10s\""),
        ("measure = ", "measure: ", "KEY = VALUE"),
        ("[system.db]", "[system.dbb]", "did you mean `dbb`?"),
        (
            "[workload.oltp.tpcc]",
            "[workload.olpt.tpcc]",
            "did you mean `olpt`?",
        ),
        ("[medium.here]", "[medium.hree]", "did you mean `hree`?"),
        ("p99_ms = 20", "p99 = 20", "did you mean `p99_ms`?"),
        ("p99_ms = 20", "p99 = \"20ms\"", "did you mean `p99_ms`?"),
        ("p99_ms = 20", "p99_ms = \"20ms\"", "p99_ms = 20"),
    ];
    assert!(crate::parse(PLAN, &crate::Options::default()).is_ok());
    for (right, wrong, help) in mistakes {
        let errors = bad(&PLAN.replace(right, wrong));
        // A line for the error, and one for its help.
        assert_eq!(errors.lines().count(), 2, "{wrong}:\n{errors}");
        assert!(errors.contains(help), "{wrong}:\n{errors}");
    }
}

/// [[step]] written as [step], [system] as a list.
#[test]
fn wrong_brackets() {
    let text = r#"title = "t"
[[system]]
engine = "sqlite"
[[system]]
engine = "postgres"
[step]
run = "w"
users = 1
"#;
    assert_snapshot!(bad(text), @"
    2:1: expected a table, found a list
      help: single brackets and a name start a table: [system.db]
    6:1: expected a list, found a table
      help: double brackets start an entry of a list: [[step]]
    ");
}

/// Permission to change tables of others names their schema.
#[test]
fn permission_for_another_schema() {
    let text = r#"title = "t"
[system.theirs]
url = "postgres://u@h/d"
schema = "bench"
change_tables = "other"
[system.lite]
engine = "sqlite"
change_tables = "x"
[workload.w.sysbench]
script = "read_write"
rows = 1
[[step]]
run = "w"
system = "theirs"
users = 1
"#;
    assert_snapshot!(bad(text), @r#"
    5:17: `change_tables` names another schema than `schema`
      help: permit changes by the schema's name: change_tables = "bench"
    8:17: `change_tables` is not supported for sqlite
      help: only an existing server has tables that plimsoll did not make
    "#);
}
