use std::collections::BTreeSet;
use std::path::Path;

use crate::fixture;
use crate::hist::CoarseHist;
use crate::lane::{Absence, Counts, LaneSecond, TransactionStats};
use crate::metric::Metric;
use crate::{
    Integrity, Outage, PhaseId, Point, PowerCut, Record, Reported, RunStatus, SCHEMA_VERSION,
    Sample, Second, Series, SubjectId, SubjectKind, WaitRow, WaitState,
};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::schedule::{PhaseKind, Tick};
use plimsoll_plan::units::Nanos;
use proptest::prelude::*;

use super::{RunFile, RunFileError, read};

mod digest;
mod drive;
mod live;
mod messages;
mod recovery;
mod reopened;
mod size;

fn write(record: &Record, path: &Path) -> RunFile {
    RunFile::of_record(path, record).unwrap()
}

/// Reports rest on the file, not on what the run had in memory.
#[test]
fn every_field_comes_back() {
    for record in [fixture::record(), fixture::block(), fixture::backup()] {
        comes_back(record);
    }
}

fn comes_back(mut record: Record) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    put_in_stored_order(&mut record);
    let file = write(&record, &path);
    file.finish(
        record.run.status,
        record.run.failure.as_deref(),
        record.run.lasted,
    )
    .unwrap();
    let mut back = read(&path).unwrap();
    back.windows.retain(|window| !window.coarse);
    // Every type of a second has a row in the file.
    record.seconds.edit(|seconds| seconds.retain(has_outcomes));
    back.seconds.edit(|seconds| seconds.retain(has_outcomes));
    assert!(matches!(back.integrity, Integrity::Intact { .. }));
    assert_eq!(back.series.len(), record.series.len());
    back.series
        .iter()
        .zip(&record.series)
        .for_each(|(back, series)| alike(back, series));
    (back.series, back.integrity) = (record.series.clone(), record.integrity.clone());
    // A difference of all would print millions of lines.
    assert_eq!(back.facts, record.facts);
    assert_eq!(back.points, record.points);
    assert_eq!(back.phases, record.phases);
    assert_eq!(back.events, record.events);
    assert_eq!(back.blocks, record.blocks);
    assert_eq!(back.backups, record.backups);
    assert_eq!(back.seconds.len(), record.seconds.len());
    back.seconds
        .iter()
        .zip(record.seconds.iter())
        .for_each(|(back, second)| assert_eq!(back.to_second(), second.to_second()));
    assert!(back.windows == record.windows, "windows");
    assert!(back == record, "another field");
    assert!(
        !dir.path().join("a.plimsoll-wal").exists(),
        "a closed run is one file"
    );
}

fn has_outcomes(second: &Second) -> bool {
    second.counts != Counts::default()
}

fn put_in_stored_order(record: &mut Record) {
    record
        .facts
        .sort_by(|a, b| (a.subject, &a.key).cmp(&(b.subject, &b.key)));
    // Equal histograms are stored once, whatever made them equal.
    record.seconds.edit(|seconds| {
        for second in seconds {
            second.service = second.service.take().filter(|s| *s != second.response);
        }
    });
    for window in &mut record.windows {
        window.service = window.service.take().filter(|s| *s != window.response);
    }
    record.windows.retain(|window| !window.coarse);
    record
        .windows
        .sort_by_key(|window| (window.phase, window.subject, window.txn));
    record
        .series
        .sort_by_key(|series| (series.subject, series.metric));
    record.events.sort_by_key(|event| event.at);
}

/// Values are stored in 24 bits.
fn alike(back: &Series, series: &Series) {
    assert_eq!(
        (back.subject, back.metric, back.samples.len()),
        (series.subject, series.metric, series.samples.len())
    );
    for (back, sample) in back.samples.iter().zip(&series.samples) {
        assert_eq!((back.at, back.over), (sample.at, sample.over));
        assert!(
            (back.value - sample.value).abs() <= sample.value.abs() / 65_536.0,
            "{back:?} {sample:?}"
        );
    }
}

#[test]
fn a_file_that_nobody_closed_opens_with_what_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let mut record = fixture::record();
    record.run.status = RunStatus::Unfinished;
    let file = write(&record, &path);
    let open = file
        .open_phase(
            "late",
            Some(&record.points[0]),
            PhaseKind::Measure,
            record.run.lasted,
        )
        .unwrap();
    let tail = record.run.lasted + Nanos::SECOND;
    let mut tallies = vec![TransactionStats::default(); 5];
    tallies[1].counts.committed = 9;
    tallies[1].record(Nanos::from_millis(3), Nanos::from_millis(3));
    let tick = Tick {
        start: record.run.lasted,
        end: tail,
        phase: PhaseKind::Measure,
    };
    let second = LaneSecond::new(tick, 1, tallies);
    file.second(open, SubjectId(6), Nanos::ZERO, &second)
        .unwrap();
    file.commit().unwrap();
    file.event(&record.events[0]).unwrap();
    // As after kill -9: copied as it lies there, WAL and all, without the last transaction.
    let copy = dir.path().join("b.plimsoll");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(
        dir.path().join("a.plimsoll-wal"),
        dir.path().join("b.plimsoll-wal"),
    )
    .unwrap();
    let back = read(&copy).unwrap();
    assert_eq!(back.run.status, RunStatus::Unfinished);
    assert_eq!(back.run.lasted, tail);
    assert_eq!(
        back.events.len(),
        record.events.len(),
        "the uncommitted one is not there"
    );
    let phase = back.phases.last().unwrap();
    assert_eq!((phase.end, phase.complete), (tail, false));
    let windows: Vec<_> = back
        .windows
        .iter()
        .filter(|window| window.phase == open)
        .collect();
    assert!(windows.iter().all(|window| window.coarse));
    assert_eq!(
        windows
            .iter()
            .map(|window| window.response.count())
            .sum::<u64>(),
        1
    );
    assert_eq!(
        back.seconds
            .iter()
            .filter(|second| second.phase == open)
            .count(),
        5,
        "types without outcomes are zeros"
    );
}

