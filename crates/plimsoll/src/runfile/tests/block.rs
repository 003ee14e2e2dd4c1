use plimsoll_analysis::fixture;
use plimsoll_analysis::summarise;
use plimsoll_record::Record;

use super::super::read;

#[test]
fn every_field_of_block_io_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    let record = fixture::block();
    let file = super::write(&record, &path);
    file.finish(
        record.run.status,
        record.run.failure.as_deref(),
        record.run.lasted,
    )
    .unwrap();
    let back = read(&path).unwrap();
    assert_eq!(back.blocks, record.blocks);
    assert_eq!(back.steady, record.steady);
    assert_eq!(back.diagnoses, record.diagnoses);
    assert_eq!(back.shares.len(), record.shares.len());
    assert!(
        back.shares == record.shares,
        "histograms are too large to print"
    );
    let moved = |record: &Record| {
        record
            .seconds
            .iter()
            .map(|second| second.counts.bytes)
            .collect::<Vec<_>>()
    };
    assert_eq!(moved(&back), moved(&record));
    assert_eq!(
        (back.points, back.windows.len()),
        (record.points, record.windows.len())
    );
}

/// Reports rest on the file, not on what the run had in memory.
#[test]
fn figures_of_block_io_are_the_same_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    // Samples are rounded when they are stored, and rows of a drive's seconds are another test's.
    let record = Record {
        series: Vec::new(),
        ..fixture::block()
    };
    let file = super::write(&record, &path);
    file.finish(
        record.run.status,
        record.run.failure.as_deref(),
        record.run.lasted,
    )
    .unwrap();
    let (before, after) = (summarise(&record), summarise(&read(&path).unwrap()));
    assert_eq!(after.blocks, before.blocks);
    assert_eq!(
        (after.figures.diagnoses, after.verdict),
        (before.figures.diagnoses, before.verdict)
    );
}
