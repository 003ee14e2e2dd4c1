//! The tables of a step on media themselves.

use plimsoll_analysis::summary::{
    BlockCurvePoint, BlockJobSummary, BlockMedium, BlockOpSummary, BlockPointSummary, BlockSummary,
    BlockWorkerSummary, DriveSummary, Estimate, FigureId, Ratio, Rounds, RoundsOfJob,
};
use plimsoll_record::BlockStreamInfo;
use plimsoll_stats::rounds::Fit;

use super::{
    Across, DurableWrites, OnMedium, depth, durable, highest, limit, lowest, medium_name, sizes,
    typical,
};
use crate::load_summary::half;
use crate::table::Unit::{Percent, Plain, Three, Whole, Words};
use crate::table::{Table, TableCell};

/// What text leaves out first.
const SPARE: &[&str] = &["mb-per-second", "p999-us", "p50-us"];

/// All jobs on all media.
pub(crate) fn on_media<'b, 'a>(all: &'b [Across<'a>]) -> Vec<&'b OnMedium<'a>> {
    all.iter().flat_map(|across| &across.on).collect()
}

/// Whether a job was measured more than once.
fn is_repeated(job: &BlockJobSummary) -> bool {
    job.figures
        .as_ref()
        .is_some_and(|figures| figures.rounds > 1)
}

/// Whether any job of a step was measured more than once.
pub(crate) fn repeated(step: &BlockSummary) -> bool {
    let jobs = step.media.iter().flat_map(|medium| &medium.jobs);
    jobs.into_iter().any(is_repeated)
}

/// The name of a row's job, and its medium: on a page only where there are several.
fn place<'a, R: 'a>(
    table: Table<'a, R>,
    on: fn(&R) -> &OnMedium<'_>,
    several: fn(&R) -> bool,
) -> Table<'a, R> {
    table
        .column("job", Words, move |r| on(r).job.job.clone())
        .message("medium", Words, move |r, m| medium_name(m, on(r).medium))
        .on_page_if_any(several)
        .blank_repeats(2)
        .spare(SPARE)
}

/// Times of requests, in the order of their columns.
pub(crate) const TIMES: [FigureId; 6] = [
    FigureId::Mean,
    FigureId::P50,
    FigureId::P95,
    FigureId::P99,
    FigureId::P999,
    FigureId::Max,
];

fn value(job: &BlockJobSummary, figure: FigureId) -> Option<f64> {
    job.figure(figure).map(|own| own.value)
}

/// Of all requests of a job, or of one kind.
fn of_requests(
    job: &BlockJobSummary,
    op: Option<&BlockOpSummary>,
    figure: FigureId,
) -> Option<f64> {
    match op {
        Some(op) => op.figures.value(figure).filter(|own| {
            // Flushes move nothing.
            figure != FigureId::MbPerSecond || *own > 0.0
        }),
        None => value(job, figure),
    }
}

/// A job at full speed, or one of its kinds of requests.
pub(crate) struct JobRow<'a> {
    job: &'a BlockJobSummary,
    point: Option<&'a BlockPointSummary>,
    op: Option<&'a BlockOpSummary>,
}

impl JobRow<'_> {
    /// What only the job as a whole has.
    fn of_job<C: Into<TableCell>>(&self, value: Option<C>) -> TableCell {
        self.op.map_or_else(|| value.into(), |_| "".into())
    }

    fn value(&self, figure: FigureId) -> Option<f64> {
        of_requests(self.job, self.op, figure)
    }
}

/// Each job of a medium; where it has several kinds of requests, each of them below it.
pub(crate) fn job_rows(medium: &BlockMedium) -> Vec<JobRow<'_>> {
    let mut rows = Vec::new();
    for job in &medium.jobs {
        let point = typical(job);
        let ops = &job.by_op;
        rows.push(JobRow {
            job,
            point,
            op: None,
        });
        rows.extend(ops.iter().filter(|_| ops.len() > 1).map(|op| JobRow {
            job,
            point,
            op: Some(op),
        }));
    }
    rows
}

