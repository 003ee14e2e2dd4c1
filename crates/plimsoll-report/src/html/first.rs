//! The first screen: the answer, whether it can be trusted, the one chart that shows it, and what to do next.

use plimsoll_analysis::Summary;
use plimsoll_analysis::answer::{AnswerResult, AnswerRow, RateBasis, RunAnswer};
use plimsoll_analysis::summary::Verdict;

use crate::answer;
use crate::ladder;
use crate::message::Messages;
use crate::number::three;
use crate::table::Grid;

pub(super) struct FirstScreen {
    pub sentence: String,
    /// What has to be known beside it.
    pub beside: String,
    /// What is emulated, where that is one drive.
    pub emulated: String,
    pub verdict: &'static str,
    pub verdict_word: String,
    /// How many points.
    pub trust: String,
    pub limits: Vec<String>,
    pub chart: RateChart,
    pub table: Grid,
    pub limited_by: Vec<String>,
    pub next: Vec<answer::NextStep>,
}

/// A bar for each row of the table: bars need no script and can be read on a phone.
pub(super) struct RateChart {
    pub title: String,
    pub bars: Vec<RateBar>,
}

pub(super) struct RateBar {
    pub name: String,
    /// The drive that is emulated, or why there is no bar.
    pub about: String,
    pub value: String,
    /// Its color, the same for a medium on the whole page.
    pub class: String,
    /// In percent of the chart.
    pub width: String,
    pub interval: Option<BarInterval>,
}

/// In percent of the chart.
pub(super) struct BarInterval {
    pub left: String,
    pub width: String,
}

pub(super) fn view(m: &Messages, summary: &Summary, run: &str) -> Option<FirstScreen> {
    let own = summary.answer.as_ref()?;
    let rows: Vec<answer::Row<'_>> = answer::rows(own).collect();
    let sentences = answer::sentences(m, own);
    let (sentence, beside) = sentences.split_first()?;
    let mut ladders = summary.figures.ladders.iter();
    let alone = ladders.find(|ladder| {
        !is_media(own) && ladder.medium == own.rows.first().and_then(|row| row.medium.clone())
    });
    Some(FirstScreen {
        sentence: sentence.clone(),
        beside: beside.join(" "),
        emulated: alone
            .map(|ladder| ladder::emulated(m, ladder))
            .unwrap_or_default(),
        verdict: own.trust.verdict.name(),
        verdict_word: m.text(&format!("verdict-{}", own.trust.verdict.name())),
        trust: answer::trusted_points(m, &own.trust),
        limits: answer::limits(m, &own.trust, answer::MOST_LIMITS),
        chart: chart(m, own),
        table: answer::table().to_grid(m, &rows),
        limited_by: answer::limited_by(m, own),
        next: answer::next(m, own, run),
    })
}

fn chart(m: &Messages, own: &RunAnswer) -> RateChart {
    let speed = match basis(own) {
        Some(RateBasis::Predicted { .. }) => m.text("answer-chart-full-speed"),
        Some(RateBasis::Slowed { .. }) => m.text("answer-chart-slowed"),
        _ => String::new(),
    };
    let id = if own.nopm {
        "answer-chart-nopm"
    } else {
        "answer-chart-rate"
    };
    let usable =
        |row: &AnswerRow| (row.verdict < Verdict::Invalid).then(|| answer::row_rate(own, row))?;
    let ends = own.rows.iter().filter_map(usable);
    let most = ends
        .map(|rate| rate.interval.map_or(rate.value, |own| own.high))
        .fold(0.0, f64::max);
    let bars = own.rows.iter().enumerate().map(|(place, row)| {
        let rate = usable(row);
        let share = |value: f64| {
            format!(
                "{:.1}",
                value.max(0.0) * 100.0 / most.max(f64::MIN_POSITIVE)
            )
        };
        RateBar {
            name: name(m, row, is_media(own)),
            about: row
                .drive
                .clone()
                .filter(|_| is_media(own))
                .unwrap_or_default(),
            value: rate.map_or_else(|| m.text("verdict-invalid"), |rate| answer::rate(own, rate)),
            class: format!("s{}", if is_media(own) { place % 7 + 1 } else { 1 }),
            width: rate.map_or_else(|| "0".to_owned(), |rate| share(rate.value)),
            interval: rate
                .and_then(|rate| rate.interval)
                .map(|interval| BarInterval {
                    left: share(interval.low),
                    width: share(interval.high - interval.low),
                }),
        }
    });
    RateChart {
        title: m.text_with(id, &[("speed", speed)]),
        bars: bars.collect(),
    }
}

fn basis(own: &RunAnswer) -> Option<RateBasis> {
    match &own.result {
        AnswerResult::Media(own) => Some(own.basis),
        AnswerResult::Load(own) => Some(own.basis),
        AnswerResult::None(_) => None,
    }
}

fn is_media(own: &RunAnswer) -> bool {
    let first = own.rows.first().map(|row| &row.medium);
    own.rows.iter().any(|row| Some(&row.medium) != first)
}

/// The medium, or of one medium the load.
fn name(m: &Messages, row: &AnswerRow, is_media: bool) -> String {
    match (
        row.medium.clone().filter(|_| is_media),
        row.load.offered_per_second,
    ) {
        (Some(medium), _) => medium,
        (None, Some(rate)) => m.text_with("answer-at-rate", &[("rate", three(rate))]),
        (None, None) => m.text_with("answer-users-of", &[("users", row.load.users.to_string())]),
    }
}
