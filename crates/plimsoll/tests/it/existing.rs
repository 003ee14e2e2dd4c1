//! A PostgreSQL that exists, named by its URL: what goes wrong on the way there, and what plimsoll touches in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::server::Server;
use crate::common::{Outcome, Place};

const SECRET: &str = "gh3im-W0rt";

fn plan(place: &Place, url: &str) {
    place.write(
        "plan.toml",
        &format!(
            "title = \"Existing\"\n[system.db]\nurl = \"{url}\"\nschema = \"load_test\"\n[workload.oltp.tpcc]\n\
             warehouses = 1\nmode = \"procedures\"\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = [2]\n\
             ramp = \"1s\"\nmeasure = \"3s\"\n"
        ),
    );
}

/// The word is in no file of the place but the plan, and in no output.
fn expect_secret_kept(place: &Place, outcome: &Outcome) {
    assert!(!format!("{outcome:?}").contains(SECRET), "{outcome:?}");
    for entry in fs::read_dir(place.path("")).unwrap().flatten() {
        if entry.file_name() == "plan.toml" || !entry.file_type().unwrap().is_file() {
            continue;
        }
        let bytes = fs::read(entry.path()).unwrap();
        let found = bytes
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes());
        assert!(!found, "the password is in {}", entry.path().display());
    }
}

#[test]
fn nobody_listens_there() {
    let place = Place::new();
    plan(
        &place,
        &format!("postgres://tester:{SECRET}@127.0.0.1:1/db"),
    );
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    expect_secret_kept(&place, &outcome);
    // Found before anything is started, so these lines are all there is.
    assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
    outcome.failed(
        1,
        &[
            "PostgreSQL at 127.0.0.1:1 cannot be reached",
            "refused",
            "Check host and port in the URL",
        ],
    );
    place.expect_no_run("x.run");
    plan(&place, "postgres://tester@no-such-host.invalid/db");
    let outcome = place.run(&["run", "plan.toml", "-o", "y.run"]);
    outcome.failed(
        1,
        &[
            "PostgreSQL at no-such-host.invalid:5432 cannot be reached",
            "Check host and port",
        ],
    );
    let url = format!("postgres://tester:{SECRET}@127.0.0.1:1/db");
    let checked = place.run(&["check", &url]);
    expect_secret_kept(&place, &checked);
    checked.failed(1, &["PostgreSQL at 127.0.0.1:1 cannot be reached"]);
}

/// Before anything is connected to.
#[test]
fn a_url_that_cannot_be_right_is_refused_by_a_dry_run() {
    let place = Place::new();
    for (url, why) in [
        ("postgres://tester@127.0.0.1:99999/db", "port"),
        (
            "postgres://tester@127.0.0.1:0/db",
            "its port is none from 1 to 65535",
        ),
        (
            "postgres://tester@127.0.0.1/db?sslcert=x",
            "its option sslcert",
        ),
        (
            "postgres://tester@127.0.0.1/db?sslmod=require",
            "an option that plimsoll and libpq do not have",
        ),
        (
            "mysql://tester@127.0.0.1:99999/db",
            "its port is none from 1 to 65535",
        ),
        (
            "mariadb://tester@127.0.0.1/db?ssl_mode=required",
            "`ssl-mode`",
        ),
        ("mssql://tester@127.0.0.1/db?encrypted=true", "`encrypt`"),
    ] {
        for command in [
            &["bench", url, "--dry-run"][..],
            &["check", url],
            &["clean", url],
        ] {
            let outcome = place.run(command);
            assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
            outcome.failed(2, &["cannot use the", why, "Write it as"]);
        }
    }
}

#[test]
fn no_mariadb_listens_there() {
    let place = Place::new();
    let url = format!("mariadb://tester:{SECRET}@127.0.0.1:1/db");
    let checked = place.run(&["check", &url]);
    expect_secret_kept(&place, &checked);
    let phrases = [
        "MariaDB at 127.0.0.1:1 cannot be reached",
        "Check host and port in the URL",
    ];
    assert!(!checked.stderr.contains("DriverError"), "{checked:?}");
    assert_eq!(checked.stderr.lines().count(), 3, "{checked:?}");
    checked.failed(1, &phrases);
}