/// What each job of a medium reached at full speed, for a terminal.
pub(crate) fn jobs<'a>() -> Table<'a, JobRow<'a>> {
    Table::<JobRow<'_>>::new("block-jobs")
        .prefix("text-")
        .column("job", Words, |r| match r.op {
            Some(op) => format!("  {}", op.op),
            None => r.job.job.clone(),
        })
        .column("repeats", Plain, |r| {
            r.of_job(r.job.figures.as_ref().map(|f| f.rounds))
        })
        .if_any(|r| is_repeated(r.job))
        .column("in-flight", Plain, |r| {
            r.of_job(r.point.map(|own| own.in_flight).filter(|n| *n > 0))
        })
        .figure(FigureId::Iops, |r| r.value(FigureId::Iops))
        .figure(FigureId::IntervalPercent, |r| {
            r.of_job(half(r.job.figure(FigureId::Iops)))
        })
        .figure(FigureId::MbPerSecond, |r| r.value(FigureId::MbPerSecond))
        .micros(&TIMES, JobRow::value)
        .column("verdict", Plain, |r| r.of_job(Some(r.job.verdict)))
        .spare(&[
            "in-flight",
            "repeats",
            "p95-us",
            "interval-percent",
            "p50-us",
        ])
}

type Jobs<'a> = Table<'a, &'a OnMedium<'a>>;

impl OnMedium<'_> {
    fn iops(&self) -> Option<Estimate> {
        self.job.figure(FigureId::Iops)
    }

    fn value(&self, figure: FigureId) -> Option<f64> {
        value(self.job, figure)
    }

    /// To the first medium.
    fn ratio(&self, figure: FigureId) -> Option<Ratio> {
        self.job.against_first.as_ref()?.get(figure)
    }
}

/// The same job on all media, against the first.
pub(crate) fn side_by_side<'a>() -> Jobs<'a> {
    place(
        Table::new("block-media"),
        |on: &&'a OnMedium<'a>| *on,
        |on| on.several,
    )
    .page_column("rounds", Plain, |on| {
        on.job.figures.as_ref().map_or(0, |f| f.rounds)
    })
    .if_any(|on| is_repeated(on.job))
    .figure(FigureId::Iops, |on| on.iops())
    .figure(FigureId::IntervalPercent, |on| half(on.iops()))
    .on_page()
    .figure(FigureId::MbPerSecond, |on| {
        on.job.figure(FigureId::MbPerSecond)
    })
    .column("ratio", Three, |on| Some(on.ratio(FigureId::Iops)?.ratio))
    .if_any(|on| on.several)
    .column("ratio-interval", Three, |on| {
        on.ratio(FigureId::Iops)?.interval
    })
    .if_any(|on| on.several)
    .micros(&[FigureId::Mean], |on, figure| on.value(figure))
    .micros(&[FigureId::P99], |on, figure| on.value(figure))
    .on_page()
    .figure(FigureId::Mean, |on| Some(on.ratio(FigureId::Mean)?.ratio))
    .ratio()
    .if_any(|on| on.several)
    .column("verdict", Plain, |on| on.job.verdict)
    .blank_repeats(1)
    .spare(&["ratio-interval", "mb-per-second"])
    .grouped(|on| on.several.then(|| on.job.job.clone()))
}

/// Percentiles of each job on each medium.
pub(crate) fn latency<'a>() -> Jobs<'a> {
    place(
        Table::new("block-latency"),
        |on: &&'a OnMedium<'a>| *on,
        |on| on.several,
    )
    .micros(&TIMES, |on, figure| on.value(figure))
    .grouped(|on| on.several.then(|| on.job.job.clone()))
}

/// Requests of one kind, or all of a job.
pub(crate) struct OpsRow<'a> {
    on: &'a OnMedium<'a>,
    point: &'a BlockPointSummary,
    op: Option<&'a BlockOpSummary>,
}

impl OpsRow<'_> {
    fn value(&self, figure: FigureId) -> Option<f64> {
        of_requests(self.on.job, self.op, figure)
    }
}

