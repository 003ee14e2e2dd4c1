use std::collections::BTreeSet;

use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::metric::Metric;
use plimsoll_record::runfile::RunFile;
use plimsoll_record::{Record, RunStatus, fixture};
use serde_json::Value;
use tempfile::TempDir;

use super::*;

/// A run that goes on, with all of a record.
struct OpenRecord {
    dir: TempDir,
    record: Record,
    _file: RunFile,
}

impl OpenRecord {
    fn new(mut record: Record) -> Self {
        let dir = tempfile::tempdir().unwrap();
        record.run.status = RunStatus::Unfinished;
        let file = RunFile::of_record(&dir.path().join("a.plimsoll"), &record).unwrap();
        let point = record.points.last().unwrap();
        let phase = PhaseKind::Measure;
        file.open_phase(&point.step, Some(point), phase, record.run.lasted)
            .unwrap();
        file.commit().unwrap();
        Self {
            dir,
            record,
            _file: file,
        }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("a.plimsoll")
    }

    fn scrape(&self) -> String {
        RunTotals::default().scrape(&[self.path()])
    }
}

/// The value of a sample with these labels.
fn value(text: &str, name: &str, labels: &[(&str, &str)]) -> f64 {
    let line = text.lines().find(|line| {
        let is_it = line.split(['{', ' ']).next() == Some(name);
        is_it
            && labels
                .iter()
                .all(|(name, value)| line.contains(&format!("{name}=\"{value}\"")))
    });
    let line = line.unwrap_or_else(|| panic!("no {name} {labels:?} in\n{text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn counters_are_the_sums_of_the_run_file() {
    let run = OpenRecord::new(fixture::record());
    let text = run.scrape();
    let record = &run.record;
    let mut compared = 0;
    for (system, name) in [(6, "db@fast"), (7, "db@slow")] {
        for (txn, txn_name) in record.points[0].txns.iter().enumerate() {
            let point_of = |phase| {
                let phase = record.phases.iter().find(|own| own.id == phase);
                phase.and_then(|own| own.point)
            };
            let in_ladder = |phase| {
                let point = record
                    .points
                    .iter()
                    .find(|own| Some(own.id) == point_of(phase));
                point.is_some_and(|own| own.step == "ladder")
            };
            let own = record.seconds.iter().filter(|second| {
                second.subject.0 == system && second.txn as usize == txn && in_ladder(second.phase)
            });
            let mut sum = TypeTotals::default();
            for second in own {
                sum.counts.add(&second.counts);
                sum.response.merge(&second.response());
            }
            let labels = [("system", name), ("step", "ladder"), ("type", txn_name)];
            let completed = sum.counts.completed() as f64;
            assert!(completed > 0.0);
            assert_eq!(
                value(&text, "plimsoll_transactions_total", &labels),
                completed
            );
            assert_eq!(
                value(&text, "plimsoll_errors_total", &labels),
                sum.counts.failed as f64
            );
            assert_eq!(
                value(&text, "plimsoll_latency_seconds_count", &labels),
                sum.response.count() as f64
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 10);
    let real = record.drive.iter().filter(|row| row.op == DriveOp::Write);
    let writes: u64 = real.map(|row| row.real.count()).sum();
    let labels = [("medium", "slow"), ("op", "write")];
    let name = "plimsoll_emulated_drive_latency_seconds_count";
    assert_eq!(value(&text, name, &labels), writes as f64);
}

#[test]
fn a_scrape_adds_what_is_new_and_nothing_twice() {
    let run = OpenRecord::new(fixture::record());
    let mut totals = RunTotals::default();
    let first = totals.scrape(&[run.path()]);
    assert_eq!(totals.scrape(&[run.path()]), first);
    // Another run takes the place.
    let other = OpenRecord::new(Record {
        run: plimsoll_record::RunInfo {
            id: "another".into(),
            ..fixture::single_point().run
        },
        ..fixture::single_point()
    });
    for suffix in ["", "-wal", "-shm"] {
        let from = other.dir.path().join(format!("a.plimsoll{suffix}"));
        std::fs::rename(from, run.dir.path().join(format!("a.plimsoll{suffix}"))).unwrap();
    }
    let after = totals.scrape(&[run.path()]);
    assert_eq!(after, run.scrape());
    assert!(after.contains("run=\"another\"") && !after.contains("run=\"0193-fixture\""));
    // One that does not grow any more is left out.
    assert_eq!(totals.scrape(&[]).lines().last(), Some("plimsoll_runs 0"));
}

#[test]
fn further_series_share_one() {
    let mut record = fixture::single_point();
    let mut point = record.points[0].clone();
    point.txns = (0..MOST_SERIES + 50).map(|n| format!("t{n}")).collect();
    let mut totals = TotalsOfRun::default();
    let run = OpenRecord::new(record.clone());
    totals.read(&run.path()).unwrap();
    let mut rows = totals.rows.take().unwrap();
    rows.points = vec![point.clone()];
    totals.transactions.clear();
    let second = |txn| AddedSecond {
        system: point.system,
        point: Some(point.id),
        txn,
        counts: Counts {
            committed: 1,
            ..Counts::default()
        },
        response: CoarseHist::default(),
    };
    let mut added = AddedTypes::new();
    for txn in 0..point.txns.len() {
        add_second(&mut added, &second(txn));
    }
    totals.add_types(&rows, added);
    assert_eq!(totals.transactions.len(), MOST_SERIES + 1);
    assert_eq!(
        totals.transactions[&SeriesKey::other()].counts.committed,
        50
    );
    record.points.clear();
}

fn families(text: &str) -> BTreeSet<String> {
    let lines = text.lines();
    let types = lines.filter_map(|line| line.strip_prefix("# TYPE "));
    types
        .map(|own| own.split(' ').next().unwrap().to_owned())
        .collect()
}

#[test]
fn names_end_in_base_units_and_each_metric_of_the_catalog_has_its_own() {
    let text = OpenRecord::new(fixture::record()).scrape();
    for line in text.lines().filter(|line| line.starts_with("# TYPE ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, kind) = (words[2], words[3]);
        assert!(name.starts_with("plimsoll_"), "{line}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{line}");
        assert!(
            name.ends_with("_latency_seconds") || kind != "histogram",
            "{line}"
        );
    }
    let names = Metric::ALL.iter().map(|metric| {
        let unit = BaseUnit::of(&metric.info());
        format!("{}{}", unit.stem, unit.suffix)
    });
    assert_eq!(names.collect::<BTreeSet<_>>().len(), Metric::ALL.len());
    let busy = value(&text, "plimsoll_cpu_idle_ratio", &[("subject", "host")]);
    assert!((0.0..=1.0).contains(&busy), "{busy}");
}

/// The names of metrics in an expression.
fn metrics_of(expression: &str) -> Vec<&str> {
    let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("plimsoll_")).collect()
}

fn expressions(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, own) in fields {
                match own.as_str() {
                    Some(text) if matches!(name.as_str(), "expr" | "query") => {
                        into.push(text.to_owned());
                    }
                    _ => expressions(own, into),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|own| expressions(own, into)),
        _ => {}
    }
}

#[test]
fn the_dashboard_asks_for_metrics_that_exist() {
    let dashboard = include_str!("../../../../dashboards/plimsoll.json");
    let dashboard: Value = serde_json::from_str(dashboard).unwrap();
    let mut all = Vec::new();
    expressions(&dashboard, &mut all);
    let known = families(&OpenRecord::new(fixture::record()).scrape());
    let mut asked = BTreeSet::new();
    for expression in &all {
        for name in metrics_of(expression) {
            let family = name.strip_suffix("_bucket").unwrap_or(name);
            assert!(known.contains(family), "{name} in {expression}");
            asked.insert(family.to_owned());
        }
    }
    assert!(asked.len() >= 20, "{asked:?}");
}
