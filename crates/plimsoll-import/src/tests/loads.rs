//! What each tool's output becomes, compared with the figures in the output.

use super::super::{Imported, SourceFile, import};
use super::{import_options, of, text};
use plimsoll_analysis::summary::{FigureId, PointSummary, Verdict};
use plimsoll_analysis::{Summary, summarise};
use plimsoll_record::import_facts;
use plimsoll_record::import_facts::UNKNOWN_FACT;
use plimsoll_record::lane::Counts;
use plimsoll_record::message::ImportNote;
use plimsoll_record::{Record, Reported};

pub(super) fn total(record: &Record) -> Counts {
    record
        .seconds
        .iter()
        .fold(Counts::default(), |mut sum, second| {
            sum.add(&second.counts);
            sum
        })
}

pub(super) fn reported<'a>(record: &'a Record, txn: &str, name: &str) -> &'a Reported {
    let own = |r: &&Reported| r.txn == txn && r.name == name && r.over.is_none();
    record.reported.iter().find(own).unwrap_or_else(|| {
        let names: Vec<_> = record.reported.iter().map(|r| (&r.txn, &r.name)).collect();
        panic!("no {txn}/{name} in {names:?}")
    })
}

pub(super) fn fact<'a>(record: &'a Record, key: &str) -> &'a str {
    record
        .facts
        .iter()
        .find(|fact| fact.key == key)
        .map_or("", |fact| &fact.value)
}

pub(super) fn has_note(record: &Record, note: &ImportNote) -> bool {
    let value = fact(record, &import_facts::note_key(note));
    import_facts::notes(value).contains(note)
}

pub(super) fn is_missing(imported: &Imported, what: &str) -> bool {
    let key = format!("{UNKNOWN_FACT}{what}");
    imported
        .record
        .facts
        .iter()
        .any(|fact| fact.key == key || import_facts::split(&fact.key).0 == key)
}

fn only(summary: &Summary) -> &PointSummary {
    let points: Vec<&PointSummary> = summary.figures.points().collect();
    assert_eq!(points.len(), 1);
    points[0]
}

#[test]
fn sysbench_counts_are_its_totals_and_its_percentile_stays_reported() {
    let imported = of(&["sysbench_interval.txt"]);
    let record = &imported.record;
    let counts = total(record);
    assert_eq!(
        (counts.committed, counts.retries, counts.offered),
        (2554, 59, 2554)
    );
    assert_eq!(
        (record.seconds.len(), record.run.lasted.as_secs_f64()),
        (7, 6.9371)
    );
    assert!(record.windows.is_empty(), "sysbench prints no distribution");
    let p95 = reported(record, "", "latency 95th percentile");
    assert_eq!(
        (p95.source.as_str(), p95.printed.as_str(), p95.unit.as_str()),
        ("sysbench 1.0.20", "10.84", "ms")
    );
    assert_eq!(reported(record, "", "transactions").value, 2554.0);
    assert_eq!(reported(record, "", "total time").printed, "6.9371");
    assert_eq!(
        record
            .reported
            .iter()
            .filter(|r| r.name == "latency 95%")
            .count(),
        6,
        "one for each interval"
    );
    let summary = summarise(record);
    let point = only(&summary);
    assert_eq!(
        (point.key.load.users, point.imported.as_deref()),
        (4, Some("sysbench 1.0.20"))
    );
    // 2554 / 6.9371; sysbench prints 368.09, because its rate leaves starting and ending out.
    assert!((point.value(FigureId::Transactions).unwrap() - 368.165).abs() < 0.001);
    assert_eq!(
        (point.overall.response, point.value(FigureId::RoundTrips)),
        (None, None)
    );
    assert_eq!(
        point
            .figures
            .get(FigureId::Transactions)
            .and_then(|rate| rate.interval),
        None,
        "seven seconds are too short"
    );
    assert_eq!(
        summary.verdict,
        Verdict::Doubtful,
        "imported runs are doubtful"
    );
    for what in [
        "durability",
        "environment",
        "distribution",
        "started_at",
        "workload",
        "in_flight",
    ] {
        assert!(is_missing(&imported, what), "{what}");
    }
}