pub(crate) fn op_rows<'a>(all: &'a [Across<'_>]) -> Vec<OpsRow<'a>> {
    let mut rows = Vec::new();
    for on in on_media(all) {
        if let Some(point) = typical(on.job) {
            let ops = on.job.by_op.iter().map(Some).chain([None]);
            rows.extend(ops.map(|op| OpsRow { on, point, op }));
        }
    }
    rows
}

/// Reads, writes and flushes apart, and all of them, of each job and medium.
pub(crate) fn by_op<'a>() -> Table<'a, OpsRow<'a>> {
    place(
        Table::new("block-operations"),
        |r: &OpsRow<'_>| r.on,
        |r| r.on.several,
    )
    .prefix("column-")
    .message("op", Words, |r, m| match r.op {
        Some(op) => op.op.clone(),
        None => m.text("block-all"),
    })
    .column("requests", Whole, |r| Some(r.op?.requests))
    .column("rate-s", Three, |r| r.value(FigureId::Iops))
    .figure(FigureId::MbPerSecond, |r| r.value(FigureId::MbPerSecond))
    .micros(&TIMES, OpsRow::value)
    .column("in-flight", Plain, in_flight)
    .row_class(|r| if r.op.is_none() { "total" } else { "" })
}

/// By Little's law, then the number that the job asks for.
fn in_flight(row: &OpsRow<'_>) -> Option<String> {
    if row.op.is_some() {
        return None;
    }
    let asked = Some(row.point.in_flight).filter(|n| *n > 0);
    let asked = asked.map_or_else(|| crate::number::NONE.to_owned(), |n| n.to_string());
    let little = crate::number::or_none(row.point.in_flight_by_little, crate::number::three);
    Some(format!("{little} / {asked}"))
}

pub(crate) struct CurveRow<'a> {
    on: &'a OnMedium<'a>,
    at: &'a BlockCurvePoint,
}

pub(crate) fn curve_rows<'a>(all: &'a [Across<'_>]) -> Vec<CurveRow<'a>> {
    let mut rows = Vec::new();
    for on in on_media(all) {
        rows.extend(on.job.curve.iter().map(|at| CurveRow { on, at }));
    }
    rows
}

/// Every rate of every curve.
pub(crate) fn curve<'a>() -> Table<'a, CurveRow<'a>> {
    place(
        Table::new("block-curve"),
        |r: &CurveRow<'_>| r.on,
        |r| r.on.several,
    )
    .column("offered-share", Plain, |r| limit(r.at.share_percent))
    .column("offered", Three, |r| r.at.offered_per_second)
    .figure(FigureId::Iops, |r| r.at.figures.get(FigureId::Iops))
    .figure(FigureId::MbPerSecond, |r| {
        r.at.figures.get(FigureId::MbPerSecond)
    })
    .micros(&[FigureId::Mean, FigureId::P99], |r, figure| {
        r.at.figures.value(figure)
    })
    .column("verdict", Plain, |r| r.at.verdict)
    .grouped(|r| Some(format!("{} {}", r.on.job.job, r.on.place)))
}

/// One row for each job, medium and stream whose writes become durable, by rising number of writers.
pub(crate) fn fsync<'a>() -> Table<'a, DurableWrites<'a>> {
    Table::<DurableWrites<'_>>::new("block-durable-writes")
        .column("job", Words, DurableWrites::name)
        .message("medium", Words, |r, m| medium_name(m, r.on.medium))
        .on_page_if_any(|r| r.on.several)
        .column("writers", Plain, |r| r.writers)
        .message("durable", Words, |r, m| durable(m, r.stream))
        .column("durable-writes", Three, |r| {
            r.write?.figures.value(FigureId::Iops)
        })
        .column("flushes-s", Three, |r| {
            r.sync?.figures.value(FigureId::Iops)
        })
        .micros(
            &[
                FigureId::Mean,
                FigureId::P50,
                FigureId::P99,
                FigureId::P999,
                FigureId::Max,
            ],
            |r, figure| r.waits()?.value(figure),
        )
        .blank_repeats(2)
        .spare(SPARE)
        .grouped(|r| Some(r.job.to_owned()))
}

