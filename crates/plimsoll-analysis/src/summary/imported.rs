//! Runs of other tools: which tool, what its output lacks, and the figures as it printed them.

use super::figure::FigureId;
use serde::Serialize;

use super::conserve::Conservation;
use super::finding::{Finding, FindingKind};
use super::index::Index;
use super::point_summary::PointSummary;
use plimsoll_record::import_facts;
use plimsoll_record::import_facts::{
    DISTRIBUTION_FACT, FILE_FACT, IMPORT_FACT, TOOL_FACT, UNKNOWN_FACT, VERSION_FACT,
};
use plimsoll_record::message::ImportNote;
use plimsoll_record::{Fact, OfferedLoad, Point, Reported, Severity, SubjectId};

/// One tool whose output was imported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportSummary {
    /// The subject that stands for the system that it measured.
    pub system: String,
    /// The tool and its version.
    pub source: String,
    pub files: String,
    /// What the output lacks, and what follows from that.
    pub unknown: Vec<Unknown>,
    /// What else the importer knows: where counts by second come from.
    pub known: Vec<Unknown>,
    pub points: Vec<ReportedPoint>,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unknown {
    pub what: String,
    /// A plain value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<ImportNote>,
}

impl Unknown {
    fn of(key: &str, value: &str) -> Self {
        let notes = import_facts::notes(value);
        Self {
            what: title(key),
            text: notes.is_empty().then(|| value.to_owned()),
            notes,
        }
    }
}

/// What a tool printed of one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportedPoint {
    /// Its id in the record.
    pub point: u32,
    pub step: String,
    pub medium: Option<String>,
    pub workload: String,
    #[serde(flatten)]
    pub load: OfferedLoad,
    pub repeat: u32,
    /// Of the whole time.
    pub figures: Vec<ReportedFigure>,
    /// Of parts of it, by time.
    pub parts: Vec<ReportedFigure>,
}

/// A figure as it was printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportedFigure {
    pub txn: String,
    pub name: String,
    pub value: f64,
    pub printed: String,
    pub unit: String,
    /// From the run's start; `None`: of the whole.
    pub from_s: Option<f64>,
    pub to_s: Option<f64>,
}

fn facts<'a>(index: &Index<'a>, system: SubjectId) -> impl Iterator<Item = &'a Fact> + use<'a> {
    index
        .record
        .facts
        .iter()
        .filter(move |fact| fact.subject == system)
}

fn fact<'a>(index: &Index<'a>, system: SubjectId, key: &str) -> Option<&'a str> {
    facts(index, system)
        .find(|fact| fact.key == key)
        .map(|fact| fact.value.as_str())
}

/// `sysbench 1.0.20`; `None` where plimsoll measured.
pub(super) fn source(index: &Index, system: SubjectId) -> Option<String> {
    let tool = fact(index, system, TOOL_FACT)?;
    let version = fact(index, system, VERSION_FACT).unwrap_or_default();
    Some(format!("{tool} {version}").trim_end().to_owned())
}

/// Whether histograms hold transactions that were drawn at random, and not all of them.
pub(super) fn is_sample(index: &Index, point: &Point) -> bool {
    import_facts::value_at(index.record, point.system, point.id, DISTRIBUTION_FACT)
        == Some("sample")
}

/// What its output lacks, as keys: the report has the sentences.
pub(super) fn finding(index: &Index, point: &Point) -> Option<Finding> {
    let source = source(index, point.system)?;
    let own = facts(index, point.system).filter_map(|fact| import_facts::key_at(fact, point.id));
    let unknown = own.filter_map(|key| key.strip_prefix(UNKNOWN_FACT));
    let unknown = unknown
        .map(|key| key.replace('_', " "))
        .collect::<Vec<_>>()
        .join(", ");
    Some(FindingKind::Imported { source, unknown }.with(Severity::Warning))
}

/// Clears what counts alone seem to show: how much was offered, in flight or sent is unknown.
pub(super) fn withhold(figures: &mut PointSummary) {
    figures.conservation = Conservation::Unknown;
    for counted in [FigureId::RoundTrips, FigureId::RolledBack] {
        let known = figures.figures.get(counted).filter(|own| own.value > 0.0);
        figures.figures.set(counted, known);
    }
}

pub(super) fn of_run(index: &Index) -> Vec<ImportSummary> {
    let subjects = index.record.subjects.iter();
    subjects
        .filter_map(|subject| of_system(index, subject.id, &subject.name))
        .collect()
}

fn of_system(index: &Index, system: SubjectId, name: &str) -> Option<ImportSummary> {
    let source = source(index, system)?;
    let unknown = facts(index, system).filter_map(|fact| {
        let what = fact.key.strip_prefix(UNKNOWN_FACT)?;
        Some(Unknown::of(what, &fact.value))
    });
    let known = facts(index, system)
        .filter(|fact| !is_head(&fact.key))
        .filter_map(|fact| {
            let key = fact.key.strip_prefix(IMPORT_FACT)?;
            Some(Unknown::of(key, &fact.value))
        });
    let points = index
        .record
        .points
        .iter()
        .filter(|point| point.system == system);
    Some(ImportSummary {
        system: name.to_owned(),
        source,
        files: fact(index, system, FILE_FACT)
            .unwrap_or_default()
            .to_owned(),
        unknown: unknown.collect(),
        known: known.collect(),
        points: points.map(|point| of_point(index, point)).collect(),
    })
}

/// Whether a fact has a place of its own in the summary.
fn is_head(key: &str) -> bool {
    [TOOL_FACT, VERSION_FACT, FILE_FACT].contains(&key) || key.starts_with(UNKNOWN_FACT)
}

/// `response_from`, of one of several loads `response_from (point 2)`.
fn title(key: &str) -> String {
    match import_facts::split(key) {
        (key, Some(point)) => format!("{key} (point {})", point.0),
        (key, None) => key.to_owned(),
    }
}

fn of_point(index: &Index, point: &Point) -> ReportedPoint {
    let own = index
        .record
        .reported
        .iter()
        .filter(|reported| reported.point == point.id);
    let mut figures = Vec::new();
    let mut parts = Vec::new();
    for reported in own {
        let Reported {
            point: _,
            source: _,
            txn,
            name,
            value,
            printed,
            unit,
            over,
        } = reported.clone();
        let from_s = over.map(|(from, _)| from.as_secs_f64());
        let to_s = over.map(|(_, to)| to.as_secs_f64());
        let figure = ReportedFigure {
            txn,
            name,
            value,
            printed,
            unit,
            from_s,
            to_s,
        };
        if over.is_some() {
            parts.push(figure)
        } else {
            figures.push(figure)
        }
    }
    parts.sort_by(|a, b| {
        a.from_s
            .unwrap_or_default()
            .total_cmp(&b.from_s.unwrap_or_default())
    });
    ReportedPoint {
        point: point.id.0,
        step: point.step.clone(),
        medium: point.medium.map(|medium| index.name(medium)),
        workload: point.workload.clone(),
        load: point.load(),
        repeat: point.repeat,
        figures,
        parts,
    }
}
