//! The tables of a step on media themselves.

use plimsoll_analysis::summary::{
    BlockCurvePoint, BlockFigures, BlockJobSummary, BlockLatency, BlockMedium, BlockOpSummary,
    BlockPointSummary, BlockSummary, BlockWorkerSummary, Rounds, RoundsOfJob,
};
use plimsoll_record::BlockStreamInfo;
use plimsoll_stats::rounds::Fit;

use super::{
    Across, DurableWrites, OnMedium, depth, durable, durable_writes, limit, medium_name, sizes,
    typical, worker_ends,
};
use crate::drives::OpRow;
use crate::load_summary::half;
use crate::message::Messages;
use crate::table::Unit::{Percent, Plain, Three, Whole, Words};
use crate::table::{Cell, Table, Value};

/// What text leaves out first.
const SPARE: &[&str] = &["block-mb", "p999-us", "p50-us", "p99-lowest"];

/// All jobs on all media.
pub(crate) fn on_media<'b, 'a>(all: &'b [Across<'a>]) -> Vec<&'b OnMedium<'a>> {
    all.iter().flat_map(|across| &across.on).collect()
}

/// Whether a job was measured more than once.
pub(crate) fn repeated<'a>(jobs: impl IntoIterator<Item = &'a BlockJobSummary>) -> bool {
    let figures = jobs.into_iter().filter_map(|job| job.figures);
    figures.into_iter().any(|figures| figures.rounds > 1)
}

/// The name of a row's job, and its medium: on a page only where there are several.
fn place<'a, R>(
    m: &'a Messages,
    several: bool,
    of: impl Fn(&R) -> &OnMedium<'_> + Copy + 'a,
) -> Table<'a, R> {
    Table::new()
        .column("job", Words, move |r| of(r).job.job.clone())
        .text_column("medium", Words, move |r| medium_name(m, of(r).medium))
        .page_column("medium", Words, move |r| medium_name(m, of(r).medium))
        .when(several)
        .blank_repeats(2)
        .spare(SPARE)
}

fn times<'a, R>(
    table: Table<'a, R>,
    of: impl Fn(&R) -> Option<BlockLatency> + Copy + 'a,
) -> Table<'a, R> {
    table
        .column("mean-us", Three, move |r| of(r).map(|l| l.mean_us))
        .column("p50-us", Three, move |r| of(r).map(|l| l.p50_us))
        .column("p95-us", Three, move |r| of(r).map(|l| l.p95_us))
        .column("p99-us", Three, move |r| of(r).map(|l| l.p99_us))
        .column("p999-us", Three, move |r| of(r).map(|l| l.p999_us))
        .column("max-us", Three, move |r| of(r).map(|l| l.max_us))
}

/// A job at full speed, or one of its kinds of requests.
pub(crate) struct JobRow<'a> {
    job: &'a BlockJobSummary,
    point: Option<&'a BlockPointSummary>,
    op: Option<&'a BlockOpSummary>,
}

impl JobRow<'_> {
    /// What only the job as a whole has.
    fn of_job<C: Into<Cell>>(&self, value: Option<C>) -> Cell {
        self.op.map_or_else(|| value.into(), |_| "".into())
    }

    fn figure(
        &self,
        of_job: fn(&BlockFigures) -> f64,
        of_op: fn(&BlockOpSummary) -> Option<f64>,
    ) -> Option<f64> {
        match self.op {
            Some(op) => of_op(op),
            None => self.job.figures.as_ref().map(of_job),
        }
    }

    fn latency(&self) -> Option<BlockLatency> {
        match self.op {
            Some(op) => op.latency,
            None => self.point?.latency,
        }
    }
}

