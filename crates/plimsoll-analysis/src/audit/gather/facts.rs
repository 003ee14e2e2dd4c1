//! Facts of a record, and what its plan states about them. Facts may be anything in a record that another program wrote.

use std::collections::BTreeMap;

use crate::audit::Missing;
use crate::audit::input::{GeneratorLocation, Known};
use plimsoll_plan::resolved::{LoadStep, System, SystemKind, Workload};
use plimsoll_plan::{HostId, ResolvedPlan, Section};
use plimsoll_record::import_facts::{self, UNKNOWN_FACT};
use plimsoll_record::metric::Metric;
use plimsoll_record::{Fact, PointId, Record, SubjectId, SubjectKind};

pub(super) struct RecordFacts<'a> {
    pub record: &'a Record,
    plan: Option<&'a ResolvedPlan>,
    by_subject: BTreeMap<SubjectId, Vec<&'a Fact>>,
}

impl<'a> RecordFacts<'a> {
    pub fn new(record: &'a Record) -> Self {
        let mut by_subject: BTreeMap<SubjectId, Vec<&Fact>> = BTreeMap::new();
        record
            .facts
            .iter()
            .for_each(|fact| by_subject.entry(fact.subject).or_default().push(fact));
        Self {
            record,
            plan: record.plan.resolved(),
            by_subject,
        }
    }

    pub fn subject(&self, kind: SubjectKind, name: &str) -> Option<SubjectId> {
        self.record.subject(kind, name).map(|found| found.id)
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

    /// Whether an imported output lacks something at a point, by the last part of the fact's key.
    pub fn lacks(&self, point: PointId, what: &str) -> bool {
        self.imported(point, &format!("{UNKNOWN_FACT}{what}"))
            .is_some()
    }

    /// What an importer knows of a point.
    pub fn imported(&self, point: PointId, key: &str) -> Option<&'a str> {
        let mut points = self.record.points.iter();
        let system = points.find(|own| own.id == point)?.system;
        import_facts::value_at(self.record, system, point, key)
    }

    /// The highest value of a metric of the run.
    pub fn highest(&self, metric: Metric) -> Option<f64> {
        let series = self.record.series.iter();
        let own = series.filter(|series| series.metric == metric);
        own.flat_map(|series| &series.samples)
            .map(|sample| f64::from(sample.value))
            .reduce(f64::max)
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

    /// The plan's step of that name that puts load on systems.
    pub fn load_step(&self, name: &str) -> Option<&'a LoadStep> {
        self.plan?.load_steps().find(|step| step.name == name)
    }

    /// Name of the plan's system that this one is an instance of.
    pub fn base(&self, system: &str) -> &'a str {
        let own = self.record.subject(SubjectKind::System, system);
        own.map_or("", |own| self.record.system_name(own))
    }

    /// The plan's system that this one is an instance of.
    pub fn system(&self, system: &str) -> Option<&'a System> {
        self.plan?.system_named(self.base(system))
    }

    /// Keys and values of the plan whose names begin with `below`, as one text.
    pub fn plan_text(&self, section: Section, of: &str, below: &str) -> Option<String> {
        let keys = self.plan?.keys();
        let own = keys
            .iter()
            .filter(|key| key.section == section && key.of == of);
        let texts: Vec<String> = own
            .filter_map(|key| Some(format!("{} = {}", key.key.strip_prefix(below)?, key.value)))
            .collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    pub fn is_mock(&self, system: &str) -> bool {
        matches!(
            self.system(system).map(|system| &system.kind),
            Some(SystemKind::Mock(_))
        )
    }

    pub fn place(&self, system: &str) -> Known<GeneratorLocation> {
        if self.record.is_simulated() {
            return Err(Missing::NotForThisLoad);
        }
        let kind = self.system(system).map(|system| &system.kind);
        match (self.generator("place"), kind) {
            (Some("same"), _) => Ok(GeneratorLocation::Same),
            (Some("other"), _) => Ok(GeneratorLocation::Other),
            (_, Some(SystemKind::Mock(_))) => Err(Missing::NotForThisLoad),
            _ if self.is_loaded_from_elsewhere(system) => Ok(GeneratorLocation::Other),
            (_, Some(kind)) if kind.is_remote() => Ok(GeneratorLocation::Other),
            (_, Some(_)) => Ok(GeneratorLocation::Same),
            (_, None) => Err(Missing::NoPlace),
        }
    }

    /// Whether all its load comes from hosts that a command leads to.
    fn is_loaded_from_elsewhere(&self, system: &str) -> bool {
        let base = self.base(system);
        let Some(plan) = self.plan else { return false };
        let mut steps = plan
            .load_steps()
            .filter(|step| plan.system(step.system).name == base)
            .peekable();
        let leads_elsewhere = |host: &HostId| !plan.host(*host).via.is_empty();
        steps.peek().is_some()
            && steps.all(|step| !step.from.is_empty() && step.from.iter().all(leads_elsewhere))
    }

    /// Memory that a system can use for its buffer and the page cache, in MB.
    pub fn memory_limit_mb(&self, system: &str) -> Option<f64> {
        let limit = self.system(system)?.limits.memory?;
        Some(limit.0 as f64 / 1e6)
    }

    /// Warehouses, or rows of all tables.
    pub fn data_units(&self, workload: &str) -> Option<(String, f64)> {
        Some(match self.plan?.workload_named(workload)? {
            Workload::Tpcc(tpcc) => ("warehouse".to_owned(), f64::from(tpcc.warehouses)),
            Workload::Sysbench(sysbench) => (
                "row".to_owned(),
                f64::from(sysbench.tables) * f64::from(sysbench.rows),
            ),
        })
    }
}
