//! The first screen of a comparison's page.

use plimsoll_analysis::compare::{Against, PointComparison};
use plimsoll_analysis::summary::Verdict;

use super::marks::{forbidden, marks};
use super::words::{SideNames, cause, place_of, sentence, simulated};
use super::{svg, tables};
use crate::document::PageAnswer;
use crate::message::Messages;

pub(super) fn page_answer(
    m: &Messages,
    sides: SideNames<'_>,
    ask: f64,
    against: &Against,
) -> PageAnswer {
    let points: Vec<&PointComparison> = against.points.iter().collect();
    let answer = answer_point(&points).map(|point| {
        let own = format!("{}: {}", place_of(m, point), sentence(m, sides, ask, point));
        let forbidden = forbidden(m, against).into_iter();
        forbidden.chain([own]).collect::<Vec<_>>().join(" ")
    });
    let answer = answer.unwrap_or_else(|| m.text("versus-nothing"));
    let compared = points.iter().filter(|point| point.rate.ratio.is_some());
    let args = [
        ("n", compared.count().to_string()),
        ("of", points.len().to_string()),
    ];
    let mut trust = vec![m.text_with("versus-trust", &args)];
    trust.extend(marks(m, against).into_iter().map(|mark| mark.text));
    PageAnswer {
        beside: simulated(m, sides, against)
            .into_iter()
            .chain(cause(m, against))
            .collect(),
        chart: svg::ratios(m, &against.points),
        table: tables::rates().to_grid(m, &points),
        table_name: m.text("versus-rates"),
        ..PageAnswer::new(m, answer, verdict(against), trust.join(" "))
    }
}

/// The highest load that is valid on both sides: loads stand in the order of the plan.
fn answer_point<'a>(points: &[&'a PointComparison]) -> Option<&'a PointComparison> {
    let mut compared = points.iter().rev();
    let best = compared.find(|point| point.rate.ratio.is_some());
    best.or(points.last()).copied()
}

/// Of the ratios: few repeats make them doubtful, and what differs is about their cause.
fn verdict(against: &Against) -> Verdict {
    let (rated, others): (Vec<_>, Vec<_>) = against
        .points
        .iter()
        .partition(|point| point.rate.ratio.is_some());
    if rated.is_empty() || against.forbidden() {
        return Verdict::Invalid;
    }
    let sides = rated
        .iter()
        .flat_map(|point| [point.first.verdict, point.second.verdict]);
    let is_doubtful = !against.marks.is_empty() || !others.is_empty();
    sides
        .chain(is_doubtful.then_some(Verdict::Doubtful))
        .max()
        .unwrap_or_default()
}
