use plimsoll_analysis::fixture;
use plimsoll_analysis::summarise;
use plimsoll_record::Record;

use super::super::read;

/// Reports rest on the file, not on what the run had in memory.
#[test]
fn every_field_of_backups_comes_back_and_gives_the_same_figures() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.plimsoll");
    // Samples are rounded when they are stored.
    let record = Record {
        series: Vec::new(),
        ..fixture::backup()
    };
    let file = super::write(&record, &path);
    file.finish(
        record.run.status,
        record.run.failure.as_deref(),
        record.run.lasted,
    )
    .unwrap();
    let back = read(&path).unwrap();
    assert_eq!(
        (&back.backups, &back.points),
        (&record.backups, &record.points)
    );
    let (before, after) = (summarise(&record), summarise(&back));
    assert_eq!(after.backups, before.backups);
    assert_eq!(after.effects, before.effects);
    assert_eq!(after.timelines, before.timelines);
}
