//! The tables of a comparison and of a gate.

use plimsoll_analysis::compare::{
    ComparedLatency, Difference, GatedPoint, PointComparison, RoundedRatio, SideInfo,
};
use plimsoll_analysis::summary::FigureId;

use super::words::{group, method, place, place_of, range, unit};
use crate::number::{three, whole};
use crate::table::Unit::{Plain, Sentences, Three, Words};
use crate::table::{Table, TableCell};

/// A row for each load.
pub(crate) fn rates<'a>() -> Table<'a, &'a PointComparison> {
    Table::<&PointComparison>::new("comparison-rates")
        .prefix("versus-column-")
        .message("load", Words, |own, m| place_of(m, own))
        .column("first", Plain, |own| rate(own.figure, own.first.rate))
        .column("second", Plain, |own| rate(own.figure, own.second.rate))
        .column("ratio", Plain, |own| {
            Some(RoundedRatio::of(own.ratio?).ratio_text())
        })
        .message("interval", Plain, |own, m| {
            Some(range(m, own.interval?, &RoundedRatio::of(own.ratio?)))
        })
        .column("p", Three, |own| Some(own.ranks?.p))
        .column("delta", Three, |own| Some(own.ranks?.cliffs_delta))
        .message("rests", Words, |own, m| method(m, own))
}

fn rate(figure: FigureId, rate: Option<f64>) -> Option<String> {
    rate.map(if figure == FigureId::Nopm {
        whole
    } else {
        three
    })
}

/// A quantile of the response times of one load.
pub(crate) struct LatencyRow<'a> {
    point: &'a PointComparison,
    own: &'a ComparedLatency,
}

impl LatencyRow<'_> {
    fn ratio(&self) -> RoundedRatio {
        RoundedRatio::of(self.own.second_ms / self.own.first_ms)
    }
}

pub(super) fn latency_rows(points: &[PointComparison]) -> Vec<LatencyRow<'_>> {
    let mut rows = Vec::new();
    for point in points {
        let latencies = point.latencies.iter();
        rows.extend(latencies.map(|own| LatencyRow { point, own }));
    }
    rows
}

pub(crate) fn latencies<'a>() -> Table<'a, LatencyRow<'a>> {
    Table::<LatencyRow<'_>>::new("comparison-latencies")
        .prefix("versus-column-")
        .message("load", Words, |r, m| place_of(m, r.point))
        .column("quantile", Plain, |r| {
            format!("p{}", three_or_whole(r.own.quantile * 100.0))
        })
        .column("first-ms", Three, |r| r.own.first_ms)
        .column("second-ms", Three, |r| r.own.second_ms)
        .column("ratio", Plain, |r| {
            (r.own.first_ms > 0.0).then(|| r.ratio().ratio_text())
        })
        .message("interval", Plain, |r, m| {
            Some(range(m, r.own.ratio?, &r.ratio()))
        })
        .message("difference", Plain, |r, m| {
            let own = r.own.difference_ms?;
            let ends = [("low", three(own.low)), ("high", three(own.high))];
            let range = m.text_with("versus-range", &ends);
            Some(format!("{} ({range})", three(own.mean)))
        })
}

fn three_or_whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        whole(value)
    } else {
        three(value)
    }
}

pub(crate) fn differences<'a>() -> Table<'a, &'a Difference> {
    Table::<&Difference>::new("comparison-differences")
        .prefix("versus-column-")
        .message("group", Words, |found, m| group(m, found.group))
        .column("what", Sentences, |found| match found.of.as_str() {
            "" => found.key.clone(),
            of => format!("{of}: {}", found.key),
        })
        .column("first", Sentences, |found| {
            Some(first_line(found.first.as_deref()?))
        })
        .column("second", Sentences, |found| {
            Some(first_line(found.second.as_deref()?))
        })
}

/// What of a value fits a cell.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line: String = line.chars().take(60).collect();
    let more = if line.len() < text.len() { "…" } else { "" };
    line + more
}

/// What the sides are.
pub(crate) fn sides<'a>() -> Table<'a, &'a SideInfo> {
    Table::<&SideInfo>::new("comparison-sides")
        .prefix("versus-column-")
        .column("side", Words, |side| side.label.clone())
        .column("title", Words, |side| side.titles.join(", "))
        .column("started-at", Words, |side| side.started_at.clone())
        .column("commit", Words, |side| side.commit.clone())
}

/// The figures that a gate evaluates.
pub(crate) fn gated<'a>() -> Table<'a, &'a GatedPoint> {
    Table::<&GatedPoint>::new("gate")
        .prefix("versus-column-")
        .message("load", Words, |point, m| place(m, &point.place, None))
        .message("figure", Words, |point, m| match point.latency {
            true => m.text("versus-gate-p99"),
            false => unit(m, point.figure),
        })
        .column("ratio", Plain, |point| {
            Some(RoundedRatio::of(point.ratio?.mean).ratio_text())
        })
        .message("interval", Plain, |point, m| {
            let ratio = point.ratio?;
            Some(range(m, ratio, &RoundedRatio::of(ratio.mean)))
        })
        .column("limit", Three, |point| point.limit)
        .column("outcome", Words, |point| {
            TableCell::word("versus-gate-", point.outcome.name())
        })
}
