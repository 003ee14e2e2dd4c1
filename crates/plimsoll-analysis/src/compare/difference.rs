//! What two sides were measured on and with, and in what that differs: the one-factor difference table.
//!
//! Facts of the environment, settings of systems and the resolved plan are put into groups. What differs from run to run by
//! itself (free space, where a directory lies, a calibration) is shown and is no factor.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::summary::{DATA_FACT, ORDERS_ADDED_FACT};
use plimsoll_plan::resolved::System;
use plimsoll_plan::{PlacedName, PlanKey, ResolvedPlan, Section};
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

    /// Whether it is of the machine that was measured, rather than of what ran on it.
    pub(super) fn is_of_machine(self) -> bool {
        matches!(
            self,
            Self::Hosts | Self::Cpus | Self::Kernel | Self::Drives | Self::GeneratorPlace
        )
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

/// What differs of one group, and is recorded on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Factor {
    pub group: Group,
    /// Without doubles: a setting by the name that its system has for it.
    pub names: Vec<String>,
}

/// What a run was measured on and with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration(BTreeMap<(Group, String, String), String>);

fn machine_of(system: &System) -> &'static str {
    match system.kind.is_remote() {
        true => "another machine",
        // A system that plimsoll runs shares its machine with it; so does one that is reached on this machine.
        false => "the system's machine",
    }
}

impl Configuration {
    pub fn of(record: &Record) -> Self {
        let mut own = Self::default();
        own.facts(record);
        if let Some(plan) = record.plan.resolved() {
            own.plan(plan, &measured_workloads(record));
        }
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
            // Instances of one system are the same but for where they lie.
            let name = match subject.kind {
                SubjectKind::System => record.system_name(subject),
                SubjectKind::Medium => &subject.name,
                SubjectKind::Device | SubjectKind::Member => {
                    PlacedName::parse(&subject.name).medium.unwrap_or_default()
                }
                SubjectKind::Host
                | SubjectKind::Generator
                | SubjectKind::Worker
                | SubjectKind::Emulator
                | SubjectKind::Backup => "",
            };
            let fresh = subjects.insert(format!("{} {name}", subject.kind.name()));
            if !fresh && subject.kind == SubjectKind::System {
                continue;
            }
            for fact in own() {
                self.put(
                    group_of(subject.kind, &fact.key),
                    name,
                    &fact.key,
                    fact.value.clone(),
                );
            }
        }
    }

    /// Of the plan every key, so that no difference in it goes unnoticed. What workloads of `measured` points consist of is
    /// compared point by point.
    fn plan(&mut self, plan: &ResolvedPlan, measured: &BTreeSet<&str>) {
        for PlanKey {
            section,
            of,
            key,
            value,
        } in plan.keys()
        {
            let is_measured = section == Section::Workload && measured.contains(of.as_str());
            let own_key = key.strip_prefix("block.").filter(|_| is_measured);
            match own_key {
                // Points do not have these keys.
                Some(key @ ("profile" | "source" | "fio_job")) => {
                    self.put(Group::Workload, &of, key, value);
                }
                _ if is_measured => {}
                _ => {
                    if let Some(group) = plan_group(section, &key) {
                        self.put(group, &of, &key, value);
                    }
                }
            }
        }
        let places: BTreeSet<&str> = plan.systems.iter().map(machine_of).collect();
        if !places.is_empty() {
            let places: Vec<&str> = places.into_iter().collect();
            self.put(
                Group::GeneratorPlace,
                "",
                "load generator on",
                places.join(", "),
            );
        }
    }
}

/// `None`: the same is known from elsewhere.
fn plan_group(section: Section, key: &str) -> Option<Group> {
    let place =
        matches!(key, "path" | "device" | "url" | "name" | "scratch") || key.ends_with(".path");
    Some(match (section, key) {
        // The fact of the same name knows the drive file's factor as well, and is missing where a drive is as rated.
        (Section::Medium, "slower" | "speed") => return None,
        // Points have it.
        (Section::Step, "keying_and_think") => return None,
        // What is required of figures does not change them.
        (Section::Step | Section::Top, "require" | "abort_on_fail") => Group::Incidental,
        (Section::Host, _) | (Section::Step, "from") => Group::GeneratorPlace,
        (Section::Medium | Section::System, _) if place => Group::Incidental,
        (Section::Medium, _) => Group::Drives,
        (Section::System, "engine") => Group::Software,
        (Section::System, "count") => Group::LoadedSystems,
        (Section::System, _) => Group::Settings,
        (Section::Workload, _) => Group::Sizes,
        // A name identifies a side and is no difference.
        (Section::Step, "on" | "name") => Group::Incidental,
        (Section::Top, "title" | "seed" | "data_seed") => Group::Incidental,
        (Section::Step | Section::Top | Section::Audit, _) => Group::Load,
    })
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

/// Facts that are of one run: where things lie, what is free, what a calibration gave, what plimsoll itself did.
const INCIDENTAL: [&str; 24] = [
    DATA_FACT,
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
        SubjectKind::Device | SubjectKind::Medium | SubjectKind::Member => Group::Drives,
        SubjectKind::System if key.contains("version") => Group::Software,
        SubjectKind::System => Group::Settings,
        SubjectKind::Worker => Group::GeneratorPlace,
        SubjectKind::Generator | SubjectKind::Emulator | SubjectKind::Backup => Group::Incidental,
    }
}

