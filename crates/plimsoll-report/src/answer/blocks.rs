//! Block benchmarks: the rate of each job, against the data sheet where there is one.

use plimsoll_analysis::answer::BlockAnswer;
use plimsoll_analysis::summary::{FigureId, MediumSpeed, Verdict, is_like_speed};

use super::words::{
    AnswerParts, and, distinct, interval, intervals_drawn, medium_at_speed, speeds, with_p99,
};
use crate::message::Messages;
use crate::number::{three, whole};
use crate::svg::chart::{Chart, PlotBar, bars};
use crate::svg::color::MediumColors;
use crate::table::Unit::{Plain, Three, Whole, Words};
use crate::table::{Table, filled};

/// Rows of the small table and bars; the report's sections have all jobs.
const MOST_JOBS: usize = 8;
/// Within so much of the data sheet a drive does what it states, in percent.
const SHEET_TOLERANCE: f64 = 10.0;

pub(super) fn parts<'a>(
    m: &Messages,
    jobs: &'a [BlockAnswer],
    colors: MediumColors<'_>,
) -> AnswerParts<'a> {
    let listed = &jobs[..jobs.len().min(MOST_JOBS)];
    AnswerParts {
        sentences: sentences(m, jobs, listed.len()),
        table: filled(table(), listed.iter().collect()),
        chart: chart(m, listed, colors),
        limited_by: Vec::new(),
    }
}

/// In order.
fn media(jobs: &[BlockAnswer]) -> Vec<&str> {
    distinct(jobs.iter().map(|job| job.medium.as_str()))
}

fn sentences(m: &Messages, jobs: &[BlockAnswer], listed: usize) -> Vec<String> {
    let first = ratios(m, jobs).or_else(|| rates(m, jobs));
    let first = first.unwrap_or_else(|| m.text("answer-none-nothing"));
    let mut sentences: Vec<String> = unlike_speeds(m, jobs).into_iter().chain([first]).collect();
    let media = media(jobs);
    sentences.extend(uncertain(m, jobs));
    sentences.extend(real(m, jobs));
    sentences.extend(media.iter().filter_map(|own| left_out(m, jobs, own)));
    sentences.extend(media.iter().filter_map(|own| against_sheet(m, jobs, own)));
    if listed < jobs.len() {
        let args = [("more", (jobs.len() - listed).to_string())];
        sentences.push(m.text_with("answer-block-more", &args));
    }
    sentences
}

fn is_valid(job: &&BlockAnswer) -> bool {
    job.verdict < Verdict::Invalid
}

/// Media that ran at another speed than the first one: they have no ratio.
fn unlike_speeds(m: &Messages, jobs: &[BlockAnswer]) -> Option<String> {
    let slower = jobs.first()?.slower;
    let is_unlike = |job: &BlockAnswer| !is_like_speed(job.slower, slower);
    jobs.iter().any(is_unlike).then(|| {
        let speed = |job: &BlockAnswer| MediumSpeed {
            medium: job.medium.clone(),
            slower: job.slower.unwrap_or(1.0),
        };
        let media = distinct(jobs.iter().map(speed));
        m.text_with("answer-speeds", &[("speeds", speeds(m, &media))])
    })
}

/// Media that are compared with the first, where one of both is real and the other emulated.
fn real(m: &Messages, jobs: &[BlockAnswer]) -> Option<String> {
    let first = jobs.first()?;
    let compared = jobs.iter().filter(|job| job.ratio.is_some());
    let is_mixed = |job: &BlockAnswer| job.drive.is_some() != first.drive.is_some();
    compared.clone().any(is_mixed).then(|| {
        let all = [first].into_iter().chain(compared);
        let real = all.filter(|job| job.drive.is_none());
        let real = distinct(real.map(|job| job.medium.clone()));
        m.text_with("answer-real-emulated", &[("real", and(m, real))])
    })
}

/// A medium of which no job is valid.
fn left_out(m: &Messages, jobs: &[BlockAnswer], medium: &str) -> Option<String> {
    let mut own = jobs.iter().filter(|job| job.medium == medium);
    let is_left_out = own.all(|job| job.verdict == Verdict::Invalid);
    is_left_out.then(|| m.text_with("answer-left-out", &[("media", medium.to_owned())]))
}

/// Jobs whose ratio is too uncertain for the sentence.
fn uncertain(m: &Messages, jobs: &[BlockAnswer]) -> Option<String> {
    let ratios = jobs.iter().filter_map(|job| job.ratio);
    let n = ratios.filter(|own| own.is_uncertain()).count();
    (n > 0).then(|| m.text_with("answer-block-uncertain", &[("n", n.to_string())]))
}

