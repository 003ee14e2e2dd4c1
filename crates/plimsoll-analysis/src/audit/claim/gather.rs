//! What rules read, from a claim.

use std::collections::BTreeMap;

use super::row;
use super::{
    ClaimDuration, ClaimFigure, ClaimSentence, ClaimSide, Method, PublishedClaim, Relation,
};
use crate::audit::input::{
    AuditInput, AuditedSide, LoadInput, LoadMaintenance, Move, Pair, Sentence, Settings,
    StatedDuration, StatedRatio, SystemInput,
};
use crate::audit::rules::VICTIMS;
use crate::audit::{AuditSubject, Missing};
use crate::summary::{FigureId, FigureSet};
use plimsoll_plan::duration;

/// A flush cannot be sooner than a turn of the disk, less 10 % for one that turns faster than stated.
const TURN_TOLERANCE: f64 = 0.9;
/// A row with one of these is of a backup or restore.
const MOVES: [FigureId; 2] = [FigureId::Seconds, FigureId::MovedMb];
/// Nothing can be divided by these where they are 0.
const DIVISORS: [FigureId; 3] = [FigureId::InFlight, FigureId::Nopm, FigureId::MovedMb];

pub(super) fn of_claim(claim: &PublishedClaim) -> AuditInput {
    let systems = match claim.side.as_slice() {
        [] => vec![system(AuditSubject::Whole, &claim.method)],
        sides => sides
            .iter()
            .map(|side| system(AuditSubject::Named(side.name.clone()), &method(claim, side)))
            .collect(),
    };
    let (moves, rows): (Vec<_>, Vec<_>) = claim.figure.iter().partition(|figure| {
        MOVES
            .iter()
            .any(|of_move| figure.stated(*of_move).is_some())
    });
    AuditInput {
        systems,
        loads: rows
            .iter()
            .map(|figure| load(claim, figure, &rows))
            .collect(),
        pairs: claim
            .comparison
            .iter()
            .filter_map(|comparison| pair(claim, comparison))
            .collect(),
        moves: moves.iter().map(|figure| moved(figure)).collect(),
        sentences: claim
            .sentence
            .iter()
            .map(|sentence| claimed_sentence(claim, sentence))
            .collect(),
        durations: claim.duration.iter().map(stated_duration).collect(),
        others: Vec::new(),
        file: None,
    }
}

/// The side that this one is like.
fn model<'a>(claim: &'a PublishedClaim, side: &ClaimSide) -> Option<&'a ClaimSide> {
    let name = side.like.as_ref()?;
    claim.side.iter().find(|other| other.name == *name)
}

/// What a side states, else the side that it is like, else the claim for all.
fn method(claim: &PublishedClaim, side: &ClaimSide) -> Method {
    match model(claim, side) {
        Some(model) => merge(&side.method, &merge(&model.method, &claim.method)),
        None => merge(&side.method, &claim.method),
    }
}

fn merged_values<K: Ord + Clone, V: Clone>(
    own: &BTreeMap<K, V>,
    all: &BTreeMap<K, V>,
) -> BTreeMap<K, V> {
    let mut both = all.clone();
    both.extend(own.clone());
    both
}

fn merge(own: &Method, all: &Method) -> Method {
    Method {
        generator: own.generator.or(all.generator),
        latency_from: own.latency_from.or(all.latency_from),
        percentiles: own.percentiles.or(all.percentiles),
        runs: own.runs.or(all.runs),
        governor: own.governor.clone().or_else(|| all.governor.clone()),
        durability: merged_values(&own.durability, &all.durability),
        warehouses: own.warehouses.or(all.warehouses),
        rows: own.rows.or(all.rows),
        maintenance: merged_values(&own.maintenance, &all.maintenance),
        numbers: merged_values(&own.numbers, &all.numbers),
    }
}

fn above_zero(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 0.0)
}

fn figures_of(method: &Method) -> FigureSet {
    let stated = method.numbers.iter();
    stated.map(|(figure, value)| (*figure, *value)).collect()
}

