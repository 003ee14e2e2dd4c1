//! Outputs in the forms in which people post them.

use super::{import_options, of, text};
use crate::{ImportError, Imported, SourceFile, import};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_record::lane::Counts;

fn printed(imported: &Imported, txn: &str, name: &str) -> (String, String) {
    let mut all = imported.record.reported.iter();
    let found = all.find(|own| own.txn == txn && own.name == name && own.over.is_none());
    let found = found.unwrap_or_else(|| panic!("no {name}: {:#?}", imported.record.reported));
    (found.printed.clone(), found.unit.clone())
}

fn fact<'a>(imported: &'a Imported, key: &str) -> Option<&'a str> {
    let mut facts = imported.record.facts.iter();
    facts
        .find(|fact| fact.key == key)
        .map(|fact| fact.value.as_str())
}

fn total(imported: &Imported) -> Counts {
    let mut sum = Counts::default();
    imported
        .record
        .seconds
        .iter()
        .for_each(|second| sum.add(&second.counts));
    sum
}

#[test]
fn a_profile_of_hammerdb_needs_no_tabs() {
    let imported = of(&["hammerdb_without_tabs.log"]);
    for (name, value, unit) in [
        ("CALLS", "322104", ""),
        ("MIN", "2.269", "ms"),
        ("AVG", "9.236", "ms"),
        ("MAX", "36.366", "ms"),
        ("TOTAL", "2975206.250", "ms"),
        ("P99", "14.197", "ms"),
        ("P95", "12.399", "ms"),
        ("P50", "9.087", "ms"),
        ("SD", "1808.882", ""),
        ("RATIO", "41.115", "%"),
    ] {
        let expected = (value.to_owned(), unit.to_owned());
        assert_eq!(printed(&imported, "NEWORD", name), expected, "{name}");
    }
    assert_eq!(imported.record.reported.len(), 10);
    assert_eq!(imported.record.points[0].users, 8);
}

#[test]
fn the_version_of_the_server_is_a_fact() {
    let version = |name: &str| fact(&of(&[name]), "version").map(str::to_owned);
    assert_eq!(
        version("pgbench_server_13.txt").as_deref(),
        Some("PostgreSQL 13.22")
    );
    // pgbench prints one version where both are the same.
    assert_eq!(
        version("pgbench_server_17.txt").as_deref(),
        Some("PostgreSQL 17.5")
    );
    assert_eq!(
        version("pgbench_failed.txt").as_deref(),
        Some("PostgreSQL 18.6")
    );
    assert_eq!(
        fact(&of(&["pgbench_server_13.txt"]), "import.version"),
        Some("17.5")
    );
    let both =
        text("pgbench_failed.txt").replacen("13+2))", "13+2), server 16.2 (Debian 16.2-1))", 1);
    let imported = import_texts(&[("a.txt", &both)]).unwrap();
    assert_eq!(fact(&imported, "version"), Some("PostgreSQL 16.2"));
}

fn import_texts(files: &[(&str, &str)]) -> Result<Imported, ImportError> {
    let sources: Vec<SourceFile<'_>> = files
        .iter()
        .map(|(name, text)| SourceFile {
            name,
            text,
            tool: None,
        })
        .collect();
    import(&sources, &import_options())
}

/// A text in its lines that begin with the mark or not.
fn split(text: &str, mark: &str) -> [String; 2] {
    let (with, without): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with(mark));
    [with.join("\n"), without.join("\n")]
}

#[test]
fn standard_error_of_pgbench_may_be_a_file_of_its_own() {
    let whole = text("pgbench_progress.txt");
    let [progress, report] = split(whole, "progress: ");
    let expected = import_texts(&[("a.txt", whole)]).unwrap();
    for files in [
        [("err.txt", progress.as_str()), ("out.txt", report.as_str())],
        [("out.txt", report.as_str()), ("err.txt", progress.as_str())],
    ] {
        let imported = import_texts(&files).unwrap();
        assert_eq!(imported.record.seconds, expected.record.seconds);
        assert_eq!(imported.record.points.len(), 1);
        assert_eq!(imported.taken.len(), 2);
        assert_eq!(fact(&imported, "import.file"), Some("out.txt; err.txt"));
    }
    let alone = import_texts(&[("err.txt", &progress)])
        .unwrap_err()
        .to_string();
    assert!(alone.contains("only the progress of pgbench"), "{alone}");
    let two = [
        ("err.txt", progress.as_str()),
        ("a", &report),
        ("b", text("pgbench_p10.txt")),
    ];
    assert!(import_texts(&two).is_err(), "it is of one of them");
    // A fault is in the file and line where it stands.
    let broken = report.replacen("number of clients: ", "number of clients: x", 1);
    let line = broken
        .lines()
        .position(|line| line.contains(": x"))
        .unwrap()
        + 1;
    let error = import_texts(&[("err.txt", &progress), ("out.txt", &broken)]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains(&format!("out.txt, line {line}\n")),
        "{error}"
    );
}

