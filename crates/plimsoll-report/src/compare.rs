//! Media side by side: a row for each load and medium.

use plimsoll_analysis::summary::{ComparedFigures, Comparison};

use crate::message::Messages;
use crate::number;
use crate::table::Table;
use crate::table::Unit::{Percent, Plain, Three, Whole, Words};

/// A load on one medium.
pub(crate) struct Row<'a> {
    load: String,
    medium: String,
    figures: &'a ComparedFigures,
}

pub(crate) fn table(comparison: &Comparison) -> Table<'_, Row<'_>> {
    let mut loads = comparison.loads.iter();
    let open = loads.any(|load| load.offered_per_second.is_some());
    Table::<Row<'_>>::new()
        .column(if open { "offered" } else { "users" }, Plain, |r| {
            r.load.clone()
        })
        .column("medium", Words, |r| r.medium.clone())
        .column("nopm", Whole, |r| r.figures.rate)
        .when(comparison.nopm)
        .column("rate", Three, |r| r.figures.rate)
        .when(!comparison.nopm)
        .column("interval", Percent, |r| {
            Some(r.figures.rate_interval?.relative()? * 100.0)
        })
        .column("ratio", Three, |r| {
            r.figures.rate_ratio.map(|own| own.ratio)
        })
        .column("ratio-interval", Three, |r| r.figures.rate_ratio?.interval)
        .column("p99", Three, |r| r.figures.p99_ms)
        .column("p99-ratio", Three, |r| r.figures.p99_ratio)
        .column("verdict", Plain, |r| r.figures.verdict)
        .grouped(|r| r.load.clone())
        .spare(&["ratio-interval", "interval"])
}

pub(crate) fn heading(m: &Messages, comparison: &Comparison) -> String {
    let heading = m.text_with(
        "compare-heading",
        &[
            ("step", comparison.step.clone()),
            ("first", first(comparison)),
        ],
    );
    m.in_scene(heading, comparison.scene)
}

pub(crate) fn note(m: &Messages, comparison: &Comparison) -> String {
    m.text_with("compare-note", &[("first", first(comparison))])
}

/// A medium by its name, and that it is emulated: its curve and its row have the name alone.
pub(crate) fn medium(m: &Messages, name: &str, emulated: bool) -> String {
    if emulated {
        m.text_with("medium-emulated", &[("medium", name.to_owned())])
    } else {
        name.to_owned()
    }
}

fn first(comparison: &Comparison) -> String {
    comparison
        .media
        .first()
        .map(|medium| medium.medium.clone())
        .unwrap_or_default()
}

pub(crate) fn rows<'a>(m: &Messages, comparison: &'a Comparison) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for load in &comparison.loads {
        let name = number::load(load.users, load.offered_per_second, None);
        let media = comparison.media.iter().zip(&load.figures);
        rows.extend(media.filter_map(|(own, figures)| {
            Some(Row {
                load: name.clone(),
                medium: medium(m, &own.medium, own.drive.is_some()),
                figures: figures.as_ref()?,
            })
        }));
    }
    rows
}