/// Each job of a medium; where it has several kinds of requests, each of them below it.
pub(crate) fn job_rows(medium: &BlockMedium) -> Vec<JobRow<'_>> {
    let mut rows = Vec::new();
    for job in &medium.jobs {
        let point = typical(job);
        let ops = point.map_or(&[][..], |point| &point.by_op);
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
pub(crate) fn jobs(medium: &BlockMedium) -> Table<'_, JobRow<'_>> {
    Table::<JobRow<'_>>::new()
        .column("job", Words, |r| match r.op {
            Some(op) => format!("  {}", op.op),
            None => r.job.job.clone(),
        })
        .column("repeats", Plain, |r| {
            r.of_job(r.job.figures.map(|f| f.rounds))
        })
        .when(repeated(&medium.jobs))
        .column("in-flight", Plain, |r| {
            r.of_job(r.point.map(|own| own.in_flight))
        })
        .column("iops", Three, |r| {
            r.figure(|f| f.iops.median, |op| Some(op.per_second))
        })
        .column("interval", Percent, |r| {
            r.of_job(half(r.job.figures.map(|f| f.iops)))
        })
        .column("block-mb", Three, |r| {
            r.figure(|f| f.mb_per_second.median, moved)
        })
        .column("mean-us", Three, |r| {
            r.figure(|f| f.mean_us.median, |op| Some(op.latency?.mean_us))
        })
        .column("p50-us", Three, |r| r.latency().map(|l| l.p50_us))
        .column("p95-us", Three, |r| r.latency().map(|l| l.p95_us))
        .column("p99-us", Three, |r| {
            r.figure(|f| f.p99_us.median, |op| Some(op.latency?.p99_us))
        })
        .column("p999-us", Three, |r| r.latency().map(|l| l.p999_us))
        .column("max-us", Three, |r| r.latency().map(|l| l.max_us))
        .column("verdict", Plain, |r| r.of_job(Some(r.job.verdict)))
        .spare(&["in-flight", "repeats", "p95-us", "interval", "p50-us"])
}

/// Flushes move nothing.
fn moved(op: &BlockOpSummary) -> Option<f64> {
    Some(op.mb_per_second).filter(|mb| *mb > 0.0)
}

type Jobs<'a> = Table<'a, &'a OnMedium<'a>>;

/// The same job on all media, against the first.
pub(crate) fn side_by_side<'a>(m: &'a Messages, step: &BlockSummary) -> Jobs<'a> {
    let several = step.media.len() > 1;
    let jobs = step.media.iter().flat_map(|medium| &medium.jobs);
    let table = place(m, several, |on: &&'a OnMedium<'a>| *on)
        .page_column("rounds", Plain, |on| on.job.figures.map_or(0, |f| f.rounds))
        .when(repeated(jobs))
        .column("iops", Three, |on| on.job.figures.map(|f| f.iops))
        .page_column("interval", Percent, |on| {
            half(on.job.figures.map(|f| f.iops))
        })
        .column("block-mb", Three, |on| {
            on.job.figures.map(|f| f.mb_per_second)
        })
        .column("ratio", Three, |on| {
            on.job.against_first.map(|own| own.iops)
        })
        .when(several)
        .column("ratio-interval", Three, |on| {
            let ratios = on.job.against_first?;
            Some(Value::Range(ratios.iops_low?, ratios.iops_high?))
        })
        .when(several)
        .column("mean-us", Three, |on| on.job.figures.map(|f| f.mean_us))
        .page_column("p99-us", Three, |on| on.job.figures.map(|f| f.p99_us))
        .column("mean-ratio", Three, |on| on.job.against_first?.mean_latency)
        .when(several)
        .column("verdict", Plain, |on| on.job.verdict)
        .blank_repeats(1)
        .spare(&["ratio-interval", "block-mb"]);
    grouped_if(table, several, |on| on.job.job.clone())
}

fn grouped_if<'a, R>(
    table: Table<'a, R>,
    wanted: bool,
    key: impl Fn(&R) -> String + 'a,
) -> Table<'a, R> {
    if wanted { table.grouped(key) } else { table }
}

