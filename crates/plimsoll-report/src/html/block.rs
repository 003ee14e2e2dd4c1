//! Steps on media themselves: what the template shows of each, and which charts it has.

use plimsoll_analysis::summary::{BlockSummary, Summary};

use super::tables::{Cell, Grid, plain};
use crate::block::{Across, OnMedium, across, drives, heading, medium_name, notes, typical};
use crate::message::Messages;

mod asked;
mod curve;
mod data;
mod emulated;
mod fsync;
mod headline;
mod jobs;
#[cfg(test)]
mod made;
mod rounds;
mod seconds;
mod sweep;
mod workers;

pub(super) use data::{BlockData, island};
pub(super) use headline::headline;
pub(super) use seconds::label as load_label;

/// One step.
pub(super) struct StepView {
    /// Into the blocks of the island.
    pub index: usize,
    pub heading: String,
    /// Where its jobs come from, and on how much they run.
    pub notes: Vec<String>,
    /// That drives are emulated: one sentence for each.
    pub drives: Vec<String>,
    pub jobs: Grid,
    pub jobs_note: String,
    pub latency: Grid,
    pub bars: Vec<ChartView>,
    pub curves: Vec<ChartView>,
    pub curve: Grid,
    pub fsync: Grid,
    pub rounds: Option<rounds::RoundsView>,
    pub workers: Option<workers::WorkersView>,
    pub seconds: Vec<seconds::SecondsView>,
    pub ops: Grid,
    pub asked: Grid,
    pub emulated: Grid,
}

/// A chart's place in the island, and its title.
pub(super) struct ChartView {
    pub kind: &'static str,
    /// Index into the blocks of the island.
    pub block: usize,
    /// Index into the charts of this kind of the block.
    pub place: usize,
    /// Index into the block's media, where the chart is about one of them.
    pub medium: usize,
    pub title: String,
}

pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<StepView> {
    summary
        .blocks
        .iter()
        .enumerate()
        .map(|(i, step)| view(m, i, step))
        .collect()
}

fn view(m: &Messages, block: usize, step: &BlockSummary) -> StepView {
    let all = across(step);
    StepView {
        index: block,
        heading: heading(m, step),
        notes: notes(m, step),
        drives: drives(m, step),
        jobs: jobs::grid(m, step, &all),
        jobs_note: jobs::note(m, step, &all),
        latency: jobs::latency(m, step, &all),
        bars: sweep::charts(m, block, &all),
        curves: curve::charts(block, &all),
        curve: curve::grid(m, step, &all),
        fsync: fsync::grid(m, step, &all),
        rounds: rounds::view(m, block, step, &all),
        workers: workers::view(m, step, &all),
        seconds: seconds::views(m, block, step, &all),
        ops: jobs::by_op(m, step, &all),
        asked: asked::grid(m, &all),
        emulated: emulated::grid(m, &all),
    }
}

fn verdict(m: &Messages, verdict: plimsoll_analysis::summary::Verdict) -> Cell {
    Cell {
        text: m.text(&format!("verdict-{}", verdict.name())),
        class: verdict.name(),
    }
}

/// Latencies of block I/O are in µs, as usual in the field.
fn us(value: Option<f64>) -> Cell {
    plain(super::cell(value, crate::number::three))
}

/// An empty table is not shown.
fn none() -> Grid {
    Grid {
        header: Vec::new(),
        rows: Vec::new(),
    }
}

/// Marks the last row of a group.
fn close(rows: &mut [super::tables::Row]) {
    if let Some(last) = rows.last_mut() {
        last.class = "group";
    }
}

#[cfg(test)]
mod tests;
