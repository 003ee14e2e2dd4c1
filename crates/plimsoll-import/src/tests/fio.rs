//! fio: several reports in one file, groups, sequential jobs, rates, errors, and forms of output.

mod rate;
mod starts;

use super::super::{Imported, SourceFile, import};
use super::{import_options, of, text};
use plimsoll_analysis::audit::{Rule, audit};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::Verdict;
use plimsoll_plan::units::Nanos;
use plimsoll_record::import_facts::{RESPONSE_FACT, UNKNOWN_FACT};
use plimsoll_record::lane::Counts;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Point, PointId, Record, Reported, Severity};

pub(super) fn import_text(text: &str) -> Result<Imported, String> {
    import(
        &[SourceFile {
            name: "a.json",
            text,
            tool: None,
        }],
        &import_options(),
    )
    .map_err(|error| error.to_string())
}

pub(super) fn record(text: &str) -> Record {
    import_text(text)
        .unwrap_or_else(|error| panic!("{error}"))
        .record
}

pub(super) fn error(text: &str) -> String {
    import_text(text)
        .map(|imported| imported.record.points)
        .unwrap_err()
}

pub(super) fn total_of(record: &Record, point: PointId) -> Counts {
    let own = |phase| {
        record
            .phases
            .iter()
            .any(|own| own.id == phase && own.point == Some(point))
    };
    record
        .seconds
        .iter()
        .filter(|second| own(second.phase))
        .fold(Counts::default(), |mut sum, second| {
            sum.add(&second.counts);
            sum
        })
}

pub(super) fn point<'a>(record: &'a Record, workload: &str) -> &'a Point {
    record
        .points
        .iter()
        .find(|point| point.workload == workload)
        .unwrap_or_else(|| panic!("no point {workload}"))
}

pub(super) fn span(record: &Record, workload: &str) -> (f64, f64) {
    let id = point(record, workload).id;
    let phase = record
        .phases
        .iter()
        .find(|phase| phase.point == Some(id))
        .unwrap();
    (phase.start.as_secs_f64(), phase.end.as_secs_f64())
}

pub(super) fn is_unknown(record: &Record, what: &str) -> bool {
    record
        .facts
        .iter()
        .any(|fact| fact.key == format!("{UNKNOWN_FACT}{what}"))
}

pub(super) fn reported<'a>(record: &'a Record, txn: &str, name: &str) -> &'a Reported {
    record
        .reported
        .iter()
        .find(|r| r.txn == txn && r.name == name)
        .unwrap_or_else(|| {
            let names: Vec<_> = record.reported.iter().map(|r| (&r.txn, &r.name)).collect();
            panic!("no {txn}/{name} in {names:?}")
        })
}

/// The documents of an output with `--status-interval=1`.
fn status_documents() -> Vec<String> {
    let documents: Vec<String> = text("fio_status.json")
        .split_inclusive("\n}")
        .map(str::to_owned)
        .collect();
    documents
        .into_iter()
        .filter(|document| document.contains('{'))
        .collect()
}

#[test]
fn the_last_report_of_a_run_has_its_totals_and_those_before_are_its_seconds() {
    let record = of(&["fio_status.json"]).record;
    assert_eq!(
        (
            record.points.len(),
            total_of(&record, record.points[0].id).committed
        ),
        (1, 174_437)
    );
    assert_eq!(total_of(&record, record.points[0].id).bytes, 714_493_952);
    let ends: Vec<Nanos> = record.seconds.iter().map(|second| second.end).collect();
    assert_eq!(ends, [879, 1878, 2879, 3879, 4001].map(Nanos::from_millis));
    let counts: Vec<u64> = record
        .seconds
        .iter()
        .map(|second| second.counts.committed)
        .collect();
    assert_eq!(
        counts,
        [36_806, 42_774, 42_244, 46_111, 6_502],
        "requests that had ended at each report"
    );
}

