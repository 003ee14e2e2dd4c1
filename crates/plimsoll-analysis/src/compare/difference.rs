//! What two sides were measured on and with, and in what that differs: the one-factor difference table.
//!
//! Facts of the environment, settings of systems and the resolved plan are put into groups. What differs from run to run by
//! itself (free space, where a directory lies, a calibration) is shown and is no factor.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::summary::{DATA_FACT, INSTANCE_OF, ORDERS_ADDED_FACT};
use plimsoll_record::{PointPurpose, Record, SubjectKind};

/// What can be a factor: report rule ONEFACTOR names these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    Hosts,
    Cpus,
    /// Kernel and operating system with their settings.
    Kernel,
    /// Devices, emulated drives, filesystems and how they are mounted.
    Drives,
    /// Versions of databases and of plimsoll.
    Software,
    Settings,
    /// What runs: script, kinds and sizes of requests.
    Workload,
    /// Of data sets and workloads.
    Sizes,
    /// Steps of the plan.
    Load,
    GeneratorPlace,
    LoadedSystems,
    /// Differs by itself and is no factor.
    Incidental,
}

impl Group {
    pub const ALL: [Self; 12] = [
        Self::Hosts,
        Self::Cpus,
        Self::Kernel,
        Self::Drives,
        Self::Software,
        Self::Settings,
        Self::Workload,
        Self::Sizes,
        Self::Load,
        Self::GeneratorPlace,
        Self::LoadedSystems,
        Self::Incidental,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Cpus => "cpus",
            Self::Kernel => "kernel",
            Self::Drives => "drives",
            Self::Software => "software",
            Self::Settings => "settings",
            Self::Workload => "workload",
            Self::Sizes => "sizes",
            Self::Load => "load",
            Self::GeneratorPlace => "generator-place",
            Self::LoadedSystems => "loaded-systems",
            Self::Incidental => "incidental",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.name() == name)
    }
}

/// Something that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub group: Group,
    /// Whom it is about: a medium, a system, a step; empty for the machine.
    pub of: String,
    pub key: String,
    /// `None`: not recorded on that side.
    pub first: Option<String>,
    pub second: Option<String>,
}

/// What a run was measured on and with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration(BTreeMap<(Group, String, String), String>);

impl Configuration {
    pub fn of(record: &Record) -> Self {
        let mut own = Self::default();
        own.facts(record);
        own.plan(&record.plan_resolved, &measured_workloads(record));
        own.put(
            Group::Software,
            "",
            "plimsoll",
            record.run.plimsoll_version.clone(),
        );
        own.put(
            Group::Incidental,
            "",
            "plimsoll commit",
            record.run.plimsoll_commit.clone(),
        );
        own.put(
            Group::LoadedSystems,
            "",
            "systems under load at once",
            loaded_systems(record).to_string(),
        );
        own
    }

    fn put(&mut self, group: Group, of: &str, key: &str, value: String) {
        self.0.insert((group, of.to_owned(), key.to_owned()), value);
    }

