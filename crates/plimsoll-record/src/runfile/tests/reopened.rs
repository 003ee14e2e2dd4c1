//! Files of killed runs that are completed.

use super::*;
use crate::runfile::JoinedCopy;
use crate::{Event, PointId};

/// As a run leaves it that was killed, in a directory of its own: with the WAL beside it.
fn killed(dir: &Path, record: &Record) -> std::path::PathBuf {
    let running = dir.join("running.plimsoll");
    let file = write(record, &running);
    file.commit().unwrap();
    let path = dir.join("a.plimsoll");
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        std::fs::copy(name(&running), name(&path)).unwrap();
    }
    drop(file);
    path
}

fn unfinished() -> Record {
    let mut record = fixture::record();
    record.run.status = RunStatus::Unfinished;
    record
}

fn names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<String> = names
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name.starts_with("a."))
        .collect();
    names.sort();
    names
}

fn loaded_phases(record: &Record, point: PointId) -> usize {
    let phases = record.phases.iter();
    phases
        .filter(|phase| phase.point == Some(point) && phase.kind.is_under_load())
        .count()
}

#[test]
fn a_copy_takes_the_place_of_the_file_when_it_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let record = unfinished();
    let path = killed(dir.path(), &record);
    let point = record.points.last().unwrap();
    let loaded = loaded_phases(&record, point.id);
    assert!(loaded > 0);
    let events = record.events.len();
    // Given up half way: nothing has changed.
    let copy = JoinedCopy::of(&path).unwrap();
    assert!(JoinedCopy::of(&path).is_err(), "another one joins it");
    copy.open().unwrap().forget_load(point.id).unwrap();
    drop(copy);
    assert_eq!(names(dir.path()), ["a.plimsoll"]);
    let same = read(&path).unwrap();
    assert_eq!(loaded_phases(&same, point.id), loaded);
    assert_eq!(same.run.status, RunStatus::Unfinished);
    // And once more, to the end.
    let copy = JoinedCopy::of(&path).unwrap();
    let file = copy.open().unwrap();
    file.forget_load(point.id).unwrap();
    let series = &record.series[0];
    let sample = Sample {
        at: record.run.lasted + Nanos::SECOND,
        ..series.samples[0]
    };
    // In the layout of one before.
    file.samples(&[(series.subject, series.metric, sample)])
        .unwrap();
    let twice = Event {
        at: record.run.lasted,
        ..record.events[0].clone()
    };
    file.event_once(&twice).unwrap();
    file.event_once(&twice).unwrap();
    let lasted = record.run.lasted;
    file.finish(RunStatus::Interrupted, None, lasted).unwrap();
    assert_eq!(copy.replace_original().unwrap(), path);
    assert_eq!(names(dir.path()), ["a.plimsoll"]);
    let joined = read(&path).unwrap();
    assert_eq!(joined.run.status, RunStatus::Interrupted);
    assert!(matches!(joined.integrity, Integrity::Intact { .. }));
    assert_eq!(loaded_phases(&joined, point.id), 0);
    assert_eq!(joined.events.len(), events + 1);
    let first = record.points.first().unwrap();
    assert_eq!(
        loaded_phases(&joined, first.id),
        loaded_phases(&record, first.id)
    );
    assert!(matches!(
        JoinedCopy::of(&path),
        Err(RunFileError::Closed { .. })
    ));
}

#[test]
fn the_file_of_a_run_that_goes_on_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let file = write(&unfinished(), &path);
    file.commit().unwrap();
    assert!(matches!(
        JoinedCopy::of(&path),
        Err(RunFileError::InUse { .. })
    ));
    file.commit().unwrap();
    drop(file);
    assert!(JoinedCopy::of(&path).is_ok());
}