#[test]
fn a_slow_gauge_does_not_lengthen_the_interval_of_rates() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = RunFile::create(&path, &record.run, "", &RecordedPlan::Imported).unwrap();
    let system = file.subject(SubjectKind::System, "db").unwrap();
    let sample = |at, over| Sample {
        at: Nanos::from_secs(at),
        over: Nanos::from_secs(over),
        value: 7.0,
    };
    let cpu = (system, Metric::SystemCpu, sample(10, 1));
    file.samples(&[
        cpu,
        (system, Metric::SystemMemory, sample(10, 9)),
        (system, Metric::SystemData, sample(20, 8)),
    ])
    .unwrap();
    file.commit().unwrap();
    let over = |metric| {
        read(&path)
            .unwrap()
            .series
            .iter()
            .find(|s| s.metric == metric)
            .unwrap()
            .samples[0]
            .over
    };
    assert_eq!(over(Metric::SystemCpu), Nanos::SECOND);
    assert_eq!(over(Metric::SystemData), Nanos::from_secs(8));
}

#[test]
fn a_run_that_goes_on_is_read_as_it_was_at_one_moment() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = RunFile::create(&path, &record.run, "", &RecordedPlan::Imported).unwrap();
    let system = file.subject(SubjectKind::System, "db").unwrap();
    let point = Point {
        system,
        medium: None,
        ..record.points[0].clone()
    };
    file.point(&point).unwrap();
    file.commit().unwrap();
    let writer = std::thread::spawn(move || {
        for s in 0..400 {
            let start = Nanos::from_secs(s);
            let phase = file
                .open_phase("a", Some(&point), PhaseKind::Measure, start)
                .unwrap();
            file.second(
                phase,
                system,
                Nanos::ZERO,
                &size::busy(start, [2, 0, 0, 0, 1], 7),
            )
            .unwrap();
            file.commit().unwrap();
        }
    });
    while !writer.is_finished() {
        let now = read(&path).unwrap();
        assert_eq!(
            now.seconds.len(),
            5 * now.phases.len(),
            "a second for each type of each phase"
        );
    }
    writer.join().unwrap();
}

#[test]
fn a_run_ends_well_while_somebody_reads_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = write(&record, &path);
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM run").unwrap();
    file.finish(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
    assert_eq!(read(&path).unwrap().run.status, RunStatus::Complete);
}

#[test]
fn a_file_without_its_wal_is_a_run_file_from_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::single_point();
    let file = RunFile::create(&path, &record.run, "written", &RecordedPlan::Imported).unwrap();
    file.subject(SubjectKind::System, "db").unwrap();
    file.commit().unwrap();
    let mailed = dir.path().join("b.plimsoll");
    std::fs::copy(&path, &mailed).unwrap();
    let back = read(&mailed).unwrap();
    assert_eq!(
        (back.run.title, back.plan_written),
        (record.run.title, "written".to_owned())
    );
}

#[test]
fn what_is_not_a_run_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    assert!(matches!(read(&path), Err(RunFileError::Open { .. })));
    std::fs::write(&path, "not a database").unwrap();
    assert!(matches!(read(&path), Err(RunFileError::Foreign { .. })));
    std::fs::write(&path, "").unwrap();
    assert!(matches!(read(&path), Err(RunFileError::Foreign { .. })));
    std::fs::remove_file(&path).unwrap();
    drop(write(&fixture::single_point(), &path));
    assert!(matches!(
        RunFile::create(
            &path,
            &fixture::single_point().run,
            "",
            &RecordedPlan::Imported
        ),
        Err(RunFileError::Exists { .. })
    ));
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    let error = read(&path).unwrap_err();
    let version = fixture::single_point().run.plimsoll_version;
    assert!(
        matches!(&error, RunFileError::Newer { .. }) && error.to_string().contains(&version),
        "{error}"
    );
    db.pragma_update(None, "user_version", 9).unwrap();
    let error = read(&path).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{} cannot be read: it has schema 9\nThis plimsoll reads schema {SCHEMA_VERSION} only.\n\
             Open it with plimsoll 0.1, which reads schemas 1 to 9.",
            path.display()
        )
    );
    db.pragma_update(None, "user_version", SCHEMA_VERSION)
        .unwrap();
    for (column, spoilt) in [
        ("times", "x'ff'"),
        ("times", "times || x'00'"),
        ("counts", "'[[99,1]]'"),
        ("counts", "'[['"),
    ] {
        db.execute(
            &format!("UPDATE tick SET {column} = {spoilt} WHERE id = 2"),
            [],
        )
        .unwrap();
        assert!(
            matches!(read(&path), Err(RunFileError::Damaged { .. })),
            "{column} = {spoilt}"
        );
        db.execute_batch(
            "UPDATE tick SET counts = t.counts, times = t.times FROM tick t WHERE tick.id = 2 AND t.id = 3",
        )
        .unwrap();
        assert!(read(&path).is_ok());
    }
}

