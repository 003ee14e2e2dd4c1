//! `require` and `abort_on_fail`.

use super::*;

fn with(top: &str, step: &str) -> String {
    format!("{top}\n{SMALL}{step}\n")
}

#[test]
fn requirements_of_a_plan_and_of_a_step_are_described_as_they_are_read() {
    let text = with(
        "require = [\"failed<0.1%\"]\nabort_on_fail = true",
        "require = [\"p99 < 200 ms\", \"nopm>=12000\"]",
    );
    let plan = parse(&text, &Options::default()).unwrap().plan;
    let own: Vec<(Option<&str>, String)> = plan
        .requirements
        .iter()
        .map(|own| (own.step.as_deref(), own.requirement.to_string()))
        .collect();
    assert_eq!(
        own,
        [
            (None, "failed<0.1%".to_owned()),
            (Some("oltp"), "p99<200ms".to_owned()),
            (Some("oltp"), "nopm>=12000".to_owned()),
        ]
    );
    assert!(plan.abort_on_fail);
    survives(&plan);
}

#[test]
fn a_requirement_that_cannot_be_checked_is_refused() {
    for (top, step, message) in [
        ("", "require = [\"p99>3ms\"]", "`p99>3ms` is no requirement"),
        ("require = [\"fast\"]", "", "`fast` is no requirement"),
        (
            "abort_on_fail = true",
            "",
            "`abort_on_fail` without a requirement",
        ),
        (
            "",
            "find = { p99_ms = 10 }\nrequire = [\"p99<3ms\"]",
            "`require` cannot be combined with `find`",
        ),
    ] {
        let text = with(top, step);
        let errors = parse(&text, &Options::default()).unwrap_err();
        assert!(
            errors.0.iter().any(|error| error.message == message),
            "{errors:?}"
        );
    }
    assert!(parse(&with("abort_on_fail = false", ""), &Options::default()).is_ok());
}
