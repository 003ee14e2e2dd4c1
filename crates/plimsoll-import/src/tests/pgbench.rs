//! pgbench and its transaction logs: several runs in one file, samples, missing logs, rates, retries.

use super::super::{Imported, SourceFile, import};
use super::loads::{fact, has_note, is_missing, reported, total};
use super::{import_options, of, text};
use plimsoll_analysis::audit::{Missing, Rule, RuleOutcome, audit};
use plimsoll_analysis::compare::{Ask, ComparedSide, compare};
use plimsoll_analysis::summary::FigureId;
use plimsoll_analysis::{Summary, summarise};
use plimsoll_record::import_facts::notes;
use plimsoll_record::message::{CheckDetail, CountsSource, ImportNote};
use plimsoll_record::{Record, Reported, Severity};

fn error(sources: &[(&str, &str)]) -> String {
    let sources: Vec<SourceFile<'_>> = sources
        .iter()
        .map(|(name, text)| SourceFile {
            name,
            text,
            tool: None,
        })
        .collect();
    import(&sources, &import_options()).unwrap_err().to_string()
}

/// Names of the findings of the only point, with their severity.
fn findings(summary: &Summary) -> Vec<(Severity, String)> {
    let point = summary.figures.points().next().unwrap();
    let name = |kind: String| kind.split(' ').next().unwrap_or_default().to_owned();
    point
        .findings
        .iter()
        .map(|finding| (finding.severity, name(format!("{:?}", finding.kind))))
        .collect()
}

fn little(imported: &Imported) -> RuleOutcome {
    let audit = audit(&imported.record, &summarise(&imported.record).figures);
    audit
        .verdicts
        .into_iter()
        .find(|result| result.rule == Rule::Little)
        .unwrap()
        .outcome
}

#[test]
fn runs_of_one_file_are_points_with_their_own_figures() {
    let record = of(&["pgbench_two_runs.txt"]).record;
    assert_eq!(record.points.len(), 2);
    let summary = summarise(&record);
    let rates: Vec<f64> = summary
        .figures
        .points()
        .map(|point| point.value(FigureId::Transactions).unwrap().round())
        .collect();
    assert_eq!(rates, [3782.0, 39315.0]);
    let printed = |point: usize, name: &str| -> Vec<&str> {
        let own = |r: &&Reported| {
            r.point == record.points[point].id && r.over.is_none() && r.name == name
        };
        record
            .reported
            .iter()
            .filter(own)
            .map(|r| r.printed.as_str())
            .collect()
    };
    for (point, average, processed) in [(0, "1.053", "18916"), (1, "0.098", "196590")] {
        assert_eq!(printed(point, "latency average"), [average]);
        assert_eq!(
            printed(point, "number of transactions actually processed"),
            [processed]
        );
    }
    // Two scripts are no repeats of one load.
    assert_eq!(
        record.points[0].parameters["script"],
        "<builtin: TPC-B (sort of)>"
    );
    assert_eq!(
        record.points[1].parameters["script"],
        "<builtin: select only>"
    );
    assert_eq!(
        (
            record.points[1].parameters["scale"].as_str(),
            record.points[1].parameters["query_mode"].as_str()
        ),
        ("5", "simple")
    );
    assert_ne!(record.points[0].step, record.points[1].step);
    assert_eq!(summary.figures.ladders.len(), 2);
}

#[test]
fn a_run_without_its_report_and_lines_of_no_run_are_refused_with_their_line() {
    let whole = text("pgbench_progress.txt");
    let lines = whole.lines().count();
    let cut: String = whole
        .lines()
        .take_while(|line| !line.starts_with("tps"))
        .map(|line| format!("{line}\n"))
        .collect();
    let message = error(&[("p.txt", &format!("{cut}{whole}"))]);
    assert!(
        message.starts_with(&format!(
            "cannot import p.txt, line {}\n",
            cut.lines().count() + 1
        )) && message.contains("`tps = `"),
        "{message}"
    );
    // A second value of one figure belongs to no run.
    let message = error(&[("p.txt", &format!("{whole}number of clients: 8\n"))]);
    assert!(
        message.starts_with(&format!(
            "cannot import p.txt, line {}\nFound \"number of clients: 8\"",
            lines + 1
        )),
        "{message}"
    );
    let message = error(&[(
        "p.txt",
        &whole.replace("scaling factor:", "something else\nscaling factor:"),
    )]);
    assert!(message.contains("Found \"something else\""), "{message}");
}