#[test]
fn a_histogram_of_sysbench_is_a_distribution() {
    let record = of(&["sysbench_histogram.txt"]).record;
    let window = &record.windows[0].response;
    assert_eq!(
        (window.count(), total(&record).committed),
        (275_579, 275_579)
    );
    assert_eq!(window.max().unwrap().as_millis_f64(), 20.59);
    let p99 = window.quantile(0.99).unwrap().as_millis_f64();
    let printed = reported(&record, "", "latency 99th percentile").value;
    assert!((p99 - printed).abs() < 0.006, "{p99} against {printed}");
    assert!(!summarise(&record).figures.points().any(|point| {
        point
            .findings
            .iter()
            .any(|f| format!("{f:?}").contains("Disagrees"))
    }));
}

#[test]
fn an_offered_rate_makes_an_open_loop_whose_latency_counts_from_the_due_time() {
    let imported = of(&["sysbench_rate.txt"]);
    assert_eq!(imported.record.points[0].offered_per_second, Some(100.0));
    assert_eq!(fact(&imported.record, "import.response_from"), "due");
    assert!(is_missing(&imported, "unserved"));
    let files = of(&["sysbench_fileio.txt"]).record;
    assert_eq!(total(&files).committed, 43_757);
    assert_eq!(reported(&files, "", "reads/s").printed, "8561.03");
}

#[test]
fn pgbench_progress_gives_seconds_and_the_summary_totals() {
    let record = of(&["pgbench_progress.txt"]).record;
    assert_eq!((total(&record).committed, record.seconds.len()), (2710, 6));
    let first: Vec<u64> = record
        .seconds
        .iter()
        .take(3)
        .map(|second| second.counts.committed)
        .collect();
    assert_eq!(first, [536, 340, 553]);
    assert_eq!(reported(&record, "", "latency average").printed, "8.841");
    assert_eq!(
        reported(&record, "", "tps (without initial connection time)").printed,
        "451.849741"
    );
    let rate = only(&summarise(&record))
        .value(FigureId::Transactions)
        .unwrap();
    assert!((rate - 451.849_741).abs() < 1e-3, "{rate}");
    assert_eq!(record.points[0].workload, "<builtin: TPC-B (sort of)>");
    let stamped = of(&["pgbench_ts.txt"]).record;
    assert_eq!(stamped.run.started_at, "2026-11-22T13:59:39Z");
    assert_eq!(total(&stamped).committed, 3723);
    let mixed = of(&["pgbench_mix.txt"]).record;
    assert_eq!(
        reported(&mixed, "<builtin: select only>", "transactions").printed,
        "4463"
    );
    assert_eq!(
        reported(&mixed, "<builtin: TPC-B (sort of)>", "latency average").printed,
        "3.455"
    );
}

#[test]
fn a_transaction_log_of_pgbench_is_a_distribution() {
    let record = of(&["pgbench_log.txt"]).record;
    assert_eq!(
        (total(&record).committed, record.windows[0].response.count()),
        (200, 200)
    );
    let lines: Vec<u64> = text("pgbench_log.txt")
        .lines()
        .map(|line| line.split(' ').nth(2).unwrap().parse::<u64>().unwrap() * 1_000)
        .collect();
    assert_eq!(
        record.windows[0].response.sum(),
        lines.iter().map(|ns| u128::from(*ns)).sum::<u128>()
    );
    assert_eq!(
        record.windows[0].response.max().unwrap().0,
        *lines.iter().max().unwrap()
    );
    assert_eq!(
        fact(&record, "import.response_from"),
        "start",
        "six columns: no rate"
    );
    // With a rate, latency counts from the due time, and service is without the schedule lag.
    let paced = of(&[
        "pgbench_rate.txt",
        "pgbench_rate_log.0.txt",
        "pgbench_rate_log.1.txt",
    ])
    .record;
    assert_eq!(total(&paced).committed, 163, "both threads");
    let window = &paced.windows[0];
    let (response, service) = (
        window.response.sum(),
        window.service.as_ref().unwrap().sum(),
    );
    assert!(response > service, "{response} {service}");
    let mean = window.response.mean().unwrap().as_millis_f64();
    assert!(
        (mean - reported(&paced, "", "latency average").value).abs() < 0.001,
        "{mean}"
    );
    assert_eq!(fact(&paced, "import.response_from"), "due");
    assert_eq!(paced.points.len(), 1);
}

