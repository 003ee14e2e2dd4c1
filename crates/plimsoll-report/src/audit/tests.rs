use plimsoll_analysis::audit::claim::PublishedClaim;
use plimsoll_analysis::summarise;
use plimsoll_record::fixture;

use super::*;
use crate::{audit_csv, audit_json, audit_table, explain};

fn claim() -> Audit {
    let text = include_str!("../../../../claims/kingston-dc1500m-database.toml");
    PublishedClaim::parse(text).unwrap().audit()
}

#[test]
fn a_claim_on_the_terminal() {
    insta::assert_snapshot!(audit_table(&claim()));
}

#[test]
fn rules_explain_themselves() {
    let all: Vec<String> = Rule::ALL.into_iter().map(explain).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn no_sentence_is_left_open() {
    let m = Messages::english();
    let runs = [
        fixture::record(),
        fixture::nothing_measured(),
        fixture::single_point(),
        fixture::search(),
        fixture::block(),
    ];
    let audits = runs
        .iter()
        .map(|record| summarise(record).audit)
        .chain([claim()]);
    for audit in audits {
        let all = fired(&m, &audit, FindingsPlacement::Here);
        let mut texts: Vec<String> = all
            .into_iter()
            .flat_map(|all| [all.place, all.text, all.next])
            .collect();
        texts.extend(
            passed(&m, &audit)
                .into_iter()
                .chain(not_evaluated(&m, &audit))
                .map(|quiet| quiet.text),
        );
        for text in texts {
            let open = text.contains(['{', '}', '$'])
                || text.starts_with("evidence-")
                || text.contains("missing-");
            // Values of settings may hold anything.
            assert!(!open || text.contains("setting."), "{text}");
        }
    }
}

#[test]
fn machines_read_the_same() {
    let audit = claim();
    let json: serde_json::Value =
        serde_json::from_str(&audit_json(std::slice::from_ref(&audit))).unwrap();
    let verdicts = json[0]["judged"].as_array().unwrap();
    assert_eq!(verdicts.len(), audit.verdicts.len());
    assert_eq!(json[0]["worst"], "error");
    let restore = verdicts
        .iter()
        .find(|row| row["rule"] == "RATE" && row["place"] == "restore")
        .unwrap();
    assert_eq!(
        (restore["outcome"].as_str(), restore["severity"].as_str()),
        (Some("fired"), Some("error"))
    );
    assert_eq!(restore["evidence"][0]["product_mb"], 180_600.0);
    assert!(
        restore["text"].as_str().unwrap().contains("180,600 MB"),
        "{}",
        restore["text"]
    );
    let csv = audit_csv(std::slice::from_ref(&audit));
    assert_eq!(csv.lines().count(), audit.verdicts.len() + 1);
    assert!(csv.contains("RATE,fired,error,restore,"), "{csv}");
}
