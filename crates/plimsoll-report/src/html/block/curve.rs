//! Latency against throughput: a job at full speed, then at shares of what it reached.

use plimsoll_analysis::summary::{BlockCurvePoint, BlockSummary, Verdict};
use serde::Serialize;

use super::super::island::short;
use super::super::tables::{Grid, Row, head, plain, words};
use super::{Across, ChartView, OnMedium, close, medium_name, none, us, verdict};
use crate::message::Messages;
use crate::number::{percent, three};

fn curved<'b, 'a>(all: &'b [Across<'a>]) -> impl Iterator<Item = &'b Across<'a>> {
    all.iter()
        .filter(|across| across.on.iter().any(|on| !on.job.curve.is_empty()))
}

pub(super) fn charts(block: usize, all: &[Across<'_>]) -> Vec<ChartView> {
    let view = |(place, across): (usize, &Across<'_>)| ChartView {
        kind: "block-curve",
        block,
        place,
        medium: 0,
        title: across.job.to_owned(),
    };
    curved(all).enumerate().map(view).collect()
}

const COLUMNS: [&str; 7] = [
    "column-offered-share",
    "column-offered-iops",
    "column-iops",
    "column-block-mb",
    "column-mean-us",
    "column-p99-us",
    "column-verdict",
];

/// Every rate of every curve.
pub(super) fn grid(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Grid {
    let several = step.media.len() > 1;
    let on = curved(all).flat_map(|across| across.on.iter().map(move |on| (across, on)));
    let rows: Vec<Row> = on
        .flat_map(|(across, on)| {
            let mut rows: Vec<Row> = on
                .job
                .curve
                .iter()
                .map(|at| row(m, across.job, on, several, at))
                .collect();
            close(&mut rows);
            rows
        })
        .collect();
    if rows.is_empty() {
        return none();
    }
    let mut header = vec![head(m, "column-job")];
    header.extend(several.then(|| head(m, "column-medium")));
    header.extend(COLUMNS.map(|id| head(m, id)));
    Grid { header, rows }
}

fn row(m: &Messages, job: &str, on: &OnMedium<'_>, several: bool, at: &BlockCurvePoint) -> Row {
    let mut cells = vec![words(job.to_owned())];
    cells.extend(several.then(|| words(medium_name(m, on.medium))));
    cells.push(plain(percent(at.share_percent)));
    cells.push(plain(three(at.offered_per_second)));
    cells.push(plain(three(at.achieved_per_second)));
    cells.push(plain(three(at.mb_per_second)));
    cells.push(us(at.mean_us));
    cells.push(us(at.p99_us));
    cells.push(verdict(m, at.verdict));
    Row { class: "", cells }
}

/// What a chart of latency against throughput is drawn from.
#[derive(Serialize)]
pub(super) struct CurveData {
    /// Id of the label of the horizontal axis: MB/s where every request follows the one before.
    unit: &'static str,
    lines: Vec<LineData>,
}

#[derive(Serialize)]
struct LineData {
    medium: usize,
    points: Vec<PointData>,
    full: Option<PointData>,
}

#[derive(Serialize)]
struct PointData {
    /// Offered, in percent of full speed; `None`: full speed itself.
    share: Option<f64>,
    x: f64,
    mean: Option<f64>,
    p99: Option<f64>,
    usable: bool,
}

pub(super) fn data(all: &[Across<'_>]) -> Vec<CurveData> {
    let of_job = |across: &Across<'_>| {
        let streams = across.on.iter().flat_map(|on| &on.job.streams);
        let sequential =
            streams.clone().count() > 0 && streams.clone().all(|stream| stream.random_percent == 0);
        CurveData {
            unit: if sequential {
                "chart-block-mb"
            } else {
                "chart-block-iops"
            },
            lines: across.on.iter().map(|on| line(on, sequential)).collect(),
        }
    };
    curved(all).map(of_job).collect()
}

fn line(on: &OnMedium<'_>, mb: bool) -> LineData {
    let point = |at: &BlockCurvePoint| PointData {
        share: Some(short(at.share_percent)),
        x: short(if mb {
            at.mb_per_second
        } else {
            at.achieved_per_second
        }),
        mean: at.mean_us.map(short),
        p99: at.p99_us.map(short),
        usable: at.verdict < Verdict::Invalid,
    };
    let full = on.job.figures.map(|figures| PointData {
        share: None,
        x: short(
            if mb {
                figures.mb_per_second
            } else {
                figures.iops
            }
            .median,
        ),
        mean: Some(short(figures.mean_us.median)),
        p99: Some(short(figures.p99_us.median)),
        usable: on.job.verdict < Verdict::Invalid,
    });
    LineData {
        medium: on.place,
        points: on.job.curve.iter().map(point).collect(),
        full,
    }
}
