//! Steps on media themselves, for table and page.

pub(crate) mod tables;

use plimsoll_analysis::summary::{
    BlockJobSummary, BlockMedium, BlockOpSummary, BlockPointSummary, BlockSummary, FigureId,
    FigureSet, Rounds,
};
use plimsoll_plan::units::Bytes;
use plimsoll_record::BlockStreamInfo;

use crate::medium;
use crate::message::Messages;
use crate::number::percent;
use crate::outcome::Outcome;

pub(crate) fn heading(m: &Messages, step: &BlockSummary) -> String {
    let args = [
        ("step", step.step.clone()),
        ("workload", step.workload.clone()),
    ];
    m.text_with("block-heading", &args)
}

pub(crate) fn notes(m: &Messages, step: &BlockSummary) -> Vec<String> {
    let mut notes = Vec::new();
    if !step.profile.is_empty() {
        notes.push(m.text_with("block-profile", &[("profile", step.profile.clone())]));
    }
    if let [only] = step.media.as_slice() {
        notes.push(m.text_with("block-on", &[("medium", medium_name(m, only))]));
    }
    let mut workers: Vec<String> = step.media.iter().map(|own| workers(m, own)).collect();
    // Once where it is the same on all.
    if workers.windows(2).all(|pair| pair[0] == pair[1]) {
        workers.truncate(1);
        notes.append(&mut workers);
    } else {
        let media = step.media.iter().zip(workers);
        notes.extend(media.map(|(medium, text)| format!("{}: {text}", medium.medium)));
    }
    notes
}

fn workers(m: &Messages, medium: &BlockMedium) -> String {
    let id = if medium.workers == 1 {
        "block-worker"
    } else {
        "block-workers"
    };
    let args = [
        ("workers", medium.workers.to_string()),
        ("size", size(medium.worker_bytes)),
    ];
    m.text_with(id, &args)
}

pub(crate) fn drives(m: &Messages, step: &BlockSummary) -> Vec<String> {
    let emulated = step.media.iter().filter(|medium| medium.drive.is_some());
    emulated
        .map(|own| {
            let drive = medium::emulated(m, own.drive.as_ref());
            if step.media.len() > 1 {
                format!("{}: {drive}", own.medium)
            } else {
                drive
            }
        })
        .collect()
}

/// Which point: `RND4K Q8T2 read at 75 %, round 3, corners, fast`.
pub(crate) fn place(
    m: &Messages,
    step: &BlockSummary,
    medium: &BlockMedium,
    job: &BlockJobSummary,
    point: &BlockPointSummary,
) -> String {
    let name = match point.share_percent {
        Some(share) => m.text_with(
            "block-at",
            &[("job", job.job.clone()), ("share", limit(share))],
        ),
        None => job.job.clone(),
    };
    let mut args = vec![
        ("job", name),
        ("step", step.step.clone()),
        ("medium", medium.medium.clone()),
    ];
    if job.points.len() < 2 {
        return m.text_with("block-point", &args);
    }
    args.push(("round", (point.round + 1).to_string()));
    m.text_with("block-point-round", &args)
}

/// A job on all media that it was run on.
pub(crate) struct Across<'a> {
    pub job: &'a str,
    pub on: Vec<OnMedium<'a>>,
}

pub(crate) struct OnMedium<'a> {
    /// Index into the step's media: the same color in every chart.
    pub place: usize,
    /// Whether the step has several media.
    pub several: bool,
    pub medium: &'a BlockMedium,
    pub job: &'a BlockJobSummary,
}

/// All jobs of a step, in the order of the workload.
pub(crate) fn across(step: &BlockSummary) -> Vec<Across<'_>> {
    let several = step.media.len() > 1;
    let mut all: Vec<(u32, Across<'_>)> = Vec::new();
    for (place, medium) in step.media.iter().enumerate() {
        for job in &medium.jobs {
            let own = OnMedium {
                place,
                several,
                medium,
                job,
            };
            match all.iter_mut().find(|(index, _)| *index == job.job_index) {
                Some((_, found)) => found.on.push(own),
                None => {
                    let job_name = &job.job;
                    let on = vec![own];
                    all.push((job.job_index, Across { job: job_name, on }));
                }
            }
        }
    }
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, across)| across).collect()
}

/// The round that stands for all where only one can.
pub(crate) fn typical(job: &BlockJobSummary) -> Option<&BlockPointSummary> {
    job.points.get(job.typical?)
}

pub(crate) fn medium_name(m: &Messages, medium: &BlockMedium) -> String {
    medium::name(m, &medium.medium, medium.drive.is_some())
}

/// `4 KiB`, `1 MiB`, `1.5 GiB`: sizes of requests and files are round.
fn size(bytes: u64) -> String {
    Bytes(bytes).to_string().replacen(".0 ", " ", 1)
}

/// As people in the field write it: requests in flight of each thread, and threads.
pub(crate) fn depth(stream: &BlockStreamInfo) -> String {
    format!("Q{}T{}", stream.depth, stream.threads)
}

/// Sizes of the requests that occur; of reads and writes apart where they differ.
pub(crate) fn sizes(m: &Messages, stream: &BlockStreamInfo) -> String {
    let reads = shares(&stream.read_sizes);
    let writes = shares(&stream.write_sizes);
    match stream.read_percent {
        100 => reads,
        0 => writes,
        _ if stream.read_sizes == stream.write_sizes => reads,
        _ => m.text_with("block-sizes", &[("reads", reads), ("writes", writes)]),
    }
}

