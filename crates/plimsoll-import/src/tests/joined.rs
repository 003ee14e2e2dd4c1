//! iostat, vmstat and mpstat, alone and beside a run.

use super::super::{SourceFile, import};
use super::{import_options, of, text};
use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Record, SubjectKind};

pub(super) fn values(record: &Record, kind: SubjectKind, metric: Metric) -> Vec<(f64, f32)> {
    let of = |subject| {
        record
            .subjects
            .iter()
            .any(|own| own.id == subject && own.kind == kind)
    };
    let series = record
        .series
        .iter()
        .find(|series| series.metric == metric && of(series.subject));
    let samples = series
        .map(|series| series.samples.as_slice())
        .unwrap_or_default();
    samples
        .iter()
        .map(|sample| (sample.at.as_secs_f64(), sample.value))
        .collect()
}

#[test]
fn iostat_alone_gives_series_without_its_first_report() {
    let record = of(&["iostat_xt.txt"]).record;
    assert_eq!(
        values(&record, SubjectKind::Device, Metric::DeviceReads),
        [(1.0, 28.0), (2.0, 1.0), (3.0, 0.0)]
    );
    let bytes = values(&record, SubjectKind::Device, Metric::DeviceReadBytes);
    assert_eq!(bytes[0], (1.0, 1856.0 * 1024.0));
    assert_eq!(
        values(&record, SubjectKind::Host, Metric::CpuUser),
        [(1.0, 94.0), (2.0, 96.0), (3.0, 98.0)]
    );
    assert_eq!(record.run.started_at, "2026-11-22T14:00:10Z");
    assert_eq!(record.run.lasted, Nanos::from_secs(3));
    let plain = of(&["iostat_d.txt"]).record;
    assert_eq!(
        values(&plain, SubjectKind::Device, Metric::DeviceWriteBytes),
        [(1.0, 46184.0 * 1024.0), (2.0, 0.0)]
    );
    assert!(
        values(&plain, SubjectKind::Device, Metric::DeviceReads).is_empty(),
        "tps does not separate reads from writes"
    );
    assert!(
        plain
            .facts
            .iter()
            .any(|fact| fact.key == "import.unknown.iostat_interval"),
        "{:?}",
        plain.facts
    );
}

#[test]
fn vmstat_and_mpstat_give_the_same_metrics() {
    let record = of(&["vmstat_t.txt"]).record;
    assert_eq!(
        values(&record, SubjectKind::Host, Metric::CpuSystem),
        [(1.0, 4.0), (2.0, 5.0), (3.0, 5.0)]
    );
    assert_eq!(record.run.started_at, "2026-11-22T14:00:17Z");
    assert_eq!(
        values(
            &of(&["vmstat_w.txt"]).record,
            SubjectKind::Host,
            Metric::CpuIdle
        ),
        [(1.0, 4.0)]
    );
    let record = of(&["mpstat_all.txt"]).record;
    assert_eq!(
        values(&record, SubjectKind::Host, Metric::CpuBusiest)[0],
        (1.0, 100.0)
    );
    let user = values(&record, SubjectKind::Host, Metric::CpuUser);
    assert_eq!(user, [(1.0, 97.5), (2.0, 91.41), (3.0, 93.53)]);
    assert_eq!(record.run.started_at, "2026-11-22T14:00:23Z");
}

/// pgbench with --progress-timestamp began at 14:05:37.612 of some day; iostat saw that minute.
#[test]
fn samples_join_a_run_by_the_time_at_which_both_began() {
    let pgbench = text("pgbench_ts.txt");
    let report = |second: &str, reads: &str| {
        format!("11/22/26 13:59:{second}\nDevice r/s w/s\nvda {reads} 0.00\n\n")
    };
    let iostat = [
        report("38", "1.00"),
        report("39", "2.00"),
        report("41", "3.00"),
        report("59", "4.00"),
    ]
    .concat();
    let sources = [
        SourceFile {
            name: "p.txt",
            text: pgbench,
            tool: None,
        },
        SourceFile {
            name: "i.txt",
            text: &iostat,
            tool: None,
        },
    ];
    let record = import(&sources, &import_options()).unwrap().record;
    // The run began at 1795355979.612, 13:59:39.612: what ended before is not of it, nor what came after its end.
    assert_eq!(record.run.started_at, "2026-11-22T13:59:39Z");
    let reads = values(&record, SubjectKind::Device, Metric::DeviceReads);
    assert_eq!(reads.len(), 1, "{reads:?}");
    assert!(
        (reads[0].0 - 1.388).abs() < 1e-6 && reads[0].1 == 3.0,
        "{reads:?}"
    );
    let other_day = iostat.replace("11/22/26", "11/23/26");
    let sources = [
        sources[0],
        SourceFile {
            name: "i.txt",
            text: &other_day,
            tool: None,
        },
    ];
    let error = import(&sources, &import_options()).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot import i.txt\nIt was recorded at another time than the run"),
        "{error}"
    );
}

#[test]
fn without_times_both_are_assumed_to_start_together_which_is_a_fact() {
    let record = of(&["sysbench_interval.txt", "vmstat.txt"]).record;
    assert_eq!(
        values(&record, SubjectKind::Host, Metric::CpuUser),
        [(1.0, 96.0), (2.0, 96.0)]
    );
    assert!(
        record
            .facts
            .iter()
            .any(|fact| fact.key == "import.unknown.vmstat_start"),
        "{:?}",
        record.facts
    );
}
