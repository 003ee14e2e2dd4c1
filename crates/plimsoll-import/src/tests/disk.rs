//! vdbench and diskspd: each run, its figures and what defines it.

use super::super::{SourceFile, import};
use super::loads::{fact, is_missing, reported};
use super::{import_options, of, text};
use plimsoll_analysis::audit::audit;
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{BlockJobSummary, FigureId};
use plimsoll_record::message::CheckDetail;
use plimsoll_record::{Point, Record};

/// A point of the import, with the figures that are computed from it.
struct DiskRow {
    job: String,
    users: u32,
    offered: Option<f64>,
    iops: f64,
    mib: f64,
}

fn rows(record: &Record) -> Vec<DiskRow> {
    let summary = summarise(record);
    let media = summary.figures.blocks.iter().flat_map(|step| &step.media);
    let jobs: Vec<_> = media.flat_map(|medium| &medium.jobs).collect();
    let row = |point: &Point| {
        let own = |job: &&BlockJobSummary| {
            job.points
                .iter()
                .find(|own| own.point == point.id.0)
                .cloned()
        };
        let (job, own) = jobs
            .iter()
            .find_map(|job| Some((job.job.clone(), own(job)?)))
            .unwrap();
        let mib = own.value(FigureId::MbPerSecond).unwrap() * 1e6 / 1_048_576.0;
        DiskRow {
            job,
            users: point.users,
            offered: point.offered_per_second,
            iops: own.value(FigureId::Iops).unwrap(),
            mib,
        }
    };
    record.points.iter().map(row).collect()
}

fn close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 0.002
}

