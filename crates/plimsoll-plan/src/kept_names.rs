//! Kept plans refer by name, so that they can be read without counting: names of their JSON become ids, and ids names.

use serde_json::Value;

/// The names in each section that others refer to.
struct SectionNames<'p> {
    section: &'static str,
    names: Vec<&'p str>,
}

/// Replaces the names by which a kept plan's parts refer to each other. `Err`: one that the plan does not have.
pub fn to_ids(plan: &mut Value) -> Result<(), String> {
    let names = plan.clone();
    let sections = sections(&names);
    let mut unknown = None;
    for_each_reference(plan, &mut |section, reference| {
        let name = reference.as_str().unwrap_or_default();
        match names_in(&sections, section)
            .iter()
            .position(|own| *own == name)
        {
            Some(index) => *reference = index.into(),
            None => unknown = Some(format!("`{name}` is not among its {section}")),
        }
    });
    unknown.map_or(Ok(()), Err)
}

const SECTIONS: [&str; 5] = ["media", "systems", "workloads", "blocks", "backups"];

fn sections(plan: &Value) -> Vec<SectionNames<'_>> {
    SECTIONS
        .iter()
        .map(|section| SectionNames {
            section,
            names: list(&plan[*section])
                .iter()
                .map(|part| part["name"].as_str().unwrap_or_default())
                .collect(),
        })
        .collect()
}

fn names_in<'s>(sections: &'s [SectionNames<'_>], section: &str) -> &'s [&'s str] {
    sections
        .iter()
        .find(|own| own.section == section)
        .map_or(&[], |own| &own.names)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn list_mut<'v>(value: &'v mut Value, key: &str) -> &'v mut [Value] {
    value
        .get_mut(key)
        .and_then(Value::as_array_mut)
        .map_or(&mut [], Vec::as_mut_slice)
}

/// Called with the section that is referred to, and the reference.
type Replace<'f> = &'f mut dyn FnMut(&'static str, &mut Value);

fn for_each_reference(plan: &mut Value, replace: Replace<'_>) {
    for backup in list_mut(plan, "backups") {
        refer(backup, "/backup/data", "workloads", replace);
    }
    for step in list_mut(plan, "steps") {
        refer(step, "/load/workload", "workloads", replace);
        refer(step, "/block/workload", "blocks", replace);
        refer(step, "/backup/backup", "backups", replace);
        refer(step, "/backup/cycles/to/medium", "media", replace);
        for kind in ["load", "block", "backup"] {
            let Some(step) = step.get_mut(kind) else {
                continue;
            };
            refer(step, "/system", "systems", replace);
            for medium in list_mut(step, "on") {
                replace("media", medium);
            }
            for noise in list_mut(step, "noise") {
                refer(noise, "/system", "systems", replace);
                refer(noise, "/work/load/workload", "workloads", replace);
                refer(noise, "/work/backup/backup", "backups", replace);
                refer(noise, "/work/backup/cycles/to/medium", "media", replace);
            }
        }
    }
}

fn refer(part: &mut Value, pointer: &str, section: &'static str, replace: Replace<'_>) {
    if let Some(reference) = part.pointer_mut(pointer) {
        replace(section, reference);
    }
}
