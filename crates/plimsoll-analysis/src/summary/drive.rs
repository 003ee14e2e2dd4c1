//! An emulated drive over a point's window: modelled and real times, and whether it kept up.

use super::drive_summary::{
    ADDED_DOUBTFUL, ADDED_LIMIT, DriveOpSummary, DriveSummary, DriveTimes, FEWEST_OPS, Waiting,
    lateness_us,
};
use super::figure::FigureId;
use super::finding::{Finding, FindingKind};
use super::index::Index;
use super::means::Resources;
use super::members;
use super::point_summary::PointSummary;
use plimsoll_plan::Interference;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::metric::Metric;
use plimsoll_record::{DriveRow, Phase, Point, PowerCut, Severity, SubjectKind};

/// Waiting outside the emulator, as a share of the modelled time of all operations, from which on figures are doubtful, and
/// invalid. A part of it is the queueing of many requests at once in the kernel and its loop device, which changes the time
/// of each and not how many are done.
pub const WAITING_DOUBTFUL: f64 = 0.25;
pub const WAITING_LIMIT: f64 = 2.0;

/// `None` for a medium that is what it is.
pub(super) fn summarise(
    index: &Index,
    point: &Point,
    window: &Phase,
    figures: &PointSummary,
) -> Option<DriveSummary> {
    let drive = index.drive_title(point.medium)?;
    // Nothing in virtual time is late.
    if index.record.is_simulated() {
        return None;
    }
    let cut = index.cut_of(point);
    let end = cut.map_or(window.end, |cut| cut.at.min(window.end));
    let rows = index.drive_rows(point.medium?, window);
    let within: Vec<&DriveRow> = rows
        .iter()
        .copied()
        .filter(|row| is_within(row, window, cut))
        .collect();
    let seconds = seconds(&within, |row| row.end.saturating_sub(row.start));
    let ops = of_kinds(&within, seconds);
    let medium = figures.key.medium.as_deref().unwrap_or_default();
    Some(DriveSummary {
        drive,
        members: members::of(
            index,
            medium,
            &figures.metrics,
            own_rate(index, point, figures),
        ),
        waiting: waited(&ops, &figures.resources),
        reported_s: self::seconds(&rows, |row| {
            row.end.min(end).saturating_sub(row.start.max(window.start))
        }),
        ops,
        emulator_cpu_percent: emulator_mean(figures, Metric::SystemCpu),
        emulator_memory_mb: emulator_mean(figures, Metric::SystemMemory).map(|bytes| bytes / 1e6),
        host_read_mean_us: figures.resources.device_read_latency_ms.map(|ms| ms * 1e3),
        host_write_mean_us: figures.resources.device_write_latency_ms.map(|ms| ms * 1e3),
    })
}

/// Transactions per second, if the drive has nothing else to do. An instance of a system shares it with the others.
fn own_rate(index: &Index, point: &Point, figures: &PointSummary) -> Option<f64> {
    let is_one_of_several = figures.ids.len() < 2 && index.base_of(point.system).is_some();
    let is_alone = figures.key.scene != Interference::Noisy && !is_one_of_several;
    figures.value(FigureId::Transactions).filter(|_| is_alone)
}

/// Mostly in the window, and over before the power failed.
fn is_within(row: &DriveRow, window: &Phase, cut: Option<&PowerCut>) -> bool {
    let inside = row
        .end
        .min(window.end)
        .saturating_sub(row.start.max(window.start));
    let whole = row.end.saturating_sub(row.start);
    let before_the_cut = cut.is_none_or(|cut| row.end <= cut.at);
    before_the_cut && inside.0 > 0 && inside.0 >= whole.0 - inside.0.min(whole.0)
}

/// A second has a row for each kind and counts once.
fn seconds(rows: &[&DriveRow], length: impl Fn(&DriveRow) -> Nanos) -> f64 {
    let mut starts: Vec<(Nanos, f64)> = rows
        .iter()
        .map(|row| (row.start, length(row).as_secs_f64()))
        .collect();
    starts.sort_by_key(|(start, _)| *start);
    starts.dedup_by_key(|(start, _)| *start);
    starts.iter().map(|(_, length)| length).sum()
}

