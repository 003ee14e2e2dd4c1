//! Rules about a system on a medium, or a side of a published table.

use std::collections::BTreeMap;

use super::result::RuleResult;
use crate::audit::input::{GeneratorLocation, SystemFacts};
use crate::audit::{Evidence, Next, Rule, RuleVerdict};
use crate::summary::DiagnosisSummary;
use plimsoll_plan::Thresholds;
use plimsoll_record::DiagnosisLevel;
use plimsoll_record::Severity;
use plimsoll_record::Severity::{Error, Note, Warning};

type SystemCheck = fn(&SystemFacts, &Thresholds, &mut RuleResult);

pub(super) fn evaluate(system: &SystemFacts, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let rules: [(Rule, SystemCheck); 8] = [
        (Rule::SameBox, same_box),
        (Rule::Omission, omission),
        (Rule::Durable, durable),
        (Rule::Lies, lies),
        (Rule::Thin, thin),
        (Rule::Entropy, entropy),
        (Rule::Noise, noise),
        (Rule::PctAvg, percentiles),
    ];
    rules
        .into_iter()
        .map(|(rule, check)| {
            let mut result = RuleResult::default();
            check(system, thresholds, &mut result);
            result.verdict(rule, &system.about)
        })
        .collect()
}

/// By itself it only has to be known; what was compared under different conditions is another matter.
fn same_box(system: &SystemFacts, _: &Thresholds, result: &mut RuleResult) {
    match system.generator {
        Err(missing) => result.missing(missing),
        Ok(place) => {
            let evidence = Evidence::GeneratorAt {
                place: place.name().to_owned(),
            };
            result.check(
                place == GeneratorLocation::Other,
                evidence,
                Note,
                Next::MoveClient,
            );
        }
    }
}

fn omission(system: &SystemFacts, _: &Thresholds, result: &mut RuleResult) {
    match &system.latencies {
        Err(missing) => result.missing(*missing),
        Ok(from) => {
            let evidence = Evidence::Latencies { from: from.clone() };
            result.check(from != "start", evidence, Error, Next::CountFromDue);
        }
    }
}

fn percentiles(system: &SystemFacts, _: &Thresholds, result: &mut RuleResult) {
    match &system.percentiles {
        Err(missing) => result.missing(*missing),
        Ok(from) => {
            let evidence = Evidence::Percentiles { from: from.clone() };
            result.check(from != "averaged", evidence, Error, Next::MergeHistograms);
        }
    }
}

/// Whether a setting gives up what a commit promises. PostgreSQL manual, "Reliability"; MariaDB knowledge base,
/// innodb_flush_log_at_trx_commit, sync_binlog, innodb_doublewrite; SQL Server manual, "Control Transaction Durability" (no
/// transaction of plimsoll's asks for less, so ALLOWED is harmless); SQLite, PRAGMA synchronous: in WAL mode only FULL and
/// EXTRA wait for the device at a commit.
pub(super) fn is_unsafe(settings: &BTreeMap<String, String>, name: &str, value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let off = ["off", "0", "false", "no"].contains(&value.as_str());
    let is = |other: &str, expected: &str| {
        settings
            .get(other)
            .is_some_and(|value| value.eq_ignore_ascii_case(expected))
    };
    match name {
        "fsync" | "full_page_writes" | "synchronous_commit" | "innodb_doublewrite" | "barriers" => {
            off
        }
        "innodb_flush_log_at_trx_commit" => value != "1",
        "sync_binlog" => value == "0" && !is("log_bin", "OFF") && settings.contains_key("log_bin"),
        "innodb_flush_method" => value == "nosync" || value == "o_direct_no_fsync",
        "delayed_durability" => value == "forced",
        "page_verify_option" => value == "none",
        "synchronous" => ["off", "0", "normal", "1"].contains(&value.as_str()),
        "journal_mode" => value == "off" || value == "memory",
        "flush" => value == "ignored",
        "write_cache" => value == "volatile",
        "mount_options" => value
            .split(',')
            .any(|option| option == "nobarrier" || option == "barrier=0"),
        _ => false,
    }
}

/// Settings that this rule reads.
pub(in crate::audit) const DURABILITY: [&str; 17] = [
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "innodb_flush_log_at_trx_commit",
    "innodb_doublewrite",
    "innodb_flush_method",
    "log_bin",
    "sync_binlog",
    "delayed_durability",
    "page_verify_option",
    "synchronous",
    "journal_mode",
    "barriers",
    "mount_options",
    "write_cache",
    "flush",
];

