//! Findings for people and for programs.

use plimsoll_block::doctor::evidence::{Pace, SyncTest};
use plimsoll_record::{Diagnosis, DiagnosisLevel};
use plimsoll_report::message::Messages;
use plimsoll_report::{ExaminedMedium, checks_text};
use serde_json::{Value, json};

use super::examined::Examined;

/// Where there is no terminal to ask.
const WIDTH: usize = 100;
/// Narrower than this the text would be a column of words.
const NARROWEST: usize = 60;
const WIDEST: usize = 140;

/// Of the terminal.
pub fn width() -> usize {
    let set = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    set.or_else(|| {
        rustix::termios::tcgetwinsize(std::io::stdout())
            .ok()
            .map(|size| usize::from(size.ws_col))
    })
    .filter(|width| *width > 0)
    .unwrap_or(WIDTH)
    .clamp(NARROWEST, WIDEST)
}

pub fn table(machine: &[Diagnosis], media: &[Examined], width: usize) -> String {
    let media: Vec<ExaminedMedium<'_>> = media
        .iter()
        .map(|medium| ExaminedMedium {
            name: &medium.name,
            kind: &medium.kind,
            findings: &medium.findings,
        })
        .collect();
    checks_text(machine, &media, width)
}

/// A finding with its sentences.
fn of_finding(row: &Diagnosis) -> Value {
    let messages = Messages::english();
    let mut finding = json!(row);
    finding["found"] = messages.diagnosis(row).into();
    finding["next"] = messages.advice(row).into();
    finding
}

pub fn json(machine: &[Diagnosis], media: &[Examined]) -> String {
    let rows = |rows: &[Diagnosis]| rows.iter().map(of_finding).collect::<Vec<_>>();
    let media: Vec<Value> = media
        .iter()
        .map(|medium| {
            let Examined { name, kind, findings, sync } = medium;
            json!({ "name": name, "kind": kind, "findings": rows(findings), "fsync": sync.as_ref().map(of_sync) })
        })
        .collect();
    let levels = machine.iter().map(|row| row.level.name());
    let worst = media
        .iter()
        .flat_map(|medium| medium["findings"].as_array().into_iter().flatten());
    let worst = worst
        .filter_map(|row| row["level"].as_str())
        .chain(levels)
        .filter_map(|name| name.parse::<DiagnosisLevel>().ok())
        .max();
    let worst = worst.map(DiagnosisLevel::name);
    format!(
        "{:#}",
        json!({ "machine": rows(machine), "media": media, "worst": worst })
    )
}

fn of_sync(test: &SyncTest) -> Value {
    let SyncTest {
        direct,
        unsynced,
        synced,
        flush,
        dsync,
    } = test;
    let pace = |pace: &Pace| {
        json!({
            "requests": pace.requests, "median_us": pace.median.as_micros_f64(), "per_second": pace.per_second(),
        })
    };
    json!({
        "direct": direct, "unsynced": pace(unsynced), "fdatasync": pace(synced), "flush": pace(flush),
        "o_dsync": pace(dsync),
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_record::message::DoctorFinding;

    use super::*;

    fn row(level: DiagnosisLevel, code: &str, found: &str, next: &str) -> Diagnosis {
        Diagnosis {
            subject: None,
            code: code.into(),
            level,
            disk: None,
            finding: DoctorFinding::Stored {
                found: found.into(),
                next: Some(next.into()),
            },
        }
    }

    fn media() -> Vec<Examined> {
        let findings = vec![
            row(
                DiagnosisLevel::Error,
                "fsync",
                "one two three four five six seven eight nine ten",
                "do this, and then that",
            ),
            row(DiagnosisLevel::Unknown, "health", "no report", ""),
        ];
        vec![Examined {
            name: "/srv".into(),
            kind: "directory".into(),
            findings,
            sync: None,
        }]
    }

    #[test]
    fn programs_get_the_same() {
        let json: Value = serde_json::from_str(&json(&[], &media())).unwrap();
        assert_eq!(
            (&json["worst"], &json["media"][0]["name"]),
            (&"error".into(), &"/srv".into())
        );
        assert_eq!(
            json["media"][0]["findings"][0]["next"],
            "do this, and then that"
        );
        assert_eq!(json["media"][0]["fsync"], Value::Null);
        let pace = |us: u64| Pace {
            requests: us as u32,
            median: plimsoll_plan::units::Nanos::from_micros(us),
        };
        let test = SyncTest {
            direct: true,
            unsynced: pace(1),
            synced: pace(2),
            flush: pace(4),
            dsync: pace(5),
        };
        let value = of_sync(&test);
        let shown = ["unsynced", "fdatasync", "flush", "o_dsync"]
            .map(|kind| value[kind]["median_us"].as_f64().unwrap());
        assert_eq!(shown, [1.0, 2.0, 4.0, 5.0]);
        assert_eq!(value["fdatasync"]["per_second"], 500_000.0);
    }
}
