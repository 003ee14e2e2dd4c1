//! Rules about bytes that were moved, about sentences, and about times.

use super::result::RuleResult;
use crate::audit::input::{Move, Sentence, StatedDuration};
use crate::audit::{AuditSubject, Evidence, Missing, Next, Rule, RuleVerdict};
use crate::summary::FigureId;
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity::{Error, Warning};

/// Whether bandwidth, time and bytes agree.
pub(super) fn moved(input: &Move, thresholds: &Thresholds) -> RuleVerdict {
    let mut result = RuleResult::default();
    let figures = [FigureId::MovedMb, FigureId::Seconds, FigureId::MbPerSecond];
    if let Some([moved_mb, seconds, mb_per_second]) = result.read(input.figures.read_all(figures)) {
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
    result.verdict(Rule::Rate, &input.about)
}

/// Whether a sentence agrees with its figures. "x % more" is a change, "x times" a ratio: a sentence is taken literally,
/// and the evidence has both.
pub(super) fn claimed_sentence(sentence: &Sentence, thresholds: &Thresholds) -> RuleVerdict {
    let mut result = RuleResult::default();
    if let Some(stated) = result.read(sentence.stated.ok_or(Missing::NoFigures)) {
        let ratio = stated.first / stated.second;
        let off_percent = (stated.ratio / ratio - 1.0) * 100.0;
        let evidence = Evidence::Stated {
            sentence: sentence.text.clone(),
            first: stated.first,
            second: stated.second,
            stated: stated.ratio,
            ratio,
            percent: (ratio - 1.0) * 100.0,
            off_percent,
            limit_percent: thresholds.wording,
        };
        let agrees = off_percent.abs() <= thresholds.wording;
        result.check(agrees, evidence, Error, Next::StateRatio);
    }
    result.verdict(Rule::Wording, &AuditSubject::Named(sentence.text.clone()))
}

/// Whether the parts of a time add up to it.
pub(super) fn added_up(duration: &StatedDuration, thresholds: &Thresholds) -> RuleVerdict {
    let mut result = RuleResult::default();
    let sum_h = duration.sum_h.filter(|sum| *sum > 0.0);
    let times = duration.stated_h.zip(sum_h).ok_or(Missing::NoDuration);
    if let Some((stated_h, sum_h)) = result.read(times) {
        let off_percent = (stated_h / sum_h - 1.0) * 100.0;
        let limit_percent = thresholds.duration;
        let evidence = Evidence::AddedUp {
            parts: duration.parts.clone(),
            sum_h,
            stated_h,
            off_percent,
            limit_percent,
        };
        let agrees = off_percent.abs() <= limit_percent;
        result.check(agrees, evidence, Error, Next::AskForTimes);
    }
    result.verdict(Rule::Duration, &AuditSubject::Named(duration.name.clone()))
}