/// Of the medium with the highest rate, of those at the speed of the first: that job, and the one that moves most.
fn rates(m: &Messages, jobs: &[BlockAnswer]) -> Option<String> {
    let slower = jobs.iter().find(is_valid)?.slower;
    let valid = || {
        jobs.iter()
            .filter(is_valid)
            .filter(|job| is_like_speed(job.slower, slower))
    };
    let fastest = valid().max_by(|a, b| a.iops.value.total_cmp(&b.iops.value))?;
    let own = valid().filter(|job| job.medium == fastest.medium);
    let widest = own.max_by(|a, b| a.mb_per_second.total_cmp(&b.mb_per_second))?;
    let args = [
        ("medium", fastest.medium.clone()),
        ("job", fastest.job.clone()),
        ("iops", three(fastest.iops.value)),
        ("interval", interval(m, fastest.iops.interval)),
        ("p99", with_p99(m, fastest.p99_us.map(|us| us / 1e3))),
        ("wide", widest.job.clone()),
        ("mb", three(widest.mb_per_second)),
    ];
    let id = if fastest.job == widest.job {
        "answer-block-one"
    } else {
        "answer-block"
    };
    Some(m.text_with(id, &args))
}

/// Of several media: between which ratios to the first one their jobs are.
fn ratios(m: &Messages, jobs: &[BlockAnswer]) -> Option<String> {
    let media = media(jobs);
    let (first, others) = media.split_first()?;
    let of_medium = |medium: &&str| {
        let own = jobs.iter().filter(|job| job.medium == **medium);
        let own = own.filter_map(|job| job.ratio);
        let own: Vec<f64> = own
            .filter(|ratio| !ratio.is_uncertain())
            .map(|own| own.ratio)
            .collect();
        let low = own.iter().copied().reduce(f64::min)?;
        let high = own.iter().copied().reduce(f64::max)?;
        let args = [
            ("medium", (*medium).to_owned()),
            ("low", three(low)),
            ("high", three(high)),
        ];
        let id = if own.len() == 1 {
            "answer-block-ratio"
        } else {
            "answer-block-ratios"
        };
        Some(m.text_with(id, &args))
    };
    let ratios: Vec<String> = others.iter().filter_map(of_medium).collect();
    (!ratios.is_empty()).then(|| {
        let args = [("ratios", and(m, ratios)), ("first", (*first).to_owned())];
        m.text_with("answer-block-media", &args)
    })
}

fn against_sheet(m: &Messages, jobs: &[BlockAnswer], medium: &str) -> Option<String> {
    let own = jobs.iter().filter(|job| job.medium == medium);
    let percents: Vec<f64> = own.filter_map(|job| job.sheet_percent).collect();
    let [low, high] = [
        percents.iter().copied().reduce(f64::min)?,
        percents.iter().copied().reduce(f64::max)?,
    ]
    .map(whole);
    let near = percents
        .iter()
        .filter(|percent| (**percent - 100.0).abs() <= SHEET_TOLERANCE)
        .count();
    let args = [
        ("medium", medium.to_owned()),
        ("near", near.to_string()),
        ("all", percents.len().to_string()),
        ("tolerance", whole(SHEET_TOLERANCE)),
        ("high", high.clone()),
        ("low", low.clone()),
    ];
    let id = if low == high {
        "answer-block-sheet-one"
    } else {
        "answer-block-sheet"
    };
    Some(m.text_with(id, &args))
}

/// In percent of the data sheet where every job has one, else IOPS.
fn chart(m: &Messages, jobs: &[BlockAnswer], colors: MediumColors<'_>) -> Option<Chart> {
    let media = media(jobs);
    let of_sheet = jobs.iter().all(|job| job.sheet_percent.is_some());
    let bar = |job: &BlockAnswer| {
        PlotBar::of(
            match media.len() {
                1 => job.job.clone(),
                _ => format!(
                    "{} · {}",
                    medium_at_speed(m, &job.medium, job.slower),
                    job.job
                ),
            },
            colors.of(Some(&job.medium), 0),
            job.sheet_percent
                .filter(|_| of_sheet)
                .unwrap_or(job.iops.value),
            job.iops
                .interval
                .filter(|_| !of_sheet)
                .map(|own| [own.low, own.high]),
            job.verdict,
        )
    };
    let all: Vec<PlotBar> = jobs.iter().map(bar).collect();
    let heading = if of_sheet {
        m.text("answer-chart-sheet")
    } else {
        m.text_with("answer-chart-iops", &[intervals_drawn(m, &all)])
    };
    bars(m, heading, &all)
}

pub(crate) fn table<'a>() -> Table<'a, &'a BlockAnswer> {
    Table::<&BlockAnswer>::new("answer-blocks")
        .prefix("answered-")
        .column("job", Words, |own| own.job.clone())
        .message("medium", Words, |own, m| {
            medium_at_speed(m, &own.medium, own.slower)
        })
        .figure(FigureId::Iops, |own| own.iops)
        .figure(FigureId::MbPerSecond, |own| own.mb_per_second)
        .figure(FigureId::P99, |own| own.p99_us.map(|us| us / 1e3))
        .column("ratio", Three, |own| Some(own.ratio?.ratio))
        .if_any(|own| own.ratio.is_some())
        .column("sheet", Whole, |own| own.sheet_percent)
        .if_any(|own| own.sheet_percent.is_some())
        .column("verdict", Plain, |own| own.verdict)
        .blank_repeats(1)
        .spare(&["p99"])
}