/// Percentiles of each job on each medium.
pub(crate) fn latency<'a>(m: &'a Messages, several: bool) -> Jobs<'a> {
    let percentiles = |on: &&OnMedium<'_>| typical(on.job)?.latency;
    let table = place(m, several, |on: &&'a OnMedium<'a>| *on)
        .column("mean-us", Three, |on| on.job.figures.map(|f| f.mean_us))
        .column("p50-us", Three, move |on| percentiles(on).map(|l| l.p50_us))
        .column("p95-us", Three, move |on| percentiles(on).map(|l| l.p95_us))
        .column("p99-us", Three, |on| on.job.figures.map(|f| f.p99_us))
        .column("p999-us", Three, move |on| {
            percentiles(on).map(|l| l.p999_us)
        })
        .column("max-us", Three, move |on| percentiles(on).map(|l| l.max_us));
    grouped_if(table, several, |on| on.job.job.clone())
}

/// Requests of one kind, or all of a job.
pub(crate) struct OpsRow<'a> {
    on: &'a OnMedium<'a>,
    point: &'a BlockPointSummary,
    op: Option<&'a BlockOpSummary>,
}

pub(crate) fn op_rows<'a>(all: &'a [Across<'_>]) -> Vec<OpsRow<'a>> {
    let mut rows = Vec::new();
    for on in on_media(all) {
        if let Some(point) = typical(on.job) {
            let ops = point.by_op.iter().map(Some).chain([None]);
            rows.extend(ops.map(|op| OpsRow { on, point, op }));
        }
    }
    rows
}

/// Reads, writes and flushes apart, and all of them; of each job and medium the round that stands for it.
pub(crate) fn by_op<'a>(m: &'a Messages, several: bool) -> Table<'a, OpsRow<'a>> {
    let table = place(m, several, |r: &OpsRow<'_>| r.on)
        .column("op", Words, |r| match r.op {
            Some(op) => op.op.clone(),
            None => m.text("block-all"),
        })
        .column("requests", Whole, |r| r.op.map(|op| op.requests))
        .column("rate-s", Three, |r| {
            r.op.map_or(r.point.iops, |op| Some(op.per_second))
        })
        .column("block-mb", Three, |r| {
            r.op.map_or(r.point.mb_per_second, moved)
        });
    times(table, |r| r.op.map_or(r.point.latency, |op| op.latency))
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
    let rows_of = |on: &'a OnMedium<'_>| on.job.curve.iter().map(move |at| CurveRow { on, at });
    on_media(all).into_iter().flat_map(rows_of).collect()
}

/// Every rate of every curve.
pub(crate) fn curve<'a>(m: &'a Messages, several: bool) -> Table<'a, CurveRow<'a>> {
    place(m, several, |r: &CurveRow<'_>| r.on)
        .column("offered-share", Plain, |r| limit(r.at.share_percent))
        .column("offered", Three, |r| r.at.offered_per_second)
        .column("iops", Three, |r| r.at.achieved_per_second)
        .column("block-mb", Three, |r| r.at.mb_per_second)
        .column("mean-us", Three, |r| r.at.mean_us)
        .column("p99-us", Three, |r| r.at.p99_us)
        .column("verdict", Plain, |r| r.at.verdict)
        .grouped(|r| format!("{} {}", r.on.job.job, r.on.place))
}

pub(crate) fn durable_rows<'a>(all: &'a [Across<'a>]) -> Vec<DurableWrites<'a>> {
    durable_writes(all)
}

/// One row for each job, medium and stream whose writes become durable, by rising number of writers.
pub(crate) fn fsync<'a>(m: &'a Messages, several: bool) -> Table<'a, DurableWrites<'a>> {
    Table::<DurableWrites<'_>>::new()
        .column("job", Words, DurableWrites::name)
        .text_column("medium", Words, |r| medium_name(m, r.on.medium))
        .page_column("medium", Words, |r| medium_name(m, r.on.medium))
        .when(several)
        .column("writers", Plain, |r| r.writers)
        .column("durable", Words, |r| durable(m, r.stream))
        .column("durable-writes", Three, |r| r.write.map(|op| op.per_second))
        .column("flushes-s", Three, |r| r.sync.map(|op| op.per_second))
        .column("mean-us", Three, |r| r.waits().map(|l| l.mean_us))
        .column("p50-us", Three, |r| r.waits().map(|l| l.p50_us))
        .column("p99-us", Three, |r| r.waits().map(|l| l.p99_us))
        .column("p999-us", Three, |r| r.waits().map(|l| l.p999_us))
        .column("max-us", Three, |r| r.waits().map(|l| l.max_us))
        .blank_repeats(2)
        .spare(SPARE)
        .grouped(|r| r.job.to_owned())
}

/// Several workers of a job on a medium, in the round that stands for all.
pub(crate) struct WorkersRow<'a> {
    on: &'a OnMedium<'a>,
    point: &'a BlockPointSummary,
}