#[test]
fn a_name_that_fio_cuts_is_no_mixture() {
    let imported = of(&["fio_long_name.json"]);
    let point = &imported.record.points[0];
    assert_eq!((point.users, point.workload.len()), (1, 127));
    assert_eq!(imported.record.blocks[0].job, "x".repeat(127));
    assert_eq!(fact(&imported, "import.unknown.group"), None);
    let other = text("fio_long_name.json").replacen("\"name\": \"xxxx", "\"name\": \"yxxx", 1);
    let imported = import_texts(&[("a.json", &other)]).unwrap();
    assert!(
        fact(&imported, "import.unknown.group").is_some(),
        "it is another name"
    );
}

#[test]
fn sysbench_0_4_and_0_5_have_response_times_and_rates() {
    let old = of(&["sysbench_0_4.txt"]);
    assert_eq!(fact(&old, "import.version"), Some("0.4.12"));
    let figure = |own: &Imported, name: &str| printed(own, "", name);
    let ms = |value: &str| (value.to_owned(), "ms".to_owned());
    assert_eq!(figure(&old, "latency min"), ms("4.05"));
    assert_eq!(figure(&old, "latency avg"), ms("84.55"));
    assert_eq!(figure(&old, "latency max"), ms("311.89"));
    assert_eq!(figure(&old, "latency 95th percentile"), ms("224.40"));
    assert_eq!(
        figure(&old, "read/write requests"),
        ("13528".into(), String::new())
    );
    assert_eq!(
        (total(&old).committed, old.record.points[0].users),
        (712, 1)
    );

    let newer = of(&["sysbench_0_5.txt"]);
    assert_eq!(fact(&newer, "import.version"), Some("0.5"));
    assert_eq!(figure(&newer, "latency avg"), ms("9.22"));
    assert_eq!(figure(&newer, "latency 95th percentile"), ms("16.08"));
    assert_eq!(
        (total(&newer).committed, newer.record.points[0].users),
        (354_087, 64)
    );
    let first = &newer.record.seconds.unpack()[0];
    assert_eq!(
        (first.counts.committed, first.end.as_secs_f64()),
        (12_270, 2.0)
    );
    let mut parts = newer
        .record
        .reported
        .iter()
        .filter(|own| own.over.is_some());
    let part = parts.next().unwrap();
    assert_eq!(
        (part.name.as_str(), part.printed.as_str()),
        ("latency 95%", "18.24")
    );
}

fn is_complete(imported: &Imported) -> bool {
    let mut phases = imported.record.phases.iter();
    phases.all(|phase| phase.kind != PhaseKind::Measure || phase.complete)
}

#[test]
fn a_run_that_was_stopped_ended_early() {
    assert!(is_complete(&of(&["fio_long_name.json"])));
    let asked =
        text("fio_long_name.json").replacen("\"runtime\": \"10\"", "\"runtime\": \"5m\"", 1);
    assert!(!is_complete(&import_texts(&[("a.json", &asked)]).unwrap()));
    // Without `time_based` a job ends with its size.
    let sized = asked.replacen("\"time_based\": \"\",", "", 1);
    assert!(is_complete(&import_texts(&[("a.json", &sized)]).unwrap()));
    let stopped = format!("\nfio: terminating on signal 2\n{sized}");
    assert!(!is_complete(
        &import_texts(&[("a.json", &stopped)]).unwrap()
    ));

    assert!(is_complete(&of(&["pgbench_p10.txt"])));
    let asked = text("pgbench_p10.txt").replacen("duration: 30 s", "duration: 300 s", 1);
    assert!(!is_complete(&import_texts(&[("a.txt", &asked)]).unwrap()));
}

#[test]
fn advice_fits_what_is_wrong() {
    let advice = |name: &str, text: &str| {
        let error = import_texts(&[(name, text)]).unwrap_err().to_string();
        error.lines().last().unwrap().to_owned()
    };
    let terse = advice("a.txt", text("fio_terse.txt"));
    assert_eq!(terse, "Run fio with --output-format=json+ --output=FILE.");
    let json = text("fio_plain.json");
    let cut = advice("a.json", &json[..json.len() / 2]);
    assert_eq!(cut, "Give the complete output as the tool printed it.");
    let other = text("sysbench_0_4.txt").replacen("712    (", "many    (", 1);
    assert!(advice("a.txt", &other).ends_with("import does not know this version of the tool."));
}
