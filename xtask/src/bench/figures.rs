//! Figures out of `plimsoll export RUN --to json`, wherever in it they stand.

use serde_json::Value;

use crate::exec::{Task, failed};

/// The value of the figure: of a key of that name, or of an object whose `name` or `metric` it is and that has a
/// `value`. The bench's plans have one step of one point, so there is one; several that differ are an error.
pub fn figure(json: &Value, name: &str) -> Task<f64> {
    let mut found = Vec::new();
    collect(json, name, &mut found);
    match found.as_slice() {
        [] => failed(format!("the exported run has no figure '{name}'")),
        [first, rest @ ..] if rest.iter().all(|value| value == first) => Ok(*first),
        _ => failed(format!(
            "the exported run has several figures '{name}': {found:?}"
        )),
    }
}

fn collect(json: &Value, name: &str, found: &mut Vec<f64>) {
    match json {
        Value::Object(map) => {
            let is_named = ["name", "metric"]
                .iter()
                .any(|key| map.get(*key).and_then(Value::as_str) == Some(name));
            found.extend(
                map.get("value")
                    .filter(|_| is_named)
                    .and_then(Value::as_f64),
            );
            let own = map.get(name);
            found.extend(own.and_then(|own| own.as_f64().or(own["value"].as_f64())));
            map.values().for_each(|value| collect(value, name, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, name, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_figure_is_found_by_key_and_by_name() {
        let run = json!({"steps": [{"points": [{"cpu_us": {"value": 3.5, "n": 1}}]}], "figures": [{"name": "trips", "value": 2}]});
        assert_eq!(figure(&run, "cpu_us").expect("key"), 3.5);
        assert_eq!(figure(&run, "trips").expect("name"), 2.0);
    }

    #[test]
    fn no_figure_and_two_different_ones_are_errors() {
        assert!(figure(&json!({"a": [1, {"b": null}]}), "b").is_err());
        assert!(figure(&json!([{"b": 1}, {"b": 2}]), "b").is_err());
        assert_eq!(
            figure(&json!([{"b": 1}, {"b": 1}]), "b").expect("the same twice"),
            1.0
        );
    }
}
