//! A resolved plan as keys and values, by the names that people write: what comparisons show.

use std::collections::BTreeMap;

use crate::describe::describe;
use crate::resolved::{LoadStep, ResolvedPlan, Workload};

/// Part of a plan in which a key stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Before the first table.
    Top,
    Host,
    Medium,
    System,
    Workload,
    Step,
    Audit,
}

/// One value of a plan: `drive = "…"` of `[medium.nvme]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanKey {
    pub section: Section,
    /// Name of the medium, system, workload or step; empty outside of them.
    pub of: String,
    /// Below that, with dots: `settings.work_mem`.
    pub key: String,
    /// Text as it is, everything else as TOML.
    pub value: String,
}

impl ResolvedPlan {
    /// Every key with its value, defaults included.
    pub fn keys(&self) -> Vec<PlanKey> {
        let plan: toml::Table = describe(self).parse().expect("a described plan is TOML");
        let mut keys = Vec::new();
        for (name, value) in &plan {
            let section = match name.as_str() {
                "host" => Section::Host,
                "medium" => Section::Medium,
                "system" => Section::System,
                "workload" => Section::Workload,
                "step" => Section::Step,
                "audit" => Section::Audit,
                _ => Section::Top,
            };
            match (section, value) {
                (Section::Step, toml::Value::Array(steps)) => {
                    for step in steps {
                        let name = step["name"].as_str().unwrap_or_default();
                        add(&mut keys, section, name, "", step);
                    }
                }
                (
                    Section::Host | Section::Medium | Section::System | Section::Workload,
                    toml::Value::Table(named),
                ) => {
                    for (name, value) in named {
                        add(&mut keys, section, name, "", value);
                    }
                }
                (Section::Audit, value) => add(&mut keys, section, "", "", value),
                (_, value) => add(&mut keys, section, "", name, value),
            }
        }
        keys
    }

    /// What defines the load of a step's workload, by the plan's names; as a point of a record holds it. Empty for block
    /// I/O, whose streams are recorded, and where the plan has no such workload.
    pub fn parameters(&self, workload: &str, step: &str) -> BTreeMap<String, String> {
        let step = self.load_steps().find(|own| own.name == step);
        self.workload_named(workload)
            .map_or(BTreeMap::new(), |workload| workload.parameters(step))
    }
}

impl Workload {
    /// What defines the load of a step's workload.
    pub fn parameters(&self, step: Option<&LoadStep>) -> BTreeMap<String, String> {
        let mut all: Vec<(&str, String)> = match self {
            Workload::Tpcc(tpcc) => vec![
                ("test", "tpcc".to_owned()),
                ("warehouses", tpcc.warehouses.to_string()),
                ("mode", tpcc.mode.name().to_owned()),
                ("home", tpcc.home.name().to_owned()),
            ],
            Workload::Sysbench(sysbench) => vec![
                ("script", sysbench.script.name().to_owned()),
                ("tables", sysbench.tables.to_string()),
                ("rows", sysbench.rows.to_string()),
                ("distribution", sysbench.distribution.name().to_owned()),
            ],
        };
        if let Workload::Sysbench(sysbench) = self
            && sysbench.script.has_ranges()
        {
            all.push(("point_selects", sysbench.point_selects.to_string()));
            all.push(("range_size", sysbench.range_size.to_string()));
        }
        all.extend(step.map(|step| ("keying_and_think", step.pacing.think.to_string())));
        all.into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

/// The value, or all values in its tables.
fn add(keys: &mut Vec<PlanKey>, section: Section, of: &str, key: &str, value: &toml::Value) {
    let toml::Value::Table(entries) = value else {
        let text = value.as_str().map(str::to_owned);
        keys.push(PlanKey {
            section,
            of: of.to_owned(),
            key: key.to_owned(),
            value: text.unwrap_or_else(|| value.to_string()),
        });
        return;
    };
    for (name, value) in entries {
        let below = if key.is_empty() {
            name.clone()
        } else {
            format!("{key}.{name}")
        };
        add(keys, section, of, &below, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, parse};

    fn plan() -> ResolvedPlan {
        let text = "title = \"t\"\n[medium.x]\npath = \"/x\"\n[system.db]\nengine = \"sqlite\"\n\
                    settings = { cache_size = \"9\" }\n[workload.a.tpcc]\nwarehouses = 4\nhome = \"fixed\"\n\
                    [workload.b.sysbench]\nscript = \"delete\"\nrows = 9\n[workload.c.block]\n\
                    profile = \"crystaldiskmark\"\n[audit]\nlag = 12\n\
                    [[step]]\nname = \"x\"\nrun = \"a\"\nsystem = \"db\"\nusers = 1\nkeying_and_think = 0.5\n";
        parse(text, &Options::default()).unwrap().plan
    }

    #[test]
    fn every_key_has_its_section_and_its_owner() {
        let keys = plan().keys();
        for (section, of, key, value) in [
            (Section::Top, "", "title", "t"),
            (Section::Medium, "x", "path", "/x"),
            (Section::System, "db", "settings.cache_size", "9"),
            (Section::Workload, "a", "tpcc.warehouses", "4"),
            (Section::Step, "x", "users", "1"),
            (Section::Audit, "", "lag", "12.0"),
        ] {
            let expected = PlanKey {
                section,
                of: of.to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
            };
            assert!(keys.contains(&expected), "{expected:?} in {keys:#?}");
        }
    }

    #[test]
    fn a_point_has_the_keys_of_its_workload_and_the_think_time_of_its_step() {
        let plan = plan();
        let of = |workload: &str, step: &str| -> Vec<String> {
            plan.parameters(workload, step)
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect()
        };
        assert_eq!(
            of("a", "x"),
            [
                "home=fixed",
                "keying_and_think=0.5",
                "mode=statements",
                "test=tpcc",
                "warehouses=4"
            ]
        );
        assert_eq!(
            of("b", "y"),
            [
                "distribution=special",
                "rows=9",
                "script=delete",
                "tables=1"
            ]
        );
        assert_eq!(
            [of("c", "x"), of("d", "x")],
            [vec![] as Vec<String>, vec![]]
        );
    }
}
