//! A whole record.

use crate::{
    BackupRow, BlockPoint, BlockShare, Check, Diagnosis, DriveRow, Event, Fact, INSTANCE_OF,
    Integrity, Outage, Phase, Point, PowerCut, Reported, Reset, RunInfo, SearchInfo, Seconds,
    Series, SteadyInfo, Subject, SubjectKind, WaitRow, Window,
};
use plimsoll_plan::{PlacedName, RecordedPlan};

#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub run: RunInfo,
    /// The plan as it was written, passwords redacted.
    pub plan_written: String,
    pub plan: RecordedPlan,
    pub subjects: Vec<Subject>,
    pub facts: Vec<Fact>,
    pub points: Vec<Point>,
    pub phases: Vec<Phase>,
    pub seconds: Seconds,
    pub windows: Vec<Window>,
    pub series: Vec<Series>,
    pub events: Vec<Event>,
    pub checks: Vec<Check>,
    pub drive: Vec<DriveRow>,
    pub cuts: Vec<PowerCut>,
    pub searches: Vec<SearchInfo>,
    pub resets: Vec<Reset>,
    pub waits: Vec<WaitRow>,
    pub blocks: Vec<BlockPoint>,
    pub shares: Vec<BlockShare>,
    pub steady: Vec<SteadyInfo>,
    pub diagnoses: Vec<Diagnosis>,
    pub backups: Vec<BackupRow>,
    pub outages: Vec<Outage>,
    /// Figures that other tools printed of imported runs.
    pub reported: Vec<Reported>,
    pub integrity: Integrity,
}

/// A fact of each medium of a run in virtual time on modeled drives.
pub const SIMULATED_FACT: &str = "simulated";

impl Record {
    /// Whether its figures are simulated in virtual time: all of a run's, or none.
    pub fn is_simulated(&self) -> bool {
        self.facts.iter().any(|fact| fact.key == SIMULATED_FACT)
    }

    pub fn subject(&self, kind: SubjectKind, name: &str) -> Option<&Subject> {
        self.subjects
            .iter()
            .find(|subject| subject.kind == kind && subject.name == name)
    }

    /// Names of the media, in the order of the plan.
    pub fn media(&self) -> Vec<&str> {
        let subjects = self.subjects.iter();
        let media = subjects.filter(|subject| subject.kind == SubjectKind::Medium);
        media.map(|subject| subject.name.as_str()).collect()
    }

    /// Name of the plan's system that a subject is an instance of.
    pub fn system_name<'a>(&'a self, subject: &'a Subject) -> &'a str {
        let fact = self
            .facts
            .iter()
            .find(|fact| fact.subject == subject.id && fact.key == INSTANCE_OF);
        fact.map_or(PlacedName::parse(&subject.name).name, |fact| &fact.value)
    }
}