#[test]
fn logs_that_are_a_sample_give_distributions_and_not_totals() {
    let names = [
        "pgbench_sampling.txt",
        "pgbench_sampling_log.0.txt",
        "pgbench_sampling_log.1.txt",
    ];
    let imported = of(&names);
    let record = &imported.record;
    let progress = CountsSource::Progress;
    assert!(has_note(
        record,
        &ImportNote::CountsFrom { source: progress }
    ));
    assert_eq!(
        (total(record).committed, record.windows[0].response.count()),
        (1_617, 83)
    );
    assert_eq!(reported(record, "", "transactions in the logs").value, 83.0);
    assert!(has_note(
        record,
        &ImportNote::LogsSampled {
            lines: 83,
            transactions: 1617,
            percent: 8300.0 / 1617.0
        }
    ));
    let summary = summarise(record);
    let rate = summary
        .figures
        .points()
        .next()
        .unwrap()
        .value(FigureId::Transactions)
        .unwrap();
    assert!((rate - 555.957_061).abs() < 1e-3, "{rate}");
    // Without -P the totals are spread as the sample is.
    let text_of = |line: &&str| !line.starts_with("progress:");
    let plain: String = text(names[0])
        .lines()
        .filter(text_of)
        .map(|line| format!("{line}\n"))
        .collect();
    let source = |name, text| SourceFile {
        name,
        text,
        tool: None,
    };
    let sources = [
        source("p.txt", plain.as_str()),
        source("log.0", text(names[1])),
        source("log.1", text(names[2])),
    ];
    let spread = import(&sources, &import_options()).unwrap().record;
    assert_eq!((total(&spread).committed, spread.seconds.len()), (1_617, 3));
    let totals = CountsSource::TotalsByLog;
    assert!(has_note(
        &spread,
        &ImportNote::CountsFrom { source: totals }
    ));
    let found = findings(&summary);
    assert!(
        found.contains(&(Severity::Note, "HistogramSample".into())),
        "{found:?}"
    );
    assert!(
        !found.iter().any(|(_, name)| name == "HistogramDisagrees"),
        "{found:?}"
    );
}

#[test]
fn a_missing_log_of_a_thread_is_a_finding() {
    // All transactions of clients 0 and 1, none of 2 and 3.
    let mut log = String::new();
    for n in 1..=25 {
        for client in [0, 1] {
            log.push_str(&format!(
                "{client} {n} 2000 0 1795449{} {n}000\n",
                240 + n / 8
            ));
        }
    }
    let output = text("pgbench_progress.txt");
    assert!(output.contains("number of clients: 4"), "{output}");
    let sources = [
        SourceFile {
            name: "p.txt",
            text: output,
            tool: None,
        },
        SourceFile {
            name: "pgbench_log.1",
            text: &log,
            tool: None,
        },
    ];
    let imported = import(&sources, &import_options()).unwrap();
    let record = &imported.record;
    let processed = reported(record, "", "number of transactions actually processed").value;
    assert_eq!(
        (
            total(record).committed as f64,
            record.windows[0].response.count()
        ),
        (processed, 50)
    );
    assert!(is_missing(&imported, "logs"));
    let notes = notes(fact(record, "import.unknown.logs"));
    let [ImportNote::LogsIncomplete { absent, .. }] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    assert_eq!(absent, &["2", "3"]);
    let found = findings(&summarise(record));
    assert!(
        found.contains(&(Severity::Warning, "HistogramDisagrees".into())),
        "{found:?}"
    );
}

#[test]
fn logs_of_another_run_are_refused() {
    let message = error(&[
        ("p.txt", text("pgbench_rate.txt")),
        ("log.1", text("pgbench_log.txt")),
    ]);
    assert!(
        message.contains("the logs belong to another run"),
        "{message}"
    );
}

#[test]
fn a_rate_makes_an_open_loop_whose_offered_rate_is_derived() {
    let paced = of(&[
        "pgbench_rate.txt",
        "pgbench_rate_log.0.txt",
        "pgbench_rate_log.1.txt",
    ]);
    let offered = paced.record.points[0].offered_per_second.unwrap();
    assert!((offered - 54.604_81).abs() < 0.001, "{offered}");
    assert!(has_note(&paced.record, &ImportNote::OfferedDerived));
    assert_eq!(
        little(&paced),
        RuleOutcome::NotEvaluated {
            because: Missing::NotForThisLoad
        }
    );
    let skipped = of(&["pgbench_limit.txt"]);
    let offered = skipped.record.points[0].offered_per_second.unwrap();
    let lasted = 3_704.0 / 1_231.188_559;
    assert!(
        (offered - (3_704.0 + 54_662.0) / lasted).abs() < 0.1,
        "{offered}"
    );
    assert_eq!(total(&skipped.record).dropped, 54_662);
}

