//! Rows of a record that are missing make no rule fire.

use super::*;
use crate::audit::gather;
use crate::audit::rules::evaluate;
use crate::audited::figures;
use plimsoll_plan::Thresholds;
use std::collections::BTreeSet;

/// A rule that fired, and what it is about.
fn fired(record: &Record) -> BTreeSet<String> {
    let input = gather::of_run(record, &figures(record));
    let verdicts = evaluate(&input, &Thresholds::default());
    let fired = verdicts.iter().filter(|own| {
        // A finding may be about what is missing: that a second has no record.
        own.outcome.severity() > Some(Severity::Note) && own.rule != Rule::Finding
    });
    fired
        .map(|own| format!("{} {:?}", own.rule.code(), own.about))
        .collect()
}

#[test]
fn no_rule_fires_for_a_fact_or_a_metric_that_is_missing() {
    for record in [fixture::record(), fixture::block()] {
        let before = fired(&record);
        let check = |what: &str, without: &Record| {
            let after = fired(without);
            let new: Vec<&String> = after.difference(&before).collect();
            assert!(new.is_empty(), "without {what}: {new:?}");
        };
        for i in 0..record.facts.len() {
            let mut without = record.clone();
            let fact = without.facts.remove(i);
            check(&fact.key, &without);
        }
        for i in 0..record.series.len() {
            let mut without = record.clone();
            let series = without.series.remove(i);
            check(series.metric.info().name, &without);
        }
        let removals: [(&str, fn(&mut Record)); 6] = [
            ("waits", |record| record.waits.clear()),
            ("diagnoses", |record| record.diagnoses.clear()),
            ("checks", |record| record.checks.clear()),
            ("events", |record| record.events.clear()),
            ("drive", |record| record.drive.clear()),
            ("cuts", |record| record.cuts.clear()),
        ];
        for (what, remove) in removals {
            let mut without = record.clone();
            remove(&mut without);
            check(what, &without);
        }
    }
}
