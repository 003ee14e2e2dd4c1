//! A step on media themselves: its jobs on each medium, media side by side, curves, durable writes, rounds, workers.

use plimsoll_analysis::summary::{
    BlockJobSummary, BlockLatency, BlockMedium, BlockOpSummary, BlockRatios, BlockSummary,
    RoundsOfJob,
};

use super::{WIDTH, fitted};
use crate::block::{
    Across, OnMedium, across, drives, durable, durable_writes, heading, limit, medium_name, notes,
    outcome, typical, worker_ends,
};
use crate::load_summary;
use crate::message::Messages;
use crate::number::{NONE, or_none, percent, three};

pub(super) fn section(m: &Messages, step: &BlockSummary) -> String {
    let all = across(step);
    let mut head = vec![heading(m, step)];
    head.extend(notes(m, step));
    head.extend(drives(m, step));
    head.push(m.text("text-block-note"));
    if step
        .media
        .iter()
        .flat_map(|medium| &medium.jobs)
        .any(repeated)
    {
        head.push(m.text("block-rounds-note"));
    }
    let mut parts = vec![head.join("\n")];
    parts.extend(
        step.media
            .iter()
            .map(|medium| jobs(m, medium, step.media.len() > 1)),
    );
    parts.extend(
        [side_by_side, curves, durables, workers]
            .iter()
            .filter_map(|table| table(m, step, &all)),
    );
    parts.extend(step.media.iter().filter_map(|medium| rounds(m, medium)));
    format!("{}\n\n", parts.join("\n\n"))
}

fn repeated(job: &BlockJobSummary) -> bool {
    job.figures.is_some_and(|figures| figures.rounds > 1)
}

/// Names that are the same as in the row above are left out.
fn unrepeated(mut rows: Vec<Vec<String>>, names: usize) -> Vec<Vec<String>> {
    for i in (1..rows.len()).rev() {
        let same = (0..names)
            .take_while(|place| rows[i][*place] == rows[i - 1][*place])
            .count();
        rows[i][..same].iter_mut().for_each(String::clear);
    }
    rows
}

const JOBS: [&str; 13] = [
    "text-job",
    "text-repeats",
    "text-in-flight",
    "text-iops",
    "text-interval",
    "text-block-mb",
    "text-mean-us",
    "text-p50-us",
    "text-p95-us",
    "text-p99-us",
    "text-p999-us",
    "text-max-us",
    "text-verdict",
];

