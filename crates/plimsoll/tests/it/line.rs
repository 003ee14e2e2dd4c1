//! Repeats, preconditions and the search for the load line, under virtual time with the mock engine.

use crate::common::Place;
use serde_json::Value;

/// A system with four connections that serves each transaction in 10 ms: constant arrivals are carried without waiting up
/// to 400 a second, and above that the queue grows.
fn plan(step: &str) -> String {
    format!(
        "title = \"Line\"\n[system.db.mock]\nlatency = \"10ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
         [[step]]\nname = \"find\"\nrun = \"oltp\"\nsystem = \"db\"\n{step}\nramp = \"1s\"\nmeasure = \"10s\"\n"
    )
}

fn run(step: &str) -> (Place, Value, String) {
    let place = Place::new();
    place.write("plan.toml", &plan(step));
    let outcome = place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    let json = place.opens("x.run");
    (place, json, outcome.stdout.clone() + &outcome.stderr)
}

#[test]
fn the_line_of_an_open_loop_is_the_capacity() {
    let step = "rate = 30\nusers = 4\nfind = { p99_ms = 15, precision = 0.02 }";
    let (_place, json, printed) = run(step);
    let ladder = &json["summary"]["ladders"][0];
    let line = &ladder["line"];
    let [low, high] = ["line", "below"].map(|key| line[key].as_f64().unwrap());
    assert!(
        low <= 400.0 && 400.0 < high,
        "the line is 400/s: {low} to {high}"
    );
    assert!(
        high / low <= 1.02 + 1e-9,
        "as precise as wanted: {low} to {high}"
    );
    assert_eq!(line["state"], "found", "{line}");
    let tried = line["tried"].as_array().unwrap();
    assert_eq!(tried[0]["load"], 30.0);
    assert_eq!(tried.len(), ladder["points"].as_array().unwrap().len());
    let samples = |tried: &Value| tried["repeats"][0]["samples"].as_u64().unwrap();
    assert!(tried.iter().all(|tried| samples(tried) >= 2_000), "{line}");
    for tried in tried {
        let met = tried["load"].as_f64().unwrap() <= 400.0;
        assert_eq!(
            tried["outcome"],
            if met { "met" } else { "failed" },
            "{tried}"
        );
    }
    assert_eq!(line["bottleneck"][0]["what"], "connections", "{line}");
    assert_eq!(
        json["summary"]["verdict"], "valid",
        "what fails above the line is no doubt"
    );
    assert!(printed.contains("The load line: "), "{printed}");
    assert!(printed.contains("find · load 2: 60/s"), "{printed}");
}

#[test]
fn the_line_of_a_closed_loop_is_a_number_of_users() {
    // Each user has a connection, so response times do not grow with users: all are carried.
    let (_place, json, _) = run("users = 3\nrepeat = 2\nfind = { max_ms = 11, most = 20 }");
    let line = &json["summary"]["ladders"][0]["line"];
    assert_eq!(
        (&line["state"], &line["line"]),
        (&"above_most".into(), &20.0.into()),
        "{line}"
    );
    let loads: Vec<f64> = line["tried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["load"].as_f64().unwrap())
        .collect();
    assert_eq!(loads, [3.0, 6.0, 12.0, 20.0]);
    assert!(
        line["tried"]
            .as_array()
            .unwrap()
            .iter()
            .all(|t| t["repeats"].as_array().unwrap().len() == 2)
    );
    let (_place, json, _) = run("users = 8\nfind = { mean_ms = 5 }");
    let line = &json["summary"]["ladders"][0]["line"];
    assert_eq!(
        (&line["state"], &line["below"]),
        (&"below_least".into(), &1.0.into()),
        "{line}"
    );
    assert_eq!(line["line"], Value::Null);
}

/// Of a system with another script than in the first test.
fn run_on(mock: &str, step: &str, measure: &str) -> (Value, String) {
    let place = Place::new();
    let measure = format!("measure = \"{measure}\"");
    let plan = plan(step)
        .replace("latency = \"10ms\"", mock)
        .replace("measure = \"10s\"", &measure);
    place.write("plan.toml", &plan);
    let words = [
        "run",
        "plan.toml",
        "--virtual-time",
        "--seed",
        "1",
        "-o",
        "x.run",
    ];
    let outcome = place.run(&words).succeeded();
    (
        place.opens("x.run"),
        outcome.stdout.clone() + &outcome.stderr,
    )
}

#[test]
fn a_latency_above_the_objective_at_any_load_is_reported_as_one() {
    let step = "rate = 100\nfind = { p99_ms = 20, of = \"new_order\" }";
    let (json, printed) = run_on("latency = \"30ms\"", step, "10s");
    let line = &json["summary"]["ladders"][0]["line"];
    assert_eq!(
        (&line["state"], &line["line"]),
        (&"floor".into(), &Value::Null),
        "{line}"
    );
    assert_eq!(line["tried"].as_array().unwrap().len(), 3, "{line}");
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        printed.contains(
            "does not meet p99 ≤ 20.0 ms at any load: the p99 of new_order is about 30.0 ms from 25.0 to 100 transactions \
             a second"
        ),
        "{printed}"
    );
    assert!(printed.contains("find: a search takes about "), "{printed}");
}

