use plimsoll_analysis::summarise;
use plimsoll_plan::RecordedPlan;
use plimsoll_record::fixture;
use serde_json::Value;

use super::*;

fn csv_of(kind: ExportTable) -> String {
    csv_from(&fixture::record(), kind)
}

fn csv_from(record: &Record, kind: ExportTable) -> String {
    to_csv(record, &summarise(record), kind)
}

/// Every field that programs read, once, with the first value that it has.
fn fields(record: &Record) -> String {
    let json = to_json(record, &summarise(record));
    let mut fields: Vec<(String, Value)> = Vec::new();
    add_fields(&serde_json::from_str(&json).unwrap(), "", &mut fields);
    let lines = fields
        .iter()
        .map(|(path, value)| format!("{path}: {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn add_fields(json: &Value, path: &str, fields: &mut Vec<(String, Value)>) {
    match json {
        Value::Object(all) => {
            for (name, value) in all {
                add_fields(value, &format!("{path}.{name}"), fields);
            }
        }
        Value::Array(all) if !all.is_empty() => {
            for value in all {
                add_fields(value, &format!("{path}[]"), fields);
            }
        }
        value => match fields.iter_mut().find(|(known, _)| known == path) {
            Some((_, first)) if first.is_null() => *first = value.clone(),
            Some(_) => {}
            None => fields.push((path.to_owned(), value.clone())),
        },
    }
}

#[test]
fn json_of_the_fixture() {
    insta::assert_snapshot!(fields(&fixture::record()));
}

#[test]
fn ladder_csv_of_the_fixture() {
    insta::assert_snapshot!(csv_of(ExportTable::Ladder));
}

#[test]
fn seconds_csv_of_the_fixture() {
    let csv = csv_of(ExportTable::Seconds);
    assert_eq!(csv.lines().count(), 1 + fixture::record().seconds.len());
    // A closed and an open second of every type.
    let open = csv
        .lines()
        .position(|line| line.contains(",open,"))
        .unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    insta::assert_snapshot!([&lines[..21], &lines[open..open + 10]].concat().join("\n"));
}

#[test]
fn series_csv_of_the_fixture() {
    let csv = csv_of(ExportTable::Series);
    let samples: usize = fixture::record()
        .series
        .iter()
        .map(|series| series.samples.len())
        .sum();
    assert_eq!(csv.lines().count(), 1 + samples);
    // Two samples of every series.
    let rows = csv.lines().filter(|line| {
        ["t_s,", "4,", "30,"]
            .iter()
            .any(|start| line.starts_with(start))
    });
    insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
}

#[test]
fn drive_csv_of_the_fixture() {
    let csv = csv_of(ExportTable::Drive);
    assert_eq!(csv.lines().count(), 1 + fixture::record().drive.len());
    // Each kind of operation before, while and after the power failed.
    let failing = csv
        .lines()
        .position(|line| line.split(',').nth(6) == Some("3"))
        .unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    insta::assert_snapshot!(
        [&lines[..9], &lines[failing..failing + 4]]
            .concat()
            .join("\n")
    );
}

#[test]
fn wait_csv_of_the_fixture() {
    let csv = csv_of(ExportTable::Wait);
    assert_eq!(csv.lines().count(), 1 + fixture::record().waits.len());
    // A second of each system.
    let slow = csv
        .lines()
        .position(|line| line.contains("db@slow"))
        .unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    insta::assert_snapshot!([&lines[..6], &lines[slow..slow + 5]].concat().join("\n"));
}

#[test]
fn block_csv_of_the_fixture() {
    let record = fixture::block();
    let csv = csv_from(&record, ExportTable::Block);
    let rows: usize = record.points.iter().map(|point| 1 + point.txns.len()).sum();
    assert_eq!(
        csv.lines().count(),
        1 + rows,
        "every point with all its kinds of requests"
    );
    // The first and the last round on both media, and both media at once.
    let chosen = |line: &&str| {
        ["step,", "syncs,"]
            .iter()
            .any(|start| line.starts_with(start))
            || line.contains(",0,false,")
    };
    let last = |line: &&str| line.starts_with("corners,") && line.contains(",3,true,");
    insta::assert_snapshot!(
        csv.lines()
            .filter(|line| chosen(line) || last(line))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn tables_of_backups_noise_and_shared_media() {
    let record = fixture::backup();
    insta::assert_snapshot!("backup_csv", csv_from(&record, ExportTable::Backup));
    insta::assert_snapshot!("effect_csv", csv_from(&record, ExportTable::Effect));
    let csv = csv_from(&record, ExportTable::Medium);
    let timelines = summarise(&record).figures.timelines;
    let seconds = |own: &plimsoll_analysis::summary::StepTimeline| {
        let media: usize = own.media.iter().map(|medium| medium.seconds.len()).sum();
        media + own.transactions.len() + own.neighbours.len() + own.written.len()
    };
    assert_eq!(
        csv.lines().count(),
        1 + timelines.iter().map(seconds).sum::<usize>()
    );
    // Two seconds of everything.
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    let first = csv.lines().filter(|line| {
        let what: Vec<&str> = line.split(',').skip(1).take(4).collect();
        let n = counts.entry(what.join(",")).or_default();
        *n += 1;
        *n <= 2
    });
    insta::assert_snapshot!("medium_csv", first.collect::<Vec<_>>().join("\n"));
}

#[test]
fn json_of_backups_and_noise() {
    insta::assert_snapshot!(fields(&fixture::backup()));
}

/// What was moved in each second is in the table of seconds, by point.
#[test]
fn seconds_of_block_io_have_bytes_and_their_point() {
    let record = fixture::block();
    let csv = csv_from(&record, ExportTable::Seconds);
    let column = |line: &str, name: &str| {
        let place = csv
            .lines()
            .next()
            .unwrap()
            .split(',')
            .position(|own| own == name)
            .unwrap();
        line.split(',').nth(place).unwrap().to_owned()
    };
    let bytes = |point: &str| -> u64 {
        let own = csv
            .lines()
            .skip(1)
            .filter(|line| column(line, "point") == point);
        own.map(|line| column(line, "bytes").parse::<u64>().unwrap())
            .sum()
    };
    for point in [&record.points[0], &record.points[record.points.len() - 1]] {
        let phases: Vec<_> = record
            .phases
            .iter()
            .filter(|phase| phase.point == Some(point.id))
            .map(|p| p.id)
            .collect();
        let rows = record
            .seconds
            .iter()
            .filter(|second| phases.contains(&second.phase));
        assert_eq!(
            bytes(&point.id.0.to_string()),
            rows.map(|second| second.counts.bytes).sum::<u64>()
        );
    }
}

#[test]
fn json_of_block_io() {
    insta::assert_snapshot!(fields(&fixture::block()));
}

#[test]
fn a_table_without_rows_has_its_header() {
    let mut record = fixture::single_point();
    record.points.clear();
    record.series.clear();
    let columns = [
        "nopm",
        "share_percent",
        "bytes",
        "metric",
        "modelled_p50_us",
        "samples",
        "op",
        "printed",
        "outcome",
        "p99_ratio",
        "what",
    ];
    for (kind, column) in ExportTable::ALL.iter().zip(columns) {
        let csv = to_csv(&record, &summarise(&record), *kind);
        let header: Vec<&str> = csv.lines().next().unwrap_or_default().split(',').collect();
        assert!(
            header.contains(&column) && header.iter().all(|name| !name.is_empty()),
            "{header:?}"
        );
    }
    let csv = to_csv(&record, &summarise(&record), ExportTable::Ladder);
    let full = csv_of(ExportTable::Ladder);
    let known: Vec<&str> = full.lines().next().unwrap().split(',').collect();
    assert_eq!(csv.lines().count(), 1);
    assert!(
        csv.trim_end().split(',').all(|name| known.contains(&name)),
        "a name that a run with points has not: {csv}"
    );
}

#[test]
fn every_row_has_every_column() {
    let backup = fixture::backup();
    for kind in ExportTable::ALL.iter().copied() {
        let of_backups = csv_from(&backup, kind);
        let columns = of_backups.lines().next().unwrap().split(',').count();
        // Only quoted cells have commas.
        let rows = of_backups.lines().filter(|line| !line.contains('"'));
        assert!(
            rows.clone().all(|line| line.split(',').count() == columns),
            "{}",
            kind.name()
        );
        let csv = csv_of(kind);
        let columns = csv.lines().next().unwrap().split(',').count();
        assert!(
            csv.lines().all(|line| line.split(',').count() == columns),
            "{}",
            kind.name()
        );
        assert_eq!(kind.name().parse(), Ok(kind));
    }
}

#[test]
fn the_resolved_plan_is_structured_data() {
    let exported = |plan: RecordedPlan| {
        let record = Record {
            plan,
            ..fixture::single_point()
        };
        let json = to_json(&record, &summarise(&record));
        serde_json::from_str::<serde_json::Value>(&json).unwrap()
    };
    let whole = exported(fixture::single_point().plan);
    assert_eq!(whole["plan_resolved"]["seed"], 77);
    assert_eq!(whole["plan_resolved"]["system"]["db"]["engine"], "postgres");
    assert!(whole["plan_unreadable"].is_null(), "{whole}");
    let text = "title = \"t\nseed =";
    let broken = exported(RecordedPlan::from_text(text));
    assert_eq!(broken["plan_resolved"], text);
    let why = broken["plan_unreadable"].as_str().unwrap();
    assert!(why.contains("line 1"), "{why}");
    assert!(exported(RecordedPlan::Imported)["plan_resolved"].is_null());
}
