use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;

mod details;
mod families;

use families::FAMILIES;

const CATALOG: &str = concat!(
    include_str!("../../locales/en/check.ftl"),
    "\n",
    include_str!("../../locales/en/outcome.ftl"),
    "\n",
    include_str!("../../locales/en/report.ftl"),
    "\n",
    include_str!("../../locales/en/finding.ftl"),
    "\n",
    include_str!("../../locales/en/audit.ftl"),
    "\n",
    include_str!("../../locales/en/doctor.ftl"),
    "\n",
    include_str!("../../locales/en/event.ftl"),
    "\n",
    include_str!("../../locales/en/import.ftl")
);

/// The messages by id, each with its attributes.
fn messages() -> BTreeMap<String, String> {
    let mut messages: BTreeMap<String, String> = BTreeMap::new();
    let mut id = String::new();
    for line in CATALOG.lines() {
        if let Some((name, _)) = line.split_once(" =").filter(|(name, _)| is_id(name)) {
            id = name.to_owned();
        }
        messages.entry(id.clone()).or_default().push_str(line);
    }
    messages.remove("");
    messages
}

fn is_id(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn catalog() -> BTreeSet<String> {
    messages().into_keys().collect()
}

/// Messages that others contain.
fn contained() -> BTreeSet<String> {
    let names = CATALOG
        .split("{ ")
        .filter_map(|text| text.split(" }").next());
    names
        .filter(|name| is_id(name))
        .map(str::to_owned)
        .collect()
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

/// What the ids of headings of the commands' tables begin with.
const HEADINGS: [&str; 15] = [
    "answered-",
    "conditions-",
    "drives-",
    "figures-",
    "losses-",
    "members-",
    "parameters-",
    "predicted-",
    "replayed-",
    "simulated-",
    "verified-",
    "datasheet-",
    "profiles-",
    "streams-",
    "plans-",
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
        .chain(coded().map(|(id, ..)| id))
        .chain(contained())
        .chain(of_audit())
        .collect()
}

/// A variant of an enum as its source declares it.
struct Variant {
    /// As ids have it.
    code: String,
    fields: Vec<String>,
}

/// The variants of an enum whose source rustfmt formatted.
fn variants(source: &str, name: &str) -> Vec<Variant> {
    let mut lines = source.lines();
    lines.find(|line| *line == format!("pub enum {name} {{"));
    let mut variants: Vec<Variant> = Vec::new();
    for line in lines.take_while(|line| *line != "}") {
        let indent = line.len() - line.trim_start().len();
        let name: String = line
            .trim_start()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let is_upper = name.starts_with(|c: char| c.is_ascii_uppercase());
        match variants.last_mut() {
            _ if indent == 4 && is_upper => {
                // Those on one line have their fields there.
                let fields = line.split_once('{').map_or("", |(_, fields)| fields);
                let fields = fields.split(',').filter_map(|field| field.split_once(':'));
                variants.push(Variant {
                    code: kebab(&name),
                    fields: fields.map(|(field, _)| kebab(field.trim())).collect(),
                });
            }
            Some(variant) if indent == 8 && !name.is_empty() => variant.fields.push(kebab(&name)),
            _ => {}
        }
    }
    assert!(variants.len() > 1, "{name}");
    variants
}

/// `RunEnded` and `run_ended` as `run-ended`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(if c == '_' {
            '-'
        } else {
            c.to_ascii_lowercase()
        });
    }
    out
}

const OUTCOMES: &str = include_str!("../../../plimsoll-record/src/message/outcome.rs");

/// Families of the record: what their ids begin with, the enum that declares their codes, and arguments that all have.
const CODED: [(&str, &str, &str, &[&str]); 7] = [
    ("reset-check-", "ResetCheck", OUTCOMES, &[]),
    ("backup-detail-", "BackupDetail", OUTCOMES, &[]),
    ("lost-", "FirstLost", OUTCOMES, &[]),
    (
        "check-",
        "CheckDetail",
        include_str!("../../../plimsoll-record/src/message/check.rs"),
        &["condition"],
    ),
    (
        "doctor-",
        "DoctorFinding",
        include_str!("../../../plimsoll-record/src/message/doctor.rs"),
        &["level"],
    ),
    (
        "event-",
        "EventKind",
        include_str!("../../../plimsoll-record/src/message/event.rs"),
        &[],
    ),
    (
        "import-",
        "ImportNote",
        include_str!("../../../plimsoll-record/src/message/import.rs"),
        &[],
    ),
];

