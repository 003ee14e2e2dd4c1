//! Rule RATE: what a backup's files grew by, second by second, against the bytes that the backup program reported.

use super::summary::{BackupOperation, RateCheck, RateNotChecked};
use crate::summary::finding::{Finding, FindingKind};
use crate::summary::index::Index;
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::{BackupKind, BackupOutcome, BackupRow, Sample, Severity, SubjectKind};

/// Largest difference of the two accounts, as a share of the bytes.
pub const RATE_LIMIT: f64 = 0.05;
/// Smallest share of the time that the series must cover.
pub const RATE_COVERED: f64 = 0.9;

pub(super) fn check(index: &Index, row: &BackupRow) -> RateCheck {
    if row.kind == BackupKind::Restore {
        return not_evaluated(RateNotChecked::Restore);
    }
    if row.outcome != BackupOutcome::Complete || row.bytes == 0 || row.end <= row.start {
        return not_evaluated(RateNotChecked::NotComplete);
    }
    let samples = samples(index, row);
    let length = row.end.saturating_sub(row.start).as_secs_f64();
    let covered = samples
        .iter()
        .map(|sample| inside(sample, row.start, row.end))
        .sum::<f64>()
        / length;
    if covered < RATE_COVERED {
        return not_evaluated(RateNotChecked::NotSampled);
    }
    let observed_bytes: f64 = samples.iter().map(|sample| grown(index, row, sample)).sum();
    let bytes = row.bytes as f64;
    let percent = (observed_bytes - bytes) * 100.0 / bytes;
    // What was written in time without samples is missing and no contradiction.
    let below = RATE_LIMIT + (1.0 - covered).max(0.0);
    if percent > RATE_LIMIT * 100.0 || percent < -below * 100.0 {
        RateCheck::Disagrees {
            observed_bytes,
            percent,
        }
    } else {
        RateCheck::Agrees {
            observed_bytes,
            percent,
        }
    }
}

fn not_evaluated(why: RateNotChecked) -> RateCheck {
    RateCheck::NotEvaluated { why }
}

/// Of the growth of its files, those that overlap its time.
fn samples<'a>(index: &Index<'a>, row: &BackupRow) -> Vec<&'a Sample> {
    let name = index.name(row.system);
    let mut subjects = index.record.subjects.iter();
    let Some(files) = subjects.find(|s| s.kind == SubjectKind::Backup && s.name == name) else {
        return Vec::new();
    };
    let own = index
        .record
        .series
        .iter()
        .filter(|s| s.subject == files.id && s.metric == Metric::BackupWritten);
    own.flat_map(|series| &series.samples)
        .filter(|sample| inside(sample, row.start, row.end) > 0.0)
        .collect()
}

fn inside(sample: &Sample, start: Nanos, end: Nanos) -> f64 {
    sample
        .at
        .min(end)
        .saturating_sub(sample.at.saturating_sub(sample.over).max(start))
        .as_secs_f64()
}

/// Bytes of a sample. One at the beginning or the end is the operation's as a whole, because its files do not grow before
/// or after; but not where another operation of the same system shares it.
fn grown(index: &Index, row: &BackupRow, sample: &Sample) -> f64 {
    let shared = index.record.backups.iter().any(|other| {
        other != row && other.system == row.system && inside(sample, other.start, other.end) > 0.0
    });
    let seconds = if shared {
        inside(sample, row.start, row.end)
    } else {
        sample.over.as_secs_f64()
    };
    f64::from(sample.value) * seconds
}

/// One finding for all that disagree, and one for all that were sampled too rarely.
pub(super) fn findings(operations: &[BackupOperation]) -> Vec<Finding> {
    let mut found = Vec::new();
    let off = || {
        operations.iter().filter_map(|own| match own.rate {
            RateCheck::Disagrees {
                observed_bytes,
                percent,
            } => Some((own, observed_bytes, percent)),
            _ => None,
        })
    };
    if let Some((worst, observed_bytes, percent)) =
        off().max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))
    {
        let kind = FindingKind::RateDisagrees {
            times: off().count() as u64,
            cycle: worst.cycle + 1,
            system: worst.system.clone(),
            stated_mb: worst.bytes as f64 / 1e6,
            observed_mb: observed_bytes / 1e6,
            percent,
        };
        found.push(kind.with(Severity::Warning));
    }
    let times = operations
        .iter()
        .filter(|own| {
            own.rate
                == RateCheck::NotEvaluated {
                    why: RateNotChecked::NotSampled,
                }
        })
        .count() as u64;
    if times > 0 {
        let of = operations
            .iter()
            .filter(|own| own.kind == BackupKind::Backup)
            .count() as u64;
        found.push(FindingKind::RateNotEvaluated { times, of }.with(Severity::Note));
    }
    found
}
