//! What each job asks of a medium, stream by stream.

use plimsoll_record::BlockStreamInfo;

use super::super::cell;
use super::super::tables::{Cell, Grid, Row, head, plain, words};
use super::{Across, none};
pub(super) use crate::block::{depth, durable, sizes};
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
        let streams = across
            .on
            .first()
            .map(|on| on.job.streams.clone())
            .unwrap_or_default();
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
    let name = if stream.name.is_empty() {
        crate::number::NONE.to_owned()
    } else {
        stream.name.clone()
    };
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
        words(m.text(if stream.direct {
            "block-direct"
        } else {
            "block-cached"
        })),
        words(durable(m, stream)),
    ];
    Row { class: "", cells }
}
