//! Logs of fio: gaps, logs that do not fit the output, and the jobs that they belong to.

use super::super::{SourceFile, import};
use super::fio::{is_unknown, point, total_of, with_log};
use super::{import_options, of, text};
use plimsoll_record::{PointId, Record};

/// End in milliseconds and requests of each tick of a point.
fn ticks(record: &Record, point: PointId) -> Vec<(u64, u64)> {
    let own = |phase| {
        record
            .phases
            .iter()
            .any(|own| own.id == phase && own.point == Some(point))
    };
    let seconds = record.seconds.iter().filter(|second| own(second.phase));
    seconds
        .map(|second| (second.end.0 / 1_000_000, second.counts.committed))
        .collect()
}

/// `names` of outputs, with logs by name and text.
fn error(output: &str, logs: &[(&str, &str)]) -> String {
    let output = SourceFile {
        name: "a.json",
        text: text(output),
        tool: None,
    };
    let logs = logs.iter().map(|(name, text)| SourceFile {
        name,
        text,
        tool: None,
    });
    let sources: Vec<SourceFile<'_>> = std::iter::once(output).chain(logs).collect();
    import(&sources, &import_options())
        .map(|imported| imported.record.points)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_time_in_which_nothing_completed_is_an_empty_tick() {
    // 200 requests in half a second, then nothing until a line at 2501 ms: fio writes none where nothing completed.
    let record = of(&["fio_gaps.json", "fio_g_iops.1.log"]).record;
    let expected = [
        (500, 200),
        (2001, 0),
        (2501, 200),
        (4504, 0),
        (5004, 200),
        (6506, 0),
        (7006, 200),
    ];
    assert_eq!(ticks(&record, PointId(1))[..7], expected);
    assert_eq!(total_of(&record, PointId(1)).committed, 800);
    // Without the output the lines themselves show how far apart they are.
    let alone = of(&["fio_g_iops.1.log"]).record;
    assert_eq!(
        ticks(&alone, PointId(1))
            .into_iter()
            .filter(|(_, n)| *n > 0)
            .count(),
        4
    );
    let ends: Vec<u64> = alone
        .seconds
        .iter()
        .filter(|second| second.txn == 0)
        .map(|s| s.end.0 / 1_000_000)
        .collect();
    assert_eq!(ends, expected.map(|(end, _)| end));
}

#[test]
fn a_log_that_has_no_time_keeps_the_totals() {
    let buckets = vec!["1"; 29].join(", ");
    for (name, line) in [
        ("u_iops.1.log", "0, 5, 0, 0, 0\n".to_owned()),
        ("u_clat_hist.1.log", format!("0, 0, 4096, {buckets}\n")),
    ] {
        let record = with_log(name, &line);
        assert_eq!(total_of(&record, PointId(1)).committed, 496 + 528, "{name}");
        assert!(is_unknown(&record, "logs"), "{name}");
    }
}

#[test]
fn a_log_is_given_once_and_of_a_job_that_there_is() {
    let line = "500, 10, 0, 0, 0\n";
    let message = error("fio_unified_both.json", &[("u_iops.7.log", line)]);
    assert!(
        message
            .starts_with("cannot import u_iops.7.log\nIt is of job 7, which is not in the output."),
        "{message}"
    );
    let message = error(
        "fio_unified_both.json",
        &[("u_iops.1.log", line), ("v_iops.1.log", line)],
    );
    assert!(
        message.contains("\nu_iops.1.log and v_iops.1.log are both"),
        "{message}"
    );
    let twice = ["a", "b"].map(|_| SourceFile {
        name: "u_iops.1.log",
        text: line,
        tool: None,
    });
    let message = import(&twice, &super::import_options())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("\nu_iops.1.log and u_iops.1.log are both"),
        "{message}"
    );
}

#[test]
fn logs_of_another_run_are_refused() {
    let lines = |n: u64, iops: u64| {
        (1..=n)
            .map(|i| format!("{}, {iops}, 0, 0, 0\n", i * 500))
            .collect::<String>()
    };
    let message = error("fio_unified_both.json", &[("u_iops.1.log", &lines(8, 100))]);
    assert!(
        message.contains("u_iops.1.log reaches 4.0 s, and the job ran for 1.3 s"),
        "{message}"
    );
    let message = error(
        "fio_unified_both.json",
        &[("u_iops.1.log", &lines(2, 90_000))],
    );
    assert!(
        message.contains("90000 requests, and the output has 1024"),
        "{message}"
    );
    // What is too little may be of another run, or of some workers only.
    assert!(is_unknown(
        &with_log("u_iops.1.log", &lines(2, 100)),
        "logs"
    ));
    assert!(!is_unknown(
        &with_log("u_iops.1.log", &lines(2, 900)),
        "logs"
    ));
}

#[test]
fn logs_of_a_job_of_another_start_are_refused() {
    let old = text("fio_e_iops.1.log").replace("17954", "17854");
    let message = error("fio_epoch.json", &[("s_iops.1.log", &old)]);
    assert!(message.contains("s_iops.1.log begins"), "{message}");
}

#[test]
fn jobs_of_one_name_apart_keep_their_numbers() {
    // Jobs a, b and a: 1, 2 and 3.
    let log = |ms: u64| {
        (1..=1000 / ms)
            .map(|i| format!("{}, 100, 0, 0, 0\n", i * ms))
            .collect::<String>()
    };
    let logs = [
        ("x_iops.1.log", log(500)),
        ("x_iops.2.log", log(100)),
        ("x_iops.3.log", log(500)),
    ];
    let output = SourceFile {
        name: "a.json",
        text: text("fio_apart.json"),
        tool: None,
    };
    let logs = logs.iter().map(|(name, text)| SourceFile {
        name,
        text,
        tool: None,
    });
    let sources: Vec<SourceFile<'_>> = std::iter::once(output).chain(logs).collect();
    let record = import(&sources, &import_options()).unwrap().record;
    let own = |name: &str| ticks(&record, point(&record, name).id);
    assert_eq!((own("a")[0], own("b")[0]), ((500, 100), (100, 10)));
}
