//! Several equal systems under load at the same time.

use crate::common::{Place, expect_died, postmaster, send};
use rustix::process::Signal;
use serde_json::Value;

fn plan(place: &Place, system: &str, step: &str) {
    let medium = place.medium();
    place.write(
        "plan.toml",
        &format!(
            "title = \"Several\"\n[medium.here]\npath = {medium:?}\n[system.db]\n{system}\n[workload.oltp.tpcc]\n\
             warehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\n{step}\n"
        ),
    );
}

fn ladder(json: &Value) -> &Value {
    let ladders = json["summary"]["ladders"].as_array().unwrap();
    assert_eq!(
        ladders.len(),
        1,
        "the sum, and no ladder for each: {ladders:?}"
    );
    &ladders[0]
}

#[test]
fn sums_and_spread_of_mock_systems_are_exact() {
    let place = Place::new();
    plan(
        &place,
        "count = 3\nmock = { latency = \"2ms\" }",
        "users = [1, 4]\nramp = \"1s\"\nmeasure = \"10s\"",
    );
    let outcome = place
        .run(&["run", "plan.toml", "-o", "x.run", "--virtual-time"])
        .succeeded();
    assert!(outcome.stdout.contains("3 × db"), "{outcome:?}");
    let json = place.opens("x.run");
    let ladder = ladder(&json);
    let points = ladder["points"].as_array().unwrap();
    // A user with 2 ms each: 500 per second, of three systems 1500.
    let rates: Vec<f64> = points
        .iter()
        .map(|point| point["completed_per_second"]["value"].as_f64().unwrap())
        .collect();
    assert_eq!(rates, [1500.0, 6000.0]);
    assert_eq!(points[1]["users"], 12);
    let fleet = &ladder["fleet"];
    assert_eq!(
        fleet["systems"],
        serde_json::json!(["db-1", "db-2", "db-3"])
    );
    assert!(
        fleet["points"][1]["cv_percent"].as_f64().unwrap() < 1.0,
        "{fleet}"
    );
    assert_eq!(fleet["points"][0]["systems"].as_array().unwrap().len(), 3);
}

#[test]
fn embedded_systems_side_by_side_keep_their_own_data() {
    let place = Place::new();
    plan(
        &place,
        "engine = \"sqlite\"\ncount = 2",
        "users = [1]\nramp = \"1s\"\nmeasure = \"3s\"",
    );
    let worked = |json: &Value| {
        let systems = ladder(json)["fleet"]["points"][0]["systems"]
            .as_array()
            .unwrap()
            .clone();
        systems.iter().all(|share| {
            share["nopm"]["value"]
                .as_f64()
                .is_some_and(|nopm| nopm > 0.0)
        })
    };
    let (outcome, json) = place.run_until(worked);
    let outcome = outcome.succeeded();
    assert!(
        outcome.stdout.contains("24 verified, all hold"),
        "{outcome:?}"
    );
    assert!(worked(&json), "{json}");
    place.expect_clean();
}

#[test]
fn one_that_dies_ends_the_run_when_the_others_have_finished() {
    let place = Place::new();
    plan(
        &place,
        "engine = \"postgres\"\ncount = 2\nsettings = { shared_buffers = \"32MB\" }",
        "users = [1]\nramp = \"1s\"\nmeasure = \"12s\"",
    );
    place.small_data();
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 12s");
    run.until_measured("x.run");
    send(postmaster(&place.path("")).unwrap(), Signal::KILL);
    run.wait().failed(
        1,
        &[
            "the server of system db-",
            "ended unexpectedly",
            "signal: 9",
        ],
    );
    let json = place.opens("x.run");
    let ladder = ladder(&json);
    assert_eq!(ladder["points"][0]["complete"], false);
    expect_died(&ladder["points"][0]);
    let whole = json["phases"].as_array().unwrap().iter();
    let measured: Vec<bool> = whole
        .filter(|phase| phase["kind"] == "measure")
        .map(|phase| phase["complete"].as_bool().unwrap())
        .collect();
    assert_eq!(
        measured.iter().filter(|complete| **complete).count(),
        1,
        "the other one was measured to its end"
    );
    place.expect_clean();
}
