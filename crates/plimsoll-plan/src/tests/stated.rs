//! A described plan states every key that was written, whatever is resolved and described in between.

use serde_json::Value;

use super::{EVERYTHING, block, catalog, drive, drives, shipped};
use crate::{Options, RecordedPlan, duration, parse, size};

/// Keys whose value stands elsewhere, or in other words, when the plan is described.
const REWORDED: [&str; 7] = [
    "block",
    "curve",
    "drive",
    "matrix",
    "scaled_settings",
    "size",
    "steady",
];

/// The same text for values that mean the same: `90s` and `1m 30s`, `5` and `"5"`.
fn canonical(value: &Value) -> String {
    let Some(text) = value.as_str() else {
        return value.as_f64().map_or(value.to_string(), |n| n.to_string());
    };
    let time = duration::parse(text).map(|time| format!("{} ns", time.0));
    let bytes = size::parse(text).map(|size| format!("{} B", size.0));
    time.or(bytes).unwrap_or(text.to_owned())
}

fn collect_unstated(path: &str, written: &Value, described: &Value, found: &mut Vec<String>) {
    match (written, described) {
        (Value::Object(written), _) => {
            for (key, value) in written {
                if !REWORDED.contains(&key.as_str()) {
                    collect_unstated(&format!("{path}.{key}"), value, &described[key], found);
                }
            }
        }
        (Value::Array(written), Value::Array(described)) if written.len() == described.len() => {
            for (written, described) in written.iter().zip(described) {
                collect_unstated(path, written, described, found);
            }
        }
        // A ladder of one is a number.
        (Value::Array(written), one) if written.len() == 1 => {
            collect_unstated(path, &written[0], one, found);
        }
        _ if canonical(written) == canonical(described) => {}
        _ => found.push(format!("{path} = {written}, described as {described}")),
    }
}

fn unstated(text: &str, options: &Options) -> Vec<String> {
    let plan = parse(text, options).unwrap().plan;
    let mut found = Vec::new();
    let written: Value = toml::from_str(text).unwrap();
    let described = RecordedPlan::new(plan).to_value();
    collect_unstated("", &written, &described, &mut found);
    found
}

#[test]
fn what_is_written_is_described() {
    for (name, text) in shipped() {
        assert_eq!(unstated(&text, &catalog()), [""; 0], "{name}");
    }
    for text in [EVERYTHING, drive::PLAN, block::PLAN] {
        assert_eq!(unstated(text, &drives()), [""; 0]);
    }
}
