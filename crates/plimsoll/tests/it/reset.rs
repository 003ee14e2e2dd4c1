//! Data sets that are brought back to their first state before each point.

use crate::common::{Place, worked};
use serde_json::Value;

/// Servers have little data: how TPC-C's is brought back in each way, plimsoll-load tests.
fn run(engine: &str, keys: &str) -> (Place, Value) {
    let place = Place::new();
    place.plan(
        engine,
        &format!(
            "users = [1, 2, 1]\nramp = \"0s\"\nmeasure = \"2s\"\nreset = \"each_point\"\n{keys}"
        ),
    );
    if engine != "sqlite" {
        place.small_data();
    }
    let (outcome, json) = place.run_until(worked);
    outcome.succeeded();
    (place, json)
}

/// Before the first point the data are as they were loaded; before each of the others they are made so.
fn expect_resets(json: &Value, method: &str, conditions: u64) {
    let resets = json["summary"]["resets"].as_array().unwrap();
    assert_eq!(resets.len(), 1, "{resets:?}");
    assert_eq!(
        (&resets[0]["method"], &resets[0]["times"]),
        (&method.into(), &2.into()),
        "{resets:?}"
    );
    let verified = &resets[0]["verified"];
    assert_eq!(verified["code"], "as_at_first", "{resets:?}");
    assert_eq!(verified["args"]["conditions"], conditions, "{resets:?}");
    let points = json["summary"]["ladders"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    for point in points {
        assert!(
            point["completed_per_second"]["value"].as_f64().unwrap() > 0.0
                && point["complete"] == true,
            "{point}"
        );
    }
    assert!(
        json["checks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|check| check["holds"] == true),
        "{}",
        json["checks"]
    );
}

#[test]
fn an_embedded_database_by_its_files() {
    let (place, json) = run("sqlite", "");
    expect_resets(&json, "files", 12);
    place.expect_clean();
}

#[test]
fn a_server_by_its_files_is_stopped_and_started_and_watched_again() {
    let (place, json) = run("postgres", "");
    expect_resets(&json, "files", 3);
    let cpu = |point: &Value| point["resources"]["system_cpu_percent"].as_f64();
    let points = json["summary"]["ladders"][0]["points"].as_array().unwrap();
    assert!(
        points
            .iter()
            .all(|point| cpu(point).is_some_and(|percent| percent > 0.0)),
        "the new server is watched"
    );
    place.expect_clean();
}

#[test]
fn a_database_by_its_template() {
    let (place, json) = run("postgres", "reset_by = \"template\"");
    expect_resets(&json, "template", 3);
    place.expect_clean();
}

#[test]
fn an_unsupported_reset_method_is_reported() {
    let place = Place::new();
    place.plan("sqlite", "users = 1\nramp = \"1s\"\nmeasure = \"1s\"\nreset = \"each_point\"\nreset_by = \"template\"");
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]);
    outcome.failed(1, &["reset_by = \"template\"", "SQLite has files, reload"]);
    place.expect_clean();
}