#[test]
fn a_log_alone_is_a_closed_loop_only_where_its_columns_show_that() {
    let closed = of(&["pgbench_log.txt"]);
    assert_eq!(fact(&closed.record, "import.response_from"), "start");
    let paced = of(&[
        "pgbench_rate_tries_log.0.txt",
        "pgbench_rate_tries_log.1.txt",
    ]);
    assert_eq!(fact(&paced.record, "import.response_from"), "due");
    assert!(paced.record.points[0].offered_per_second.is_some());
    // Whether the seventh column is a lag or retries, nothing shows.
    let seven = of(&["pgbench_rate_log.0.txt"]);
    assert_eq!(fact(&seven.record, "import.response_from"), "unknown");
    assert_eq!(
        little(&seven),
        RuleOutcome::NotEvaluated {
            because: Missing::NoMethod
        }
    );
}

#[test]
fn retries_of_a_log_are_counted() {
    let record = of(&["pgbench_tries.txt", "pgbench_tries_log.txt"]).record;
    let counts = total(&record);
    assert_eq!(
        (counts.committed, counts.failed, counts.retries),
        (94, 6, 19)
    );
    assert_eq!(record.windows[0].response.count(), 94);
    let names = [
        "pgbench_rate_tries.txt",
        "pgbench_rate_tries_log.0.txt",
        "pgbench_rate_tries_log.1.txt",
    ];
    let record = of(&names).record;
    let counts = total(&record);
    assert_eq!((counts.committed, counts.retries), (80, 7));
    let window = &record.windows[0];
    let mean = window.response.mean().unwrap().as_millis_f64();
    assert!(
        (mean - reported(&record, "", "latency average").value).abs() < 0.001,
        "{mean}"
    );
    let lag = mean
        - window
            .service
            .as_ref()
            .unwrap()
            .mean()
            .unwrap()
            .as_millis_f64();
    assert!(
        (lag - reported(&record, "", "schedule lag average").value).abs() < 0.001,
        "{lag}"
    );
}

#[test]
fn what_a_script_of_several_did_is_reported_beside_its_name() {
    let record = of(&["pgbench_mix.txt"]).record;
    assert_eq!(
        reported(
            &record,
            "<builtin: select only>",
            "number of failed transactions"
        )
        .printed,
        "0"
    );
    assert_eq!(reported(&record, "", "duration").value, 3.0);
    assert_eq!(reported(&record, "", "number of threads").value, 2.0);
}

/// The same rate three times, and a higher one: what began is counted, and differs by chance.
#[test]
fn runs_of_one_rate_are_repeats() {
    let run = |n: u32, lag: &str| {
        let output = text("pgbench_rate.txt")
            .replace("duration: 3 s", "duration: 30 s")
            .replace("avg 0.291", lag);
        let parts = output.lines().filter(|line| !line.starts_with("progress"));
        let whole: String = parts.map(|line| format!("{line}\n")).collect();
        whole
            .replace("processed: 163", &format!("processed: {n}"))
            .replace(
                "tps = 54.604810",
                &format!("tps = {:.6}", f64::from(n) / 29.99),
            )
    };
    let record_of = |runs: &[String]| {
        let names: Vec<String> = (0..runs.len()).map(|i| format!("{i}.txt")).collect();
        let source = |(name, text)| SourceFile {
            name,
            text,
            tool: None,
        };
        let sources: Vec<SourceFile<'_>> = names
            .iter()
            .map(String::as_str)
            .zip(runs.iter().map(String::as_str))
            .map(source)
            .collect();
        import(&sources, &import_options()).unwrap().record
    };
    let runs = [
        run(1630, "avg 0.291"),
        run(1601, "avg 0.291"),
        run(2400, "avg 0.291"),
        run(1655, "avg 0.291"),
    ];
    let record = record_of(&runs);
    let places: Vec<_> = record
        .points
        .iter()
        .map(|point| (point.ordinal, point.repeat))
        .collect();
    assert_eq!(places, [(0, 0), (0, 1), (1, 0), (0, 2)]);
    let rate = record.points[0].offered_per_second.unwrap();
    assert!(
        (rate - (1630.0 + 1601.0 + 1655.0) / 3.0 / 29.99).abs() < 1e-6,
        "{rate}"
    );
    // Of two records, too.
    let side = |runs: &[String]| ComparedSide::of("x", &record_of(runs));
    assert_eq!(
        side(&runs[..1]).points[0].derived.unwrap().over_s.round(),
        30.0
    );
    let pairs = |first: &ComparedSide, second: &ComparedSide| {
        compare(&[first.clone(), second.clone()], &Ask::default()).others[0]
            .points
            .len()
    };
    assert_eq!(pairs(&side(&runs[..1]), &side(&runs[1..2])), 1);
    assert_eq!(pairs(&side(&runs[..1]), &side(&runs[2..3])), 0);
    // In an overload as much is done at any rate: the offered rate is unknown.
    let record = record_of(&[run(1630, "avg 9000.5"), run(1601, "avg 12000.5")]);
    let places: Vec<_> = record
        .points
        .iter()
        .map(|point| (point.ordinal, point.repeat))
        .collect();
    assert_eq!(places, [(1, 0), (0, 0)]);
    assert!(has_note(&record, &ImportNote::OfferedAtLeast));
}

