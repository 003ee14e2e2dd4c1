use proptest::prelude::*;

use super::work::digits;
use super::*;
use plimsoll_block::fio::IoEngine;

use crate::catalog;
use crate::learn::jobs::{LearnOptions, LearnProfile, profiles};
use crate::learn::measured::{Flush, LearnedPoint, LoadResult};
use crate::learn::replay::{ReplayOptions, replay};
use crate::simulate::synced_per_second;
use crate::spec::figure::SpecFigure;
use crate::spec::{DriveSpec, Mechanism};
use plimsoll_plan::units::Bytes;

fn options(rotational: bool) -> LearnOptions {
    LearnOptions {
        seconds: 1.0,
        writes: true,
        rotational,
        engine: IoEngine::Libaio,
        cpus: 2,
        seed: 1,
    }
}

fn drive(name: &str) -> DriveSpec {
    DriveSpec::parse(name, catalog::find(name).unwrap().text).unwrap()
}

/// What measuring a drive of the catalog would give: three runs with different seeds.
fn measurements(spec: &DriveSpec, region: Bytes, rotational: bool) -> Measured {
    let mut measured = Measured::default();
    for profile in profiles(&options(rotational)) {
        let options = |seed| ReplayOptions {
            region,
            think_us: 3.0,
            ops: 4_000,
            seed,
        };
        let runs = [11, 12, 13]
            .map(|seed| replay(spec, &profile, &options(seed)))
            .to_vec();
        measured.points.push(LearnedPoint { profile, runs });
    }
    measured
}

fn subject(spec: &DriveSpec, region: Bytes) -> FitSubject {
    FitSubject {
        title: spec.title.clone(),
        kind: spec.kind,
        capacity: spec.capacity,
        region,
        writes: true,
        volatile: Some(true),
        how: "simulated".into(),
    }
}

#[track_caller]
fn near(fitted: &SpecFigure, truth: f64, percent: f64) {
    let off = (fitted.value / truth - 1.0).abs() * 100.0;
    let stated = fitted.error_percent.unwrap();
    assert!(
        off <= stated.max(percent),
        "{} is {off:.1} % from {truth}, stated {stated} %",
        fitted.value
    );
    assert!(stated < 30.0, "an error of {stated} % is too large");
}

#[test]
fn a_known_flash_drive_is_found_again() {
    for name in ["kingston-dc1500m-960g", "kingston-dc500m-960g"] {
        let truth = drive(name);
        let region = Bytes::mib(4096);
        let fitted = fit(
            &subject(&truth, region),
            &measurements(&truth, region, false),
        )
        .unwrap();
        let (sheet, flash) = (&fitted.file.datasheet, fitted.file.flash.as_ref().unwrap());
        let (of, flash_of) = (&truth.file.datasheet, truth.file.flash.as_ref().unwrap());
        let value = |figure: &Option<SpecFigure>| figure.as_ref().unwrap().value;
        near(
            sheet.random_read_iops.as_ref().unwrap(),
            value(&of.random_read_iops),
            5.0,
        );
        near(
            sheet.random_write_iops.as_ref().unwrap(),
            value(&of.random_write_iops),
            5.0,
        );
        near(
            sheet.sequential_read_mb_s.as_ref().unwrap(),
            value(&of.sequential_read_mb_s),
            5.0,
        );
        near(
            sheet.sequential_write_mb_s.as_ref().unwrap(),
            value(&of.sequential_write_mb_s),
            5.0,
        );
        near(
            flash.read_us.as_ref().unwrap(),
            value(&flash_of.read_us),
            5.0,
        );
        near(
            flash.read_p99_us.as_ref().unwrap(),
            value(&flash_of.read_p99_us),
            10.0,
        );
        near(
            flash.write_us.as_ref().unwrap(),
            value(&flash_of.write_us),
            5.0,
        );
        let worst = fitted.worst().unwrap();
        let table = rows::table(&fitted.rows);
        assert!(worst.deviation_percent().abs() < 10.0, "{name}\n{table}");
        let text = fitted.file.to_toml();
        assert_eq!(
            DriveSpec::parse("x", &text).unwrap().file,
            fitted.file,
            "{text}"
        );
        assert!(
            text.contains("source = \"learned\"") && text.contains("error_percent"),
            "{text}"
        );
    }
}

/// The learned copy makes as many writes durable in a second as its original, and so with its largest rates.
#[test]
fn a_learned_copy_does_what_its_original_does() {
    for name in ["aws-gp3", "azure-premium-ssd-v2", "kingston-dc500r-960g"] {
        let truth = drive(name);
        let region = Bytes::mib(4096);
        let fitted = fit(
            &subject(&truth, region),
            &measurements(&truth, region, false),
        )
        .unwrap();
        let copy = DriveSpec::parse("copy", &fitted.file.to_toml()).unwrap();
        let synced = |spec| synced_per_second(spec, Bytes::mib(4096), 1.0, 5);
        let off = synced(&copy) / synced(&truth) - 1.0;
        assert!(
            off.abs() < 0.1,
            "{name}: {off:+.3} synced writes\n{}",
            rows::table(&fitted.rows)
        );
        for profile in [
            LearnProfile::read(4096, 128),
            LearnProfile::write(4096, 32),
            LearnProfile::write(1 << 20, 32).sequential(),
        ] {
            let rate = |spec| {
                replay(
                    spec,
                    &profile,
                    &ReplayOptions {
                        region,
                        think_us: 3.0,
                        ops: 4_000,
                        seed: 3,
                    },
                )
                .iops
            };
            let off = rate(&copy) / rate(&truth) - 1.0;
            assert!(
                off.abs() < 0.1,
                "{name}, {}: {off:+.3}\n{}",
                profile.name(),
                rows::table(&fitted.rows)
            );
        }
    }
}

