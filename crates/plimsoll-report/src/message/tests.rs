use std::collections::BTreeSet;
use std::path::Path;

use super::*;

const CATALOGUE: &str = include_str!("../../locales/en/report.ftl");

fn catalogue() -> BTreeSet<String> {
    let id = |line: &str| {
        let (id, _) = line.split_once(" =")?;
        let first = id.chars().next()?;
        (first.is_ascii_lowercase() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
            .then(|| id.to_owned())
    };
    CATALOGUE.lines().filter_map(id).collect()
}

/// Every string literal in sources, templates and scripts that could be an id.
fn mentioned() -> BTreeSet<String> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeSet::new();
    for dir in [
        "src",
        "templates",
        "../../web/src",
        "../plimsoll/src/commands",
    ] {
        literals(&crate_dir.join(dir), &mut found);
    }
    found
}

fn literals(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            literals(&path, found);
        } else if path
            .extension()
            .is_some_and(|ext| ["rs", "html", "ts"].iter().any(|own| ext == *own))
        {
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(text.split('"').map(str::to_owned));
        }
    }
}

/// Ids that are put together: a prefix and the names of a closed set.
const FAMILIES: &[(&str, &[&str])] = &[
    ("backup-kind-", &["backup", "restore"]),
    (
        "backup-outcome-",
        &["complete", "cancelled", "failed", "differs"],
    ),
    (
        "chart-title-",
        &["shared-rate", "shared-iops", "shared-mb", "shared-ms"],
    ),
    (
        "steady-",
        &["too-short", "not-meant", "too-few", "yes", "no"],
    ),
    ("outcome-", &["met", "mixed", "failed"]),
    ("wait-", &WAIT_STATES),
    ("wait-does-", &WAIT_STATES),
    ("severity-", &["note", "warning", "error"]),
    ("verdict-", &["sound", "doubtful", "invalid"]),
    ("trust-", &["sound", "doubtful", "invalid"]),
    (
        "status-",
        &["unfinished", "complete", "interrupted", "failed"],
    ),
    ("level-", &["ok", "unknown", "warning", "error"]),
    ("op-", &["read", "write", "flush", "trim"]),
    (
        "subject-",
        &[
            "host",
            "device",
            "medium",
            "emulator",
            "system",
            "generator",
            "backup",
        ],
    ),
    ("drive-kept-up-", &["yes", "no", "unknown"]),
    ("block-", &["direct", "cached"]),
    ("data-", &["fresh", "reused"]),
    (
        "state-",
        &["intact", "changed", "no-digest", "open", "older"],
    ),
    ("versus-unit-", &["nopm", "transactions", "iops"]),
    ("versus-scene-", &["alone", "quiet", "noisy"]),
    (
        "versus-effect-",
        &["more", "less", "not-shown", "too-small", "not-judged"],
    ),
    ("versus-group-", &VERSUS_GROUPS),
    ("versus-gate-", &VERSUS_GATE),
    (
        "fault-",
        &["plan-unreadable", "unknown", "not-a-number", "out-of-range"],
    ),
];

const VERSUS_GROUPS: [&str; 12] = [
    "hosts",
    "cpus",
    "kernel",
    "drives",
    "software",
    "settings",
    "workload",
    "sizes",
    "load",
    "generator-place",
    "loaded-systems",
    "incidental",
];

const VERSUS_GATE: [&str; 6] = [
    "passed",
    "inconclusive",
    "regression",
    "is-passed",
    "is-inconclusive",
    "is-regression",
];

const WAIT_STATES: [&str; 9] = [
    "cpu",
    "data-read",
    "data-write",
    "log",
    "lock",
    "latch",
    "client",
    "idle",
    "other",
];

