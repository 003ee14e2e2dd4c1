//! A rotating disk: the turn from the spread of short seeks, the seek curve from reads over growing spans.

use super::flash::sequential;
use super::rows::{Care, FitRow, Quantity, outcome};
use super::work::{DriveFit, FittedParameter, SOURCE, digits};
use crate::learn::jobs::{DEPTHS, LearnProfile, SPANS};
use crate::learn::measured::{Figure, LearnedPoint, Measured};
use crate::spec::figure::{ASSUMED, SpecFigure};
use crate::spec::file::Disk;

const KIB: u64 = 1 << 10;
/// Speeds that disks are made with.
const SPEEDS: [f64; 6] = [4200.0, 5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0];
/// A measured speed this near to one of them means it.
const NEAR: f64 = 0.12;
/// Of the disk, so much has to be measured for the long seeks to show.
const WIDE: f64 = 0.33;

/// Whether reads take as long as a head and a platter do. The kernel reports many virtual disks as rotating.
pub fn turns(measured: &Measured) -> bool {
    measured
        .figure(LearnProfile::read(4 * KIB, 1), |run| run.median_us)
        .is_some_and(|median| median.value > 2_000.0)
}

/// Reads over a share of the measured part, at depth 1.
fn span(measured: &Measured, span: f64) -> Option<&LearnedPoint> {
    measured.point(LearnProfile {
        span,
        ..LearnProfile::read(4 * KIB, 1)
    })
}

/// Fills in the table of a disk.
pub fn fit(fit: &mut DriveFit, measured: &Measured) -> Option<()> {
    let narrow = SPANS.iter().find_map(|share| span(measured, *share))?;
    let all = span(measured, 1.0)?;
    let read = sequential(measured, false)?.written(fit, "sequential_read_mb_s");
    fit.file.datasheet.sequential_read_mb_s = Some(read);
    fit.file.datasheet.sequential_write_mb_s =
        sequential(measured, true).map(|rate| rate.written(fit, "sequential_write_mb_s"));
    let rate = all.figure(|run| run.iops)?;
    fit.file.datasheet.random_read_iops = Some(fit.written("random_read_iops", rate).at(4.0, 1.0));
    let rpm = speed(narrow)?;
    let mut disk = Disk {
        rpm: Some(fit.written("rpm", rpm)),
        ..Disk::default()
    };
    // A buffered write is the command and the transfer; one that waits for the platter shows neither.
    let write = measured.figure(LearnProfile::write(4 * KIB, 1), |run| run.median_us);
    disk.command_us = write
        .filter(|write| write.value < 1_000.0)
        .map(|write| fit.written("command_us", write));
    fit.file.disk = Some(disk);
    search(fit, measured, all.figure(|run| run.mean_us)?.value);
    if (fit.care.region.0 as f64) < fit.subject.capacity.0 as f64 * WIDE {
        fit.note(
            "seek_average_ms, seek_full_ms: only a part of the disk was measured; they are guesses"
                .to_owned(),
        );
    }
    Some(())
}

/// One turn is what lies between the luckiest and the unluckiest of reads that hardly seek.
fn speed(narrow: &LearnedPoint) -> Option<Figure> {
    let turn_us = narrow.figure(|run| (run.p99_us - run.floor_us) / 0.985)?;
    let measured = 60e6 / turn_us.value.max(1.0);
    let near = SPEEDS
        .into_iter()
        .find(|speed| (measured / speed - 1.0).abs() < NEAR);
    let error_percent = near.map_or(turn_us.error_percent, |speed| {
        (measured / speed - 1.0).abs() * 100.0
    });
    Some(Figure {
        value: near.unwrap_or(measured),
        error_percent,
    })
}

