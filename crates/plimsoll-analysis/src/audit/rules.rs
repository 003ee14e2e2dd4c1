//! The rules: functions of their input and of the thresholds, nothing else.

mod client;
mod file;
mod finding;
mod load;
mod pair;
mod plausible;
mod result;
mod system;
mod table;
#[cfg(test)]
mod tests;

use super::input::{AuditInput, LoadInput};
use super::{AuditSubject, Missing, Rule, RuleOutcome, RuleVerdict, Thresholds};

use plimsoll_record::Severity;

pub(crate) use pair::unequal;
pub(super) use pair::{BACKUPS, DRIVE, VICTIMS};
pub(super) use system::DURABILITY;

/// Every rule about everything that it can be about. A rule without a subject is not evaluated, and has the reason.
pub fn evaluate(input: &AuditInput, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let systems = input.systems.iter();
    let loads = input.loads.iter();
    let pairs = input.pairs.iter();
    let moves = input.moves.iter();
    let sentences = input.sentences.iter();
    let durations = input.durations.iter();
    let mut verdicts: Vec<RuleVerdict> = systems
        .flat_map(|system| system::evaluate(system, thresholds))
        .chain(loads.flat_map(|load| load::evaluate(load, thresholds)))
        .chain(pairs.flat_map(|pair| pair::evaluate(pair, thresholds)))
        .chain(moves.map(|moved| table::moved(moved, thresholds)))
        .chain(sentences.map(|sentence| table::claimed_sentence(sentence, thresholds)))
        .chain(durations.map(|duration| table::added_up(duration, thresholds)))
        .chain(input.file.as_ref().map(file::evaluate))
        .collect();
    let findings = finding::evaluate(input, &verdicts);
    verdicts.extend(findings);
    complete(verdicts, Rule::no_subject)
}

/// The rule by which the figures of a load cannot all be true. What the summary has found itself is a finding already.
pub fn contradiction(load: &LoadInput, thresholds: &Thresholds) -> Option<Rule> {
    let verdicts = load::evaluate(load, thresholds);
    let mut found = verdicts.iter().filter(|verdict| {
        matches!(verdict.rule, Rule::Little | Rule::Plausible)
            && verdict.outcome.severity() == Some(Severity::Error)
    });
    found.next().map(|verdict| verdict.rule)
}

/// What can be evaluated without knowing the plan of a run.
pub fn evaluate_file(input: &AuditInput) -> Vec<RuleVerdict> {
    let verdicts = input.file.iter().map(file::evaluate).collect();
    complete(verdicts, |_| Missing::PlanUnreadable)
}

/// All rules, those without a verdict with the reason.
fn complete(mut verdicts: Vec<RuleVerdict>, why: fn(Rule) -> Missing) -> Vec<RuleVerdict> {
    for rule in Rule::ALL {
        if !verdicts.iter().any(|verdict| verdict.rule == rule) {
            let outcome = RuleOutcome::NotEvaluated { because: why(rule) };
            verdicts.push(RuleVerdict {
                rule,
                about: AuditSubject::Whole,
                outcome,
            });
        }
    }
    // Stable: what each is about keeps its order.
    verdicts.sort_by_key(|verdict| verdict.rule);
    verdicts
}
