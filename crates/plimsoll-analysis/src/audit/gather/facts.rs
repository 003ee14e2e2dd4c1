//! Facts of a record, and its plan as a table. Both may be anything in a record that another program wrote.

use std::collections::BTreeMap;

use crate::audit::Missing;
use crate::audit::input::{GeneratorLocation, Known};
use crate::summary::INSTANCE_OF;
use plimsoll_plan::size;
use plimsoll_record::{Fact, Record, SubjectId, SubjectKind};

pub(super) struct Facts<'a> {
    pub record: &'a Record,
    plan: toml::Table,
    by_subject: BTreeMap<SubjectId, Vec<&'a Fact>>,
}

/// What carries out the load of a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Engine {
    Mock,
    /// Inside plimsoll.
    Embedded,
    /// A server that plimsoll starts.
    Managed,
    /// A server that exists, at this host.
    Existing(String),
}

impl<'a> Facts<'a> {
    pub fn new(record: &'a Record) -> Self {
        let mut by_subject: BTreeMap<SubjectId, Vec<&Fact>> = BTreeMap::new();
        record
            .facts
            .iter()
            .for_each(|fact| by_subject.entry(fact.subject).or_default().push(fact));
        // The facts of a plan that cannot be read stay unknown.
        Self {
            record,
            plan: record.plan_resolved.parse().unwrap_or_default(),
            by_subject,
        }
    }

    pub fn subject(&self, kind: SubjectKind, name: &str) -> Option<SubjectId> {
        self.record
            .subjects
            .iter()
            .find(|subject| subject.kind == kind && subject.name == name)
            .map(|found| found.id)
    }

    fn alone(&self, kind: SubjectKind) -> Option<SubjectId> {
        self.record
            .subjects
            .iter()
            .find(|subject| subject.kind == kind)
            .map(|found| found.id)
    }

    pub fn of(&self, subject: Option<SubjectId>) -> &[&'a Fact] {
        subject
            .and_then(|subject| self.by_subject.get(&subject))
            .map_or(&[], Vec::as_slice)
    }

    pub fn value(&self, subject: Option<SubjectId>, key: &str) -> Option<&'a str> {
        self.of(subject)
            .iter()
            .find(|fact| fact.key == key)
            .map(|fact| fact.value.as_str())
    }

    pub fn host(&self, key: &str) -> Option<&'a str> {
        self.value(self.alone(SubjectKind::Host), key)
    }

    pub fn generator(&self, key: &str) -> Option<&'a str> {
        self.value(self.alone(SubjectKind::Generator), key)
    }

    pub fn medium(&self, medium: Option<&str>) -> Option<SubjectId> {
        self.subject(SubjectKind::Medium, medium?)
    }

    /// Of the plan: `section.name.keys`.
    pub fn plan(&self, path: &[&str]) -> Option<&toml::Value> {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(self.plan.get(*first)?, |value, key| value.get(*key))
    }

    /// A key of the plan's step of that name.
    pub fn step(&self, name: &str, key: &str) -> Option<&toml::Value> {
        let steps = self.plan.get("step")?.as_array()?;
        steps
            .iter()
            .find(|step| step.get("name").and_then(toml::Value::as_str) == Some(name))?
            .get(key)
    }

    /// The plan's system: of an instance the one that it is one of, else its name without the medium.
    pub fn base(&self, system: &str) -> &str {
        let id = self.subject(SubjectKind::System, system);
        let own = self
            .record
            .subjects
            .iter()
            .find(|subject| Some(subject.id) == id)
            .map_or("", |s| s.name.as_str());
        let plain = own.split_once('@').map_or(own, |(plain, _)| plain);
        self.value(id, INSTANCE_OF).unwrap_or(plain)
    }

    pub fn engine(&self, system: &str) -> Option<Engine> {
        let of = |key| {
            self.plan(&["system", self.base(system), key])
                .and_then(toml::Value::as_str)
        };
        if let Some(url) = of("url") {
            let host = url
                .split_once("://")
                .map_or(url, |(_, rest)| rest)
                .split(['/', '?'])
                .next()
                .unwrap_or_default();
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            let host = host
                .rsplit_once(':')
                .map_or(host, |(host, _)| host)
                .trim_matches(['[', ']']);
            return Some(Engine::Existing(host.to_owned()));
        }
        match of("engine")? {
            "mock" => Some(Engine::Mock),
            "sqlite" => Some(Engine::Embedded),
            _ => Some(Engine::Managed),
        }
    }

    pub fn place(&self, system: &str) -> Known<GeneratorLocation> {
        match (self.generator("place"), self.engine(system)) {
            (Some("same"), _) => Ok(GeneratorLocation::Same),
            (Some("other"), _) => Ok(GeneratorLocation::Other),
            (_, Some(Engine::Mock)) => Err(Missing::NotForThisLoad),
            (_, Some(Engine::Embedded | Engine::Managed)) => Ok(GeneratorLocation::Same),
            (_, Some(Engine::Existing(host))) => {
                let here = ["", "localhost", "127.0.0.1", "::1"].contains(&host.as_str());
                Ok(if here {
                    GeneratorLocation::Same
                } else {
                    GeneratorLocation::Other
                })
            }
            (_, None) => Err(Missing::NoPlace),
        }
    }

    /// Memory that a system can use for its buffer and the page cache, in MB.
    pub fn memory_limit_mb(&self, system: &str) -> Option<f64> {
        let limit = self
            .plan(&["system", self.base(system), "limits", "memory"])?
            .as_str()?;
        size::parse(limit).ok().map(|bytes| bytes.0 as f64 / 1e6)
    }

    /// Warehouses, or rows of all tables.
    pub fn data_units(&self, workload: &str) -> Option<(String, f64)> {
        let of = |path: &[&str]| {
            self.plan(path)
                .and_then(toml::Value::as_integer)
                .map(|n| n as f64)
        };
        let tpcc =
            of(&["workload", workload, "tpcc", "warehouses"]).map(|n| ("warehouse".to_owned(), n));
        let rows = || {
            let tables = of(&["workload", workload, "sysbench", "tables"])?;
            Some((
                "row".to_owned(),
                tables * of(&["workload", workload, "sysbench", "rows"])?,
            ))
        };
        tpcc.or_else(rows).filter(|(_, n)| *n > 0.0)
    }
}
