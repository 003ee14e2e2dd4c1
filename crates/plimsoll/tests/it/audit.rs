//! `plimsoll audit`: on runs of the mock engine in virtual time, on the runs that are kept, and on published tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::Place;
use plimsoll_plan::RecordedPlan;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The audit of a plan with one mock system: the verdicts in its JSON.
fn audited(mock: &str, step: &str) -> Vec<Value> {
    let place = Place::new();
    place.write(
        "plan.toml",
        &format!(
            "title = \"Mock\"\n[system.db.mock]\n{mock}\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\n\
             system = \"db\"\n{step}\n"
        ),
    );
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    judged(&place, &["audit", "x.run", "--format", "json"])
}

fn judged(place: &Place, args: &[&str]) -> Vec<Value> {
    let outcome = place.run(args).succeeded();
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    json.as_array()
        .unwrap()
        .iter()
        .flat_map(|audit| audit["judged"].as_array().unwrap().clone())
        .collect()
}

/// Rules that fired with this severity.
fn fired(judged: &[Value], severity: &str) -> BTreeSet<String> {
    let own = judged
        .iter()
        .filter(|row| row["outcome"] == "fired" && row["severity"] == severity);
    own.map(|row| row["rule"].as_str().unwrap().to_owned())
        .collect()
}

fn passed(judged: &[Value], rule: &str) -> bool {
    judged
        .iter()
        .any(|row| row["rule"] == rule && row["outcome"] == "passed")
}

fn set(rules: &[&str]) -> BTreeSet<String> {
    rules.iter().map(|rule| (*rule).to_owned()).collect()
}

#[test]
fn nothing_fires_on_a_good_run() {
    let judged = audited(
        "latency = \"10ms\"",
        "users = 8\nramp = \"1s\"\nmeasure = \"300s\"",
    );
    for severity in ["error", "warning", "note"] {
        assert_eq!(fired(&judged, severity), set(&[]), "{severity}");
    }
    for rule in [
        "LITTLE", "CONSERVE", "STEADY", "SHORT", "CLIENT", "OMISSION", "PCTAVG", "RATIO",
    ] {
        assert!(passed(&judged, rule), "{rule}: {judged:?}");
    }
    assert_eq!(
        judged
            .iter()
            .map(|row| row["rule"].as_str().unwrap())
            .collect::<BTreeSet<_>>()
            .len(),
        29
    );
}

#[test]
fn bad_runs_are_found_out() {
    // Two seconds of standstill in ten.
    let stall = "latency = \"10ms\"\nstalls = [{ at = \"6s\", lasts = \"2s\" }]";
    let judged = audited(stall, "users = 8\nramp = \"1s\"\nmeasure = \"10s\"");
    assert_eq!(fired(&judged, "warning"), set(&["SHORT", "STEADY"]));
    // Too short for parts that could be compared.
    let judged = audited(
        "latency = \"10ms\"",
        "users = 8\nramp = \"1s\"\nmeasure = \"3s\"",
    );
    assert_eq!(fired(&judged, "warning"), set(&["SHORT"]));
    // 100 per second are offered where 50 can be carried, with a queue of five.
    let judged = audited(
        "latency = \"20ms\"",
        "users = 1\nrate = 100\narrivals = \"constant\"\nqueue = 5\nramp = \"1s\"\nmeasure = \"20s\"",
    );
    assert_eq!(
        fired(&judged, "error"),
        set(&["CLIENT"]),
        "half of it was dropped"
    );
    let little = judged.iter().find(|row| row["rule"] == "LITTLE").unwrap();
    assert_eq!(
        little["outcome"], "not_evaluated",
        "an open loop keeps no number in flight"
    );
}

