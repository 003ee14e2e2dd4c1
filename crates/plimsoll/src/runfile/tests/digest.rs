use std::path::Path;

use plimsoll_model::audit::Judged;
use plimsoll_model::fixture;
use plimsoll_model::record::RunStatus;
use plimsoll_model::summary::summarise;
use plimsoll_report::export::{CsvKind, to_csv, to_json};

use super::super::read;

/// Places at which one bit is flipped.
const FLIPS: u64 = 240;

/// Everything that the tables and the JSON of a run file hold; `None` where reading ends with an error, or where the
/// audit finds that the file has changed.
fn exported(path: &Path) -> Option<String> {
    let record = read(path).ok()?;
    let summary = summarise(&record);
    let reported = |judged: &Judged| judged.rule.code() == "INTACT" && judged.outcome.severity().is_some();
    if summary.audit.judged.iter().any(reported) {
        return None;
    }
    let tables = CsvKind::ALL.map(|kind| to_csv(&record, &summary, kind));
    Some(to_json(&record, &summary) + &tables.concat())
}

fn finished(path: &Path) {
    let record = fixture::single_point();
    super::write(&record, path).finish(RunStatus::Complete, None, record.run.lasted).unwrap();
}

#[test]
fn each_flipped_bit_is_noticed_or_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (path, damaged) = (dir.path().join("a.plimsoll"), dir.path().join("b.plimsoll"));
    finished(&path);
    let whole = exported(&path).expect("a whole file is read");
    let bytes = std::fs::read(&path).unwrap();
    let mut silent = Vec::new();
    for flip in 0..FLIPS {
        let place = (super::hash(16, flip) * bytes.len() as f64 * 8.0) as usize;
        let mut bytes = bytes.clone();
        bytes[place / 8] ^= 1 << (place % 8);
        std::fs::write(&damaged, &bytes).unwrap();
        if exported(&damaged).is_some_and(|export| export != whole) {
            silent.push(place);
        }
    }
    assert_eq!(silent, [0; 0], "bits that changed the export in silence");
}
