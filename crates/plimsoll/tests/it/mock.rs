//! The mock engine under virtual time: what a stall does to figures, and what is counted as what.

use crate::common::{Outcome, Place};
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
        assert_eq!(
            n("offered"),
            n("committed") + n("rolled_back") + n("failed") + n("dropped"),
            "{row}"
        );
    }
    point["overall"]["counts"].clone()
}

#[test]
fn response_times_show_a_stall_that_service_times_hide() {
    let place = Place::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/mock-stall.toml");
    place
        .run(&["run", plan, "--virtual-time", "-o", "x.run"])
        .succeeded();
    let json = place.opens("x.run");
    let overall = &point(&json)["overall"];
    let p99 = |kind: &str| overall[kind]["p99_ms"].as_f64().unwrap();
    assert!(
        p99("response") > 1000.0 && p99("response") < 2100.0,
        "{overall}"
    );
    assert!(p99("service") < 10.0, "{overall}");
    let counts = expect_conserved(point(&json));
    assert_eq!(
        (&counts["offered"], &counts["failed"]),
        (&2000.into(), &0.into())
    );
}

/// A rate of 100 in a window from 2 to 26 s, on a system that stands still for a while.
fn stall(stall: &str, step: &str) -> Value {
    let place = Place::new();
    place.write(
        "plan.toml",
        &format!(
            "title = \"Stall\"\n[system.db.mock]\nlatency = \"5ms\"\nstalls = [{stall}]\n[workload.oltp.tpcc]\n\
             warehouses = 2\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nrate = 100\nusers = 16\nramp = \"2s\"\n\
             measure = \"24s\"\n{step}\n"
        ),
    );
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    place.opens("x.run")
}

#[test]
fn a_stall_that_ends_after_the_window_is_in_its_percentiles() {
    let across = "{ at = \"25.7s\", lasts = \"6s\" }";
    let json = stall(across, "");
    let response = &point(&json)["overall"]["response"];
    // 30 of 2,400 were due in the stall.
    assert_eq!(response["count"], 2_400);
    let ms = |key: &str| response[key].as_f64().unwrap();
    assert!((5_700.0..5_800.0).contains(&ms("p99_ms")), "{response}");
    assert!((6_000.0..6_010.0).contains(&ms("max_ms")), "{response}");
    assert!(finding(point(&json), "histogram_disagrees").is_none());
    assert_eq!(
        json["summary"]["ladders"][0]["points"][0]["conservation"]["verdict"],
        "holds"
    );

    let json = stall(across, "find = { max_ms = 100 }");
    let tried = &json["summary"]["ladders"][0]["line"]["tried"][0];
    assert_eq!(
        (&tried["load"], &tried["outcome"]),
        (&100.0.into(), &"failed".into())
    );
}

#[test]
fn what_has_no_answer_at_the_end_makes_figures_lower_bounds() {
    let json = stall("{ at = \"25.9s\", lasts = \"1h\" }", "");
    let point = point(&json);
    let unfinished = finding(point, "unfinished").unwrap();
    assert_eq!(
        (&unfinished["intents"], &unfinished["first"]),
        (&10.into(), &"p999".into())
    );
    let least = point["overall"]["response"]["at_least_from_ms"].as_f64();
    assert_eq!(least, unfinished["least_ms"].as_f64());
    assert_eq!(point["verdict"], "doubtful");
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
    let outcome = place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    let json = place.opens("x.run");
    let counts = expect_conserved(point(&json));
    let n = |name: &str| counts[name].as_f64().unwrap();
    assert!((n("failed") / n("offered") - 0.1).abs() < 0.02, "{counts}");
    assert!(
        (n("retries") / n("offered") - 0.25).abs() < 0.05,
        "{counts}"
    );
    assert!(
        outcome.stderr.contains("connection 0: "),
        "the first failures are reported: {outcome:?}"
    );
    let warnings = outcome.stderr.matches("warning: ").count();
    assert!(warnings <= 6, "five, and how many more: {outcome:?}");
    assert!(
        json["events"]
            .as_array()
            .unwrap()
            .iter()
            .any(|event| event["code"] == "failed")
    );
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
    assert!(
        json["run"]["failure"]
            .as_str()
            .unwrap()
            .contains("in a row failed")
    );
}

