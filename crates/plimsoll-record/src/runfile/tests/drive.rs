//! Emulated drives and power cuts in run files.

use crate::drive::{DriveOp, DriveTally};
use crate::fixture;
use crate::message::FirstLost;
use crate::{PowerCut, Receipt, RunStatus, SubjectKind};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::units::Nanos;

use super::super::{RunFile, read};
use super::size::hash;

/// `ops` operations whose times scatter by a factor of about 20, as many drives' do.
fn tally(seed: u64, ops: u64, median_us: f64) -> DriveTally {
    let mut tally = DriveTally {
        ops,
        bytes: ops * 8192,
        beyond: ops / 200,
        ..DriveTally::default()
    };
    for i in 0..ops {
        let normal: f64 = (0..12).map(|k| hash(seed, i * 12 + k)).sum::<f64>() - 6.0;
        let modelled = Nanos::from_secs_f64(median_us * 1e-6 * (normal * 0.5).exp());
        let late = Nanos::from_secs_f64(4e-6 * (hash(seed ^ 1, i) * 3.0).exp());
        tally.modelled.record(modelled);
        tally.real.record(modelled + late);
        tally.late.record(late);
    }
    tally
}

#[test]
fn drive_seconds_and_power_cuts_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = RunFile::create(&path, &record.run, "", &RecordedPlan::Imported).unwrap();
    for subject in &record.subjects {
        file.subject(subject.kind, &subject.name).unwrap();
    }
    file.point(&record.points[0]).unwrap();
    let medium = record.points[0].medium.unwrap();
    let (first, second) = (Nanos::from_millis(1500), Nanos::from_millis(2502));
    let mut flush = tally(3, 20, 900.0);
    flush.errors = 7;
    let only_errors = DriveTally {
        errors: 5,
        ..DriveTally::default()
    };
    let tallies = [
        tally(1, 300, 80.0),
        tally(2, 200, 15.0),
        flush,
        DriveTally::default(),
    ];
    file.drive_second(medium, first, second, &tallies).unwrap();
    let failing = [
        DriveTally::default(),
        only_errors,
        DriveTally::default(),
        DriveTally::default(),
    ];
    let third = second + Nanos::SECOND;
    file.drive_second(medium, second, third, &failing).unwrap();
    file.drive_second(medium, third, third + Nanos::SECOND, &Default::default())
        .unwrap();
    let receipt = |txn: &str, n: u64, first_lost| Receipt {
        txn: txn.into(),
        acknowledged: n,
        lost: n / 10,
        in_doubt: 3 + n % 7,
        first_lost,
    };
    let cut = PowerCut {
        point: record.points[0].id,
        at: third,
        recovery: Some(Nanos::from_millis(2345)),
        lost_writes: 17,
        lost_bytes: 139_264,
        lost_flushed_writes: 4,
        receipts: vec![
            receipt(
                "payment",
                88,
                Some(FirstLost::from("payment 12".to_owned())),
            ),
            receipt("new_order", 5, None),
        ],
    };
    file.power_cut(&cut).unwrap();
    file.samples(&[]).unwrap();
    file.finish(RunStatus::Complete, None, third).unwrap();
    let back = read(&path).unwrap();
    assert_eq!(
        back.cuts,
        [cut],
        "receipts in the order in which they were written"
    );
    let kinds: Vec<_> = back
        .drive
        .iter()
        .map(|row| (row.start, row.op, row.ops, row.errors))
        .collect();
    let (read_op, write_op) = (DriveOp::Read, DriveOp::Write);
    assert_eq!(
        kinds,
        [
            (first, read_op, 300, 0),
            (first, write_op, 200, 0),
            (first, DriveOp::Flush, 20, 7),
            (second, write_op, 0, 5),
            (third, read_op, 0, 0)
        ],
        "a kind that nobody asked for has no row, an idle second one"
    );
    for (row, tally) in back.drive.iter().zip(&tallies[..3]) {
        assert_eq!(
            (row.subject, row.end, row.bytes, row.beyond),
            (medium, second, tally.bytes, tally.beyond)
        );
        assert_eq!(row.modelled, tally.modelled.coarse());
        assert_eq!(row.real, tally.real.coarse());
        assert_eq!(row.late, tally.late.coarse());
    }
}

/// A second of a drive at 30,000 operations, by the hour: measured on a minute, since rows of one second are alike.
#[test]
fn an_hour_of_a_busy_drive_fits_in_8_mb() {
    const SECONDS: u64 = 60;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = RunFile::create(&path, &record.run, "", &RecordedPlan::Imported).unwrap();
    let medium = file.subject(SubjectKind::Medium, "nvme").unwrap();
    file.commit().unwrap();
    let before = record_size(&file);
    let tallies = [
        tally(1, 20_000, 80.0),
        tally(2, 9_000, 15.0),
        tally(3, 1_000, 900.0),
        DriveTally::default(),
    ];
    for s in 0..SECONDS {
        // Late in a long run, where times take the most bytes.
        let start = Nanos(20_000_123_456_789 + s * 1_000_012_345);
        file.drive_second(medium, start, start + Nanos(1_000_012_345), &tallies)
            .unwrap();
    }
    file.commit().unwrap();
    let hour = (record_size(&file) - before) * 3600 / SECONDS;
    assert!(hour < 8_000_000, "{hour}");
}

fn record_size(file: &RunFile) -> u64 {
    let db = rusqlite::Connection::open(file.path()).unwrap();
    let of = |name: &str| {
        db.pragma_query_value(None, name, |row| row.get::<_, u64>(0))
            .unwrap()
    };
    of("page_count") * of("page_size")
}
