//! The tables of docs/plans.md, against the declarations of the keys.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::raw::{PlanTable, RawStep, TableKind};
use crate::{duration, json_schema};

/// Tables of the plan by what heads their documentation: the type's name in the schema, and what a step runs.
const TABLES: [(&str, &str, Option<TableKind>); 17] = [
    ("top level", "", None),
    ("[medium.NAME]", "Medium", None),
    ("[host.NAME]", "Host", None),
    ("[system.NAME]", "System", None),
    ("limits", "Limits", None),
    ("mock", "Mock", None),
    ("[workload.NAME.tpcc]", "Tpcc", None),
    ("[workload.NAME.sysbench]", "Sysbench", None),
    ("[workload.NAME.backup]", "Backup", None),
    ("[workload.NAME.block]", "Block", None),
    ("job", "BlockJob", None),
    ("[[step]]", "Step", Some(TableKind::LoadStep)),
    ("[[step]] of a backup", "Step", Some(TableKind::BackupStep)),
    (
        "[[step]] of a block workload",
        "Step",
        Some(TableKind::BlockStep),
    ),
    ("entry of noise", "Noise", None),
    ("find", "Find", None),
    ("event", "Event", None),
];

/// Documented keys of each table, with the values behind `=`.
type Documented = BTreeMap<String, BTreeMap<String, Option<String>>>;

fn documented() -> Documented {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/plans.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut tables = Documented::new();
    let mut heading = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(row) = line.strip_prefix('|') else {
            continue;
        };
        let cell = row.split('|').next().unwrap_or_default().trim();
        if lines.peek().is_some_and(|next| next.starts_with("|---")) {
            heading = cell.replace('`', "");
            continue;
        }
        for key in cell.split('`').skip(1).step_by(2) {
            let (key, value) = match key.split_once(" = ") {
                Some((key, value)) => (key, Some(value.to_owned())),
                None => (key, None),
            };
            let keys = tables.entry(heading.clone()).or_default();
            keys.insert(key.to_owned(), value);
        }
    }
    tables
}

/// Sections, which have tables of their own.
const SECTIONS: [&str; 7] = [
    "medium", "host", "system", "workload", "step", "matrix", "audit",
];

/// Keys of a table: all of its type, but for those that steps of the kind lack.
fn declared(properties: &Value, kind: Option<TableKind>) -> BTreeSet<String> {
    let properties = properties.as_object().unwrap();
    let mut keys: BTreeSet<String> = properties.keys().cloned().collect();
    if properties.contains_key("title") {
        keys.retain(|key| !SECTIONS.contains(&key.as_str()));
    }
    for key in kind.map_or(Vec::new(), RawStep::keys) {
        if key.refusal.is_some() {
            keys.remove(key.name);
        }
    }
    keys
}

fn is_equal(documented: &str, default: &Value) -> bool {
    match default.as_str() {
        None => *default == documented,
        Some(default) => {
            let documented = documented.trim_matches('"');
            documented == default
                || duration::parse(documented)
                    .is_ok_and(|time| duration::parse(default) == Ok(time))
        }
    }
}

#[test]
fn the_documentation_has_every_key_with_its_default() {
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    let documented = documented();
    let mut faults = Vec::new();
    for (heading, definition, kind) in TABLES {
        let properties = match definition {
            "" => &schema["properties"],
            name => &schema["definitions"][name]["properties"],
        };
        let keys = documented.get(heading).cloned().unwrap_or_default();
        let names: BTreeSet<String> = keys.keys().cloned().collect();
        for key in declared(properties, kind).symmetric_difference(&names) {
            faults.push(format!("{heading}: {key} is not in both"));
        }
        for (key, value) in keys {
            let default = properties[&key].get("default");
            if let (Some(value), Some(default)) = (value, default)
                && !is_equal(&value, default)
            {
                faults.push(format!(
                    "{heading}: {key} = {value}, and the default is {default}"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