#[test]
fn jsonplus_of_fio_has_distributions_and_json_has_not() {
    let imported = of(&["fio_jsonplus.json"]);
    let record = &imported.record;
    assert_eq!(record.points[0].txns, ["read", "write"]);
    assert_eq!(record.windows.len(), 2);
    assert!(
        record
            .windows
            .iter()
            .zip(record.seconds.iter())
            .all(|(w, s)| w.response.count() == s.counts.committed)
    );
    let summary = summarise(record);
    let job = &summary.figures.blocks[0].media[0].jobs[0];
    assert_eq!(
        (
            job.job.as_str(),
            job.streams[0].read_percent,
            job.points[0].in_flight
        ),
        ("mix", 70, 4)
    );
    assert!(job.points[0].value(FigureId::Mean).is_some());
    assert!(
        !format!("{:?}", job.points[0].findings).contains("NeverWritten"),
        "unknown"
    );
    let plain = of(&["fio_json.json"]).record;
    assert_eq!(
        (
            plain.windows.len(),
            plain.points.len(),
            plain.points[0].txns.clone()
        ),
        (0, 1, vec!["write".to_owned(), "sync".to_owned()])
    );
    assert_eq!(
        total(&plain).committed - plain.seconds.unpack()[1].counts.committed,
        13_648 + 13_652
    );
    assert!(
        plain
            .reported
            .iter()
            .any(|r| r.name == "clat_ns 99 %" && r.txn == "write, job 2" && r.unit == "ns")
    );
    assert_eq!(plain.shares.len(), 4, "two workers, two kinds");
    assert_eq!(plain.blocks[0].streams[0].sync, "flush:8");
}

#[test]
fn logs_of_fio_give_its_load_seconds() {
    let names = [
        "fio_logs.json",
        "fio_l_iops.1.log",
        "fio_l_bw.1.log",
        "fio_l_lat.1.log",
    ];
    let record = of(&names).record;
    let whole = of(&["fio_logs.json"]).record;
    assert_eq!(record.points.len(), 1);
    assert_eq!(
        (total(&record).committed, total(&record).bytes),
        (total(&whole).committed, total(&whole).bytes)
    );
    assert!(
        record.seconds.len() >= 12,
        "six half seconds of two directions"
    );
    assert_eq!(record.seconds.unpack()[0].counts.committed, 11_612 / 2);
    let mean = record
        .reported
        .iter()
        .find(|r| r.txn == "write" && r.over.is_some())
        .unwrap();
    assert_eq!((mean.printed.as_str(), mean.unit.as_str()), ("90812", "ns"));
    let hist = of(&["fio_logs.json", "fio_l_clat_hist.1.log"]).record;
    assert_eq!(total(&hist).committed, total(&whole).committed);
    let window = &hist.windows[0].response;
    let mean = reported(&whole, "read", "clat_ns mean").value;
    assert!(
        (window.mean().unwrap().0 as f64 / mean - 1.0).abs() < 0.25,
        "{:?} against {mean}",
        window.mean()
    );
    let alone = of(&["fio_l_clat_hist.1.log"]).record;
    assert_eq!(alone.windows[0].response, *window);
}

#[test]
fn hammerdb_gives_new_orders_and_keeps_its_tpm_reported() {
    let record = of(&["hammerdb.txt"]).record;
    assert_eq!(
        only(&summarise(&record)).value(FigureId::Nopm),
        Some(33_643.0)
    );
    assert_eq!(
        only(&summarise(&record)).value(FigureId::Tpm),
        None,
        "another count"
    );
    assert_eq!(reported(&record, "", "PostgreSQL TPM").printed, "77404");
    assert_eq!(
        (record.points[0].users, fact(&record, "import.version")),
        (4, "4.12")
    );
    let jobs = of(&["hammerdb_jobs.txt"]);
    assert_eq!(reported(&jobs.record, "NEWORD", "p95_ms").printed, "2.099");
    assert_eq!(
        jobs.record
            .reported
            .iter()
            .filter(|r| r.name == "PostgreSQL tpm")
            .count(),
        2
    );
    assert!(is_missing(&jobs, "duration") && is_missing(&jobs, "percentiles"));
    let summary = summarise(&jobs.record);
    assert!(
        format!("{:?}", only(&summary).findings).contains("OnlyReported"),
        "{:?}",
        only(&summary).findings
    );
}

