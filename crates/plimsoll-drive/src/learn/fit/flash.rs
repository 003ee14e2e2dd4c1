//! Flash: what the measurements show directly, and a search for what only shows in the whole curve.

use super::rows::{Care, FitRow, Quantity, outcome, quantities};
use super::work::{DriveFit, FittedParameter, SOURCE, digits};
use crate::learn::fit::burst::{Burst, bend};
use crate::learn::jobs::{DEPTHS, LearnProfile};
use crate::learn::measured::{Figure, LearnedPoint, Measured};
use crate::spec::DriveSpec;
use crate::spec::figure::{ASSUMED, SpecFigure};
use crate::spec::file::{Datasheet, DriveFile, Flash};

const KIB: u64 = 1 << 10;
/// Of the time of a read at depth 1, so much at most is commands and transfer: the rest is the flash.
const MOST_OVERHEAD: f64 = 0.8;
/// A burst that goes on for longer than this came from fast flash, not from a buffer of RAM.
const RAM_AT_MOST_MB: f64 = 2e3;
/// Numbers of units that are tried.
const UNITS: [u32; 19] = [
    1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024,
];
/// Shares of the latency at depth 1 that firmware may take without keeping flash busy.
const FIRMWARE: [f64; 7] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9];

/// Fills in the tables of a flash drive. `None`: a measurement that it takes is missing.
pub fn fit(fit: &mut DriveFit, measured: &Measured) -> Option<()> {
    let mut sheet = Datasheet::default();
    let mut flash = Flash::default();
    reads(fit, measured, &mut sheet, &mut flash)?;
    if fit.subject.writes {
        writes(fit, measured, &mut sheet, &mut flash)?;
        burst(fit, measured, &mut sheet, &mut flash);
    }
    fit.file.datasheet = sheet;
    fit.file.flash = Some(flash);
    search(fit, measured);
    subtract_from_flush(fit, measured);
    Some(())
}

/// The point of the curve with the highest rate.
fn fastest(measured: &Measured) -> Option<(u32, Figure)> {
    DEPTHS
        .iter()
        .filter_map(|depth| {
            let figure = measured.figure(LearnProfile::read(4 * KIB, *depth), |run| run.iops)?;
            Some((*depth, figure))
        })
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))
}

pub struct SequentialRate {
    pub block_kib: f64,
    pub depth: f64,
    pub mb_s: Figure,
}

impl SequentialRate {
    pub fn written(&self, fit: &mut DriveFit, key: &'static str) -> SpecFigure {
        fit.written(key, self.mb_s).at(self.block_kib, self.depth)
    }
}

/// The fastest of the sequential loads.
pub fn sequential(measured: &Measured, write: bool) -> Option<SequentialRate> {
    measured
        .points
        .iter()
        .filter(|point| !point.profile.random && point.profile.write == write)
        .filter_map(|point| {
            Some(SequentialRate {
                block_kib: point.profile.block.0 as f64 / 1024.0,
                depth: f64::from(point.profile.depth),
                mb_s: point.figure(|run| run.bytes_per_second / 1e6)?,
            })
        })
        .max_by(|a, b| a.mb_s.value.total_cmp(&b.mb_s.value))
}

fn reads(
    fit: &mut DriveFit,
    measured: &Measured,
    sheet: &mut Datasheet,
    flash: &mut Flash,
) -> Option<()> {
    let single = measured.point(LearnProfile::read(4 * KIB, 1))?;
    let median = single.figure(|run| run.median_us)?;
    let p99 = single.figure(|run| run.p99_us)?;
    let (depth, rate) = fastest(measured)?;
    let sequential = sequential(measured, false)?;
    if depth == DEPTHS[DEPTHS.len() - 1] {
        fit.note(format!(
            "random_read_iops still rose at depth {depth}: the drive may do more"
        ));
    }
    // The model makes of a request what the rate leaves: at depth 1 that has to fit into the latency.
    let possible = 1e6 / (MOST_OVERHEAD * median.value - 4096.0 / sequential.mb_s.value).max(1.0);
    let rate = Figure {
        value: rate.value.max(possible),
        ..rate
    };
    let least = (1e6 / rate.value + 4096.0 / sequential.mb_s.value) * 1.01;
    if median.value < least {
        fit.note(
            "read_us is shorter than what the other read figures leave; it was raised to that"
                .to_owned(),
        );
    }
    let median = Figure {
        value: median.value.max(least),
        ..median
    };
    sheet.sequential_read_mb_s = Some(sequential.written(fit, "sequential_read_mb_s"));
    sheet.random_read_iops = Some(
        fit.written("random_read_iops", rate)
            .at(4.0, f64::from(depth)),
    );
    flash.read_us = Some(fit.written("read_us", median));
    flash.read_p99_us = Some(fit.written(
        "read_p99_us",
        Figure {
            value: p99.value.max(median.value),
            ..p99
        },
    ));
    Some(())
}