/// The three seek times and the queue that come nearest to what was measured; each is turned in ever smaller steps.
fn search(fit: &mut DriveFit, measured: &Measured, mean_us: f64) {
    let spans: Vec<&LearnedPoint> = SPANS
        .iter()
        .filter_map(|share| span(measured, *share))
        .collect();
    let turn_us = fit
        .file
        .disk
        .as_ref()
        .and_then(|disk| disk.rpm.as_ref())
        .map_or(8_333.0, |rpm| 60e6 / rpm.value);
    let average = ((mean_us - turn_us / 2.0) / 1e3).max(0.5);
    let mut best = [average / 10.0, average, average * 2.0];
    let mut least = score(fit, &spans, best);
    for step in [1.5, 1.2, 1.08, 1.03, 1.01] {
        for _ in 0..3 {
            for (which, factor) in (0..3).flat_map(|which| [(which, step), (which, 1.0 / step)]) {
                let mut seeks = best;
                seeks[which] *= factor;
                let score = score(fit, &spans, seeks);
                if seeks[0] <= seeks[1] && seeks[1] <= seeks[2] && score < least {
                    (best, least) = (seeks, score);
                }
            }
        }
    }
    put(fit, best);
    let curve: Vec<&LearnedPoint> = DEPTHS[1..]
        .iter()
        .filter_map(|depth| measured.point(LearnProfile::read(4 * KIB, *depth)))
        .collect();
    let deep = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|queue| {
        if let Some(disk) = &mut fit.file.disk {
            disk.queue = Some(SpecFigure::new(queue, SOURCE));
        }
        (queue, score_of(fit, &curve, Quantity::Iops))
    });
    let queue = deep
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(32.0, |(queue, _)| queue);
    if let Some(disk) = &mut fit.file.disk {
        disk.queue = Some(SpecFigure::new(
            queue,
            if curve.is_empty() { ASSUMED } else { SOURCE },
        ));
    }
    let keys = ["seek_track_ms", "seek_average_ms", "seek_full_ms", "queue"];
    fit.parameters.extend(keys.map(|key| FittedParameter {
        key,
        repeats_percent: 0.0,
    }));
}

fn put(fit: &mut DriveFit, seeks: [f64; 3]) {
    let [track, average, full] = seeks.map(|ms| Some(SpecFigure::new(digits(ms), SOURCE)));
    if let Some(disk) = &mut fit.file.disk {
        (disk.seek_track_ms, disk.seek_average_ms, disk.seek_full_ms) = (track, average, full);
    }
}

fn score(fit: &mut DriveFit, points: &[&LearnedPoint], seeks: [f64; 3]) -> f64 {
    put(fit, seeks);
    score_of(fit, points, Quantity::MedianUs)
}

/// Sum of the squared logarithms of model ÷ measured.
fn score_of(fit: &DriveFit, points: &[&LearnedPoint], quantity: Quantity) -> f64 {
    let Some(spec) = fit.spec_of(&fit.file) else {
        return f64::INFINITY;
    };
    let care = Care {
        ops: 3_000,
        ..fit.care
    };
    points
        .iter()
        .filter_map(|point| {
            let measured = point.figure(|run| quantity.of(run))?.value;
            let model = quantity.of(&outcome(&spec, point, &care));
            Some((model.max(1e-9) / measured.max(1e-9)).ln().powi(2))
        })
        .sum()
}

/// Whether a row depends on a parameter.
pub fn governs(key: &str, row: &FitRow) -> bool {
    let FitRow {
        profile, quantity, ..
    } = row;
    let seeks = !profile.write
        && profile.depth == 1
        && profile.block.0 == 4 * KIB
        && *quantity == Quantity::MedianUs;
    match key {
        "rpm" | "seek_track_ms" => seeks && profile.span < 0.05,
        "seek_average_ms" | "seek_full_ms" => seeks && profile.span > 0.05,
        "queue" => !profile.write && profile.random && profile.depth > 1,
        "command_us" => profile.write && profile.depth == 1 && *quantity == Quantity::MedianUs,
        _ => false,
    }
}
