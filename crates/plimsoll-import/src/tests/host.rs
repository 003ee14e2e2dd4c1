//! iostat and mpstat with options that change what a report is: the first one, tables side by side, JSON.

use super::super::{SourceFile, import};
use super::joined::values;
use super::{import_options, of, text};
use plimsoll_record::SubjectKind;
use plimsoll_record::metric::Metric;

fn is_missing(record: &plimsoll_record::Record, what: &str) -> bool {
    record
        .facts
        .iter()
        .any(|fact| fact.key == format!("import.unknown.{what}"))
}

#[test]
fn the_first_report_of_iostat_y_is_a_report() {
    let record = of(&["iostat_y.txt"]).record;
    assert_eq!(
        values(&record, SubjectKind::Device, Metric::DeviceReads),
        [(1.0, 40.0), (2.0, 7.0), (3.0, 14.0)]
    );
    assert_eq!(record.run.started_at, "2026-11-23T15:56:03Z");
    // Without times and with -x absent, totals beside rates show what the first report covers.
    let plain = of(&["iostat_plain_y.txt"]).record;
    let cut = text("iostat_plain_y.txt").replacen("\n\n\n", "\n\n", 1);
    let cut = import(
        &[SourceFile {
            name: "i.txt",
            text: &cut,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    for record in [&plain, &cut] {
        let written: Vec<f32> = values(record, SubjectKind::Device, Metric::DeviceWriteBytes)
            .into_iter()
            .map(|(_, value)| value)
            .collect();
        assert_eq!(
            written,
            [16598.06 * 1024.0, 1548.0 * 1024.0, 372.0 * 1024.0].map(|bytes: f64| bytes as f32)
        );
        assert!(!is_missing(record, "iostat_first_report"));
    }
}

#[test]
fn where_nothing_shows_what_the_first_report_covers_it_is_left_out_and_that_is_a_fact() {
    let record = of(&["iostat_xt.txt"]).record;
    assert!(is_missing(&record, "iostat_first_report"));
    assert!(is_missing(
        &of(&["vmstat_t.txt"]).record,
        "vmstat_first_report"
    ));
    assert!(
        !is_missing(&of(&["iostat_d.txt"]).record, "iostat_first_report"),
        "totals beside rates show it"
    );
    assert!(!is_missing(
        &of(&["mpstat.txt"]).record,
        "mpstat_first_report"
    ));
}

#[test]
fn iostat_pretty_and_json_are_read() {
    let pretty = of(&["iostat_pretty.txt"]).record;
    assert_eq!(
        values(&pretty, SubjectKind::Device, Metric::DeviceReads),
        [(1.0, 42.0)]
    );
    assert_eq!(
        values(&pretty, SubjectKind::Device, Metric::DeviceWriteBytes),
        [(1.0, 16888.0 * 1024.0)]
    );
    let human = text("iostat_pretty.txt").replace("196.00     0.00   0.00", "0.2M     0.00   0.0%");
    let human = import(
        &[SourceFile {
            name: "i.txt",
            text: &human,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    let bytes = values(&human, SubjectKind::Device, Metric::DeviceReadBytes);
    assert!(
        (f64::from(bytes[0].1) - 0.2 * 1024.0 * 1024.0).abs() < 1.0,
        "{bytes:?}"
    );
    let json = of(&["iostat_json.json"]).record;
    assert_eq!(
        values(&json, SubjectKind::Device, Metric::DeviceReads),
        [(1.0, 39.6), (2.0, 7.0)]
    );
    assert_eq!(
        values(&json, SubjectKind::Host, Metric::CpuUser),
        [(1.0, 80.79), (2.0, 86.0)]
    );
    assert_eq!(json.run.started_at, "2026-11-23T15:56:03Z");
}

#[test]
fn mpstat_with_interrupts_and_json_are_read() {
    let record = of(&["mpstat_interrupts.txt"]).record;
    assert_eq!(
        values(&record, SubjectKind::Host, Metric::CpuUser),
        [(1.0, 87.0), (2.0, 81.41)]
    );
    let json = of(&["mpstat_json.json"]).record;
    assert_eq!(
        values(&json, SubjectKind::Host, Metric::CpuUser),
        [(1.0, 86.0), (2.0, 82.41)]
    );
    assert_eq!(
        values(&json, SubjectKind::Host, Metric::CpuBusiest),
        [(1.0, 100.0), (2.0, 100.0)]
    );
    // JSON has no start of the first interval: it lasted as long as the second.
    assert_eq!(json.run.started_at, "2026-11-23T15:56:04Z");
}

#[test]
fn interrupts_of_mpstat_are_no_busy_processors_and_one_second_may_hold_two_reports() {
    let mpstat = "Linux 6.1.0 (host) 11/23/26 _x86_64_ (2 CPU)\n\n15:56:04 CPU %usr %iowait %idle\n\
                  15:56:05 all 10.00 0.00 90.00\n15:56:05 0 20.00 0.00 80.00\n\n15:56:04 CPU intr/s\n15:56:05 all 775.00\n\
                  15:56:05 0 375.00\n\n15:56:05 CPU %usr %iowait %idle\n15:56:05 all 30.00 0.00 70.00\n\
                  15:56:05 0 40.00 0.00 60.00\n";
    let record = import(
        &[SourceFile {
            name: "m.txt",
            text: mpstat,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(
        values(&record, SubjectKind::Host, Metric::CpuBusiest),
        [(1.0, 20.0), (2.0, 40.0)]
    );
    assert_eq!(
        values(&record, SubjectKind::Host, Metric::CpuUser),
        [(1.0, 10.0), (2.0, 30.0)]
    );
    let some: String = mpstat
        .lines()
        .filter(|line| !line.contains(" all "))
        .map(|line| format!("{line}\n"))
        .collect();
    let record = import(
        &[SourceFile {
            name: "m.txt",
            text: &some,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert!(
        values(&record, SubjectKind::Host, Metric::CpuBusiest).is_empty(),
        "-P 0 shows one processor alone"
    );
}

/// Times are whole seconds: a report that came a little late shares its second with the one before.
#[test]
fn a_second_that_two_reports_share_costs_no_times() {
    let iostat = text("iostat_xt.txt").replace("14:00:12", "14:00:11");
    let record = import(
        &[SourceFile {
            name: "i.txt",
            text: &iostat,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(record.run.started_at, "2026-11-22T14:00:10Z");
    let reads = values(&record, SubjectKind::Device, Metric::DeviceReads);
    assert_eq!(reads, [(1.0, 28.0), (2.0, 1.0), (3.0, 0.0)]);
}

#[test]
fn a_second_run_in_one_file_is_refused_with_its_line() {
    for name in [
        "iostat_xt.txt",
        "iostat_y.txt",
        "iostat_pretty.txt",
        "mpstat_all.txt",
        "iostat_json.json",
    ] {
        let lines = text(name).trim_end().lines().count();
        let twice = format!("{}\n{}", text(name).trim_end(), text(name));
        let error = import(
            &[SourceFile {
                name: "i.txt",
                text: &twice,
                tool: None,
            }],
            &import_options(),
        )
        .unwrap_err()
        .to_string();
        let header = error.starts_with("cannot import i.txt, line ") && error.contains("one");
        let line: usize = error
            .trim_start_matches("cannot import i.txt, line ")
            .lines()
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(
            header && line >= lines && line <= lines + 1,
            "{name}, {lines} lines: {error}"
        );
    }
}

/// With --human sizes have units of their own, whatever the column's is (`cprintf_unit` of sysstat).
#[test]
fn a_size_with_a_unit_is_that_size_in_a_column_of_megabytes_too() {
    let report =
        |megabytes: &str| format!("Device tps MB_read/s MB_wrtn/s\nvda 7.00 {megabytes} 0.0k\n\n");
    let human = format!(
        "{}{}{}{}",
        report("1.0k"),
        report("1.2M"),
        report("0.5G"),
        report("300.0k")
    );
    let record = import(
        &[SourceFile {
            name: "i.txt",
            text: &human,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    let read = values(&record, SubjectKind::Device, Metric::DeviceReadBytes);
    let mib = read
        .iter()
        .map(|(_, bytes)| f64::from(*bytes) / 1_048_576.0)
        .collect::<Vec<_>>();
    let expected = [1.2, 512.0, 300.0 / 1024.0];
    assert!(
        mib.iter()
            .zip(expected)
            .all(|(own, expected)| (own / expected - 1.0).abs() < 1e-6),
        "{mib:?}"
    );
    let error = human.replace("0.5G", "0.5?");
    let error = import(
        &[SourceFile {
            name: "i.txt",
            text: &error,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap_err()
    .to_string();
    assert!(
        error.starts_with("cannot import i.txt, line 8\n")
            && error.contains("a number for MB_read/s"),
        "{error}"
    );
}
