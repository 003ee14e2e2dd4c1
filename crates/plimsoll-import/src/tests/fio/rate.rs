//! Loads at a given rate.

use super::*;

#[test]
fn a_rate_in_bytes_or_requests_makes_an_open_load() {
    let record = of(&["fio_rate.json"]).record;
    // 4 MiB a second in requests of 4 KiB.
    assert_eq!(record.points[0].offered_per_second, Some(1024.0));
    let omission = |record: &Record| {
        let audit = audit(record, &summarise(record).figures);
        audit
            .verdicts
            .iter()
            .filter(|result| result.rule == Rule::Omission)
            .filter_map(|j| j.outcome.severity())
            .max()
    };
    assert_eq!(
        omission(&record),
        Some(Severity::Error),
        "latencies count from when a request was made"
    );
    let rate = |instead: &str| {
        let text = text("fio_rate.json").replace("\"rate\" : \"4m\"", instead);
        self::record(&text).points[0].offered_per_second
    };
    assert_eq!(rate("\"rate_iops\" : \"500\""), Some(500.0));
    assert_eq!(
        rate("\"rate_iops\" : \"500\", \"numjobs\" : \"3\""),
        Some(1500.0),
        "of each job"
    );
    assert_eq!(
        rate("\"rate\" : \"4m,2m\""),
        Some(1024.0),
        "there are no writes"
    );
    assert_eq!(
        rate("\"rate_min\" : \"4m\""),
        None,
        "a minimum offers nothing"
    );
    assert_eq!(rate("\"rate\" : \",4m\""), None, "reads are not limited");
}

#[test]
fn rates_of_both_directions_add_up() {
    let both = text("fio_unified_both.json").replace(
        "\"rw\" : \"randrw\"",
        "\"rw\" : \"randrw\", \"rate\" : \"4m,2m\"",
    );
    assert_eq!(record(&both).points[0].offered_per_second, Some(1536.0));
    let half = both.replace("4m,2m", "4m,");
    assert_eq!(
        record(&half).points[0].offered_per_second,
        None,
        "writes are not limited"
    );
    assert!(is_unknown(&record(&half), "offered"));
}

#[test]
fn a_rate_of_split_block_sizes_is_unknown() {
    // fio turns rate_iops=500 into bytes of the smallest size: 65 requests a second, or 473 with rate_process=poisson.
    let record = of(&["fio_bssplit_rate.json"]).record;
    assert_eq!(record.points[0].offered_per_second, None);
    assert!(is_unknown(&record, "offered"));
    let from = record
        .facts
        .iter()
        .find(|fact| fact.key == RESPONSE_FACT)
        .map(|fact| fact.value.as_str());
    assert_eq!(from, Some("unknown"), "a limited job is no closed loop");
}

#[test]
fn rates_of_grouped_sections_are_unknown_unless_every_job_has_one() {
    // Sections of 100 and 200 requests a second; fio prints the options of the last one.
    let sections = text("fio_section_rates.json");
    let offered = |record: &Record| {
        (
            record.points[0].offered_per_second,
            is_unknown(record, "offered"),
        )
    };
    assert_eq!(offered(&record(sections)), (None, true));
    let from = |record: &Record| {
        record
            .facts
            .iter()
            .find(|fact| fact.key == RESPONSE_FACT)
            .map(|fact| fact.value.clone())
            .unwrap()
    };
    assert_eq!(from(&record(sections)), "unknown");
    let both = sections.replace(
        "\"group_reporting\" : \"1\"",
        "\"group_reporting\" : \"1\", \"rate_iops\" : \"200\"",
    );
    assert_eq!(
        offered(&record(&both)),
        (Some(400.0), false),
        "each of two jobs"
    );
    let other = both.replacen("\"rate_iops\" : \"200\"", "\"rate_iops\" : \"300\"", 1);
    assert_eq!(
        offered(&record(&other)),
        (None, true),
        "the last job has another rate than the global section"
    );
}
