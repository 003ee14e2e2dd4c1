//! Backups and restores: how long they took, what they moved, and what the media did meanwhile.
//!
//! | figure | formula | why |
//! | --- | --- | --- |
//! | seconds | end − start of an operation | what an operator waits for |
//! | MB/s | bytes / 10⁶ / seconds of each operation, then their mean | of a mean of times there would be another rate |
//! | interval | Student's t over the means of cycles | systems that are saved at the same time are not independent, cycles are |
//! | ms per I/O | time of all requests / requests, of the device in the operation's time | a second with one slow request is not worth one with a thousand |
//! | ratio of media | mean / mean; relative half widths add in squares | the delta method for independent means |
//! | RATE | Σ of what the files grew by each second against the bytes that were reported | two accounts that have to agree |

mod rate;
mod summary;

use std::collections::BTreeMap;

pub use rate::{RATE_COVERED, RATE_LIMIT};
pub use summary::{
    BackupFigures, BackupMedium, BackupOperation, BackupSummary, BesideLoad, RateCheck,
    RateNotChecked,
};

use super::estimate::Estimate;
use super::figure::{FigureId, FigureSet};
use super::finding::{Finding, FindingKind, Verdict};
use super::index::Index;
use super::medium::Track;
use super::ratio::RatioSet;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{BackupKind, BackupOutcome, BackupRow, Point, Severity, SubjectId};

/// An operation shorter than a sample of the device has no rates.
const SHORTEST: Nanos = Nanos::SECOND;

/// Index of the step, and index of the load beside it.
type BackupKey = (u32, Option<u32>);
/// Rows by the medium with the data and the medium with the backup.
type RowsByMedium<'a> = BTreeMap<(Option<SubjectId>, SubjectId), Vec<&'a BackupRow>>;

pub(super) fn of_run(index: &Index) -> Vec<BackupSummary> {
    let mut groups: BTreeMap<BackupKey, RowsByMedium<'_>> = BTreeMap::new();
    for row in &index.record.backups {
        let beside = point_of(index, row).map(|point| point.ordinal);
        groups
            .entry((row.step_index, beside))
            .or_default()
            .entry((row.medium, row.target))
            .or_default()
            .push(row);
    }
    groups
        .into_values()
        .map(|media| summary(index, media.into_values().collect()))
        .collect()
}

fn point_of<'a>(index: &Index<'a>, row: &BackupRow) -> Option<&'a Point> {
    index
        .record
        .points
        .iter()
        .find(|point| Some(point.id) == row.point)
}

/// Of one step at one load; there is at least one row of each medium.
fn summary(index: &Index, media: Vec<Vec<&BackupRow>>) -> BackupSummary {
    let first = media[0][0];
    let mut programs: Vec<String> = media
        .iter()
        .flatten()
        .map(|row| row.program.clone())
        .collect();
    programs.retain(|program| !program.is_empty());
    programs.sort();
    programs.dedup();
    let mut media: Vec<BackupMedium> = media.iter().map(|rows| medium(index, rows)).collect();
    against_first(&mut media);
    BackupSummary {
        step: first.step.clone(),
        step_index: first.step_index,
        beside: point_of(index, first).map(|point| BesideLoad {
            ordinal: point.ordinal,
            load: point.load(),
        }),
        method: first.method.clone(),
        programs,
        media,
    }
}

fn against_first(media: &mut [BackupMedium]) {
    let Some((first, others)) = media.split_first_mut() else {
        return;
    };
    let comparable = others.iter_mut().filter(|own| own.is_comparable(first));
    for figures in comparable.flat_map(|medium| &mut medium.kinds) {
        let Some(base) = first.kinds.iter().find(|own| own.kind == figures.kind) else {
            continue;
        };
        let compared = [FigureId::Seconds, FigureId::MbPerSecond];
        figures.ratios = figures.figures.ratios(&compared, &base.figures);
    }
}

/// Rows of one medium and target.
fn medium(index: &Index, rows: &[&BackupRow]) -> BackupMedium {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| (row.start, row.system, row.kind));
    let first = rows[0];
    let data = Track::of(index, first.medium);
    let target = Track::of(index, Some(first.target));
    let operations: Vec<BackupOperation> = rows
        .iter()
        .map(|row| operation(index, row, &data, &target))
        .collect();
    let kinds: Vec<BackupFigures> = BackupKind::ALL
        .iter()
        .copied()
        .filter_map(|kind| figures(&rows, kind, &data, &target))
        .collect();
    let findings = findings(&kinds, &operations, first.point.is_some());
    BackupMedium {
        medium: first.medium.map(|medium| index.name(medium)),
        drive: index.drive_title(first.medium),
        target: index.name(first.target),
        target_drive: index.drive_title(Some(first.target)),
        is_simulated: index.record.is_simulated(),
        slower: index.slower(first.medium),
        target_slower: index.slower(Some(first.target)),
        verdict: Verdict::of(&findings),
        source: data.source,
        target_source: target.source,
        operations,
        kinds,
        findings,
    }
}

fn seconds(row: &BackupRow) -> f64 {
    row.end.saturating_sub(row.start).as_secs_f64()
}

