//! `plimsoll gate`: its outcome, its reason, and requirements without a baseline.

use serde_json::Value;

use crate::common::{Outcome, Place};

/// Runs a mock of this latency for 20 s, in virtual time.
fn run(place: &Place, name: &str, latency: &str, top: &str, step: &str) -> Outcome {
    place.write(
        "plan.toml",
        &format!(
            "title = \"Gate\"\n{top}\n[system.db.mock]\nlatency = \"{latency}\"\njitter = \"1ms\"\n[workload.oltp.tpcc]\n\
             warehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nramp = \"1s\"\nmeasure = \"20s\"\n\
             {step}\n"
        ),
    );
    let file = format!("{name}.plimsoll");
    place.run(&["run", "plan.toml", "--virtual-time", "-q", "-o", &file])
}

#[test]
fn a_gate_s_sentence_has_the_outcome_and_its_reason() {
    let place = Place::new();
    let three = "users = 4\nrepeat = 3";
    run(&place, "main", "100ms", "seed = 1", three).succeeded();
    run(&place, "same", "100ms", "seed = 2", three).succeeded();
    run(&place, "three", "103ms", "seed = 3", three).succeeded();
    run(&place, "ten", "111ms", "seed = 3", three).succeeded();
    run(&place, "half", "208ms", "seed = 4", three).succeeded();
    run(&place, "single", "208ms", "seed = 5", "users = 4").succeeded();
    let gate = |name: &str, most: &str| {
        let file = format!("{name}.plimsoll");
        let args = [
            "gate",
            "--baseline",
            "main.plimsoll",
            "--max-regression",
            most,
            &file,
        ];
        place.run(&args)
    };
    for (name, most, code, sentence) in [
        (
            "same",
            "5%",
            0,
            "Passed: no figure is worse than is allowed.",
        ),
        ("three", "10%", 0, "Passed: "),
        ("ten", "3%", 3, "half has 0."),
        (
            "half",
            "3%",
            3,
            "half has 0.48 times the new orders of main (",
        ),
        (
            "single",
            "3%",
            4,
            "Inconclusive: at oltp, 4 users, there are fewer than three repeats, and less than five minutes were measured. Repeat",
        ),
    ] {
        let out = gate(name, most);
        let sentence = sentence.replace("half has", &format!("{name} has"));
        assert!(
            out.code == Some(code) && out.stdout.contains(&sentence),
            "{name}: {out:?}"
        );
    }
    let json = [
        "gate",
        "--baseline",
        "main.plimsoll",
        "--max-regression",
        "3%",
        "half.plimsoll",
        "--format",
    ];
    let out = place.run(&[&json[..], &["json"]].concat());
    let value: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(
        (&value["outcome"], &value["gate"]["points"][0]["reason"]),
        (&"regression".into(), &"beyond".into())
    );
    assert!(
        value["reason"]
            .as_str()
            .unwrap()
            .starts_with("Regression: at oltp"),
        "{value}"
    );
    let csv = place.run(&[&json[..], &["csv"]].concat()).stdout;
    let rows: Vec<&str> = csv.lines().collect();
    assert!(
        rows[0].ends_with("figure,value,value_low,value_high,limit,outcome,reason")
            && rows[1].starts_with("regression,baseline,oltp,")
            && rows[1].ends_with(",0.97,regression,beyond"),
        "{csv}"
    );
}

#[test]
fn requirements_need_no_baseline() {
    let place = Place::new();
    run(&place, "run", "10ms", "", "users = 1").succeeded();
    let gate = |require: &[&str]| {
        let mut args = vec!["gate", "run.plimsoll"];
        require
            .iter()
            .for_each(|text| args.extend(["--require", text]));
        place.run(&args)
    };
    for (require, code, sentence) in [
        (
            vec!["p99<200ms", "failed<0.1%", "throughput>10"],
            0,
            "Passed: every requirement is met at every load.",
        ),
        (
            vec!["p99<200ms", "p50<5ms"],
            3,
            "Failed: at oltp, 1 user, p50 is 1",
        ),
        (
            vec!["iops>1"],
            4,
            "Inconclusive: iops>1 is required, and no load has iops.",
        ),
        (
            vec!["p99.9<1s"],
            4,
            "p99.9 was not measured, or too few response times resolve it",
        ),
    ] {
        let out = gate(&require);
        assert!(
            out.code == Some(code) && out.stdout.contains(sentence),
            "{require:?}: {out:?}"
        );
    }
    gate(&[]).failed(2, &["there is nothing to check", "--require 'p99<200ms'"]);
    gate(&["p99>3ms"]).failed(2, &["lower is better: write p99<LIMIT"]);
    let both = [
        "gate",
        "run.plimsoll",
        "--require",
        "p50<5ms",
        "--format",
        "csv",
    ];
    let csv = place.run(&both).stdout;
    assert!(
        csv.lines().nth(1).unwrap().ends_with(",5,failed,missed"),
        "{csv}"
    );
}

#[test]
fn a_plan_s_requirements_end_its_run_with_an_exit_code() {
    let place = Place::new();
    let points = |name: &str| {
        let file = format!("{name}.plimsoll");
        place.rows(&file, "SELECT id FROM point").len()
    };
    let met = run(&place, "met", "10ms", "require = [\"p99<1s\"]", "users = 1");
    assert!(
        met.code == Some(0) && met.stdout.contains("every requirement is met"),
        "{met:?}"
    );
    let missed = run(
        &place,
        "missed",
        "10ms",
        "",
        "users = [1, 2]\nrequire = [\"p50<5ms\"]",
    );
    assert!(
        missed.code == Some(3) && missed.stdout.contains("Failed: at oltp, 1 user, p50 is 1"),
        "{missed:?}"
    );
    let top = "require = [\"p50<5ms\"]\nabort_on_fail = true";
    run(&place, "aborted", "10ms", top, "users = [1, 2]\nrepeat = 5").failed(
        3,
        &[
            "a requirement is missed: at oltp, 1 user, p50 is 1",
            "abort_on_fail",
        ],
    );
    assert_eq!((points("missed"), points("aborted")), (2, 1));
    for (name, code) in [("met", 0), ("missed", 3), ("aborted", 3)] {
        let file = format!("{name}.plimsoll");
        assert_eq!(place.run(&["gate", &file]).code, Some(code), "{name}");
    }
}