fn system(about: AuditSubject, method: &Method) -> SystemInput {
    let mut figures = figures_of(method);
    let flushes = above_zero(figures.value(FigureId::FlushesPerSecond));
    let rpm = above_zero(figures.value(FigureId::DiskRpm));
    figures.put_some(FigureId::FlushUs, flushes.map(|flushes| 1e6 / flushes));
    let turn_us = rpm.map(|rpm| 60e6 / rpm * TURN_TOLERANCE);
    figures.put_some(FigureId::FastestFlushUs, turn_us);
    SystemInput {
        generator: method.generator.ok_or(Missing::NoPlace),
        latencies: method.latency_from.map(|from| from.name().to_owned()),
        percentiles: method.percentiles.map(|from| from.name().to_owned()),
        durability: method.durability.clone(),
        governor: method.governor.clone(),
        figures,
        ..SystemInput::unknown(about)
    }
}

fn load(claim: &PublishedClaim, row: &ClaimFigure, rows: &[&ClaimFigure]) -> LoadInput {
    let side = claim.side.iter().find(|side| side.name == row.side);
    let method = side.map_or_else(|| claim.method.clone(), |side| method(claim, side));
    let mut figures = figures_of(&method);
    put_row(row, &mut figures);
    LoadInput {
        figures,
        drive: row.emulated_drive.clone().unwrap_or_default(),
        failed_conditions: row.conditions_failed.clone(),
        rows: row::of(row, rows).into_iter().collect(),
        ..LoadInput::unknown(AuditSubject::Named(row.title()))
    }
}

/// Figures of a row, and those that follow from them.
fn put_row(row: &ClaimFigure, figures: &mut FigureSet) {
    let is_usable = |(figure, value): &(FigureId, f64)| *value > 0.0 || !DIVISORS.contains(figure);
    figures.extend(row.figures().filter(is_usable));
    figures.put_some(FigureId::TimeInFlight, row.stated(FigureId::Mean));
    let halves = above_zero(row.stated(FigureId::FirstHalf))
        .zip(row.stated(FigureId::SecondHalf))
        .map(|(first, second)| (second / first - 1.0) * 100.0);
    figures.put_some(FigureId::HalvesPercent, halves);
    let count = |count: u64| count as f64;
    figures.put_some(FigureId::Offered, row.offered.map(count));
    figures.put_some(FigureId::Settled, settled(row).map(count));
    let dropped = row.dropped.map(count);
    let offered = row.offered.filter(|offered| *offered > 0).unwrap_or(1);
    let dropped_percent = dropped.map(|dropped| dropped * 100.0 / count(offered));
    figures.put_some(FigureId::Dropped, dropped);
    figures.put_some(FigureId::DroppedPercent, dropped_percent);
    let verified = row.conditions_verified.map(f64::from);
    figures.put_some(FigureId::ConditionsVerified, verified);
    let drive = row.emulated_drive.as_ref();
    let ops = drive.map(|_| count(row.emulated_ops));
    figures.put_some(FigureId::EmulatedOps, ops);
}

/// Transactions that ended in one way or another.
fn settled(row: &ClaimFigure) -> Option<u64> {
    let parts = [
        row.committed?,
        row.rolled_back.unwrap_or(0),
        row.failed?,
        row.dropped?,
    ];
    Some(parts.into_iter().fold(0u64, u64::saturating_add))
}

fn moved(row: &ClaimFigure) -> Move {
    let mut moved = Move {
        about: AuditSubject::Named(row.title()),
        ..Move::default()
    };
    put_row(row, &mut moved.figures);
    moved
}

fn pair(claim: &PublishedClaim, comparison: &super::ClaimComparison) -> Option<Pair> {
    let named = |name: &str| claim.side.iter().find(|side| side.name == name);
    let mut first = side(claim, named(&comparison.first)?);
    let mut second = side(claim, named(&comparison.second)?);
    // What only one side states may be the same on the other.
    let (one, other) = (&mut first.configuration, &mut second.configuration);
    one.retain(|key, _| other.contains_key(key));
    other.retain(|key, _| one.contains_key(key));
    let effect_percent = comparison.effect_percent.ok_or(Missing::NoSentence);
    Some(Pair {
        factor: comparison.factor.clone(),
        effect_percent,
        ..Pair::unknown(first, second)
    })
}

