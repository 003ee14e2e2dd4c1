//! Requirements of a run, load by load, and one sentence with the outcome.

use plimsoll_analysis::compare::{
    GateOutcome, RequiredPoint, RequirementReason, RequirementReport,
};
use plimsoll_plan::requirement::RequiredFigure;

use super::words::place;
use crate::message::Messages;
use crate::number::three;
use crate::table::Unit::Words;
use crate::table::{Table, TableCell};

/// The requirements, load by load, and the outcome.
pub fn requirement_text(report: &RequirementReport) -> String {
    let m = Messages::english();
    let points: Vec<_> = report.points.iter().collect();
    let table = required().to_text(&m, &points);
    format!("{table}\n\n{}\n", requirement_sentence(report))
}

/// The outcome and its reason.
pub fn requirement_sentence(report: &RequirementReport) -> String {
    let m = Messages::english();
    match report.outcome {
        GateOutcome::Passed => match report.doubtful_loads {
            0 => m.text("required-passed"),
            n => m.text_with("required-passed-doubtful", &[("n", n.to_string())]),
        },
        GateOutcome::Inconclusive => {
            m.text_with("versus-gate-is-inconclusive", &[("why", open(&m, report))])
        }
        GateOutcome::Regression | GateOutcome::Failed => failed(&m, report),
    }
}

/// That this requirement is missed.
pub fn missed_sentence(point: &RequiredPoint) -> String {
    let m = Messages::english();
    m.text_with("required-missed", &args(&m, point))
}

fn args(m: &Messages, point: &RequiredPoint) -> [(&'static str, String); 4] {
    let load = point.place.as_ref().map(|own| place(m, own, None));
    [
        ("load", load.unwrap_or_default()),
        ("figure", point.requirement.figure.name().to_owned()),
        ("requirement", point.requirement.to_string()),
        ("value", value(m, point).unwrap_or_default()),
    ]
}

fn failed(m: &Messages, report: &RequirementReport) -> String {
    let missed = report
        .points
        .iter()
        .filter(|point| point.outcome == GateOutcome::Failed);
    let others = missed.count().saturating_sub(1);
    let first = report.missed().map(|point| args(m, point));
    let first = first.map_or_else(String::new, |args| m.text_with("required-failed", &args));
    match others {
        0 => first,
        n => {
            let more = m.text_with("required-more", &[("n", n.to_string())]);
            format!("{first} {more}")
        }
    }
}

/// Why it is not known whether all are met.
fn open(m: &Messages, report: &RequirementReport) -> String {
    let mut points = report.points.iter();
    let first = points.find(|point| point.outcome == GateOutcome::Inconclusive);
    let Some(point) = first else {
        return m.text("required-ended-early");
    };
    let id = match point.reason {
        RequirementReason::Invalid => "required-invalid",
        RequirementReason::NoLoad => "required-no-load",
        _ => "required-no-figure",
    };
    m.text_with(id, &args(m, point))
}

/// `312 ms`, `0.4 %`, `12300`.
fn value(m: &Messages, point: &RequiredPoint) -> Option<String> {
    let value = three(point.value?);
    let id = match point.requirement.figure {
        RequiredFigure::Response(_) => "required-ms",
        RequiredFigure::Failed => "required-percent",
        _ => return Some(value),
    };
    Some(m.text_with(id, &[("value", value)]))
}

pub(crate) fn required<'a>() -> Table<'a, &'a RequiredPoint> {
    Table::<&RequiredPoint>::new("requirements")
        .prefix("versus-column-")
        .message("load", Words, |point, m| {
            Some(place(m, point.place.as_ref()?, None))
        })
        .column("requirement", Words, |point| point.requirement.to_string())
        .message("value", Words, |point, m| value(m, point))
        .column("outcome", Words, |point| {
            TableCell::word("versus-gate-", point.outcome.name())
        })
}
