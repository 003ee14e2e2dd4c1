//! Rules about two sides that are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::load::scatter;
use super::result::{RuleCheck, RuleResult, verdicts};
use super::system::is_unsafe;
use crate::audit::input::{AuditedSide, Known, LoadMaintenance, Pair, Settings};
use crate::audit::{AuditSubject, Evidence, Missing, Next, Rule, RuleVerdict};
use crate::summary::FigureId;
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

const RULES: &[RuleCheck<Pair>] = &[
    (Rule::SameBox, same_box),
    (Rule::Durable, durable),
    (Rule::Maint, maintained),
    (Rule::OneFactor, one_factor),
    (Rule::Victims, victims),
    (Rule::Ratio, ratio),
    (Rule::Size, size),
    (Rule::Repeat, repeat),
];

pub(super) fn evaluate(pair: &Pair, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let about = AuditSubject::Pair {
        first: pair.first.name.clone(),
        second: pair.second.name.clone(),
    };
    verdicts(RULES, pair, &about, thresholds)
}

/// An input of both sides; else notes that it is missing.
fn both<'a, T>(
    pair: &'a Pair,
    input: impl Fn(&'a AuditedSide) -> Known<T>,
    result: &mut RuleResult,
) -> Option<(T, T)> {
    let first = result.read(input(&pair.first))?;
    Some((first, result.read(input(&pair.second))?))
}

fn both_figures(pair: &Pair, figure: FigureId, result: &mut RuleResult) -> Option<(f64, f64)> {
    both(pair, |side| side.figures.read(figure), result)
}

fn durability(side: &AuditedSide) -> Known<&Settings> {
    stated(&side.durability, Missing::NoSettings)
}

fn configuration(side: &AuditedSide) -> Known<&Settings> {
    stated(&side.configuration, Missing::NoConfiguration)
}

fn stated(settings: &Settings, missing: Missing) -> Known<&Settings> {
    match settings.is_empty() {
        true => Err(missing),
        false => Ok(settings),
    }
}

fn maintenance(side: &AuditedSide) -> Known<&[LoadMaintenance]> {
    let maintained = side.maintained.as_deref();
    maintained.map_err(|missing| *missing)
}

fn same_box(pair: &Pair, _: &Thresholds, result: &mut RuleResult) {
    let Some((first, second)) = both(pair, |side| side.generator, result) else {
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
    let Some((first, second)) = both(pair, durability, result) else {
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
pub(crate) fn unequal(name: &str, first: &Settings, second: &Settings) -> Option<Evidence> {
    (is_weak(first, name) != is_weak(second, name)).then(|| Evidence::SettingsDiffer {
        setting: name.to_owned(),
        first: value_or_dash(first, name).to_owned(),
        second: value_or_dash(second, name).to_owned(),
    })
}

/// Runs of one side that do not agree have all their values here.
fn is_weak(settings: &Settings, name: &str) -> bool {
    settings.get(name).is_some_and(|all| {
        all.split(" | ")
            .any(|value| is_unsafe(settings, name, value))
    })
}

fn value_or_dash<'a>(side: &'a Settings, key: &str) -> &'a str {
    side.get(key).map_or("–", String::as_str)
}

fn maintained(pair: &Pair, _: &Thresholds, result: &mut RuleResult) {
    let Some((first, second)) = both(pair, maintenance, result) else {
        return;
    };
    let mut compared = false;
    for first in first {
        let Some(second) = second.iter().find(|second| second.load == first.load) else {
            continue;
        };
        let kinds: BTreeSet<&String> = first.ran.keys().chain(second.ran.keys()).collect();
        for kind in kinds {
            let Some((a, b)) = times(&first.ran, kind).zip(times(&second.ran, kind)) else {
                continue;
            };
            let what = if first.load.is_empty() {
                kind.clone()
            } else {
                format!("{kind} ({})", first.load)
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
        result.missing(Missing::NoMaintenance);
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
    let Some((first, second)) = both(pair, configuration, result) else {
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
        return result.missing(Missing::NoNoise);
    }
    let Some((first, second)) = both_figures(pair, FigureId::Victims, result) else {
        return;
    };
    let evidence = Evidence::Victims {
        first: first as u32,
        second: second as u32,
        noise_first,
        noise_second,
    };
    result.check(first == second, evidence, Error, Next::KeepVictims);
}

fn ratio(pair: &Pair, thresholds: &Thresholds, result: &mut RuleResult) {
    let Some((first, second)) = both_figures(pair, FigureId::TpmPerNopm, result) else {
        return;
    };
    let off_percent = (second / first - 1.0) * 100.0;
    let counted: Vec<f64> = [&pair.first, &pair.second]
        .into_iter()
        .filter_map(|side| side.figures.value(FigureId::NewOrders))
        .collect();
    let limit_percent = thresholds.ratio.max(scatter(thresholds, &counted));
    let evidence = Evidence::RatiosDiffer {
        first,
        second,
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
    let Some((first, second)) = both_figures(pair, FigureId::BytesPerUnit, result) else {
        return;
    };
    let unit = &pair.first.data_unit;
    if *unit != pair.second.data_unit {
        return result.missing(Missing::NotForThisLoad);
    }
    let off_percent = (second / first - 1.0) * 100.0;
    let limit_percent = thresholds.size;
    let evidence = Evidence::BytesPer {
        unit: unit.clone(),
        first,
        second,
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
    if let Some((first, second)) = both_figures(pair, FigureId::Runs, result) {
        let fewest = thresholds.repeats as u32;
        let evidence = Evidence::Repeats {
            first: first as u32,
            second: second as u32,
            fewest,
        };
        let is_enough = first.min(second) >= f64::from(fewest);
        result.check(is_enough, evidence, Warning, Next::RepeatMore);
    }
    // One run has no spread; the runs were checked above.
    let Some((first, second)) = both_figures(pair, FigureId::SpreadPercent, result) else {
        return;
    };
    let spread_percent = first.max(second);
    if let Some(effect_percent) = result.read(pair.effect_percent) {
        let evidence = Evidence::RepeatSpread {
            spread_percent,
            effect_percent,
        };
        let within = spread_percent <= effect_percent.abs();
        result.check(within, evidence, Warning, Next::RepeatMore);
    }
}