/// Everything in which two sides differ. A subject that one side alone has is compared with the other's only one of its
/// group, so that a medium that is called otherwise differs in what it is and not in everything.
pub fn differences(first: &Configuration, second: &Configuration) -> Vec<Difference> {
    let (first, second) = aligned(first, second);
    let keys: BTreeSet<_> = first.keys().chain(second.keys()).collect();
    keys.into_iter()
        .filter(|key| first.get(*key) != second.get(*key))
        .map(|key| Difference {
            group: key.0,
            of: key.1.clone(),
            key: key.2.clone(),
            first: first.get(key).cloned(),
            second: second.get(key).cloned(),
        })
        .collect()
}

type Values = BTreeMap<(Group, String, String), String>;

/// Both sides with subjects paired that differ in their names only: the one of a group on each side, or those in the same
/// place of their order.
fn aligned(first: &Configuration, second: &Configuration) -> (Values, Values) {
    let first = first.0.clone();
    let mut second = second.0.clone();
    for group in Group::ALL {
        let names_first = names_of(&first, group);
        let names_second = names_of(&second, group);
        let only_first: Vec<&String> = names_first.difference(&names_second).collect();
        let only_second: Vec<&String> = names_second.difference(&names_first).collect();
        if only_first.len() != only_second.len() {
            continue;
        }
        for (name, other) in only_first.iter().zip(&only_second) {
            let keys: Vec<_> = second
                .keys()
                .filter(|key| key.0 == group && key.1 == **other)
                .cloned()
                .collect();
            for key in keys {
                if let Some(value) = second.remove(&key) {
                    second.insert((group, (*name).clone(), key.2), value);
                }
            }
        }
    }
    (first, second)
}

fn names_of(values: &Values, group: Group) -> BTreeSet<String> {
    let named = values
        .keys()
        .filter(|key| key.0 == group && !key.1.is_empty());
    named.map(|key| key.1.clone()).collect()
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

    const POSTGRES: &str = "engine = \"postgres\"";

    /// The text of a plan with these keys.
    fn plan_with(medium: &str, system: &str, step: &str) -> String {
        let users = if step.is_empty() { "users = 1" } else { step };
        format!(
            "title = \"t\"\n[medium.m]\n{medium}\n[system.db]\n{system}\n[workload.w.tpcc]\nwarehouses = 4\n\
             [[step]]\nname = \"s\"\nrun = \"w\"\nsystem = \"db\"\n{users}\n"
        )
    }

    fn with_plan(text: &str) -> Record {
        Record {
            plan: fixture::plan(text),
            ..fixture::single_point()
        }
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
        let of = |slower: &str| {
            let medium = format!("path = \"/x\"\ndrive = \"d.toml\"\n{slower}");
            of(&with_plan(&plan_with(&medium, "engine = \"sqlite\"", "")))
        };
        assert_eq!(of("slower = 3\n"), of(""));
        assert_eq!(of("slower = 3\n"), of("speed = \"full\"\n"));
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
        let (first, second) = (
            with_plan(&plan_with(
                "path = \"/a\"\ndrive = \"x.toml\"",
                POSTGRES,
                "users = [1, 2]",
            )),
            with_plan(
                &plan_with(
                    "path = \"/b\"\ndrive = \"y.toml\"",
                    POSTGRES,
                    "users = [1, 4]",
                )
                .replace("warehouses = 4", "warehouses = 8")
                .replace(POSTGRES, "engine = \"postgres\"\ncount = 8"),
            ),
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
                POSTGRES.to_owned()
            } else {
                format!("url = \"{url}\"")
            };
            of(&with_plan(&plan_with("path = \"/a\"", &system, "")))
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
