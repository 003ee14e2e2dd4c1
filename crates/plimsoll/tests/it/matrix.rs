//! Plans with a matrix: a run for each combination, kept apart, gone on with after an interruption.

use std::fs;

use crate::common::Place;
use rustix::process::Signal;

fn plan(place: &Place, step: &str, matrix: &str) {
    place.write(
        "plan.toml",
        &format!(
            "title = \"What latency costs\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
             [[step]]\nrun = \"oltp\"\nsystem = \"db\"\n{step}\n[matrix]\n{matrix}\n"
        ),
    );
}

fn files(place: &Place, set: &str) -> Vec<String> {
    let entries = fs::read_dir(place.path(set)).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn each_combination_is_a_run_and_all_are_one_table() {
    let place = Place::new();
    plan(
        &place,
        "users = 2\nmeasure = \"20s\"",
        "system.db.mock.latency = [\"1ms\", \"4ms\"]\nstep.oltp.users = [1, 2]",
    );
    let dry = place.run(&["run", "plan.toml", "--dry-run"]).succeeded();
    assert!(
        dry.stdout.contains("latency=4ms, users=2") && dry.stdout.contains("# 4 cells"),
        "{dry:?}"
    );
    let outcome = place
        .run(&["run", "plan.toml", "-o", "x.set", "--virtual-time"])
        .succeeded();
    assert!(
        outcome.stdout.contains("4 of 4 runs complete"),
        "{outcome:?}"
    );
    let names = files(&place, "x.set");
    assert_eq!(names.len(), 6, "{names:?}");
    assert_eq!(names[2], "003-latency=4ms_users=1.plimsoll");
    let one = place.opens("x.set/003-latency=4ms_users=1.plimsoll");
    assert!(
        one["plan_written"]
            .as_str()
            .unwrap()
            .starts_with("# A cell of a matrix: system.db.mock.latency = 4ms")
    );
    let csv = place
        .run(&["export", "x.set", "--to", "csv"])
        .succeeded()
        .stdout;
    let rates: Vec<f64> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(8).unwrap().parse().unwrap())
        .collect();
    // One user and a millisecond each: 1000 per second; exact in virtual time.
    assert_eq!(rates, [1000.0, 2000.0, 250.0, 500.0], "{csv}");
    let json: serde_json::Value = serde_json::from_str(
        &place
            .run(&["export", "x.set", "--to", "json"])
            .succeeded()
            .stdout,
    )
    .unwrap();
    assert_eq!(json["axes"][0]["key"], "system.db.mock.latency");
    place
        .run(&["run", "plan.toml", "-o", "x.set", "--virtual-time"])
        .failed(2, &["x.set", "--resume"]);
}

#[test]
fn what_was_interrupted_goes_on_and_loses_nothing() {
    let place = Place::new();
    plan(
        &place,
        "users = 1\nramp = \"0s\"\nmeasure = \"8s\"",
        "system.db.mock.latency = [\"1ms\", \"2ms\"]",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.set"]);
    run.wait_for_message("cell 2 of 2: latency=2ms");
    run.wait_for_message("latency=2ms · 8s under load");
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted", "--resume x.set"]);
    let before = fs::metadata(place.path("x.set/001-latency=1ms.plimsoll"))
        .unwrap()
        .modified()
        .unwrap();
    place
        .run(&["run", "plan.toml", "--resume", "x.set", "--scale", "2"])
        .failed(2, &["another plan, scale or seed"]);
    let outcome = place
        .run(&["run", "plan.toml", "--resume", "x.set"])
        .succeeded();
    assert!(
        outcome
            .stderr
            .contains("cell 1 of 2: latency=1ms: done before"),
        "{outcome:?}"
    );
    assert!(
        outcome.stdout.contains("2 of 2 runs complete"),
        "{outcome:?}"
    );
    let after = fs::metadata(place.path("x.set/001-latency=1ms.plimsoll"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(before, after, "a finished cell is kept as it is");
    assert!(files(&place, "x.set").contains(&"002-latency=2ms.ended-early-1.plimsoll".to_owned()));
    let kept = place.opens("x.set/002-latency=2ms.ended-early-1.plimsoll");
    assert_eq!(kept["run"]["status"], "interrupted");
}

#[test]
fn a_cell_that_fails_does_not_keep_the_others() {
    let place = Place::new();
    let bad = place.write("not-a-directory", "");
    let good = place.medium();
    place.write(
        "plan.toml",
        &format!(
            "title = \"t\"\n[medium.m]\npath = {good:?}\n[system.db]\nengine = \"sqlite\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
             [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 1\nramp = \"0s\"\nmeasure = \"1s\"\n\
             [matrix]\nmedium.m.path = [{bad:?}, {good:?}]\n"
        ),
    );
    let outcome = place.run(&["run", "plan.toml", "-o", "x.set"]);
    outcome.failed(
        1,
        &[
            "is not a directory",
            "1 of 2 cells failed: path=",
            "--resume x.set",
        ],
    );
    assert_eq!(
        files(&place, "x.set").len(),
        3,
        "plan, list and the second cell"
    );
    place.expect_clean();
}

#[test]
fn a_matrix_that_makes_no_plan_is_refused_before_anything_is_made() {
    let place = Place::new();
    plan(&place, "users = 1", "system.db.mock.latncy = [\"1ms\"]");
    place
        .run(&["run", "plan.toml", "-o", "x.set"])
        .refused(&["unknown key `latncy`", "system.db.mock.latncy = 1ms"]);
    assert!(!place.path("x.set").exists());
    plan(&place, "users = 1", "");
    place
        .run(&["run", "plan.toml", "--resume", "x.set"])
        .failed(2, &["the matrix varies nothing"]);
}
