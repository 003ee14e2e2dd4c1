//! What the audit says about outputs of other tools: all that they print, nothing that they do not have.

use std::path::{Path, PathBuf};

use crate::common::Place;
use plimsoll_analysis::audit::{Evidence, Rule, RuleOutcome, RuleVerdict};
use plimsoll_analysis::summary::{Finding, Verdict};
use plimsoll_analysis::{Summary, summarise};
use plimsoll_import::{ImportOptions, SourceFile, detect, import};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{RunInfo, RunStatus, Severity};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../plimsoll-import/src/{name}"))
}

fn published(name: &str) -> String {
    folder("published").join(name).display().to_string()
}

fn summary(name: &str, text: &str) -> Summary {
    let source = SourceFile {
        name,
        text,
        tool: None,
    };
    let run = RunInfo {
        id: "run".into(),
        title: name.into(),
        plimsoll_version: "0".into(),
        plimsoll_commit: "0".into(),
        command: String::new(),
        seed: 0,
        started_at: String::new(),
        lasted: Nanos::ZERO,
        status: RunStatus::Complete,
        failure: None,
    };
    let options = ImportOptions {
        run,
        step: None,
        started: None,
        users: None,
        medium: None,
    };
    let imported = import(&[source], &options).unwrap_or_else(|error| panic!("{error}"));
    summarise(&imported.record)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(published(name)).unwrap()
}

/// Every output of a load that can be read by itself.
fn outputs() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for folder in ["recorded", "documented", "published"].map(folder) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let tool = detect(&name, &text);
            let is_load = tool.is_some_and(|tool| {
                !["fio-log", "pgbench-log", "iostat", "vmstat", "mpstat"].contains(&tool.name())
            });
            let is_refused = ["fio_normal.txt", "fio_terse.txt"].contains(&name.as_str());
            if is_load && !is_refused {
                all.push((name, text));
            }
        }
    }
    assert!(all.len() > 40, "{}", all.len());
    all
}

fn evidence(verdict: &RuleVerdict) -> &[Evidence] {
    match &verdict.outcome {
        RuleOutcome::Passed { evidence } | RuleOutcome::Fired { evidence, .. } => evidence,
        RuleOutcome::NotEvaluated { .. } => &[],
    }
}

/// What no output has: how blocks were filled, what the machine and the generator did, which settings held.
fn is_in_no_output(evidence: &Evidence) -> bool {
    use Evidence as E;
    const SHARED: [&str; 5] = [
        "generator_busy",
        "steal",
        "calibration",
        "other_io",
        "checkpoints",
    ];
    let is_shared = evidence
        .shared_name()
        .is_some_and(|name| SHARED.contains(&name));
    is_shared
        || matches!(
            evidence,
            E::Filled { .. }
                | E::Conserved { .. }
                | E::GeneratorAt { .. }
                | E::ScheduleLag { .. }
                | E::Governor { .. }
                | E::FlushTime { .. }
                | E::Compressible { .. }
                | E::KeptUp { .. }
                | E::Written { .. }
                | E::DataAndMemory { .. }
                | E::Safe { .. }
                | E::Unsafe { .. }
                | E::Conditions { .. }
        )
}

#[test]
fn no_rule_states_what_an_output_does_not_have() {
    for (name, text) in outputs() {
        let summary = summary(&name, &text);
        for verdict in &summary.audit.verdicts {
            let unknown = evidence(verdict).iter().find(|own| is_in_no_output(own));
            assert!(
                unknown.is_none(),
                "{name}, {}: {unknown:?}",
                verdict.rule.code()
            );
        }
        let sides = summary
            .figures
            .points()
            .filter(|point| point.key.load.offered_per_second.is_none());
        let has_closed = sides.count() > 0;
        let states_drops = summary.audit.verdicts.iter().any(|verdict| {
            evidence(verdict)
                .iter()
                .any(|own| matches!(own, Evidence::Dropped { dropped: 0, .. }))
        });
        assert!(
            !(has_closed && states_drops),
            "{name}: nobody counts drops of a closed loop"
        );
    }
}

/// The worst of findings, by a way of its own.
fn worst(findings: impl Iterator<Item = Severity>) -> Verdict {
    match findings.max() {
        Some(Severity::Error) => Verdict::Invalid,
        Some(Severity::Warning) => Verdict::Doubtful,
        Some(Severity::Note) | None => Verdict::Valid,
    }
}