#[test]
fn a_log_that_is_given_twice_and_logs_of_two_runs_are_refused() {
    let log = text("pgbench_log.txt");
    let message = error(&[("log.1", log), ("log.2", log)]);
    assert!(
        message.starts_with("cannot import log.1 and log.2\nBoth hold transactions of client 0"),
        "{message}"
    );
    let message = error(&[
        ("a", text("pgbench_rate_tries_log.0.txt")),
        ("b", text("pgbench_tries_log.txt")),
    ]);
    assert!(
        message.starts_with("cannot import a and b\nBoth hold"),
        "{message}"
    );
}

#[test]
fn a_run_in_which_all_fail_keeps_its_failures_and_one_that_ended_early_is_invalid() {
    let failing = text("pgbench_tries.txt")
        .replace("processed: 94/100", "processed: 0/100")
        .replace("transactions: 6 (6", "transactions: 100 (100")
        .replace("number of transactions per client: 25", "duration: 10 s")
        .replace("tps = 585.425399", "tps = 0.000000");
    let record = import(
        &[SourceFile {
            name: "p.txt",
            text: &failing,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap()
    .record;
    assert_eq!((total(&record).committed, total(&record).failed), (0, 100));
    assert_eq!(record.run.lasted.as_secs_f64(), 10.0);
    let client = "pgbench: error: client 2 script 0 aborted in command 4 query 0: ERROR:  deadlock detected\n";
    let whole = text("pgbench_tries.txt");
    for (before, after) in [
        (
            client,
            "pgbench: error: Run was aborted; the above results are incomplete.\n",
        ),
        ("", "Run was aborted; the above results are incomplete.\n"),
    ] {
        let text = format!("{before}{whole}{after}");
        let record = import(
            &[SourceFile {
                name: "p.txt",
                text: &text,
                tool: None,
            }],
            &import_options(),
        )
        .unwrap()
        .record;
        let check = &record.checks[0];
        assert!(
            !check.holds && check.point == Some(record.points[0].id),
            "{check:?}"
        );
        assert!(
            matches!(check.detail, CheckDetail::ResultsIncomplete { .. }),
            "{check:?}"
        );
        assert_eq!(total(&record).committed, 94);
    }
    let message = error(&[("p.txt", client)]);
    assert!(message.contains("unknown format"), "{message}");
}

/// A fact of one load does not apply to the others.
#[test]
fn facts_of_a_load_are_not_those_of_another() {
    let open = text("pgbench_rate.txt").replace("number of transactions skipped: 0 (0.000%)\n", "");
    let sources = [
        ("closed.txt", text("pgbench_l.txt")),
        ("open.txt", open.as_str()),
    ];
    let sources: Vec<SourceFile<'_>> = sources
        .iter()
        .map(|(name, text)| SourceFile {
            name,
            text,
            tool: None,
        })
        .collect();
    let imported = import(&sources, &import_options()).unwrap();
    let record = &imported.record;
    assert_eq!(fact(record, "import.response_from.point.1"), "start");
    assert_eq!(fact(record, "import.response_from.point.2"), "due");
    assert!(is_missing(&imported, "unserved.point.2") && is_missing(&imported, "distribution"));
    let outcomes = |record: &Record, rule: Rule| -> Vec<RuleOutcome> {
        let results = audit(record, &summarise(record).figures).verdicts;
        results
            .into_iter()
            .filter(|result| result.rule == rule)
            .map(|result| result.outcome)
            .collect()
    };
    let omission = outcomes(record, Rule::Omission);
    assert!(
        matches!(omission.as_slice(), [RuleOutcome::Passed { .. }]),
        "{omission:?}"
    );
    let little = |record: &Record| outcomes(record, Rule::Little);
    let mut unknown = record.clone();
    let own = unknown
        .facts
        .iter_mut()
        .find(|fact| fact.key == "import.response_from.point.1")
        .unwrap();
    own.value = "unknown".to_owned();
    let method = RuleOutcome::NotEvaluated {
        because: Missing::NoMethod,
    };
    assert!(
        !little(record).contains(&method) && little(&unknown).contains(&method),
        "{:?}",
        little(&unknown)
    );
}
