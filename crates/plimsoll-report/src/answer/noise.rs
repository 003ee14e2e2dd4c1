//! Noisy neighbors: response times with and without them.

use plimsoll_analysis::answer::NoiseAnswer;
use plimsoll_analysis::summary::{FigureId, Ratio, Verdict, VictimEffect};

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
    let change = |figure| {
        let VictimEffect { quiet, noisy, .. } = &own.effect;
        let ratio = own.effect.ratios.get(figure)?;
        Some([
            three(quiet.value(figure)?),
            three(noisy.value(figure)?),
            three(ratio.ratio),
            interval(m, ratio.interval),
        ])
    };
    let rate = FigureId::transactions(own.nopm);
    let mut args = vec![
        ("at", at_load(m, own.load)),
        ("medium", subject(m, own.medium.as_ref())),
        ("neighbours", neighbours(m, own)),
    ];
    if own.verdict == Verdict::Invalid {
        let args = [("media", subject(m, own.medium.as_ref()))];
        return vec![m.text_with("answer-left-out", &args)];
    }
    let mut ratios = [FigureId::P99, rate]
        .into_iter()
        .filter_map(|figure| own.effect.ratios.get(figure));
    if ratios.any(|own| own.is_uncertain()) {
        return vec![m.text_with("answer-noise-uncertain", &args)];
    }
    let Some([quiet, noisy, ratio, ends]) = change(FigureId::P99) else {
        return vec![m.text_with("answer-noise-none", &args)];
    };
    args.extend([
        ("quiet", quiet),
        ("noisy", noisy),
        ("ratio", ratio),
        ("interval", ends),
    ]);
    let mut sentences = vec![m.text_with("answer-noise", &args)];
    if let Some([_, _, ratio, ends]) = change(rate) {
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
        let VictimEffect { quiet, noisy, .. } = &own.effect;
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
            bar("answer-chart-quiet", quiet.value(FigureId::P99)?),
            bar("answer-chart-noisy", noisy.value(FigureId::P99)?),
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
    fn ratio(own: &NoiseAnswer, figure: FigureId) -> Option<Ratio> {
        own.effect.ratios.get(figure)
    }
    fn rate_ratio(own: &NoiseAnswer) -> Option<Ratio> {
        ratio(own, FigureId::transactions(own.nopm))
    }
    Table::<&NoiseAnswer>::new("answer-noise")
        .prefix("answered-")
        .message("medium", Words, |own, m| subject(m, own.medium.as_ref()))
        .column("load", Plain, |own| load(own.load))
        .figure(FigureId::P99, |own| own.effect.quiet.value(FigureId::P99))
        .value("alone")
        .figure(FigureId::P99, |own| own.effect.noisy.value(FigureId::P99))
        .value("beside")
        .figure(FigureId::P99, |own| Some(ratio(own, FigureId::P99)?.ratio))
        .ratio()
        .column("rate-ratio", Three, |own| Some(rate_ratio(own)?.ratio))
        .column("ratio-interval", Three, |own| rate_ratio(own)?.interval)
        .column("verdict", Plain, |own| own.verdict)
        .spare(&["ratio-interval"])
}
