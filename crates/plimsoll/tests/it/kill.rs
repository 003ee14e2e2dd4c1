//! kill -9 in mid-run: the run file opens and is marked unfinished, the next run clears what was left and nothing else.

use std::fs;

use crate::common::{Place, postmaster, processes_in};
use rustix::process::Signal;

fn killed_and_run_again(engine: &str) {
    let place = Place::new();
    let step = "users = [1]\nramp = \"1s\"\nmeasure = \"60s\"";
    place.plan(engine, step);
    place.small_data();
    // Somebody else's directories, one of them with a file named as ours.
    let foreign = place.medium().join(".plimsoll/foreign");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("owner.json"), "{\"owner\": \"somebody else\"}").unwrap();
    let mut run = place.start(&["run", "plan.toml", "-o", "dead.run"]);
    run.wait_for_message("measure for 1m");
    run.until_measured("dead.run");
    let server = postmaster(&place.path(""));
    assert_eq!(server.is_some(), engine == "postgres");
    run.signal(Signal::KILL);
    assert_eq!(run.wait().code, None);
    assert!(place.path("dead.run-wal").exists(), "nobody closed it");

    let left: Vec<_> = fs::read_dir(place.medium().join(".plimsoll"))
        .unwrap()
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let json = place.opens("dead.run");
    assert_eq!(json["run"]["status"], "unfinished");
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert!(
        point["measured_s"].as_f64().unwrap() >= 1.0
            && point["completed_per_second"]["value"].as_f64().unwrap() > 0.0,
        "{point}"
    );
    assert_eq!(point["complete"], false);
    place
        .run(&["report", "dead.run", "-o", "dead.html"])
        .succeeded();
    let html = fs::read_to_string(place.path("dead.html")).unwrap();
    assert!(html.contains("unfinished"), "the report shows it");

    place.plan(engine, "users = [1]\nramp = \"1s\"\nmeasure = \"1s\"");
    place.small_data();
    let next = place
        .run(&["run", "plan.toml", "-o", "next.run"])
        .succeeded();
    assert!(
        next.stderr.contains(", left by process ") && next.stderr.contains("which is gone."),
        "{next:?}"
    );
    let stopped = next.stderr.contains("Stopped the PostgreSQL server");
    assert_eq!(stopped, engine == "postgres", "{next:?}");
    let json = place.opens("next.run");
    assert_eq!(json["run"]["status"], "complete");
    let notes = json["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["code"] == "leftovers");
    assert_eq!(
        notes.count(),
        if stopped { 2 } else { 1 },
        "{}",
        json["events"]
    );
    assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
    fs::remove_file(foreign.join("owner.json")).unwrap();
    fs::remove_dir(&foreign).unwrap();
    // Fails when anything else is there.
    fs::remove_dir(place.medium().join(".plimsoll")).unwrap();
    place.expect_clean();
    assert_eq!(processes_in(&place.path("")), []);
}

#[test]
fn with_sqlite() {
    killed_and_run_again("sqlite");
}

#[test]
fn with_a_server_of_its_own() {
    killed_and_run_again("postgres");
}
