//! Steps on media themselves, for table and page.

pub(crate) mod tables;

use plimsoll_analysis::summary::{
    BlockJobSummary, BlockLatency, BlockMedium, BlockOpSummary, BlockPointSummary, BlockSummary,
    BlockWorkerSummary, Rounds,
};
use plimsoll_plan::units::Bytes;
use plimsoll_record::BlockStreamInfo;

use crate::compare;
use crate::message::Messages;
use crate::number::percent;

pub(crate) fn heading(m: &Messages, step: &BlockSummary) -> String {
    m.text_with(
        "block-heading",
        &[
            ("step", step.step.clone()),
            ("workload", step.workload.clone()),
        ],
    )
}

pub(crate) fn notes(m: &Messages, step: &BlockSummary) -> Vec<String> {
    let profile = ("profile", step.profile.clone());
    let mut notes: Vec<String> = if step.profile.is_empty() {
        Vec::new()
    } else {
        vec![m.text_with("block-profile", &[profile])]
    };
    if let [only] = step.media.as_slice() {
        notes.push(m.text_with("block-on", &[("medium", medium_name(m, only))]));
    }
    // Once where it is the same on all.
    let on = |medium: &BlockMedium| {
        let args = [
            ("workers", medium.workers.to_string()),
            ("size", size(medium.worker_bytes)),
        ];
        m.text_with(
            if medium.workers == 1 {
                "block-worker"
            } else {
                "block-workers"
            },
            &args,
        )
    };
    let mut texts: Vec<String> = step.media.iter().map(on).collect();
    if texts.windows(2).all(|pair| pair[0] == pair[1]) {
        texts.truncate(1);
        notes.append(&mut texts);
    } else {
        notes.extend(
            step.media
                .iter()
                .zip(texts)
                .map(|(medium, text)| format!("{}: {text}", medium.medium)),
        );
    }
    notes
}

pub(crate) fn drives(m: &Messages, step: &BlockSummary) -> Vec<String> {
    let drive = |medium: &BlockMedium| {
        let drive = m.text_with("emulated-drive", &[("drive", medium.drive.clone()?)]);
        Some(if step.media.len() > 1 {
            format!("{}: {drive}", medium.medium)
        } else {
            drive
        })
    };
    step.media.iter().filter_map(drive).collect()
}

/// Which point: `RND4K Q8T2 read at 75 %, round 3, corners, fast`.
pub(crate) fn place(
    m: &Messages,
    step: &BlockSummary,
    medium: &BlockMedium,
    job: &BlockJobSummary,
    point: &BlockPointSummary,
) -> String {
    let job_of = |share| {
        m.text_with(
            "block-at",
            &[("job", job.job.clone()), ("share", limit(share))],
        )
    };
    let name = point.share_percent.map_or_else(|| job.job.clone(), job_of);
    let args = [
        ("job", name),
        ("step", step.step.clone()),
        ("medium", medium.medium.clone()),
    ];
    if job.points.len() < 2 {
        return m.text_with("block-point", &args);
    }
    let [job, step, medium] = args;
    m.text_with(
        "block-point-round",
        &[job, ("round", (point.round + 1).to_string()), step, medium],
    )
}

/// A job on all media that it was run on.
pub(crate) struct Across<'a> {
    pub job: &'a str,
    pub on: Vec<OnMedium<'a>>,
}

pub(crate) struct OnMedium<'a> {
    /// Index into the step's media: the same colour in every chart.
    pub place: usize,
    pub medium: &'a BlockMedium,
    pub job: &'a BlockJobSummary,
}