#[test]
fn an_open_load_that_is_mostly_dropped_is_an_error_with_its_cause() {
    let place = Place::new();
    let plan = |users: u32| {
        format!(
            "title = \"Mock\"\n[system.db.mock]\nlatency = \"20ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\n\
             run = \"oltp\"\nsystem = \"db\"\nusers = {users}\nrate = 600\narrivals = \"constant\"\nqueue = 5\n\
             ramp = \"1s\"\nmeasure = \"20s\"\n"
        )
    };
    place.write("plan.toml", &plan(1));
    let table = place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded()
        .stdout;
    assert!(table.contains("invalid"), "{table}");
    let outcome = place.run(&["audit", "x.run", "--strict"]);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    // The rule, what it found, what to do.
    let client: Vec<&str> = outcome
        .stdout
        .lines()
        .skip_while(|line| !line.contains("error: CLIENT"))
        .take(3)
        .collect();
    let client = client.join("\n");
    assert!(
        client.contains("91.7 %") && client.contains("all connections were busy"),
        "{client}"
    );
    assert!(
        !client.contains("more cores") && client.contains("Offer a lower rate"),
        "{client}"
    );
    place.write("plan.toml", &plan(13));
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "y.run"])
        .succeeded();
    assert_eq!(
        place.run(&["audit", "y.run", "--strict"]).code,
        Some(0),
        "13 users carry 650 a second"
    );
}

#[test]
fn a_few_seconds_of_constant_arrivals_are_no_proof_of_a_steady_state() {
    let load = |measure: &str| {
        format!(
            "users = 8\nrate = 100\narrivals = \"constant\"\nramp = \"1s\"\nmeasure = \"{measure}\""
        )
    };
    let short = audited("latency = \"10ms\"", &load("6s"));
    assert!(
        !passed(&short, "STEADY") && !passed(&short, "SHORT"),
        "{short:?}"
    );
    assert_eq!(fired(&short, "warning"), set(&["SHORT"]));
    let long = audited("latency = \"10ms\"", &load("300s"));
    assert!(
        passed(&long, "STEADY") && passed(&long, "SHORT"),
        "{long:?}"
    );
}

/// The arrivals are constant, and so is the rate; what changes is how long each takes.
#[test]
fn an_open_load_is_steady_where_its_response_times_are() {
    let stalls: Vec<String> = (31..61)
        .map(|at| format!("{{ at = \"{at}s\", lasts = \"400ms\" }}"))
        .collect();
    let mock = format!("latency = \"10ms\"\nstalls = [{}]", stalls.join(", "));
    let load = "users = 8\nrate = 100\narrivals = \"constant\"\nramp = \"1s\"\nmeasure = \"60s\"";
    let judged = audited(&mock, load);
    let steady = judged.iter().find(|row| row["rule"] == "STEADY").unwrap();
    assert_eq!(
        (&steady["outcome"], &steady["severity"]),
        (&"fired".into(), &"warning".into()),
        "{steady}"
    );
    assert_eq!(
        steady["evidence"][0]["evidence"], "response_times",
        "{steady}"
    );
}

#[test]
fn nothing_is_evaluated_where_the_plan_cannot_be_read() {
    let place = Place::new();
    let plan = "title = \"Mock\"\n[audit]\nlag = 12\n[system.db.mock]\nlatency = \"10ms\"\n[workload.oltp.tpcc]\n\
                warehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 8\nramp = \"1s\"\nmeasure = \"60s\"\n";
    place.write("plan.toml", plan);
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    place.run(&["audit", "x.run", "--strict"]).succeeded();
    // A run file as another program, or another version of plimsoll, may write it.
    let mut record = plimsoll_record::runfile::read(&place.path("x.run")).unwrap();
    let resolved = record.plan.to_text();
    for to in [
        "\"lag\":\"x\"",
        "\"lag\":null",
        "\"lag\"12.0",
        "\"lag\":0.01",
    ] {
        let changed = resolved.replace("\"lag\":12.0", to);
        assert_ne!(changed, resolved);
        record.plan = RecordedPlan::from_text(&changed);
        let _ = std::fs::remove_file(place.path("y.run"));
        let file =
            plimsoll_record::runfile::RunFile::of_record(&place.path("y.run"), &record).unwrap();
        file.finish(record.run.status, None, record.run.lasted)
            .unwrap();
        let outcome = place.run(&["audit", "y.run", "--strict"]);
        assert_eq!(outcome.code, Some(3), "{to}: {outcome:?}");
        assert!(
            outcome
                .stdout
                .contains("The plan in the run file cannot be read"),
            "{to}: {outcome:?}"
        );
    }
    let csv = place
        .run(&["audit", "y.run", "--format", "csv"])
        .succeeded()
        .stdout;
    assert!(csv.contains("cannot be read"), "{csv}");
    place.run(&["report", "y.run", "-o", "y.html"]).succeeded();
    assert!(
        std::fs::read_to_string(place.path("y.html"))
            .unwrap()
            .contains("cannot be read")
    );
}

