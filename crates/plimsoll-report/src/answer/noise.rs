//! Noisy neighbors: response times with and without them.

use plimsoll_analysis::answer::NoiseAnswer;
use plimsoll_analysis::summary::{NoiseChange, Verdict};

use super::words::{AnswerParts, and, at_load, interval, medium_and_drive, subject};
use crate::message::Messages;
use crate::number::{load, three};
use crate::svg::chart::{Chart, PlotBar, bars};
use crate::svg::color::MediumColors;
use crate::table::Unit::{Plain, Three, Words};
use crate::table::{Table, filled};

pub(super) fn parts<'a>(
    m: &Messages,
    effects: &'a [NoiseAnswer],
    colors: MediumColors<'_>,
) -> AnswerParts<'a> {
    AnswerParts {
        sentences: effects.iter().flat_map(|own| sentences(m, own)).collect(),
        table: filled(table(), effects.iter().collect()),
        chart: chart(m, effects, colors),
        limited_by: Vec::new(),
    }
}

fn sentences(m: &Messages, own: &NoiseAnswer) -> Vec<String> {
    let change = |of: Option<NoiseChange>| {
        let of = of?;
        let ratio = of.ratio?;
        Some([
            three(of.quiet),
            three(of.noisy),
            three(ratio.ratio),
            interval(m, ratio.interval),
        ])
    };
    let mut args = vec![
        ("at", at_load(m, own.load)),
        ("medium", subject(m, own.medium.as_ref())),
        ("neighbours", neighbours(m, own)),
    ];
    if own.verdict == Verdict::Invalid {
        let args = [("media", subject(m, own.medium.as_ref()))];
        return vec![m.text_with("answer-left-out", &args)];
    }
    let ratios = [own.p99_ms, own.throughput].into_iter().flatten();
    if ratios
        .filter_map(|own| own.ratio)
        .any(|own| own.is_uncertain())
    {
        return vec![m.text_with("answer-noise-uncertain", &args)];
    }
    let Some([quiet, noisy, ratio, ends]) = change(own.p99_ms) else {
        return vec![m.text_with("answer-noise-none", &args)];
    };
    args.extend([
        ("quiet", quiet),
        ("noisy", noisy),
        ("ratio", ratio),
        ("interval", ends),
    ]);
    let mut sentences = vec![m.text_with("answer-noise", &args)];
    if let Some([_, _, ratio, ends]) = change(own.throughput) {
        let args = [("ratio", ratio), ("interval", ends)];
        sentences.push(m.text_with("answer-noise-rate", &args));
    }
    if let Some(seconds) = own.backup_seconds {
        let args = [
            ("seconds", three(seconds)),
            ("interval", interval(m, own.backup_interval)),
        ];
        sentences.push(m.text_with("answer-noise-backup", &args));
    }
    sentences
}

fn neighbours(m: &Messages, own: &NoiseAnswer) -> String {
    match own.neighbours.as_slice() {
        [] => m.text("answer-noise-backups"),
        names => and(m, names.to_vec()),
    }
}

/// Without and with, one below the other.
fn chart(m: &Messages, effects: &[NoiseAnswer], colors: MediumColors<'_>) -> Option<Chart> {
    let both = |(place, own): (usize, &NoiseAnswer)| {
        let p99 = own.p99_ms?;
        let medium = medium_and_drive(own.medium.as_deref(), own.drive.as_deref());
        let bar = |id: &str, value: f64| {
            PlotBar::of(
                m.text_with(id, &[("medium", medium.clone())]),
                colors.of(own.medium.as_deref(), place),
                value,
                None,
                own.verdict,
            )
        };
        Some([
            bar("answer-chart-quiet", p99.quiet),
            bar("answer-chart-noisy", p99.noisy),
        ])
    };
    let all: Vec<PlotBar> = effects
        .iter()
        .enumerate()
        .filter_map(both)
        .flatten()
        .collect();
    bars(m, m.text("answer-chart-noise"), &all)
}

pub(crate) fn table<'a>() -> Table<'a, &'a NoiseAnswer> {
    let ratio = |of: Option<NoiseChange>| Some(of?.ratio?.ratio);
    Table::<&NoiseAnswer>::new("answer-noise")
        .prefix("answered-")
        .message("medium", Words, |own, m| subject(m, own.medium.as_ref()))
        .column("load", Plain, |own| load(own.load))
        .column("p99-quiet", Three, |own| Some(own.p99_ms?.quiet))
        .column("p99-noisy", Three, |own| Some(own.p99_ms?.noisy))
        .column("p99-ratio", Three, move |own| ratio(own.p99_ms))
        .column("rate-ratio", Three, move |own| ratio(own.throughput))
        .column("ratio-interval", Three, |own| {
            own.throughput?.ratio?.interval
        })
        .column("verdict", Plain, |own| own.verdict)
        .spare(&["ratio-interval"])
}
