//! The audit rules for two sides: whether they may be compared at all.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::ask::Ask;
use super::difference::{Difference, Factor, Group, setting_name};
use super::figures::{Effect, PointComparison};
use super::side::ComparedSide;
use crate::audit::{Evidence, Rule, unequal};
use plimsoll_plan::Interference;
use plimsoll_record::Severity;
use plimsoll_stats::FEWEST_REPEATS;

/// A rule that objects to a comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    pub rule: Rule,
    pub severity: Severity,
    #[serde(flatten)]
    pub evidence: Evidence,
}

pub(super) struct Sides<'a> {
    pub first: &'a ComparedSide,
    pub second: &'a ComparedSide,
    pub differences: &'a [Difference],
    /// In which loads that are compared differ.
    pub workloads: &'a [Difference],
    pub points: &'a [PointComparison],
    pub ask: &'a Ask,
}

pub(super) fn marks(sides: &Sides) -> Vec<Mark> {
    let mut marks = Vec::new();
    marks.extend(same_box(sides));
    marks.extend(durable(sides));
    marks.extend(one_factor(sides));
    marks.extend(victims(sides));
    marks.extend(repeats(sides));
    marks
}

fn value_or_dash(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "–".to_owned())
}

fn of(rule: Rule, evidence: Evidence) -> Mark {
    Mark {
        rule,
        severity: rule.severity(),
        evidence,
    }
}

fn same_box(sides: &Sides) -> Option<Mark> {
    let found = sides
        .differences
        .iter()
        .filter(|found| is_recorded(found))
        .find(|found| found.group == Group::GeneratorPlace)?;
    // Where it is what is compared, it has to differ.
    let wanted = sides.ask.factor == Some(Group::GeneratorPlace);
    let evidence = Evidence::GeneratorsAt {
        first: value_or_dash(&found.first),
        second: value_or_dash(&found.second),
    };
    (!wanted).then(|| of(Rule::SameBox, evidence))
}

/// A value that one side does not record is not known to differ.
fn durable(sides: &Sides) -> Vec<Mark> {
    let mut marks = Vec::new();
    for found in sides.differences {
        let (Some(of_first), Some(of_second)) = (&found.first, &found.second) else {
            continue;
        };
        let name = setting_name(&found.key);
        let mut first = sides.first.configuration.settings(&found.of);
        first.insert(name.to_owned(), of_first.clone());
        let mut second = sides.second.configuration.settings(&found.of);
        second.insert(name.to_owned(), of_second.clone());
        let evidence = unequal(name, &first, &second);
        marks.extend(evidence.map(|evidence| of(Rule::Durable, evidence)));
    }
    marks
}

fn is_recorded(found: &Difference) -> bool {
    found.first.is_some() && found.second.is_some()
}

/// What differs between the sides, by group. A group of which one side records nothing, such as an imported one, is not
/// known to differ.
pub(super) fn factors(sides: &Sides) -> Vec<Factor> {
    let configured = sides.differences.iter().filter(|found| {
        found.group != Group::Incidental
            && sides.first.configuration.records(found.group)
            && sides.second.configuration.records(found.group)
    });
    let workloads = sides.workloads.iter().filter(|found| is_recorded(found));
    let mut groups: BTreeMap<Group, BTreeSet<String>> = BTreeMap::new();
    for found in configured.chain(workloads) {
        let names = groups.entry(found.group).or_default();
        names.insert(setting_name(&found.key).to_owned());
    }
    let groups = groups.into_iter();
    groups
        .map(|(group, names)| Factor {
            group,
            names: names.into_iter().collect(),
        })
        .collect()
}

/// Where one group was named as the cause, nothing else may differ. Without a named cause the ratio is of all that differs.
fn one_factor(sides: &Sides) -> Option<Mark> {
    let named = sides.ask.factor?;
    let groups = factors(sides).into_iter().map(|factor| factor.group);
    let beside: Vec<&str> = groups
        .filter(|group| *group != named)
        .map(Group::name)
        .collect();
    let evidence = Evidence::Factors {
        factor: named.name().to_owned(),
        differs: beside.join(", "),
    };
    (!beside.is_empty()).then(|| of(Rule::OneFactor, evidence))
}

/// Systems that are under load count alike on both sides wherever they are compared: a sum of eight is not less than one of
/// twelve because of what ran beside them.
fn victims(sides: &Sides) -> Option<Mark> {
    let changed = sides
        .points
        .iter()
        .find(|point| point.first.systems != point.second.systems)?;
    let evidence = Evidence::Victims {
        first: changed.first.systems as u32,
        second: changed.second.systems as u32,
        noise_first: noise(sides.first),
        noise_second: noise(sides.second),
    };
    Some(of(Rule::Victims, evidence))
}

fn noise(side: &ComparedSide) -> String {
    let is_noisy = side
        .points
        .iter()
        .any(|point| point.key.scene == Interference::Noisy);
    if is_noisy {
        Interference::Noisy.name().to_owned()
    } else {
        String::new()
    }
}

/// Few runs, or repeats that differ by more than the effect that is claimed.
fn repeats(sides: &Sides) -> Vec<Mark> {
    let first = sides.points.iter().map(|point| point.first.repeats).min();
    let second = sides.points.iter().map(|point| point.second.repeats).min();
    let mut marks = Vec::new();
    if let Some((first, second)) = first.zip(second)
        && (first < FEWEST_REPEATS || second < FEWEST_REPEATS)
    {
        let evidence = Evidence::Repeats {
            first: first as u32,
            second: second as u32,
            fewest: FEWEST_REPEATS as u32,
        };
        marks.push(of(Rule::Repeat, evidence));
    }
    let apart = sides
        .points
        .iter()
        .filter(|point| matches!(point.rate.effect, Effect::More | Effect::Less));
    let wider = apart.filter_map(|point| {
        let spread = [point.rate.first, point.rate.second]
            .into_iter()
            .filter_map(|side| side?.spread_percent())
            .reduce(f64::max)?;
        let effect_percent = (point.rate.ratio?.ratio - 1.0) * 100.0;
        (spread > effect_percent.abs()).then_some((spread, effect_percent))
    });
    if let Some((spread_percent, effect_percent)) =
        wider.max_by(|a, b| (a.0 / a.1.abs()).total_cmp(&(b.0 / b.1.abs())))
    {
        marks.push(of(
            Rule::Repeat,
            Evidence::RepeatSpread {
                spread_percent,
                effect_percent,
            },
        ));
    }
    marks
}
