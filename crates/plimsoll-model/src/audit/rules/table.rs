//! Rules about bytes that were moved, about sentences, and about times.

use super::result::RuleResult;
use crate::audit::input::{Move, Sentence, StatedDuration};
use crate::audit::{About, Evidence, Missing, Next, Rule, RuleVerdict, Thresholds};
use crate::record::Severity::{Error, Warning};

/// Whether bandwidth, time and bytes agree.
pub(super) fn moved(seen: &Move, thresholds: &Thresholds) -> RuleVerdict {
    let mut looked = RuleResult::default();
    match seen.moved {
        Err(missing) => looked.untold(missing),
        Ok((mb_per_second, seconds, moved_mb)) => {
            let product_mb = mb_per_second * seconds;
            let off_percent = (product_mb / moved_mb - 1.0) * 100.0;
            let limit_percent = thresholds.moved;
            let evidence = Evidence::Moved { mb_per_second, seconds, product_mb, moved_mb, off_percent, limit_percent };
            // As heavy as the summary's finding, where it has one.
            let severity = if seen.agrees.is_some() { Warning } else { Error };
            let agrees = seen.agrees.unwrap_or(off_percent.abs() <= limit_percent);
            looked.at(agrees, evidence, severity, Next::TellBytes);
        }
    }
    looked.judged(Rule::Rate, &seen.about)
}

/// Whether a sentence says what its figures give. "x % more" is a change, "x times" a ratio: a sentence is read as what
/// it says, and both are told.
pub(super) fn worded(sentence: &Sentence, thresholds: &Thresholds) -> RuleVerdict {
    let mut looked = RuleResult::default();
    match sentence.said {
        Err(missing) => looked.untold(missing),
        Ok((said, a, b)) => {
            let ratio = a / b;
            let off_percent = (said / ratio - 1.0) * 100.0;
            let evidence = Evidence::Said {
                sentence: sentence.text.clone(),
                first: a,
                second: b,
                said,
                ratio,
                percent: (ratio - 1.0) * 100.0,
                off_percent,
                limit_percent: thresholds.wording,
            };
            looked.at(off_percent.abs() <= thresholds.wording, evidence, Error, Next::SayRatio);
        }
    }
    looked.judged(Rule::Wording, &About::Named(sentence.text.clone()))
}

/// Whether the parts of a time add up to it.
pub(super) fn added_up(duration: &StatedDuration, thresholds: &Thresholds) -> RuleVerdict {
    let mut looked = RuleResult::default();
    match (duration.stated_h, duration.sum_h.filter(|sum| *sum > 0.0)) {
        (Err(missing), _) => looked.untold(missing),
        (Ok(_), None) => looked.untold(Missing::NoDuration),
        (Ok(stated_h), Some(sum_h)) => {
            let off_percent = (stated_h / sum_h - 1.0) * 100.0;
            let limit_percent = thresholds.duration;
            let parts = duration.parts.clone();
            let evidence = Evidence::AddedUp { parts, sum_h, stated_h, off_percent, limit_percent };
            looked.at(off_percent.abs() <= limit_percent, evidence, Error, Next::AskForTimes);
        }
    }
    looked.judged(Rule::Duration, &About::Named(duration.name.clone()))
}
