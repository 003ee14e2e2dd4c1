//! A resolved plan as keys and values, by the names that people write: what comparisons show.

use std::collections::BTreeMap;

use crate::describe::table;
use crate::resolved::{LoadStep, ResolvedPlan, Workload};
use crate::toml_table::{TomlItem, TomlTable};

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
        let mut keys = Vec::new();
        for (name, item) in table(self).entries() {
            let section = match name {
                "host" => Section::Host,
                "medium" => Section::Medium,
                "system" => Section::System,
                "workload" => Section::Workload,
                "step" => Section::Step,
                "audit" => Section::Audit,
                _ => Section::Top,
            };
            match item {
                TomlItem::Tables(steps) => {
                    for (step, table) in self.steps.iter().zip(steps) {
                        add_all(&mut keys, section, step.name(), "", table);
                    }
                }
                TomlItem::Table(audit) if section == Section::Audit => {
                    add_all(&mut keys, section, "", "", audit);
                }
                TomlItem::Table(named) => {
                    for (name, item) in named.entries() {
                        add(&mut keys, section, name, "", item);
                    }
                }
                _ => add(&mut keys, section, "", name, item),
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

/// Adds the value, or all values of the table.
fn add(keys: &mut Vec<PlanKey>, section: Section, of: &str, key: &str, item: &TomlItem) {
    if let TomlItem::Table(table) | TomlItem::Inline(table) = item {
        return add_all(keys, section, of, key, table);
    }
    keys.push(PlanKey {
        section,
        of: of.to_owned(),
        key: key.to_owned(),
        value: match item {
            TomlItem::Text(text) => text.clone(),
            other => other.to_string(),
        },
    });
}

fn add_all(keys: &mut Vec<PlanKey>, section: Section, of: &str, above: &str, table: &TomlTable) {
    for (key, item) in table.entries() {
        match above {
            "" => add(keys, section, of, key, item),
            above => add(keys, section, of, &format!("{above}.{key}"), item),
        }
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