#[test]
fn go_tpc_gives_all_five_types() {
    let record = of(&["go_tpc.txt"]).record;
    let summary = summarise(&record);
    let point = only(&summary);
    assert_eq!(
        (
            point.types[0].counts.committed,
            point.types[0].counts.failed
        ),
        (15_770, 4)
    );
    assert!(
        (point.value(FigureId::Nopm).unwrap() - 1577.2).abs() < 0.01,
        "{:?}",
        point.value(FigureId::Nopm)
    );
    assert!(
        (point.value(FigureId::Tpm).unwrap() - 3501.4).abs() < 0.1,
        "{:?}",
        point.value(FigureId::Tpm)
    );
    assert_eq!(reported(&record, "", "tpmC").printed, "1577.2");
    assert_eq!(reported(&record, "PAYMENT", "99th").unit, "ms");
}

#[test]
fn vdbench_leaves_its_warm_up_out() {
    for name in ["vdbench_flatfile.html", "vdbench_summary.html"] {
        let record = of(&[name]).record;
        let summary = summarise(&record);
        let job = &summary.figures.blocks[0].media[0].jobs[0];
        let point = &job.points[0];
        assert_eq!(job.job, "rd1", "{name}");
        let printed = reported(&record, "", "rate").value;
        assert!(
            (point.value(FigureId::Iops).unwrap() - printed).abs() < 0.5,
            "{name}: {:?} against {printed}",
            point.value(FigureId::Iops)
        );
        assert_eq!(point.seconds[0].seconds, 5.0, "{name}");
        assert!(
            !point.seconds[0].measured && point.seconds[1].measured,
            "{name}"
        );
        assert_eq!(
            (point.by_op[0].op.as_str(), record.points[0].users),
            ("read", 8)
        );
    }
}

#[test]
fn diskspd_gives_counts_seconds_and_its_percentiles() {
    let record = of(&["diskspd.xml"]).record;
    let counts = total(&record);
    assert_eq!(
        (counts.committed, counts.bytes),
        (47_819 + 48_320, 391_733_248 + 395_837_440)
    );
    assert_eq!(record.seconds.unpack()[0].counts.committed, 22_000);
    assert_eq!(
        (record.points[0].users, fact(&record, "import.version")),
        (32, "2.1.0")
    );
    assert_eq!(reported(&record, "read", "Percentile 99").printed, "3.204");
    assert_eq!(reported(&record, "", "Max").printed, "14.550");
    assert!(!record.reported.iter().any(|r| r.name == "Percentile 51"));
    assert_eq!(record.blocks[0].streams[0].sync, "each_write");
}

#[test]
fn several_outputs_of_one_tool_make_one_ladder() {
    let two = text("sysbench_interval.txt").replace("Number of threads: 4", "Number of threads: 8");
    let again = text("sysbench_interval.txt").replace("10.84", "10.85");
    let source = |name, text| SourceFile {
        name,
        text,
        tool: None,
    };
    let sources = [
        source("b.txt", two.as_str()),
        source("a.txt", text("sysbench_interval.txt")),
        source("c.txt", again.as_str()),
    ];
    let options = super::super::ImportOptions {
        step: Some("oltp".into()),
        ..import_options()
    };
    let record = import(&sources, &options).unwrap().record;
    let places: Vec<(u32, u32, u32)> = record
        .points
        .iter()
        .map(|p| (p.users, p.ordinal, p.repeat))
        .collect();
    assert_eq!(places, [(8, 1, 0), (4, 0, 0), (4, 0, 1)]);
    let summary = summarise(&record);
    assert_eq!(
        (
            summary.figures.ladders.len(),
            summary.figures.ladders[0].loads.len()
        ),
        (1, 2)
    );
    assert_eq!(summary.figures.ladders[0].step, "oltp");
    assert_eq!(summary.figures.imports[0].files, "b.txt; a.txt; c.txt");
}