#[test]
fn runs_appended_to_one_file_are_points_of_their_own() {
    let documents = status_documents();
    let last = documents.last().unwrap();
    // The same test again, ten minutes later.
    let later = last.replace(
        "\"timestamp_ms\" : 17954313847",
        "\"timestamp_ms\" : 17954319847",
    );
    let twice = record(&format!("{last}\n{later}\n"));
    assert_eq!(
        twice
            .points
            .iter()
            .map(|point| point.repeat)
            .collect::<Vec<_>>(),
        [0, 1]
    );
    assert!(
        twice
            .points
            .iter()
            .all(|point| total_of(&twice, point.id).committed == 174_437)
    );
    assert_eq!(twice.phases[1].start, Nanos::from_secs(600));
    // Another block size under the same name is another load.
    let other = later.replace("\"bs\" : \"4k\"", "\"bs\" : \"64k\"");
    let two = record(&format!("{last}\n{other}\n"));
    assert_eq!(
        two.points
            .iter()
            .map(|point| point.repeat)
            .collect::<Vec<_>>(),
        [0, 0]
    );
    let names: Vec<&str> = two.blocks.iter().map(|block| block.job.as_str()).collect();
    assert_eq!(names, ["status", "status (bs=64k)"]);
}

#[test]
fn what_is_not_understood_between_reports_is_an_error_with_its_line() {
    let documents = status_documents();
    let (first, last) = (&documents[0], documents.last().unwrap());
    let lines = |text: &str| text.lines().count();
    let message = error(&format!("{first}\nmy own notes\n{last}\n"));
    assert!(
        message.starts_with(&format!(
            "cannot import a.json, line {}\nFound \"my own notes\"",
            lines(first) + 1
        )),
        "{message}"
    );
    let message = error(&format!("{first}\n \"iops\" : 3,\n}}\n{last}\n"));
    assert!(
        message.starts_with(&format!(
            "cannot import a.json, line {}\n",
            lines(first) + 1
        )),
        "{message}"
    );
    let cut = &last[..last.len() / 2];
    let message = error(&format!("{first}\n{cut}"));
    assert!(
        message.starts_with(&format!(
            "cannot import a.json, line {}\n",
            lines(first) + lines(cut)
        )),
        "{message}"
    );
    let signal = "fio: terminating on signal 2\n";
    assert_eq!(
        record(&format!("{first}\n{signal}{last}\n{signal}"))
            .points
            .len(),
        1
    );
}

#[test]
fn counts_that_fall_within_a_run_are_refused() {
    let documents = status_documents();
    let fallen = documents[1].replace("\"total_ios\" : 79584", "\"total_ios\" : 3000");
    let message = error(&[documents[0].as_str(), &fallen].concat());
    assert!(
        message.contains("counts that grow from report to report"),
        "{message}"
    );
}

#[test]
fn jobs_reported_together_are_described_by_all_of_them() {
    let record = of(&["fio_group.json"]).record;
    let block = &record.blocks[0];
    assert_eq!((block.workers, block.streams[0].read_percent), (3, 56));
    assert_eq!(
        (
            block.streams[0].read_sizes.clone(),
            block.streams[0].write_sizes.clone()
        ),
        (vec![(4096, 100)], vec![(16_384, 100)])
    );
    // fio does not report the depth of each job: 1 and 2 occur.
    assert_eq!(record.points[0].users, 0);
    assert!(is_unknown(&record, "users") && is_unknown(&record, "group"));
    assert_eq!(block.job, "a and others");
    let summary = summarise(&record);
    let own = &summary.figures.blocks[0].media[0].jobs[0].points[0];
    // The jobs keep 4 in flight; completion latency leaves out the time until requests are handed over.
    assert!(
        (3.5..4.0).contains(&own.in_flight_by_little.unwrap()),
        "{:?}",
        own.in_flight_by_little
    );
    assert!(
        !format!("{:?}", own.findings).contains("InFlightOff"),
        "{:?}",
        own.findings
    );
}

#[test]
fn logs_go_to_the_job_that_they_number() {
    let logs = [
        "fio_numjobs.json",
        "fio_n_iops.1.log",
        "fio_n_iops.2.log",
        "fio_n_iops.3.log",
        "fio_n_iops.4.log",
    ];
    let record = of(&logs).record;
    let first = |workload: &str| {
        let id = point(&record, workload).id;
        let phase = record
            .phases
            .iter()
            .find(|phase| phase.point == Some(id))
            .unwrap()
            .id;
        record
            .seconds
            .iter()
            .find(|second| second.phase == phase && second.counts.committed > 0)
            .unwrap()
            .counts
            .committed
    };
    let of_log = |n: u32| {
        let line = text(&format!("fio_n_iops.{n}.log")).lines().next().unwrap();
        line.split(',')
            .nth(1)
            .unwrap()
            .trim()
            .parse::<u64>()
            .unwrap()
    };
    // IOPS over half a second, within the milliseconds by which lines are apart. Jobs 1 and 2 are a's, 3 is b's, 4 is c's.
    for (name, iops) in [
        ("a", of_log(1) + of_log(2)),
        ("b", of_log(3)),
        ("c", of_log(4)),
    ] {
        let off = first(name) as f64 / (iops as f64 / 2.0) - 1.0;
        assert!(off.abs() < 0.003, "{name}: {} of {iops}", first(name));
    }
    let shared = [
        SourceFile {
            name: "a.json",
            text: text("fio_numjobs.json"),
            tool: None,
        },
        SourceFile {
            name: "fio_shared_iops.log",
            text: text("fio_shared_iops.log"),
            tool: None,
        },
    ];
    let message = import(&shared, &import_options()).unwrap_err().to_string();
    assert!(
        message.starts_with("cannot import fio_shared_iops.log\nIt has no number of a job"),
        "{message}"
    );
}