fn error(name: &str, text: &str) -> String {
    import(
        &[SourceFile {
            name,
            text,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap_err()
    .to_string()
}

#[test]
fn vdbench_file_system_columns_are_found_by_the_header() {
    for name in [
        "vdbench_50407_fs_summary.html",
        "vdbench_50407_fs_flatfile.html",
    ] {
        let record = of(&[name]).record;
        let rows = rows(&record);
        assert_eq!(rows.len(), 2, "{name}");
        assert_eq!(
            (rows[0].job.as_str(), rows[0].offered),
            ("rd1", None),
            "{name}"
        );
        assert!(
            close(rows[0].iops, 159_372.0) && close(rows[0].mib, 1245.0),
            "{name}: {} {}",
            rows[0].iops,
            rows[0].mib
        );
        assert_eq!(rows[1].offered, Some(100.0), "{name}");
        assert!(
            (rows[1].iops - 106.7).abs() < 0.1 && (rows[1].mib - 0.83).abs() < 0.01,
            "{name}"
        );
        assert_eq!(
            fact(&record, "import.preparation"),
            "format_for_rd1",
            "{name}"
        );
    }
    let imported = of(&["vdbench_50405_fs_summary.html"]);
    // Of intervals 2 to 5; this version averages over all five: 92605.
    let row = &rows(&imported.record)[0];
    assert!(
        close(
            row.iops,
            (42_014.0 + 58_261.0 + 139_022.0 + 176_502.0) / 4.0
        ),
        "{}",
        row.iops
    );
    assert!(
        close(row.mib, (328.23 + 455.16 + 1086.1 + 1378.9) / 4.0),
        "{}",
        row.mib
    );
    assert!(is_missing(&imported, "average"));
}

#[test]
fn vdbench_operations_without_data_are_counted() {
    let record = of(&["vdbench_50407_metadata_summary.html"]).record;
    assert_eq!(record.points[0].txns, ["read", "write", "other"]);
    assert_eq!(
        record
            .points
            .iter()
            .map(|point| point.users)
            .collect::<Vec<_>>(),
        [1, 2]
    );
    let measured: u64 = record
        .seconds
        .iter()
        .filter(|s| s.phase.0 == 2)
        .map(|s| s.counts.committed)
        .sum();
    assert_eq!(measured, 4770 + 4399 + 9429);
    assert_eq!(reported(&record, "", "getattr_rate").printed, "6199");
}

#[test]
fn each_run_of_vdbench_is_a_point() {
    for name in [
        "vdbench_50407_block_summary.html",
        "vdbench_50407_block_flatfile.html",
        "vdbench_50407_totals.html",
    ] {
        let record = of(&[name]).record;
        let rows = rows(&record);
        let loads: Vec<_> = rows
            .iter()
            .map(|row| (row.job.as_str(), row.users, row.offered))
            .collect();
        assert_eq!(
            loads,
            [
                ("rd1", 2, Some(200.0)),
                ("rd2", 1, None),
                ("rd2 (threads=2)", 2, None)
            ],
            "{name}"
        );
        for (row, (rate, mb)) in
            rows.iter()
                .zip([(206.7, 0.81), (12_276.7, 47.96), (21_007.7, 82.06)])
        {
            assert!(
                close(row.iops, rate) && (row.mib - mb).abs() < 0.01,
                "{name}: {} {}",
                row.iops,
                row.mib
            );
        }
        assert_eq!(
            record.points[1]
                .parameters
                .get("threads")
                .map(String::as_str),
            Some("1"),
            "{name}"
        );
        assert_eq!(record.run.started_at, "2026-11-23T15:57:48Z", "{name}");
        assert!(!is_missing(&of(&[name]), "started_at"), "{name}");
    }
    let flat = of(&["vdbench_50405_block_flatfile.html"]).record;
    let parameters = &flat.points[1].parameters;
    let pairs: Vec<_> = parameters
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("rdpct", "70"),
            ("rhpct", "0"),
            ("seekpct", "100"),
            ("threads", "1"),
            ("whpct", "0"),
            ("xfersize", "4096")
        ]
    );
}

#[test]
fn both_files_of_a_vdbench_run_have_the_same_verdicts() {
    for (summary, flatfile) in [
        (
            "vdbench_50407_block_summary.html",
            "vdbench_50407_block_flatfile.html",
        ),
        (
            "vdbench_50405_block_summary.html",
            "vdbench_50405_block_flatfile.html",
        ),
        (
            "vdbench_50407_fs_summary.html",
            "vdbench_50407_fs_flatfile.html",
        ),
        ("vdbench_summary.html", "vdbench_flatfile.html"),
    ] {
        let rules = |name: &str| {
            let record = of(&[name]).record;
            let results = audit(&record, &summarise(&record).figures).verdicts;
            results
                .iter()
                .map(|own| format!("{:?} {:?}", own.rule, own.outcome.severity()))
                .collect::<Vec<_>>()
        };
        assert_eq!(rules(summary), rules(flatfile), "{summary}");
    }
}

#[test]
fn a_header_of_vdbench_that_is_not_understood_is_refused() {
    let message = error(
        "v.html",
        &text("vdbench_50407_fs_summary.html").replace(".ReqstdOps...", ".Requests...."),
    );
    assert!(
        message.starts_with(
            "cannot import v.html, line 5\nFound \"Nov 23, 2026 ..Interval.. .Requests"
        ),
        "{message}"
    );
    let message = error(
        "v.html",
        &text("vdbench_50407_block_summary.html").replace("i/o    pct", "i/o"),
    );
    assert!(
        message.starts_with("cannot import v.html, line 5\n")
            && message.contains("a header with rate, resp"),
        "{message}"
    );
    let none: String = text("vdbench_50407_block_summary.html")
        .lines()
        .filter(|line| !line.contains("2026  "))
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        error("v.html", &none).contains("a header of columns above it"),
        "{}",
        error("v.html", &none)
    );
    let gap: Vec<&str> = text("vdbench_50407_block_summary.html")
        .lines()
        .filter(|line| !line.starts_with("15:57:50.047"))
        .collect();
    let message = error("v.html", &gap.join("\n"));
    assert!(
        message.contains("Found \"interval 3\"; expected interval 2"),
        "{message}"
    );
}

#[test]
fn a_vdbench_run_that_ended_early_is_invalid() {
    for name in [
        "vdbench_50407_block_summary.html",
        "vdbench_50407_block_flatfile.html",
    ] {
        let at = text(name).rfind("avg_3-5").unwrap();
        let cut = text(name)[..at].lines().rev().skip(1).collect::<Vec<_>>();
        let cut: String = cut
            .into_iter()
            .rev()
            .map(|line| format!("{line}\n"))
            .collect();
        let record = import(
            &[SourceFile {
                name,
                text: &cut,
                tool: None,
            }],
            &import_options(),
        )
        .unwrap()
        .record;
        let error = record.checks.iter().find(|check| !check.holds).unwrap();
        assert!(
            matches!(&error.detail, CheckDetail::AverageMissing { name, .. } if name == "rd2"),
            "{name}: {error:?}"
        );
        assert_eq!(record.points.len(), 3, "{name}");
    }
}

