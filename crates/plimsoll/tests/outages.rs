//! A PostgreSQL that exists and goes away while it is measured: for a while, for good, or in part.

mod common;

use common::server::Server;
use common::{Background, Place};
use rustix::process::Signal;
use serde_json::Value;

/// A window that no test waits for the end of.
fn plan(place: &Place, port: u16, password: &str, step: &str) {
    place.write(
        "plan.toml",
        &format!(
            "title = \"Outage\"\n[system.db]\nurl = \"postgres://tester:{password}@127.0.0.1:{port}/db\"\n\
             schema = \"load_test\"\n[workload.oltp.tpcc]\nwarehouses = 1\nmode = \"procedures\"\n[[step]]\n\
             run = \"oltp\"\nsystem = \"db\"\nramp = \"1s\"\nmeasure = \"30m\"\n{step}\n"
        ),
    );
}

/// Starts the plan and returns when it measures and transactions have been committed since.
fn measuring(place: &Place, server: &Server, run_file: &str) -> Background {
    let mut run = place.start(&["run", "plan.toml", "-o", run_file]);
    run.until_it_says("· measure for 30m");
    commits(server);
    run
}

/// Waits until some more orders have been committed.
fn commits(server: &Server) {
    let orders = || server.psql_in("db", "SELECT count(*) FROM load_test.orders").parse::<u64>().unwrap();
    let before = orders();
    common::wait_for("commits", || (orders() > before + 20).then_some(()));
}

/// The texts of the events of this code.
fn told<'a>(json: &'a Value, code: &str) -> Vec<&'a str> {
    let events = json["events"].as_array().unwrap().iter().filter(|event| event["code"] == code);
    events.map(|event| event["text"].as_str().unwrap()).collect()
}

/// What was measured is kept, and every intent is accounted for. Gives the number of the failed.
fn expect_kept(json: &Value) -> u64 {
    assert_eq!(told(json, "conservation"), [""; 0]);
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert!(point["nopm"].as_f64().unwrap() > 0.0, "{point}");
    let counts = &point["overall"]["counts"];
    let n = |name: &str| counts[name].as_u64().unwrap();
    assert!(n("committed") > 0, "{counts}");
    assert!(n("offered").abs_diff(n("committed") + n("rolled_back") + n("failed") + n("dropped")) <= 12, "{counts}");
    n("failed")
}

/// One server for all that needs one; each scenario leaves it as the next one wants it.
#[test]
fn a_server_that_goes_away() {
    let place = Place::new();
    let server = Server::start(&place.medium());
    server.psql("CREATE ROLE tester LOGIN PASSWORD 'first'; CREATE DATABASE db OWNER tester");
    server.require_passwords();

    restarted_within_the_window(&place, &server);
    the_password_was_changed(&place, &server);
    it_takes_fewer_connections(&place, &server);
    a_privilege_was_revoked(&place, &server);
    a_table_was_dropped(&place, &server);
}

fn restarted_within_the_window(place: &Place, server: &Server) {
    plan(place, server.port(), "first", "users = 12\nconnections = 4");
    let mut run = measuring(place, server, "restart.run");
    server.crash();
    run.until_it_says("was lost and is opened again");
    server.restart();
    run.until_it_says("the server was away from");
    commits(server);
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    let json = place.opens("restart.run");
    assert_eq!(json["run"]["status"], "interrupted", "by the test, and not failed");
    let failed = expect_kept(&json);
    assert!((1..=8).contains(&failed), "what was under way: {failed}");
    assert_eq!((told(&json, "connection_lost").len(), told(&json, "reconnected").len()), (1, 1), "{}", json["events"]);
    let away = told(&json, "reconnected")[0];
    assert!(away.contains(" of this point: connections were lost") && away.contains("failed attempts"), "{away}");
}

fn the_password_was_changed(place: &Place, server: &Server) {
    plan(place, server.port(), "first", "users = 3");
    let run = measuring(place, server, "password.run");
    server.psql("ALTER ROLE tester PASSWORD 'second'");
    server.psql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'tester'");
    let outcome = run.wait();
    assert!(!outcome.stderr.contains("first") && !outcome.stderr.contains("second"), "{outcome:?}");
    outcome.failed(
        1,
        &[
            "a connection was lost at",
            "terminating connection due to administrator command",
            "could not be opened again",
            "password authentication failed for user \"tester\"",
            "Give the right password of \"tester\" in PGPASSWORD or in the URL",
        ],
    );
    let json = place.opens("password.run");
    assert_eq!(json["run"]["status"], "failed");
    assert!(json["run"]["failure"].as_str().unwrap().contains("refuses this user"), "{}", json["run"]);
    expect_kept(&json);
}

fn it_takes_fewer_connections(place: &Place, server: &Server) {
    server.psql("ALTER ROLE tester CONNECTION LIMIT 5");
    plan(place, server.port(), "second", "users = 40");
    let outcome = place.run(&["run", "plan.toml", "-o", "many.run"]);
    let phrases =
        ["takes no more connections", "and the plan wants 40", "SQLSTATE 53300", "share them: connections = "];
    outcome.failed(1, &phrases);
    assert_eq!(place.opens("many.run")["run"]["status"], "failed");
    plan(place, server.port(), "second", "rate = 10\nusers = 40");
    let outcome = place.run(&["run", "plan.toml", "-o", "rate.run"]);
    outcome.failed(1, &["have fewer under way at once: users = ", "Raise max_connections"]);
    server.psql("ALTER ROLE tester CONNECTION LIMIT -1");
}

fn a_privilege_was_revoked(place: &Place, server: &Server) {
    plan(place, server.port(), "second", "users = 3");
    let run = measuring(place, server, "revoked.run");
    server.psql_in("db", "REVOKE ALL ON load_test.stock FROM tester");
    let phrases =
        ["the server forbids this user", "permission denied for table stock", "Grant this user what was revoked"];
    run.wait().failed(1, &phrases);
    let json = place.opens("revoked.run");
    assert_eq!(json["run"]["status"], "failed");
    assert!(expect_kept(&json) <= 9, "ended at once");
    server.psql_in("db", "GRANT ALL ON load_test.stock TO tester");
}

fn a_table_was_dropped(place: &Place, server: &Server) {
    plan(place, server.port(), "second", "users = 3");
    let run = measuring(place, server, "dropped.run");
    server.psql_in("db", "DROP TABLE load_test.stock CASCADE");
    let outcome = run.wait();
    outcome.failed(
        1,
        &["the workload's tables are no longer as they were", "\"stock\" does not exist", "Somebody dropped"],
    );
    let json = place.opens("dropped.run");
    assert_eq!(json["run"]["status"], "failed");
    assert!(json["run"]["failure"].as_str().unwrap().contains("SQLSTATE 42P01"), "{}", json["run"]);
    assert!(expect_kept(&json) <= 9, "ended at once");
}
