//! The first screen of a comparison's page.

use plimsoll_analysis::compare::{Against, Effect, PointComparison};
use plimsoll_analysis::summary::Verdict;
use plimsoll_record::Severity;

use super::marks::{forbidden, marks};
use super::words::{SideNames, place_of, sentence};
use super::{svg, tables};
use crate::html::page_answer::PageAnswer;
use crate::message::Messages;

pub(super) fn page_answer(
    m: &Messages,
    sides: SideNames<'_>,
    ask: f64,
    against: &Against,
) -> PageAnswer {
    let points: Vec<&PointComparison> = against.points.iter().collect();
    let answer = match (forbidden(m, against), answer_point(&points)) {
        (Some(forbidden), _) => forbidden,
        (None, Some(point)) => {
            format!("{}: {}", place_of(m, point), sentence(m, sides, ask, point))
        }
        (None, None) => m.text("versus-nothing"),
    };
    let evaluated = points.iter();
    let evaluated = evaluated.filter(|point| point.effect != Effect::NotEvaluated);
    let args = [
        ("n", evaluated.count().to_string()),
        ("of", points.len().to_string()),
    ];
    let mut trust = vec![m.text_with("versus-trust", &args)];
    trust.extend(marks(m, against).into_iter().map(|mark| mark.text));
    PageAnswer {
        chart: svg::ratios(m, &against.points),
        table: tables::rates().to_grid(m, &points),
        table_name: m.text("versus-rates"),
        ..PageAnswer::new(m, answer, verdict(against), trust.join(" "))
    }
}

/// The highest load that is valid on both sides: loads stand in the order of the plan.
fn answer_point<'a>(points: &[&'a PointComparison]) -> Option<&'a PointComparison> {
    let mut evaluated = points.iter().rev();
    let best = evaluated.find(|point| point.effect != Effect::NotEvaluated);
    best.or(points.last()).copied()
}

fn verdict(against: &Against) -> Verdict {
    let mut points = against.points.iter();
    if points.all(|point| point.effect == Effect::NotEvaluated) {
        return Verdict::Invalid;
    }
    match against.marks.iter().map(|mark| mark.severity).max() {
        Some(Severity::Error) => Verdict::Invalid,
        Some(Severity::Warning) => Verdict::Doubtful,
        _ => Verdict::Valid,
    }
}