#[test]
fn sql_sees_what_became_of_each_type() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::record();
    drop(write(&record, &path));
    let db = rusqlite::Connection::open(&path).unwrap();
    let sql = "SELECT sum(offered), sum(committed), sum(rolled_back), sum(failed), sum(dropped), sum(retries), sum(round_trips),
                      sum(bytes) FROM outcome JOIN tick ON tick.id = outcome.tick WHERE tick.phase = ?1 AND txn = ?2";
    let types: BTreeSet<(PhaseId, u32)> = record
        .seconds
        .iter()
        .map(|second| (second.phase, second.txn))
        .collect();
    for (phase, txn) in types {
        let stored: [u64; 8] = db
            .query_row(sql, [phase.0, txn], |row| {
                Ok(std::array::from_fn(|i| {
                    row.get::<_, Option<u64>>(i).unwrap().unwrap_or_default()
                }))
            })
            .unwrap();
        let mut sum = Counts::default();
        record
            .seconds
            .iter()
            .filter(|second| (second.phase, second.txn) == (phase, txn))
            .for_each(|s| sum.add(&s.counts));
        let Counts {
            offered,
            committed,
            rolled_back,
            failed,
            dropped,
            retries,
            round_trips,
            bytes,
        } = sum;
        assert_eq!(
            stored,
            [
                offered,
                committed,
                rolled_back,
                failed,
                dropped,
                retries,
                round_trips,
                bytes
            ],
            "{phase:?} {txn}"
        );
    }
}

/// A change of the schema converts them.
#[test]
fn committed_runs_are_read() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runs");
    let mut directories = vec![runs];
    let mut count = 0;
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|found| found == "plimsoll") {
                let record = read(&path).unwrap();
                let is_whole = matches!(record.integrity, Integrity::Intact { .. });
                assert!(is_whole, "{}", path.display());
                assert!(record.plan.resolved().is_some(), "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 30, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// A damaged file is an error or a record, never a panic.
    #[test]
    fn damage_never_panics(bytes in prop::collection::vec((0usize..400_000, any::<u8>()), 1..60)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.plimsoll");
        let mut record = fixture::single_point();
        record.drive = fixture::record().drive.into_iter().take(24).collect();
        record.waits = fixture::record().waits.into_iter().take(24).collect();
        record.cuts = fixture::record().cuts.into_iter().map(|cut| PowerCut { point: record.points[0].id, ..cut }).collect();
        write(&record, &path).finish(record.run.status, None, record.run.lasted).unwrap();
        let mut content = std::fs::read(&path).unwrap();
        let length = content.len();
        for (at, byte) in bytes {
            // The first page identifies the file; the rest is what may be damaged unnoticed.
            content[100 + at % (length - 100)] = byte;
        }
        std::fs::write(&path, content).unwrap();
        let _ = read(&path);
    }
}

#[test]
fn a_coarse_histogram_is_its_own_coarse_form() {
    for record in [fixture::record(), fixture::single_point()] {
        for second in record.seconds.unpack() {
            let again: CoarseHist = second.response.to_hist().coarse();
            assert_eq!(again, second.response);
        }
    }
}

#[test]
fn time_without_a_server_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let mut record = fixture::single_point();
    let second = record.seconds.ticks()[0].clone();
    let absence = Absence {
        server: Nanos::from_millis(700),
        connections: Nanos::from_millis(2_100),
    };
    let (phase, subject) = (second.phase, second.subject);
    record.outages = vec![Outage {
        phase,
        subject,
        start: second.start,
        end: second.end,
        absence,
    }];
    let file = write(&record, &path);
    file.finish(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
    assert_eq!(read(&path).unwrap().outages, record.outages);
}

#[test]
fn what_other_tools_printed_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let mut record = fixture::single_point();
    let figure = |name: &str, value: f64, over| Reported {
        point: record.points[0].id,
        source: "sysbench 1.0.20".into(),
        txn: "transaction".into(),
        name: name.into(),
        value,
        printed: format!("{value:.3}"),
        unit: "ms".into(),
        over,
    };
    record.reported = vec![
        figure("latency 95th percentile", 10.84, None),
        figure(
            "latency 95%",
            9.39,
            Some((Nanos::SECOND, Nanos::from_secs(2))),
        ),
    ];
    let file = write(&record, &path);
    file.finish(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
    assert_eq!(read(&path).unwrap().reported, record.reported);
}
