//! What rules read, from a claim.

use std::collections::BTreeMap;

use super::row;
use super::{
    ClaimDuration, ClaimFigure, ClaimSentence, ClaimSide, Method, PublishedClaim, Relation,
};
use crate::audit::input::{
    AuditInput, AuditedSide, Counted, InFlight, Known, LoadFacts, Move, Pair, Precision, Sentence,
    StatedDuration, SystemFacts, WindowTrend,
};
use crate::audit::rules::VICTIMS;
use crate::audit::{AuditSubject, Missing};
use plimsoll_plan::duration;

/// A flush cannot be sooner than a turn of the disk, less 10 % for one that turns faster than stated.
const TURN_TOLERANCE: f64 = 0.9;

pub(super) fn of_claim(claim: &PublishedClaim) -> AuditInput {
    let systems = match claim.side.as_slice() {
        [] => vec![system(AuditSubject::Whole, &claim.method)],
        sides => sides
            .iter()
            .map(|side| system(AuditSubject::Named(side.name.clone()), &method(claim, side)))
            .collect(),
    };
    let (moves, rows): (Vec<_>, Vec<_>) = claim
        .figure
        .iter()
        .partition(|figure| figure.seconds.is_some() || figure.moved_mb.is_some());
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

fn merged_values(
    own: &BTreeMap<String, f64>,
    all: &BTreeMap<String, f64>,
) -> BTreeMap<String, f64> {
    let mut both = all.clone();
    both.extend(own.clone());
    both
}

fn merge(own: &Method, all: &Method) -> Method {
    let mut durability = all.durability.clone();
    durability.extend(own.durability.clone());
    Method {
        generator: own.generator.or(all.generator),
        latency_from: own.latency_from.or(all.latency_from),
        percentiles: own.percentiles.or(all.percentiles),
        runs: own.runs.or(all.runs),
        governor: own.governor.clone().or_else(|| all.governor.clone()),
        steal_percent: own.steal_percent.or(all.steal_percent),
        other_io_percent: own.other_io_percent.or(all.other_io_percent),
        calibration_off_percent: own.calibration_off_percent.or(all.calibration_off_percent),
        fill: own.fill.or(all.fill),
        compressible_percent: own.compressible_percent.or(all.compressible_percent),
        stated_compressible_percent: own
            .stated_compressible_percent
            .or(all.stated_compressible_percent),
        durability,
        disk_rpm: own.disk_rpm.or(all.disk_rpm),
        flushes_per_second: own.flushes_per_second.or(all.flushes_per_second),
        spread_percent: own.spread_percent.or(all.spread_percent),
        data_mb: own.data_mb.or(all.data_mb),
        memory_mb: own.memory_mb.or(all.memory_mb),
        warehouses: own.warehouses.or(all.warehouses),
        rows: own.rows.or(all.rows),
        maintenance: merged_values(&own.maintenance, &all.maintenance),
    }
}

fn durability(method: &Method) -> Known<BTreeMap<String, String>> {
    if method.durability.is_empty() {
        Err(Missing::NoSettings)
    } else {
        Ok(method.durability.clone())
    }
}

fn system(about: AuditSubject, method: &Method) -> SystemFacts {
    let flush = method
        .flushes_per_second
        .filter(|n| *n > 0.0)
        .ok_or(Missing::NoFlushes);
    let turn = method
        .disk_rpm
        .filter(|rpm| *rpm > 0.0)
        .map(|rpm| 60e6 / rpm)
        .ok_or(Missing::NoMedium);
    SystemFacts {
        generator: method.generator.ok_or(Missing::NoPlace),
        latencies: method
            .latency_from
            .map(|from| from.name().to_owned())
            .ok_or(Missing::NoMethod),
        percentiles: method
            .percentiles
            .map(|percentiles| percentiles.name().to_owned())
            .ok_or(Missing::NoMethod),
        durability: durability(method),
        flush: flush.and_then(|n| Ok((1e6 / n, turn? * TURN_TOLERANCE, n))),
        fill: method.fill.ok_or(Missing::NoSampling),
        entropy: method
            .compressible_percent
            .zip(method.stated_compressible_percent)
            .ok_or(Missing::NoSampling),
        governor: method.governor.clone().ok_or(Missing::NoGovernor),
        calibration: method.calibration_off_percent.ok_or(Missing::NoCalibration),
        other_io: method.other_io_percent.ok_or(Missing::NoDeviceCounters),
        ..SystemFacts::unknown(about)
    }
}

fn above_zero(value: Option<f64>) -> Option<f64> {
    value.filter(|value| *value > 0.0)
}

fn load(claim: &PublishedClaim, figure: &ClaimFigure, rows: &[&ClaimFigure]) -> LoadFacts {
    let side = claim.side.iter().find(|side| side.name == figure.side);
    let method = side.map_or_else(|| claim.method.clone(), |side| method(claim, side));
    let in_flight = figure
        .rate()
        .zip(figure.mean_ms)
        .zip(above_zero(figure.in_flight));
    let trend = figure.range_percent.zip(figure.slope_percent);
    let halves = above_zero(figure.first_half).zip(figure.second_half);
    LoadFacts {
        measured_s: figure.measured_s,
        in_flight: in_flight
            .map(|((per_second, mean_ms), asked)| InFlight {
                per_second,
                mean_ms,
                asked,
                edges_percent: 0.0,
            })
            .ok_or(Missing::NoInFlight),
        counted: counted(figure).ok_or(Missing::NoCounts),
        trend: trend
            .map(|(range_percent, slope_percent)| WindowTrend {
                range_percent,
                slope_percent,
                by_chance: false,
            })
            .ok_or(Missing::NoSeries),
        halves: halves
            .map(|(first, second)| ((second / first - 1.0) * 100.0, 0.0))
            .ok_or(Missing::NoSeries),
        precision: figure
            .interval_percent
            .map(|percent| Precision::Half {
                percent,
                measured_s: figure.measured_s,
                of_repeats: false,
            })
            .ok_or(Missing::NoInterval),
        checkpoints: figure.checkpoints.ok_or(Missing::NoCheckpoints),
        written: figure
            .written_mb
            .zip(figure.drive_cache_mb)
            .ok_or(Missing::NoDriveCache),
        sizes: method.data_mb.zip(method.memory_mb).ok_or(Missing::NoSizes),
        reads: figure
            .device_reads_per_transaction
            .ok_or(Missing::NoDeviceCounters),
        generator: figure.generator_percent.ok_or(Missing::NoGenerator),
        lag: figure
            .lag_p99_ms
            .zip(above_zero(figure.p50_ms))
            .ok_or(Missing::NoLag),
        dropped: dropped(figure).ok_or(Missing::NoCounts),
        steal: method.steal_percent.ok_or(Missing::NoHost),
        tpm_nopm: figure
            .tpm
            .zip(above_zero(figure.nopm))
            .map(|(tpm, nopm)| (tpm, nopm, None))
            .ok_or(Missing::NoTpm),
        conditions: figure
            .conditions_verified
            .map(|verified| {
                (
                    verified,
                    figure.conditions_failed.clone().unwrap_or_default(),
                )
            })
            .ok_or(Missing::NotVerified),
        emulated: figure
            .emulated_drive
            .clone()
            .map_or(Err(Missing::NoEmulation), |drive| {
                let lateness = figure
                    .late_percent
                    .zip(figure.beyond_percent)
                    .ok_or(Missing::EmulationUnreported)?;
                Ok((
                    drive,
                    figure.emulated_ops.unwrap_or_default(),
                    lateness.0,
                    lateness.1,
                ))
            }),
        row: row::of(figure, rows),
        ..LoadFacts::unknown(AuditSubject::Named(figure.title()))
    }
}

fn counted(figure: &ClaimFigure) -> Option<Counted> {
    let parts = [
        figure.committed?,
        figure.rolled_back.unwrap_or(0),
        figure.failed?,
        figure.dropped?,
    ];
    Some(Counted::Table {
        offered: figure.offered?,
        settled: parts.into_iter().fold(0u64, u64::saturating_add),
    })
}

/// Intents that were dropped, and their share of those offered in percent.
fn dropped(figure: &ClaimFigure) -> Option<(u64, f64)> {
    let offered = figure.offered.filter(|offered| *offered > 0).unwrap_or(1);
    figure
        .dropped
        .map(|dropped| (dropped, dropped as f64 * 100.0 / offered as f64))
}

fn moved(figure: &ClaimFigure) -> Move {
    let stated = figure
        .mb_per_second
        .zip(figure.seconds)
        .zip(figure.moved_mb.filter(|moved| *moved > 0.0));
    let moved = stated.map(|((mb_per_second, seconds), moved)| (mb_per_second, seconds, moved));
    Move {
        about: AuditSubject::Named(figure.title()),
        moved: moved.ok_or(Missing::NoBytes),
        agrees: None,
    }
}

fn pair(claim: &PublishedClaim, comparison: &super::ClaimComparison) -> Option<Pair> {
    let mut first = side(
        claim,
        claim
            .side
            .iter()
            .find(|side| side.name == comparison.first)?,
    );
    let mut second = side(
        claim,
        claim
            .side
            .iter()
            .find(|side| side.name == comparison.second)?,
    );
    keep_what_both_state(&mut first.configuration, &mut second.configuration);
    let effect_percent = comparison.effect_percent.ok_or(Missing::NoSentence);
    Some(Pair {
        factor: comparison.factor.clone(),
        effect_percent,
        ..Pair::unknown(first, second)
    })
}

/// What only one side states may be the same on the other.
fn keep_what_both_state(
    first: &mut Known<BTreeMap<String, String>>,
    second: &mut Known<BTreeMap<String, String>>,
) {
    if let (Ok(first), Ok(second)) = (&mut *first, &mut *second) {
        first.retain(|key, _| second.contains_key(key));
        second.retain(|key, _| first.contains_key(key));
    }
    if first.as_ref().is_ok_and(BTreeMap::is_empty) {
        *first = Err(Missing::NoConfiguration);
    }
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
    let mut configuration: BTreeMap<String, String> = of_model
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
        .filter(|figure| figure.side == side.name)
        .filter_map(|figure| Some(figure.tpm? / figure.nopm.filter(|n| *n > 0.0)?));
    let units = method
        .warehouses
        .map(|n| ("warehouse", n))
        .or(method.rows.map(|n| ("row", n)))
        .filter(|(_, n)| *n > 0);
    let size = method
        .data_mb
        .zip(units)
        .map(|(mb, (unit, n))| (unit.to_owned(), mb * 1e6 / n as f64));
    AuditedSide {
        generator: method.generator.ok_or(Missing::NoPlace),
        durability: durability(&method),
        configuration: if configuration.is_empty() {
            Err(Missing::NoConfiguration)
        } else {
            Ok(configuration)
        },
        maintained: match method.maintenance.is_empty() {
            true => Err(Missing::NoMaintenance),
            false => Ok(vec![(String::new(), method.maintenance.clone())]),
        },
        victims: side.victims.ok_or(Missing::NoNoise),
        noise: side.noise.clone(),
        // The last row of a ladder is the one that is quoted.
        tpm_per_nopm: ratios.next_back().ok_or(Missing::NoTpm),
        bytes_per: size.ok_or(Missing::NoSizes),
        runs: method.runs.ok_or(Missing::NoRepeats),
        spread_percent: method.spread_percent.ok_or(Missing::NoRepeats),
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

/// A sentence as a ratio, with its two figures.
fn claimed_sentence(claim: &PublishedClaim, sentence: &ClaimSentence) -> Sentence {
    let ratio = values_of(claim, &sentence.of)
        .zip(values_of(claim, &sentence.than))
        .and_then(|(of, than)| {
            let first = of.first().copied()?;
            let rest = than.first().copied();
            let sum: f64 = of.iter().sum();
            Some(match sentence.relation {
                Relation::Times => (sentence.value, first, rest?),
                Relation::PercentOf => (sentence.value / 100.0, first, rest?),
                Relation::PercentMore => (1.0 + sentence.value / 100.0, first, rest?),
                Relation::PercentLess => (1.0 - sentence.value / 100.0, first, rest?),
                // The stated value against that of the figures.
                Relation::Sum => (1.0, sum, sentence.value),
                Relation::Mean => (1.0, sum / of.len() as f64, sentence.value),
                Relation::Difference => (1.0, first - rest?, sentence.value),
            })
        });
    let usable = ratio.filter(|(_, first, second)| *second > 0.0 && *first > 0.0);
    Sentence {
        text: sentence.text.clone(),
        stated: usable.ok_or(Missing::NoFigures),
    }
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
        stated_h: duration
            .stated
            .as_deref()
            .and_then(hours)
            .ok_or(Missing::NoDuration),
        sum_h,
    }
}
