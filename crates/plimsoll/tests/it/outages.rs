//! A server that exists and goes away while it is measured: for a while, for good, or in part.

use std::fs;
use std::time::Duration;

use crate::common::server::Server;
use crate::common::{Background, Place, processes_in, send, wait_for};
use plimsoll_load::engine::server::ManagedServer;
use plimsoll_load::scratch::Scratch;
use plimsoll_plan::resolved::ManagedKind;
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
    run.wait_for_message("· measure for 30m");
    commits(server);
    run
}

/// Waits until some more orders have been committed.
fn commits(server: &Server) {
    let orders = || {
        server
            .psql_in("db", "SELECT count(*) FROM load_test.orders")
            .parse::<u64>()
            .unwrap()
    };
    let before = orders();
    wait_for("commits", || (orders() > before + 20).then_some(()));
}

/// The texts of the events of this code.
fn events_of<'a>(json: &'a Value, code: &str) -> Vec<&'a Value> {
    let events = json["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["code"] == code);
    events.map(|event| &event["args"]).collect()
}

/// What was measured is kept, and every intent is accounted for. Gives the number of the failed.
fn expect_kept(json: &Value) -> u64 {
    assert!(events_of(json, "conservation").is_empty());
    let point = &json["summary"]["ladders"][0]["points"][0];
    let rate = point["completed_per_second"]["value"].as_f64();
    assert!(rate.unwrap() > 0.0, "{point}");
    let counts = &point["overall"]["counts"];
    let n = |name: &str| counts[name].as_u64().unwrap();
    assert!(n("committed") > 0, "{counts}");
    assert!(
        n("offered").abs_diff(n("committed") + n("rolled_back") + n("failed") + n("dropped")) <= 12,
        "{counts}"
    );
    n("failed")
}