/// Several workers of a job on a medium, in the round that stands for all.
pub(crate) struct WorkersRow<'a> {
    on: &'a OnMedium<'a>,
    point: &'a BlockPointSummary,
}

impl WorkersRow<'_> {
    /// Workers on several media at once each have one of their own.
    fn is_on_several(&self) -> bool {
        self.on.several || self.on.medium.medium.contains(" + ")
    }
}

pub(crate) fn workers_rows<'a>(all: &'a [Across<'_>]) -> Vec<WorkersRow<'a>> {
    let mut rows = Vec::new();
    for on in on_media(all) {
        let point = typical(on.job).filter(|point| point.workers.len() > 1);
        rows.extend(point.map(|point| WorkersRow { on, point }));
    }
    rows
}

/// The sum over several workers and how far they are apart.
pub(crate) fn workers<'a>() -> Table<'a, WorkersRow<'a>> {
    place(
        Table::new("block-workers"),
        |r: &WorkersRow<'_>| r.on,
        WorkersRow::is_on_several,
    )
    .column("workers", Plain, |r| r.point.workers.len())
    .figure(FigureId::Iops, |r| r.point.value(FigureId::Iops))
    .value("all")
    .figure(FigureId::MbPerSecond, |r| {
        r.point.value(FigureId::MbPerSecond)
    })
    .value("all")
    .figure(FigureId::Iops, |r| lowest(r.point, FigureId::Iops))
    .value("lowest")
    .figure(FigureId::Iops, |r| highest(r.point, FigureId::Iops))
    .value("highest")
    .column("cv", Percent, |r| r.point.workers_cv_percent)
    .micros(&[FigureId::P99], |r, figure| lowest(r.point, figure))
    .value("lowest")
    .micros(&[FigureId::P99], |r, figure| highest(r.point, figure))
    .value("highest")
    .spare(&["mb-per-second-all", "p99-us-lowest"])
    .grouped(|r| r.is_on_several().then(|| r.on.job.job.clone()))
}

/// One of several workers.
pub(crate) struct WorkerRow<'a> {
    on: &'a OnMedium<'a>,
    is_on_several: bool,
    worker: &'a BlockWorkerSummary,
}

pub(crate) fn worker_rows<'a>(all: &[WorkersRow<'a>]) -> Vec<WorkerRow<'a>> {
    let mut rows = Vec::new();
    for row in all {
        rows.extend(row.point.workers.iter().map(|worker| WorkerRow {
            on: row.on,
            is_on_several: row.is_on_several(),
            worker,
        }));
    }
    rows
}

pub(crate) fn each_worker<'a>() -> Table<'a, WorkerRow<'a>> {
    Table::<WorkerRow<'_>>::new("block-each-worker")
        .prefix("column-")
        .column("job", Words, |r| r.on.job.job.clone())
        .column("medium", Words, |r| r.worker.medium.clone())
        .if_any(|r| r.is_on_several)
        .column("worker", Plain, |r| r.worker.worker + 1)
        .figure(FigureId::Iops, |r| r.worker.figures.get(FigureId::Iops))
        .figure(FigureId::MbPerSecond, |r| {
            r.worker.figures.get(FigureId::MbPerSecond)
        })
        .micros(&[FigureId::Mean, FigureId::P99], |r, figure| {
            r.worker.figures.value(figure)
        })
        .grouped(|r| Some(format!("{} {}", r.on.job.job, r.on.place)))
}

/// Rounds of a job on a medium, which were to become steady.
pub(crate) struct RoundsRow<'a> {
    pub on: &'a OnMedium<'a>,
    pub rounds: &'a Rounds,
    pub own: &'a RoundsOfJob,
}

impl RoundsRow<'_> {
    /// A figure of the fit; beyond its limit it is marked.
    fn limited(&self, of: fn(&Fit) -> f64, limit: f64) -> Option<TableCell> {
        let value = of(self.own.fit.as_ref()?);
        let class = if value.abs() > limit { "doubtful" } else { "" };
        Some(TableCell::from(value).styled(class))
    }
}

