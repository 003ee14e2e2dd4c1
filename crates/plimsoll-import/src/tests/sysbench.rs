//! sysbench: several runs in one file, version 1.1, tests without SQL.

use super::super::{SourceFile, import};
use super::loads::{fact, is_missing, reported, total};
use super::{import_options, of, text};
use plimsoll_analysis::summarise;
use plimsoll_record::Reported;

fn error(text: &str) -> String {
    import(
        &[SourceFile {
            name: "s.txt",
            text,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap_err()
    .to_string()
}

#[test]
fn runs_of_one_file_are_points_with_their_own_figures() {
    let record = of(&["sysbench_two_runs.txt"]).record;
    let loads: Vec<(u32, u32)> = record
        .points
        .iter()
        .map(|point| (point.users, point.ordinal))
        .collect();
    assert_eq!(loads, [(2, 0), (16, 1)]);
    let summary = summarise(&record);
    let counts: Vec<u64> = summary
        .figures
        .points()
        .map(|point| point.overall.counts.committed)
        .collect();
    assert_eq!(counts, [253_763, 235_583]);
    let printed = |point: usize, name: &str| -> Vec<&str> {
        let own = |r: &&Reported| r.point == record.points[point].id && r.name == name;
        record
            .reported
            .iter()
            .filter(own)
            .map(|r| r.printed.as_str())
            .collect()
    };
    for (point, p95, events) in [(0, "0.04", "253763"), (1, "0.49", "235583")] {
        assert_eq!(printed(point, "latency 95th percentile"), [p95]);
        assert_eq!(printed(point, "total number of events"), [events]);
    }
    assert_eq!(record.points[0].step, record.points[1].step, "one ladder");
}

#[test]
fn a_run_that_is_cut_off_before_another_and_figures_of_no_run_are_refused_with_their_line() {
    let whole = text("sysbench_interval.txt");
    let cut: String = whole
        .lines()
        .take(15)
        .map(|line| format!("{line}\n"))
        .collect();
    let message = error(&format!("{cut}{whole}"));
    assert!(
        message.starts_with("cannot import s.txt, line 16\nFound \"sysbench 1.0.20")
            && message.contains("total number of events"),
        "{message}"
    );
    let message = error(&format!(
        "{whole}\nGeneral statistics:\n    total time:  3.0s\n"
    ));
    assert!(message.contains("Found \"total time:"), "{message}");
    let message = error(&whole.replace("    total time:", "    something else\n    total time:"));
    assert!(message.contains("Found \"something else\""), "{message}");
    let message = error(&whole.replace(
        "Report intermediate results",
        "Report checkpoint(s) at 1, 2 seconds\nReport",
    ));
    assert!(
        message.contains("without --report-checkpoints"),
        "{message}"
    );
}

#[test]
fn version_1_1_is_read() {
    let record = of(&["sysbench_1_1.txt"]).record;
    let counts = total(&record);
    assert_eq!(
        (
            counts.committed,
            record.points[0].users,
            record.run.lasted.as_secs_f64()
        ),
        (2_700, 2, 3.0104)
    );
    assert_eq!(reported(&record, "", "events/s (eps)").printed, "896.8783");
    assert_eq!(
        reported(&record, "", "latency 95th percentile").printed,
        "5.99"
    );
    assert_eq!(record.seconds.unpack()[0].counts.committed, 740);
    assert_eq!(
        record.points[0].parameters["queries"],
        "14 read, 4 write, 2 other"
    );
}

#[test]
fn fileio_of_version_1_1_has_neither_counts_nor_a_time() {
    let imported = of(&["sysbench_1_1_fileio.txt"]);
    let record = &imported.record;
    assert_eq!(
        (total(record).committed, record.points[0].workload.as_str()),
        (0, "fileio")
    );
    assert_eq!(reported(record, "", "read IOPS").printed, "5497.92");
    assert_eq!(
        (
            reported(record, "", "write").unit.as_str(),
            reported(record, "", "fsync IOPS").printed.as_str()
        ),
        ("MiB/s", "184.26")
    );
    assert!(is_missing(&imported, "duration"));
    let summary = summarise(record);
    assert!(
        format!("{:?}", summary.figures.points().next().unwrap().findings).contains("OnlyReported")
    );
}

#[test]
fn tests_without_sql_have_their_names_figures_and_seconds() {
    let record = of(&["sysbench_memory.txt"]).record;
    assert_eq!(reported(&record, "", "transferred").printed, "1734.95");
    assert_eq!(
        (total(&record).committed, record.points[0].workload.as_str()),
        (2_097_152, "memory")
    );
    assert_eq!(record.points[0].parameters["block size"], "1KiB");
    // 1723.08 MiB/s in blocks of 1 KiB.
    assert_eq!(record.seconds.unpack()[0].counts.committed, 1_764_434);
    let cpu = of(&["sysbench_cpu.txt"]).record;
    assert_eq!(
        (
            cpu.points[0].workload.as_str(),
            cpu.points[0].parameters["prime numbers limit"].as_str()
        ),
        ("cpu", "5000")
    );
    assert_eq!(reported(&cpu, "", "events per second").printed, "3616.96");
    let files = of(&["sysbench_fileio.txt"]).record;
    assert_eq!(files.points[0].workload, "fileio");
    assert_eq!(files.points[0].parameters["bs"], "16KiB");
    assert_eq!(files.points[0].parameters["rw"], "random r/w");
    assert!(files.seconds.len() >= 3, "seconds from MiB/s and fsyncs/s");
    assert_eq!(total(&files).committed, 43_757);
}

#[test]
fn without_a_percentile_none_is_claimed() {
    let disabled = text("sysbench_interval.txt").replace(
        "95th percentile:                       10.84",
        "percentile stats: disabled",
    );
    let record = import(
        &[SourceFile {
            name: "s.txt",
            text: &disabled,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(fact(&record, "import.percentiles"), "none");
}

#[test]
fn two_tests_in_one_file_are_two_steps() {
    let both = format!(
        "{}{}",
        text("sysbench_cpu.txt"),
        text("sysbench_memory.txt")
    );
    let record = import(
        &[SourceFile {
            name: "s.txt",
            text: &both,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(record.points.len(), 2);
    assert_ne!(record.points[0].step, record.points[1].step);
}