/// What the ids of headings begin with. That they are in the catalogue is asserted where a table is rendered.
const HEADINGS: [&str; 16] = [
    "text-",
    "column-",
    "backup-column-",
    "effect-column-",
    "fleet-",
    "list-",
    "reported-",
    "scaling-",
    "versus-column-",
    "drives-",
    "figures-",
    "parameters-",
    "simulated-",
    "datasheet-",
    "profiles-",
    "streams-",
];

fn is_heading(id: &str, mentioned: &BTreeSet<String>) -> bool {
    let mut columns = HEADINGS.iter().filter_map(|prefix| id.strip_prefix(prefix));
    columns.any(|column| mentioned.contains(column))
}

fn composed() -> BTreeSet<String> {
    let families = FAMILIES
        .iter()
        .flat_map(|(prefix, names)| names.iter().map(move |name| format!("{prefix}{name}")));
    let findings = FINDINGS
        .iter()
        .map(|name| format!("finding-{}", name.replace('_', "-")));
    families
        .chain(findings)
        .chain(of_audit())
        .chain(
            crate::html::CHART_TITLES
                .iter()
                .map(|name| format!("chart-title-{name}")),
        )
        .collect()
}

/// Ids of audits: their closed sets as the model declares them.
fn of_audit() -> Vec<String> {
    const DECLARED: &str = include_str!("../../../plimsoll-analysis/src/audit/evidence.rs");
    let mut ids: Vec<String> = Rule::ALL
        .iter()
        .map(|rule| format!("rule-{}", rule.code().to_lowercase()))
        .collect();
    let mut prefix = "";
    for line in DECLARED.lines() {
        prefix = match line {
            "pub enum Evidence {" => "evidence",
            "pub enum Missing {" => "missing",
            "pub enum Next {" => "next",
            _ => prefix,
        };
        let name: String = line
            .strip_prefix("    ")
            .unwrap_or_default()
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        // Found and MissingInput have the text of what they hold.
        if name.starts_with(|c: char| c.is_ascii_uppercase())
            && !["Found", "MissingInput"].contains(&name.as_str())
        {
            let kebab = |c: char| {
                if c.is_ascii_uppercase() {
                    format!("-{}", c.to_ascii_lowercase())
                } else {
                    c.to_string()
                }
            };
            ids.push(format!(
                "{prefix}{}",
                name.chars().map(kebab).collect::<String>()
            ));
        }
    }
    assert!(ids.len() > 100, "{ids:?}");
    ids
}

/// Names of all findings; the match makes a new one fail to compile until it is here.
const FINDINGS: [&str; 43] = [
    "run_ended",
    "nothing_measured",
    "nothing_completed",
    "phase_incomplete",
    "coarse_window",
    "seconds_missing",
    "short_window",
    "counts_broken",
    "not_drained",
    "histogram_disagrees",
    "histogram_sample",
    "clipped",
    "unsteady",
    "backlog_grew",
    "server_away",
    "not_served",
    "condition_fails",
    "not_verified",
    "emulated",
    "emulation_waited",
    "drive_errors",
    "emulation_untold",
    "emulation_too_few",
    "committed_lost",
    "not_recovered",
    "cut_unjudged",
    "commits_disagree",
    "rate_not_reached",
    "in_flight_off",
    "workers_apart",
    "workers_disagree",
    "steady_not_reached",
    "never_written",
    "backup_failed",
    "restore_differs",
    "backup_cancelled",
    "rate_disagrees",
    "rate_not_judged",
    "effect_unpaired",
    "imported",
    "whole_only",
    "only_reported",
    "event",
];

#[test]
fn every_id_in_the_catalogue_is_used() {
    let mentioned = mentioned();
    let used: BTreeSet<String> = mentioned.union(&composed()).cloned().collect();
    let mut unused: Vec<String> = catalogue().difference(&used).cloned().collect();
    unused.retain(|id| !is_heading(id, &mentioned));
    assert_eq!(unused, Vec::<String>::new());
}