fn away(outages: &str, measure: &str) -> (Outcome, Value) {
    let place = Place::new();
    place.write(
        "plan.toml",
        &format!(
            "title = \"Away\"\n[system.db.mock]\nlatency = \"10ms\"\noutages = [{outages}]\n[workload.oltp.tpcc]\n\
             warehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 4\nramp = \"2s\"\nmeasure = \"{measure}\"\n"
        ),
    );
    let outcome = place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    let json = place.opens("x.run");
    let html = place
        .run(&["report", "x.run", "-o", "report.html"])
        .succeeded();
    assert!(html.stderr.is_empty());
    let text = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert!(
        text.contains("The server was unavailable for"),
        "the report shows it"
    );
    (outcome, json)
}

fn finding<'a>(point: &'a Value, name: &str) -> Option<&'a Value> {
    point["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["finding"] == name)
}

fn judged<'a>(json: &'a Value, rule: &str) -> &'a Value {
    let judged = json["summary"]["audit"]["judged"].as_array().unwrap();
    judged.iter().find(|judged| judged["rule"] == rule).unwrap()
}

#[test]
fn time_without_a_server_is_a_part_of_the_point() {
    let (outcome, json) = away("{ at = \"9s\", lasts = \"5s\" }", "20s");
    let point = point(&json);
    let outage = &point["outage"];
    // Known to the lane as long as nobody has come back: a pause between attempts longer at most.
    let s = outage["server_s"].as_f64().unwrap();
    assert!((5.0..6.1).contains(&s), "{outage}");
    assert!(
        (outage["percent"].as_f64().unwrap() - s * 5.0).abs() < 0.1,
        "{outage}"
    );
    assert_eq!(point["verdict"], "invalid", "{point}");
    let finding = finding(point, "server_away").unwrap();
    assert_eq!(finding["severity"], "error");
    assert!(
        outcome.stdout.contains("The server was unavailable for 5"),
        "{outcome:?}"
    );
    assert_eq!(
        judged(&json, "LITTLE")["outcome"],
        "passed",
        "{}",
        judged(&json, "LITTLE")
    );
    let overall = &point["overall"];
    assert!(
        overall["response"]["max_ms"].as_f64().unwrap() >= 5_000.0,
        "{overall}"
    );
    assert!(
        overall["service"]["max_ms"].as_f64().unwrap() < 11.0,
        "{overall}"
    );
    assert_eq!(
        (
            &overall["counts"]["failed"],
            &point["conservation"]["verdict"]
        ),
        (&4.into(), &"holds".into()),
        "{point}"
    );
}

/// However the outage lies to the window, Little's law holds for the rest of it.
#[test]
fn littles_law_leaves_time_without_a_server_out() {
    for at in ["1s", "12s", "19500ms"] {
        let (_, json) = away(&format!("{{ at = \"{at}\", lasts = \"5s\" }}"), "20s");
        let little = judged(&json, "LITTLE");
        assert_eq!(little["outcome"], "passed", "outage at {at}: {little}");
        assert_eq!(point(&json)["verdict"], "invalid");
    }
}

#[test]
fn a_moment_without_a_server_is_a_warning() {
    let (_, json) = away("{ at = \"30s\", lasts = \"200ms\" }", "100s");
    let point = point(&json);
    assert!(
        point["outage"]["percent"].as_f64().unwrap() < 1.0,
        "{}",
        point["outage"]
    );
    assert_eq!(
        finding(point, "server_away").unwrap()["severity"],
        "warning"
    );
    assert_eq!(point["verdict"], "doubtful");
}