/// Arguments that no sentence of their code has: those of a condition's own.
const SILENT: [&str; 4] = [
    "check-tables-hold.bound",
    "check-tables-hold.loaded",
    "check-table-differs.bound",
    "check-table-differs.loaded",
];

fn coded() -> impl Iterator<Item = (String, Variant, &'static [&'static str])> {
    CODED
        .into_iter()
        .flat_map(|(prefix, name, source, common)| {
            variants(source, name)
                .into_iter()
                .filter(|variant| variant.code != "stored")
                .map(move |variant| (format!("{prefix}{}", variant.code), variant, common))
        })
}

/// Those that a message shows, and those of messages that it contains.
fn arguments(messages: &BTreeMap<String, String>, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in text.split('{').skip(1) {
        let name: String = part
            .trim_start()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-$".contains(*c))
            .collect();
        match name.strip_prefix('$') {
            Some(argument) => _ = found.insert(argument.to_owned()),
            None => found.extend(
                messages
                    .get(&name)
                    .map(|text| arguments(messages, text))
                    .unwrap_or_default(),
            ),
        }
    }
    found
}

/// Each code of the record has its sentence, which shows each of its arguments and no other.
#[test]
fn sentences_of_the_record_show_their_arguments() {
    let messages = messages();
    for (id, variant, common) in coded() {
        let text = messages
            .get(&id)
            .unwrap_or_else(|| panic!("{id} has no sentence"));
        let shown = arguments(&messages, text);
        for field in &variant.fields {
            let is_silent = SILENT.contains(&format!("{id}.{field}").as_str());
            assert!(shown.contains(field) != is_silent, "{id}: {field}");
        }
        let unknown = shown
            .iter()
            .find(|name| !variant.fields.contains(name) && !common.contains(&name.as_str()));
        assert_eq!(unknown, None, "{id}");
    }
}

/// Ids of audits: their closed sets as the model declares them.
fn of_audit() -> Vec<String> {
    const DECLARED: &str = concat!(
        include_str!("../../../plimsoll-analysis/src/audit/evidence.rs"),
        include_str!("../../../plimsoll-analysis/src/audit/rule.rs"),
        include_str!("../../../plimsoll-analysis/src/missing.rs")
    );
    let mut ids: Vec<String> = Rule::ALL
        .iter()
        .flat_map(|rule| {
            let code = rule.code().to_lowercase();
            [format!("rule-{code}"), format!("answer-limit-{code}")]
        })
        .collect();
    for name in ["Evidence", "Missing", "Next"] {
        // Found and MissingInput have the text of what they hold, shared evidence that of its name.
        const OTHERS: [&str; 5] = ["found", "missing-input", "at-most", "at-least", "off"];
        let codes = variants(DECLARED, name)
            .into_iter()
            .map(|variant| variant.code);
        ids.extend(
            codes
                .filter(|code| !OTHERS.contains(&code.as_str()))
                .map(|code| format!("{}-{code}", name.to_lowercase())),
        );
    }
    ids.extend(shared_evidence());
    assert!(ids.len() > 100, "{ids:?}");
    ids
}

/// Ids of the sentences of evidence that rules share, as the rules name it.
fn shared_evidence() -> Vec<String> {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plimsoll-analysis/src/audit/rules");
    let mut ids = Vec::new();
    for (_, text) in sources(&rules) {
        for call in [".at_most(", ".at_least(", ".within(", "evidence: "] {
            let named = text
                .split(call)
                .skip(1)
                .filter_map(|after| after.trim_start().strip_prefix('"'));
            ids.extend(
                named
                    .filter_map(|name| name.split('"').next())
                    .map(|name| format!("evidence-{}", kebab(name))),
            );
        }
    }
    assert!(ids.len() > 8, "{ids:?}");
    ids
}