pub(crate) fn workers_rows<'a>(all: &'a [Across<'_>]) -> Vec<WorkersRow<'a>> {
    let row_of = |on: &'a OnMedium<'_>| {
        let point = typical(on.job).filter(|point| point.workers.len() > 1)?;
        Some(WorkersRow { on, point })
    };
    on_media(all).into_iter().filter_map(row_of).collect()
}

/// The sum over several workers and how far they are apart.
pub(crate) fn workers<'a>(m: &'a Messages, several: bool) -> Table<'a, WorkersRow<'a>> {
    let iops = |r: &WorkersRow<'_>| worker_ends(r.point, |worker| Some(worker.iops));
    let p99 = |r: &WorkersRow<'_>| worker_ends(r.point, |worker| worker.p99_us);
    let table = place(m, several, |r: &WorkersRow<'_>| r.on)
        .column("workers", Plain, |r| r.point.workers.len())
        .column("sum-iops", Three, |r| r.point.iops)
        .column("sum-mb", Three, |r| r.point.mb_per_second)
        .column("lowest", Three, move |r| iops(r).0)
        .column("highest", Three, move |r| iops(r).1)
        .column("cv", Percent, |r| r.point.workers_cv_percent)
        .column("p99-lowest", Three, move |r| p99(r).0)
        .column("p99-highest", Three, move |r| p99(r).1)
        .spare(&["sum-mb", "p99-lowest"]);
    grouped_if(table, several, |r| r.on.job.job.clone())
}

/// One of several workers.
pub(crate) struct WorkerRow<'a> {
    on: &'a OnMedium<'a>,
    worker: &'a BlockWorkerSummary,
}

pub(crate) fn worker_rows<'a>(all: &[WorkersRow<'a>]) -> Vec<WorkerRow<'a>> {
    let rows_of = |row: &WorkersRow<'a>| {
        let on = row.on;
        let workers = row.point.workers.iter();
        workers.map(move |worker| WorkerRow { on, worker })
    };
    all.iter().flat_map(rows_of).collect()
}

pub(crate) fn each_worker<'a>(several: bool) -> Table<'a, WorkerRow<'a>> {
    Table::<WorkerRow<'_>>::new()
        .column("job", Words, |r| r.on.job.job.clone())
        .column("medium", Words, |r| r.worker.medium.clone())
        .when(several)
        .column("worker", Plain, |r| r.worker.worker + 1)
        .column("iops", Three, |r| r.worker.iops)
        .column("block-mb", Three, |r| r.worker.mb_per_second)
        .column("mean-us", Three, |r| r.worker.mean_us)
        .column("p99-us", Three, |r| r.worker.p99_us)
        .grouped(|r| format!("{} {}", r.on.job.job, r.on.place))
}

/// Rounds of a job on a medium, which were to become steady.
pub(crate) struct RoundsRow<'a> {
    pub on: &'a OnMedium<'a>,
    pub rounds: &'a Rounds,
    pub own: &'a RoundsOfJob,
}

impl RoundsRow<'_> {
    fn fit(&self) -> Option<Fit> {
        self.own.fit
    }

    /// A figure of the fit; beyond its limit it is marked.
    fn limited(&self, of: fn(&Fit) -> f64, limit: f64) -> Option<Cell> {
        let value = of(self.own.fit.as_ref()?);
        let class = if value.abs() > limit { "doubtful" } else { "" };
        Some(Cell::from(value).styled(class))
    }
}