fn writes(
    fit: &mut DriveFit,
    measured: &Measured,
    sheet: &mut Datasheet,
    flash: &mut Flash,
) -> Option<()> {
    let single = measured.point(LearnProfile::write(4 * KIB, 1))?;
    let median = single.figure(|run| run.median_us)?;
    let p99 = single.figure(|run| run.p99_us)?;
    let rate = measured.figure(LearnProfile::write(4 * KIB, 32), |run| run.iops)?;
    let flush = measured.figure(LearnProfile::write(4 * KIB, 1).flushed(), |run| {
        Quantity::FlushUs.of(run)
    })?;
    let sequential = sequential(measured, true)?;
    sheet.sequential_write_mb_s = Some(sequential.written(fit, "sequential_write_mb_s"));
    sheet.random_write_iops = Some(fit.written("random_write_iops", rate).at(4.0, 32.0));
    let slowest = sheet
        .random_read_iops
        .as_ref()
        .map_or(0.0, |read| 1e6 / read.value.max(rate.value));
    // A write is at least its command and its transfer.
    let least = (slowest + 4096.0 / sequential.mb_s.value) * 1.01;
    if median.value < least {
        fit.note(
            "write_us is shorter than what the write rate leaves; it was raised to that".to_owned(),
        );
    }
    let median = Figure {
        value: median.value.max(least),
        ..median
    };
    flash.write_us = Some(fit.written("write_us", median));
    flash.write_p99_us = Some(fit.written(
        "write_p99_us",
        Figure {
            value: p99.value.max(median.value),
            ..p99
        },
    ));
    flash.flush_us = Some(fit.written("flush_us", flush));
    // How the fill changes the rates was not measured: with little of the flash filled, the model changes nothing.
    flash.physical_share = Some(SpecFigure::new(0.05, ASSUMED));
    fit.note("physical_share: how the fill changes the write rates was not measured, so it changes nothing".into());
    Some(())
}

fn burst(fit: &mut DriveFit, measured: &Measured, sheet: &mut Datasheet, flash: &mut Flash) {
    match bend(&measured.burst) {
        Burst::Even { bytes } => {
            fit.note(format!(
                "buffer_mb: no bend found within {:.0} MiB of writes",
                bytes / f64::from(1 << 20)
            ));
        }
        found @ Burst::Bend {
            bytes_before,
            fast,
            slow,
            within,
        } => {
            let size = found.buffer_bytes().unwrap_or_default();
            let error_percent = within / bytes_before * 100.0;
            let [size, filled, slow, fast] =
                [size / 1e6, bytes_before / 1e9, slow / 1e6, fast / 1e6].map(|value| Figure {
                    value,
                    error_percent,
                });
            if size.value <= RAM_AT_MOST_MB {
                flash.buffer_mb = Some(fit.written("buffer_mb", size));
                return;
            }
            flash.slc_gb = Some(fit.written("slc_gb", filled));
            flash.folded_write_mb_s = Some(fit.written("folded_write_mb_s", slow));
            sheet.sequential_write_mb_s =
                Some(fit.written("sequential_write_mb_s", fast).at(128.0, 32.0));
        }
    }
}

/// Units and firmware show in no single measurement: those are taken that come nearest to all reads. Units first, with
/// little and with much firmware; then the firmware, with the units that were found.
fn search(fit: &mut DriveFit, measured: &Measured) {
    let reads: Vec<&LearnedPoint> = measured
        .points
        .iter()
        .filter(|point| !point.profile.write && point.profile.span >= 1.0)
        .collect();
    let care = Care {
        ops: 1_500,
        ..fit.care
    };
    let trials = Trials { fit, reads, care };
    let coarse = UNITS
        .into_iter()
        .flat_map(|units| [trials.trial(units, 0.0), trials.trial(units, 0.45)]);
    let Some(UnitsTrial { units, .. }) = best(coarse) else {
        return;
    };
    let fine = FIRMWARE.into_iter().map(|share| trials.trial(units, share));
    if let Some(best) = best(fine) {
        fit.file = best.file;
    }
    fit.parameters.extend([
        FittedParameter {
            key: "units",
            repeats_percent: 0.0,
        },
        FittedParameter {
            key: "firmware_us",
            repeats_percent: 0.0,
        },
    ]);
}

