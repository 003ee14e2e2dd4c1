//! Predictions from the run files in `runs/`.

use serde_json::Value;

use crate::common::{Place, run_file};

fn predict(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Place::new()
        .command(&[&["predict"], args].concat())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn number(row: &Value, key: &str) -> f64 {
    row[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

#[test]
fn a_slowed_run_predicts_what_was_measured_at_full_speed() {
    let run = run_file("2026-11-24-vm-2cpu/predict/postgres-1.plimsoll");
    let args = [
        run.to_str().unwrap(),
        "--drive",
        "aws-io2",
        "--format",
        "json",
    ];
    let (code, json, stderr) = predict(&args);
    assert_eq!(code, Some(0), "{stderr}");
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    let of = |medium: &str, users: f64| {
        let found = rows
            .iter()
            .find(|row| row["medium"] == medium && number(row, "users") == users);
        found.unwrap_or_else(|| panic!("{medium} {users} in {json}"))
    };
    for users in [1.0, 2.0, 4.0, 8.0] {
        let slowed = of("io2-slow4", users);
        let measured = number(of("io2", users), "measured");
        let (low, high) = (number(slowed, "low"), number(slowed, "high"));
        assert!((low..high).contains(&measured), "{measured} of {slowed}");
        assert_eq!(slowed["change"], "full-speed");
        assert!(number(slowed, "flush_ms") > 0.0 && number(slowed, "cpu_ms") > 0.0);
    }
}

#[test]
fn arrays_are_predicted_from_each_other_within_their_intervals() {
    let run = run_file("2026-11-26-vm-2cpu/predict/postgres-arrays-1.plimsoll");
    let args = [run.to_str().unwrap(), "--verify", "--format", "json"];
    let (code, json, stderr) = predict(&args);
    assert_eq!(code, Some(0), "{stderr}");
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    let of_arrays: Vec<_> = rows.iter().filter(|row| row["change"] == "array").collect();
    assert_eq!(of_arrays.len(), 6, "{json}");
    for row in of_arrays {
        let (low, high) = (number(row, "predicted_low"), number(row, "predicted_high"));
        assert!((low..high).contains(&number(row, "measured")), "{row}");
    }
}

#[test]
fn invalid_points_are_refused_with_what_to_do() {
    let run = run_file("2026-11-24-vm-2cpu/predict/sqlite-1.plimsoll");
    let run = run.to_str().unwrap();
    let (code, table, stderr) = predict(&[run, "--users", "1"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        table.contains("Refused: io2 (1). The audit found the point invalid."),
        "{table}"
    );
    assert!(
        table.contains("`slower`") && table.contains("io2-slow4"),
        "{table}"
    );
    let (code, _, stderr) = predict(&[run, "--users", "1", "--cpus", "64"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("Leave out --cpus"), "{stderr}");
    let (code, _, stderr) = predict(&[run, "--users", "77"]);
    assert_eq!(code, Some(2), "{stderr}");
}

#[test]
fn a_block_workload_is_what_the_simulator_gives() {
    let (code, table, stderr) = predict(&["--block", "latency", "--drive", "aws-io2"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        table.contains("AWS EBS io2") && table.contains("IOPS"),
        "{table}"
    );
}
