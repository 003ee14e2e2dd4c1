//! Block I/O: one row for each point and kind of request, and one for all requests of the point.

use plimsoll_analysis::summary::{
    BlockJobSummary, BlockLatency, BlockMedium, BlockPointSummary, BlockSummary, Summary,
};

use super::quoted;

const HEADER: &str = "step,workload,profile,medium,drive,job,job_index,round,counted,share_percent,point,op,workers,\
    worker_bytes,in_flight,offered_per_second,measured_s,requests,per_second,per_second_interval_low,\
    per_second_interval_high,mb_per_second,mean_us,p50_us,p95_us,p99_us,p999_us,max_us,steady,steady_range_percent,\
    steady_slope_percent,in_flight_by_little,workers_cv_percent,verdict\n";

pub(super) fn csv(summary: &Summary) -> String {
    let mut out = String::from(HEADER);
    for step in &summary.blocks {
        for medium in &step.media {
            for job in &medium.jobs {
                job.all_points()
                    .for_each(|point| rows(&mut out, step, medium, job, point));
            }
        }
    }
    out
}

/// The columns of a row that describe its requests.
struct Requests<'a> {
    op: &'a str,
    requests: u64,
    per_second: Option<f64>,
    interval: [Option<f64>; 2],
    mb_per_second: Option<f64>,
    latency: Option<BlockLatency>,
}

fn rows(
    out: &mut String,
    step: &BlockSummary,
    medium: &BlockMedium,
    job: &BlockJobSummary,
    point: &BlockPointSummary,
) {
    let all = Requests {
        op: "all",
        requests: point
            .seconds
            .iter()
            .filter(|second| second.measured)
            .map(|second| second.requests)
            .sum(),
        per_second: point.iops,
        interval: [
            point.iops_interval.map(|i| i.low),
            point.iops_interval.map(|i| i.high),
        ],
        mb_per_second: point.mb_per_second,
        latency: point.latency,
    };
    let ops = point.by_op.iter().map(|op| Requests {
        op: &op.op,
        requests: op.requests,
        per_second: Some(op.per_second),
        interval: [None; 2],
        mb_per_second: Some(op.mb_per_second),
        latency: op.latency,
    });
    for requests in std::iter::once(all).chain(ops) {
        let mut cells = place(step, medium, job, point);
        cells.extend(figures(medium, point, &requests));
        out.push_str(&cells.join(","));
        out.push('\n');
    }
}

fn place(
    step: &BlockSummary,
    medium: &BlockMedium,
    job: &BlockJobSummary,
    point: &BlockPointSummary,
) -> Vec<String> {
    vec![
        quoted(&step.step),
        quoted(&step.workload),
        quoted(&step.profile),
        quoted(&medium.medium),
        medium.drive.as_deref().map(quoted).unwrap_or_default(),
        quoted(&job.job),
        job.job_index.to_string(),
        point.round.to_string(),
        point.counts.to_string(),
        opt(point.share_percent),
        point.point.to_string(),
    ]
}

fn figures(medium: &BlockMedium, point: &BlockPointSummary, of: &Requests<'_>) -> Vec<String> {
    let latency = |part: fn(&BlockLatency) -> f64| opt(of.latency.as_ref().map(part));
    let [low, high] = of.interval.map(opt);
    vec![
        quoted(of.op),
        medium.workers.to_string(),
        medium.worker_bytes.to_string(),
        point.in_flight.to_string(),
        opt(point.offered_per_second),
        point.measured_s.to_string(),
        of.requests.to_string(),
        opt(of.per_second),
        low,
        high,
        opt(of.mb_per_second),
        latency(|l| l.mean_us),
        latency(|l| l.p50_us),
        latency(|l| l.p95_us),
        latency(|l| l.p99_us),
        latency(|l| l.p999_us),
        latency(|l| l.max_us),
        point.steady.name().to_owned(),
        opt(point.steady.figures().map(|(range, _)| range)),
        opt(point.steady.figures().map(|(_, slope)| slope)),
        opt(point.in_flight_by_little),
        opt(point.workers_cv_percent),
        point.verdict.name().to_owned(),
    ]
}

fn opt(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
