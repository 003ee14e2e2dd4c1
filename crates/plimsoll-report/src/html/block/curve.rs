//! Latency against throughput: a job at full speed, then at shares of what it reached.

use plimsoll_analysis::summary::{BlockCurvePoint, Verdict};
use serde::Serialize;

use super::super::island::short;
use super::{Across, ChartView, OnMedium};

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