#[test]
fn the_audit_knows_every_finding() {
    for (name, text) in outputs() {
        let summary = summary(&name, &text);
        let of_points = summary.figures.all_findings().map(|(_, finding)| finding);
        let of_blocks = summary
            .figures
            .block_findings()
            .map(|(_, _, finding)| finding);
        let all = of_points
            .chain(of_blocks)
            .map(|finding: &Finding| finding.severity);
        assert!(summary.audit.verdict() >= worst(all), "{name}");
        assert_eq!(summary.verdict, summary.audit.verdict(), "{name}");
        let rates = summary.figures.points().map(|point| point.verdict);
        assert!(summary.verdict >= rates.max().unwrap_or_default(), "{name}");
    }
}

fn fired(summary: &Summary) -> Vec<(&'static str, Severity)> {
    let verdicts = summary.audit.verdicts.iter();
    let fired = verdicts.filter_map(|own| Some((own.rule.code(), own.outcome.severity()?)));
    fired.collect()
}

fn outcome(summary: &Summary, rule: Rule) -> RuleOutcome {
    let mut verdicts = summary.audit.verdicts.iter();
    let own = verdicts.find(|verdict| verdict.rule == rule);
    own.unwrap().outcome.clone()
}

#[test]
fn figures_that_a_tool_printed_are_compared() {
    let gone = summary("a.txt", &text("pgbench_client_gone.txt"));
    let RuleOutcome::Fired {
        evidence, severity, ..
    } = outcome(&gone, Rule::Little)
    else {
        panic!("{:?}", outcome(&gone, Rule::Little))
    };
    assert_eq!(severity, Severity::Error);
    let [Evidence::InFlight { found, asked, .. }] = evidence.as_slice() else {
        panic!("{evidence:?}")
    };
    assert!((found - 3.33).abs() < 0.01 && *asked == 4.0, "{evidence:?}");
    // Without a deviation pgbench has computed the mean from rate and clients: it agrees in any case.
    let computed = text("pgbench_client_gone.txt").replace("latency stddev = 0.100 ms\n", "");
    let computed = summary("a.txt", &computed);
    assert!(matches!(
        outcome(&computed, Rule::Little),
        RuleOutcome::NotEvaluated { .. }
    ));

    let impossible =
        text("fio_long_name.json").replacen("\"mean\": 46871.544441", "\"mean\": 9046871.5", 1);
    let impossible = impossible.replacen("\"mean\": 46715.533653", "\"mean\": 9046715.5", 1);
    let fired_rules = fired(&summary("a.json", &impossible));
    assert!(
        fired_rules.contains(&("PLAUSIBLE", Severity::Error)),
        "{fired_rules:?}"
    );
    let sound = summary("a.json", &text("fio_long_name.json"));
    assert!(matches!(
        outcome(&sound, Rule::Plausible),
        RuleOutcome::Passed { .. }
    ));
    assert!(matches!(
        outcome(&sound, Rule::Little),
        RuleOutcome::Passed { .. }
    ));

    let profile = summary("a.log", &text("hammerdb_without_tabs.log"));
    assert!(matches!(
        outcome(&profile, Rule::Plausible),
        RuleOutcome::Passed { .. }
    ));
    let hammerdb = std::fs::read_to_string(folder("documented").join("hammerdb.txt")).unwrap();
    let ratio = outcome(&summary("a.txt", &hammerdb), Rule::Ratio);
    assert!(
        !matches!(ratio, RuleOutcome::NotEvaluated { .. }),
        "{ratio:?}"
    );
}

/// Of one import: code of a strict audit, and what it and the report print.
struct Audited {
    code: Option<i32>,
    audit: String,
    text: String,
    verdict: String,
}

