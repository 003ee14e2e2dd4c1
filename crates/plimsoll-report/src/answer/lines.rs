//! Searches: the highest load that meets an objective.

use plimsoll_analysis::answer::LineAnswer;
use plimsoll_analysis::search::SearchState;
use plimsoll_analysis::summary::{FigureId, MediumSpeed, Verdict, is_like_speed};

use super::words::{AnswerParts, and, medium_and_drive, speeds, subject};
use crate::bottleneck::sign_words;
use crate::message::Messages;
use crate::number::{or_none, percentile_name, three};
use crate::svg::chart::{Chart, PlotBar, bars};
use crate::svg::color::MediumColors;
use crate::table::Unit::{Plain, Three, Words};
use crate::table::{Table, filled};

pub(super) fn parts<'a>(
    m: &Messages,
    lines: &'a [LineAnswer],
    colors: MediumColors<'_>,
) -> AnswerParts<'a> {
    AnswerParts {
        sentences: sentences(m, lines),
        table: filled(table(), lines.iter().collect()),
        chart: chart(m, lines, colors),
        limited_by: lines.iter().filter_map(|own| limited_by(m, own)).collect(),
    }
}

fn objective(m: &Messages, own: &LineAnswer) -> String {
    let args = [
        ("figure", percentile_name(own.quantile.name())),
        ("of", of(m, own)),
        ("limit", three(own.limit_ms)),
    ];
    m.text_with("answer-objective", &args)
}

fn of(m: &Messages, own: &LineAnswer) -> String {
    own.of.clone().unwrap_or_else(|| m.text("answer-any"))
}

fn load(m: &Messages, own: &LineAnswer, load: f64) -> String {
    let id = if own.open {
        "answer-line-rate"
    } else {
        "answer-line-users"
    };
    m.text_with(id, &[("load", three(load))])
}

fn sentences(m: &Messages, lines: &[LineAnswer]) -> Vec<String> {
    let Some(first) = lines.first() else {
        return Vec::new();
    };
    if lines.iter().all(|own| own.verdict == Verdict::Invalid) {
        return vec![m.text("answer-line-invalid")];
    }
    let is_one_objective = lines.iter().all(|own| own.is_comparable(first));
    let ratios = if is_one_objective {
        ratios(m, lines)
    } else {
        None
    };
    // The ratios name the objective that all have.
    let is_named = ratios.is_some();
    let each = lines.iter().map(|own| sentence(m, own, is_named));
    let mut all: Vec<String> = ratios.into_iter().chain(each).collect();
    all.extend(unlike_speeds(m, lines));
    all.extend(real(m, lines).filter(|_| is_named));
    all
}

/// Why media with valid lines have no ratio, where their speeds are the reason.
fn unlike_speeds(m: &Messages, lines: &[LineAnswer]) -> Option<String> {
    let valid: Vec<&LineAnswer> = lines
        .iter()
        .filter(|own| own.verdict < Verdict::Invalid && own.line.is_some())
        .collect();
    let first = valid.first()?;
    let is_unlike = |own: &&LineAnswer| !is_like_speed(own.slower, first.slower);
    valid.iter().copied().any(|own| is_unlike(&own)).then(|| {
        let media = valid.iter().map(|own| MediumSpeed {
            medium: subject(m, own.medium.as_ref()),
            slower: own.slower.unwrap_or(1.0),
        });
        let media: Vec<MediumSpeed> = media.collect();
        m.text_with("answer-speeds", &[("speeds", speeds(m, &media))])
    })
}

/// Which of the compared media are real, where others are emulated.
fn real(m: &Messages, lines: &[LineAnswer]) -> Option<String> {
    let real = lines.iter().filter(|own| own.drive.is_none());
    let real: Vec<String> = real.map(|own| subject(m, own.medium.as_ref())).collect();
    let is_mixed = !real.is_empty() && real.len() < lines.len();
    is_mixed.then(|| m.text_with("answer-real-emulated", &[("real", and(m, real))]))
}