/// What each job reached at full speed; where it has several kinds of requests, each of them below it.
fn jobs(m: &Messages, medium: &BlockMedium, several: bool) -> String {
    let mut rows = Vec::new();
    for job in &medium.jobs {
        let point = typical(job);
        let whole = point.and_then(|point| point.latency);
        let figure = |of: fn(&plimsoll_analysis::summary::BlockFigures) -> f64| {
            or_none(job.figures.as_ref().map(of), three)
        };
        let time = |of: fn(&BlockLatency) -> f64| or_none(whole.as_ref().map(of), three);
        rows.push(vec![
            job.job.clone(),
            job.figures
                .map_or_else(|| NONE.to_owned(), |figures| figures.rounds.to_string()),
            point.map_or_else(|| NONE.to_owned(), |point| point.in_flight.to_string()),
            figure(|f| f.iops.median),
            load_summary::half(job.figures.map(|figures| figures.iops)),
            figure(|f| f.mb_per_second.median),
            figure(|f| f.mean_us.median),
            time(|l| l.p50_us),
            time(|l| l.p95_us),
            figure(|f| f.p99_us.median),
            time(|l| l.p999_us),
            time(|l| l.max_us),
            m.text(&format!("verdict-{}", job.verdict.name())),
        ]);
        let ops = point
            .map(|point| point.by_op.as_slice())
            .filter(|ops| ops.len() > 1)
            .unwrap_or_default();
        rows.extend(ops.iter().map(of_op));
    }
    let dispensable = [
        "text-in-flight",
        "text-repeats",
        "text-p95-us",
        "text-interval",
        "text-p50-us",
    ];
    let mut ids = JOBS.to_vec();
    if !medium.jobs.iter().any(repeated) {
        ids.remove(1);
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    let table = fitted(m, &ids, rows, &dispensable, 1);
    if several {
        format!("{}\n{table}", medium_name(m, medium))
    } else {
        table
    }
}

fn of_op(op: &BlockOpSummary) -> Vec<String> {
    let time = |of: fn(&BlockLatency) -> f64| or_none(op.latency.as_ref().map(of), three);
    vec![
        format!("  {}", op.op),
        String::new(),
        String::new(),
        three(op.per_second),
        String::new(),
        or_none(Some(op.mb_per_second).filter(|mb| *mb > 0.0), three),
        time(|l| l.mean_us),
        time(|l| l.p50_us),
        time(|l| l.p95_us),
        time(|l| l.p99_us),
        time(|l| l.p999_us),
        time(|l| l.max_us),
        String::new(),
    ]
}

/// The same job on all media, against the first. `None` of one medium.
fn side_by_side(m: &Messages, step: &BlockSummary, all: &[Across<'_>]) -> Option<String> {
    let first = step.media.first().filter(|_| step.media.len() > 1)?;
    let ids = [
        "text-job",
        "text-medium",
        "text-iops",
        "text-block-mb",
        "text-ratio",
        "text-ratio-interval",
        "text-mean-us",
        "text-mean-ratio",
        "text-verdict",
    ];
    let range = |ratios: BlockRatios| {
        Some(format!(
            "{} to {}",
            three(ratios.iops_low?),
            three(ratios.iops_high?)
        ))
    };
    let row = |on: &OnMedium<'_>| {
        let (figures, ratios) = (on.job.figures, on.job.against_first);
        vec![
            on.job.job.clone(),
            medium_name(m, on.medium),
            or_none(figures.map(|figures| figures.iops.median), three),
            or_none(figures.map(|figures| figures.mb_per_second.median), three),
            or_none(ratios.map(|ratios| ratios.iops), three),
            ratios.and_then(range).unwrap_or_else(|| NONE.to_owned()),
            or_none(figures.map(|figures| figures.mean_us.median), three),
            or_none(ratios.and_then(|ratios| ratios.mean_latency), three),
            m.text(&format!("verdict-{}", on.job.verdict.name())),
        ]
    };
    let rows = unrepeated(
        all.iter()
            .flat_map(|across| across.on.iter().map(row))
            .collect(),
        1,
    );
    let heading = m.text_with(
        "compare-heading",
        &[("step", step.step.clone()), ("first", first.medium.clone())],
    );
    Some(format!(
        "{heading}\n{}",
        fitted(m, &ids, rows, &["text-ratio-interval", "text-block-mb"], 2)
    ))
}

/// Every rate of every curve; full speed stands above it.
fn curves(m: &Messages, _: &BlockSummary, all: &[Across<'_>]) -> Option<String> {
    let ids = [
        "text-job",
        "text-medium",
        "text-offered-share",
        "text-offered",
        "text-iops",
        "text-block-mb",
        "text-mean-us",
        "text-p99-us",
        "text-verdict",
    ];
    let mut rows = Vec::new();
    for on in all.iter().flat_map(|across| &across.on) {
        rows.extend(on.job.curve.iter().map(|at| {
            vec![
                on.job.job.clone(),
                medium_name(m, on.medium),
                limit(at.share_percent),
                three(at.offered_per_second),
                three(at.achieved_per_second),
                three(at.mb_per_second),
                or_none(at.mean_us, three),
                or_none(at.p99_us, three),
                m.text(&format!("verdict-{}", at.verdict.name())),
            ]
        }));
    }
    table(m, "block-curve-title", &ids, rows)
}

fn durables(m: &Messages, _: &BlockSummary, all: &[Across<'_>]) -> Option<String> {
    let ids = [
        "text-job",
        "text-medium",
        "text-writers",
        "text-durable",
        "text-writes-s",
        "text-flushes-s",
        "text-mean-us",
        "text-p50-us",
        "text-p99-us",
        "text-p999-us",
        "text-max-us",
    ];
    let of: [fn(BlockLatency) -> f64; 5] = [
        |l| l.mean_us,
        |l| l.p50_us,
        |l| l.p99_us,
        |l| l.p999_us,
        |l| l.max_us,
    ];
    let row = |own: &crate::block::DurableWrites<'_>| {
        let mut cells = vec![
            own.name(),
            medium_name(m, own.on.medium),
            own.writers.to_string(),
            durable(m, own.stream),
        ];
        cells.extend([own.write, own.sync].map(|op| or_none(op.map(|op| op.per_second), three)));
        cells.extend(of.map(|of| or_none(own.waits().map(of), three)));
        cells
    };
    table(
        m,
        "block-fsync-title",
        &ids,
        durable_writes(all).iter().map(row).collect(),
    )
}

/// The sum over several workers and how far they are apart, in the round that stands for all.
fn workers(m: &Messages, _: &BlockSummary, all: &[Across<'_>]) -> Option<String> {
    let ids = [
        "text-job",
        "text-medium",
        "text-workers",
        "text-iops",
        "text-block-mb",
        "text-lowest",
        "text-highest",
        "text-cv",
        "text-p99-lowest",
        "text-p99-highest",
    ];
    let row = |on: &OnMedium<'_>| {
        let point = typical(on.job).filter(|point| point.workers.len() > 1)?;
        let (lowest, highest) = worker_ends(point, |worker| Some(worker.iops));
        let (least_p99, most_p99) = worker_ends(point, |worker| worker.p99_us);
        let figures = [point.iops, point.mb_per_second, lowest, highest];
        let mut cells = vec![
            on.job.job.clone(),
            medium_name(m, on.medium),
            point.workers.len().to_string(),
        ];
        cells.extend(figures.map(|figure| or_none(figure, three)));
        cells.push(or_none(point.workers_cv_percent, percent));
        cells.extend([least_p99, most_p99].map(|p99| or_none(p99, three)));
        Some(cells)
    };
    table(
        m,
        "block-workers-title",
        &ids,
        all.iter()
            .flat_map(|across| across.on.iter().filter_map(row))
            .collect(),
    )
}

/// A table whose first two columns are names. `None` without rows.
fn table(m: &Messages, title: &str, ids: &[&str], rows: Vec<Vec<String>>) -> Option<String> {
    let dispensable = [
        "text-block-mb",
        "text-p999-us",
        "text-p50-us",
        "text-p99-lowest",
    ];
    let shown = || fitted(m, ids, unrepeated(rows.clone(), 2), &dispensable, 2);
    (!rows.is_empty()).then(|| format!("{}\n{}", m.text(title), shown()))
}

/// How rounds went until they were steady, or were given up.
fn rounds(m: &Messages, medium: &BlockMedium) -> Option<String> {
    let rounds = medium.rounds.as_ref()?;
    let ids = [
        "text-job",
        "text-window",
        "text-mean-iops",
        "text-range",
        "text-slope",
        "text-steady",
    ];
    let row = |own: &RoundsOfJob| {
        let Some(fit) = own.fit else {
            return [vec![own.job.clone()], vec![NONE.to_owned(); 5]].concat();
        };
        let window = format!("{} to {}", fit.from + 1, fit.from + rounds.window);
        let steady = m.text(if fit.steady {
            "steady-yes"
        } else {
            "steady-no"
        });
        let of = [
            three(fit.mean),
            percent(fit.range_percent),
            percent(fit.slope_percent),
            steady,
        ];
        [vec![own.job.clone(), window], of.into()].concat()
    };
    let table = fitted(m, &ids, rounds.jobs.iter().map(row).collect(), &[], 1);
    let mut lines = vec![outcome(m, medium_name(m, medium), rounds).1, table];
    lines.extend(rounds.jobs.iter().map(|own| by_round(m, own)));
    Some(lines.join("\n"))
}

/// IOPS of all rounds, over as many lines as they need.
fn by_round(m: &Messages, own: &RoundsOfJob) -> String {
    let mut line = m.text_with("text-by-round", &[("job", own.job.clone())]);
    let mut lines = Vec::new();
    for iops in own.iops.iter().copied().map(three) {
        if line.chars().count() + 1 + iops.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, " ".to_owned()));
        }
        line = format!("{line} {iops}");
    }
    lines.push(line);
    lines.join("\n")
}
