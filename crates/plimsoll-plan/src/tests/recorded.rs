use insta::assert_snapshot;
use serde_json::Value;

use super::{SMALL, catalog, good, shipped};
use crate::{RecordedPlan, parse};

#[test]
fn plans_of_run_files_are_read() {
    for (name, text) in shipped() {
        let kept = RecordedPlan::new(parse(&text, &catalog()).unwrap().plan);
        assert_eq!(RecordedPlan::from_text(&kept.to_text()), kept, "{name}");
    }
    let newer = RecordedPlan::from_text("{\"version\":3,\"plan\":{}}");
    assert!(
        newer.fault().is_some_and(|why| why.contains("version 3")),
        "{newer:?}"
    );
    assert_eq!(RecordedPlan::from_text(""), RecordedPlan::Imported);
    let text = "title = \"t\nseed =";
    let broken = RecordedPlan::from_text(text);
    assert!(
        broken.fault().is_some() && broken.to_value() == text,
        "{broken:?}"
    );
}

#[test]
fn passwords_are_not_kept() {
    let url = "url = \"postgres://me:hidden@db/x\"";
    let plan = good(&SMALL.replace("engine = \"sqlite\"", url)).plan;
    let kept = RecordedPlan::new(plan).to_text();
    assert!(
        kept.contains("me:***@db") && !kept.contains("hidden"),
        "{kept}"
    );
}

/// Run files have these names: changing one needs another version of kept plans.
#[test]
fn kept_plans_have_the_names_of_their_version() {
    let kept = RecordedPlan::new(good(SMALL).plan).to_text();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&kept).unwrap());
}

/// Each number of a plan that refers to all kinds of parts, replaced by one that no list of the plan reaches.
#[test]
fn references_to_nothing_are_found_when_a_plan_is_read() {
    let text = r#"
title = "t"
[medium.fast]
path = "."
[medium.vault]
path = "/tmp"
[host.far]
via = "ssh far"
[system.remote]
url = "postgres://u@db/x"
host = "far"
[system.db]
engine = "postgres"
[system.other]
engine = "sqlite"
[system.toy.mock]
[workload.save.backup]
data = "oltp"
[workload.corners.block]
profile = "fsync-ladder"
[workload.other.sysbench]
script = "read_only"
rows = 10
[workload.oltp.tpcc]
warehouses = 2
mode = "statements"
[[step]]
run = "other"
system = "db"
on = ["vault", "fast"]
users = 1
noise = [
    { run = "save", system = "other", to = "vault", every = "100s", cycles = 10 },
    { run = "oltp", system = "toy", users = 3 },
]
[[step]]
run = "save"
system = "db"
on = ["fast"]
to = "vault"
[[step]]
run = "corners"
on = ["fast", "vault"]
at_once = true
[[step]]
run = "oltp"
system = "remote"
users = 2
from = ["far"]
"#;
    let mut plan = good(text).plan;
    plan.on_hosts = plan
        .systems
        .iter()
        .filter_map(|system| system.host)
        .collect();
    let plan = RecordedPlan::new(plan);
    assert_eq!(RecordedPlan::from_text(&plan.to_text()), plan);
    let kept: Value = serde_json::from_str(&plan.to_text()).unwrap();
    let mut numbers = Vec::new();
    collect_numbers(&kept["plan"], "/plan".to_owned(), &mut numbers);
    let mut found = Vec::new();
    for pointer in &numbers {
        let mut damaged = kept.clone();
        *damaged.pointer_mut(pointer).unwrap() = 77.into();
        let read = RecordedPlan::from_text(&damaged.to_string());
        // A plan that is read can be described, whatever its numbers are.
        read.to_value();
        if let Some(why) = read.fault().filter(|why| why.contains("refers to")) {
            found.push(format!("{pointer}: {why}"));
        }
    }
    assert_snapshot!(found.join("\n"));
}

/// A threshold out of its bounds would let a rule pass or fire on anything.
#[test]
fn thresholds_of_run_files_are_those_that_a_plan_may_give() {
    let text = format!("{SMALL}\n[audit]\ninterval = 12");
    let kept: Value = serde_json::from_str(&RecordedPlan::new(good(&text).plan).to_text()).unwrap();
    let fault = |value: f64| {
        let mut changed = kept.clone();
        *changed.pointer_mut("/plan/audit/interval").unwrap() = value.into();
        let read = RecordedPlan::from_text(&changed.to_string());
        read.fault().map(str::to_owned)
    };
    assert_eq!((fault(0.1), fault(1000.0)), (None, None));
    for value in [0.0, -5.0, 1000.1, 1e300] {
        let why = fault(value).unwrap();
        assert!(
            why.contains("`interval`") && why.contains("0.1 to 1000"),
            "{why}"
        );
    }
}

/// JSON pointers to all numbers.
fn collect_numbers(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(pointer),
        Value::Array(parts) => (parts.iter().enumerate())
            .for_each(|(i, part)| collect_numbers(part, format!("{pointer}/{i}"), found)),
        Value::Object(parts) => (parts.iter())
            .for_each(|(key, part)| collect_numbers(part, format!("{pointer}/{key}"), found)),
        _ => {}
    }
}
