use proptest::prelude::*;

use super::*;

/// fio 3.33 on a virtual disk; the first with a warning before the JSON.
const READ: &str = include_str!("../../tests/data/fio/randread-4k-qd1.json");
const FSYNC: &str = include_str!("../../tests/data/fio/fsync.json");
const LOG: &str = include_str!("../../tests/data/fio/bw.log");

#[test]
fn a_recorded_run_is_read_with_its_warning_and_its_buckets() {
    let output = parse(READ).unwrap();
    assert_eq!(
        (
            output.version.as_str(),
            output.jobs.len(),
            output.warnings.len()
        ),
        ("fio-3.33", 1, 1)
    );
    assert!(
        output.warnings[0].starts_with("fio: this platform"),
        "{:?}",
        output.warnings
    );
    let job = &output.jobs[0];
    assert_eq!((job.name.as_str(), job.error), ("randread-4k-qd1", 0));
    assert_eq!(
        (job.read.total_ios, job.read.io_bytes, job.read.short_ios),
        (400, 400 * 4096, 0)
    );
    assert!(
        (job.read.iops - 12121.212121).abs() < 1e-6,
        "{}",
        job.read.iops
    );
    assert_eq!(job.write.total_ios, 0);
    let hist = job.read.completion.hist();
    assert_eq!((hist.count(), hist.max()), (400, Some(Nanos(222_259))));
    assert_eq!(hist.mean().unwrap().0, 56_020);
    // fio's own: 52480 and 124416.
    assert!((hist.quantile(0.5).unwrap().0 as f64 / 52_480.0 - 1.0).abs() < 0.002);
    assert!((hist.quantile(0.99).unwrap().0 as f64 / 124_416.0 - 1.0).abs() < 0.002);
}

#[test]
fn flushes_are_counted_apart_from_writes() {
    let job = &parse(FSYNC).unwrap().jobs[0];
    let sync = job.sync.as_ref().unwrap();
    assert_eq!((job.write.total_ios, sync.total), (60, 59));
    assert!((sync.latency.mean_ns - 109_542.254_237).abs() < 1e-3);
    assert_eq!(sync.latency.hist().count(), sync.latency.n);
}

#[test]
fn a_field_that_is_missing_or_of_another_kind_is_named() {
    let error = |from: &str, to: &str| parse(&READ.replacen(from, to, 1)).unwrap_err().to_string();
    assert_eq!(
        error("\"iops\" :", "\"iopsen\" :"),
        "fio's JSON: jobs[0].read.iops is missing"
    );
    assert_eq!(
        error("\"clat_ns\"", "\"clat_us\""),
        "fio's JSON: jobs[0].read.clat_ns is missing"
    );
    assert_eq!(
        error("\"io_bytes\" : 1638400", "\"io_bytes\" : \"many\""),
        "fio's JSON: jobs[0].read.io_bytes is \"many\", which is not a whole number"
    );
    assert_eq!(
        error("\"jobs\" : [", "\"jobs\" : 3, \"x\" : ["),
        "fio's JSON: jobs is 3, which is not a list"
    );
    let bins = error("\"bins\" : {", "\"bins\" : { \"fast\" : 3,");
    assert_eq!(
        bins,
        "fio's JSON: jobs[0].read.clat_ns.bins.fast is 3, which is not under a whole number"
    );
    let many = error("\"bins\" : {", "\"bins\" : { \"3\" : 18446744073709551615,");
    assert_eq!(
        many,
        "fio's JSON: jobs[0].read.clat_ns.bins counts more operations than there can be"
    );
}

#[test]
fn what_is_not_json_is_quoted() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(error(""), "no JSON in fio's output");
    assert_eq!(
        error("\nfio: no such engine\nmore"),
        "no JSON in fio's output: fio: no such engine"
    );
    assert!(
        error("{\n  \"jobs\" : [").starts_with("fio's JSON cannot be read: EOF"),
        "{}",
        error("{\n  \"jobs\" : [")
    );
}

#[test]
fn fields_that_are_new_and_numbers_that_are_none_do_not_matter() {
    let newer = READ.replacen("\"iops\" :", "\"novelty\" : {\"a\" : [1]}, \"iops\" :", 1);
    assert_eq!(parse(&newer), parse(READ));
    let old = FSYNC.replacen("\"stddev\" : 0.000000", "\"stddev\" : -nan", 1);
    assert_eq!(parse(&old), parse(FSYNC));
    assert_eq!(parse(&format!("{READ}\nfio: bye {{}}\n")), parse(READ));
}

#[test]
fn a_log_is_read_by_line() {
    let lines = parse_log(LOG).unwrap();
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        LogLine {
            at_ms: 143,
            value: 2_177_790
        }
    );
    assert_eq!(parse_log("\n"), Ok(Vec::new()));
    let error = parse_log("100, 5, 0, 0, 0\n200, x\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "fio's log, line 2: \"200, x\" is not `ms, value, direction, block size…`"
    );
}

proptest! {
    #[test]
    fn rubbish_never_panics(text in "\\PC*", at in 0usize..9_000, with in "[-{}\\[\\]:,\"0-9a-z. \n]{0,12}") {
        let _ = parse(&text);
        let _ = parse_log(&text);
        let _ = parse_log(&with);
        let cut = |text: &str| text.get(..at).map(str::to_owned).unwrap_or_default();
        let _ = parse(&cut(READ));
        if let Some(rest) = READ.get(at + 4..)
            && let Ok(output) = parse(&format!("{}{with}{rest}", cut(READ)))
        {
            output.jobs.iter().for_each(|job| drop((job.read.completion.hist(), job.write.total.hist())));
        }
    }
}