/// All jobs of a step, in the order of the workload.
pub(crate) fn across(step: &BlockSummary) -> Vec<Across<'_>> {
    let mut all: Vec<(u32, Across<'_>)> = Vec::new();
    for (place, medium) in step.media.iter().enumerate() {
        for job in &medium.jobs {
            let own = OnMedium { place, medium, job };
            match all.iter_mut().find(|(index, _)| *index == job.job_index) {
                Some((_, found)) => found.on.push(own),
                None => all.push((
                    job.job_index,
                    Across {
                        job: &job.job,
                        on: vec![own],
                    },
                )),
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
    compare::medium(m, &medium.medium, medium.drive.is_some())
}

/// `4 KiB`, `1 MiB`, `1.5 GiB`: sizes of requests and files are round.
pub(crate) fn size(bytes: u64) -> String {
    Bytes(bytes).to_string().replacen(".0 ", " ", 1)
}

/// As people in the field write it: requests in flight of each thread, and threads.
pub(crate) fn depth(stream: &BlockStreamInfo) -> String {
    format!("Q{}T{}", stream.depth, stream.threads)
}

/// Sizes of the requests that occur; of reads and writes apart where they differ.
pub(crate) fn sizes(m: &Messages, stream: &BlockStreamInfo) -> String {
    let describe = |sizes: &[(u64, u32)]| match sizes {
        [(bytes, _)] => size(*bytes),
        several => {
            let share = |(bytes, percent): &(u64, u32)| format!("{} {percent} %", size(*bytes));
            several.iter().map(share).collect::<Vec<_>>().join(", ")
        }
    };
    let (reads, writes) = (describe(&stream.read_sizes), describe(&stream.write_sizes));
    match stream.read_percent {
        100 => reads,
        0 => writes,
        _ if stream.read_sizes == stream.write_sizes => reads,
        _ => m.text_with("block-sizes", &[("reads", reads), ("writes", writes)]),
    }
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

pub(crate) fn outcome(m: &Messages, medium: String, rounds: &Rounds) -> (&'static str, String) {
    let done = rounds
        .jobs
        .iter()
        .map(|job| job.iops.len())
        .max()
        .unwrap_or_default();
    match rounds.reached_at {
        Some(at) => {
            let last = at + 1;
            let first = last.saturating_sub(rounds.window) + 1;
            let args = [
                ("medium", medium),
                ("last", last.to_string()),
                ("first", first.to_string()),
            ];
            ("sound", m.text_with("block-steady", &args))
        }
        None => {
            let args = [
                ("medium", medium),
                ("rounds", done.to_string()),
                ("most", rounds.most_rounds.to_string()),
            ];
            ("doubtful", m.text_with("block-not-steady", &args))
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

impl DurableWrites<'_> {
    pub fn name(&self) -> String {
        if self.stream.name.is_empty() {
            self.job.to_owned()
        } else {
            format!("{}, {}", self.job, self.stream.name)
        }
    }

    /// How long a writer waits: for the flush, or with `O_DSYNC` for the write.
    pub fn waits(&self) -> Option<BlockLatency> {
        self.sync.or(self.write)?.latency
    }
}

/// By rising number of writers; those of one job stay together.
pub(crate) fn durable_writes<'a>(all: &'a [Across<'a>]) -> Vec<DurableWrites<'a>> {
    let of_stream = |job: &'a str, on: &'a OnMedium<'a>, stream: &'a BlockStreamInfo| {
        let named = |op: &str| {
            if stream.name.is_empty() {
                op.to_owned()
            } else {
                format!("{} {op}", stream.name)
            }
        };
        let by_op = typical(on.job)
            .map(|point| point.by_op.as_slice())
            .unwrap_or_default();
        let of = |op: &str| by_op.iter().find(|found| found.op == named(op));
        let writers = on.medium.workers.saturating_mul(stream.threads);
        DurableWrites {
            writers,
            job,
            on,
            stream,
            write: of("write"),
            sync: of("sync"),
        }
    };
    let of_job = |across: &'a Across<'a>| -> Vec<DurableWrites<'a>> {
        let durable =
            |stream: &&BlockStreamInfo| stream.read_percent < 100 && stream.sync != "none";
        let on = across.on.iter().flat_map(|on| {
            on.job
                .streams
                .iter()
                .filter(durable)
                .map(move |stream| (on, stream))
        });
        on.map(|(on, stream)| of_stream(across.job, on, stream))
            .collect()
    };
    let mut jobs: Vec<Vec<DurableWrites<'_>>> = all.iter().map(of_job).collect();
    jobs.sort_by_key(|own| own.iter().map(|durable| durable.writers).max());
    jobs.into_iter().flatten().collect()
}

/// The lowest and the highest of the workers that have the figure.
pub(crate) fn worker_ends(
    point: &BlockPointSummary,
    of: fn(&BlockWorkerSummary) -> Option<f64>,
) -> (Option<f64>, Option<f64>) {
    let all = || point.workers.iter().filter_map(of);
    (all().reduce(f64::min), all().reduce(f64::max))
}
