//! Media side by side: a row for each load and medium.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{ComparedFigures, Comparison, FigureId};

use crate::document::{ReportBlock, ReportSection};
use crate::load_summary::{half, with_load};
use crate::medium;
use crate::message::Messages;
use crate::number;
use crate::table::Table;
use crate::table::Unit::{self, Plain, Three, Words};

/// A load on one medium.
pub(crate) struct MediumComparisonRow<'a> {
    load: String,
    is_open: bool,
    rate: FigureId,
    medium: String,
    figures: &'a ComparedFigures,
}

impl MediumComparisonRow<'_> {
    /// To the first medium.
    fn ratio(&self, figure: FigureId) -> Option<f64> {
        Some(self.figures.ratios.get(figure)?.ratio)
    }
}

pub(crate) fn table<'a>() -> Table<'a, MediumComparisonRow<'a>> {
    with_load(
        Table::new("media"),
        |r: &MediumComparisonRow<'_>| r.is_open,
        |r| r.load.clone(),
    )
    .column("medium", Words, |r| r.medium.clone())
    .rate(
        Unit::of,
        |r| r.rate == FigureId::Nopm,
        |r| r.figures.figures.get(r.rate),
    )
    .figure(FigureId::IntervalPercent, |r| {
        half(r.figures.figures.get(r.rate))
    })
    .column("ratio", Three, |r| r.ratio(r.rate))
    .column("ratio-interval", Three, |r| {
        r.figures.ratios.get(r.rate)?.interval
    })
    .figure(FigureId::P99, |r| r.figures.figures.get(FigureId::P99))
    .figure(FigureId::P99, |r| r.ratio(FigureId::P99))
    .ratio()
    .column("verdict", Plain, |r| r.figures.verdict)
    .grouped(|r| Some(r.load.clone()))
    .spare(&["ratio-interval", "interval-percent"])
}

/// `None` where there is nothing to compare.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let mut section = ReportSection::new("media", m.text("compare-title")).listed();
    for comparison in &summary.figures.comparisons {
        let heading = heading(m, comparison);
        let table = ReportBlock::table(m, &heading, &table(), &rows(m, comparison));
        section.gap();
        section.both(ReportBlock::heading(heading));
        section.both(table);
        section.page(ReportBlock::note(note(m, comparison)));
    }
    section.if_filled()
}

fn heading(m: &Messages, comparison: &Comparison) -> String {
    let heading = m.text_with(
        "compare-heading",
        &[
            ("step", comparison.step.clone()),
            ("first", first(comparison)),
        ],
    );
    m.in_scene(heading, comparison.scene)
}

fn note(m: &Messages, comparison: &Comparison) -> String {
    m.text_with("compare-note", &[("first", first(comparison))])
}

fn first(comparison: &Comparison) -> String {
    comparison
        .media
        .first()
        .map(|medium| medium.medium.clone())
        .unwrap_or_default()
}

fn rows<'a>(m: &Messages, comparison: &'a Comparison) -> Vec<MediumComparisonRow<'a>> {
    let mut rows = Vec::new();
    for load in &comparison.loads {
        let name = number::load(load.load);
        let media = comparison.media.iter().zip(&load.figures);
        rows.extend(media.filter_map(|(own, figures)| {
            Some(MediumComparisonRow {
                load: name.clone(),
                is_open: load.load.is_open(),
                rate: comparison.rate(),
                medium: medium::name(m, &own.medium, own.drive.is_some() && !own.is_simulated),
                figures: figures.as_ref()?,
            })
        }));
    }
    rows
}
