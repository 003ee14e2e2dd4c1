//! A comparison as a document: a page that needs no script, and sentences and tables on a terminal.

use plimsoll_analysis::compare::{Against, RunComparison};

use super::differences::Differences;
use super::marks::{alone, by_chance, forbidden, marks};
use super::words::{SideNames, cause, place_of, sentence, simulated};
use super::{answer, svg, tables};
use crate::document::{ListItem, ReportBlock, ReportDocument, ReportSection};
use crate::message::Messages;
use crate::render;

/// The page of one comparison, or of several: of sets, one for each combination.
pub fn comparison_page(title: &str, comparisons: &[RunComparison]) -> String {
    let m = Messages::english();
    let document = ReportDocument {
        title: title.to_owned(),
        is_question: true,
        header: Vec::new(),
        sections: comparisons
            .iter()
            .flat_map(|own| sections(&m, own))
            .collect(),
        footer: vec![ReportBlock::note(m.text("versus-how"))],
    };
    render::html::page(&m, &document)
}

/// All sides against the first.
pub fn comparison_text(comparison: &RunComparison) -> String {
    render::text::sections(&sections(&Messages::english(), comparison))
}

fn sections(m: &Messages, comparison: &RunComparison) -> Vec<ReportSection> {
    let others = comparison.others.iter();
    let sections = others.map(|against| {
        let compared = AgainstFirst {
            m,
            comparison,
            against,
            sides: SideNames::of(comparison, against),
        };
        compared.section()
    });
    sections.collect()
}

/// One side against the first.
struct AgainstFirst<'a> {
    m: &'a Messages,
    comparison: &'a RunComparison,
    against: &'a Against,
    sides: SideNames<'a>,
}

impl AgainstFirst<'_> {
    fn section(&self) -> ReportSection {
        let heading = self.m.text_with("versus-heading", &self.sides.args());
        let mut section = ReportSection::new("versus", &heading).styled("compared");
        section.line(heading);
        self.add_answer(&mut section);
        self.add_sentences(&mut section);
        let differences = Differences::of(self.m, self.sides, &self.against.differences);
        self.add_tables(&mut section, &differences);
        self.add_notes(&mut section);
        self.add_latencies(&mut section);
        self.add_differences(&mut section, &differences);
        section
    }

    fn add_answer(&self, section: &mut ReportSection) {
        let ask = self.comparison.ask.minimum_effect;
        let answer = answer::page_answer(self.m, self.sides, ask, self.against);
        let has_chart = answer.chart.is_some();
        section.page(ReportBlock::Answer(Box::new(answer)));
        if has_chart {
            let note = self
                .m
                .text_with("versus-chart-ratios-note", &self.sides.args());
            section.page(ReportBlock::note(note));
        }
        section.lines(forbidden(self.m, self.against));
    }

    /// On the rate of each load.
    fn add_sentences(&self, section: &mut ReportSection) {
        let ask = self.comparison.ask.minimum_effect;
        let points = self.against.points.iter();
        let sentences = points.map(|point| ListItem {
            class: point.rate.effect.name(),
            label: place_of(self.m, point),
            text: sentence(self.m, self.sides, ask, point),
        });
        let sentences: Vec<ListItem> = sentences.collect();
        let lines = sentences.iter();
        section.lines(lines.map(|own| format!("{}: {}", own.label, own.text)));
        section.page(ReportBlock::List {
            class: "sentences",
            items: sentences,
        });
        if self.against.points.is_empty() {
            section.line(self.m.text("versus-nothing"));
        }
        section.lines(simulated(self.m, self.sides, self.against));
        section.lines(cause(self.m, self.against));
    }

    /// Of a terminal.
    fn add_tables(&self, section: &mut ReportSection, differences: &Differences<'_>) {
        let m = self.m;
        let rates: Vec<_> = self.against.points.iter().collect();
        let latencies = tables::latency_rows(&self.against.points);
        let shown = &differences.shown;
        for (title, text) in [
            ("versus-rates", tables::rates().to_lines(m, &rates)),
            (
                "versus-latencies",
                tables::latencies().to_lines(m, &latencies),
            ),
            (
                "versus-differences",
                tables::differences().to_lines(m, shown),
            ),
        ] {
            if let Some(text) = text {
                section.gap();
                section.line(m.text(title));
                section.line(text);
            }
        }
        section.gap();
        if !differences.folded.is_empty() {
            let args = [("what", differences.summary.clone())];
            section.line(m.text_with("versus-folded-where", &args));
        }
    }

    fn add_notes(&self, section: &mut ReportSection) {
        let chance = by_chance(self.m, self.against).into_iter();
        for note in chance.chain(alone(self.m, self.sides, self.against)) {
            section.both(ReportBlock::note(note));
        }
        if self.against.points.is_empty() {
            section.page(ReportBlock::note(self.m.text("versus-nothing")));
        }
        section.both(ReportBlock::Findings(marks(self.m, self.against)));
    }

    fn add_latencies(&self, section: &mut ReportSection) {
        let m = self.m;
        if let Some(drawing) = svg::quantiles(m, &self.against.points) {
            let note = m.text_with("versus-chart-quantiles-note", &self.sides.args());
            section.page(ReportBlock::heading(m.text("versus-chart-quantiles")));
            section.page(ReportBlock::note(note));
            section.page(ReportBlock::Drawing(drawing));
        }
        let rows = tables::latency_rows(&self.against.points);
        let table = ReportBlock::grid(m, &section.title, &tables::latencies(), &rows);
        section.page_under(m.text("versus-latencies"), String::new(), [table]);
    }

    fn add_differences(&self, section: &mut ReportSection, differences: &Differences<'_>) {
        let m = self.m;
        let title = section.title.clone();
        let table = |rows| ReportBlock::grid(m, &title, &tables::differences(), rows);
        section.page(ReportBlock::heading(m.text("versus-differences")));
        if differences.shown.is_empty() {
            section.page(ReportBlock::text(m.text("versus-no-differences")));
        }
        section.page(table(&differences.shown));
        let folded = table(&differences.folded);
        section.page(ReportBlock::folded(&differences.summary, [folded]));
        let label = m.text("versus-sides");
        let sides = &self.comparison.sides;
        let both = [&sides[0], &sides[self.against.side]];
        section.page(ReportBlock::heading(&label));
        section.page(ReportBlock::grid(m, &label, &tables::sides(), &both));
    }
}