fn of_kinds(rows: &[&DriveRow], seconds: f64) -> Vec<DriveOpSummary> {
    let mut kinds: Vec<DriveOpSummary> = DriveOp::ALL
        .into_iter()
        .filter_map(|op| of_kind(op, rows, seconds))
        .collect();
    let modelled_us: f64 = kinds
        .iter()
        .filter_map(|kind| Some(kind.modelled?.mean_us * kind.ops as f64))
        .sum();
    for kind in &mut kinds {
        let late = rows
            .iter()
            .filter(|row| row.op == kind.op)
            .filter_map(|row| Some((row.late.mean()?, row.late.count())));
        let late_us: f64 = late
            .map(|(mean, count)| mean.as_micros_f64() * count as f64)
            .sum();
        kind.added_percent = (modelled_us > 0.0).then(|| late_us * 100.0 / modelled_us);
    }
    kinds
}

fn of_kind(op: DriveOp, rows: &[&DriveRow], seconds: f64) -> Option<DriveOpSummary> {
    let mut ops = 0u64;
    let mut bytes = 0u64;
    let mut errors = 0u64;
    let mut beyond = 0u64;
    let [mut modelled, mut real, mut late] = [(); 3].map(|()| CoarseHist::default());
    for row in rows.iter().filter(|row| row.op == op) {
        ops = ops.saturating_add(row.ops);
        bytes = bytes.saturating_add(row.bytes);
        errors = errors.saturating_add(row.errors);
        beyond = beyond.saturating_add(row.beyond);
        modelled.merge(&row.modelled);
        real.merge(&row.real);
        late.merge(&row.late);
    }
    let seconds = Some(seconds).filter(|seconds| *seconds > 0.0);
    let late_p50_us = lateness_us(&late, 0.5);
    let times = DriveTimes::of(&modelled);
    (ops > 0 || errors > 0).then(|| DriveOpSummary {
        op,
        ops,
        per_second: seconds.map(|seconds| ops as f64 / seconds),
        mb_per_second: seconds.map(|seconds| bytes as f64 / 1e6 / seconds),
        modelled: times,
        real: DriveTimes::of(&real),
        late_p50_us,
        late_p99_us: lateness_us(&late, 0.99),
        late_percent: times
            .zip(late_p50_us)
            .map(|(times, late)| late * 100.0 / times.p50_us),
        beyond_percent: (ops > 0).then(|| beyond as f64 * 100.0 / ops as f64),
        added_percent: None,
        errors,
    })
}

fn emulator_mean(figures: &PointSummary, metric: Metric) -> Option<f64> {
    let medium = figures.key.medium.as_deref()?;
    figures
        .metrics
        .iter()
        .filter(|mean| mean.subject_kind == SubjectKind::Emulator && mean.subject == medium)
        .find(|mean| mean.metric == metric.info().name)
        .map(|mean| mean.mean)
}

/// Rule EMULATED: whether the drive answered as its model requires.
pub(super) fn findings(
    figures: &PointSummary,
    window: Option<&Phase>,
    cut: Option<&PowerCut>,
) -> Vec<Finding> {
    let (Some(drive), Some(window)) = (&figures.drive, window) else {
        return Vec::new();
    };
    let mut found: Vec<Finding> = late(drive)
        .into_iter()
        .chain(waiting(drive))
        .chain(errors(drive))
        .collect();
    let end = cut.map_or(window.end, |cut| cut.at.min(window.end));
    let length = end.saturating_sub(window.start).as_secs_f64();
    // The emulator's seconds do not begin with the window's, and the one of a power cut may be short.
    let slack = if cut.is_some() { 1.5 } else { 0.5 };
    let missing_s = length - drive.reported_s;
    let name = drive.drive.clone();
    if missing_s > slack {
        found.push(Finding {
            severity: Severity::Warning,
            kind: FindingKind::EmulationUnreported {
                drive: name,
                missing_s,
                measured_s: length,
            },
        });
    } else if found.is_empty() && !drive.ops.iter().any(DriveOpSummary::has_enough_operations) {
        let ops = drive
            .ops
            .iter()
            .fold(0u64, |sum, op| sum.saturating_add(op.ops));
        let kind = FindingKind::EmulationTooFew {
            drive: name,
            ops,
            fewest: FEWEST_OPS,
        };
        found.push(Finding {
            severity: Severity::Note,
            kind,
        });
    }
    found
}

/// One finding for all kinds that were not kept up with; it names the one that matters most.
fn late(drive: &DriveSummary) -> Option<Finding> {
    let kinds: Vec<&DriveOpSummary> = drive.ops.iter().filter(|op| op.fell_behind()).collect();
    let worst = kinds
        .iter()
        .max_by(|a, b| a.added().total_cmp(&b.added()))?;
    let added_percent: f64 = kinds.iter().map(|op| op.added()).sum();
    let severity = match added_percent / 100.0 {
        added if added < ADDED_DOUBTFUL => Severity::Note,
        added if added < ADDED_LIMIT => Severity::Warning,
        _ => Severity::Error,
    };
    let kind = FindingKind::Emulated {
        drive: drive.drive.clone(),
        op: worst.op,
        ops: worst.ops,
        modelled_p50_us: worst.modelled.map_or(0.0, |times| times.p50_us),
        late_p50_us: worst.late_p50_us.unwrap_or_default(),
        late_percent: worst.late_percent.unwrap_or_default(),
        beyond_percent: worst.beyond_percent.unwrap_or_default(),
        added_percent,
    };
    Some(Finding { severity, kind })
}

