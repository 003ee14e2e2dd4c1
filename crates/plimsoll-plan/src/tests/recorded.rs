use insta::assert_snapshot;

use super::{SMALL, catalog, good, shipped};
use crate::{RecordedPlan, describe, parse};

/// Run files keep plans as JSON, those up to schema 7 as described.
#[test]
fn plans_of_run_files_are_read() {
    for (name, text) in shipped() {
        let mut plan = parse(&text, &catalog()).unwrap().plan;
        let toml = describe(&plan);
        let kept = RecordedPlan::new(plan.clone());
        assert_eq!(RecordedPlan::from_text(&kept.to_text()), kept, "{name}");
        // Up to schema 7 a drive without a factor was as rated.
        plan.emulated_mut().for_each(|drive| drive.auto = false);
        assert_eq!(
            RecordedPlan::from_text(&toml),
            RecordedPlan::new(plan),
            "{name}"
        );
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

/// Run files from before a factor could be chosen have `slower` at most.
#[test]
fn a_drive_of_an_older_run_file_is_as_it_was() {
    let plan = parse(super::drive::PLAN, &super::drives()).unwrap().plan;
    let kept = RecordedPlan::new(plan.clone()).to_text();
    let older = kept
        .replace("\"auto\":true,", "")
        .replace("\"auto\":false,", "")
        .replace("\"slower\":1.0,", "");
    assert_ne!(older, kept);
    let read = RecordedPlan::from_text(&older);
    let drives = |plan: &crate::ResolvedPlan| -> Vec<(f64, bool)> {
        let media = plan.media.iter();
        media
            .filter_map(|medium| medium.kind.emulated())
            .map(|drive| (drive.slower, drive.auto))
            .collect()
    };
    assert_eq!(drives(&plan), [(2.5, false), (1.0, true), (1.0, false)]);
    assert_eq!(
        drives(read.resolved().unwrap()),
        [(2.5, false), (1.0, false), (1.0, false)]
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
