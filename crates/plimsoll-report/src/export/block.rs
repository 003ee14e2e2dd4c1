//! Block I/O: one row for each point and kind of request, and one for all requests of the point.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    BlockJobSummary, BlockMedium, BlockPointSummary, BlockSummary, FigureId, FigureSet,
};

use crate::block::tables::TIMES;
use crate::table::Table;

/// Requests of one kind of a point.
#[derive(Clone, Copy)]
pub(crate) struct BlockOpRow<'a> {
    step: &'a BlockSummary,
    medium: &'a BlockMedium,
    job: &'a BlockJobSummary,
    point: &'a BlockPointSummary,
    op: &'a str,
    requests: u64,
    figures: &'a FigureSet,
}

impl BlockOpRow<'_> {
    fn steady(&self) -> Option<(f64, f64)> {
        self.point.steady.figures()
    }
}

/// All requests of each point, then its kinds.
pub(super) fn rows(summary: &Summary) -> Vec<BlockOpRow<'_>> {
    let mut rows = Vec::new();
    for step in &summary.figures.blocks {
        for medium in &step.media {
            for job in &medium.jobs {
                for point in job.all_points() {
                    let all = all_requests(step, medium, job, point);
                    rows.push(all);
                    rows.extend(point.by_op.iter().map(|op| BlockOpRow {
                        op: &op.op,
                        requests: op.requests,
                        figures: &op.figures,
                        ..all
                    }));
                }
            }
        }
    }
    rows
}

fn all_requests<'a>(
    step: &'a BlockSummary,
    medium: &'a BlockMedium,
    job: &'a BlockJobSummary,
    point: &'a BlockPointSummary,
) -> BlockOpRow<'a> {
    let measured = point.seconds.iter().filter(|second| second.measured);
    BlockOpRow {
        step,
        medium,
        job,
        point,
        op: "all",
        requests: measured.map(|second| second.requests).sum(),
        figures: &point.figures,
    }
}

pub(crate) fn table<'a>() -> Table<'a, BlockOpRow<'a>> {
    let table = Table::<BlockOpRow<'_>>::new("block")
        .field("step", |r| r.step.step.clone())
        .field("workload", |r| r.step.workload.clone())
        .field("profile", |r| r.step.profile.clone())
        .field("medium", |r| r.medium.medium.clone())
        .field("drive", |r| r.medium.drive.clone())
        .field("job", |r| r.job.job.clone())
        .field("job_index", |r| r.job.job_index)
        .field("round", |r| r.point.round)
        .field("counted", |r| r.point.counts)
        .field("share_percent", |r| r.point.share_percent)
        .field("point", |r| r.point.point.to_string())
        .field("op", |r| r.op)
        .field("workers", |r| r.medium.workers)
        .field("worker_bytes", |r| r.medium.worker_bytes)
        .field("in_flight", |r| r.point.in_flight)
        .field("offered_per_second", |r| r.point.offered_per_second)
        .field("measured_s", |r| r.point.measured_s)
        .field("requests", |r| r.requests)
        .field("per_second", |r| r.figures.value(FigureId::Iops))
        .interval_fields("per_second_interval", |r| {
            r.figures.get(FigureId::Iops)?.interval
        })
        .field("mb_per_second", |r| r.figures.value(FigureId::MbPerSecond));
    TIMES
        .iter()
        .fold(table, |table, &figure| {
            let key = format!("{}_us", figure.info().name);
            table.field(key, move |r| Some(r.figures.value(figure)? * 1e3))
        })
        .field("steady", |r| r.point.steady.name())
        .field("steady_range_percent", |r| Some(r.steady()?.0))
        .field("steady_slope_percent", |r| Some(r.steady()?.1))
        .field("in_flight_by_little", |r| r.point.in_flight_by_little)
        .field("workers_cv_percent", |r| r.point.workers_cv_percent)
        .field("verdict", |r| r.point.verdict)
}
