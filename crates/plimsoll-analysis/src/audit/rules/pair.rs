//! Rules about two sides that are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::load::scatter;
use super::result::RuleResult;
use super::system::is_unsafe;
use crate::audit::input::{Known, Pair};
use crate::audit::{AuditSubject, Evidence, Next, Rule, RuleVerdict};
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity::{Error, Warning};

/// What is not the same in two places of one configuration: where things lie, not what they are.
const PLACES: [&str; 4] = [
    "unix_socket_directories",
    "data_directory",
    "socket",
    "datadir",
];
/// The factor where media stand beside each other.
pub(in crate::audit) const DRIVE: &str = "drive";
/// What comes with a drive: whether it is emulated, and where that keeps what is written.
const KINDS: [&str; 2] = ["form", "backing"];
/// Settings of an emulated drive that a directory does not have.
const OF_DRIVES: [&str; 3] = ["capacity", "fill", "flush"];
/// A kind of maintenance.
pub(in crate::audit) const BACKUPS: &str = "backups";
/// Set apart from the configuration by rules of their own.
pub(in crate::audit) const VICTIMS: &str = "loaded systems";

type PairCheck = fn(&Pair, &Thresholds, &mut RuleResult);

pub(super) fn evaluate(pair: &Pair, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let rules: [(Rule, PairCheck); 8] = [
        (Rule::SameBox, same_box),
        (Rule::Durable, durable),
        (Rule::Maint, maintained),
        (Rule::OneFactor, one_factor),
        (Rule::Victims, victims),
        (Rule::Ratio, ratio),
        (Rule::Size, size),
        (Rule::Repeat, repeat),
    ];
    let about = AuditSubject::Pair {
        first: pair.first.name.clone(),
        second: pair.second.name.clone(),
    };
    rules
        .into_iter()
        .map(|(rule, check)| {
            let mut result = RuleResult::default();
            check(pair, thresholds, &mut result);
            result.verdict(rule, &about)
        })
        .collect()
}

/// Both sides' figures; else notes the missing input.
fn both<'a, T>(
    first: &'a Known<T>,
    second: &'a Known<T>,
    result: &mut RuleResult,
) -> Option<(&'a T, &'a T)> {
    match (first, second) {
        (Ok(first), Ok(second)) => Some((first, second)),
        (Err(missing), _) | (_, Err(missing)) => {
            result.missing(*missing);
            None
        }
    }
}

fn same_box(pair: &Pair, _: &Thresholds, result: &mut RuleResult) {
    let Some((first, second)) = both(&pair.first.generator, &pair.second.generator, result) else {
        return;
    };
    let evidence = Evidence::GeneratorsAt {
        first: first.name().to_owned(),
        second: second.name().to_owned(),
    };
    // Where it is what is compared, it has to differ.
    result.check(
        first == second || pair.factor == "generator",
        evidence,
        Error,
        Next::MoveBothClients,
    );
}

fn durable(pair: &Pair, _: &Thresholds, result: &mut RuleResult) {
    let Some((first, second)) = both(&pair.first.durability, &pair.second.durability, result)
    else {
        return;
    };
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let mut same = Vec::new();
    for name in names {
        match unequal(name, first, second) {
            Some(evidence) => result.fail(evidence, Error, Next::MakeEqual),
            None => same.push(name.clone()),
        }
    }
    result.pass(Evidence::Safe {
        settings: same.join(", "),
    });
}

/// A drive's cache may differ with the drive: what counts is whether one side gives up what the other keeps.
pub(crate) fn unequal(
    name: &str,
    first: &BTreeMap<String, String>,
    second: &BTreeMap<String, String>,
) -> Option<Evidence> {
    (is_weak(first, name) != is_weak(second, name)).then(|| Evidence::SettingsDiffer {
        setting: name.to_owned(),
        first: value_or_dash(first, name).to_owned(),
        second: value_or_dash(second, name).to_owned(),
    })
}

/// Runs of one side that do not agree have all their values here.
fn is_weak(settings: &BTreeMap<String, String>, name: &str) -> bool {
    settings.get(name).is_some_and(|all| {
        all.split(" | ")
            .any(|value| is_unsafe(settings, name, value))
    })
}

fn value_or_dash<'a>(side: &'a BTreeMap<String, String>, key: &str) -> &'a str {
    side.get(key).map_or("–", String::as_str)
}

fn maintained(pair: &Pair, _: &Thresholds, result: &mut RuleResult) {
    let Some((first, second)) = both(&pair.first.maintained, &pair.second.maintained, result)
    else {
        return;
    };
    let mut compared = false;
    for (load, first) in first {
        let Some((_, second)) = second.iter().find(|(other, _)| other == load) else {
            continue;
        };
        let kinds: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
        for kind in kinds {
            let Some((a, b)) = times(first, kind).zip(times(second, kind)) else {
                continue;
            };
            let what = if load.is_empty() {
                kind.clone()
            } else {
                format!("{kind} ({load})")
            };
            let evidence = Evidence::Maintenance {
                what,
                first: a,
                second: b,
            };
            result.check(
                (a > 0.0) == (b > 0.0),
                evidence,
                Warning,
                Next::CoverMaintenance,
            );
            compared = true;
        }
    }
    if !compared {
        result.missing(crate::audit::Missing::NoMaintenance);
    }
}

/// How often it ran; `None`: not counted. Backups have no counter, they are there or not.
fn times(ran: &BTreeMap<String, f64>, kind: &str) -> Option<f64> {
    let none = (kind == BACKUPS).then_some(0.0);
    ran.get(kind).copied().or(none)
}