/// MB are 10⁶ bytes.
fn mb_per_second(row: &BackupRow) -> Option<f64> {
    let rate = row.bytes as f64 / 1e6 / seconds(row);
    Some(rate).filter(|rate| row.outcome == BackupOutcome::Complete && rate.is_finite())
}

fn operation(index: &Index, row: &BackupRow, data: &Track, target: &Track) -> BackupOperation {
    BackupOperation {
        system: index.name(row.system),
        cycle: row.cycle,
        kind: row.kind,
        point: row.point.map(|point| point.0),
        start_s: row.start.as_secs_f64(),
        seconds: seconds(row),
        bytes: row.bytes,
        mb_per_second: mb_per_second(row),
        outcome: row.outcome,
        detail: row.detail.clone(),
        data_io: data.over(&long_enough(row)),
        target_io: target.over(&long_enough(row)),
        rate: rate::check(index, row),
    }
}

/// Its time; nothing where it is too short.
fn long_enough(row: &BackupRow) -> Vec<(Nanos, Nanos)> {
    let is_long = row.end.saturating_sub(row.start) >= SHORTEST;
    is_long
        .then_some((row.start, row.end))
        .into_iter()
        .collect()
}

/// Of all operations of a kind among `rows`; `None` where there is none.
pub(super) fn figures(
    rows: &[&BackupRow],
    kind: BackupKind,
    data: &Track,
    target: &Track,
) -> Option<BackupFigures> {
    let own: Vec<&BackupRow> = rows
        .iter()
        .copied()
        .filter(|row| row.kind == kind)
        .collect();
    let complete: Vec<&BackupRow> = own
        .iter()
        .copied()
        .filter(|row| row.outcome == BackupOutcome::Complete && row.end > row.start)
        .collect();
    // Each cycle beside each point is one group.
    let mut cycles: BTreeMap<_, Vec<&BackupRow>> = BTreeMap::new();
    complete
        .iter()
        .for_each(|row| cycles.entry((row.point, row.cycle)).or_default().push(row));
    let sampled = |of: &dyn Fn(&BackupRow) -> Option<f64>| {
        let groups: Vec<Vec<f64>> = cycles
            .values()
            .map(|rows| rows.iter().filter_map(|row| of(row)).collect())
            .collect();
        Estimate::of_groups(&groups)
    };
    let spans = union(complete.iter().flat_map(|row| long_enough(row)).collect());
    (!own.is_empty()).then(|| BackupFigures {
        kind,
        complete: count(&own, BackupOutcome::Complete),
        failed: count(&own, BackupOutcome::Failed),
        cancelled: count(&own, BackupOutcome::Cancelled),
        differs: count(&own, BackupOutcome::Differs),
        bytes: complete
            .iter()
            .fold(0, |sum, row| sum.saturating_add(row.bytes)),
        figures: FigureSet::default()
            .with(FigureId::Seconds, sampled(&|row| Some(seconds(row))))
            .with(FigureId::MbPerSecond, sampled(&mb_per_second)),
        data_io: data.over(&spans),
        target_io: target.over(&spans),
        ratios: RatioSet::default(),
    })
}

/// The time in which at least one of them ran: what two systems do at once is on the device once.
fn union(mut spans: Vec<(Nanos, Nanos)>) -> Vec<(Nanos, Nanos)> {
    spans.sort_unstable();
    let mut out: Vec<(Nanos, Nanos)> = Vec::new();
    for (start, end) in spans {
        match out.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}

fn count(rows: &[&BackupRow], outcome: BackupOutcome) -> u64 {
    rows.iter().filter(|row| row.outcome == outcome).count() as u64
}

fn first_with(
    operations: &[BackupOperation],
    kind: BackupKind,
    outcome: BackupOutcome,
) -> Option<&BackupOperation> {
    operations
        .iter()
        .find(|own| own.kind == kind && own.outcome == outcome)
}

/// Findings about the figures of a medium. Beside a load that ends, the last backup is cancelled as a rule.
fn findings(kinds: &[BackupFigures], operations: &[BackupOperation], beside: bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for figures in kinds {
        let kind = figures.kind;
        let of = figures.complete + figures.failed + figures.cancelled + figures.differs;
        if let Some(first) = first_with(operations, kind, BackupOutcome::Differs) {
            let cycle = first.cycle + 1;
            let detail = first.detail.clone();
            found.push(
                FindingKind::RestoreDiffers {
                    differs: figures.differs,
                    of,
                    cycle,
                    detail,
                }
                .with(Severity::Error),
            );
        }
        if let Some(first) = first_with(operations, kind, BackupOutcome::Failed) {
            let cycle = first.cycle + 1;
            let detail = first.detail.clone();
            let severity = if figures.complete == 0 {
                Severity::Error
            } else {
                Severity::Warning
            };
            found.push(
                FindingKind::BackupFailed {
                    kind,
                    failed: figures.failed,
                    of,
                    cycle,
                    detail,
                }
                .with(severity),
            );
        }
        if figures.cancelled > 0 {
            let severity = if beside {
                Severity::Note
            } else {
                Severity::Warning
            };
            found.push(
                FindingKind::BackupCancelled {
                    kind,
                    cancelled: figures.cancelled,
                    of,
                }
                .with(severity),
            );
        }
    }
    found.extend(rate::findings(operations));
    found
}

#[cfg(test)]
mod tests;
