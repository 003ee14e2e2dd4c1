//! Failures of an array's members: the load before, without them, while they are rebuilt, and after that.

use plimsoll_analysis::answer::ArrayAnswer;
use plimsoll_analysis::summary::{ArrayPhase, ArrayState, FigureId, Verdict};

use super::words::{AnswerParts, and, subject, with_p99};
use crate::message::Messages;
use crate::number::{three, whole};
use crate::svg::chart::{Chart, PlotBar, bars};
use crate::svg::color::MediumColors;
use crate::table::Unit::{Plain, Three, Whole, Words};
use crate::table::{Table, TableCell, filled};

pub(super) fn parts<'a>(
    m: &Messages,
    media: &'a [ArrayAnswer],
    colors: MediumColors<'_>,
) -> AnswerParts<'a> {
    let rows = media.iter().flat_map(|answer| {
        let phases = answer.array.phases.iter();
        phases.map(move |phase| ArrayRow { answer, phase })
    });
    AnswerParts {
        sentences: media.iter().flat_map(|own| sentences(m, own)).collect(),
        table: filled(table(), rows.collect()),
        chart: chart(m, media, colors),
        limited_by: Vec::new(),
    }
}

/// Arrays that have lost data.
pub(super) fn lost(m: &Messages, media: &[ArrayAnswer]) -> Vec<String> {
    let lost = media.iter().filter(|own| own.array.has_lost_data());
    lost.map(|own| {
        let medium = subject(m, own.medium.as_ref());
        m.text_with("answer-array-lost", &[("medium", medium)])
    })
    .collect()
}

fn sentences(m: &Messages, own: &ArrayAnswer) -> Vec<String> {
    let medium = subject(m, own.medium.as_ref());
    if own.verdict == Verdict::Invalid {
        let left_out = m.text_with("answer-left-out", &[("media", medium)]);
        let lost = lost(m, std::slice::from_ref(own));
        return [left_out].into_iter().chain(lost).collect();
    }
    let Some((before, after)) = own.array.phases.split_first() else {
        return Vec::new();
    };
    let rate = own.array.rate();
    let unit = m.text(match own.array.nopm {
        true => "answer-unit-nopm",
        false => "answer-unit-rate",
    });
    let changes = after.iter().enumerate().filter_map(|(i, phase)| {
        // Other events may have come during a rebuild.
        let of_state = after[..=i].iter().rev();
        let of_state = of_state.take_while(|own| own.state == phase.state);
        let seconds = if phase.is_unfinished {
            phase.seconds
        } else {
            of_state.map(|own| own.seconds).sum()
        };
        let args = [
            ("ratio", three(phase.ratios.get(rate)?.ratio)),
            ("seconds", whole(seconds)),
        ];
        let id = if phase.is_unfinished {
            "answer-rebuild-unfinished".to_owned()
        } else {
            format!("answer-array-{}", phase.state.name().replace('_', "-"))
        };
        Some(m.text_with(&id, &args))
    });
    let args = [
        ("medium", medium.clone()),
        (
            "rate",
            before.figures.value(rate).map_or_else(String::new, three),
        ),
        ("unit", unit),
        ("p99", with_p99(m, before.figures.value(FigureId::P99))),
        ("changes", and(m, changes.collect())),
    ];
    let mut sentences = vec![
        m.text_with("answer-array", &args),
        m.text_with("answer-array-before", &args),
    ];
    sentences.extend(
        match (own.array.has_lost_data(), own.array.normal_after_s) {
            (true, _) => Some(m.text_with("answer-array-lost", &[("medium", medium)])),
            (false, Some(0.0)) => Some(m.text("answer-array-always-normal")),
            (false, Some(seconds)) => {
                Some(m.text_with("answer-array-normal", &[("seconds", whole(seconds))]))
            }
            (false, None) if own.array.ends_early() => Some(m.text("answer-array-short")),
            (false, None) => Some(m.text("answer-array-not-normal")),
        },
    );
    sentences.extend(own.is_consistent.map(|holds| {
        m.text(match holds {
            true => "answer-array-consistent",
            false => "answer-array-inconsistent",
        })
    }));
    sentences
}

fn chart(m: &Messages, media: &[ArrayAnswer], colors: MediumColors<'_>) -> Option<Chart> {
    let nopm = media.first()?.array.nopm;
    let bar = |own: &ArrayAnswer, phase: &ArrayPhase| {
        let state = state(m, phase.state);
        Some(PlotBar::of(
            match media.len() {
                1 => state,
                _ => format!("{}, {state}", subject(m, own.medium.as_ref())),
            },
            colors.of(own.medium.as_deref(), 0),
            phase.figures.value(own.array.rate())?,
            None,
            own.verdict,
        ))
    };
    let all = media.iter().flat_map(|own| {
        let phases = own.array.phases.iter();
        phases.filter_map(move |phase| bar(own, phase))
    });
    let id = if nopm {
        "answer-chart-nopm"
    } else {
        "answer-chart-rate"
    };
    let none = [("speed", String::new()), ("intervals", String::new())];
    bars(m, m.text_with(id, &none), &all.collect::<Vec<_>>())
}

fn state(m: &Messages, state: ArrayState) -> String {
    m.text(&format!("array-state-{}", state.name().replace('_', "-")))
}

/// A phase of an array.
pub(crate) struct ArrayRow<'a> {
    answer: &'a ArrayAnswer,
    phase: &'a ArrayPhase,
}

impl ArrayRow<'_> {
    fn rate(&self) -> Option<f64> {
        self.phase.figures.value(self.answer.array.rate())
    }
}

pub(crate) fn table<'a>() -> Table<'a, ArrayRow<'a>> {
    Table::<ArrayRow<'_>>::new("answer-arrays")
        .prefix("answered-")
        .message("medium", Words, |r, m| subject(m, r.answer.medium.as_ref()))
        .column("array", Words, |r| {
            TableCell::word("array-state-", r.phase.state.name())
        })
        .column("from", Three, |r| r.phase.from_s)
        .column("seconds", Three, |r| r.phase.seconds)
        .rate(|_| Three, |r| r.answer.array.nopm, ArrayRow::rate)
        .figure(FigureId::P99, |r| r.phase.figures.value(FigureId::P99))
        .column("ratio", Three, |r| {
            Some(r.phase.ratios.get(r.answer.array.rate())?.ratio)
        })
        .column("failed", Whole, |r| r.phase.failed)
        .column("verdict", Plain, |r| r.answer.verdict)
        .blank_repeats(1)
        .spare(&["from", "failed", "seconds"])
}