#[test]
fn each_result_of_diskspd_is_a_point() {
    let both = format!(
        "{}{}{}",
        text("diskspd.xml"),
        text("diskspd_paced.xml"),
        text("diskspd.xml")
    );
    let record = import(
        &[SourceFile {
            name: "d.xml",
            text: &both,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    let rows = rows(&record);
    let loads: Vec<_> = rows
        .iter()
        .map(|row| (row.job.as_str(), row.users, row.offered))
        .collect();
    let second = ("time span 1 of run 2", 32, Some(4000.0));
    assert_eq!(
        loads,
        [("time span 1", 32, None), second, ("time span 1", 32, None)]
    );
    assert_eq!(
        record
            .points
            .iter()
            .map(|point| point.repeat)
            .collect::<Vec<_>>(),
        [0, 0, 1]
    );
    assert!(
        rows.iter().all(|row| close(row.iops, 96_139.0 / 3.02)),
        "{}",
        rows[1].iops
    );
    let broken = both.replacen("</TestTimeSeconds>", "</Test>", 3).replacen(
        "</Test>",
        "</TestTimeSeconds>",
        2,
    );
    assert!(
        error("d.xml", &broken).contains("</TestTimeSeconds>"),
        "{}",
        error("d.xml", &broken)
    );
}

#[test]
fn diskspd_gives_its_time_and_what_was_asked_for() {
    let imported = of(&["diskspd_paced.xml"]);
    assert_eq!(imported.record.run.started_at, "2024-05-14T10:30:01Z");
    assert!(!is_missing(&imported, "started_at"));
    let parameters = &imported.record.points[0].parameters;
    for (key, value) in [
        ("BlockSize", "8192"),
        ("WriteRatio", "30"),
        ("RandomRatio", "60"),
        ("DisableOSCache", "true"),
    ] {
        assert_eq!(
            parameters.get(key).map(String::as_str),
            Some(value),
            "{key}"
        );
    }
    assert_eq!(imported.record.blocks[0].streams[0].random_percent, 60);
    // -g in bytes per millisecond, of each of two threads.
    let bytes =
        text("diskspd_paced.xml").replace(r#"<Throughput unit="IOPS">2000<"#, "<Throughput>16384<");
    let record = import(
        &[SourceFile {
            name: "d.xml",
            text: &bytes,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!(record.points[0].offered_per_second, Some(4000.0));
}

#[test]
fn runs_of_diskspd_on_another_target_and_of_another_time_span_are_no_repeats() {
    let one = text("diskspd.xml");
    let jobs = |text: &str| -> Vec<String> {
        let record = import(
            &[SourceFile {
                name: "d.xml",
                text,
                tool: None,
            }],
            &import_options(),
        )
        .unwrap()
        .record;
        record
            .blocks
            .iter()
            .map(|block| block.job.clone())
            .collect()
    };
    let other = one.replace("testfile.dat", "testfile.data");
    assert_eq!(
        jobs(&format!("{one}{other}{one}")),
        ["time span 1", "time span 1 of run 2", "time span 1"]
    );
    // Eleven time spans, and a run of one with the parameters of the tenth.
    let (spans, results) = (
        part(one, "<TimeSpan>", "</TimeSpans>"),
        part(one, "</Profile>", "</Results>"),
    );
    let first = |spans: &str| spans.replace("<WriteRatio>30<", "<WriteRatio>40<");
    let ten = format!("{}{}", first(spans).repeat(9), spans);
    let ten = one.replacen(spans, &ten, 1).replacen(
        results,
        &results.replacen("</Profile>", "", 1).repeat(10),
        1,
    );
    let ten = ten.replacen("</TimeSpans>", "</TimeSpans></Profile>", 1);
    let jobs = jobs(&format!("{ten}{one}"));
    assert_eq!(
        (jobs[9].as_str(), jobs[10].as_str()),
        ("time span 10", "time span 1 of run 2")
    );
}

/// From a mark up to another, which is not of it.
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap();
    &text[start..start + text[start..].find(to).unwrap()]
}

#[test]
fn a_zone_that_vdbench_printed_is_a_note_of_every_run() {
    let zoned = text("vdbench_50407_block_summary.html").replace("2026 UTC", "2026 CET");
    let cut: String = zoned
        .lines()
        .filter(|line| !line.contains(" avg_"))
        .map(|line| format!("{line}\n"))
        .collect();
    for text in [zoned, cut] {
        let record = import(
            &[SourceFile {
                name: "v.html",
                text: &text,
                tool: None,
            }],
            &import_options(),
        )
        .unwrap()
        .record;
        let notes = record
            .facts
            .iter()
            .filter(|fact| fact.key == "import.unknown.zone")
            .count();
        assert!(notes > 0, "{:?}", record.facts);
    }
}
