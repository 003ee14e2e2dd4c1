//! Rules about bytes that were moved, about sentences, and about times.

use super::result::RuleResult;
use crate::audit::input::{Move, Sentence, StatedDuration};
use crate::audit::{AuditSubject, Evidence, Missing, Next, Rule, RuleVerdict};
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity::{Error, Warning};

/// Whether bandwidth, time and bytes agree.
pub(super) fn moved(input: &Move, thresholds: &Thresholds) -> RuleVerdict {
    let mut result = RuleResult::default();
    match input.moved {
        Err(missing) => result.missing(missing),
        Ok((mb_per_second, seconds, moved_mb)) => {
            let product_mb = mb_per_second * seconds;
            let off_percent = (product_mb / moved_mb - 1.0) * 100.0;
            let limit_percent = thresholds.moved;
            let evidence = Evidence::Moved {
                mb_per_second,
                seconds,
                product_mb,
                moved_mb,
                off_percent,
                limit_percent,
            };
            // As heavy as the summary's finding, where it has one.
            let severity = if input.agrees.is_some() {
                Warning
            } else {
                Error
            };
            let agrees = input.agrees.unwrap_or(off_percent.abs() <= limit_percent);
            result.check(agrees, evidence, severity, Next::AskForBytes);
        }
    }
    result.verdict(Rule::Rate, &input.about)
}

/// Whether a sentence agrees with its figures. "x % more" is a change, "x times" a ratio: a sentence is taken literally,
/// and the evidence has both.
pub(super) fn claimed_sentence(sentence: &Sentence, thresholds: &Thresholds) -> RuleVerdict {
    let mut result = RuleResult::default();
    match sentence.stated {
        Err(missing) => result.missing(missing),
        Ok((stated, a, b)) => {
            let ratio = a / b;
            let off_percent = (stated / ratio - 1.0) * 100.0;
            let evidence = Evidence::Stated {
                sentence: sentence.text.clone(),
                first: a,
                second: b,
                stated,
                ratio,
                percent: (ratio - 1.0) * 100.0,
                off_percent,
                limit_percent: thresholds.wording,
            };
            result.check(
                off_percent.abs() <= thresholds.wording,
                evidence,
                Error,
                Next::StateRatio,
            );
        }
    }
    result.verdict(Rule::Wording, &AuditSubject::Named(sentence.text.clone()))
}

/// Whether the parts of a time add up to it.
pub(super) fn added_up(duration: &StatedDuration, thresholds: &Thresholds) -> RuleVerdict {
    let mut result = RuleResult::default();
    match (duration.stated_h, duration.sum_h.filter(|sum| *sum > 0.0)) {
        (Err(missing), _) => result.missing(missing),
        (Ok(_), None) => result.missing(Missing::NoDuration),
        (Ok(stated_h), Some(sum_h)) => {
            let off_percent = (stated_h / sum_h - 1.0) * 100.0;
            let limit_percent = thresholds.duration;
            let parts = duration.parts.clone();
            let evidence = Evidence::AddedUp {
                parts,
                sum_h,
                stated_h,
                off_percent,
                limit_percent,
            };
            result.check(
                off_percent.abs() <= limit_percent,
                evidence,
                Error,
                Next::AskForTimes,
            );
        }
    }
    result.verdict(Rule::Duration, &AuditSubject::Named(duration.name.clone()))
}
