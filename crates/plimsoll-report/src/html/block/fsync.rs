//! Durable writes by the number of writers.

use plimsoll_analysis::summary::{BlockLatency, BlockSummary};

use super::super::cell;
use super::super::tables::{Grid, Row, head, plain, words};
use super::{Across, medium_name, none, us};
use crate::block::{DurableWrites, durable, durable_writes};
use crate::message::Messages;
use crate::number::three;

const COLUMNS: [&str; 8] = [
    "column-durable",
    "column-durable-writes",
    "column-flushes-s",
    "column-mean-us",
    "column-p50-us",
    "column-p99-us",
    "column-p999-us",
    "column-max-us",
];

/// One row for each job, medium and stream whose writes become durable, by rising number of writers.
pub(super) fn grid(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Grid {
    let several = step.media.len() > 1;
    let found = durable_writes(all);
    let last = |i: usize| found.get(i + 1).is_none_or(|next| next.job != found[i].job);
    let row = |(i, own): (usize, &DurableWrites<'_>)| Row {
        class: if last(i) { "group" } else { "" },
        cells: cells(m, own, several),
    };
    let rows: Vec<Row> = found.iter().enumerate().map(row).collect();
    if rows.is_empty() {
        return none();
    }
    let mut header = vec![head(m, "column-writers"), head(m, "column-job")];
    header.extend(several.then(|| head(m, "column-medium")));
    header.extend(COLUMNS.map(|id| head(m, id)));
    Grid { header, rows }
}

fn cells(m: &Messages, own: &DurableWrites<'_>, several: bool) -> Vec<super::super::tables::Cell> {
    let mut cells = vec![plain(own.writers.to_string()), words(own.name())];
    cells.extend(several.then(|| words(medium_name(m, own.on.medium))));
    cells.push(words(durable(m, own.stream)));
    cells.push(plain(cell(own.write.map(|op| op.per_second), three)));
    cells.push(plain(cell(own.sync.map(|op| op.per_second), three)));
    let of: [fn(BlockLatency) -> f64; 5] = [
        |l| l.mean_us,
        |l| l.p50_us,
        |l| l.p99_us,
        |l| l.p999_us,
        |l| l.max_us,
    ];
    cells.extend(of.map(|of| us(own.waits().map(of))));
    cells
}
