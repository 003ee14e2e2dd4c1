//! What sessions waited for: bars that are read by their order and labels, and the table of all shares; on a terminal the
//! tables below each ladder.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{LadderSummary, PointSummary, StateShare};

use crate::document::{BarSegment, ReportBlock, ReportSection, StackedBar};
use crate::ladder;
use crate::load_summary::LOAD;
use crate::message::Messages;
use crate::number::percent;
use crate::waits::{self, SampledPoint, state_id};

/// A part that is narrower (%) has no room for its share, or not even for its name.
const ROOM: f64 = 11.0;
const ROOM_FOR_NAME: f64 = 6.0;

/// `None` without wait samples.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let mut section = ReportSection::new("waits", m.text("waits-title")).styled("waits");
    section.page(ReportBlock::note(m.text("waits-note")));
    for ladder in &summary.figures.ladders {
        if let Some(sentence) = waits::describe(m, ladder) {
            let heading = ladder::heading(m, ladder);
            let shares = waits::point_shares(ladder);
            let shares = ReportBlock::grid(m, &heading, &waits::all_shares(), &shares);
            section.page(ReportBlock::heading(heading));
            section.page(ReportBlock::text(sentence));
            section.page(bars(m, ladder));
            section.page(ReportBlock::folded(m.text("waits-table"), [shares]));
        }
    }
    section.if_filled()
}

/// Shares of session time and the server's counters; nothing where they are unknown.
pub(super) fn add_lines(m: &Messages, ladder: &LadderSummary, section: &mut ReportSection) {
    if let Some(sentence) = waits::describe(m, ladder) {
        let sampled: Vec<SampledPoint<'_>> = waits::sampled(ladder).collect();
        section.gap();
        section.line(m.text("waits-heading"));
        section.line(sentence);
        section.line(waits::shares().to_text(m, &sampled));
    }
    let known = waits::typical(ladder).filter(|point| point.database.is_some());
    let known: Vec<&PointSummary> = known.collect();
    let table = waits::counter_table();
    if table.has_values(m, &known, &LOAD) {
        section.gap();
        section.line(m.text("counters-heading"));
        section.line(table.to_text(m, &known));
    }
}

fn bars(m: &Messages, ladder: &LadderSummary) -> ReportBlock {
    let states = waits::states(ladder).into_iter();
    let legend = states.map(|state| {
        let id = state_id("wait-", state);
        let name = m.text(&id);
        (id, name)
    });
    ReportBlock::Bars {
        legend: legend.collect(),
        bars: waits::sampled(ladder).map(|own| bar(m, own)).collect(),
    }
}

/// All session time of a point.
fn bar(m: &Messages, sampled: SampledPoint<'_>) -> StackedBar {
    let states = sampled.waits.states.iter();
    let parts: Vec<BarSegment> = states.map(|share| part(m, share)).collect();
    let name = waits::load(m, sampled.point);
    let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
    StackedBar {
        label: format!("{name}: {}", titles.join(", ")),
        name,
        parts,
    }
}

fn part(m: &Messages, share: &StateShare) -> BarSegment {
    let id = state_id("wait-", share.state);
    let name = m.text(&id);
    let title = format!("{name} {} %", percent(share.percent));
    let label = match share.percent {
        wide if wide >= ROOM => title.clone(),
        narrow if narrow >= ROOM_FOR_NAME => name,
        _ => String::new(),
    };
    BarSegment {
        class: id,
        width: format!("{:.3}", share.percent),
        title,
        label,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;
    use crate::render;

    #[test]
    fn a_bar_holds_all_session_time_in_a_fixed_order() {
        let m = Messages::english();
        for ladder in &summarise(&fixture::record()).figures.ladders {
            let ReportBlock::Bars { legend, bars } = bars(&m, ladder) else {
                panic!("no bars");
            };
            for bar in bars {
                let widths: f64 = bar
                    .parts
                    .iter()
                    .map(|part| part.width.parse::<f64>().unwrap())
                    .sum();
                assert!((widths - 100.0).abs() < 0.01, "{widths}");
                let order = |part: &BarSegment| {
                    legend
                        .iter()
                        .position(|(class, _)| *class == part.class)
                        .unwrap()
                };
                assert!(bar.parts.is_sorted_by_key(order));
                assert!(bar.parts.iter().all(|part| bar.label.contains(&part.title)));
            }
        }
    }

    #[test]
    fn shares_and_counters_of_a_ladder_on_a_terminal() {
        let mut section = ReportSection::bare("waits");
        let summary = summarise(&fixture::record());
        add_lines(
            &Messages::english(),
            &summary.figures.ladders[1],
            &mut section,
        );
        insta::assert_snapshot!("section", render::text::sections([&section]));
    }
}
