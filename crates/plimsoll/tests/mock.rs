//! The mock engine under virtual time: what a stall does to figures, and what is counted as what.

mod common;

use common::Place;
use serde_json::Value;

fn point(json: &Value) -> &Value {
    &json["summary"]["ladders"][0]["points"][0]
}

/// Offered is what was committed, rolled back, failed or dropped, for every type.
fn expect_conserved(point: &Value) -> Value {
    let types = point["types"].as_array().unwrap();
    assert_eq!(types.len(), 5);
    for row in types.iter().chain([&point["overall"]]) {
        let n = |name: &str| row["counts"][name].as_u64().unwrap();
        assert_eq!(n("offered"), n("committed") + n("rolled_back") + n("failed") + n("dropped"), "{row}");
    }
    point["overall"]["counts"].clone()
}

#[test]
fn response_times_show_a_stall_that_service_times_hide() {
    let place = Place::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/mock-stall.toml");
    place.run(&["run", plan, "--virtual-time", "-o", "x.run"]).succeeded();
    let json = place.opens("x.run");
    let overall = &point(&json)["overall"];
    let p99 = |kind: &str| overall[kind]["p99_ms"].as_f64().unwrap();
    assert!(p99("response") > 1000.0 && p99("response") < 2100.0, "{overall}");
    assert!(p99("service") < 10.0, "{overall}");
    let counts = expect_conserved(point(&json));
    assert_eq!((&counts["offered"], &counts["failed"]), (&2000.into(), &0.into()));
}

#[test]
fn failures_count_and_retries_count_apart() {
    let place = Place::new();
    place.write(
        "plan.toml",
        "title = \"Faults\"\n[system.db.mock]\nlatency = \"10ms\"\nfail_every = 10\nretry_every = 4\n\
         [workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\n\
         measure = \"10s\"\n",
    );
    let outcome = place.run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"]).succeeded();
    let json = place.opens("x.run");
    let counts = expect_conserved(point(&json));
    let n = |name: &str| counts[name].as_f64().unwrap();
    assert!((n("failed") / n("offered") - 0.1).abs() < 0.02, "{counts}");
    assert!((n("retries") / n("offered") - 0.25).abs() < 0.05, "{counts}");
    assert!(outcome.stderr.contains("connection 0: "), "the first failures are told: {outcome:?}");
    let told = outcome.stderr.matches("warning: ").count();
    assert!(told <= 6, "five, and how many more: {outcome:?}");
    assert!(json["events"].as_array().unwrap().iter().any(|event| event["code"] == "failed"));
}

#[test]
fn a_system_that_goes_away_for_good_ends_the_run() {
    let place = Place::new();
    place.write(
        "plan.toml",
        "title = \"Gone\"\n[system.db.mock]\nlatency = \"1ms\"\nfail_every = 1\n[workload.oltp.tpcc]\nwarehouses = 1\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 1\nramp = \"1s\"\nmeasure = \"10s\"\n",
    );
    let outcome = place.run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"]);
    outcome.failed(1, &["100 transactions in a row failed; the last one"]);
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "failed");
    assert!(json["run"]["failure"].as_str().unwrap().contains("in a row failed"));
}