/// Names of all findings: the messages of one that is not here count as unused.
const FINDINGS: [&str; 49] = [
    "run_ended",
    "nothing_measured",
    "nothing_completed",
    "phase_incomplete",
    "coarse_window",
    "seconds_missing",
    "short_window",
    "too_few_samples",
    "few_intervals",
    "contradicted",
    "counts_broken",
    "not_drained",
    "histogram_disagrees",
    "histogram_sample",
    "clipped",
    "unsteady",
    "backlog_grew",
    "unanswered",
    "unfinished",
    "server_away",
    "not_served",
    "condition_fails",
    "verification_failed",
    "not_verified",
    "emulated",
    "emulation_waited",
    "drive_errors",
    "emulation_unreported",
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
fn every_id_in_the_catalog_is_used() {
    let mentioned = mentioned();
    let mut used: BTreeSet<String> = mentioned.union(&composed()).cloned().collect();
    used.extend(crate::tables::headings());
    let mut unused: Vec<String> = catalog().difference(&used).cloned().collect();
    unused.retain(|id| !is_heading(id, &mentioned));
    // The explanation of a term.
    unused.retain(|id| {
        let term = id.strip_suffix("-text");
        term.is_none_or(|term| !mentioned.contains(term))
    });
    assert_eq!(unused, Vec::<String>::new());
}

#[test]
fn every_id_used_is_in_the_catalog() {
    let catalog = catalog();
    let missing: Vec<String> = composed().difference(&catalog).cloned().collect();
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
                        !plain || id.is_empty() || catalog.contains(id),
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
    assert!(CHART_IDS.iter().all(|id| catalog.contains(*id)));
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
        let block = summary
            .figures
            .block_findings()
            .map(|(_, _, finding)| finding);
        let backups = summary
            .figures
            .backups
            .iter()
            .flat_map(|own| own.all_findings())
            .map(|(_, finding)| finding);
        for finding in summary
            .figures
            .all_findings()
            .map(|(_, finding)| finding)
            .chain(block)
            .chain(backups)
        {
            let text = m.finding(&finding.kind);
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
            kernel_ms: 611.5,
            emulator_ms: 203.25,
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
        let parts = [
            m.finding(&kind),
            m.finding_detail(&kind),
            m.finding_next(&kind),
        ];
        parts.join("|")
    });
    insta::assert_snapshot!(texts.join("\n"), @r#"
    The emulated drive Example 1 TB failed 1,234 flush operations although it had power.||Check the events. A full backing store needs a smaller data set, more memory or backing = "file".
    Requests on Example 1 TB queued in the kernel: they took 61.5 % longer than on the drive (limit 200 %; doubtful from 25 %).|In a second they were in flight for 612 ms together by the kernel's count, and for 203 ms by the emulator's.|Use fewer users, or a machine with more idle cores.
    The emulator of Example 1 TB reported nothing for 2.5 of 31.0 s: not evaluated whether it kept up.||Do not quote these figures for that drive.
    Example 1 TB received 217 operations, fewer than 300 of each kind: not evaluated whether its emulator kept up.||
    No acknowledged transaction could be checked after the power cut.||
    The database did not recover after the power cut.||The events have the reason.
    "#);
}

#[test]
fn what_the_doctor_found_on_the_machine_names_it() {
    let diagnosed = Evidence::Diagnosed {
        of: String::new(),
        code: "clock_source".to_owned(),
        level: DiagnosisLevel::Unknown,
        finding: DoctorFinding::ClockUnknown,
    };
    let text = Messages::english().evidence(&diagnosed);
    assert!(
        text.starts_with("The doctor on the machine, clock_source: "),
        "{text}"
    );
}

#[test]
fn an_event_beside_figures_has_its_time_and_its_sentence() {
    let event = FindingKind::Event {
        event: "cleanup".to_owned(),
        at_s: 7.25,
        message: EventKind::Cleanup {
            error: "/x is busy".to_owned(),
        },
        times: 2,
    };
    assert_eq!(
        Messages::english().finding(&event),
        "cleanup (2×, first at 7.2 s): Not everything could be removed (/x is busy)."
    );
}
