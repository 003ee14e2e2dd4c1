//! Messages: codes with arguments, and sentences as they stand.

use crate::message::doctor::{FlushLimit, FlushOutcome};
use crate::message::{BackupDetail, CheckDetail, DoctorFinding, EventKind, FirstLost, ResetCheck};
use crate::{Diagnosis, DiagnosisLevel, Event, Record, Severity};
use plimsoll_plan::units::Nanos;

use super::*;

fn record() -> Record {
    let event = |kind| Event {
        at: Nanos::from_secs(1),
        subject: None,
        severity: Severity::Warning,
        kind,
    };
    let finding = |code: &str, finding| Diagnosis {
        subject: None,
        code: code.into(),
        level: DiagnosisLevel::Warning,
        disk: Some("sda".into()),
        finding,
    };
    Record {
        events: vec![
            event(EventKind::Late { outcomes: 7 }),
            event(EventKind::Overwritten {
                medium: "m".into(),
                device: "/dev/sdb".into(),
                signatures: vec!["ext4".into()],
                partitions: Vec::new(),
            }),
        ],
        diagnoses: vec![
            finding("governor", DoctorFinding::GovernorUnset),
            finding(
                "fsync",
                DoctorFinding::Flush {
                    outcome: FlushOutcome::Ignored,
                    limit: Some(FlushLimit::Rotation),
                    limit_per_second: Some(120.0),
                    read_ns: None,
                    is_direct: true,
                    unsynced_per_second: 50_000.5,
                    synced_per_second: 40_000.25,
                    flush_ns: 5_000,
                    dsync_per_second: 30_000.0,
                },
            ),
        ],
        ..fixture::record()
    }
}

fn stored(record: &Record) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let file = write(record, &path);
    file.finish(RunStatus::Complete, None, record.run.lasted)
        .unwrap();
    (dir, path)
}

#[test]
fn codes_and_arguments_come_back() {
    let record = record();
    let (_dir, path) = stored(&record);
    let back = read(&path).unwrap();
    assert_eq!(back.events, record.events);
    assert_eq!(back.diagnoses, record.diagnoses);
    let db = rusqlite::Connection::open(&path).unwrap();
    let sql = "SELECT code, json_extract(args, '$.outcomes') FROM event ORDER BY rowid LIMIT 1";
    let row: (String, i64) = db
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(row, ("late".into(), 7));
}

/// Some runs have sentences where others have codes.
#[test]
fn sentences_come_back() {
    let mut record = record();
    let text = || "3 of 4 differ".to_owned();
    record.events[0].kind = EventKind::stored("late", "\"3\" of 4");
    record.diagnoses[0].finding = DoctorFinding::Stored {
        found: text(),
        next: Some("look".into()),
    };
    record.checks[0].detail = CheckDetail::from(text());
    let (_dir, path) = stored(&record);
    let back = read(&path).unwrap();
    assert_eq!(back.events, record.events);
    assert_eq!(back.diagnoses, record.diagnoses);
    assert_eq!(back.checks, record.checks);
}

/// Codes that a later version added.
#[test]
fn unknown_codes_are_shown_with_their_arguments() {
    const NEW: &str = r#"{"args":{"a":1},"code":"new"}"#;
    for record in [record(), fixture::search(), fixture::backup()] {
        let (_dir, path) = stored(&record);
        let db = rusqlite::Connection::open(&path).unwrap();
        for column in [
            "consistency SET detail",
            "receipt SET first_lost",
            "reset SET verified",
            "backup SET detail",
            "diagnosis SET finding",
            "event SET code = 'new', args",
        ] {
            db.execute(&format!("UPDATE {column} = ?1"), [NEW]).unwrap();
        }
        let back = read(&path).unwrap();
        let text = || NEW.to_owned();
        let mut receipts = back.cuts.iter().flat_map(|cut| &cut.receipts);
        assert!(receipts.all(|receipt| receipt.first_lost == Some(FirstLost::from(text()))));
        let mut checks = back.checks.iter();
        assert!(checks.all(|check| check.detail == CheckDetail::from(text())));
        let mut resets = back.resets.iter();
        assert!(resets.all(|reset| reset.verified == ResetCheck::from(text())));
        let mut backups = back.backups.iter();
        assert!(backups.all(|backup| backup.detail == Some(BackupDetail::from(text()))));
        let mut events = back.events.iter();
        assert!(events.all(|event| event.kind == EventKind::stored("new", NEW)));
        let finding = DoctorFinding::from(text());
        let mut diagnoses = back.diagnoses.iter();
        assert!(diagnoses.all(|diagnosis| diagnosis.finding == finding));
    }
}
