//! The answer of block benchmarks: each job's rate, against the data sheet where the drive is emulated.

use plimsoll_record::BlockStreamInfo;
use serde::Serialize;

use super::refused::{LoadPlace, RefusedFigures};
use crate::emulated::{DataSheet, StatedRate};
use crate::summary::{
    BlockJobSummary, BlockMedium, BlockSummary, Estimate, FigureId, Ratio, RunFigures, Verdict,
};

/// Drives are near their highest rate with so many in flight, even where the sheet is about more.
const ENOUGH_IN_FLIGHT: u32 = 32;

/// A job on one medium, with as many requests as it can keep in flight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockAnswer {
    pub job: String,
    pub medium: String,
    pub drive: Option<String>,
    /// How many times slower than rated that drive ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    pub iops: Estimate,
    pub mb_per_second: f64,
    /// Median over the rounds, as in all tables.
    pub p99_us: Option<f64>,
    /// IOPS to those of the first medium; `None` where one of them is invalid or ran at another speed.
    pub ratio: Option<Ratio>,
    /// Of what the data sheet states for such requests.
    pub sheet_percent: Option<f64>,
    pub verdict: Verdict,
}

/// Of the first step with figures; `None` where there is none.
pub(super) fn of(
    figures: &RunFigures,
    sheets: &[DataSheet],
    refused: &RefusedFigures<'_>,
) -> Option<Vec<BlockAnswer>> {
    let steps = figures.blocks.iter();
    let mut answers = steps.map(|step| of_step(step, sheets, refused));
    let jobs = answers.find(|own| !own.is_empty())?;
    Some(jobs)
}

/// By job, media beside each other.
fn of_step(
    step: &BlockSummary,
    sheets: &[DataSheet],
    refused: &RefusedFigures<'_>,
) -> Vec<BlockAnswer> {
    // As the audit names sides of a comparison.
    let side = |medium: &BlockMedium| format!("{}, {}", step.step, medium.medium);
    let first = step.media.first().map(side).unwrap_or_default();
    let mut all: Vec<(u32, BlockAnswer)> = Vec::new();
    for medium in &step.media {
        let sheet = sheets.iter().find(|own| own.medium == medium.medium);
        let jobs = medium.jobs.iter();
        let has_ratio = !refused.has_pair(&[&first, &side(medium)]);
        all.extend(jobs.filter_map(|job| {
            let own = answer(medium, job, sheet)?;
            let verdict = verdict(step, medium, job, refused);
            let is_usable = has_ratio && verdict < Verdict::Invalid;
            let ratio = own.ratio.filter(|_| is_usable);
            let sheet_percent = own.sheet_percent.filter(|_| verdict < Verdict::Invalid);
            let own = BlockAnswer {
                ratio,
                sheet_percent,
                verdict,
                ..own
            };
            Some((job.job_index, own))
        }));
    }
    all.sort_by_key(|(job, _)| *job);
    let mut all: Vec<BlockAnswer> = all.into_iter().map(|(_, own)| own).collect();
    without_ratios_to_invalid(&mut all, step);
    all
}

/// The verdict of the job, with those of the audit on its points.
fn verdict(
    step: &BlockSummary,
    medium: &BlockMedium,
    job: &BlockJobSummary,
    refused: &RefusedFigures<'_>,
) -> Verdict {
    let points = job.points.iter().filter(|point| point.counts);
    let points = points.map(|point| {
        let place = LoadPlace::of_block(&step.step, &medium.medium, job, point);
        refused.verdict(place, job.verdict)
    });
    points.fold(job.verdict, Verdict::max)
}

/// A job that the audit refuses on the first medium has nothing to be compared with.
fn without_ratios_to_invalid(all: &mut [BlockAnswer], step: &BlockSummary) {
    let first = step.media.first().map(|own| own.medium.clone());
    let invalid: Vec<String> = all
        .iter()
        .filter(|own| Some(&own.medium) == first.as_ref() && own.verdict == Verdict::Invalid)
        .map(|own| own.job.clone())
        .collect();
    let refused = all.iter_mut().filter(|own| invalid.contains(&own.job));
    refused.for_each(|own| own.ratio = None);
}

fn answer(
    medium: &BlockMedium,
    job: &BlockJobSummary,
    sheet: Option<&DataSheet>,
) -> Option<BlockAnswer> {
    let figures = &job.figures.as_ref()?.figures;
    let iops = figures.get(FigureId::Iops)?;
    let mb_per_second = figures.value(FigureId::MbPerSecond)?;
    let stated = sheet.and_then(|sheet| stated(sheet, medium.workers, &job.streams));
    let percent_of = |stated: &StatedRate| {
        let own = match stated.is_sequential {
            true => mb_per_second * 1e6,
            false => iops.value,
        };
        own * 100.0 / stated.per_second
    };
    Some(BlockAnswer {
        job: job.job.clone(),
        medium: medium.medium.clone(),
        drive: medium.drive.clone(),
        slower: medium.slower.filter(|factor| *factor > 1.0),
        iops,
        mb_per_second,
        p99_us: figures.value(FigureId::P99).map(|ms| ms * 1e3),
        ratio: job
            .against_first
            .as_ref()
            .and_then(|ratios| ratios.get(FigureId::Iops)),
        sheet_percent: stated
            .filter(|_| job.verdict < Verdict::Invalid)
            .map(percent_of),
        verdict: job.verdict,
    })
}

/// What the sheet states for such requests: a job of another size, mix or with fewer in flight is not what it is about.
fn stated<'a>(
    sheet: &'a DataSheet,
    workers: u32,
    streams: &[BlockStreamInfo],
) -> Option<&'a StatedRate> {
    let [stream] = streams else {
        return None;
    };
    let is_read = match stream.read_percent {
        100 => true,
        0 => false,
        _ => return None,
    };
    let is_sequential = match stream.random_percent {
        0 => true,
        100 => false,
        _ => return None,
    };
    let sizes = if is_read {
        &stream.read_sizes
    } else {
        &stream.write_sizes
    };
    let [(size, _)] = sizes.as_slice() else {
        return None;
    };
    let in_flight = workers
        .saturating_mul(stream.threads)
        .saturating_mul(stream.depth);
    let is_plain = stream.direct && stream.per_second.is_none() && stream.sync == "none";
    sheet.rates.iter().find(|stated| {
        let has_size = match is_sequential {
            true => *size >= stated.block_bytes,
            false => *size == stated.block_bytes,
        };
        is_plain
            && (stated.is_read, stated.is_sequential) == (is_read, is_sequential)
            && has_size
            && in_flight >= stated.in_flight.min(ENOUGH_IN_FLIGHT)
    })
}
