//! Published reports, whose verdicts were worked out by hand.

use proptest::prelude::*;

use super::*;
use crate::audit::{AuditSubject, Evidence, Rule, RuleOutcome};
use plimsoll_record::Severity;

mod tables;

macro_rules! claim {
    ($name:literal) => {
        include_str!(concat!("../../../../../claims/", $name, ".toml"))
    };
}

const CLAIMS: [(&str, &str); 5] = [
    (
        "hardwareluxx-dc500m-array",
        claim!("hardwareluxx-dc500m-array"),
    ),
    (
        "kingston-dc1500m-database",
        claim!("kingston-dc1500m-database"),
    ),
    (
        "kingston-dc1500m-storage",
        claim!("kingston-dc1500m-storage"),
    ),
    ("storagereview-sk-hynix", claim!("storagereview-sk-hynix")),
    ("storagereview-vsan", claim!("storagereview-vsan")),
];

fn audit_of(name: &str) -> Audit {
    let text = CLAIMS.iter().find(|(known, _)| *known == name).unwrap().1;
    PublishedClaim::parse(text)
        .unwrap_or_else(|errors| panic!("{name}: {errors}"))
        .audit()
}

fn place(about: &AuditSubject) -> String {
    match about {
        AuditSubject::Whole => "whole".to_owned(),
        AuditSubject::Load(load) => load.step.clone(),
        AuditSubject::Named(name) => name.clone(),
        AuditSubject::Pair { first, second } => format!("{first} / {second}"),
    }
}

fn fired(audit: &Audit) -> Vec<(Rule, Severity, String)> {
    let of = |verdict: &crate::audit::RuleVerdict| {
        Some((
            verdict.rule,
            verdict.outcome.severity()?,
            place(&verdict.about),
        ))
    };
    audit.verdicts.iter().filter_map(of).collect()
}

fn outcome_of<'a>(audit: &'a Audit, rule: Rule, about: &str) -> &'a RuleOutcome {
    let found = audit
        .verdicts
        .iter()
        .find(|verdict| verdict.rule == rule && place(&verdict.about) == about);
    &found
        .unwrap_or_else(|| panic!("{} has no verdict on {about}", rule.code()))
        .outcome
}

