//! Power cuts: whether acknowledged transactions survived.

use plimsoll_analysis::answer::CutAnswer;
use plimsoll_analysis::summary::Verdict;

use super::words::{AnswerParts, subject};
use crate::message::Messages;
use crate::number::{three, whole};
use crate::table::Unit::{Plain, Three, Whole, Words};
use crate::table::{Table, filled};

pub(super) fn parts<'a>(m: &Messages, media: &'a [CutAnswer]) -> AnswerParts<'a> {
    AnswerParts {
        sentences: damaged_first(media)
            .into_iter()
            .flat_map(|own| sentences(m, own, media.len() > 1))
            .collect(),
        table: filled(table(), media.iter().collect()),
        chart: None,
        limited_by: Vec::new(),
    }
}

fn damaged_first(media: &[CutAnswer]) -> Vec<&CutAnswer> {
    let mut all: Vec<&CutAnswer> = media.iter().collect();
    all.sort_by_key(|own| !own.is_damaged());
    all
}

fn sentences(m: &Messages, own: &CutAnswer, several: bool) -> Vec<String> {
    let medium = subject(m, own.medium.as_ref());
    if own.verdict == Verdict::Invalid && !own.is_damaged() {
        return vec![m.text_with("answer-left-out", &[("media", medium)])];
    }
    let args = [
        (
            "medium",
            if several {
                format!("{medium} ({})", own.step)
            } else {
                medium
            },
        ),
        ("cuts", own.cuts.to_string()),
        ("lost", whole(own.lost as f64)),
        ("acknowledged", whole(own.acknowledged as f64)),
        ("failed", own.not_recovered.to_string()),
        (
            "seconds",
            own.recovery_ms
                .map_or_else(String::new, |ms| three(ms as f64 / 1e3)),
        ),
        ("writes", whole(own.lost_flushed_writes as f64)),
    ];
    let outcome = match own {
        CutAnswer { lost: 1.., .. } => "answer-cut-lost",
        CutAnswer {
            acknowledged: 0, ..
        } => "answer-cut-unknown",
        _ => "answer-cut-kept",
    };
    let ids = [
        Some(outcome),
        (own.lost_flushed_writes > 0).then_some("answer-cut-lied"),
        (own.not_recovered > 0).then_some("answer-cut-not-recovered"),
        own.recovery_ms.map(|_| "answer-cut-recovered"),
    ];
    let ids = ids.into_iter().flatten();
    ids.map(|id| m.text_with(id, &args)).collect()
}

pub(crate) fn table<'a>() -> Table<'a, &'a CutAnswer> {
    Table::<&CutAnswer>::new("answer-cuts")
        .prefix("answered-")
        .column("step", Words, |own| own.step.clone())
        .message("medium", Words, |own, m| subject(m, own.medium.as_ref()))
        .column("cuts", Whole, |own| own.cuts as u64)
        .column("acknowledged", Whole, |own| own.acknowledged)
        .column("lost", Whole, |own| own.lost)
        .column("recovery", Three, |own| {
            own.recovery_ms.map(|ms| ms as f64 / 1e3)
        })
        .column("verdict", Plain, |own| own.verdict)
}
