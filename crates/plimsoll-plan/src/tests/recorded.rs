use insta::assert_snapshot;

use super::{SMALL, catalog, good, shipped};
use crate::{RecordedPlan, describe, parse};

/// Run files keep plans as JSON, those up to schema 7 as described.
#[test]
fn plans_of_run_files_are_read() {
    for (name, text) in shipped() {
        let plan = RecordedPlan::new(parse(&text, &catalog()).unwrap().plan);
        let toml = describe(plan.resolved().unwrap());
        for text in [plan.to_text(), toml] {
            assert_eq!(RecordedPlan::from_text(&text), plan, "{name}");
        }
    }
    let newer = RecordedPlan::from_text("{\"version\":2,\"plan\":{}}");
    assert!(
        newer.fault().is_some_and(|why| why.contains("version 2")),
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
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&kept).unwrap());
}

/// Everything that refers to another part of the plan does so by name.
#[test]
fn kept_plans_refer_by_name() {
    let text = r#"
title = "t"
[medium.fast]
path = "."
[medium.vault]
path = "/tmp"
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
"#;
    let plan = RecordedPlan::new(good(text).plan);
    let kept: serde_json::Value = serde_json::from_str(&plan.to_text()).unwrap();
    let parts = ["/plan/steps", "/plan/backups"].map(|part| kept.pointer(part).unwrap());
    assert_snapshot!(serde_json::to_string_pretty(&parts).unwrap());
    assert_eq!(RecordedPlan::from_text(&plan.to_text()), plan);
    let unknown = plan
        .to_text()
        .replace("\"system\":\"toy\"", "\"system\":\"gone\"");
    let unknown = RecordedPlan::from_text(&unknown);
    assert_eq!(unknown.fault(), Some("`gone` is not among its systems"));
}