/// In the order of charts and rows.
pub(crate) fn rounds_rows<'a>(all: &'a [Across<'_>]) -> Vec<RoundsRow<'a>> {
    let row_of = |on: &'a OnMedium<'_>| {
        let rounds = on.medium.rounds.as_ref()?;
        let own = rounds.jobs.iter().find(|own| own.job == on.job.job)?;
        Some(RoundsRow { on, rounds, own })
    };
    on_media(all).into_iter().filter_map(row_of).collect()
}

/// How rounds went until they were steady, or were given up.
pub(crate) fn rounds(m: &Messages) -> Table<'_, RoundsRow<'_>> {
    Table::<RoundsRow<'_>>::new()
        .column("job", Words, |r| r.own.job.clone())
        .page_column("medium", Words, |r| medium_name(m, r.on.medium))
        .page_column("rounds", Plain, |r| r.own.iops.len())
        .column("window", Plain, |r| {
            let from = r.fit()?.from + 1;
            Some(format!("{from} to {}", from + r.rounds.window - 1))
        })
        .column("mean-iops", Three, |r| r.fit().map(|fit| fit.mean))
        .column("range-percent", Percent, |r| {
            r.limited(|fit| fit.range_percent, r.rounds.range_percent_limit)
        })
        .column("slope-percent", Percent, |r| {
            r.limited(|fit| fit.slope_percent, r.rounds.slope_percent_limit)
        })
        .column("steady", Plain, |r| {
            Some(if r.fit()?.steady {
                Cell::word("steady-", "yes").styled("sound")
            } else {
                Cell::word("steady-", "no").styled("doubtful")
            })
        })
}

/// A stream of requests of a job.
pub(crate) struct StreamRow<'a> {
    job: &'a str,
    stream: &'a BlockStreamInfo,
}

pub(crate) fn stream_rows<'a>(all: &'a [Across<'_>]) -> Vec<StreamRow<'a>> {
    let rows_of = |across: &'a Across<'_>| {
        let streams = across.on.first().map_or(&[][..], |on| &on.job.streams);
        streams.iter().map(|stream| StreamRow {
            job: across.job,
            stream,
        })
    };
    all.iter().flat_map(rows_of).collect()
}

/// What each job asks of a medium, stream by stream.
pub(crate) fn streams(m: &Messages) -> Table<'_, StreamRow<'_>> {
    Table::<StreamRow<'_>>::new()
        .column("job", Words, |r| r.job.to_owned())
        .column("stream", Words, |r| {
            Some(r.stream.name.clone()).filter(|name| !name.is_empty())
        })
        .column("reads-percent", Plain, |r| {
            r.stream.read_percent.to_string()
        })
        .column("random-percent", Plain, |r| {
            r.stream.random_percent.to_string()
        })
        .column("size-of", Words, |r| sizes(m, r.stream))
        .column("depth", Words, |r| depth(r.stream))
        .column("per-second", Three, |r| r.stream.per_second)
        .column("access", Words, |r| r.stream.access.clone())
        .column("compressible", Plain, |r| {
            r.stream.compressible_percent.to_string()
        })
        .column("cache", Words, |r| {
            Cell::word("block-", if r.stream.direct { "direct" } else { "cached" })
        })
        .column("durable", Words, |r| durable(m, r.stream))
}

/// What emulated drives were asked for: of each job the round that stands for it.
pub(crate) fn drive_rows<'a>(all: &'a [Across<'_>]) -> Vec<OpRow<'a>> {
    let rows_of = |on: &&'a OnMedium<'_>| {
        let drives = typical(on.job).map_or(&[][..], |point| &point.drives);
        let job = &on.job.job;
        drives
            .iter()
            .flat_map(move |drive| OpRow::all(job.clone(), drive))
    };
    on_media(all).iter().flat_map(rows_of).collect()
}