#[test]
fn a_search_without_enough_transactions_has_no_answer() {
    let step = "rate = 1\nfind = { p99_ms = 20, most = 2, longest = \"20s\" }";
    let (json, printed) = run_on("latency = \"10ms\"", step, "10s");
    let ladder = &json["summary"]["ladders"][0];
    assert_eq!(ladder["line"]["state"], "too_few", "{ladder}");
    for point in ladder["points"].as_array().unwrap() {
        assert_ne!(point["verdict"], "valid", "{point}");
    }
    let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        printed.contains(
            "No answer for the system: no load completed the 2000 transactions that the p99 of"
        ),
        "{printed}"
    );
}

/// The response time of M/M/1 is exponential: its p99 is ln 100 / (capacity − rate), 460 ms at 190 of 200 a second.
#[test]
fn the_line_of_a_queue_is_the_true_one() {
    let step =
        "rate = 150\nusers = 1\narrivals = \"poisson\"\nfind = { p99_ms = 460, precision = 0.02 }";
    let mock = "latency = \"0s\"\nexponential = \"5ms\"";
    let (json, _) = run_on(mock, step, "2m");
    let line = &json["summary"]["ladders"][0]["line"];
    let found = line["line"].as_f64().unwrap();
    assert!((found / 190.0 - 1.0).abs() < 0.05, "{line}");
}

#[test]
fn a_ladder_is_gone_through_again_for_each_repeat() {
    let (_place, json, printed) = run("users = [1, 2]\nrepeat = 3");
    let ladder = &json["summary"]["ladders"][0];
    let loads = ladder["loads"].as_array().unwrap();
    assert_eq!(loads.len(), 2);
    for load in loads {
        let nopm = &load["nopm"];
        let [low, median, high] = [
            &nopm["interval"]["low"],
            &nopm["value"],
            &nopm["interval"]["high"],
        ]
        .map(|v| v.as_f64().unwrap());
        assert!(low <= median && median <= high, "{load}");
        assert_eq!(load["points"].as_array().unwrap().len(), 3);
    }
    let measured: Vec<f64> = (json["phases"].as_array().unwrap().iter())
        .filter(|phase| phase["kind"] == "measure")
        .map(|phase| phase["ordinal"].as_f64().unwrap())
        .collect();
    assert_eq!(measured, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], "round robin");
    assert!(
        printed.contains("[6/6] find · 2 users · repeat 3"),
        "{printed}"
    );
}

#[test]
fn load_before_the_first_point_is_no_point_of_the_ladder() {
    let place = Place::new();
    let step = "users = [1, 2]\nprecondition = { users = 5, lasts = \"10m\" }";
    place.write("plan.toml", &plan(step).replace("10ms", "500ms"));
    let outcome = place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    let (json, printed) = (
        place.opens("x.run"),
        outcome.stdout.clone() + &outcome.stderr,
    );
    let summary = &json["summary"];
    let precondition = &summary["preconditions"][0];
    assert_eq!(
        (&precondition["users"], &precondition["lasted_s"]),
        (&5.into(), &600.0.into()),
        "{precondition}"
    );
    assert_eq!(
        (&precondition["complete"], &precondition["failed"]),
        (&true.into(), &0.into())
    );
    let rate = |key: &str| precondition[key].as_f64().unwrap();
    assert!(
        (rate("first_per_second") - 10.0).abs() < 0.1
            && (rate("last_per_second") - 10.0).abs() < 0.1
    );
    assert_eq!(summary["ladders"][0]["points"].as_array().unwrap().len(), 2);
    // The run as a whole is doubtful: windows of ten seconds have no interval.
    assert_eq!(
        summary["ladders"][0]["points"][0]["verdict"], "valid",
        "{summary}"
    );
    assert!(
        printed.contains("Before the first point of find on db, load ran for 600 s with 5 users."),
        "{printed}"
    );
    assert!(
        printed.contains("find · precondition: 5 users · warm for 10m"),
        "{printed}"
    );
    assert!(printed.contains("[2/2] find · 2 users"), "{printed}");
}