    pub fn get(&self, group: Group, key: &str) -> Option<&str> {
        let found = self
            .0
            .iter()
            .find(|((own, _, name), _)| *own == group && name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether anything of this group is recorded.
    pub(super) fn records(&self, group: Group) -> bool {
        self.0.keys().any(|(own, ..)| *own == group)
    }

    /// Settings of one subject, by the names that the system or the medium has for them.
    pub(super) fn settings(&self, of: &str) -> BTreeMap<String, String> {
        let own = self.0.iter().filter(|((_, whose, _), _)| whose == of);
        own.map(|((_, _, key), value)| (setting_name(key).to_owned(), value.clone()))
            .collect()
    }

    /// Another run of the same side: what differs holds both values.
    pub fn merge(&mut self, other: Self) {
        for (key, value) in other.0 {
            let own = self.0.entry(key).or_insert_with(|| value.clone());
            if !own.split(" | ").any(|known| known == value) {
                own.push_str(" | ");
                own.push_str(&value);
            }
        }
    }

    fn facts(&mut self, record: &Record) {
        let mut subjects: BTreeSet<String> = BTreeSet::new();
        for subject in &record.subjects {
            let own = || {
                record
                    .facts
                    .iter()
                    .filter(|fact| fact.subject == subject.id)
            };
            let instance_of = own()
                .find(|fact| fact.key == INSTANCE_OF)
                .map(|fact| fact.value.clone());
            // Instances of one system are the same but for where they lie.
            let name = match subject.kind {
                SubjectKind::System => instance_of.unwrap_or_else(|| {
                    subject
                        .name
                        .split_once('@')
                        .map_or(subject.name.as_str(), |(name, _)| name)
                        .to_owned()
                }),
                SubjectKind::Medium => subject.name.clone(),
                SubjectKind::Device => subject
                    .name
                    .split_once('@')
                    .map_or("", |(_, medium)| medium)
                    .to_owned(),
                SubjectKind::Host
                | SubjectKind::Generator
                | SubjectKind::Emulator
                | SubjectKind::Backup => String::new(),
            };
            let fresh = subjects.insert(format!("{} {name}", subject.kind.name()));
            if !fresh && subject.kind == SubjectKind::System {
                continue;
            }
            for fact in own() {
                self.put(
                    group_of(subject.kind, &fact.key),
                    &name,
                    &fact.key,
                    fact.value.clone(),
                );
            }
        }
    }

    /// Of the resolved plan every key, so that no difference in the plan goes unnoticed. What workloads of `measured`
    /// points consist of is compared point by point.
    fn plan(&mut self, text: &str, measured: &BTreeSet<&str>) {
        let Ok(table) = text.parse::<toml::Table>() else {
            return;
        };
        let mut places: Vec<&str> = Vec::new();
        for (section, value) in &table {
            let group = match section.as_str() {
                "medium" => Group::Drives,
                "system" => Group::Settings,
                "workload" => Group::Sizes,
                "step" => Group::Load,
                "title" | "seed" | "data_seed" => Group::Incidental,
                _ => Group::Load,
            };
            match value {
                toml::Value::Table(entries) => {
                    for (name, value) in entries {
                        if section == "system" {
                            places.push(generator_place(value));
                        }
                        if section == "workload" && measured.contains(name.as_str()) {
                            self.source_of_workload(name, value);
                        } else {
                            self.values(group, name, "", value);
                        }
                    }
                }
                toml::Value::Array(steps) => {
                    for (i, step) in steps.iter().enumerate() {
                        let name = step.get("name").and_then(toml::Value::as_str);
                        let name = name.map_or_else(|| (i + 1).to_string(), str::to_owned);
                        self.values(group, &name, "", step);
                    }
                }
                other => self.values(group, "", section, other),
            }
        }
        places.sort_unstable();
        places.dedup();
        if !places.is_empty() {
            self.put(
                Group::GeneratorPlace,
                "",
                "load generator on",
                places.join(", "),
            );
        }
    }

    /// Points do not have these keys.
    fn source_of_workload(&mut self, name: &str, value: &toml::Value) {
        for key in ["profile", "source", "fio_job"] {
            let found = value.get("block").and_then(|block| block.get(key));
            found
                .into_iter()
                .for_each(|value| self.values(Group::Workload, name, key, value));
        }
    }

    fn values(&mut self, group: Group, of: &str, key: &str, value: &toml::Value) {
        if let toml::Value::Table(entries) = value {
            for (name, value) in entries {
                let key = if key.is_empty() {
                    name.clone()
                } else {
                    format!("{key}.{name}")
                };
                self.values(group, of, &key, value);
            }
            return;
        }
        if (group, key) == (Group::Drives, "slower") {
            // The fact of the same name knows the drive file's factor as well, and is not there where a drive is as rated.
            return;
        }
        if (group, key) == (Group::Load, "keying_and_think") {
            // Points have it.
            return;
        }
        let place =
            matches!(key, "path" | "device" | "url" | "name" | "scratch") || key.ends_with(".path");
        let group = match (group, key) {
            (Group::Drives, _) if place => Group::Incidental,
            (Group::Settings, "engine") => Group::Software,
            (Group::Settings, "count") => Group::LoadedSystems,
            (Group::Settings, _) if place => Group::Incidental,
            // A name identifies a side and is no difference.
            (Group::Load, "on" | "name") => Group::Incidental,
            (group, _) => group,
        };
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        self.put(group, of, key, text);
    }
}

/// A system that plimsoll runs shares its machine with it; so does one that is reached on this machine.
fn generator_place(system: &toml::Value) -> &'static str {
    let Some(url) = system.get("url").and_then(toml::Value::as_str) else {
        return "the system's machine";
    };
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let here = host.is_empty()
        || ["localhost", "127.", "[::1]", "::1"]
            .iter()
            .any(|own| host.starts_with(own))
        || url.contains("host=/")
        || url.contains("host=localhost");
    if here {
        "the system's machine"
    } else {
        "another machine"
    }
}

/// Workloads of the points that figures are taken from.
fn measured_workloads(record: &Record) -> BTreeSet<&str> {
    let of_figures = record
        .points
        .iter()
        .filter(|point| matches!(point.purpose, PointPurpose::Ladder | PointPurpose::Search));
    of_figures.map(|point| point.workload.as_str()).collect()
}

fn loaded_systems(record: &Record) -> usize {
    let mut at_once: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for point in record
        .points
        .iter()
        .filter(|point| matches!(point.purpose, PointPurpose::Ladder | PointPurpose::Search))
    {
        let load = (
            point.step_index,
            point.medium,
            point.ordinal,
            point.repeat,
            point.scene,
        );
        at_once.entry(load).or_default().insert(point.system);
    }
    at_once
        .values()
        .map(BTreeSet::len)
        .max()
        .unwrap_or_default()
}

/// `fsync` of the fact `setting.fsync` and of the plan's `settings.fsync`.
pub(super) fn setting_name(key: &str) -> &str {
    let known = ["setting.", "settings.", "pragmas."]
        .iter()
        .find_map(|prefix| key.strip_prefix(prefix));
    known.unwrap_or(key)
}

/// Facts that are of one run: where things lie, what is free, what a calibration gave.
const INCIDENTAL: [&str; 23] = [
    "unreadable",
    "cpu_mhz",
    "name",
    "label",
    "path",
    "device",
    "mount_point",
    "mount_source",
    "made_of",
    "numa_node",
    "free",
    "database_size",
    ORDERS_ADDED_FACT,
    "backing_file",
    "drive_file",
    "drive_title",
    "instance_of",
    "unix_socket_directories",
    "data_directory",
    "socket",
    "datadir",
    "port",
    "workers",
];

fn group_of(kind: SubjectKind, key: &str) -> Group {
    let setting = setting_name(key);
    if INCIDENTAL.contains(&setting) || key.starts_with("calibration") || key.starts_with("import.")
    {
        return Group::Incidental;
    }
    match kind {
        SubjectKind::Host => match key {
            "memory" | "swap" | "machine" | "virtualisation" => Group::Hosts,
            key if key.starts_with("cpu") || key.starts_with("mitigations") => Group::Cpus,
            "governor" | "smt" => Group::Cpus,
            _ => Group::Kernel,
        },
        SubjectKind::Device | SubjectKind::Medium => Group::Drives,
        SubjectKind::System if key.contains("version") => Group::Software,
        SubjectKind::System if key == DATA_FACT => Group::Sizes,
        SubjectKind::System => Group::Settings,
        SubjectKind::Generator | SubjectKind::Emulator | SubjectKind::Backup => Group::Incidental,
    }
}

/// Everything in which two sides differ. A subject that one side alone has is compared with the other's only one of its
/// group, so that a medium that is called otherwise differs in what it is and not in everything.
pub fn differences(first: &Configuration, second: &Configuration) -> Vec<Difference> {
    let (first, second) = aligned(first, second);
    let keys: BTreeSet<_> = first.keys().chain(second.keys()).collect();
    let differ = |key: &&(Group, String, String)| first.get(*key) != second.get(*key);
    let of = |key: &(Group, String, String)| Difference {
        group: key.0,
        of: key.1.clone(),
        key: key.2.clone(),
        first: first.get(key).map(|value| value.to_string()),
        second: second.get(key).map(|value| value.to_string()),
    };
    keys.into_iter().filter(differ).map(of).collect()
}

type Values = BTreeMap<(Group, String, String), String>;

/// Both sides with subjects paired that differ in their names only: the one of a group on each side, or those in the same
/// place of their order.
fn aligned(first: &Configuration, second: &Configuration) -> (Values, Values) {
    let (first, mut second) = (first.0.clone(), second.0.clone());
    for group in Group::ALL {
        let names = |values: &Values, other: &Values| {
            let of = |values: &Values| -> BTreeSet<String> {
                values
                    .keys()
                    .filter(|key| key.0 == group && !key.1.is_empty())
                    .map(|key| key.1.clone())
                    .collect()
            };
            of(values)
                .difference(&of(other))
                .cloned()
                .collect::<Vec<String>>()
        };
        let (only_first, only_second) = (names(&first, &second), names(&second, &first));
        if only_first.len() != only_second.len() {
            continue;
        }
        for (name, other) in only_first.iter().zip(&only_second) {
            let keys: Vec<_> = second
                .keys()
                .filter(|key| key.0 == group && key.1 == *other)
                .cloned()
                .collect();
            for key in keys {
                if let Some(value) = second.remove(&key) {
                    second.insert((group, name.clone(), key.2), value);
                }
            }
        }
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::fixture;
    use plimsoll_record::{Fact, Subject, SubjectId};

    fn of(record: &Record) -> Configuration {
        Configuration::of(record)
    }

    fn fact(record: &mut Record, kind: SubjectKind, name: &str, key: &str, value: &str) {
        let found = record
            .subjects
            .iter()
            .find(|subject| subject.kind == kind && subject.name == name);
        let id = found.map(|subject| subject.id).unwrap_or_else(|| {
            let id = SubjectId(700 + record.subjects.len() as u32);
            record.subjects.push(Subject {
                id,
                kind,
                name: name.into(),
            });
            id
        });
        record
            .facts
            .retain(|fact| !(fact.subject == id && fact.key == key));
        record.facts.push(Fact {
            subject: id,
            key: key.into(),
            value: value.into(),
        });
    }

    fn changed(first: &Record, second: &Record) -> Vec<(Group, String)> {
        differences(&of(first), &of(second))
            .into_iter()
            .map(|found| (found.group, found.key))
            .collect()
    }

    /// It has the drive file's factor in it, and runs from before there was one have none.
    #[test]
    fn the_slowdown_of_a_drive_is_compared_by_its_fact_alone() {
        let of = |plan: &str| {
            let mut own = Configuration::default();
            own.plan(plan, &BTreeSet::new());
            own
        };
        assert_eq!(
            of("[medium.x]\ndrive = \"d\"\nslower = 1\n"),
            of("[medium.x]\ndrive = \"d\"\n")
        );
        assert_ne!(of("[medium.x]\ndrive = \"d\"\n"), Configuration::default());
    }

    #[test]
    fn the_same_differs_in_nothing_and_each_change_is_in_its_group() {
        let first = fixture::single_point();
        assert_eq!(changed(&first, &first), []);
        let system = first
            .subjects
            .iter()
            .find(|s| s.kind == SubjectKind::System)
            .unwrap()
            .name
            .clone();
        let cases = [
            (SubjectKind::Host, "host", "kernel", Group::Kernel),
            (SubjectKind::Host, "host", "cpu_model", Group::Cpus),
            (SubjectKind::Host, "host", "memory", Group::Hosts),
            (SubjectKind::Device, "sdx", "model", Group::Drives),
            (
                SubjectKind::System,
                &system,
                "setting.shared_buffers",
                Group::Settings,
            ),
            (
                SubjectKind::System,
                &system,
                "setting.unix_socket_directories",
                Group::Incidental,
            ),
            (
                SubjectKind::System,
                &system,
                "server_version",
                Group::Software,
            ),
        ];
        for (kind, name, key, group) in cases {
            let (mut a, mut b) = (first.clone(), first.clone());
            fact(&mut a, kind, name, key, "one");
            fact(&mut b, kind, name, key, "two");
            assert_eq!(changed(&a, &b), [(group, key.to_owned())]);
        }
    }

    #[test]
    fn plans_are_compared_key_by_key() {
        let with = |text: &str| Record {
            plan_resolved: text.into(),
            ..fixture::single_point()
        };
        let first = with(
            "title = \"A\"\n[medium.nvme]\npath = \"/a\"\ndrive = \"x\"\n[system.db]\nengine = \"postgres\"\n\
             [workload.w.tpcc]\nwarehouses = 4\n[[step]]\nname = \"s\"\nusers = [1, 2]\non = [\"nvme\"]\n",
        );
        let second = with(
            "title = \"B\"\n[medium.sata]\npath = \"/b\"\ndrive = \"y\"\n[system.db]\nengine = \"postgres\"\ncount = 8\n\
             [workload.w.tpcc]\nwarehouses = 8\n[[step]]\nname = \"s\"\nusers = [1, 4]\non = [\"sata\"]\n",
        );
        let groups: Vec<(Group, String)> = changed(&first, &second)
            .into_iter()
            .filter(|(group, _)| *group != Group::Incidental)
            .collect();
        let expected = [
            (Group::Drives, "drive"),
            (Group::Sizes, "tpcc.warehouses"),
            (Group::Load, "users"),
            (Group::LoadedSystems, "count"),
        ];
        assert_eq!(groups, expected.map(|(group, key)| (group, key.to_owned())));
    }

    #[test]
    fn where_the_generator_runs_is_read_from_the_plan() {
        let place = |url: &str| {
            let system = if url.is_empty() {
                "engine = \"postgres\"".into()
            } else {
                format!("url = \"{url}\"")
            };
            let text = format!("[system.db]\n{system}\n");
            let record = Record {
                plan_resolved: text,
                ..fixture::single_point()
            };
            of(&record)
                .get(Group::GeneratorPlace, "load generator on")
                .unwrap()
                .to_owned()
        };
        for here in [
            "",
            "postgres://localhost/db",
            "postgres://me:***@127.0.0.1:5432/db",
            "mariadb://me@[::1]:3306",
        ] {
            assert_eq!(place(here), "the system's machine", "{here}");
        }
        assert_eq!(place("postgres://me@db7.example:5432/x"), "another machine");
    }

    #[test]
    fn runs_of_one_side_keep_what_differs_between_them() {
        let (mut a, mut b) = (fixture::single_point(), fixture::single_point());
        fact(&mut a, SubjectKind::Host, "host", "kernel", "1");
        fact(&mut b, SubjectKind::Host, "host", "kernel", "2");
        let mut side = of(&a);
        side.merge(of(&b));
        side.merge(of(&b));
        assert_eq!(side.get(Group::Kernel, "kernel"), Some("1 | 2"));
    }
}