fn durable(system: &SystemFacts, _: &Thresholds, result: &mut RuleResult) {
    diagnosed(
        system,
        &["mount_options", "power_loss", "write_cache"],
        Next::MakeDurable,
        result,
    );
    match &system.durability {
        Err(missing) => result.missing(*missing),
        Ok(settings) => {
            let (bad, good): (Vec<_>, Vec<_>) = settings
                .iter()
                .partition(|(name, value)| is_unsafe(settings, name, value));
            for (name, value) in bad {
                let evidence = Evidence::Unsafe {
                    setting: name.clone(),
                    value: value.clone(),
                };
                result.fail(evidence, Warning, Next::MakeDurable);
            }
            if !good.is_empty() {
                let listed: Vec<String> = good
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                result.pass(Evidence::Safe {
                    settings: listed.join(", "),
                });
            }
        }
    }
}

fn lies(system: &SystemFacts, _: &Thresholds, result: &mut RuleResult) {
    diagnosed(system, &["fsync"], Next::CheckFlush, result);
    match system.flush {
        Err(missing) => result.missing(missing),
        Ok((mean_us, fastest_us, per_second)) => {
            let evidence = Evidence::FlushTime {
                mean_us,
                fastest_us,
                per_second,
            };
            result.check(mean_us >= fastest_us, evidence, Error, Next::CheckFlush);
        }
    }
}

/// Below 1, some blocks were read that were never written.
fn thin(system: &SystemFacts, _: &Thresholds, result: &mut RuleResult) {
    diagnosed(system, &["unwritten"], Next::WriteFirst, result);
    match system.fill {
        Err(missing) => result.missing(missing),
        Ok(fill) => result.check(
            fill >= 1.0,
            Evidence::Filled { fill },
            Warning,
            Next::WriteFirst,
        ),
    }
}

fn entropy(system: &SystemFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    match system.entropy {
        Err(missing) => result.missing(missing),
        Ok((found_percent, stated_percent)) => {
            let limit_percent = thresholds.entropy;
            let evidence = Evidence::Compressible {
                found_percent,
                stated_percent,
                limit_percent,
            };
            result.check(
                found_percent - stated_percent <= limit_percent,
                evidence,
                Warning,
                Next::UseRandomData,
            );
        }
    }
}

fn noise(system: &SystemFacts, thresholds: &Thresholds, result: &mut RuleResult) {
    diagnosed(
        system,
        &["steal", "cpu", "noise"],
        Next::QuietMachine,
        result,
    );
    match &system.governor {
        Err(missing) => result.missing(*missing),
        Ok(governor) => {
            let evidence = Evidence::Governor {
                governor: governor.clone(),
            };
            result.check(
                governor == "performance",
                evidence,
                Warning,
                Next::QuietMachine,
            );
        }
    }
    match system.calibration {
        Err(missing) => result.missing(missing),
        Ok(off_percent) => {
            let limit_percent = thresholds.calibration;
            let evidence = Evidence::Calibration {
                off_percent,
                limit_percent,
            };
            result.check(
                off_percent.abs() <= limit_percent,
                evidence,
                Warning,
                Next::QuietMachine,
            );
        }
    }
    match system.other_io {
        Err(missing) => result.missing(missing),
        Ok(percent) => {
            let evidence = Evidence::OtherIo {
                percent,
                limit_percent: thresholds.other_io,
            };
            result.check(
                percent <= thresholds.other_io,
                evidence,
                Warning,
                Next::QuietMachine,
            );
        }
    }
}

/// What the doctor found about one of `codes`, with its severity.
fn diagnosed(system: &SystemFacts, codes: &[&str], next: Next, result: &mut RuleResult) {
    for DiagnosisSummary { medium, diagnosis } in system
        .diagnoses
        .iter()
        .filter(|row| codes.contains(&row.diagnosis.code.as_str()))
    {
        let evidence = Evidence::Diagnosed {
            of: medium.clone().unwrap_or_default(),
            code: diagnosis.code.clone(),
            level: diagnosis.level,
            finding: diagnosis.finding.without_advice(),
        };
        let severity: Option<Severity> = match diagnosis.level {
            DiagnosisLevel::Ok => None,
            // The rule's own evidence decides, if there is any.
            DiagnosisLevel::Unknown => continue,
            DiagnosisLevel::Warning => Some(Warning),
            DiagnosisLevel::Error => Some(Error),
        };
        match severity {
            None => result.pass(evidence),
            Some(severity) => result.fail(evidence, severity, next),
        }
    }
}
