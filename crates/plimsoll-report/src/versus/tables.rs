//! The tables of a comparison and of a gate.

use plimsoll_analysis::compare::{
    Difference, FigureComparison, GatedPoint, PointComparison, RoundedRatio, SideInfo,
};
use plimsoll_analysis::summary::{Estimate, FigureId, Ratio};

use super::words::{group, method, place, place_of, range, unit};
use crate::message::Messages;
use crate::number::{three, whole};
use crate::table::Unit::{Plain, Sentences, Three, Words};
use crate::table::{Table, TableCell};

/// A row for each load.
pub(crate) fn rates<'a>() -> Table<'a, &'a PointComparison> {
    Table::<&PointComparison>::new("comparison-rates")
        .prefix("versus-column-")
        .message("load", Words, |own, m| place_of(m, own))
        .column("first", Plain, |own| rate(own.rate.figure, own.rate.first))
        .column("second", Plain, |own| {
            rate(own.rate.figure, own.rate.second)
        })
        .column("ratio", Plain, |own| ratio_text(&own.rate))
        .message("interval", Plain, |own, m| ratio_range(m, &own.rate))
        .column("p", Three, |own| Some(own.ranks?.p))
        .column("delta", Three, |own| Some(own.ranks?.cliffs_delta))
        .message("rests", Words, |own, m| method(m, own))
}

fn rate(figure: FigureId, rate: Option<Estimate>) -> Option<String> {
    let shown = match figure {
        FigureId::Nopm => whole,
        _ => three,
    };
    rate.map(|rate| shown(rate.value))
}

fn ratio_text(own: &FigureComparison) -> Option<String> {
    Some(RoundedRatio::of(own.ratio?.ratio).ratio_text())
}

fn ratio_range(m: &Messages, own: &FigureComparison) -> Option<String> {
    let Ratio { ratio, interval } = own.ratio?;
    Some(range(m, interval?, &RoundedRatio::of(ratio)))
}

/// A quantile of the response times of one load.
pub(crate) struct LatencyRow<'a> {
    point: &'a PointComparison,
    own: &'a FigureComparison,
}

pub(super) fn latency_rows(points: &[PointComparison]) -> Vec<LatencyRow<'_>> {
    let mut rows = Vec::new();
    for point in points {
        rows.extend(point.times.iter().map(|own| LatencyRow { point, own }));
    }
    rows
}

pub(crate) fn latencies<'a>() -> Table<'a, LatencyRow<'a>> {
    Table::<LatencyRow<'_>>::new("comparison-latencies")
        .prefix("versus-column-")
        .message("load", Words, |r, m| place_of(m, r.point))
        .message("quantile", Plain, |r, m| m.figure(r.own.figure))
        .column("first-ms", Three, |r| r.own.first)
        .column("second-ms", Three, |r| r.own.second)
        .column("ratio", Plain, |r| ratio_text(r.own))
        .message("interval", Plain, |r, m| ratio_range(m, r.own))
        .message("difference", Plain, |r, m| {
            let own = r.own.difference?;
            let ends = [("low", three(own.low)), ("high", three(own.high))];
            let range = m.text_with("versus-range", &ends);
            Some(format!("{} ({range})", three(own.mean)))
        })
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
        .message("figure", Words, |point, m| match point.figure.is_time() {
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