/// The flush as measured holds the command and what the buffer still had to write; the model adds those itself.
fn subtract_from_flush(fit: &mut DriveFit, measured: &Measured) {
    let Some(point) = measured.point(LearnProfile::write(4 * KIB, 1).flushed()) else {
        return;
    };
    let Some(measured) = point.figure(|run| Quantity::FlushUs.of(run)) else {
        return;
    };
    let Some(spec) = fit.spec_of(&fit.file) else {
        return;
    };
    let excess = Quantity::FlushUs.of(&outcome(&spec, point, &fit.care)) - measured.value;
    if let Some(flush) = fit
        .file
        .flash
        .as_mut()
        .and_then(|flash| flash.flush_us.as_mut())
    {
        flush.value = digits((flush.value - excess).max(0.0));
    }
}

/// The two sequential loads count as much as the sizes at depth 1: both depend on the link.
fn weight(profile: &LearnProfile) -> f64 {
    if profile.random { 1.0 } else { 2.0 }
}

/// What is varied, and the reads that the model is compared with.
struct Trials<'a> {
    fit: &'a DriveFit,
    reads: Vec<&'a LearnedPoint>,
    care: Care,
}

struct UnitsTrial {
    units: u32,
    file: DriveFile,
    score: f64,
}

fn best(trials: impl Iterator<Item = UnitsTrial>) -> Option<UnitsTrial> {
    trials.min_by(|a, b| a.score.total_cmp(&b.score))
}

impl Trials<'_> {
    /// With so many units, and firmware that takes this share of the latency of a read.
    fn trial(&self, units: u32, share: f64) -> UnitsTrial {
        let mut file = self.fit.file.clone();
        let overhead = 1e6 / value(&file.datasheet.random_read_iops)
            + 4096.0 / value(&file.datasheet.sequential_read_mb_s);
        let flash = file.flash.get_or_insert_default();
        let inside = (value(&flash.read_us) - overhead).max(0.0);
        flash.units = Some(SpecFigure::new(f64::from(units), SOURCE));
        flash.firmware_us = Some(SpecFigure::new(digits(inside * share), SOURCE));
        let spec = self.fit.spec_of(&file);
        UnitsTrial {
            units,
            file,
            score: spec.map_or(f64::INFINITY, |spec| self.score(&spec)),
        }
    }

    /// Weighted sum of the squared logarithms of model ÷ measured.
    fn score(&self, spec: &DriveSpec) -> f64 {
        self.reads
            .iter()
            .filter_map(|point| {
                let model = outcome(spec, point, &self.care);
                let first = quantities(&point.profile).first()?;
                let measured = point.figure(|run| first.of(run))?.value;
                let ratio = first.of(&model).max(1e-9) / measured.max(1e-9);
                Some(weight(&point.profile) * ratio.ln().powi(2))
            })
            .sum()
    }
}

fn value(figure: &Option<SpecFigure>) -> f64 {
    figure.as_ref().map_or(1.0, |figure| figure.value)
}

/// Whether a row depends on a parameter.
pub fn governs(key: &str, row: &FitRow) -> bool {
    let FitRow {
        profile, quantity, ..
    } = row;
    let single = profile.depth == 1 && profile.block.0 == 4 * KIB && !profile.flush;
    match key {
        "read_us" => !profile.write && single && *quantity == Quantity::MedianUs,
        "read_p99_us" => !profile.write && *quantity == Quantity::P99Us,
        "units" | "firmware_us" => !profile.write && profile.random && *quantity != Quantity::P99Us,
        "random_read_iops" => !profile.write && profile.depth >= 64,
        "sequential_read_mb_s" => !profile.write && !profile.random,
        "write_us" => profile.write && single && *quantity == Quantity::MedianUs,
        "write_p99_us" => profile.write && *quantity == Quantity::P99Us,
        "random_write_iops" => profile.write && !profile.flush && *quantity == Quantity::Iops,
        "sequential_write_mb_s" | "folded_write_mb_s" => profile.write && !profile.random,
        "flush_us" => profile.flush,
        _ => false,
    }
}
