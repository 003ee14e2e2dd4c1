//! Measured against the model, point by point.

use crate::learn::jobs::LearnProfile;
use crate::learn::measured::{Figure, LearnedPoint, LoadResult, Measured};
use crate::learn::replay::{ReplayOptions, replay};
use crate::spec::DriveSpec;
use plimsoll_plan::units::Bytes;

/// What of a load is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    MedianUs,
    P99Us,
    FlushUs,
    Iops,
    MbPerS,
}

impl Quantity {
    pub fn unit(self) -> &'static str {
        match self {
            Self::MedianUs => "µs median",
            Self::P99Us => "µs p99",
            Self::FlushUs => "µs flush",
            Self::Iops => "IOPS",
            Self::MbPerS => "MB/s",
        }
    }

    pub fn of(self, outcome: &LoadResult) -> f64 {
        match self {
            Self::MedianUs => outcome.median_us,
            Self::P99Us => outcome.p99_us,
            Self::FlushUs => outcome.flush.map_or(0.0, |flush| flush.median_us),
            Self::Iops => outcome.iops,
            Self::MbPerS => outcome.bytes_per_second / 1e6,
        }
    }
}

/// A load is compared by its latency at depth 1, by its rate above, by its bandwidth if it is sequential.
pub fn quantities(profile: &LearnProfile) -> &'static [Quantity] {
    match profile {
        LearnProfile { flush: true, .. } => &[Quantity::FlushUs, Quantity::Iops],
        LearnProfile { random: false, .. } => &[Quantity::MbPerS],
        LearnProfile {
            depth: 1,
            span,
            block: Bytes(4096),
            ..
        } if *span >= 1.0 => &[Quantity::MedianUs, Quantity::P99Us],
        LearnProfile { depth: 1, .. } => &[Quantity::MedianUs],
        LearnProfile { .. } => &[Quantity::Iops],
    }
}

/// One figure of one load.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRow {
    pub profile: LearnProfile,
    pub quantity: Quantity,
    pub measured: Figure,
    pub model: f64,
}

impl FitRow {
    /// Of the model from the measurement, in percent.
    pub fn deviation_percent(&self) -> f64 {
        if self.measured.value > 0.0 {
            (self.model / self.measured.value - 1.0) * 100.0
        } else {
            0.0
        }
    }
}

/// Where and how carefully the model is asked.
#[derive(Debug, Clone, Copy)]
pub struct Care {
    pub region: Bytes,
    pub ops: usize,
    pub seed: u64,
}

/// What the host takes per request, by Little's law from the measurement: N/X − R. It is no part of the drive, and the
/// model's loop gets the same.
pub fn think_us(point: &LearnedPoint) -> f64 {
    // No host takes longer than ten seconds.
    point
        .figure(|run| {
            let inside = run.mean_us + run.flush.map_or(0.0, |flush| flush.mean_us);
            f64::from(point.profile.depth) * 1e6 / run.iops.max(1e-9) - inside
        })
        .map_or(0.0, |figure| figure.value.clamp(0.0, 1e7))
}

/// The model's answer to one measured load.
pub fn outcome(spec: &DriveSpec, point: &LearnedPoint, care: &Care) -> LoadResult {
    let Care { region, ops, seed } = *care;
    replay(
        spec,
        &point.profile,
        &ReplayOptions {
            region,
            think_us: think_us(point),
            ops,
            seed,
        },
    )
}

/// All rows of one load.
pub fn rows_of(spec: &DriveSpec, point: &LearnedPoint, care: &Care) -> Vec<FitRow> {
    let model = outcome(spec, point, care);
    quantities(&point.profile)
        .iter()
        .filter_map(|quantity| {
            Some(FitRow {
                profile: point.profile,
                quantity: *quantity,
                measured: point.figure(|run| quantity.of(run))?,
                model: quantity.of(&model),
            })
        })
        .collect()
}

/// Every load that was measured; writes only where the spec has figures for them.
pub fn rows(spec: &DriveSpec, measured: &Measured, care: &Care) -> Vec<FitRow> {
    measured
        .points
        .iter()
        .flat_map(|point| rows_of(spec, point, care))
        .collect()
}

/// The table for a person.
pub fn table(rows: &[FitRow]) -> String {
    let mut out = format!(
        "{:<28} {:>12} {:>12}   {:<9} {:>9}\n",
        "", "measured", "model", "", "deviation"
    );
    for row in rows {
        out.push_str(&format!(
            "{:<28} {:>12} {:>12}   {:<9} {:>+8.1}%\n",
            row.profile.name(),
            number(row.measured.value),
            number(row.model),
            row.quantity.unit(),
            row.deviation_percent()
        ));
    }
    out
}

/// Three digits, and whole numbers from a hundred upwards.
fn number(value: f64) -> String {
    match value.abs() {
        at if at < 10.0 => format!("{value:.2}"),
        at if at < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
