//! Steps on media themselves: what the template shows of each, and which charts it has.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::BlockSummary;

use crate::block::{across, drives, durable_writes, heading, notes, tables};
use crate::drives::{MemberRow, OpRow};
use crate::message::Messages;
use crate::table::Grid;
use chart::ChartView;

mod chart;
mod curve;
mod data;
#[cfg(test)]
mod made;
mod rounds;
mod seconds;
mod sweep;

pub(super) use data::{BlockData, island};
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
    /// The sum of several workers, and each of them.
    pub workers: Grid,
    pub each_worker: Grid,
    pub seconds: Vec<seconds::SecondsView>,
    pub ops: Grid,
    pub asked: Grid,
    pub emulated: Grid,
    /// Drives of emulated arrays.
    pub members: Grid,
}

pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<StepView> {
    let steps = summary.figures.blocks.iter().enumerate();
    steps.map(|(i, step)| view(m, i, step)).collect()
}

fn view(m: &Messages, block: usize, step: &BlockSummary) -> StepView {
    let all = across(step);
    let on_media = tables::on_media(&all);
    let workers = tables::workers_rows(&all);
    StepView {
        index: block,
        heading: heading(m, step),
        notes: notes(m, step),
        drives: drives(m, step),
        jobs: tables::side_by_side().to_grid(m, &on_media),
        jobs_note: jobs_note(m, step),
        latency: tables::latency().to_grid(m, &on_media),
        bars: sweep::charts(m, block, &all),
        curves: curve::charts(block, &all),
        curve: tables::curve().to_grid(m, &tables::curve_rows(&all)),
        fsync: tables::fsync().to_grid(m, &durable_writes(&all)),
        rounds: rounds::view(m, block, step, &all),
        workers: tables::workers().to_grid(m, &workers),
        each_worker: tables::each_worker().to_grid(m, &tables::worker_rows(&workers)),
        seconds: seconds::views(m, block, &all),
        ops: tables::by_op().to_grid(m, &tables::op_rows(&all)),
        asked: tables::streams().to_grid(m, &tables::stream_rows(&all)),
        emulated: crate::drives::by_job().to_grid(m, &tables::drive_rows(&all, OpRow::all)),
        members: crate::drives::members_by_job()
            .to_grid(m, &tables::drive_rows(&all, MemberRow::all)),
    }
}

/// What the columns hold where it is not the same in every run.
fn jobs_note(m: &Messages, step: &BlockSummary) -> String {
    let mut notes = vec![m.text("block-jobs-note")];
    notes.extend(tables::repeated(step).then(|| m.text("block-rounds-note")));
    if let Some(first) = step.media.first().filter(|_| step.media.len() > 1) {
        notes.push(m.text_with("block-ratio-note", &[("first", first.medium.clone())]));
    }
    notes.join(" ")
}

#[cfg(test)]
mod tests;