/// `4 KiB`, `4 KiB 70 %, 64 KiB 30 %`.
fn shares(sizes: &[(u64, u32)]) -> String {
    if let [(bytes, _)] = sizes {
        return size(*bytes);
    }
    let shares = sizes.iter();
    let shares = shares.map(|(bytes, percent)| format!("{} {percent} %", size(*bytes)));
    shares.collect::<Vec<_>>().join(", ")
}

/// How writes become durable.
pub(crate) fn durable(m: &Messages, stream: &BlockStreamInfo) -> String {
    match stream.sync.split_once(':') {
        Some(("flush", "1")) => m.text("block-sync-flush-each"),
        Some(("flush", every)) => m.text_with("block-sync-flush", &[("every", every.to_owned())]),
        _ if stream.sync == "each_write" => m.text("block-sync-each-write"),
        _ => m.text("block-sync-none"),
    }
}

/// With which round a medium was steady, or that it was not.
pub(crate) fn outcome(m: &Messages, medium: &BlockMedium, rounds: &Rounds) -> Outcome {
    let name = ("medium", medium_name(m, medium));
    match rounds.reached_at {
        Some(at) => {
            let last = at + 1;
            let first = last.saturating_sub(rounds.window) + 1;
            let args = [
                name,
                ("last", last.to_string()),
                ("first", first.to_string()),
            ];
            Outcome {
                verdict: "valid",
                text: m.text_with("block-steady", &args),
            }
        }
        None => {
            let done = rounds.jobs.iter().map(|job| job.iops.len());
            let args = [
                name,
                ("rounds", done.max().unwrap_or_default().to_string()),
                ("most", rounds.most_rounds.to_string()),
            ];
            Outcome {
                verdict: "doubtful",
                text: m.text_with("block-not-steady", &args),
            }
        }
    }
}

/// Limits are round: `20`.
pub(crate) fn limit(value: f64) -> String {
    percent(value).trim_end_matches(".0").to_owned()
}

/// The writes of a stream that become durable, in the round that stands for all.
pub(crate) struct DurableWrites<'a> {
    /// Threads that write, over all workers.
    pub writers: u32,
    pub job: &'a str,
    pub on: &'a OnMedium<'a>,
    pub stream: &'a BlockStreamInfo,
    pub write: Option<&'a BlockOpSummary>,
    /// `None` where writes are durable by themselves.
    pub sync: Option<&'a BlockOpSummary>,
}

impl<'a> DurableWrites<'a> {
    fn new(job: &'a str, on: &'a OnMedium<'a>, stream: &'a BlockStreamInfo) -> Self {
        Self {
            writers: on.medium.workers.saturating_mul(stream.threads),
            job,
            on,
            stream,
            write: requests(on, stream, "write"),
            sync: requests(on, stream, "sync"),
        }
    }

    pub fn name(&self) -> String {
        if self.stream.name.is_empty() {
            self.job.to_owned()
        } else {
            format!("{}, {}", self.job, self.stream.name)
        }
    }

    /// How long a writer waits: for the flush, or with `O_DSYNC` for the write.
    pub fn waits(&self) -> Option<&'a FigureSet> {
        Some(&self.sync.or(self.write)?.figures)
    }
}

/// A stream's requests of one kind.
fn requests<'a>(
    on: &'a OnMedium<'_>,
    stream: &BlockStreamInfo,
    op: &str,
) -> Option<&'a BlockOpSummary> {
    let name = format!("{} {op}", stream.name);
    let mut ops = on.job.by_op.iter();
    ops.find(|found| found.op == name.trim_start())
}

/// By rising number of writers; those of one job stay together.
pub(crate) fn durable_writes<'a>(all: &'a [Across<'a>]) -> Vec<DurableWrites<'a>> {
    let mut jobs: Vec<Vec<DurableWrites<'_>>> = all.iter().map(durable_writes_of).collect();
    jobs.sort_by_key(|own| own.iter().map(|durable| durable.writers).max());
    jobs.into_iter().flatten().collect()
}

fn durable_writes_of<'a>(across: &'a Across<'a>) -> Vec<DurableWrites<'a>> {
    let mut rows = Vec::new();
    for on in &across.on {
        let streams = on.job.streams.iter();
        let durable = streams.filter(|own| own.read_percent < 100 && own.sync != "none");
        rows.extend(durable.map(|stream| DurableWrites::new(across.job, on, stream)));
    }
    rows
}

/// The lowest of the workers that have the figure.
pub(crate) fn lowest(point: &BlockPointSummary, figure: FigureId) -> Option<f64> {
    of_workers(point, figure).reduce(f64::min)
}

/// The highest of the workers that have the figure.
pub(crate) fn highest(point: &BlockPointSummary, figure: FigureId) -> Option<f64> {
    of_workers(point, figure).reduce(f64::max)
}

fn of_workers(point: &BlockPointSummary, figure: FigureId) -> impl Iterator<Item = f64> {
    let workers = point.workers.iter();
    workers.filter_map(move |own| own.figures.value(figure))
}
