//! What a run reports in words: codes with arguments, and the sentences of files from before schema 8.

use crate::message::doctor::{FlushLimit, FlushOutcome, NoDeviceCause};
use crate::message::{BackupDetail, CheckDetail, DoctorFinding, EventKind, FirstLost, ResetCheck};
use crate::{Diagnosis, DiagnosisLevel, Event, Record, Severity};
use flate2::read::GzDecoder;
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
    let sql =
        "SELECT code, text, json_extract(args, '$.outcomes') FROM event ORDER BY rowid LIMIT 1";
    let row: (String, Option<String>, i64) = db
        .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap();
    assert_eq!(row, ("late".into(), None, 7));
}

/// One that a later version added.
#[test]
fn an_unknown_code_is_shown_with_its_arguments() {
    let (_dir, path) = stored(&record());
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("UPDATE event SET code = 'new', args = '{\"a\":1}'", [])
        .unwrap();
    let new = EventKind::Stored {
        code: "new".into(),
        text: "{\"a\":1}".into(),
    };
    assert!(
        read(&path)
            .unwrap()
            .events
            .iter()
            .all(|event| event.kind == new)
    );
}

/// A run that was recorded with schema 7.
#[test]
fn sentences_of_older_files_are_shown_as_they_stand() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let packed = &include_bytes!("schema-7.plimsoll.gz")[..];
    let mut file = std::fs::File::create(&path).unwrap();
    std::io::copy(&mut GzDecoder::new(packed), &mut file).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut rows = db.prepare(sql).unwrap();
        let rows = rows.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let record = read(&path).unwrap();
    let events: Vec<String> = record
        .events
        .iter()
        .map(|event| match &event.kind {
            EventKind::Stored { text, .. } => text.clone(),
            coded => panic!("{coded:?}"),
        })
        .collect();
    assert_eq!(
        events,
        texts("SELECT text FROM event ORDER BY at_ns, rowid")
    );
    let found: Vec<String> = record
        .diagnoses
        .iter()
        .map(|row| match &row.finding {
            DoctorFinding::Stored { found, .. } => found.clone(),
            coded => panic!("{coded:?}"),
        })
        .collect();
    assert_eq!(found, texts("SELECT found FROM diagnosis ORDER BY rowid"));
    assert!(!events.is_empty() && !found.is_empty());
}

/// Files of earlier versions have sentences where there are codes now.
#[test]
fn a_sentence_in_place_of_a_code_is_shown_as_it_stands() {
    for record in [fixture::record(), fixture::search(), fixture::backup()] {
        let (_dir, path) = stored(&record);
        let back = read(&path).unwrap();
        assert_eq!(back.checks, record.checks);
        assert_eq!(back.cuts, record.cuts);
        assert_eq!(back.resets, record.resets);
        let db = rusqlite::Connection::open(&path).unwrap();
        for column in [
            "consistency SET detail",
            "receipt SET first_lost",
            "reset SET verified",
            "backup SET detail",
        ] {
            db.execute(&format!("UPDATE {column} = '3 of 4 differ'"), [])
                .unwrap();
        }
        let text = || "3 of 4 differ".to_owned();
        let back = read(&path).unwrap();
        let mut receipts = back.cuts.iter().flat_map(|cut| &cut.receipts);
        assert!(
            receipts.all(|receipt| receipt.first_lost == Some(FirstLost::stored(text())))
                && (back.checks.iter()).all(|check| check.detail == CheckDetail::stored(text()))
                && (back.resets.iter()).all(|reset| reset.verified == ResetCheck::stored(text()))
                && (back.backups.iter())
                    .all(|backup| backup.detail == Some(BackupDetail::stored(text())))
        );
    }
}

/// Files of an earlier build of this schema have a phrase.
#[test]
fn a_finding_with_a_phrase_keeps_it() {
    let text = r#"{"finding":"no_block_device","args":{"error":"a proc filesystem"}}"#;
    let found: DoctorFinding = serde_json::from_str(text).unwrap();
    let expected = DoctorFinding::NoBlockDevice {
        cause: NoDeviceCause::Error,
        what: "a proc filesystem".into(),
    };
    assert_eq!(found, expected);
}
