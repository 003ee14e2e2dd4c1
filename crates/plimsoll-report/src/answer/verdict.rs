//! What an answer begins with where something is invalid: a result that must not be used has no confident sentence.

use plimsoll_analysis::answer::{AnswerResult, NoAnswer, RunAnswer};
use plimsoll_analysis::summary::Verdict;

use super::words::reason;
use crate::message::Messages;

/// The sentences of an answer behind what is invalid; of an invalid one no figure is left.
pub(super) fn first_sentences(
    m: &Messages,
    answer: &RunAnswer,
    mut sentences: Vec<String>,
) -> Vec<String> {
    match &answer.result {
        AnswerResult::None(NoAnswer::NothingMeasured) => {
            sentences.extend(why(m, answer).map(|why| format!("{why}.")));
            return sentences;
        }
        AnswerResult::None(_) => return sentences,
        // Lost data are what was asked for, and they are invalid because of that.
        AnswerResult::PowerCuts { media } if media.iter().any(|own| own.is_damaged()) => {
            return sentences;
        }
        _ => {}
    }
    if answer.verdict == Verdict::Invalid {
        return invalid(m, answer);
    }
    if answer.trust.verdict == Verdict::Invalid
        && let Some(first) = sentences.first_mut()
    {
        *first = in_part(m, answer, first);
    }
    sentences
}

/// Lost data are no figure: they are reported however invalid the rest is.
fn invalid(m: &Messages, answer: &RunAnswer) -> Vec<String> {
    let first = match why(m, answer) {
        Some(why) => m.text_with("answer-invalid", &[("why", why)]),
        None => m.text("answer-invalid-unexplained"),
    };
    let lost = match &answer.result {
        AnswerResult::Arrays { media } => super::arrays::lost(m, media),
        _ => Vec::new(),
    };
    [first].into_iter().chain(lost).collect()
}

/// What is invalid beside the answer, before its first sentence.
fn in_part(m: &Messages, answer: &RunAnswer, sentence: &str) -> String {
    let points = answer.trust.points;
    let mut args = vec![("sentence", sentence.to_owned())];
    if points.invalid > 0 {
        let all = points.valid + points.doubtful + points.invalid;
        args.push(("invalid", points.invalid.to_string()));
        args.push(("total", all.to_string()));
        return m.text_with("answer-in-part-points", &args);
    }
    args.push(("why", why(m, answer).unwrap_or_default()));
    m.text_with("answer-in-part", &args)
}

fn why(m: &Messages, answer: &RunAnswer) -> Option<String> {
    Some(reason(m, answer.trust.reason()?))
}
