use super::{catalogue, shipped};
use crate::{RecordedPlan, describe, parse};

/// Run files keep plans as JSON, those up to schema 7 as described.
#[test]
fn plans_of_run_files_are_read() {
    for (name, text) in shipped() {
        let plan = RecordedPlan::new(parse(&text, &catalogue()).unwrap().plan);
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