/// Something else listens there, or a server that is stopped.
#[test]
fn who_answers_nothing_is_not_waited_for() {
    let place = Place::new();
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = mute.local_addr().unwrap().port();
    let public = format!("postgres://tester@127.0.0.1:{port}/db");
    plan(
        &place,
        &public.replace("tester@", &format!("tester:{SECRET}@")),
    );
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    expect_secret_kept(&place, &outcome);
    assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
    outcome.failed(
        1,
        &[&format!("{public} does not answer"), "came within 20 s"],
    );
    place.expect_no_run("x.run");
}

/// The facts about the system's data.
fn data(json: &serde_json::Value) -> (serde_json::Value, Option<serde_json::Value>) {
    let facts = json["facts"].as_array().unwrap();
    let value = |key: &str| {
        facts
            .iter()
            .find(|fact| fact["key"] == key)
            .map(|fact| fact["value"].clone())
    };
    (value("data").unwrap(), value("data_orders_added"))
}

/// One server for all that needs one.
#[test]
#[expect(clippy::too_many_lines, reason = "one scenario, step by step")]
fn a_server_that_is_there() {
    let place = Place::new();
    let server = Server::start(&place.medium());
    server.psql(&format!(
        "CREATE ROLE tester LOGIN PASSWORD '{SECRET}'; CREATE DATABASE db OWNER tester; CREATE ROLE other LOGIN"
    ));
    server.require_passwords();
    let url = |password: &str| {
        format!(
            "postgres://tester:{password}@127.0.0.1:{}/db",
            server.port()
        )
    };

    plan(&place, &url("wr0ng-W0rt"));
    let outcome = place.run(&["run", "plan.toml", "-o", "wrong.run"]);
    assert!(!outcome.stderr.contains("wr0ng-W0rt"), "{outcome:?}");
    outcome.failed(
        1,
        &[
            "refuses this user",
            "password authentication failed for user \"tester\"",
            "PGPASSWORD",
        ],
    );
    place.expect_no_run("wrong.run");

    // A role for which the server calls itself old: an unqualified name leads to a function of the user's.
    server.psql_in(
        "db",
        "CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT ''9.6.24''::text'; \
         ALTER ROLE tester SET search_path = public, pg_catalog",
    );
    plan(&place, &url(SECRET));
    let outcome = place.run(&["run", "plan.toml", "-o", "old.run"]);
    assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
    outcome.failed(
        1,
        &[
            "cannot measure PostgreSQL 9.6.24",
            "PostgreSQL 10.0 or later",
            "Upgrade the server",
        ],
    );
    place.expect_no_run("old.run");
    server.psql_in(
        "db",
        "ALTER ROLE tester RESET search_path; DROP FUNCTION public.current_setting(text)",
    );

    // Somebody else's table where plimsoll shall load.
    server.psql_in("db", "CREATE SCHEMA load_test AUTHORIZATION tester; CREATE TABLE load_test.customer (mine text);
                          INSERT INTO load_test.customer VALUES ('precious'); ALTER TABLE load_test.customer OWNER TO tester");
    plan(&place, &url(SECRET));
    let outcome = place.run(&["run", "plan.toml", "-o", "foreign.run"]);
    expect_secret_kept(&place, &outcome);
    assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
    let phrases = [
        "customer in schema load_test",
        "it was not made by plimsoll: ",
        "Name another schema",
    ];
    outcome.failed(1, &phrases);
    assert_eq!(
        server.psql_in("db", "SELECT mine FROM load_test.customer"),
        "precious"
    );
    place.expect_no_run("foreign.run");

    // No room for the users: known before anything is loaded.
    server.psql("ALTER ROLE tester CONNECTION LIMIT 4");
    let outcome = place.run(&["run", "plan.toml", "-o", "full.run"]);
    server.psql("ALTER ROLE tester CONNECTION LIMIT -1");
    let phrases = [
        "takes no more connections",
        "the plan needs 5 at the same time: the connection limit of role tester allows this user 4",
        "plimsoll needs 3",
    ];
    expect_secret_kept(&place, &outcome);
    assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
    outcome.failed(1, &phrases);
    place.expect_no_run("full.run");

    // Limits of time that would end loads and checks.
    for limit in [
        "statement_timeout",
        "lock_timeout",
        "idle_in_transaction_session_timeout",
    ] {
        server.psql(&format!("ALTER ROLE tester SET {limit} = '200ms'"));
    }

    // The good case, twice: the data of the first run are used again.
    server.psql_in(
        "db",
        "DROP SCHEMA load_test CASCADE; CREATE SCHEMA theirs; CREATE TABLE theirs.stock (a int)",
    );
    let before = server
        .psql_in("db", "SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM pg_namespace WHERE nspname !~ '^pg_'");
    let run = place.start(&["run", "plan.toml", "-o", "first.run"]);
    let argv = fs::read(format!("/proc/{}/cmdline", run.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&argv).contains(SECRET));
    let first = run.wait().succeeded();
    expect_secret_kept(&place, &first);
    place.opens("first.run");
    expect_secret_kept(&place, &first);
    let public = format!("postgres://tester@127.0.0.1:{}/db", server.port());
    let left = format!("Left in schema load_test of {public} for the next run: 10 tables (");
    let clean =
        format!("To remove them: PGPASSWORD=… plimsoll clean {public} --schema load_test\n");
    assert!(
        first.stderr.contains(&left) && first.stderr.contains(&clean),
        "{first:?}"
    );
    let after = server
        .psql_in("db", "SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM pg_namespace WHERE nspname !~ '^pg_'");
    assert_eq!(
        after,
        before.replace("information_schema", "information_schema load_test")
    );
    assert_eq!(
        server.psql_in("db", "SELECT count(*) FROM theirs.stock"),
        "0"
    );
    let orders = || {
        server
            .psql_in("db", "SELECT count(*) FROM load_test.orders")
            .parse::<u64>()
            .unwrap()
    };
    let grown = orders();
    assert!(grown > 30_000);
    let second = place
        .run(&["run", "plan.toml", "-o", "second.run"])
        .succeeded();
    assert!(
        second.stdout.contains("12 verified, all hold"),
        "{second:?}"
    );
    assert!(orders() > grown, "loaded anew");
    // And both report it.
    assert_eq!(data(&place.export("first.run")), ("fresh".into(), None));
    assert_eq!(
        data(&place.export("second.run")),
        ("reused".into(), Some((grown - 30_000).to_string().into()))
    );
    assert!(first.stdout.contains("Data: fresh"), "{first:?}");
    let plain = second.stdout.replace(',', "");
    assert!(
        plain.contains(&format!("Data: reused {} orders", grown - 30_000)),
        "{second:?}"
    );
    let differ = place.run(&["compare", "first.run", "second.run"]);
    assert!(differ.stdout.contains("reused"), "{differ:?}");

    // A check of its own, and one with the password from the environment.
    let mut check = place.command(&[
        "check",
        &url(SECRET).replace(&format!(":{SECRET}"), ""),
        "--schema",
        "load_test",
    ]);
    check.env("PGPASSWORD", SECRET);
    place.start_command(check).wait().succeeded();
    server.psql_in(
        "db",
        "UPDATE load_test.district SET d_ytd = d_ytd + 1 WHERE d_id = 3",
    );
    let broken = place.run(&["check", &url(SECRET), "--schema", "load_test"]);
    assert!(broken.stdout.contains("FAILS"), "{broken:?}");
    broken.failed(1, &["of 12 consistency conditions do not hold"]);
    let missing = place.run(&["check", &url(SECRET), "--schema", "theirs"]);
    missing.failed(
        1,
        &["TPC-C data in schema theirs was not found", "plimsoll run"],
    );

    // The password of a file that only its user can read.
    let password_file = place.write("pgpass", &format!("*:*:db:tester:{SECRET}\n"));
    let without = url(SECRET).replace(&format!(":{SECRET}"), "");
    for (mode, code) in [(0o644, 1), (0o600, 0)] {
        fs::set_permissions(&password_file, fs::Permissions::from_mode(mode)).unwrap();
        let mut clean = place.command(&["clean", &without, "--schema", "load_test", "--dry-run"]);
        clean.env("PGPASSFILE", &password_file);
        let outcome = place.start_command(clean).wait();
        let text = format!("{outcome:?}");
        assert_eq!(outcome.code, Some(code), "{text}");
        assert_eq!(text.contains("chmod 600"), code == 1, "{text}");
        assert!(!text.contains(SECRET), "{text}");
    }
    fs::remove_file(password_file).unwrap();

    // Another user without rights.
    server.psql(&format!("ALTER ROLE other PASSWORD '{SECRET}'"));
    let others = url(SECRET).replace("tester:", "other:");
    for (command, phrases) in [
        (
            "clean",
            [
                "is not known to be plimsoll's",
                "belongs to the role tester",
                "Connect as tester",
            ],
        ),
        (
            "check",
            [
                "schema load_test refuses this user",
                "does not exist",
                "let it GRANT USAGE",
            ],
        ),
    ] {
        let outcome = place.run(&[command, &others, "--schema", "load_test"]);
        expect_secret_kept(&place, &outcome);
        outcome.failed(1, &phrases);
    }

    // What plimsoll made goes, and nothing else. What others made of it is theirs.
    let level = "plimsoll_stock_level(1, 1, 1)";
    server.psql_in(
        "db",
        &format!("CREATE VIEW theirs.level AS SELECT load_test.{level}"),
    );
    let needed = place.run(&["clean", &url(SECRET), "--schema", "load_test"]);
    assert!(!needed.stderr.contains("CASCADE"), "{needed:?}");
    needed.failed(
        1,
        &[
            "theirs.level depends on function",
            "Drop what needs them first",
        ],
    );
    server.psql_in("db", "DROP VIEW theirs.level");
    server.psql_in("db", "CREATE TABLE load_test.mine (a int)");
    let clean = |schema: &str, more: &[&str]| {
        let url = url(SECRET);
        let args = [&["clean", &url, "--schema", schema][..], more].concat();
        let outcome = place.run(&args).succeeded();
        expect_secret_kept(&place, &outcome);
        outcome.stdout
    };
    let listed = clean("load_test", &["--dry-run"]);
    assert!(listed.starts_with("Would remove 10 tables ("), "{listed}");
    assert!(orders() > 0);
    let removed = clean("load_test", &[]);
    assert!(
        removed.starts_with("Removed 10 tables (") && removed.contains("order_line"),
        "{removed}"
    );
    let left = "SELECT (SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'load_test'::regnamespace)
                || ' ' || (SELECT count(*) FROM pg_proc WHERE pronamespace = 'load_test'::regnamespace)";
    assert_eq!(server.psql_in("db", left), "mine 0");
    for schema in ["load_test", "theirs", "nowhere"] {
        let nothing = format!(
            "Nothing to remove: plimsoll made no table in schema {schema} of {public}.\n\
             If the plan names another schema: --schema NAME\n"
        );
        assert_eq!(clean(schema, &[]), nothing);
    }
    assert_eq!(
        server.psql_in("db", "SELECT count(*) FROM theirs.stock"),
        "0"
    );
    server.psql_in(
        "db",
        "DROP TABLE load_test.mine; CREATE SCHEMA empty AUTHORIZATION tester",
    );
    assert_eq!(
        clean("load_test", &[]),
        "Removed schema load_test, which was empty\n"
    );
    let left = "nothing proves that plimsoll made it. To remove it: DROP SCHEMA \"empty\"\n";
    let kept = clean("empty", &[]);
    assert!(kept.ends_with(left), "{kept}");

    drop(server);
    fs::set_permissions(place.medium(), fs::Permissions::from_mode(0o755)).unwrap();
    place.expect_clean();
}