#[test]
fn requests_that_failed_are_not_committed_and_make_the_point_invalid() {
    let record = of(&["fio_verify.json"]).record;
    let counts = total_of(&record, record.points[0].id);
    assert_eq!(
        (counts.committed, counts.failed, counts.offered),
        (0, 4096, 4096)
    );
    let summary = summarise(&record);
    assert_eq!(
        summary.figures.blocks[0].media[0].jobs[0].points[0].verdict,
        Verdict::Invalid
    );
    let audit = audit(&record, &summary.figures);
    let consist = audit
        .verdicts
        .iter()
        .find(|result| result.rule == Rule::Consist && result.outcome.severity().is_some());
    assert_eq!(
        consist.and_then(|result| result.outcome.severity()),
        Some(Severity::Error)
    );
    assert!(
        format!("{consist:?}")
            .contains("RequestsFailed { failed: 4096, offered: 4096, errno: Some(84)"),
        "{consist:?}"
    );
    // One that the device refused has no latency; it is not among those that completed.
    let one = text("fio_rate.json")
        .replace("\"error\" : 0", "\"error\" : 5")
        .replace("\"total_ios\" : 3012", "\"total_ios\" : 3013");
    let one = self::record(&one);
    let counts = total_of(&one, one.points[0].id);
    assert_eq!(
        (counts.committed, counts.failed, counts.offered),
        (3012, 1, 3013)
    );
}

#[test]
fn servers_that_group_their_jobs_have_several_workers_each() {
    let record = of(&["fio_client_group.json"]).record;
    assert_eq!(
        (
            record.points.len(),
            record.blocks[0].workers,
            record.points[0].users
        ),
        (1, 4, 4)
    );
    assert_eq!(record.points[0].offered_per_second, Some(400.0));
}

#[test]
fn sizes_are_in_the_unit_of_kb_base() {
    // fio 3.33: k and kb are 1024 and kib is 1000, with kb_base=1000 the other way round.
    let sizes = |instead: &str| {
        let changed = text("fio_rate.json").replace("\"rate\" : \"4m\"", instead);
        record(&changed).blocks[0].streams[0].read_sizes.clone()
    };
    assert_eq!(sizes("\"bs\" : \"4k\""), [(4096, 100)]);
    assert_eq!(sizes("\"bs\" : \"4kib\""), [(4000, 100)]);
    assert_eq!(
        sizes("\"bs\" : \"4k\", \"kb_base\" : \"1000\""),
        [(4000, 100)]
    );
    assert_eq!(
        sizes("\"bs\" : \"4KiB\", \"kb_base\" : \"1000\""),
        [(4096, 100)]
    );
}

#[test]
fn directions_that_are_reported_together_are_one_kind_of_request() {
    let mixed = of(&["fio_unified_mixed.json"]).record;
    assert_eq!(
        (
            mixed.points[0].txns.clone(),
            total_of(&mixed, PointId(1)).committed
        ),
        (vec!["mixed".to_owned()], 1024)
    );
    assert!(is_unknown(&mixed, "directions"));
    let both = of(&["fio_unified_both.json"]).record;
    assert_eq!(both.points[0].txns, ["read", "write"]);
    assert_eq!(total_of(&both, PointId(1)).committed, 496 + 528);
}

#[test]
fn outputs_of_a_client_hold_the_jobs_of_all_servers_once() {
    let record = of(&["fio_client.json"]).record;
    assert_eq!(
        record.points.len(),
        2,
        "the sum of all clients is not a load"
    );
    assert_eq!((record.blocks[0].workers, record.blocks[1].workers), (2, 1));
    let counts = ["a", "b"].map(|name| total_of(&record, point(&record, name).id).committed);
    assert_eq!(counts, [2048, 1024]);
    assert!(!record.run.started_at.is_empty());
}

