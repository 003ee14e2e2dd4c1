//! A cloud's volume: what is limited by a contract and not by hardware has one rate for reads and writes, and a latency
//! that does not follow from it.

use super::flash::sequential;
use super::rows::{FitRow, Quantity};
use super::work::DriveFit;
use crate::learn::jobs::{DEPTHS, LearnProfile};
use crate::learn::measured::{Figure, Measured};
use crate::spec::figure::{ASSUMED, SpecFigure};
use crate::spec::file::{Datasheet, DriveClass, Volume};

const KIB: u64 = 1 << 10;
const MIB: f64 = 1_048_576.0;
/// Reads and writes that differ by less are limited by the same rate.
const SAME: f64 = 0.05;

/// Fills in the tables of a volume. `None`: reads and writes have rates of their own, or a measurement is missing.
pub fn fit(fit: &mut DriveFit, measured: &Measured) -> Option<()> {
    let reads = DEPTHS
        .iter()
        .filter_map(|depth| measured.figure(LearnProfile::read(4 * KIB, *depth), |run| run.iops));
    let read = reads.max_by(|a, b| a.value.total_cmp(&b.value))?;
    let write = measured.figure(LearnProfile::write(4 * KIB, 32), |run| run.iops)?;
    let sequential_read = sequential(measured, false)?;
    let sequential_write = sequential(measured, true)?;
    if !same(read, write) || !same(sequential_read.mb_s, sequential_write.mb_s) {
        return None;
    }
    let one_read = LearnProfile::read(4 * KIB, 1);
    let one_write = LearnProfile::write(4 * KIB, 1);
    fit.file.kind = DriveClass::Volume;
    fit.file.datasheet = Datasheet {
        sequential_read_mb_s: Some(sequential_read.written(fit, "sequential_read_mb_s")),
        sequential_write_mb_s: Some(
            fit.written("sequential_write_mb_s", sequential_write.mb_s)
                .at(sequential_read.block_kib, sequential_read.depth),
        ),
        random_read_iops: Some(fit.written("random_read_iops", read).at(4.0, 128.0)),
        random_write_iops: Some(fit.written("random_write_iops", write).at(4.0, 32.0)),
        written_share: None,
    };
    let mib_s = Figure {
        value: sequential_read.mb_s.value * 1e6 / MIB,
        ..sequential_read.mb_s
    };
    fit.file.volume = Some(Volume {
        iops: Some(fit.written("iops", read)),
        mib_s: Some(fit.written("mib_s", mib_s)),
        unit_kib: Some(SpecFigure::new(256.0, ASSUMED)),
        burst_ios: Some(SpecFigure::new(30.0, ASSUMED)),
        burst_mib: Some(SpecFigure::new(2.0, ASSUMED)),
        read_us: Some(fit.written("read_us", single(measured, one_read, Quantity::MedianUs)?)),
        read_p99_us: Some(fit.written("read_p99_us", single(measured, one_read, Quantity::P99Us)?)),
        write_us: Some(fit.written("write_us", single(measured, one_write, Quantity::MedianUs)?)),
        write_p99_us: Some(fit.written(
            "write_p99_us",
            single(measured, one_write, Quantity::P99Us)?,
        )),
        flush_us: Some(fit.written(
            "flush_us",
            single(measured, one_write.flushed(), Quantity::FlushUs)?,
        )),
    });
    fit.note(
        "unit_kib, burst_ios and burst_mib are usual for such volumes and were not measured".into(),
    );
    Some(())
}

fn same(a: Figure, b: Figure) -> bool {
    (a.value / b.value - 1.0).abs() < SAME
}

/// Which parameters a row depends on.
pub fn governs(key: &str, row: &FitRow) -> bool {
    let FitRow {
        profile, quantity, ..
    } = row;
    match key {
        "iops" => profile.random && *quantity == Quantity::Iops && profile.depth >= 32,
        "mib_s" => !profile.random,
        _ => false,
    }
}

fn single(measured: &Measured, profile: LearnProfile, quantity: Quantity) -> Option<Figure> {
    measured.figure(profile, |run| quantity.of(run))
}

/// How far off the model is over all rows: the sum of the squared logarithms of model ÷ measured.
pub fn distance(rows: &[FitRow]) -> f64 {
    let positive = rows.iter().filter(|row| row.measured.value > 0.0);
    positive
        .map(|row| (row.model.max(1e-9) / row.measured.value).ln().powi(2))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_and_half_are_equally_far() {
        let row = |model| FitRow {
            profile: LearnProfile::read(4096, 1),
            quantity: Quantity::MedianUs,
            measured: Figure {
                value: 10.0,
                error_percent: 0.0,
            },
            model,
        };
        assert!((distance(&[row(20.0)]) - distance(&[row(5.0)])).abs() < 1e-12);
        assert_eq!(distance(&[row(10.0)]), 0.0);
        assert!(governs(
            "mib_s",
            &FitRow {
                profile: LearnProfile::read(4096, 1).sequential(),
                ..row(1.0)
            }
        ));
    }

    #[test]
    fn rates_within_five_percent_are_one() {
        let figure = |value| Figure {
            value,
            error_percent: 0.0,
        };
        assert!(same(figure(3000.0), figure(3100.0)) && !same(figure(3000.0), figure(3200.0)));
    }
}
