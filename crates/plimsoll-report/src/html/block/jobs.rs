//! The tables of jobs, media side by side: what they do, their latencies, and their kinds of requests.

use plimsoll_analysis::summary::{
    BlockLatency, BlockOpSummary, BlockPointSummary, BlockRatios, BlockSummary,
};

use super::super::cell;
use super::super::tables::{Cell, Grid, Row, head, plain, words};
use super::{Across, OnMedium, close, medium_name, none, typical, us, verdict};
use crate::load_summary;
use crate::message::Messages;
use crate::number::{NONE, three, whole};

type Column = (&'static str, fn(&OnMedium<'_>) -> Cell);

/// How much each medium does, and against the first.
pub(super) fn grid(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Grid {
    let mut columns: Vec<Column> = vec![];
    if repeated(all) {
        columns.push(("column-rounds", |on| {
            plain(on.job.figures.map_or(0, |f| f.rounds).to_string())
        }));
    }
    columns.push(("column-iops", |on| {
        plain(cell(on.job.figures.map(|f| f.iops.median), three))
    }));
    columns.push(("column-interval", |on| {
        plain(load_summary::half(on.job.figures.map(|f| f.iops)))
    }));
    columns.push(("column-block-mb", |on| {
        plain(cell(on.job.figures.map(|f| f.mb_per_second.median), three))
    }));
    columns.push(("column-mean-us", |on| {
        us(on.job.figures.map(|f| f.mean_us.median))
    }));
    columns.push(("column-p99-us", |on| {
        us(on.job.figures.map(|f| f.p99_us.median))
    }));
    if step.media.len() > 1 {
        columns.push(("column-ratio", |on| {
            plain(cell(ratios(on).map(|r| r.iops), three))
        }));
        columns.push(("column-ratio-interval", |on| {
            plain(ratio_interval(ratios(on)))
        }));
        columns.push(("column-mean-ratio", |on| {
            plain(cell(ratios(on).and_then(|r| r.mean_latency), three))
        }));
    }
    table(m, step, all, &columns, true)
}

/// Percentiles of each job on each medium.
pub(super) fn latency(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Grid {
    const COLUMNS: [Column; 6] = [
        ("column-mean-us", |on| {
            us(on.job.figures.map(|f| f.mean_us.median))
        }),
        ("column-p50-us", |on| us(percentiles(on).map(|l| l.p50_us))),
        ("column-p95-us", |on| us(percentiles(on).map(|l| l.p95_us))),
        ("column-p99-us", |on| {
            us(on.job.figures.map(|f| f.p99_us.median))
        }),
        (
            "column-p999-us",
            |on| us(percentiles(on).map(|l| l.p999_us)),
        ),
        ("column-max-us", |on| us(percentiles(on).map(|l| l.max_us))),
    ];
    table(m, step, all, &COLUMNS, false)
}

/// One row for each job and medium.
fn table(
    m: &Messages,
    step: &BlockSummary,
    all: &[Across<'_>],
    columns: &[Column],
    verdicts: bool,
) -> Grid {
    let several = step.media.len() > 1;
    let mut header = vec![head(m, "column-job")];
    header.extend(several.then(|| head(m, "column-medium")));
    header.extend(columns.iter().map(|(id, _)| head(m, id)));
    header.extend(verdicts.then(|| head(m, "column-verdict")));
    let rows_of = |across: &Across<'_>| {
        let row = |on: &OnMedium<'_>| {
            let mut cells = vec![words(across.job.to_owned())];
            cells.extend(several.then(|| words(medium_name(m, on.medium))));
            cells.extend(columns.iter().map(|(_, of)| of(on)));
            cells.extend(verdicts.then(|| verdict(m, on.job.verdict)));
            Row { class: "", cells }
        };
        let mut rows: Vec<Row> = across.on.iter().map(row).collect();
        if several {
            close(&mut rows);
        }
        rows
    };
    Grid {
        header,
        rows: all.iter().flat_map(rows_of).collect(),
    }
}

fn repeated(all: &[Across<'_>]) -> bool {
    all.iter()
        .flat_map(|across| &across.on)
        .any(|on| on.job.figures.is_some_and(|figures| figures.rounds > 1))
}

fn percentiles(on: &OnMedium<'_>) -> Option<BlockLatency> {
    typical(on.job)?.latency
}

fn ratios(on: &OnMedium<'_>) -> Option<BlockRatios> {
    on.job.against_first
}

fn ratio_interval(ratios: Option<BlockRatios>) -> String {
    match ratios.and_then(|r| r.iops_low.zip(r.iops_high)) {
        Some((low, high)) => format!("{} to {}", three(low), three(high)),
        None => NONE.to_owned(),
    }
}

/// What the columns hold where it is not the same in every run.
pub(super) fn note(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> String {
    let mut notes = vec![m.text("block-jobs-note")];
    notes.extend(repeated(all).then(|| m.text("block-rounds-note")));
    if let Some(first) = step.media.first().filter(|_| step.media.len() > 1) {
        notes.push(m.text_with("block-ratio-note", &[("first", first.medium.clone())]));
    }
    notes.join(" ")
}

const BY_OP: [&str; 11] = [
    "column-op",
    "column-requests",
    "column-rate-s",
    "column-block-mb",
    "column-mean-us",
    "column-p50-us",
    "column-p95-us",
    "column-p99-us",
    "column-p999-us",
    "column-max-us",
    "column-in-flight",
];

/// Reads, writes and flushes apart, and all of them; of each job and medium the round that stands for it.
pub(super) fn by_op(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Grid {
    let several = step.media.len() > 1;
    let mut header = vec![head(m, "column-job")];
    header.extend(several.then(|| head(m, "column-medium")));
    header.extend(BY_OP.map(|id| head(m, id)));
    let rows = all
        .iter()
        .flat_map(|across| across.on.iter().map(move |on| (across, on)));
    let rows = rows.filter_map(|(across, on)| {
        let point = typical(on.job)?;
        let lead = |op: String| {
            let mut cells = vec![words(across.job.to_owned())];
            cells.extend(several.then(|| words(medium_name(m, on.medium))));
            cells.push(words(op));
            cells
        };
        let mut rows: Vec<Row> = point
            .by_op
            .iter()
            .map(|op| op_row(lead(op.op.clone()), op))
            .collect();
        rows.push(total(lead(m.text("block-all")), point));
        Some(rows)
    });
    let rows: Vec<Row> = rows.flatten().collect();
    if rows.is_empty() {
        none()
    } else {
        Grid { header, rows }
    }
}

fn op_row(mut cells: Vec<Cell>, op: &BlockOpSummary) -> Row {
    cells.push(plain(whole(op.requests as f64)));
    cells.push(plain(three(op.per_second)));
    cells.push(plain(cell(
        Some(op.mb_per_second).filter(|mb| *mb > 0.0),
        three,
    )));
    cells.extend(times(op.latency));
    cells.push(plain(NONE.to_owned()));
    Row { class: "", cells }
}

/// Without flushes, as IOPS are. The number in flight by Little's law, then the number that the job asks for.
fn total(mut cells: Vec<Cell>, point: &BlockPointSummary) -> Row {
    cells.push(plain(NONE.to_owned()));
    cells.push(plain(cell(point.iops, three)));
    cells.push(plain(cell(point.mb_per_second, three)));
    cells.extend(times(point.latency));
    let asked = Some(point.in_flight)
        .filter(|n| *n > 0)
        .map_or_else(|| NONE.to_owned(), |n| n.to_string());
    cells.push(plain(format!(
        "{} / {asked}",
        cell(point.in_flight_by_little, three)
    )));
    Row {
        class: "total",
        cells,
    }
}

fn times(latency: Option<BlockLatency>) -> [Cell; 6] {
    let of: [fn(BlockLatency) -> f64; 6] = [
        |l| l.mean_us,
        |l| l.p50_us,
        |l| l.p95_us,
        |l| l.p99_us,
        |l| l.p999_us,
        |l| l.max_us,
    ];
    of.map(|of| us(latency.map(of)))
}
