//! Many workers side by side: their sum, how far they are apart, and each of them.

use plimsoll_analysis::summary::{BlockPointSummary, BlockSummary, BlockWorkerSummary};

use super::super::cell;
use super::super::tables::{Grid, Row, head, plain, words};
use super::{Across, OnMedium, close, medium_name, typical, us};
use crate::block::worker_ends;
use crate::message::Messages;
use crate::number::{percent, three};

pub(super) type Columns = Vec<super::super::tables::Cell>;

pub(in crate::html) struct WorkersView {
    pub sums: Grid,
    pub each: Grid,
}

const SUMS: [&str; 8] = [
    "column-workers",
    "column-sum-iops",
    "column-sum-mb",
    "column-lowest",
    "column-highest",
    "column-cv",
    "column-p99-lowest",
    "column-p99-highest",
];
const EACH: [&str; 5] = [
    "column-worker",
    "column-iops",
    "column-block-mb",
    "column-mean-us",
    "column-p99-us",
];

/// `None` where no job had more than one worker.
pub(super) fn view(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Option<WorkersView> {
    // Workers on several media at once each have one of their own.
    let named = |on: &OnMedium<'_>| step.media.len() > 1 || on.medium.medium.contains(" + ");
    let media = all.iter().flat_map(|across| &across.on).any(named);
    let (mut sums, mut each): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    for across in all {
        let from = sums.len();
        for on in &across.on {
            let Some(point) = typical(on.job).filter(|point| point.workers.len() > 1) else {
                continue;
            };
            let mut lead = vec![words(across.job.to_owned())];
            lead.extend(media.then(|| words(medium_name(m, on.medium))));
            sums.push(Row {
                class: "",
                cells: sum(lead, point),
            });
            let mut rows: Vec<Row> = point
                .workers
                .iter()
                .map(|worker| one(across.job, media, worker))
                .collect();
            close(&mut rows);
            each.extend(rows);
        }
        if media {
            close(&mut sums[from..]);
        }
    }
    let header = |ids: &[&str]| {
        let mut header: Columns = vec![head(m, "column-job")];
        header.extend(media.then(|| head(m, "column-medium")));
        header.extend(ids.iter().map(|id| head(m, id)));
        header
    };
    (!sums.is_empty()).then(|| WorkersView {
        sums: Grid {
            header: header(&SUMS),
            rows: sums,
        },
        each: Grid {
            header: header(&EACH),
            rows: each,
        },
    })
}

fn sum(mut cells: Columns, point: &BlockPointSummary) -> Columns {
    let (lowest, highest) = worker_ends(point, |worker| Some(worker.iops));
    let (least_p99, most_p99) = worker_ends(point, |worker| worker.p99_us);
    cells.push(plain(point.workers.len().to_string()));
    cells.push(plain(cell(point.iops, three)));
    cells.push(plain(cell(point.mb_per_second, three)));
    cells.push(plain(cell(lowest, three)));
    cells.push(plain(cell(highest, three)));
    cells.push(plain(cell(point.workers_cv_percent, percent)));
    cells.push(us(least_p99));
    cells.push(us(most_p99));
    cells
}

fn one(job: &str, media: bool, worker: &BlockWorkerSummary) -> Row {
    let mut cells = vec![words(job.to_owned())];
    cells.extend(media.then(|| words(worker.medium.clone())));
    cells.push(plain((worker.worker + 1).to_string()));
    cells.push(plain(three(worker.iops)));
    cells.push(plain(three(worker.mb_per_second)));
    cells.push(us(worker.mean_us));
    cells.push(us(worker.p99_us));
    Row { class: "", cells }
}