#[test]
fn a_known_disk_is_found_again() {
    let truth = drive("disk-7200rpm-4t");
    let measured = measurements(&truth, truth.capacity, true);
    assert!(disk::turns(&measured));
    let fitted = fit(&subject(&truth, truth.capacity), &measured).unwrap();
    let Mechanism::Disk(of) = &truth.mechanism else {
        panic!("a disk")
    };
    let found = fitted.file.disk.as_ref().unwrap();
    assert_eq!(found.rpm.as_ref().unwrap().value, 7200.0);
    near(
        found.seek_average_ms.as_ref().unwrap(),
        of.seek_average.as_millis_f64(),
        5.0,
    );
    let spans = fitted
        .rows
        .iter()
        .filter(|row| row.profile.random && row.profile.depth == 1 && !row.profile.write);
    let table = rows::table(&fitted.rows);
    assert!(
        spans
            .clone()
            .all(|row| row.deviation_percent().abs() < 10.0),
        "{table}"
    );
    assert!(spans.count() >= 5, "{table}");
}

#[test]
fn without_writes_their_figures_are_left_out() {
    let truth = drive("kingston-dc1500m-960g");
    let region = Bytes::mib(4096);
    let mut measured = measurements(&truth, region, false);
    measured.points.retain(|point| !point.profile.write);
    let fitted = fit(
        &FitSubject {
            writes: false,
            ..subject(&truth, region)
        },
        &measured,
    )
    .unwrap();
    let keys: Vec<&str> = fitted
        .file
        .figures()
        .iter()
        .map(|entry| entry.key)
        .collect();
    assert!(
        keys.contains(&"read_us") && !keys.iter().any(|key| key.contains("write")),
        "{keys:?}"
    );
    assert!(!fitted.rows.is_empty() && fitted.rows.iter().all(|row| !row.profile.write));
}

/// A cache in memory answers a small read sooner than the sequential rate moves its bytes.
#[test]
fn latencies_that_contradict_the_rates_still_give_a_file_that_is_read() {
    let truth = drive("kingston-dc1500m-960g");
    let region = Bytes::mib(4096);
    let mut measured = measurements(&truth, region, false);
    for run in measured.points.iter_mut().flat_map(|point| &mut point.runs) {
        (run.median_us, run.p99_us, run.mean_us) = (0.4, 0.5, 0.4);
    }
    let fitted = fit(&subject(&truth, region), &measured).unwrap();
    let text = fitted.file.to_toml();
    assert!(
        DriveSpec::parse("x", &text).is_ok() && !fitted.rows.is_empty(),
        "{text}"
    );
    assert!(
        fitted
            .notes
            .iter()
            .any(|note| note.starts_with("read_us is shorter")),
        "{:?}",
        fitted.notes
    );
}

#[test]
fn too_little_gives_no_fit() {
    let truth = drive("kingston-dc1500m-960g");
    let region = Bytes::mib(4096);
    assert_eq!(fit(&subject(&truth, region), &Measured::default()), None);
    let mut measured = measurements(&truth, region, false);
    measured
        .points
        .retain(|point| point.profile != LearnProfile::read(4096, 1));
    assert_eq!(fit(&subject(&truth, region), &measured), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn measurements_that_make_no_sense_never_panic(
        values in prop::collection::vec(
            prop::sample::select(vec![0.0, -1.0, 1e-9, 0.5, 40.0, 5e3, 1e12, f64::INFINITY, f64::NAN]), 7),
        rotational: bool,
    ) {
        let v = |i: usize| values[i % values.len()];
        let outcome = |i: usize| LoadResult {
            ops: 10, iops: v(i), bytes_per_second: v(i + 1), mean_us: v(i + 2), median_us: v(i + 3),
            p99_us: v(i + 4), floor_us: v(i + 5), flush: Some(Flush { mean_us: v(i + 6), median_us: v(i) }),
        };
        let points = profiles(&options(rotational)).into_iter().enumerate();
        let points = points.map(|(i, profile)| LearnedPoint { profile, runs: vec![outcome(i), outcome(i + 1)] }).collect();
        let truth = drive(if rotational { "disk-7200rpm-4t" } else { "kingston-dc1500m-960g" });
        if let Some(fitted) = fit(&subject(&truth, Bytes::mib(64)), &Measured { points, burst: Vec::new(), unsettled: Vec::new() }) {
            rows::table(&fitted.rows);
            fitted.file.to_toml();
        }
    }
}

#[test]
fn four_digits() {
    assert_eq!(
        [0.0, 123_456.0, 0.012_345_6, f64::NAN, 9.999_96].map(digits),
        [0.0, 123_500.0, 0.012_35, 0.0, 10.0]
    );
}
