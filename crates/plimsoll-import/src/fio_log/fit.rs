//! Whether logs are of the run that an output is of.

use super::log::{FioLog, FioLogKind};
use crate::load::{ImportedLoad, LoadTick, sum_of};
use crate::when;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::ImportNote;

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
        if let Some(first) = logs[..i].iter().find(|other| is_same_kind(log, other)) {
            let of = match log.job.or(first.job) {
                Some(job) => format!("job {job}"),
                None => "all jobs".to_owned(),
            };
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

fn is_same_kind(log: &FioLog, other: &FioLog) -> bool {
    other.kind == log.kind && (other.job == log.job || other.job.is_none() || log.job.is_none())
}

fn kind(kind: FioLogKind) -> &'static str {
    match kind {
        FioLogKind::Lat => "latencies",
        FioLogKind::Clat => "completion latencies",
        FioLogKind::Slat => "submission latencies",
        FioLogKind::Bandwidth => "bandwidth",
        FioLogKind::Iops => "IOPS",
        FioLogKind::Hist => "histograms",
    }
}

fn check_times(load: &ImportedLoad, log: &FioLog) -> Result<(), String> {
    let lasted = load.lasted();
    if lasted == Nanos::ZERO || load.logs.has_ramp {
        return Ok(());
    }
    let last_ms = log.rows.iter().map(|row| row.at_ms).max();
    let reaches = Nanos::from_millis(last_ms.unwrap_or_default());
    let every_ms = load.logs.every_ms.unwrap_or_default();
    let late = Nanos::from_millis(LATE_MS.max(every_ms.saturating_mul(2)));
    if reaches > lasted + late {
        return Err(format!(
            "{} reaches {:.1} s, and the job ran for {:.1} s: the log belongs to another run",
            log.name,
            reaches.as_secs_f64(),
            lasted.as_secs_f64()
        ));
    }
    let began = log.began_ms.map(Nanos::from_millis);
    let Some((log_start, start)) = began.zip(load.started) else {
        return Ok(());
    };
    let apart = log_start.max(start).saturating_sub(log_start.min(start));
    if apart > START_DIFFERS {
        return Err(format!(
            "{} begins at {}, and the job at {}: the log belongs to another run",
            log.name,
            when::written(log_start).unwrap_or_default(),
            when::written(start).unwrap_or_default()
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
) -> Result<Option<ImportNote>, String> {
    let logged = sum_of(ticks.iter().flat_map(|tick| &tick.counts)).committed;
    let requests = load.counts().committed;
    if load.ticks.is_empty() || requests == 0 || load.logs.has_ramp {
        return Ok(None);
    }
    let names: Vec<String> = logs.iter().map(|log| log.name.clone()).collect();
    if logged as f64 > requests as f64 * (1.0 + ROUNDED) + FEW {
        return Err(format!(
            "{}: {logged} requests, and the output has {requests}: the logs belong to another run",
            names.join(", ")
        ));
    }
    // An interval that the job ends in may have no line.
    let lasted_s = load.lasted().as_secs_f64();
    let every_s = Nanos::from_millis(every_ms).as_secs_f64();
    let unlogged = (every_s / lasted_s.max(0.001)).min(1.0);
    let rounded = lasted_s * load.txns.len() as f64 + FEW;
    let is_part = (logged as f64) + rounded < requests as f64 * (1.0 - ROUNDED - unlogged);
    Ok(is_part.then_some(ImportNote::RequestsUnlogged {
        files: names,
        logged,
        requests,
    }))
}
