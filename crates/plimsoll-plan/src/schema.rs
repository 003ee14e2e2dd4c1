//! The JSON Schema of plans, for editors: completion, descriptions and faults while typing.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, Value};

use super::raw::RawPlan;

/// The JSON Schema (draft 7, which TOML editors know) of a plan, as it is checked in at `plans/plan.schema.json`.
pub fn json_schema() -> String {
    let settings = SchemaSettings::draft07()
        .for_deserialize()
        .with_transform(RecursiveTransform(|schema: &mut Schema| {
            if let Some(object) = schema.as_object_mut() {
                without_null(object);
                without_breaks(object);
                with_bounds_and_default(object);
            }
        }));
    let schema = settings.into_generator().into_root_schema_for::<RawPlan>();
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// TOML has no null: what may be left out is left out. An editor would offer it nevertheless.
fn without_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
    let [Value::Object(only)] = choices.as_mut_slice() else {
        return;
    };
    let only = std::mem::take(only);
    schema.remove("anyOf");
    if only.contains_key("$ref") {
        // Draft 7 ignores what stands beside a reference; beside an `allOf` the description counts.
        schema.insert("allOf".to_owned(), Value::Array(vec![Value::Object(only)]));
    } else {
        schema.extend(only);
    }
}

/// Comments are wrapped for this code's readers, not for an editor's.
fn without_breaks(schema: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text
            .replace("\n\n", "\u{0}")
            .replace('\n', " ")
            .replace('\u{0}', "\n\n");
    }
}

/// Editors show the description of a key only.
fn with_bounds_and_default(schema: &mut Map<String, Value>) {
    // A ladder is one number, or several.
    let one = schema.get("anyOf").and_then(|choices| choices.get(0));
    let numbers = one.and_then(Value::as_object).unwrap_or(schema);
    let bounds = match (numbers.get("minimum"), numbers.get("maximum")) {
        (Some(least), Some(most)) if *most != u32::MAX => format!(" {least} to {most}."),
        _ => String::new(),
    };
    let default = match schema.get("default") {
        Some(Value::String(word)) => format!(" Default: `\"{word}\"`."),
        Some(value) => format!(" Default: {value}."),
        None => String::new(),
    };
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let end = text.find(" Default: ").unwrap_or(text.len());
        text.insert_str(end, &bounds);
        text.push_str(&default);
    }
}