#[test]
fn a_plan_changes_thresholds_and_the_change_is_shown() {
    let place = Place::new();
    place.write(
        "plan.toml",
        "title = \"Mock\"\n[audit]\nhalves = 60\nsteady_range = 200\nsteady_slope = 100\ninterval = 100\n\
         [system.db.mock]\nlatency = \"10ms\"\n\
         stalls = [{ at = \"6s\", lasts = \"2s\" }]\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\n\
         system = \"db\"\nusers = 8\nramp = \"1s\"\nmeasure = \"10s\"\n",
    );
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
    // No threshold makes up for a window without an interval.
    assert_eq!(
        fired(
            &judged(&place, &["audit", "x.run", "--format", "json"]),
            "warning"
        ),
        set(&["SHORT"])
    );
    let table = place.run(&["audit", "x.run"]).succeeded().stdout;
    assert!(
        table.contains("Changed by the plan: STEADY: range of the rates"),
        "{table}"
    );
    assert!(table.contains("200 % instead of 20.0 %"), "{table}");
    place.write(
        "plan.toml",
        "title = \"Mock\"\n[audit]\nsteal = 101\nlittle = 3\n",
    );
    place
        .run(&["run", "plan.toml"])
        .refused(&["`steal` cannot be 101", "unknown key `little`"]);
}

#[test]
fn the_audit_stands_below_the_result_of_a_run() {
    let place = Place::new();
    let plan = "title = \"Mock\"\n[system.db.mock]\nlatency = \"10ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\n\
                run = \"oltp\"\nsystem = \"db\"\nusers = 8\nramp = \"1s\"\nmeasure = \"3s\"\n";
    place.write("plan.toml", plan);
    let table = place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded()
        .stdout;
    assert!(table.contains("Audit: 0 errors, 1 warning,"), "{table}");
    assert!(
        table.contains("warning: SHORT: 8 users, oltp, db"),
        "{table}"
    );
    let audit = &place.export("x.run")["summary"]["audit"];
    assert_eq!(
        audit["judged"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["rule"] == "SHORT")
            .count(),
        1
    );
    place.run(&["report", "x.run", "-o", "x.html"]).succeeded();
    let html = std::fs::read_to_string(place.path("x.html")).unwrap();
    assert!(
        html.contains("SHORT") && html.contains("Not evaluated, and why: "),
        "the report has it as well"
    );
}

#[test]
fn strict_sets_the_exit_code() {
    let place = Place::new();
    let claim = |name: &str| format!("{ROOT}/claims/{name}.toml");
    let (bad, good) = (
        claim("kingston-dc1500m-storage"),
        claim("hardwareluxx-dc500m-array"),
    );
    assert_eq!(place.run(&["audit", &bad, "--strict"]).code, Some(3));
    assert_eq!(place.run(&["audit", &bad]).code, Some(0));
    assert_eq!(place.run(&["audit", &good, "--strict"]).code, Some(0));
    assert_eq!(place.run(&["audit", &good, &bad, "--strict"]).code, Some(3));
    let csv = place
        .run(&["audit", &bad, "--format", "csv"])
        .succeeded()
        .stdout;
    assert!(
        csv.starts_with("of,rule,outcome,severity,place,text,next\n"),
        "{csv}"
    );
    assert_eq!(csv.matches("LITTLE,fired,error").count(), 5, "{csv}");
}

#[test]
fn rules_explain_themselves() {
    let place = Place::new();
    let text = place
        .run(&["audit", "--explain", "little"])
        .succeeded()
        .stdout;
    assert!(
        text.starts_with("LITTLE (error)\n") && text.contains("[audit] in_flight = 10 %"),
        "{text}"
    );
    place
        .run(&["audit", "--explain", "LITTLES"])
        .failed(2, &["there is no audit rule LITTLES", "CONSERVE"]);
    place.run(&["audit"]).failed(2, &["RUN|CLAIM.toml"]);
    place.write(
        "odd.toml",
        "title = \"x\"\nsource = \"y\"\n[[figure]]\nname = \"a\"\niops = 3\n",
    );
    place
        .run(&["audit", "odd.toml"])
        .failed(2, &["the claim cannot be audited", "unknown key `iops`"]);
    place
        .run(&["audit", "none.toml"])
        .failed(2, &["none.toml cannot be read"]);
}

