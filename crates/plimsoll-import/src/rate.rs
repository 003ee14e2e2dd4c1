//! Offered rates that no tool prints: transactions begun, divided by the time.

use super::load::ImportedLoad;
use plimsoll_record::import_facts::{DerivedRate, OFFERED_FACT, is_derived};

/// Where the rate is too low because of what was due and had not begun.
const AT_LEAST: &str =
    "at least: transactions that were due and had not begun at the end are not counted";

/// Repeats of one rate have one: the command line, which has it, is in no output.
pub(super) fn unify(loads: &mut [ImportedLoad]) {
    loads.iter_mut().for_each(mark_overload);
    let mut by_rate: Vec<usize> = (0..loads.len())
        .filter(|i| derived(&loads[*i]).is_some())
        .collect();
    by_rate.sort_by(|a, b| {
        loads[*a]
            .offered_per_second
            .partial_cmp(&loads[*b].offered_per_second)
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut groups: Vec<Group> = Vec::new();
    for i in by_rate {
        let Some(rate) = derived(&loads[i]) else {
            continue;
        };
        let is_own = |group: &&mut Group| {
            is_alike(&loads[group.loads[0]], &loads[i]) && group.rate.is_like(rate)
        };
        match groups.iter_mut().find(is_own) {
            Some(group) => {
                group.rate = group.rate.with(rate);
                group.loads.push(i);
            }
            None => groups.push(Group {
                rate,
                loads: vec![i],
            }),
        }
    }
    for group in groups {
        group
            .loads
            .iter()
            .for_each(|i| loads[*i].offered_per_second = Some(group.rate.per_second));
    }
}

struct Group {
    rate: DerivedRate,
    loads: Vec<usize>,
}

fn derived(load: &ImportedLoad) -> Option<DerivedRate> {
    let is_own = load
        .facts
        .iter()
        .any(|(key, value)| key == OFFERED_FACT && is_derived(value));
    let over_s = load.lasted().as_secs_f64();
    let per_second = load.offered_per_second.filter(|_| is_own && over_s > 0.0)?;
    Some(DerivedRate { per_second, over_s })
}

fn is_alike(a: &ImportedLoad, b: &ImportedLoad) -> bool {
    a.users == b.users && a.parameters == b.parameters && a.tool.maker() == b.tool.maker()
}

/// A backlog that grows evenly to the end is on average half as long as what had not begun then.
fn mark_overload(load: &mut ImportedLoad) {
    let Some(rate) = derived(load) else { return };
    let unserved = 2.0 * mean_lag_s(load).unwrap_or_default() * rate.per_second;
    if unserved > rate.count().sqrt() {
        load.facts.retain(|(key, _)| key != OFFERED_FACT);
        load.fact(OFFERED_FACT, AT_LEAST);
    }
}

/// How late transactions began.
fn mean_lag_s(load: &ImportedLoad) -> Option<f64> {
    let printed = load
        .figures
        .iter()
        .find(|figure| figure.name == "schedule lag average" && figure.over.is_none());
    let logged = || {
        let window = load.windows.first()?.as_ref()?;
        let service = window.service.as_ref()?.mean()?;
        Some(
            window
                .response
                .mean()?
                .saturating_sub(service)
                .as_secs_f64(),
        )
    };
    printed.map(|figure| figure.value / 1e3).or_else(logged)
}
