use super::*;
use crate::Severity;
use crate::message::EventKind;
use crate::runfile::{LiveCursor, read_live, read_plan};

/// A run that goes on, with a measure phase open since its end so far.
struct OpenRun {
    _dir: tempfile::TempDir,
    file: RunFile,
    phase: PhaseId,
    record: Record,
}

fn open_run() -> OpenRun {
    let dir = tempfile::tempdir().unwrap();
    let mut record = fixture::record();
    record.run.status = RunStatus::Unfinished;
    let file = write(&record, &dir.path().join("a.plimsoll"));
    let point = &record.points[0];
    let phase = file
        .open_phase(
            &point.step,
            Some(point),
            PhaseKind::Measure,
            record.run.lasted,
        )
        .unwrap();
    file.commit().unwrap();
    OpenRun {
        _dir: dir,
        file,
        phase,
        record,
    }
}

impl OpenRun {
    fn measure_second(&self, n: u64) {
        let mut tallies = vec![TransactionStats::default(); 5];
        for tally in &mut tallies[..2] {
            tally.counts.committed = 10 + n;
            tally.record(Nanos::from_millis(3), Nanos::from_millis(3));
        }
        tallies[1].counts.failed = n;
        let start = self.record.run.lasted + Nanos::from_secs(n);
        let tick = Tick {
            start,
            end: start + Nanos::SECOND,
            phase: PhaseKind::Measure,
        };
        let second = LaneSecond::new(tick, 1, tallies);
        let system = self.record.points[0].system;
        self.file
            .second(self.phase, system, Nanos::ZERO, &second)
            .unwrap();
    }
}

#[test]
fn each_reading_of_a_run_that_goes_on_has_what_was_added_since_the_last() {
    let run = open_run();
    let mut cursor = LiveCursor::default();
    let first = read_live(run.file.path(), &mut cursor).unwrap();
    assert!(!first.seconds.is_empty());
    assert_eq!(first.phases.len(), 1);
    assert_eq!(first.points[0], run.record.points[0]);
    assert_eq!(first.status, RunStatus::Unfinished);
    assert!(first.under_load > Nanos::ZERO && first.under_load < run.record.run.lasted);
    let plan = read_plan(run.file.path()).unwrap();
    assert_eq!(plan, run.record.plan);

    run.measure_second(1);
    let event = crate::Event {
        at: Nanos::ZERO,
        subject: None,
        severity: Severity::Warning,
        kind: EventKind::Late { outcomes: 3 },
    };
    run.file.event(&event).unwrap();
    let host = run.file.subject(SubjectKind::Host, "host").unwrap();
    for value in [40.0, 25.0] {
        let idle = Sample {
            at: run.record.run.lasted,
            over: Nanos::SECOND,
            value,
        };
        run.file.samples(&[(host, Metric::CpuIdle, idle)]).unwrap();
    }
    let uncommitted = read_live(run.file.path(), &mut cursor).unwrap();
    assert!(uncommitted.seconds.is_empty() && uncommitted.events.is_empty());
    run.file.commit().unwrap();
    let next = read_live(run.file.path(), &mut cursor).unwrap();
    let [second] = &next.seconds[..] else {
        panic!("{:?}", next.seconds)
    };
    assert_eq!(second.counts.committed, 22, "of all types");
    assert_eq!(second.counts.failed, 1);
    assert_eq!(second.response.count(), 2);
    assert_eq!(second.ordinal, first.seconds.last().unwrap().ordinal + 1);
    assert_eq!(next.events, [event]);
    let [idle] = &next.samples[..] else {
        panic!("{:?}", next.samples)
    };
    assert_eq!(
        (idle.metric, idle.value),
        (Metric::CpuIdle, 25.0),
        "the latest"
    );
    let nothing = read_live(run.file.path(), &mut cursor).unwrap();
    assert!(nothing.seconds.is_empty() && nothing.events.is_empty());
}

/// The live page relies on this.
#[test]
fn a_reader_in_the_middle_of_reading_does_not_make_the_writer_wait() {
    let run = open_run();
    let reader = crate::runfile::open::open_run_file(run.file.path())
        .unwrap()
        .db;
    let seconds = "SELECT count(*) FROM tick";
    let before: u64 = reader.query_row(seconds, [], |row| row.get(0)).unwrap();
    run.file.db.busy_timeout(std::time::Duration::ZERO).unwrap();
    for n in 0..20 {
        run.measure_second(n);
        run.file.commit().unwrap();
    }
    let still: u64 = reader.query_row(seconds, [], |row| row.get(0)).unwrap();
    assert_eq!(before, still, "as it was when the reader began");
}

/// As a live page does, all the time.
#[test]
fn a_reader_that_comes_and_goes_does_not_keep_the_wal_at_the_end() {
    let run = open_run();
    let path = run.file.path().to_owned();
    let ended = std::sync::atomic::AtomicBool::new(false);
    let (began, begin) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                let read = read_live(&path, &mut LiveCursor::default());
                assert!(read.is_ok(), "{read:?}");
                let _ = began.send(());
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        begin.recv().unwrap();
        let lasted = run.record.run.lasted;
        run.file.finish(RunStatus::Complete, None, lasted).unwrap();
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    // A reader that opens the file in the very moment may leave an empty one.
    let wal = path.with_extension("plimsoll-wal").metadata();
    assert!(wal.map_or(0, |wal| wal.len()) == 0);
    let rollback_journal = [1, 1];
    assert_eq!(std::fs::read(&path).unwrap()[18..20], rollback_journal);
    let back = read(&path).unwrap();
    assert!(matches!(back.integrity, Integrity::Intact { .. }));
}
