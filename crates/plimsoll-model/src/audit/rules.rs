//! The rules: functions of what was seen and of the thresholds, nothing else.

mod file;
mod load;
mod pair;
mod plausible;
mod result;
mod site;
mod table;
#[cfg(test)]
mod tests;

use super::input::AuditInput;
use super::{About, Missing, Rule, RuleOutcome, RuleVerdict, Thresholds};

pub(crate) use pair::unequal;
pub(super) use pair::{DRIVE, VICTIMS};
pub(super) use site::DURABILITY;

/// Every rule about everything that it can be about. A rule that finds nothing to be about is not judged, and says why.
pub fn judge(seen: &AuditInput, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let mut judged: Vec<RuleVerdict> = Vec::new();
    seen.sites.iter().for_each(|site| judged.extend(site::judge(site, thresholds)));
    seen.loads.iter().for_each(|load| judged.extend(load::judge(load, thresholds)));
    seen.pairs.iter().for_each(|pair| judged.extend(pair::judge(pair, thresholds)));
    judged.extend(seen.moves.iter().map(|moved| table::moved(moved, thresholds)));
    judged.extend(seen.sentences.iter().map(|sentence| table::worded(sentence, thresholds)));
    judged.extend(seen.durations.iter().map(|duration| table::added_up(duration, thresholds)));
    judged.extend(seen.file.as_ref().map(file::judge));
    for rule in Rule::ALL {
        if !judged.iter().any(|judged| judged.rule == rule) {
            let outcome = RuleOutcome::NotEvaluated { because: nothing_to_judge(rule) };
            judged.push(RuleVerdict { rule, about: About::Whole, outcome });
        }
    }
    // Stable: what each is about keeps its order.
    judged.sort_by_key(|judged| judged.rule);
    judged
}

/// Why there is nothing that a rule could be about.
fn nothing_to_judge(rule: Rule) -> Missing {
    match rule {
        Rule::Maint | Rule::OneFactor | Rule::Victims | Rule::Size | Rule::Repeat => Missing::OneSide,
        Rule::Rate => Missing::NoBackup,
        Rule::Wording => Missing::NoSentence,
        Rule::Duration => Missing::NoDuration,
        Rule::Intact => Missing::NoRunFile,
        _ => Missing::NothingMeasured,
    }
}
