//! A comparison as one HTML file that holds everything and needs no script.

use askama::Template;
use plimsoll_analysis::compare::{Against, Mark, RunComparison};

use super::{
    alone, by_chance, differences_of, forbidden, latency_rows, mark, names, place, sentence, svg,
};
use crate::message::Messages;
use crate::table::Grid;

const STYLE: &str = include_str!("../../templates/report.css");

/// The page of one comparison, or of several: of sets, one for each combination.
pub fn comparison_page(title: &str, comparisons: &[RunComparison]) -> String {
    let m = Messages::english();
    let sections = comparisons.iter().flat_map(|comparison| {
        let view = |against| View::new(&m, comparison, against);
        comparison.others.iter().map(view).collect::<Vec<_>>()
    });
    let page = Page {
        m: &m,
        title,
        sections: sections.collect(),
        style: STYLE,
    };
    // The template writes to a string and calls nothing that fails.
    page.render().expect("rendering to memory does not fail")
}

#[derive(Template)]
#[template(path = "versus.html")]
struct Page<'a> {
    m: &'a Messages,
    title: &'a str,
    sections: Vec<View>,
    style: &'static str,
}

struct View {
    heading: String,
    /// Label, title, when it began and commit of each side.
    sides: Vec<[String; 4]>,
    forbidden: String,
    /// OfferedLoad, sentence and effect.
    sentences: Vec<(String, String, &'static str)>,
    ratios: String,
    ratios_note: String,
    quantiles: String,
    quantiles_note: String,
    rates: Grid,
    latencies: Grid,
    differences: Grid,
    folded: Grid,
    folded_summary: String,
    notes: Vec<String>,
    /// Severity, its name, and the rule's sentence.
    marks: Vec<(&'static str, String, String)>,
}

impl View {
    fn new(m: &Messages, comparison: &RunComparison, against: &Against) -> Self {
        let (first, second) = names(comparison, against);
        let points = &against.points;
        let sentences = points.iter().map(|point| {
            let text = sentence(m, (first, second), comparison.ask.minimum_effect, point);
            (
                place(m, &point.place, Some(&point.second_place)),
                text,
                point.effect.name(),
            )
        });
        let side = |i: usize| {
            let own = &comparison.sides[i];
            [
                own.label.clone(),
                own.titles.join(", "),
                own.started_at.clone(),
                own.commit.clone(),
            ]
        };
        let mut notes: Vec<String> = by_chance(m, against).into_iter().collect();
        notes.extend(alone(m, (first, second), against));
        if points.is_empty() {
            notes.push(m.text("versus-nothing"));
        }
        let differences = differences_of(m, (first, second), &against.differences);
        let both = [("first", first.to_owned()), ("second", second.to_owned())];
        let describe = |own: &Mark| {
            let name = own.severity.name();
            (name, m.text(&format!("severity-{name}")), mark(m, own))
        };
        Self {
            heading: m.text_with("versus-heading", &both),
            sides: vec![side(0), side(against.side)],
            forbidden: forbidden(m, against).unwrap_or_default(),
            sentences: sentences.collect(),
            ratios: svg::ratios(m, points).unwrap_or_default(),
            ratios_note: m.text_with("versus-chart-ratios-note", &both),
            quantiles: svg::quantiles(m, points).unwrap_or_default(),
            quantiles_note: m.text_with("versus-chart-quantiles-note", &both),
            rates: super::rates(m).to_grid(m, &points.iter().collect::<Vec<_>>()),
            latencies: super::latencies(m).to_grid(m, &latency_rows(points)),
            differences: super::differences(m).to_grid(m, &differences.shown),
            folded: super::differences(m).to_grid(m, &differences.folded),
            folded_summary: differences.summary,
            notes,
            marks: against.marks.iter().map(describe).collect(),
        }
    }
}