/// In the order of charts and rows.
pub(crate) fn rounds_rows<'a>(all: &'a [Across<'_>]) -> Vec<RoundsRow<'a>> {
    on_media(all).into_iter().filter_map(rounds_row).collect()
}

fn rounds_row<'a>(on: &'a OnMedium<'a>) -> Option<RoundsRow<'a>> {
    let rounds = on.medium.rounds.as_ref()?;
    let own = rounds.jobs.iter().find(|own| own.job == on.job.job)?;
    Some(RoundsRow { on, rounds, own })
}

/// How rounds went until they were steady, or were given up.
pub(crate) fn rounds<'a>() -> Table<'a, RoundsRow<'a>> {
    Table::<RoundsRow<'_>>::new("block-rounds")
        .column("job", Words, |r| r.own.job.clone())
        .message("medium", Words, |r, m| medium_name(m, r.on.medium))
        .on_page()
        .page_column("rounds", Plain, |r| r.own.iops.len())
        .column("window", Plain, |r| {
            let from = r.own.fit?.from + 1;
            Some(format!("{from} to {}", from + r.rounds.window - 1))
        })
        .figure(FigureId::Iops, |r| Some(r.own.fit?.mean))
        .value("mean")
        .column("range-percent", Percent, |r| {
            r.limited(|fit| fit.range_percent, r.rounds.range_percent_limit)
        })
        .column("slope-percent", Percent, |r| {
            r.limited(|fit| fit.slope_percent, r.rounds.slope_percent_limit)
        })
        .column("steady", Plain, |r| {
            Some(if r.own.fit?.steady {
                TableCell::word("steady-", "yes").styled("valid")
            } else {
                TableCell::word("steady-", "no").styled("doubtful")
            })
        })
}

/// A stream of requests of a job.
pub(crate) struct BlockStreamRow<'a> {
    job: &'a str,
    stream: &'a BlockStreamInfo,
}

pub(crate) fn stream_rows<'a>(all: &'a [Across<'_>]) -> Vec<BlockStreamRow<'a>> {
    let mut rows = Vec::new();
    for across in all {
        let streams = across.on.first().into_iter();
        let streams = streams.flat_map(|on| &on.job.streams);
        rows.extend(streams.map(|stream| BlockStreamRow {
            job: across.job,
            stream,
        }));
    }
    rows
}

/// What each job asks of a medium, stream by stream.
pub(crate) fn streams<'a>() -> Table<'a, BlockStreamRow<'a>> {
    Table::<BlockStreamRow<'_>>::new("block-streams")
        .prefix("column-")
        .column("job", Words, |r| r.job.to_owned())
        .column("stream", Words, |r| {
            Some(r.stream.name.clone()).filter(|name| !name.is_empty())
        })
        .column("reads-percent", Plain, |r| r.stream.read_percent)
        .column("random-percent", Plain, |r| r.stream.random_percent)
        .message("size-of", Words, |r, m| sizes(m, r.stream))
        .column("depth", Words, |r| depth(r.stream))
        .column("per-second", Three, |r| r.stream.per_second)
        .column("access", Words, |r| r.stream.access.clone())
        .column("compressible", Plain, |r| r.stream.compressible_percent)
        .column("cache", Words, |r| {
            TableCell::word("block-", if r.stream.direct { "direct" } else { "cached" })
        })
        .message("durable", Words, |r, m| durable(m, r.stream))
}

/// What emulated drives, or their members, were asked for: of each job the round that stands for it. `rows` are those of one
/// drive, from its job and whether that is an offered rate.
pub(crate) fn drive_rows<'a, R, I: Iterator<Item = R>>(
    all: &'a [Across<'_>],
    rows: fn(String, bool, &'a DriveSummary) -> I,
) -> Vec<R> {
    let mut all_rows = Vec::new();
    for on in on_media(all) {
        let drives = typical(on.job).into_iter().flat_map(|point| &point.drives);
        all_rows.extend(drives.flat_map(|drive| rows(on.job.job.clone(), false, drive)));
    }
    all_rows
}
