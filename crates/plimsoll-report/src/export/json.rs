//! JSON of a run's figures, environment, plan, events and verdicts.
//!
//! The top level is [`Export`]; its `summary` is a [`Summary`], whose fields carry their units in their names.
//! `schema_version` changes when a name or a meaning does; new fields may come without that.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::SUMMARY_VERSION;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::message::{CheckDetail, EventKind};
use plimsoll_record::{Check, Event, Fact, Phase, Point, PointId, Record, SubjectKind};
use serde::Serialize;
use serde_json::Value;

use crate::subject;

/// The export as it is written. Times count in seconds from the run's start.
#[derive(Debug, Serialize)]
pub struct Export<'a> {
    pub schema_version: u32,
    pub run: ExportRun<'a>,
    pub summary: &'a Summary,
    pub facts: Vec<ExportFact<'a>>,
    pub phases: Vec<ExportPhase<'a>>,
    pub events: Vec<ExportEvent<'a>>,
    pub checks: Vec<ExportCheck<'a>>,
    pub plan_written: &'a str,
    /// As data; as text where it cannot be read; `null` where there is none, as of imported runs.
    pub plan_resolved: Value,
    /// Why it is text.
    pub plan_unreadable: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub struct ExportRun<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub status: &'static str,
    pub failure: Option<&'a str>,
    pub started_at: &'a str,
    pub lasted_s: f64,
    pub command: &'a str,
    pub seed: u64,
    pub plimsoll_version: &'a str,
    pub plimsoll_commit: &'a str,
}

#[derive(Debug, Serialize)]
pub struct ExportFact<'a> {
    pub subject_kind: Option<SubjectKind>,
    pub subject: &'a str,
    pub key: &'a str,
    pub value: &'a str,
}

#[derive(Debug, Serialize)]
pub struct ExportPhase<'a> {
    pub step: &'a str,
    pub system: Option<&'a str>,
    /// Place of the point in its ladder; `null` for the preparation of a step.
    pub ordinal: Option<u32>,
    pub kind: PhaseKind,
    pub start_s: f64,
    pub end_s: f64,
    pub complete: bool,
}

#[derive(Debug, Serialize)]
pub struct ExportEvent<'a> {
    pub at_s: f64,
    pub subject: Option<&'a str>,
    pub severity: &'static str,
    #[serde(flatten)]
    pub kind: &'a EventKind,
}

#[derive(Debug, Serialize)]
pub struct ExportCheck<'a> {
    pub system: &'a str,
    /// Place of the point in its ladder; `null` at the end of a step.
    pub ordinal: Option<u32>,
    pub step: Option<&'a str>,
    pub clause: &'a str,
    pub holds: bool,
    #[serde(flatten)]
    pub detail: &'a CheckDetail,
}

/// Figures, environment, plan, events and verdicts, indented, ending in a newline.
pub fn to_json(record: &Record, summary: &Summary) -> String {
    let run = &record.run;
    let export = Export {
        schema_version: SUMMARY_VERSION,
        run: ExportRun {
            id: &run.id,
            title: &run.title,
            status: run.status.name(),
            failure: run.failure.as_deref(),
            started_at: &run.started_at,
            lasted_s: run.lasted.as_secs_f64(),
            command: &run.command,
            seed: run.seed,
            plimsoll_version: &run.plimsoll_version,
            plimsoll_commit: &run.plimsoll_commit,
        },
        summary,
        facts: facts(record),
        phases: record
            .phases
            .iter()
            .map(|phase| export_phase(record, phase))
            .collect(),
        events: record
            .events
            .iter()
            .map(|event| export_event(record, event))
            .collect(),
        checks: record
            .checks
            .iter()
            .map(|check| export_check(record, check))
            .collect(),
        plan_written: &record.plan_written,
        plan_resolved: record.plan.to_value(),
        plan_unreadable: record.plan.fault(),
    };
    // Only maps with keys that are not strings fail, and there are none.
    let mut out = serde_json::to_string_pretty(&export).expect("an export has string keys only");
    out.push('\n');
    out
}

fn facts(record: &Record) -> Vec<ExportFact<'_>> {
    let facts = record.facts.iter();
    facts.map(|fact| export_fact(record, fact)).collect()
}

fn export_fact<'a>(record: &'a Record, fact: &'a Fact) -> ExportFact<'a> {
    let mut subjects = record.subjects.iter();
    let subject = subjects.find(|own| own.id == fact.subject);
    ExportFact {
        subject_kind: subject.map(|own| own.kind),
        subject: subject.map_or("", |own| &own.name),
        key: &fact.key,
        value: &fact.value,
    }
}

fn point_of(record: &Record, id: Option<PointId>) -> Option<&Point> {
    record.points.iter().find(|point| Some(point.id) == id)
}

fn export_phase<'a>(record: &'a Record, phase: &'a Phase) -> ExportPhase<'a> {
    let point = point_of(record, phase.point);
    ExportPhase {
        step: &phase.step,
        system: point.map(|point| subject::name(record, point.system)),
        ordinal: point.map(|point| point.ordinal),
        kind: phase.kind,
        start_s: phase.start.as_secs_f64(),
        end_s: phase.end.as_secs_f64(),
        complete: phase.complete,
    }
}

fn export_event<'a>(record: &'a Record, event: &'a Event) -> ExportEvent<'a> {
    ExportEvent {
        at_s: event.at.as_secs_f64(),
        subject: event.subject.map(|id| subject::name(record, id)),
        severity: event.severity.name(),
        kind: &event.kind,
    }
}

fn export_check<'a>(record: &'a Record, check: &'a Check) -> ExportCheck<'a> {
    let point = point_of(record, check.point);
    ExportCheck {
        system: subject::name(record, check.subject),
        ordinal: point.map(|point| point.ordinal),
        step: point.map(|point| point.step.as_str()),
        clause: &check.clause,
        holds: check.holds,
        detail: &check.detail,
    }
}
