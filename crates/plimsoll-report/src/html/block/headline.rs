//! What stands first where no transactions were run: the highest IOPS, with the highest MB/s and the lowest latency.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{BlockFigures, BlockJobSummary, BlockMedium, Verdict};

use super::super::HeadlineView;
use super::typical;
use crate::message::Messages;
use crate::number::{three, whole};

type Found<'a> = (&'a BlockMedium, &'a BlockJobSummary, BlockFigures);

/// `None` where no figure can be used.
pub(in crate::html) fn headline(m: &Messages, summary: &Summary) -> Option<HeadlineView> {
    let media = summary.blocks.iter().flat_map(|step| &step.media);
    let jobs = media.flat_map(|medium| medium.jobs.iter().map(move |job| (medium, job)));
    let usable = jobs.filter(|(_, job)| job.verdict < Verdict::Invalid);
    let all: Vec<Found<'_>> = usable
        .filter_map(|(medium, job)| Some((medium, job, job.figures?)))
        .collect();
    let most = |of: fn(BlockFigures) -> f64| {
        all.iter()
            .max_by(|(.., a), (.., b)| of(*a).total_cmp(&of(*b)))
    };
    let (medium, job, figures) = most(|figures| figures.iops.median)?;
    let ends = |low: f64, high: f64| [("low", three(low)), ("high", three(high))];
    let interval = match figures.iops.interval {
        Some(i) => m.text_with("headline-interval", &ends(i.low, i.high)),
        None if figures.rounds > 1 => {
            m.text_with("headline-spread", &ends(figures.iops.min, figures.iops.max))
        }
        None => m.text("headline-no-interval"),
    };
    let measured = typical(job).map_or(0.0, |point| point.measured_s);
    let args = [
        ("job", job.job.clone()),
        ("medium", medium.medium.clone()),
        ("rounds", figures.rounds.to_string()),
        ("measured", three(measured)),
    ];
    let place = m.text_with(
        if figures.rounds > 1 {
            "headline-block-median"
        } else {
            "headline-block-where"
        },
        &args,
    );
    let mut beside = vec![
        (
            format!("{} µs", three(figures.mean_us.median)),
            m.text("headline-block-mean"),
        ),
        (
            format!("{} µs", three(figures.p99_us.median)),
            m.text("headline-block-p99"),
        ),
    ];
    let about = |id: &str, (medium, job, _): &Found<'_>| {
        m.text_with(
            id,
            &[("job", job.job.clone()), ("medium", medium.medium.clone())],
        )
    };
    if let Some(found) = most(|figures| figures.mb_per_second.median) {
        let value = format!("{} MB/s", three(found.2.mb_per_second.median));
        beside.push((value, about("headline-block-mb", found)));
    }
    if let Some(found) = most(|figures| -figures.mean_us.median) {
        let value = format!("{} µs", three(found.2.mean_us.median));
        beside.push((value, about("headline-block-lowest", found)));
    }
    Some(HeadlineView {
        kicker: m.text("headline-block-kicker"),
        value: whole(figures.iops.median),
        unit: m.text("chart-block-iops"),
        interval,
        place,
        drive: medium
            .drive
            .clone()
            .map(|drive| m.text_with("emulated-drive", &[("drive", drive)]))
            .unwrap_or_default(),
        verdict: job.verdict.name(),
        verdict_word: m.text(&format!("verdict-{}", job.verdict.name())),
        beside,
    })
}