#[test]
fn outputs_for_people_are_refused_with_how_to_get_json() {
    for name in ["fio_normal.txt", "fio_terse.txt"] {
        let message = error(text(name));
        assert!(
            message.starts_with("cannot import a.json, line 1\nFound fio's "),
            "{message}"
        );
        assert!(message.contains("--output-format=json+"), "{message}");
    }
}

#[test]
fn what_defines_a_job_is_recorded_with_the_defaults_of_fio() {
    let parameters = |record: &Record, workload: &str| {
        let all = point(record, workload).parameters.clone();
        all.into_iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let record = of(&["fio_numjobs.json"]).record;
    assert_eq!(
        parameters(&record, "a"),
        "bs=4k direct=1 iodepth=1 ioengine=psync numjobs=2 rw=randread size=8m"
    );
    let bare = text("fio_unified_both.json")
        .replace("\"direct\" : \"1\",\n", "")
        .replace("\"ioengine\" : \"libaio\",\n", "");
    assert_eq!(
        parameters(&self::record(&bare), "u"),
        "bs=4k direct=0 iodepth=1 ioengine=psync numjobs=1 rw=randrw rwmixread=50 size=4m"
    );
}

#[test]
fn latencies_of_all_kinds_stay_reported() {
    let record = of(&["fio_status.json"]).record;
    for kind in [
        "slat_ns mean",
        "clat_ns mean",
        "lat_ns mean",
        "clat_ns 99 %",
    ] {
        assert!(reported(&record, "read", kind).value > 0.0, "{kind}");
    }
    // With lat_percentiles=1 the percentiles are those of the whole latency.
    let lat = text("fio_rate.json").replacen(
        "\"N\" : 3012",
        "\"N\" : 3012, \"percentile\" : {\"99.000000\" : 777}",
        1,
    );
    assert_eq!(
        reported(&self::record(&lat), "read", "slat_ns 99 %").printed,
        "777"
    );
}

#[test]
fn requests_in_flight_are_those_that_the_engine_allows() {
    // psync is synchronous: with iodepth=32 fio has one request of each job in flight, and reports that.
    let deep = text("fio_numjobs.json").replace(
        "\"rw\" : \"randread\"",
        "\"rw\" : \"randread\", \"iodepth\" : \"32\"",
    );
    let record = self::record(&deep);
    assert_eq!(
        (point(&record, "a").users, point(&record, "c").users),
        (2, 1)
    );
}

/// An output with a log of one of its jobs.
pub(super) fn with_log(name: &str, log: &str) -> Record {
    let sources = [
        SourceFile {
            name: "a.json",
            text: text("fio_unified_both.json"),
            tool: None,
        },
        SourceFile {
            name,
            text: log,
            tool: None,
        },
    ];
    import(&sources, &import_options())
        .unwrap_or_else(|error| panic!("{error}"))
        .record
}

#[test]
fn columns_of_logs_are_found_whatever_options_add() {
    // fio 3.42: log_window_value=both has the largest value behind the mean; log_prio a priority in hexadecimal.
    let both = with_log(
        "u_lat.1.log",
        "256, 112905, 11421768, 0, 0, 0\n500, 140195, 11331754, 1, 0, 0\n",
    );
    let mean = "lat mean over the log's interval";
    assert_eq!(
        (
            reported(&both, "read", mean).value,
            reported(&both, "write", mean).value
        ),
        (112_905.0, 140_195.0)
    );
    let prio = with_log(
        "u_slat.1.log",
        "251, 246623, 0, 0, 0x0000\n503, 176243, 0, 0, 0x0000\n",
    );
    assert_eq!(
        reported(&prio, "read", "slat mean over the log's interval").value,
        246_623.0
    );
}

#[test]
fn a_log_of_single_requests_is_counted_by_second() {
    let line = |i: u64| format!("{}, 1, {}, 4096, 0\n", i * 100, i % 2);
    let log: String = (0..12).map(line).collect();
    let record = with_log("u_iops.1.log", &log);
    let first: Vec<u64> = record
        .seconds
        .iter()
        .take(2)
        .map(|second| second.counts.committed)
        .collect();
    assert_eq!(
        first,
        [5, 5],
        "ten lines of the first second, half of them writes"
    );
    assert_eq!(
        total_of(&record, PointId(1)).committed,
        496 + 528,
        "totals stay"
    );
}