fn audited(place: &Place, name: &str, text: &str) -> Audited {
    place.write(name, text);
    let run = format!("{name}.plimsoll");
    place.run(&["import", name, "-o", &run]).succeeded();
    let audit = place.run(&["audit", &run, "--strict"]);
    let export = |to: &str| place.run(&["export", &run, "--to", to]).succeeded().stdout;
    let json: serde_json::Value = serde_json::from_str(&export("json")).unwrap();
    Audited {
        code: audit.code,
        audit: audit.stdout,
        text: export("text"),
        verdict: json["summary"]["verdict"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn all_views_have_one_verdict() {
    let place = Place::new();
    let failed = audited(&place, "failed", &text("pgbench_failed.txt"));
    assert_eq!((failed.code, failed.verdict.as_str()), (Some(3), "invalid"));
    assert!(
        failed.audit.contains("error: FINDING") && failed.audit.contains("83.7 %"),
        "{}",
        failed.audit
    );
    let gone = audited(&place, "gone", &text("pgbench_client_gone.txt"));
    assert_eq!((gone.code, gone.verdict.as_str()), (Some(3), "invalid"));
    assert!(
        gone.text.contains("No answer") && gone.text.contains("rule LITTLE"),
        "{}",
        gone.text
    );
    let points = place.run(&[
        "export",
        "gone.plimsoll",
        "--to",
        "csv",
        "--table",
        "ladder",
    ]);
    assert!(points.succeeded().stdout.contains("invalid"));
    // A comparison with it has no ratio, and the gate does not pass.
    audited(&place, "sound", &text("pgbench_p10.txt"));
    let compared = place.run(&["compare", "sound.plimsoll", "gone.plimsoll"]);
    assert!(compared.stdout.contains("invalid"), "{}", compared.stdout);
    let sound = ["--baseline", "sound.plimsoll", "--max-regression", "5"];
    let gate = place.run(&[&["gate", "gone.plimsoll"][..], &sound].concat());
    assert_eq!(gate.code, Some(4), "{}", gate.stdout);
    let profile = audited(&place, "profile", &text("hammerdb_without_tabs.log"));
    assert_eq!(
        (profile.code, profile.verdict.as_str()),
        (Some(0), "doubtful")
    );
    assert!(
        !profile.audit.contains("no issues found"),
        "{}",
        profile.audit
    );
    place.expect_clean();
}

#[test]
fn sentences_about_imports_are_true() {
    let place = Place::new();
    let long = audited(&place, "p10", &text("pgbench_p10.txt"));
    assert!(
        long.audit.contains("30.0 s in 3 intervals"),
        "{}",
        long.audit
    );
    for (name, own) in [("p10", &long)] {
        for wrong in [
            "five seconds are needed",
            "p99 of  ms",
            "Nothing was dropped",
        ] {
            let both = format!("{}{}", own.audit, own.text);
            assert!(!both.contains(wrong), "{name}: {wrong}\n{both}");
        }
    }
    let plain = audited(&place, "plain", &text("fio_plain.json"));
    assert!(
        plain.text.contains("227,000 IOPS") && plain.text.contains("929 MB/s"),
        "{}",
        plain.text
    );
    for wrong in ["No answer", "written 0 times", "ms p99"] {
        assert!(
            !plain.text.contains(wrong) && !plain.audit.contains(wrong),
            "{wrong}"
        );
    }
    let client = text("pgbench_p10.txt").replacen(
        "transaction type",
        "pgbench: error: client 0 aborted in command 3 (SQL) of script 0\ntransaction type",
        1,
    );
    let aborted = audited(&place, "aborted", &client);
    assert_eq!(aborted.code, Some(3));
    assert!(
        !aborted.audit.contains("Keep the database"),
        "{}",
        aborted.audit
    );
    assert!(
        aborted.audit.contains("why the tool reports errors"),
        "{}",
        aborted.audit
    );
    let stopped = text("pgbench_p10.txt").replacen("duration: 30 s", "duration: 300 s", 1);
    let stopped = audited(&place, "stopped", &stopped);
    assert!(
        stopped.audit.contains("ended early, after 30.0 s"),
        "{}",
        stopped.audit
    );
    place.expect_clean();
}

#[test]
fn the_page_cache_and_reads_that_no_device_saw_are_named() {
    let direct = text("fio_long_name.json");
    let buffered = direct.replacen("\"direct\": \"1\"", "\"direct\": \"0\"", 1);
    let own = fired(&summary("a.json", &buffered));
    assert!(own.contains(&("CACHED", Severity::Warning)), "{own:?}");
    let own = fired(&summary("a.json", &direct));
    assert!(
        !own.iter()
            .any(|(code, _)| ["CACHED", "THIN"].contains(code)),
        "{own:?}"
    );
    // A mean read of 2.4 µs, and a disk that saw a hundredth of all reads.
    let fast = direct
        .replace("46871.544441", "2471.5")
        .replace("46715.533653", "2415.5");
    let own = fired(&summary("a.json", &fast));
    assert!(own.contains(&("THIN", Severity::Warning)), "{own:?}");
    let random = direct.replacen("\"rw\": \"readwrite\"", "\"rw\": \"randrw\"", 1);
    let disk = |reads: u64| {
        let end = random.trim_end().strip_suffix('}').unwrap().trim_end();
        let disks = format!(
            "\"disk_util\": [{{\"name\": \"sda\", \"read_ios\": {reads}, \"read_merges\": 0}}]"
        );
        fired(&summary("a.json", &format!("{end},\n {disks}\n}}\n")))
    };
    assert!(
        disk(1_000).contains(&("THIN", Severity::Warning)),
        "{:?}",
        disk(1_000)
    );
    assert!(
        !disk(100_000).iter().any(|(code, _)| *code == "THIN"),
        "{:?}",
        disk(100_000)
    );
}