/// All verdicts, one line each.
fn verdict_lines(audit: &Audit) -> String {
    let line = |verdict: &crate::audit::RuleVerdict| {
        let outcome = match &verdict.outcome {
            RuleOutcome::Passed { .. } => "passed".to_owned(),
            RuleOutcome::Fired { severity, .. } => format!("FIRED, {}", severity.name()),
            RuleOutcome::NotEvaluated { because } => format!("not evaluated: {because:?}"),
        };
        format!(
            "{:<9} {:<60} {outcome}",
            verdict.rule.code(),
            place(&verdict.about)
        )
    };
    audit
        .verdicts
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn verdicts_of_the_published_reports() {
    for (name, _) in CLAIMS {
        insta::assert_snapshot!(name, verdict_lines(&audit_of(name)));
    }
}

/// 355,000 × 0.4 ms = 142 (−26 %), 178,000 × 0.6 ms = 106.8 (−44 %), 121,240 × 2.1 ms = 254.6 (+33 %), 31,756 × 6.4 ms =
/// 203.2 (+5.9 %), 17.8 GB/s / 128 KiB × 0.9 ms = 122.2 (−36 %), 2.79 GB/s / 128 KiB × 4.4 ms = 93.7 (−51 %), each
/// against 6 × 4 × 8 = 192. The clusters have 4 nodes and 3, and networks of 40 and 10 Gb/s, which a table of one version
/// has the other way round: 40 / 10 = 4 and 10 / 40 = 0.25, where 1 is to be.
#[test]
fn six_virtual_machines_do_not_keep_192_in_flight() {
    let audit = audit_of("kingston-dc1500m-storage");
    let little = |row: &str| (Rule::Little, Severity::Error, row.to_owned());
    let expected = [
        "4K 70/30 random, NVMe",
        "4K 70/30 random, SATA",
        "64K 70/30 random, NVMe",
        "128K sequential read, NVMe",
        "128K sequential read, SATA",
    ];
    let mut expected = expected.map(little).to_vec();
    expected.push((Rule::OneFactor, Severity::Error, "SATA / NVMe".to_owned()));
    expected.extend(["NVMe", "SATA"].map(|side| {
        let text =
            format!("Text and table of one version give the {side} cluster the same network speed");
        (Rule::Wording, Severity::Error, text)
    }));
    assert_eq!(fired(&audit), expected);
    assert!(matches!(
        outcome_of(&audit, Rule::Little, "64K 70/30 random, SATA"),
        RuleOutcome::Passed { .. }
    ));
    let RuleOutcome::Fired { evidence, .. } =
        outcome_of(&audit, Rule::Little, "4K 70/30 random, SATA")
    else {
        panic!()
    };
    let Evidence::InFlight {
        found,
        asked,
        off_percent,
        ..
    } = evidence[0]
    else {
        panic!("{evidence:?}")
    };
    assert!((found - 106.8).abs() < 1e-9 && asked == 192.0 && (off_percent + 44.375).abs() < 1e-9);
    let repeat = outcome_of(&audit, Rule::Repeat, "SATA / NVMe");
    assert!(
        matches!(repeat, RuleOutcome::NotEvaluated { .. }),
        "the paper does not state how often it measured"
    );
}

/// 18,525 × 13.81 ms = 255.8 and 13,032 × 19.64 ms = 256.0 of 256; 4 drives against 8 are two differences.
#[test]
fn sysbench_on_eight_systems_keeps_256_in_flight() {
    let audit = audit_of("storagereview-sk-hynix");
    assert_eq!(
        fired(&audit),
        [(Rule::OneFactor, Severity::Error, "SATA / NVMe".to_owned())]
    );
    for side in ["NVMe", "SATA"] {
        let outcome = outcome_of(
            &audit,
            Rule::Little,
            &format!("sysbench, 8 systems, {side}"),
        );
        assert!(matches!(outcome, RuleOutcome::Passed { .. }), "{outcome:?}");
    }
    let thinking = outcome_of(&audit, Rule::Little, "SQL Server, 15,000 users, NVMe");
    assert!(matches!(thinking, RuleOutcome::NotEvaluated { .. }));
}

/// TPM/NOPM is 4.29 and 4.60: none is the mix's 2.245, and a differs from b and c by 7.3 %. a has more memory than data; c
/// has the generator on the system. Backup: 593 × 265 = 157,145 MB of 157,000; restore: 1,400 × 129 = 180,600, 15 % more.
/// The NVMe cluster has 4 nodes and 40 Gb/s, the SATA cluster 3 and 10. 100,000 / 1,200 = 83.3 MB for each warehouse, and
/// 157,000 / 2,000 = 78.5, 5.8 % less. 180,000 / 70,000 = 2.57 times, which is 157 % more and not 256 %.
#[test]
fn memory_media_backups_and_neighbours() {
    let audit = audit_of("kingston-dc1500m-database");
    let (a, b) = (
        "a: 128 GB, generator elsewhere",
        "b: 32 GB, generator elsewhere",
    );
    let c = "c: 32 GB, generator on the system";
    let (error, warning, note) = (Severity::Error, Severity::Warning, Severity::Note);
    let rows = [a, b, c, "c on SATA A", "c on SATA B"];
    let ratio = rows.map(|side| (Rule::Ratio, warning, format!("89 users, {side}")));
    let (ab, ac) = (format!("{a} / {b}"), format!("{a} / {c}"));
    let neighbours = [
        "12 systems, no backup / 8 systems beside backups",
        "9 systems on SATA, no backup / 6 systems on SATA beside backups",
    ];
    let larger = format!("{c} / 2,000 warehouses");
    let clusters = [
        &format!("{c} / c on SATA A"),
        &format!("{c} / c on SATA B"),
        &larger,
        "9 systems on SATA, no backup / 12 systems, no backup",
    ];
    let mut expected = vec![(Rule::Cached, warning, format!("89 users, {a}"))];
    expected.extend(
        [c, "c on SATA A", "c on SATA B"].map(|side| (Rule::SameBox, note, side.to_owned())),
    );
    expected.extend([
        (Rule::SameBox, error, ac.clone()),
        (Rule::OneFactor, error, ac.clone()),
    ]);
    expected.extend(clusters.map(|pair| (Rule::OneFactor, error, pair.to_owned())));
    expected.extend(neighbours.map(|pair| (Rule::Victims, error, pair.to_owned())));
    expected.extend(ratio);
    expected.extend([(Rule::Ratio, error, ab), (Rule::Ratio, error, ac)]);
    expected.push((Rule::Size, warning, larger.clone()));
    expected.push((Rule::Rate, error, "restore".to_owned()));
    let more = "256 % more I/O on the NVMe cluster than on the SATA cluster";
    expected.push((Rule::Wording, error, more.to_owned()));
    assert_eq!(fired(&audit), expected);
    assert!(matches!(
        outcome_of(&audit, Rule::Rate, "backup"),
        RuleOutcome::Passed { .. }
    ));
    let slower = outcome_of(
        &audit,
        Rule::Wording,
        "Backups take 1.5 times as long on SATA",
    );
    assert!(
        matches!(slower, RuleOutcome::NotEvaluated { .. }),
        "the paper has no time on SATA"
    );
}

/// In flight 0.974, 0.946, 0.974, 0.955, 0.972 and 0.949 of one; 31.97 to 32.00 of 32, and 694 + 664 + 713 + 758 = 2,829.
/// 6 h and 5 × 1 h are 11 h of the 12 that are stated.
#[test]
fn one_request_at_a_time_and_32_threads() {
    assert_eq!(fired(&audit_of("hardwareluxx-dc500m-array")), []);
    let durations: Vec<_> = fired(&audit_of("storagereview-vsan"))
        .into_iter()
        .map(|row| (row.0.code(), row.2))
        .collect();
    assert_eq!(durations, [("DURATION", "the whole test".to_owned())]);
    let sum = audit_of("storagereview-vsan");
    let sum = outcome_of(&sum, Rule::Wording, "2,829 transactions per second in all");
    assert!(matches!(sum, RuleOutcome::Passed { .. }));
}

fn sentence(relation: &str, value: f64, of: &str, than: &str) -> Option<Severity> {
    let text = format!(
        "title = \"t\"\nsource = \"s\"\n[[figure]]\nname = \"a\"\nper_second = 150\n[[figure]]\nname = \"b\"\nper_second = 100\n\
         [[sentence]]\ntext = \"x\"\nsays = \"{relation}\"\nvalue = {value}\nof = [{of}]\nthan = [{than}]\n"
    );
    outcome_of(
        &PublishedClaim::parse(&text).unwrap().audit(),
        Rule::Wording,
        "x",
    )
    .severity()
}

#[test]
fn percent_more_is_not_times() {
    let (a, b) = ("\"a: per_second\"", "\"b: per_second\"");
    assert_eq!(sentence("times", 1.5, a, b), None);
    assert_eq!(sentence("percent_more", 50.0, a, b), None);
    assert_eq!(
        sentence("percent_more", 150.0, a, b),
        Some(Severity::Error),
        "1.5 times are 50 % more"
    );
    assert_eq!(sentence("percent_less", 33.3, b, a), None);
    assert_eq!(
        sentence("percent_less", 50.0, b, a),
        Some(Severity::Error),
        "a third less is half as much again"
    );
    assert_eq!(sentence("difference", 50.0, a, b), None);
    assert_eq!(sentence("mean", 125.0, &format!("{a}, {b}"), ""), None);
    assert_eq!(
        sentence("sum", 240.0, &format!("{a}, {b}"), ""),
        Some(Severity::Error)
    );
}

#[test]
fn all_errors_of_a_claim_are_reported_at_once() {
    let text = r#"
title = "t"
source = "s"

[audit]
steal = 900

[[side]]
name = "NVMe"

[[figure]]
name = "4K"
side = "SATA"
per_second = -1

[[comparison]]
first = "NVMe"
second = "HDD"

[[sentence]]
text = "more"
says = "times"
value = 2
of = ["8K: per_second"]
"#;
    insta::assert_snapshot!(PublishedClaim::parse(text).unwrap_err());
    insta::assert_snapshot!(
        PublishedClaim::parse("title = 1\nwhen = 2\n[[figure]]\nname = \"x\"\nmean = 1")
            .unwrap_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in a claim, it is refused or audited.
    #[test]
    fn no_claim_is_too_odd(text in "(?s).{0,200}", cut in 0usize..4000, put in "[0-9eE.+\\-\\[\\]\"= \n]{0,12}") {
        let _ = PublishedClaim::parse(&text);
        let whole = claim!("kingston-dc1500m-database");
        let at = (0..=cut.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        let odd = format!("{}{put}{}", &whole[..at], &whole[at..]);
        if let Ok(claim) = PublishedClaim::parse(&odd) {
            let audit = claim.audit();
            prop_assert!(Rule::ALL.iter().all(|rule| audit.verdicts.iter().any(|verdict| verdict.rule == *rule)));
        }
    }
}
