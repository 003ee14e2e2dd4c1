//! Signs that reads of block I/O met blocks that were never written, where another tool measured them: plimsoll itself
//! writes before it reads, or records that it did not.

use super::facts::RecordFacts;
use crate::audit::Evidence;
use crate::summary::printed::{PrintedLatencies, mean_ms};
use crate::summary::{BlockJobSummary, BlockPointSummary, FigureId};
use plimsoll_record::PointId;
use plimsoll_record::import_facts::{DEVICE_NAME_FACT, DEVICE_READS_FACT, TOOL_FACT};

/// Reads of which the device saw less than this share did not come from it. Requests that are joined count singly.
const FEWEST_REACHED: f64 = 0.5;
/// The fastest drives (3D XPoint) answer a read in 6 to 10 µs through Linux.
const FASTEST_US: f64 = 5.0;
/// SATA 3.0, 6 Gbit/s with 8 of 10 bits of data.
const SATA_MB: f64 = 600.0;

/// Reads of the device for each read of the tool.
pub(super) fn device_reads(facts: &RecordFacts<'_>, point: PointId) -> Option<f64> {
    facts.imported(point, DEVICE_READS_FACT)?.parse().ok()
}

/// Of direct reads of other tools; the page cache has a rule of its own.
pub(super) fn of_point(
    facts: &RecordFacts<'_>,
    job: &BlockJobSummary,
    point: &BlockPointSummary,
) -> Vec<Evidence> {
    let id = PointId(point.point);
    let is_direct = job.streams.iter().all(|stream| stream.direct);
    let read = point
        .by_op
        .iter()
        .find(|op| op.op == "read" && op.requests > 0);
    let (Some(read), true, Some(_)) = (read, is_direct, facts.imported(id, TOOL_FACT)) else {
        return Vec::new();
    };
    if let Some(share) = device_reads(facts, id) {
        let percent = share * 100.0;
        return match share < FEWEST_REACHED {
            true => vec![Evidence::ReachedDevice { percent }],
            false => Vec::new(),
        };
    }
    let printed = PrintedLatencies::of_point(facts.record, id);
    let printed_us = mean_ms(&printed, &read.op).map(|mean| mean.ms * 1e3);
    let mean_us = read
        .figures
        .value(FigureId::Mean)
        .map(|mean_ms| mean_ms * 1e3)
        .or(printed_us);
    let fast = mean_us.filter(|mean| *mean < FASTEST_US);
    let fast = fast.map(|mean_us| Evidence::FastReads {
        mean_us,
        fastest_us: FASTEST_US,
    });
    let device = facts.imported(id, DEVICE_NAME_FACT);
    let device = device.filter(|name| name.starts_with("sd") || name.starts_with("hd"));
    let mb_per_second = read.figures.value(FigureId::MbPerSecond);
    let beyond = mb_per_second.filter(|rate| *rate > SATA_MB);
    let link = device.zip(beyond);
    let link = link.map(|(name, mb_per_second)| Evidence::FastLink {
        device: name.to_owned(),
        mb_per_second,
        limit_mb: SATA_MB,
    });
    fast.into_iter().chain(link).collect()
}
