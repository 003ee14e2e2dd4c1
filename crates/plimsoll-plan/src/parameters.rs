//! Parameters of a point's load from the plan, as its record stores them.

use std::collections::BTreeMap;

/// What defines the load of a step's workload, by the plan's names; as a point of a record holds it.
/// `plan` is a resolved one. Empty where it has no such workload, and for block I/O, whose streams are recorded.
pub fn parameters(plan: &toml::Table, workload: &str, step: &str) -> BTreeMap<String, String> {
    let section = |name: &str| plan.get("workload")?.get(workload)?.get(name)?.as_table();
    let mut all = BTreeMap::new();
    let keys = match (section("tpcc"), section("sysbench")) {
        (Some(tpcc), _) => {
            all.insert("test".to_owned(), "tpcc".to_owned());
            tpcc
        }
        (_, Some(sysbench)) => sysbench,
        (None, None) => return all,
    };
    all.extend(keys.iter().map(|(key, value)| (key.clone(), text(value))));
    let is_own =
        |found: &&toml::Value| found.get("name").and_then(toml::Value::as_str) == Some(step);
    let steps = plan.get("step").and_then(toml::Value::as_array);
    let think = steps.and_then(|steps| steps.iter().find(is_own)?.get("keying_and_think"));
    all.extend(think.map(|factor| ("keying_and_think".to_owned(), text(factor))));
    all
}

fn text(value: &toml::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_has_the_keys_of_its_workload_and_the_think_time_of_its_step() {
        let plan: toml::Table = "[workload.a.tpcc]\nwarehouses = 4\nhome = \"fixed\"\n[workload.b.sysbench]\n\
                                 script = \"oltp_read_only\"\nrows = 9\n[workload.c.block]\nsize = \"1MB\"\n\
                                 [[step]]\nname = \"x\"\nkeying_and_think = 0.5\n"
            .parse()
            .unwrap();
        let of = |workload: &str, step: &str| -> Vec<String> {
            parameters(&plan, workload, step)
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect()
        };
        assert_eq!(
            of("a", "x"),
            [
                "home=fixed",
                "keying_and_think=0.5",
                "test=tpcc",
                "warehouses=4"
            ]
        );
        assert_eq!(of("b", "y"), ["rows=9", "script=oltp_read_only"]);
        assert_eq!(
            [of("c", "x"), of("d", "x")],
            [vec![] as Vec<String>, vec![]]
        );
    }
}