#[test]
fn runs_against_each_other() {
    let place = Place::new();
    for (name, users) in [("a", 8), ("b", 8), ("c", 4)] {
        place.write(
            "plan.toml",
            &format!(
                "title = \"{name}\"\n[system.db]\ncount = {}\n[system.db.mock]\nlatency = \"10ms\"\n\
                 [workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = {users}\n\
                 ramp = \"1s\"\nmeasure = \"20s\"\n",
                if name == "c" { 2 } else { 1 }
            ),
        );
        place
            .run(&[
                "run",
                "plan.toml",
                "--virtual-time",
                "-o",
                &format!("{name}.run"),
            ])
            .succeeded();
    }
    let all = judged(
        &place,
        &["audit", "a.run", "b.run", "c.run", "--format", "json"],
    );
    let factors: Vec<&Value> = all
        .iter()
        .filter(|row| row["rule"] == "ONEFACTOR" && row["outcome"] != "not_evaluated")
        .collect();
    assert_eq!(factors.len(), 2, "b and c against a");
    assert!(
        factors.iter().all(|row| row["outcome"] == "passed"),
        "{factors:?}"
    );
    assert_eq!(factors[1]["evidence"][0]["factor"], "loaded systems");
    assert_eq!(
        fired(&all, "warning"),
        set(&["REPEAT", "SHORT"]),
        "one run on each side"
    );
}

/// Every verdict on the runs that documents take figures from, each verified by hand: a rule that changes shows here. The
/// files never change.
#[test]
fn the_runs_that_are_kept_have_these_verdicts() {
    let place = Place::new();
    let mut text = String::new();
    for name in [
        "2026-11-20-vm-2cpu/emulated-drives",
        "2026-11-20-vm-2cpu/power-cut",
        "2026-11-20-vm-2cpu/quickstart",
        "2026-11-20-vm-2cpu/three-drives",
        "2026-11-21-vm-2cpu/load-line",
        "2026-11-21-vm-2cpu/storage",
    ] {
        let rows = judged(
            &place,
            &[
                "audit",
                &format!("{ROOT}/runs/{name}.plimsoll"),
                "--format",
                "json",
            ],
        );
        let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for row in rows.iter().filter(|row| row["outcome"] == "fired") {
            *places
                .entry((
                    row["severity"].as_str().unwrap(),
                    row["rule"].as_str().unwrap(),
                ))
                .or_default() += 1;
        }
        let all: Vec<String> = places
            .iter()
            .map(|((severity, rule), n)| format!("{severity} {rule} {n}"))
            .collect();
        text += &format!("{name}: {}\n", all.join(", "));
    }
    insta::assert_snapshot!(text, @"
    2026-11-20-vm-2cpu/emulated-drives: error EMULATED 3, note SAMEBOX 3, warning CACHED 9, warning EMULATED 6, warning REPEAT 2, warning SHORT 9, warning STEADY 4
    2026-11-20-vm-2cpu/power-cut: error DURABLE 2, error EMULATED 3, error FINDING 1, note SAMEBOX 3, warning CACHED 3, warning DURABLE 2, warning SHORT 3
    2026-11-20-vm-2cpu/quickstart: note SAMEBOX 1, warning CACHED 4, warning SHORT 4, warning STEADY 4
    2026-11-20-vm-2cpu/three-drives: error EMULATED 12, note SAMEBOX 3, warning CACHED 15, warning EMULATED 3, warning REPEAT 2, warning SHORT 15, warning STEADY 8
    2026-11-21-vm-2cpu/load-line: error EMULATED 8, note SAMEBOX 2, warning CACHED 8, warning FINDING 2, warning SHORT 8
    2026-11-21-vm-2cpu/storage: error EMULATED 16, warning EMULATED 8, warning REPEAT 8, warning SHORT 51
    ");
}
