//! Media side by side: a row for each load and medium.

use plimsoll_analysis::summary::{ComparedFigures, ComparedLoad, Comparison, Interval};

use crate::message::Messages;
use crate::number::{NONE, or_none, percent, three, whole};

/// Ids of the columns without `column-` or `text-`, in the order of the cells of [`rows`]. The first three hold what the
/// row is about.
pub(crate) fn columns(comparison: &Comparison) -> [&'static str; 9] {
    let open = comparison
        .loads
        .iter()
        .any(|load| load.offered_per_second.is_some());
    let load = if open { "offered" } else { "users" };
    let rate = if comparison.nopm { "nopm" } else { "rate" };
    [
        load,
        "medium",
        rate,
        "interval",
        "ratio",
        "ratio-interval",
        "p99",
        "p99-ratio",
        "verdict",
    ]
}

pub(crate) struct ComparedRow {
    pub cells: [String; 9],
    /// Of the last cell.
    pub verdict: &'static str,
    /// Whether the next row is about another load.
    pub last: bool,
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

pub(crate) fn rows(m: &Messages, comparison: &Comparison) -> Vec<ComparedRow> {
    let of_load = |load: &ComparedLoad| {
        let at = load
            .offered_per_second
            .map_or_else(|| load.users.to_string(), three);
        let media = comparison.media.iter().zip(&load.figures);
        let mut rows: Vec<ComparedRow> = media
            .filter_map(|(medium, figures)| {
                let name = self::medium(m, &medium.medium, medium.drive.is_some());
                Some(row(m, comparison.nopm, &at, &name, figures.as_ref()?))
            })
            .collect();
        if let Some(last) = rows.last_mut() {
            last.last = true;
        }
        rows
    };
    comparison.loads.iter().flat_map(of_load).collect()
}

fn row(m: &Messages, nopm: bool, at: &str, medium: &str, figures: &ComparedFigures) -> ComparedRow {
    let ComparedFigures {
        rate,
        rate_interval,
        p99_ms,
        verdict,
        rate_ratio,
        p99_ratio,
    } = figures;
    let range = |interval: Interval| format!("{} to {}", three(interval.low), three(interval.high));
    let cells = [
        at.to_owned(),
        medium.to_owned(),
        if nopm { whole(*rate) } else { three(*rate) },
        or_none(
            rate_interval.and_then(|interval| interval.relative()),
            |half| percent(half * 100.0),
        ),
        or_none(rate_ratio.map(|ratio| ratio.ratio), three),
        rate_ratio
            .and_then(|ratio| ratio.interval)
            .map_or_else(|| NONE.to_owned(), range),
        or_none(*p99_ms, three),
        or_none(*p99_ratio, three),
        m.text(&format!("verdict-{}", verdict.name())),
    ];
    ComparedRow {
        cells,
        verdict: verdict.name(),
        last: false,
    }
}
