//! Whether logs are of the run that an output is of.

use super::{FioLog, Kind};
use crate::load::{ImportedLoad, LoadTick};
use crate::when;
use plimsoll_plan::units::Nanos;

/// Lines may be late by this.
const LATE_MS: u64 = 1_000;
/// Before fio 3.42 a start is computed from the end of the output, late by the whole seconds that fio took beside its jobs.
const START_DIFFERS: Nanos = Nanos::from_secs(60);
/// Rates are printed as whole numbers, and intervals are a little longer or shorter than asked for.
const ROUNDED: f64 = 0.1;
const FEW: f64 = 100.0;

/// A log that is given twice, that is longer than the job, or that began at another time.
pub(super) fn check(load: &ImportedLoad, logs: &[&FioLog]) -> Result<(), String> {
    for (i, log) in logs.iter().enumerate() {
        let is_same = |other: &&&FioLog| {
            other.kind == log.kind
                && (other.job == log.job || other.job.is_none() || log.job.is_none())
        };
        if let Some(first) = logs[..i].iter().find(is_same) {
            let of = log
                .job
                .or(first.job)
                .map_or_else(|| "all jobs".to_owned(), |job| format!("job {job}"));
            return Err(format!(
                "{} and {} are both logs of {of}, of one kind: {}",
                first.name,
                log.name,
                kind(log.kind)
            ));
        }
        check_times(load, log)?;
    }
    Ok(())
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Lat => "latencies",
        Kind::Clat => "completion latencies",
        Kind::Slat => "submission latencies",
        Kind::Bandwidth => "bandwidth",
        Kind::Iops => "IOPS",
        Kind::Hist => "histograms",
    }
}

fn check_times(load: &ImportedLoad, log: &FioLog) -> Result<(), String> {
    let lasted = load.lasted();
    if lasted == Nanos::ZERO {
        return Ok(());
    }
    let reaches = Nanos::from_millis(
        log.rows
            .iter()
            .map(|row| row.at_ms)
            .max()
            .unwrap_or_default(),
    );
    let late =
        Nanos::from_millis(LATE_MS.max(load.logs.every_ms.unwrap_or_default().saturating_mul(2)));
    if !load.logs.has_ramp && reaches > lasted + late {
        return Err(format!(
            "{} reaches {:.1} s, and the job ran for {:.1} s: the log belongs to another run",
            log.name,
            reaches.as_secs_f64(),
            lasted.as_secs_f64()
        ));
    }
    let Some((log_start, start)) = log.began_ms.map(Nanos::from_millis).zip(load.started) else {
        return Ok(());
    };
    let apart = log_start
        .saturating_sub(start)
        .max(start.saturating_sub(log_start));
    if !load.logs.has_ramp && apart > START_DIFFERS {
        let written = |at| when::written(at).unwrap_or_default();
        return Err(format!(
            "{} begins at {}, and the job at {}: the log belongs to another run",
            log.name,
            written(log_start),
            written(start)
        ));
    }
    Ok(())
}

/// What the logs count against the output's total: more belongs to another run, much less may, and is a note.
pub(super) fn check_counts(
    load: &ImportedLoad,
    logs: &[&FioLog],
    ticks: &[LoadTick],
    every_ms: u64,
) -> Result<Option<String>, String> {
    let count = |ticks: &[LoadTick]| {
        ticks
            .iter()
            .flat_map(|tick| &tick.counts)
            .fold(0, |sum: u64, own| sum.saturating_add(own.committed))
    };
    let (logged, total) = (count(ticks), count(&load.ticks));
    if load.ticks.is_empty() || total == 0 || load.logs.has_ramp {
        return Ok(None);
    }
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    let names = names.join(", ");
    if logged as f64 > total as f64 * (1.0 + ROUNDED) + FEW {
        return Err(format!(
            "{names}: {logged} requests, and the output has {total}: the logs belong to another run"
        ));
    }
    // An interval that the job ends in may have no line.
    let lasted = load.lasted();
    let unlogged =
        (Nanos::from_millis(every_ms).as_secs_f64() / lasted.as_secs_f64().max(0.001)).min(1.0);
    let rounded = lasted.as_secs_f64() * load.txns.len() as f64 + FEW;
    let is_part = (logged as f64) + rounded < total as f64 * (1.0 - ROUNDED - unlogged);
    Ok(is_part.then(|| {
        format!(
            "{names} hold {logged} of {total} requests: logs of some jobs are missing, or these belong to another run. The rest \
             is in the last second."
        )
    }))
}
