//! Promises that every engine keeps, from plan to report: a run, its server killed, a wrong setting. A full disk is in
//! `disk_full.rs`, a power cut in `emulated.rs`, a server that goes away in `outages.rs`, backups in `backup.rs`.

use std::fs;

use crate::common::{Place, expect_died, processes_in, send, wait_for, worked};
use rustix::process::Signal;
use serde_json::Value;

const SHORT: &str = "users = [1, 2]\nramp = \"1s\"\nmeasure = \"2s\"";

/// Runs the workload in this mode; the facts must have these words.
fn run_from_plan_to_report(engine: &str, mode: &str, words: &[&str]) -> Place {
    let place = Place::new();
    let text = fs::read_to_string(place.plan(engine, SHORT)).unwrap();
    let with_mode = format!("warehouses = 1\nmode = \"{mode}\"");
    place.write("plan.toml", &text.replace("warehouses = 1", &with_mode));
    let (outcome, json) = place.run_until(worked);
    let outcome = outcome.succeeded();
    assert!(outcome.stderr.contains("oltp: loading"), "{outcome:?}");
    let starts_a_server = engine != "sqlite";
    assert_eq!(
        outcome.stderr.contains("starting db@here"),
        starts_a_server,
        "{outcome:?}"
    );
    assert!(
        outcome.stdout.contains("24 verified, all hold"),
        "{outcome:?}"
    );
    assert_eq!(json["checks"].as_array().unwrap().len(), 24);
    assert_eq!(json["run"]["status"], "complete");
    assert_eq!(json["run"]["failure"], Value::Null);
    assert!(!json["events"].to_string().contains("unreadable"));
    let ladder = &json["summary"]["ladders"][0];
    assert_eq!(ladder["mode"], mode);
    let points = ladder["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    for (users, point) in (1..).zip(points) {
        assert_eq!(point["users"], users);
        assert!(point["nopm"]["value"].as_f64().unwrap() > 0.0, "{point}");
        assert_eq!(point["complete"], true, "{point}");
        assert_eq!(point["overall"]["counts"]["failed"], 0, "{point}");
        let trips = point["round_trips_per_txn"]["value"].as_f64().unwrap();
        let expected = if mode == "procedures" {
            1.0..1.2
        } else {
            10.0..100.0
        };
        assert!(expected.contains(&trips), "{point}");
    }
    let facts = json["facts"].to_string();
    for words in words {
        assert!(facts.contains(words), "{facts}");
    }
    place.expect_clean();
    place
}

fn table(place: &Place, name: &str) -> String {
    place
        .run(&["export", "x.run", "--to", "csv", "--table", name])
        .succeeded()
        .stdout
}

fn series(place: &Place) -> String {
    table(place, "series")
}

#[test]
fn a_run_from_plan_to_report_on_sqlite() {
    let place = run_from_plan_to_report("sqlite", "statements", &[]);
    let series = series(&place);
    for metric in [
        "db_log_bytes",
        "db_log_size",
        "db_checkpoints",
        "db_checkpoint_time",
        "db_checkpoint_frames",
        "db_checkpoint_age",
        "db_lock_waiters",
        "db_size",
    ] {
        assert!(series.contains(metric), "{metric}");
    }
}

#[test]
fn a_run_from_plan_to_report_on_postgres() {
    // The server was asked about itself all the time.
    let words = ["PostgreSQL", "pg_stat_activity"];
    let place = run_from_plan_to_report("postgres", "procedures", &words);
    let waits = table(&place, "wait");
    let mut rows = waits.lines().skip(1);
    assert!(
        rows.any(|row| row.contains(",cpu,") || row.contains(",log,")),
        "{waits}"
    );
    let series = series(&place);
    for metric in [
        "db_commits",
        "db_log_bytes",
        "db_log_syncs",
        "db_size",
        "db_probe_busy",
    ] {
        assert!(series.contains(metric), "{metric}");
    }
}

#[test]
fn a_run_from_plan_to_report_on_mariadb() {
    let words = ["MariaDB", "innodb_flush_log_at_trx_commit"];
    run_from_plan_to_report("mariadb", "statements", &words);
}

/// `command`: how the command line of the server begins.
fn a_server_killed_while_measuring(engine: &str, command: &str) {
    let place = Place::new();
    place.plan(engine, "users = [2]\nramp = \"1s\"\nmeasure = \"60s\"");
    place.small_data();
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    run.until_measured("x.run");
    let mut processes = processes_in(&place.path("")).into_iter();
    let server = processes.find(|(_, line)| line.contains(command));
    send(server.expect("a server").0, Signal::KILL);
    let phrases = [
        "the server of system db ended unexpectedly",
        "signal: 9",
        "its log: ",
        "The run file has everything measured until then",
        "dmesg",
    ];
    run.wait().failed(1, &phrases);
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "failed");
    let failure = json["run"]["failure"].as_str().unwrap();
    assert!(failure.contains("ended unexpectedly"), "{failure}");
    let point = &json["summary"]["ladders"][0]["points"][0];
    expect_died(point);
    assert!(
        point["completed_per_second"]["value"].as_f64().unwrap() > 0.0,
        "{point}"
    );
    assert_eq!(point["complete"], false, "{point}");
    // Its children notice by themselves.
    wait_for("the end of the server's processes", || {
        processes_in(&place.path("")).is_empty().then_some(())
    });
    place.expect_clean();
}

#[test]
fn a_postgres_killed_while_measuring() {
    // Its children show a title (`postgres: …`) in place of the path and options.
    a_server_killed_while_measuring("postgres", "postgres -D");
}

#[test]
fn a_mariadb_killed_while_measuring() {
    a_server_killed_while_measuring("mariadb", "mariadbd --defaults-file");
}

#[test]
fn a_wrong_setting_gets_the_servers_words() {
    for (engine, setting, words) in [
        (
            "postgres",
            "shared_bufers",
            "unrecognized configuration parameter \"shared_bufers\"",
        ),
        (
            "mariadb",
            "innodb_bufer_pool_size",
            "unknown variable 'innodb_bufer_pool_size=1G'",
        ),
    ] {
        let place = Place::new();
        let text = fs::read_to_string(place.plan(engine, SHORT)).unwrap();
        let wrong = format!("settings = {{ {setting} = \"1G\" }}\nengine = ");
        place.write("plan.toml", &text.replace("engine = ", &wrong));
        let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
        outcome.failed(1, &[words, "correct `settings` in the plan"]);
        let outcome = place
            .start_command(place.command(&["run", "plan.toml", "-o", "x.run", "-q"]))
            .wait()
            .failed(1, &[words, "--verbose"]);
        assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
        place.expect_no_run("x.run");
        place.expect_clean();
    }
}

#[test]
fn a_server_that_cannot_be_started_is_found_before_anything_is_written() {
    let place = Place::new();
    let text = fs::read_to_string(place.plan("postgres", SHORT)).unwrap();
    let refused = |phrases: &[&str]| {
        let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
        assert_eq!(outcome.stderr.lines().count(), 3, "{outcome:?}");
        outcome.failed(1, phrases);
        place.expect_no_run("x.run");
        place.expect_clean();
    };
    place.write(
        "plan.toml",
        &text.replace("engine = ", "binaries = \"/nowhere\"\nengine = "),
    );
    refused(&["was not found", "/nowhere"]);
    // A server of root's runs as another user.
    if rustix::process::geteuid().is_root() {
        place.write("plan.toml", &text);
        let closed = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(place.medium(), closed).unwrap();
        refused(&["cannot run a server in ", "may not enter", "chmod o+x"]);
    }
}