#[test]
fn every_id_used_is_in_the_catalogue() {
    let catalogue = catalogue();
    let missing: Vec<String> = composed().difference(&catalogue).cloned().collect();
    assert_eq!(missing, Vec::<String>::new());
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let calls = ["text(\"", "text_with(\"", "label(\""];
    for dir in ["src", "templates", "../../web/src"] {
        for (path, text) in sources(&crate_dir.join(dir)) {
            for call in calls {
                for after in text.split(call).skip(1) {
                    let id = after.split('"').next().unwrap_or_default();
                    let plain = id
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
                    assert!(
                        !plain || id.is_empty() || catalogue.contains(id),
                        "{path}: {id}"
                    );
                    assert!(
                        call != "label(\"" || CHART_IDS.contains(&id),
                        "{path}: {id} is not handed to scripts"
                    );
                }
            }
        }
    }
    assert!(CHART_IDS.iter().all(|id| catalogue.contains(*id)));
}

fn sources(dir: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else if !path.ends_with("message/tests.rs") {
            all.push((
                path.display().to_string(),
                std::fs::read_to_string(&path).unwrap_or_default(),
            ));
        }
    }
    all
}

#[test]
fn no_argument_is_left_open() {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;
    let m = Messages::english();
    for record in [
        fixture::record(),
        fixture::nothing_measured(),
        fixture::single_point(),
        fixture::search(),
        fixture::block(),
        fixture::backup(),
    ] {
        let summary = summarise(&record);
        let block = summary.block_findings().map(|(_, _, finding)| finding);
        let backups = summary
            .backups
            .iter()
            .flat_map(|own| own.all_findings())
            .map(|(_, finding)| finding);
        for finding in summary
            .all_findings()
            .map(|(_, finding)| finding)
            .chain(block)
            .chain(backups)
        {
            let text = m.finding(finding);
            assert!(
                !text.contains(['{', '}', '$', '\u{2068}']) && !text.starts_with("finding-"),
                "{text}"
            );
        }
    }
}

/// Those of emulated drives and power cuts, with every figure they hold.
#[test]
fn findings_of_emulated_drives() {
    use plimsoll_analysis::summary::FindingKind;
    use plimsoll_record::Severity;
    use plimsoll_record::drive::DriveOp;
    let drive = || "Example 1 TB".to_owned();
    let kinds = [
        FindingKind::DriveErrors {
            drive: drive(),
            op: DriveOp::Flush,
            errors: 1234,
        },
        FindingKind::EmulationWaited {
            drive: drive(),
            seen_ms: 611.5,
            told_ms: 203.25,
            added_percent: 61.5,
        },
        FindingKind::EmulationUnreported {
            drive: drive(),
            missing_s: 2.5,
            measured_s: 31.0,
        },
        FindingKind::EmulationTooFew {
            drive: drive(),
            ops: 217,
            fewest: 300,
        },
        FindingKind::CutNotEvaluated,
        FindingKind::NotRecovered,
    ];
    let m = Messages::english();
    let texts = kinds.map(|kind| {
        m.finding(&Finding {
            severity: Severity::Error,
            kind,
        })
    });
    insta::assert_snapshot!(texts.join("\n"), @r#"
    EMULATED: Example 1 TB failed 1,234 flush operations although it had power. Check the events; a full backing store needs a smaller data set, more memory or backing = "file".
    EMULATED: requests on Example 1 TB queued in the kernel. In a second they were in flight for 612 ms together by the kernel's count, and for 203 ms by the emulator's; that adds 61.5 % to their modelled time (doubtful from 25 %, invalid from 200 %). Use fewer users, or a machine with more idle cores.
    EMULATED not evaluated: the emulator of Example 1 TB reported nothing for 2.5 of 31.0 s. Do not take these figures for that drive's.
    EMULATED not evaluated: Example 1 TB received 217 operations, fewer than 300 of each kind.
    DURABILITY not evaluated: no acknowledged transaction could be checked after the power cut.
    DURABILITY: the database did not recover after the power cut. The events have the reason.
    "#);
}
