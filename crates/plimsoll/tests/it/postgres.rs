//! PostgreSQL that plimsoll manages: from plan to report, and what happens when it does not go well.

use std::fs;

use crate::common::server::{Mount, psql};
use crate::common::{Place, expect_died, postmaster, processes_in, send, wait_for, worked};
use rustix::process::Signal;

const SHORT: &str = "users = [1, 2]\nramp = \"1s\"\nmeasure = \"2s\"";
const LONG: &str = "users = [2]\nramp = \"1s\"\nmeasure = \"5s\"";

#[test]
fn a_run_from_plan_to_report() {
    let place = Place::new();
    place.plan("postgres", SHORT);
    let (outcome, json) = place.run_until(worked);
    let outcome = outcome.succeeded();
    assert!(
        outcome.stdout.contains("24 verified, all hold"),
        "{outcome:?}"
    );
    let ladder = &json["summary"]["ladders"][0];
    assert_eq!(ladder["mode"], "procedures");
    for point in ladder["points"].as_array().unwrap() {
        assert!(
            point["nopm"].as_f64().unwrap() > 0.0 && point["complete"] == true,
            "{point}"
        );
        assert_eq!(point["overall"]["counts"]["failed"], 0, "{point}");
        assert_eq!(point["round_trips_per_txn"], 1.0, "{point}");
    }
    let facts = json["facts"].to_string();
    assert!(
        facts.contains("PostgreSQL") || facts.contains("setting."),
        "{facts}"
    );
    // The server was asked about itself all the time.
    assert!(facts.contains("pg_stat_activity"), "{facts}");
    let table = |name: &str| {
        place
            .run(&["export", "x.run", "--to", "csv", "--table", name])
            .succeeded()
            .stdout
    };
    let waits = table("wait");
    assert!(
        waits
            .lines()
            .skip(1)
            .any(|row| row.contains(",cpu,") || row.contains(",log,")),
        "{waits}"
    );
    let series = table("series");
    for metric in [
        "db_commits",
        "db_log_bytes",
        "db_log_syncs",
        "db_size",
        "db_probe_busy",
    ] {
        assert!(series.contains(metric), "{metric}");
    }
    place.expect_clean();
}

#[test]
fn a_server_killed_while_measuring() {
    let place = Place::new();
    place.plan("postgres", "users = [2]\nramp = \"1s\"\nmeasure = \"60s\"");
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.until_it_says("measure for 1m");
    run.until_measured("x.run");
    send(postmaster(&place.path("")).unwrap(), Signal::KILL);
    let outcome = run.wait();
    outcome.failed(
        1,
        &[
            "the server of system db ended unexpectedly",
            "signal: 9",
            "its log ends with:",
            "unexpected postmaster exit",
            "The run file has everything measured until then",
            "dmesg",
        ],
    );
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "failed");
    expect_died(&json["summary"]["ladders"][0]["points"][0]);
    assert!(
        json["run"]["failure"]
            .as_str()
            .unwrap()
            .contains("ended unexpectedly"),
        "{}",
        json["run"]
    );
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert!(
        point["nopm"].as_f64().unwrap() > 0.0 && point["complete"] == false,
        "{point}"
    );
    // Its children notice by themselves.
    wait_for("the server's children", || {
        processes_in(&place.path("")).is_empty().then_some(())
    });
    place.expect_clean();
}

#[test]
fn a_wrong_setting_gets_the_servers_words() {
    let place = Place::new();
    let text = fs::read_to_string(place.plan("postgres", SHORT)).unwrap();
    place.write(
        "plan.toml",
        &text.replace(
            "engine = ",
            "settings = { shared_bufers = \"1GB\" }\nengine = ",
        ),
    );
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    outcome.failed(
        1,
        &[
            "unrecognized configuration parameter \"shared_bufers\"",
            "correct `settings` in the plan",
        ],
    );
    assert_eq!(place.opens("x.run")["run"]["status"], "failed");
    place.expect_clean();
}

#[test]
fn a_disk_that_fills_up_while_loading() {
    let place = Place::new();
    let Some(_mount) = Mount::tmpfs(&place.medium(), "size=1800m,mode=755") else {
        // An ordinary user cannot mount: a limit on the size of files stands in for the full disk.
        return full_by_limit(&place);
    };
    let text = fs::read_to_string(place.plan("postgres", LONG)).unwrap();
    place.write(
        "plan.toml",
        &text.replace("warehouses = 1", "warehouses = 4"),
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.until_it_says("oltp: loading");
    // Takes space without filling it: until the file system has none left.
    let filler = place.medium().join("filler");
    let file = fs::File::create(&filler).unwrap();
    let free = rustix::fs::statvfs(place.medium()).unwrap();
    let mut size = (free.f_bavail * free.f_frsize).saturating_sub(1 << 20);
    while size > 4096
        && rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, size).is_err()
    {
        size -= size / 16;
    }
    let outcome = run.wait();
    // In the server's own words it is no space, or a write that was cut short.
    outcome.failed(
        1,
        &[
            "no space left on",
            "could not",
            "Free space there",
            "--data-scale",
        ],
    );
    fs::remove_file(&filler).unwrap();
    place.expect_clean();
    assert_eq!(place.opens("x.run")["run"]["status"], "failed");
}

fn full_by_limit(place: &Place) {
    place.plan("postgres", LONG);
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "ulimit -f 30000; exec \"$0\" run plan.toml -o x.run",
        env!("CARGO_BIN_EXE_plimsoll"),
    ]);
    command
        .current_dir(place.path(""))
        .env("TMPDIR", place.path("tmp"));
    let outcome = place.start_command(command).wait();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    place.expect_clean();
    place.opens("x.run");
}

#[test]
fn a_row_broken_by_hand_is_found_by_the_next_check() {
    let place = Place::new();
    place.plan("postgres", LONG);
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.until_it_says("measure for 5s");
    let pid = postmaster(&place.path("")).unwrap();
    let socket = wait_for("the socket", || {
        // Line 5 of postmaster.pid is the directory of the socket.
        let text = fs::read_to_string(format!("/proc/{pid}/cwd/postmaster.pid")).ok()?;
        text.lines().nth(4).map(str::to_owned)
    });
    let target = format!("host={socket} port=5432 user=plimsoll dbname=postgres");
    psql(
        &target,
        "UPDATE plimsoll.warehouse SET w_ytd = w_ytd + 1000 WHERE w_id = 1",
    );
    let outcome = run.wait();
    assert!(outcome.stdout.contains("3.3.2.1"), "{outcome:?}");
    outcome.failed(
        1,
        &[
            "condition 3.3.2.1 does not hold",
            "do not quote these figures",
        ],
    );
    let json = place.opens("x.run");
    let failing = json["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["holds"] == false)
        .unwrap();
    assert_eq!(failing["clause"], "3.3.2.1", "{failing}");
    place.expect_clean();
}