/// The time without a server is a part of the point, which it makes invalid, and Little's law leaves it out.
fn expect_outage(json: &Value) {
    let point = &json["summary"]["ladders"][0]["points"][0];
    let s = point["outage"]["server_s"].as_f64().unwrap();
    assert!(
        s > 0.1 && point["outage"]["percent"].as_f64().unwrap() > 1.0,
        "{point}"
    );
    let is_away =
        |finding: &&Value| finding["finding"] == "server_away" && finding["severity"] == "error";
    assert!(
        point["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| is_away(&finding)),
        "{point}"
    );
    assert_eq!(point["verdict"], "invalid");
    let response = point["overall"]["response"]["max_ms"].as_f64().unwrap();
    assert!(
        response >= s * 900.0,
        "those who waited are counted: {point}"
    );
    expect_little(json);
}

fn expect_little(json: &Value) {
    let judged = json["summary"]["audit"]["judged"].as_array().unwrap();
    let little = judged
        .iter()
        .find(|judged| judged["rule"] == "LITTLE")
        .unwrap();
    assert_ne!(little["outcome"], "fired", "{little}");
}

/// All of its processes: PostgreSQL's answer apart from the one that listens.
fn signal_servers(place: &Place, signal: Signal) {
    let servers = processes_in(&place.medium())
        .into_iter()
        .filter(|(_, command)| !command.contains("plimsoll run"));
    servers.for_each(|(pid, _)| send(pid, signal));
}

/// A server that stops answering for a while: nothing is lost, and response times contain it.
fn stopped_for_a_while(place: &Place, mut run: Background) {
    run.until_measured("stopped.run");
    signal_servers(place, Signal::STOP);
    std::thread::sleep(Duration::from_secs(2));
    signal_servers(place, Signal::CONT);
    run.until_measured_for("stopped.run", 5);
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    let json = place.opens("stopped.run");
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert!(
        point["overall"]["response"]["max_ms"].as_f64().unwrap() >= 1_900.0,
        "{point}"
    );
    assert_eq!(
        (
            events_of(&json, "connection_lost").len(),
            events_of(&json, "conservation").len()
        ),
        (0, 0)
    );
    assert_eq!(
        (&point["overall"]["counts"]["failed"], &point["outage"]),
        (&0.into(), &Value::Null),
        "{point}"
    );
    expect_little(&json);
}

/// Twice: nobody waits for a server that answers nothing.
fn interrupted_while_stopped(place: &Place, mut run: Background) {
    run.until_measured("ctrl-c.run");
    signal_servers(place, Signal::STOP);
    std::thread::sleep(Duration::from_millis(500));
    run.signal(Signal::INT);
    run.wait_for_message("Ctrl-C again");
    run.signal(Signal::INT);
    let outcome = run.wait();
    signal_servers(place, Signal::CONT);
    outcome.failed(1, &["interrupted"]);
    let json = place.opens("ctrl-c.run");
    assert_eq!(json["run"]["status"], "interrupted");
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert!(
        point["completed_per_second"]["value"].as_f64().unwrap() > 0.0,
        "{point}"
    );
    assert!(events_of(&json, "conservation").is_empty());
}

/// Tables that are loaded in a moment: what happens to a server does not depend on them.
fn small_plan(place: &Place, url: &str) {
    place.write(
        "plan.toml",
        &format!(
            "title = \"Outage\"\n[system.db]\nurl = \"{url}\"\nschema = \"load_test\"\n[workload.mix.sysbench]\n\
             script = \"read_write\"\ntables = 1\nrows = 1000\n[[step]]\nrun = \"mix\"\nsystem = \"db\"\nusers = 3\n\
             ramp = \"1s\"\nmeasure = \"30m\"\ncool = \"30m\"\ncheck = \"off\"\n"
        ),
    );
}

/// A server that a test can kill.
struct Victim {
    server: ManagedServer,
    _scratch: Scratch,
}

impl Victim {
    fn start(kind: ManagedKind, place: &Place) -> Self {
        let mut scratch = Scratch::create(&place.medium(), "server").unwrap();
        let server = ManagedServer::start(kind, &mut scratch, &Default::default(), "", None);
        Self {
            server: server.unwrap_or_else(|error| panic!("{error}")),
            _scratch: scratch,
        }
    }

    fn url(&self) -> String {
        let conninfo = self.server.conninfo();
        match conninfo
            .split_whitespace()
            .find_map(|word| word.strip_prefix("host="))
        {
            Some(socket) => {
                let socket = socket.trim_matches('\'');
                format!("postgres://plimsoll@/postgres?host={socket}")
            }
            None => conninfo,
        }
    }
}

fn a_server_that_goes_away(kind: ManagedKind) {
    let place = Place::new();
    let victim = Victim::start(kind, &place);
    small_plan(&place, &victim.url());
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    let shared = text.replace("users = 3", "users = 12\nconnections = 4");
    place.write("plan.toml", &shared);
    killed_and_restarted(&place, &victim.server);
    place.write("plan.toml", &text);
    let start = |run| place.start(&["run", "plan.toml", "-o", run]);
    stopped_for_a_while(&place, start("stopped.run"));
    interrupted_while_stopped(&place, start("ctrl-c.run"));
}

fn killed_and_restarted(place: &Place, server: &ManagedServer) {
    let mut run = place.start(&["run", "plan.toml", "-o", "killed.run"]);
    run.until_measured("killed.run");
    // As one that waits for its disk when it is killed: what was under way lasts, and never completes.
    signal_servers(place, Signal::STOP);
    std::thread::sleep(Duration::from_secs(2));
    server.process().crash().unwrap();
    run.wait_for_message("was lost and is opened again");
    server.restart(&|| false).unwrap();
    run.wait_for_message("server was away from");
    run.until_measured_for("killed.run", 4);
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    let json = place.opens("killed.run");
    // By the test, and not failed.
    assert_eq!(json["run"]["status"], "interrupted");
    let failed = expect_kept(&json);
    assert!((1..=8).contains(&failed), "what was under way: {failed}");
    let lost = events_of(&json, "connection_lost");
    let reconnected = events_of(&json, "reconnected");
    assert_eq!(
        (lost.len(), reconnected.len()),
        (1, 1),
        "{}",
        json["events"]
    );
    assert!(
        reconnected[0]["server_away"] == true && reconnected[0]["refused"].as_u64() > Some(0),
        "{reconnected:?}"
    );
    expect_outage(&json);
}

#[test]
fn a_postgres_that_goes_away() {
    a_server_that_goes_away(ManagedKind::Postgres);
}

#[test]
fn a_mariadb_that_goes_away() {
    a_server_that_goes_away(ManagedKind::Mariadb);
}

/// One server for all that needs one; each scenario leaves it as the next one wants it.
#[test]
fn what_was_changed_on_a_server_has_an_error_of_its_own() {
    let place = Place::new();
    let server = Server::start(&place.medium());
    server.psql("CREATE ROLE tester LOGIN PASSWORD 'first'; CREATE DATABASE db OWNER tester");
    server.require_passwords();

    the_password_was_changed(&place, &server);
    it_takes_fewer_connections(&place, &server);
    a_privilege_was_revoked(&place, &server);
    a_table_was_dropped(&place, &server);
}

fn the_password_was_changed(place: &Place, server: &Server) {
    plan(place, server.port(), "first", "users = 3");
    let run = measuring(place, server, "password.run");
    server.psql("ALTER ROLE tester PASSWORD 'second'");
    server.psql(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'tester'",
    );
    let outcome = run.wait();
    assert!(
        !outcome.stderr.contains("first") && !outcome.stderr.contains("second"),
        "{outcome:?}"
    );
    outcome.failed(
        1,
        &[
            "a connection was lost at",
            "terminating connection due to administrator command",
            "could not be opened again",
            "password authentication failed for user \"tester\"",
            "Give the right password of \"tester\" in PGPASSWORD or the URL",
        ],
    );
    let json = place.opens("password.run");
    assert_eq!(json["run"]["status"], "failed");
    assert!(
        json["run"]["failure"]
            .as_str()
            .unwrap()
            .contains("refuses this user"),
        "{}",
        json["run"]
    );
    expect_kept(&json);
}

fn it_takes_fewer_connections(place: &Place, server: &Server) {
    server.psql("ALTER ROLE tester CONNECTION LIMIT 5");
    plan(place, server.port(), "second", "users = 40");
    let outcome = place.run(&["run", "plan.toml", "-o", "many.run"]);
    let phrases = [
        "takes no more connections",
        "the plan needs 43 at the same time: the connection limit of role tester allows this user 5",
        "plimsoll needs 3",
    ];
    outcome.failed(1, &phrases);
    place.expect_no_run("many.run");
    plan(place, server.port(), "second", "rate = 10\nusers = 40");
    let outcome = place.run(&["run", "plan.toml", "-o", "rate.run"]);
    outcome.failed(1, &phrases);
    place.expect_no_run("rate.run");
    server.psql("ALTER ROLE tester CONNECTION LIMIT -1");
}

fn a_privilege_was_revoked(place: &Place, server: &Server) {
    plan(place, server.port(), "second", "users = 3");
    let run = measuring(place, server, "revoked.run");
    server.psql_in("db", "REVOKE ALL ON load_test.stock FROM tester");
    let phrases = [
        "the server forbids this user",
        "permission denied for table stock",
        "Grant this user what was revoked",
    ];
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
        &[
            "the workload's tables are no longer as they were",
            "\"stock\" does not exist",
            "were dropped or changed",
        ],
    );
    let json = place.opens("dropped.run");
    assert_eq!(json["run"]["status"], "failed");
    assert!(
        json["run"]["failure"]
            .as_str()
            .unwrap()
            .contains("SQLSTATE 42P01"),
        "{}",
        json["run"]
    );
    assert!(expect_kept(&json) <= 9, "ended at once");
}
