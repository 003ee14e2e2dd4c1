//! What stands first where no transactions were run: the highest IOPS, with the highest MB/s and the lowest latency.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{BlockFigures, BlockJobSummary, BlockMedium, Verdict};

use super::super::headline::{Beside, HeadlineView, certainty, word};
use crate::block::typical;
use crate::medium;
use crate::message::Messages;
use crate::number::{three, whole};

/// A job with usable figures.
struct HeadlineJob<'a> {
    medium: &'a BlockMedium,
    own: &'a BlockJobSummary,
    figures: BlockFigures,
}

impl HeadlineJob<'_> {
    /// A sentence about it.
    fn text(&self, m: &Messages, id: &str) -> String {
        let point = typical(self.own);
        let args = [
            ("job", self.own.job.clone()),
            ("medium", self.medium.medium.clone()),
            ("rounds", self.figures.rounds.to_string()),
            ("measured", three(point.map_or(0.0, |own| own.measured_s))),
        ];
        m.text_with(id, &args)
    }
}

fn usable(summary: &Summary) -> Vec<HeadlineJob<'_>> {
    let mut jobs = Vec::new();
    for medium in summary.figures.blocks.iter().flat_map(|step| &step.media) {
        let own = medium.jobs.iter();
        let usable = own.filter(|job| job.verdict < Verdict::Invalid);
        jobs.extend(usable.filter_map(|own| {
            let figures = own.figures?;
            Some(HeadlineJob {
                medium,
                own,
                figures,
            })
        }));
    }
    jobs
}

fn highest<'a, 'b>(
    jobs: &'b [HeadlineJob<'a>],
    of: fn(BlockFigures) -> f64,
) -> Option<&'b HeadlineJob<'a>> {
    jobs.iter()
        .max_by(|a, b| of(a.figures).total_cmp(&of(b.figures)))
}

/// `None` where no figure can be used.
pub(in crate::html) fn headline(m: &Messages, summary: &Summary) -> Option<HeadlineView> {
    let jobs = usable(summary);
    let first = highest(&jobs, |figures| figures.iops.median)?;
    let iops = first.figures.iops;
    let is_repeated = first.figures.rounds > 1;
    let mut beside = vec![
        Beside {
            value: microseconds(first.figures.mean_us.median),
            label: m.text("headline-block-mean"),
        },
        Beside {
            value: microseconds(first.figures.p99_us.median),
            label: m.text("headline-block-p99"),
        },
    ];
    if let Some(job) = highest(&jobs, |figures| figures.mb_per_second.median) {
        beside.push(Beside {
            value: format!("{} MB/s", three(job.figures.mb_per_second.median)),
            label: job.text(m, "headline-block-mb"),
        });
    }
    if let Some(job) = highest(&jobs, |figures| -figures.mean_us.median) {
        beside.push(Beside {
            value: microseconds(job.figures.mean_us.median),
            label: job.text(m, "headline-block-lowest"),
        });
    }
    Some(HeadlineView {
        kicker: m.text("headline-block-kicker"),
        value: whole(iops.median),
        unit: m.text("chart-block-iops"),
        interval: certainty(
            m,
            iops.interval.map(|own| [own.low, own.high]),
            [iops.min, iops.max],
            is_repeated,
            three,
        ),
        place: first.text(
            m,
            if is_repeated {
                "headline-block-median"
            } else {
                "headline-block-where"
            },
        ),
        drive: medium::emulated(m, first.medium.drive.as_ref()),
        verdict: first.own.verdict.name(),
        verdict_word: word(m, first.own.verdict),
        beside,
    })
}

fn microseconds(value: f64) -> String {
    format!("{} µs", three(value))
}