fn one_factor(pair: &Pair, _: &Thresholds, result: &mut RuleResult) {
    if let Some(evidence) = &pair.unlike {
        result.fail(evidence.clone(), Error, Next::SameWorkload);
    }
    let Some((first, second)) = both(
        &pair.first.configuration,
        &pair.second.configuration,
        result,
    ) else {
        return;
    };
    let keys: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    // Where noise differs, that is what is compared: systems that make it are not among those whose figures are.
    let noise = pair.first.noise != pair.second.noise;
    let differing: Vec<&String> = keys
        .iter()
        .filter(|key| {
            first.get(**key) != second.get(**key)
                && !PLACES.iter().any(|place| key.ends_with(place))
                && !(noise && **key == VICTIMS)
        })
        .copied()
        .collect();
    // A drive that is emulated is another kind of medium than a directory is: that is one difference, not several.
    let other_kind = first.get(KINDS[0]) != second.get(KINDS[0]);
    let of_one = |key: &str| {
        other_kind
            && OF_DRIVES.contains(&key)
            && first.contains_key(key) != second.contains_key(key)
    };
    let is_factor = |key: &str| {
        key == pair.factor
            || (pair.factor == DRIVE && (KINDS.contains(&key) || of_one(key)))
            || key
                .strip_prefix("setting.")
                .is_some_and(|key| key == pair.factor)
    };
    let beside: Vec<&str> = differing
        .iter()
        .map(|key| key.as_str())
        .filter(|key| !is_factor(key))
        .collect();
    // Where no factor is named, one difference is it; noise is one as well.
    let allowed = usize::from(pair.factor.is_empty() && !noise);
    let factor = match beside.as_slice() {
        [only] if allowed == 1 => (*only).to_owned(),
        _ if pair.factor.is_empty() && noise => "noise".to_owned(),
        _ => pair.factor.clone(),
    };
    let fires = beside.len() > allowed;
    let differs = if fires {
        beside
            .iter()
            .map(|key| {
                let first = value_or_dash(first, key);
                let second = value_or_dash(second, key);
                format!("{key}: {first} / {second}")
            })
            .collect::<Vec<_>>()
            .join("; ")
    } else {
        String::new()
    };
    // Without a named factor nothing is attributed to one: figures hold, their cause is not shown.
    let names_cause = !pair.factor.is_empty() || noise;
    result.check(
        !fires,
        Evidence::Factors { factor, differs },
        if names_cause { Error } else { Warning },
        Next::ChangeOneThing,
    );
}

fn victims(pair: &Pair, _: &Thresholds, result: &mut RuleResult) {
    let noise_first = pair.first.noise.clone();
    let noise_second = pair.second.noise.clone();
    if noise_first == noise_second {
        return result.missing(crate::audit::Missing::NoNoise);
    }
    let Some((first, second)) = both(&pair.first.victims, &pair.second.victims, result) else {
        return;
    };
    let evidence = Evidence::Victims {
        first: *first,
        second: *second,
        noise_first,
        noise_second,
    };
    result.check(first == second, evidence, Error, Next::KeepVictims);
}

fn ratio(pair: &Pair, thresholds: &Thresholds, result: &mut RuleResult) {
    let Some((first, second)) = both(&pair.first.tpm_per_nopm, &pair.second.tpm_per_nopm, result)
    else {
        return;
    };
    let off_percent = (second / first - 1.0) * 100.0;
    let counted: Vec<f64> = [pair.first.new_orders, pair.second.new_orders]
        .into_iter()
        .flatten()
        .collect();
    let limit_percent = thresholds.ratio.max(scatter(thresholds, &counted));
    let evidence = Evidence::RatiosDiffer {
        first: *first,
        second: *second,
        off_percent,
        limit_percent,
    };
    result.check(
        off_percent.abs() <= limit_percent,
        evidence,
        Error,
        Next::CountTransactions,
    );
}

fn size(pair: &Pair, thresholds: &Thresholds, result: &mut RuleResult) {
    let Some(((unit, first), (of, second))) =
        both(&pair.first.bytes_per, &pair.second.bytes_per, result)
    else {
        return;
    };
    if unit != of {
        return result.missing(crate::audit::Missing::NotForThisLoad);
    }
    let off_percent = (second / first - 1.0) * 100.0;
    let limit_percent = thresholds.size;
    let evidence = Evidence::BytesPer {
        unit: unit.clone(),
        first: *first,
        second: *second,
        off_percent,
        limit_percent,
    };
    result.check(
        off_percent.abs() <= limit_percent,
        evidence,
        Warning,
        Next::LoadSameData,
    );
}

fn repeat(pair: &Pair, thresholds: &Thresholds, result: &mut RuleResult) {
    if let Some((first, second)) = both(&pair.first.runs, &pair.second.runs, result) {
        let fewest = thresholds.repeats as u32;
        let evidence = Evidence::Repeats {
            first: *first,
            second: *second,
            fewest,
        };
        result.check(
            *first >= fewest && *second >= fewest,
            evidence,
            Warning,
            Next::RepeatMore,
        );
    }
    let spread = match (pair.first.spread_percent, pair.second.spread_percent) {
        (Ok(first), Ok(second)) => first.max(second),
        // One run has no spread; the runs were checked above.
        (Err(missing), _) | (_, Err(missing)) => return result.missing(missing),
    };
    match pair.effect_percent {
        Err(missing) => result.missing(missing),
        Ok(effect_percent) => {
            let evidence = Evidence::RepeatSpread {
                spread_percent: spread,
                effect_percent,
            };
            result.check(
                spread <= effect_percent.abs(),
                evidence,
                Warning,
                Next::RepeatMore,
            );
        }
    }
}
