//! Durable writes by the number of writers.

use plimsoll_model::record::BlockStreamInfo;
use plimsoll_model::summary::{BlockLatency, BlockOpSummary, BlockSummary};

use super::super::cell;
use super::super::tables::{Grid, Row, head, plain, words};
use super::{Across, OnMedium, asked, close, medium_name, none, typical, us};
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
    let mut groups: Vec<(u32, Vec<Row>)> = all
        .iter()
        .filter_map(|across| {
            let on = across.on.first()?;
            let most = on.job.streams.iter().filter(|s| durable(s)).map(|s| writers(on, s)).max()?;
            let mut rows: Vec<Row> = across.on.iter().flat_map(|on| rows(m, across.job, on, several)).collect();
            close(&mut rows);
            Some((most, rows))
        })
        .collect();
    groups.sort_by_key(|(writers, _)| *writers);
    let rows: Vec<Row> = groups.into_iter().flat_map(|(_, rows)| rows).collect();
    if rows.is_empty() {
        return none();
    }
    let mut header = vec![head(m, "column-writers"), head(m, "column-job")];
    header.extend(several.then(|| head(m, "column-medium")));
    header.extend(COLUMNS.map(|id| head(m, id)));
    Grid { header, rows }
}

fn durable(stream: &BlockStreamInfo) -> bool {
    stream.read_percent < 100 && stream.sync != "none"
}

/// Threads that write, over all workers.
fn writers(on: &OnMedium<'_>, stream: &BlockStreamInfo) -> u32 {
    on.medium.workers.saturating_mul(stream.threads)
}

fn rows(m: &Messages, job: &str, on: &OnMedium<'_>, several: bool) -> Vec<Row> {
    let row = |stream: &BlockStreamInfo| {
        let named = |op: &str| if stream.name.is_empty() { op.to_owned() } else { format!("{} {op}", stream.name) };
        let by_op = typical(on.job).map(|point| point.by_op.as_slice()).unwrap_or_default();
        let of = |op: &str| by_op.iter().find(|found| found.op == named(op));
        let (write, sync) = (of("write"), of("sync"));
        // O_DSYNC has no flush of its own: the write is what waits.
        let waits: Option<&BlockOpSummary> = sync.or(write);
        let latency = waits.and_then(|op| op.latency);
        let job = if stream.name.is_empty() { job.to_owned() } else { format!("{job}, {}", stream.name) };
        let mut cells = vec![plain(writers(on, stream).to_string()), words(job)];
        cells.extend(several.then(|| words(medium_name(m, on.medium))));
        cells.push(words(asked::durable(m, stream)));
        cells.push(plain(cell(write.map(|op| op.per_second), three)));
        cells.push(plain(cell(sync.map(|op| op.per_second), three)));
        let of: [fn(BlockLatency) -> f64; 5] = [|l| l.mean_us, |l| l.p50_us, |l| l.p99_us, |l| l.p999_us, |l| l.max_us];
        cells.extend(of.map(|of| us(latency.map(of))));
        Row { class: "", cells }
    };
    on.job.streams.iter().filter(|stream| durable(stream)).map(row).collect()
}
