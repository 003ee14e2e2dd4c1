//! What each job asks of a medium, stream by stream.

use plimsoll_model::record::BlockStreamInfo;

use super::super::cell;
use super::super::tables::{Cell, Grid, Row, head, plain, words};
use super::{Across, none, size};
use crate::message::Messages;
use crate::number::three;

const COLUMNS: [&str; 10] = [
    "column-stream",
    "column-reads-percent",
    "column-random-percent",
    "column-size-of",
    "column-depth",
    "column-per-second",
    "column-access",
    "column-compressible",
    "column-cache",
    "column-durable",
];

pub(super) fn grid(m: &Messages, all: &[Across<'_>]) -> Grid {
    let rows_of = |across: &Across<'_>| {
        let streams = across.on.first().map(|on| on.job.streams.clone()).unwrap_or_default();
        let job = across.job.to_owned();
        streams.into_iter().map(move |stream| row(m, &job, &stream))
    };
    let rows: Vec<Row> = all.iter().flat_map(rows_of).collect();
    if rows.is_empty() {
        return none();
    }
    let mut header = vec![head(m, "column-job")];
    header.extend(COLUMNS.map(|id| head(m, id)));
    Grid { header, rows }
}

fn row(m: &Messages, job: &str, stream: &BlockStreamInfo) -> Row {
    let name = if stream.name.is_empty() { crate::number::NONE.to_owned() } else { stream.name.clone() };
    let cells: Vec<Cell> = vec![
        words(job.to_owned()),
        words(name),
        plain(stream.read_percent.to_string()),
        plain(stream.random_percent.to_string()),
        words(sizes(m, stream)),
        words(depth(stream)),
        plain(cell(stream.per_second, three)),
        words(stream.access.clone()),
        plain(stream.compressible_percent.to_string()),
        words(m.say(if stream.direct { "block-direct" } else { "block-cached" })),
        words(durable(m, stream)),
    ];
    Row { class: "", cells }
}

/// As people in the field write it: requests in flight of each thread, and threads.
pub(super) fn depth(stream: &BlockStreamInfo) -> String {
    format!("Q{}T{}", stream.depth, stream.threads)
}

/// Sizes of the requests that occur; of reads and writes apart where they differ.
pub(super) fn sizes(m: &Messages, stream: &BlockStreamInfo) -> String {
    let told = |sizes: &[(u64, u32)]| match sizes {
        [(bytes, _)] => size(*bytes),
        several => {
            let share = |(bytes, percent): &(u64, u32)| format!("{} {percent} %", size(*bytes));
            several.iter().map(share).collect::<Vec<_>>().join(", ")
        }
    };
    let (reads, writes) = (told(&stream.read_sizes), told(&stream.write_sizes));
    match stream.read_percent {
        100 => reads,
        0 => writes,
        _ if stream.read_sizes == stream.write_sizes => reads,
        _ => m.say_with("block-sizes", &[("reads", reads), ("writes", writes)]),
    }
}

/// How writes become durable.
pub(super) fn durable(m: &Messages, stream: &BlockStreamInfo) -> String {
    match stream.sync.split_once(':') {
        Some(("flush", "1")) => m.say("block-sync-flush-each"),
        Some(("flush", every)) => m.say_with("block-sync-flush", &[("every", every.to_owned())]),
        _ if stream.sync == "each_write" => m.say("block-sync-each-write"),
        _ => m.say("block-sync-none"),
    }
}
