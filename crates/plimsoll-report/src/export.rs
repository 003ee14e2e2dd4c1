//! What machines read: JSON of the figures, CSV of the ladder, of block I/O, of every second and of every sample.
//!
//! The JSON's top level is [`Export`]; its `summary` is a [`Summary`], whose fields carry their units in their names.
//! `schema_version` changes when a name or a meaning does; new fields may come without that.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::SUMMARY_VERSION;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::{Check, Event, Fact, Phase, Record, SubjectId, SubjectKind};
use serde::Serialize;
use serde_json::Value;

mod audit;
mod block;
mod drive;
mod ladder;
mod reported;
mod seconds;
mod shared;
mod wait;

pub use audit::{audit_csv, audit_json};

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
    /// As data; as text where it cannot be parsed; `null` where there is none, as of imported runs.
    pub plan_resolved: Value,
    /// Why it is text.
    pub plan_unreadable: Option<String>,
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
    pub code: &'a str,
    pub text: &'a str,
}

#[derive(Debug, Serialize)]
pub struct ExportCheck<'a> {
    pub system: &'a str,
    /// Place of the point in its ladder; `null` at the end of a step.
    pub ordinal: Option<u32>,
    pub step: Option<&'a str>,
    pub clause: &'a str,
    pub holds: bool,
    pub detail: &'a str,
}

/// The tables that can be exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvKind {
    /// One row for each point.
    Ladder,
    /// One row for each second and transaction type.
    Seconds,
    /// One row for each sample of each metric.
    Series,
    /// One row for each second, emulated drive and kind of operation.
    Drive,
    /// One row for each second, system, state and event of its sessions.
    Wait,
    /// Block I/O: one row for each point and kind of request.
    Block,
    /// Figures that other tools printed: one row for each.
    Reported,
    /// One row for each backup and restore.
    Backup,
    /// One row for each load with noise, and for each of its systems.
    Effect,
    /// One row for each second of media that systems share, and of what these achieve together.
    Medium,
}

impl CsvKind {
    pub const ALL: [Self; 10] = [
        Self::Ladder,
        Self::Seconds,
        Self::Series,
        Self::Drive,
        Self::Wait,
        Self::Block,
        Self::Backup,
        Self::Effect,
        Self::Medium,
        Self::Reported,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ladder => "ladder",
            Self::Seconds => "seconds",
            Self::Series => "series",
            Self::Drive => "drive",
            Self::Wait => "wait",
            Self::Block => "block",
            Self::Reported => "reported",
            Self::Backup => "backup",
            Self::Effect => "effect",
            Self::Medium => "medium",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Figures, environment, plan, events and verdicts, indented, ending in a newline.
pub fn to_json(record: &Record, summary: &Summary) -> String {
    let run = &record.run;
    let (plan_resolved, plan_unreadable) = match parse_plan(&record.plan_resolved) {
        Ok(plan) => (plan, None),
        Err(why) => (Value::String(record.plan_resolved.clone()), Some(why)),
    };
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
        plan_resolved,
        plan_unreadable,
    };
    // Only maps with keys that are not strings fail, and there are none.
    let mut out = serde_json::to_string_pretty(&export).expect("an export has string keys only");
    out.push('\n');
    out
}

fn parse_plan(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        Ok(Value::Null)
    } else {
        toml::from_str(text).map_err(|error| error.to_string())
    }
}

fn facts(record: &Record) -> Vec<ExportFact<'_>> {
    record
        .facts
        .iter()
        .map(|fact| export_fact(record, fact))
        .collect()
}

fn export_fact<'a>(record: &'a Record, fact: &'a Fact) -> ExportFact<'a> {
    let Fact {
        subject,
        key,
        value,
    } = fact;
    let subject_kind = record
        .subjects
        .iter()
        .find(|own| own.id == *subject)
        .map(|own| own.kind);
    ExportFact {
        subject_kind,
        subject: name(record, *subject),
        key,
        value,
    }
}

fn export_phase<'a>(record: &'a Record, phase: &'a Phase) -> ExportPhase<'a> {
    let point = record
        .points
        .iter()
        .find(|point| Some(point.id) == phase.point);
    ExportPhase {
        step: &phase.step,
        system: point.map(|point| name(record, point.system)),
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
        subject: event.subject.map(|subject| name(record, subject)),
        severity: event.severity.name(),
        code: &event.code,
        text: &event.text,
    }
}

fn export_check<'a>(record: &'a Record, check: &'a Check) -> ExportCheck<'a> {
    let point = record
        .points
        .iter()
        .find(|point| Some(point.id) == check.point);
    ExportCheck {
        system: name(record, check.subject),
        ordinal: point.map(|point| point.ordinal),
        step: point.map(|point| point.step.as_str()),
        clause: &check.clause,
        holds: check.holds,
        detail: &check.detail,
    }
}

/// The name of a subject, empty where the record does not have it.
pub(crate) fn name(record: &Record, id: SubjectId) -> &str {
    record
        .subjects
        .iter()
        .find(|subject| subject.id == id)
        .map_or("", |subject| &subject.name)
}

/// One table as CSV (RFC 4180, but with bare newlines), with a header.
pub fn to_csv(record: &Record, summary: &Summary, kind: CsvKind) -> String {
    match kind {
        CsvKind::Ladder => ladder::csv(summary),
        CsvKind::Seconds => seconds::seconds(record),
        CsvKind::Series => seconds::series(record),
        CsvKind::Drive => drive::csv(record),
        CsvKind::Wait => wait::csv(record),
        CsvKind::Block => block::csv(summary),
        CsvKind::Reported => reported::csv(summary),
        CsvKind::Backup => shared::backup(summary),
        CsvKind::Effect => shared::effect(summary),
        CsvKind::Medium => shared::medium(summary),
    }
}

#[cfg(test)]
mod tests;
