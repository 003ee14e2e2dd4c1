//! Steps on media themselves: what the template shows of each, and which charts it has.

use plimsoll_model::summary::{BlockJobSummary, BlockMedium, BlockPointSummary, BlockSummary, Summary};
use plimsoll_model::units::Bytes;

use super::tables::{Cell, Grid, plain};
use crate::compare;
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
    summary.blocks.iter().enumerate().map(|(i, step)| view(m, i, step)).collect()
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

fn heading(m: &Messages, step: &BlockSummary) -> String {
    m.say_with("block-heading", &[("step", step.step.clone()), ("workload", step.workload.clone())])
}

fn notes(m: &Messages, step: &BlockSummary) -> Vec<String> {
    let profile = ("profile", step.profile.clone());
    let mut notes: Vec<String> =
        if step.profile.is_empty() { Vec::new() } else { vec![m.say_with("block-profile", &[profile])] };
    if let [only] = step.media.as_slice() {
        notes.push(m.say_with("block-on", &[("medium", medium_name(m, only))]));
    }
    // Said once where it is the same on all.
    let on = |medium: &BlockMedium| {
        let args = [("workers", medium.workers.to_string()), ("size", size(medium.worker_bytes))];
        m.say_with(if medium.workers == 1 { "block-worker" } else { "block-workers" }, &args)
    };
    let mut said: Vec<String> = step.media.iter().map(on).collect();
    if said.windows(2).all(|pair| pair[0] == pair[1]) {
        said.truncate(1);
        notes.append(&mut said);
    } else {
        notes.extend(step.media.iter().zip(said).map(|(medium, text)| format!("{}: {text}", medium.medium)));
    }
    notes
}

fn drives(m: &Messages, step: &BlockSummary) -> Vec<String> {
    let drive = |medium: &BlockMedium| {
        let drive = m.say_with("emulated-drive", &[("drive", medium.drive.clone()?)]);
        Some(if step.media.len() > 1 { format!("{}: {drive}", medium.medium) } else { drive })
    };
    step.media.iter().filter_map(drive).collect()
}

/// A job on all media that it was run on.
struct Across<'a> {
    job: &'a str,
    on: Vec<OnMedium<'a>>,
}

struct OnMedium<'a> {
    /// Index into the step's media: the same colour in every chart.
    place: usize,
    medium: &'a BlockMedium,
    job: &'a BlockJobSummary,
}

/// All jobs of a step, in the order of the workload.
fn across(step: &BlockSummary) -> Vec<Across<'_>> {
    let mut all: Vec<(u32, Across<'_>)> = Vec::new();
    for (place, medium) in step.media.iter().enumerate() {
        for job in &medium.jobs {
            let own = OnMedium { place, medium, job };
            match all.iter_mut().find(|(index, _)| *index == job.job_index) {
                Some((_, found)) => found.on.push(own),
                None => all.push((job.job_index, Across { job: &job.job, on: vec![own] })),
            }
        }
    }
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, across)| across).collect()
}

/// The round that stands for all where only one can.
fn typical(job: &BlockJobSummary) -> Option<&BlockPointSummary> {
    job.points.get(job.typical?)
}

fn medium_name(m: &Messages, medium: &BlockMedium) -> String {
    compare::medium(m, &medium.medium, medium.drive.is_some())
}

fn verdict(m: &Messages, verdict: plimsoll_model::summary::Verdict) -> Cell {
    Cell { text: m.say(&format!("verdict-{}", verdict.name())), class: verdict.name() }
}

/// `4 KiB`, `1 MiB`, `1.5 GiB`: sizes of requests and files are round.
fn size(bytes: u64) -> String {
    Bytes(bytes).to_string().replacen(".0 ", " ", 1)
}

/// Latencies of block I/O are told in µs, as the field does.
fn us(value: Option<f64>) -> Cell {
    plain(super::cell(value, crate::number::three))
}

/// An empty table is not shown.
fn none() -> Grid {
    Grid { header: Vec::new(), rows: Vec::new() }
}

/// Marks the last row of a group.
fn close(rows: &mut [super::tables::Row]) {
    if let Some(last) = rows.last_mut() {
        last.class = "group";
    }
}

#[cfg(test)]
mod tests;
