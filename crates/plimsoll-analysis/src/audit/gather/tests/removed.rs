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
fn no_rule_fires_for_a_metric_that_is_missing() {
    let record = fixture::record();
    let before = fired(&record);
    let metrics: BTreeSet<&str> = record
        .series
        .iter()
        .map(|series| series.metric.info().name)
        .collect();
    // Rules read these of the series; the others differ in nothing but their names.
    let read = metrics.into_iter().filter(|name| {
        [
            "db_checkpoints",
            "db_vacuums",
            "device_reads",
            "memory_total",
            "cpu_steal",
        ]
        .contains(name)
    });
    for name in read {
        let mut without = record.clone();
        without
            .series
            .retain(|series| series.metric.info().name != name);
        assert_new_is_empty(name, &before, &without);
        // On one side of each comparison.
        let mut one_side = record.clone();
        let place = record
            .series
            .iter()
            .position(|series| series.metric.info().name == name);
        one_side.series.remove(place.unwrap());
        assert_new_is_empty(name, &before, &one_side);
    }
    let mut without = record.clone();
    without.waits.clear();
    without.diagnoses.clear();
    without.checks.clear();
    without.drive.clear();
    assert_new_is_empty("waits, diagnoses, checks, drive", &before, &without);
}

fn assert_new_is_empty(what: &str, before: &BTreeSet<String>, without: &Record) {
    let after = fired(without);
    let new: Vec<&String> = after.difference(before).collect();
    assert!(new.is_empty(), "without {what}: {new:?}");
}