fn sentence(m: &Messages, own: &LineAnswer, is_named: bool) -> String {
    if own.verdict == Verdict::Invalid {
        let args = [("media", subject(m, own.medium.as_ref()))];
        return m.text_with("answer-left-out", &args);
    }
    let with = [("objective", objective(m, own))];
    let slower = |slower: f64| m.text_with("answer-line-slower", &[("slower", slower.to_string())]);
    let args = [
        ("medium", subject(m, own.medium.as_ref())),
        (
            "with",
            if is_named {
                String::new()
            } else {
                m.text_with("answer-with-objective", &with)
            },
        ),
        (
            "load",
            own.line.map_or_else(String::new, |line| load(m, own, line)),
        ),
        (
            "above",
            own.below.map_or_else(String::new, |below| match own.line {
                Some(_) => three(below),
                None => load(m, own, below),
            }),
        ),
        ("slower", own.slower.map_or_else(String::new, slower)),
        ("figure", percentile_name(own.quantile.name())),
        ("of", of(m, own)),
        ("limit", three(own.limit_ms)),
        ("ms", or_none(own.lowest.map(|own| own.figure_ms), three)),
        (
            "lowest",
            own.lowest
                .map_or_else(String::new, |lowest| load(m, own, lowest.load)),
        ),
        ("from", or_none(own.lowest.map(|own| own.load), three)),
        (
            "to",
            own.lowest
                .map_or_else(String::new, |lowest| load(m, own, lowest.up_to)),
        ),
        ("needed", own.needed.to_string()),
        ("longest", three(own.longest_s)),
    ];
    let id = match (own.line, own.below, own.state) {
        (None, _, SearchState::Floor) => "answer-line-floor",
        (None, Some(_), SearchState::TooFew) => "answer-line-few-below",
        (None, None, SearchState::TooFew) => "answer-line-few",
        (None, _, SearchState::Open) => "answer-line-unfinished",
        (Some(_), _, SearchState::AboveMost) => "answer-line-most",
        (Some(_), Some(_), _) => "answer-line",
        (Some(_), None, _) => "answer-line-open",
        (None, Some(_), _) => "answer-line-none",
        (None, None, _) => "answer-line-unknown",
    };
    m.text_with(id, &args)
}

/// Of media with the same objective: how many times the load of the others the best one carries.
fn ratios(m: &Messages, lines: &[LineAnswer]) -> Option<String> {
    let valid = lines.iter().filter(|own| own.verdict < Verdict::Invalid);
    let mut found: Vec<(f64, &LineAnswer)> = valid
        .filter_map(|own| Some((own.line.filter(|line| *line > 0.0)?, own)))
        .collect();
    found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let ((highest, best), others) = found.split_first()?;
    let ratio = |(line, other): &(f64, &LineAnswer)| {
        let args = [
            ("medium", subject(m, other.medium.as_ref())),
            ("ratio", three(highest / line)),
            ("interval", String::new()),
        ];
        m.text_with("answer-ratio", &args)
    };
    let ratios: Vec<String> = others.iter().map(ratio).collect();
    (!ratios.is_empty()).then(|| {
        let args = [
            ("best", subject(m, best.medium.as_ref())),
            ("objective", objective(m, best)),
            ("ratios", and(m, ratios)),
        ];
        m.text_with("answer-line-ratios", &args)
    })
}

/// From the line to the lowest load that did not meet the objective.
fn chart(m: &Messages, lines: &[LineAnswer], colors: MediumColors<'_>) -> Option<Chart> {
    let first = lines.first()?;
    let same = lines
        .iter()
        .enumerate()
        .filter(|(_, own)| own.is_comparable(first));
    let all = same.filter_map(|(place, own)| {
        let line = own.line?;
        Some(PlotBar::of(
            medium_and_drive(
                own.medium.as_deref().or(Some(&own.system)),
                own.drive.as_deref(),
            ),
            colors.of(own.medium.as_deref(), place),
            line,
            own.below.map(|below| [line, below]),
            own.verdict,
        ))
    });
    let heading = m.text_with("answer-chart-line", &[("objective", objective(m, first))]);
    bars(m, heading, &all.collect::<Vec<_>>())
}

pub(crate) fn table<'a>() -> Table<'a, &'a LineAnswer> {
    Table::<&LineAnswer>::new("answer-lines")
        .prefix("answered-")
        .message("medium", Words, |own, m| subject(m, own.medium.as_ref()))
        .column("line", Three, |own| own.line)
        .column("above", Three, |own| own.below)
        .rate(|_| Three, |own| own.nopm, |own| own.throughput)
        .figure(FigureId::P99, |own| own.p99_ms)
        .column("verdict", Plain, |own| own.verdict)
}

fn limited_by(m: &Messages, own: &LineAnswer) -> Option<String> {
    let sign = own.bottleneck.first()?;
    let args = [
        ("medium", subject(m, own.medium.as_ref())),
        ("sign", sign_words(m, sign.what, sign.beyond)),
    ];
    Some(m.text_with("answer-sign", &args))
}
