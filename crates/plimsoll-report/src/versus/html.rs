//! A comparison as one HTML file that holds everything and needs no script.

use askama::Template;
use plimsoll_analysis::compare::{Against, RunComparison};

use super::differences::Differences;
use super::marks::{alone, by_chance, marks};
use super::words::{SideNames, place_of, sentence};
use super::{answer, svg, tables};
use crate::finding_view::FindingView;
use crate::html::STYLE;
use crate::html::page_answer::PageAnswer;
use crate::message::Messages;
use crate::table::Grid;

/// The page of one comparison, or of several: of sets, one for each combination.
pub fn comparison_page(title: &str, comparisons: &[RunComparison]) -> String {
    let m = Messages::english();
    let mut sections = Vec::new();
    for comparison in comparisons {
        let others = comparison.others.iter();
        sections.extend(others.map(|against| View::new(&m, comparison, against)));
    }
    let page = ComparisonPage {
        m: &m,
        title,
        sections,
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "versus.html")]
struct ComparisonPage<'a> {
    m: &'a Messages,
    title: &'a str,
    sections: Vec<View>,
    style: &'static str,
}

struct View {
    heading: String,
    first: PageAnswer,
    sides: Grid,
    sentences: Vec<RateSentence>,
    ratios_note: String,
    quantiles: String,
    quantiles_note: String,
    latencies: Grid,
    differences: Grid,
    folded: Grid,
    folded_summary: String,
    notes: Vec<String>,
    marks: Vec<FindingView>,
}

/// On the rate of one load.
struct RateSentence {
    load: String,
    text: String,
    effect: &'static str,
}

impl View {
    fn new(m: &Messages, comparison: &RunComparison, against: &Against) -> Self {
        let sides = SideNames::of(comparison, against);
        let points = &against.points;
        let ask = comparison.ask.minimum_effect;
        let sentences = points.iter().map(|point| RateSentence {
            load: place_of(m, point),
            text: sentence(m, sides, ask, point),
            effect: point.effect.name(),
        });
        let mut notes: Vec<String> = by_chance(m, against).into_iter().collect();
        notes.extend(alone(m, sides, against));
        if points.is_empty() {
            notes.push(m.text("versus-nothing"));
        }
        let differences = Differences::of(m, sides, &against.differences);
        let both = [&comparison.sides[0], &comparison.sides[against.side]];
        Self {
            heading: m.text_with("versus-heading", &sides.args()),
            first: answer::page_answer(m, sides, ask, against),
            sides: tables::sides().to_grid(m, &both),
            sentences: sentences.collect(),
            ratios_note: m.text_with("versus-chart-ratios-note", &sides.args()),
            quantiles: svg::quantiles(m, points).unwrap_or_default(),
            quantiles_note: m.text_with("versus-chart-quantiles-note", &sides.args()),
            latencies: tables::latencies().to_grid(m, &tables::latency_rows(points)),
            differences: tables::differences().to_grid(m, &differences.shown),
            folded: tables::differences().to_grid(m, &differences.folded),
            folded_summary: differences.summary,
            notes,
            marks: marks(m, against),
        }
    }
}