fn toml_text(value: &toml::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn side(claim: &PublishedClaim, side: &ClaimSide) -> AuditedSide {
    let method = method(claim, side);
    let of_model = model(claim, side)
        .into_iter()
        .flat_map(|model| &model.configuration);
    let mut configuration: Settings = of_model
        .chain(&side.configuration)
        .map(|(key, value)| (key.clone(), toml_text(value)))
        .collect();
    configuration.extend(
        side.victims
            .map(|victims| (VICTIMS.to_owned(), victims.to_string())),
    );
    let mut ratios = claim
        .figure
        .iter()
        .filter(|row| row.side == side.name)
        .filter_map(|row| {
            Some(row.stated(FigureId::Tpm)? / above_zero(row.stated(FigureId::Nopm))?)
        });
    let units = method
        .warehouses
        .map(|n| ("warehouse", n))
        .or(method.rows.map(|n| ("row", n)))
        .filter(|(_, n)| *n > 0);
    let mut figures = figures_of(&method);
    let bytes = figures.value(FigureId::DataMb).map(|mb| mb * 1e6);
    let each = bytes.zip(units).map(|(bytes, (_, n))| bytes / n as f64);
    figures.put_some(FigureId::BytesPerUnit, each);
    figures.put_some(FigureId::Victims, side.victims.map(f64::from));
    // The last row of a ladder is the one that is quoted.
    figures.put_some(FigureId::TpmPerNopm, ratios.next_back());
    figures.put_some(FigureId::Runs, method.runs.map(f64::from));
    AuditedSide {
        generator: method.generator.ok_or(Missing::NoPlace),
        durability: method.durability.clone(),
        configuration,
        maintained: match method.maintenance.is_empty() {
            true => Err(Missing::NoMaintenance),
            false => Ok(vec![LoadMaintenance {
                load: String::new(),
                ran: method.maintenance.clone(),
            }]),
        },
        noise: side.noise.clone(),
        data_unit: units.map(|(unit, _)| unit.to_owned()).unwrap_or_default(),
        figures,
        ..AuditedSide::unknown(&side.name)
    }
}

/// `figure name: key`, or `figure name, side: key`.
pub(super) fn value_of(claim: &PublishedClaim, reference: &str) -> Option<f64> {
    let (name, key) = reference.rsplit_once(": ")?;
    let figure = claim
        .figure
        .iter()
        .find(|figure| figure.title() == name || figure.name == name)?;
    figure.number(key)
}

fn values_of(claim: &PublishedClaim, names: &[String]) -> Option<Vec<f64>> {
    names.iter().map(|name| value_of(claim, name)).collect()
}

fn claimed_sentence(claim: &PublishedClaim, sentence: &ClaimSentence) -> Sentence {
    let stated = stated_ratio(claim, sentence);
    Sentence {
        text: sentence.text.clone(),
        stated: stated.filter(|stated| stated.first > 0.0 && stated.second > 0.0),
    }
}

/// A sentence as a ratio, with its two figures.
fn stated_ratio(claim: &PublishedClaim, sentence: &ClaimSentence) -> Option<StatedRatio> {
    let of = values_of(claim, &sentence.of)?;
    let than = values_of(claim, &sentence.than)?;
    let first = *of.first()?;
    let rest = than.first().copied();
    let sum: f64 = of.iter().sum();
    let value = sentence.value;
    let (ratio, first, second) = match sentence.relation {
        Relation::Times => (value, first, rest?),
        Relation::PercentOf => (value / 100.0, first, rest?),
        Relation::PercentMore => (1.0 + value / 100.0, first, rest?),
        Relation::PercentLess => (1.0 - value / 100.0, first, rest?),
        // The stated value against that of the figures.
        Relation::Sum => (1.0, sum, value),
        Relation::Mean => (1.0, sum / of.len() as f64, value),
        Relation::Difference => (1.0, first - rest?, value),
    };
    Some(StatedRatio {
        ratio,
        first,
        second,
    })
}

fn hours(text: &str) -> Option<f64> {
    duration::parse(text)
        .ok()
        .map(|lasts| lasts.as_secs_f64() / 3600.0)
}

fn stated_duration(duration: &ClaimDuration) -> StatedDuration {
    let parts = duration.parts.iter().map(|part| match part.times {
        1 => format!("{} ({})", part.lasts, part.name),
        times => format!("{times} × {} ({})", part.lasts, part.name),
    });
    let sum_h = duration
        .parts
        .iter()
        .map(|part| Some(hours(&part.lasts)? * f64::from(part.times)))
        .sum();
    StatedDuration {
        name: duration.name.clone(),
        parts: parts.collect::<Vec<_>>().join(" + "),
        stated_h: duration.stated.as_deref().and_then(hours),
        sum_h,
    }
}