/// How much longer requests took in the machine's kernel than in the emulator: they were queued before it or after it.
fn waiting(drive: &DriveSummary) -> Option<Finding> {
    let Waiting {
        kernel_ms,
        emulator_ms,
        added_percent,
    } = drive.waiting?;
    let severity = match added_percent / 100.0 {
        little if little < WAITING_DOUBTFUL => return None,
        some if some < WAITING_LIMIT => Severity::Warning,
        _ => Severity::Error,
    };
    let drive = drive.drive.clone();
    Some(Finding {
        severity,
        kind: FindingKind::EmulationWaited {
            drive,
            kernel_ms,
            emulator_ms,
            added_percent,
        },
    })
}

/// Time that requests were under way in the machine's kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KernelTimes {
    pub read_ms: f64,
    pub write_ms: f64,
}

/// How late an emulated drive was over some seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveLateness {
    /// What late answers add to the modelled time of all operations, in percent.
    pub added_percent: f64,
    /// What waiting in the kernel adds to it.
    pub waiting_percent: f64,
}

impl DriveLateness {
    /// `kernel`: over the time of `rows`; `None` for a directory.
    pub fn of(rows: &[DriveRow], kernel: Option<KernelTimes>) -> Self {
        let rows: Vec<&DriveRow> = rows.iter().collect();
        // All of it as one second: rates are sums then.
        let ops = of_kinds(&rows, 1.0);
        let waiting = kernel.and_then(|kernel| waiting_of(&ops, kernel));
        Self {
            added_percent: ops.iter().map(DriveOpSummary::added).sum(),
            waiting_percent: waiting.map_or(0.0, |waiting| waiting.added_percent),
        }
    }
}

fn waited(ops: &[DriveOpSummary], resources: &Resources) -> Option<Waiting> {
    resources.device.as_ref()?;
    let kernel = KernelTimes {
        read_ms: kernel_ms(
            resources.device_reads_per_second,
            resources.device_read_latency_ms,
        ),
        write_ms: kernel_ms(
            resources.device_writes_per_second,
            resources.device_write_latency_ms,
        ),
    };
    waiting_of(ops, kernel)
}

/// The kernel counts a write that carries a flush, as journals write them, as one write that takes both times; the emulator
/// sees two requests. So writes are compared with writes and flushes.
fn waiting_of(ops: &[DriveOpSummary], kernel: KernelTimes) -> Option<Waiting> {
    let KernelTimes { read_ms, write_ms } = kernel;
    let reads = emulator_ms(ops, &[DriveOp::Read], |kind| kind.real);
    let writes = emulator_ms(ops, &[DriveOp::Write, DriveOp::Flush], |kind| kind.real);
    let modelled_ms = emulator_ms(ops, &DriveOp::ALL, |kind| kind.modelled);
    let waited = (read_ms - reads).max(0.0) + (write_ms - writes).max(0.0);
    (modelled_ms > 0.0).then(|| Waiting {
        kernel_ms: read_ms + write_ms,
        emulator_ms: reads + writes,
        added_percent: waited * 100.0 / modelled_ms,
    })
}

fn kernel_ms(per_second: Option<f64>, ms: Option<f64>) -> f64 {
    per_second.zip(ms).map_or(0.0, |(n, ms)| n * ms)
}

fn emulator_ms(
    ops: &[DriveOpSummary],
    kinds: &[DriveOp],
    times: fn(&DriveOpSummary) -> Option<DriveTimes>,
) -> f64 {
    ops.iter()
        .filter(|kind| kinds.contains(&kind.op))
        .filter_map(|kind| Some(times(kind)?.mean_us * kind.per_second? / 1e3))
        .sum()
}

fn errors(drive: &DriveSummary) -> impl Iterator<Item = Finding> {
    drive.ops.iter().filter(|op| op.errors > 0).map(|op| {
        let kind = FindingKind::DriveErrors {
            drive: drive.drive.clone(),
            op: op.op,
            errors: op.errors,
        };
        Finding {
            severity: Severity::Error,
            kind,
        }
    })
}
