//! When jobs began, and which samples belong to them.

use super::*;

#[test]
fn sequential_jobs_begin_one_after_the_other() {
    // fio 3.42 reports when each job began.
    let record = of(&["fio_seq_job_start.json"]).record;
    assert_eq!(record.run.started_at, "2026-11-23T15:56:51Z");
    assert_eq!(
        (span(&record, "a"), span(&record, "b")),
        ((0.0, 1.001), (1.316, 2.317))
    );
    assert!(!is_unknown(&record, "start") && !is_unknown(&record, "concurrency"));
    // fio 3.33 does not; the whole took as long as its groups one after the other.
    let record = of(&["fio_seq.json"]).record;
    assert_eq!(span(&record, "first"), (0.0, 4.001));
    assert_eq!(span(&record, "second"), (4.001, 8.002));
    assert_eq!(span(&record, "third"), (8.002, 12.005));
    assert!(is_unknown(&record, "start"));
}

#[test]
fn jobs_of_one_group_begin_together() {
    let shorter = text("fio_numjobs.json")
        .replace("runtime\" : 2003", "runtime\" : 1003")
        .replace("runtime\" : 2002", "runtime\" : 1002");
    let record = self::record(&shorter);
    assert_eq!(["a", "b", "c"].map(|name| span(&record, name).0), [0.0; 3]);
}

#[test]
fn samples_recorded_beside_sequential_jobs_are_each_jobs_own() {
    let record = of(&["fio_seq.json", "iostat_seq.txt"]).record;
    let summary = summarise(&record);
    let reads = |job: &str| {
        let id = point(&record, job).id;
        let phase = record
            .phases
            .iter()
            .find(|phase| phase.point == Some(id))
            .unwrap();
        let series = record
            .series
            .iter()
            .find(|series| series.metric == Metric::DeviceReads)
            .unwrap();
        let own = series
            .samples
            .iter()
            .filter(|sample| sample.at > phase.start + Nanos::SECOND && sample.at < phase.end);
        own.map(|sample| f64::from(sample.value))
            .collect::<Vec<f64>>()
    };
    assert_eq!(summary.figures.blocks[0].media[0].jobs.len(), 3);
    // fio: 16,773 reads a second, none, 1,290 of 1 MiB.
    assert!(
        reads("first").iter().all(|n| *n > 10_000.0),
        "{:?}",
        reads("first")
    );
    assert!(
        reads("second").iter().all(|n| *n < 100.0),
        "{:?}",
        reads("second")
    );
    assert!(
        reads("third").iter().all(|n| (900.0..10_000.0).contains(n)),
        "{:?}",
        reads("third")
    );
}

#[test]
fn samples_beside_jobs_whose_times_are_unknown_are_refused() {
    let neither = text("fio_seq.json").replace("\"elapsed\" : 13", "\"elapsed\" : 9");
    let sources = [
        SourceFile {
            name: "a.json",
            text: &neither,
            tool: None,
        },
        SourceFile {
            name: "iostat_seq.txt",
            text: text("iostat_seq.txt"),
            tool: None,
        },
    ];
    let message = import(&sources, &import_options()).unwrap_err().to_string();
    assert!(
        message.contains("\na.json does not report when each of its jobs ran"),
        "{message}"
    );
    assert!(is_unknown(&record(&neither), "concurrency"));
}

#[test]
fn logs_with_times_since_1970_set_the_start_of_their_job() {
    let record = of(&["fio_epoch.json", "fio_e_iops.1.log", "fio_e_iops.2.log"]).record;
    let starts = [span(&record, "a").0, span(&record, "b").0];
    // Their first lines are 1.192 s apart; each ends an interval of 250 ms or a little more.
    assert!(
        starts[0] == 0.0 && (1.15..1.25).contains(&starts[1]),
        "{starts:?}"
    );
    assert!(record.seconds.len() >= 6, "{}", record.seconds.len());
    assert_eq!(total_of(&record, point(&record, "a").id).committed, 7_573);
}

#[test]
fn groups_of_short_jobs_may_have_overlapped() {
    // Three groups of a second each in 3 s, rounded up: two of them may have run at the same time, as in this run they did.
    let jobs = text("fio_seq.json").replace("\"elapsed\" : 13", "\"elapsed\" : 3");
    let short = ["4001", "4003"].iter().fold(jobs, |text, ms| {
        text.replace(&format!("\"runtime\" : {ms}"), "\"runtime\" : 1001")
    });
    let record = self::record(&short.replace("\"runtime\" : 1001", "\"runtime\" : 1000"));
    assert!(is_unknown(&record, "concurrency") && !is_unknown(&record, "start"));
}
