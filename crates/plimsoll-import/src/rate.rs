//! Offered rates that no tool prints: transactions begun, divided by the time.

use super::load::ImportedLoad;
use plimsoll_record::import_facts::DerivedRate;
use plimsoll_record::message::ImportNote;

/// Loads of one rate.
struct RateGroup {
    rate: DerivedRate,
    loads: Vec<usize>,
}

/// Repeats of one rate have one: the command line, which has it, is in no output.
pub(super) fn unify(loads: &mut [ImportedLoad]) {
    loads.iter_mut().for_each(mark_overload);
    let mut groups: Vec<RateGroup> = Vec::new();
    for (i, rate) in by_rate(loads) {
        let group = groups
            .iter_mut()
            .find(|group| is_alike(&loads[group.loads[0]], &loads[i]) && group.rate.is_like(rate));
        match group {
            Some(group) => {
                group.rate = group.rate.with(rate);
                group.loads.push(i);
            }
            None => groups.push(RateGroup {
                rate,
                loads: vec![i],
            }),
        }
    }
    for group in groups {
        for i in group.loads {
            loads[i].offered_per_second = Some(group.rate.per_second);
        }
    }
}

/// Loads whose rate is derived, from the lowest to the highest.
fn by_rate(loads: &[ImportedLoad]) -> Vec<(usize, DerivedRate)> {
    let rates = loads.iter().enumerate();
    let mut rates: Vec<(usize, DerivedRate)> = rates
        .filter_map(|(i, load)| Some((i, derived(load)?)))
        .collect();
    rates.sort_by(|(_, a), (_, b)| a.per_second.total_cmp(&b.per_second));
    rates
}

fn derived(load: &ImportedLoad) -> Option<DerivedRate> {
    let over_s = load.lasted().as_secs_f64();
    if !load.notes.contains(&ImportNote::OfferedDerived) || over_s <= 0.0 {
        return None;
    }
    let per_second = load.offered_per_second?;
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
        load.replace_note(ImportNote::OfferedAtLeast);
    }
}

/// How late transactions began.
fn mean_lag_s(load: &ImportedLoad) -> Option<f64> {
    if let Some(printed) = load.figures.find("schedule lag average") {
        return Some(printed.value / 1e3);
    }
    let window = load.windows.first()?.as_ref()?;
    let service = window.service.as_ref()?.mean()?;
    let lag = window.response.mean()?.saturating_sub(service);
    Some(lag.as_secs_f64())
}
