//! Rules about a system on a medium, or a side of a published table.

use super::result::{RuleCheck, RuleResult, verdicts};
use crate::audit::input::{GeneratorLocation, Settings, SystemInput};
use crate::audit::{Evidence, Missing, Next, Rule, RuleVerdict};
use crate::summary::{DiagnosisSummary, FigureId};
use plimsoll_plan::Thresholds;
use plimsoll_record::DiagnosisLevel;
use plimsoll_record::Severity;
use plimsoll_record::Severity::{Error, Note, Warning};

const RULES: &[RuleCheck<SystemInput>] = &[
    (Rule::SameBox, same_box),
    (Rule::Omission, omission),
    (Rule::Durable, durable),
    (Rule::Lies, lies),
    (Rule::Thin, thin),
    (Rule::Entropy, entropy),
    (Rule::Noise, noise),
    (Rule::PctAvg, percentiles),
];

pub(super) fn evaluate(system: &SystemInput, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    verdicts(RULES, system, &system.about, thresholds)
}

/// By itself it only has to be known; what was compared under different conditions is another matter.
fn same_box(system: &SystemInput, _: &Thresholds, result: &mut RuleResult) {
    if let Some(place) = result.read(system.generator) {
        let evidence = Evidence::GeneratorAt {
            place: place.name().to_owned(),
        };
        let is_elsewhere = place == GeneratorLocation::Other;
        result.check(is_elsewhere, evidence, Note, Next::MoveClient);
    }
}

fn omission(system: &SystemInput, _: &Thresholds, result: &mut RuleResult) {
    if let Some(from) = result.read(system.latencies.clone().ok_or(Missing::NoMethod)) {
        let holds = from != "start";
        let evidence = Evidence::Latencies { from };
        result.check(holds, evidence, Error, Next::CountFromDue);
    }
}

fn percentiles(system: &SystemInput, _: &Thresholds, result: &mut RuleResult) {
    if let Some(from) = result.read(system.percentiles.clone().ok_or(Missing::NoMethod)) {
        let holds = from != "averaged";
        let evidence = Evidence::Percentiles { from };
        result.check(holds, evidence, Error, Next::MergeHistograms);
    }
}

/// Whether a setting gives up what a commit promises. PostgreSQL manual, "Reliability"; MariaDB knowledge base,
/// innodb_flush_log_at_trx_commit, sync_binlog, innodb_doublewrite; SQL Server manual, "Control Transaction Durability" (no
/// transaction of plimsoll's asks for less, so ALLOWED is harmless); SQLite, PRAGMA synchronous: in WAL mode only FULL and
/// EXTRA wait for the device at a commit.
pub(super) fn is_unsafe(settings: &Settings, name: &str, value: &str) -> bool {
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

fn durable(system: &SystemInput, _: &Thresholds, result: &mut RuleResult) {
    diagnosed(
        system,
        &["mount_options", "power_loss", "write_cache"],
        Next::MakeDurable,
        result,
    );
    if system.durability.is_empty() {
        return result.missing(Missing::NoSettings);
    }
    let settings = &system.durability;
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

fn lies(system: &SystemInput, _: &Thresholds, result: &mut RuleResult) {
    diagnosed(system, &["fsync"], Next::CheckFlush, result);
    let figures = [
        FigureId::FlushUs,
        FigureId::FastestFlushUs,
        FigureId::FlushesPerSecond,
    ];
    if let Some([mean_us, fastest_us, per_second]) = result.read(system.figures.read_all(figures)) {
        let evidence = Evidence::FlushTime {
            mean_us,
            fastest_us,
            per_second,
        };
        result.check(mean_us >= fastest_us, evidence, Error, Next::CheckFlush);
    }
}

/// Below 1, some blocks were read that were never written.
fn thin(system: &SystemInput, _: &Thresholds, result: &mut RuleResult) {
    diagnosed(system, &["unwritten"], Next::WriteFirst, result);
    if let Some(fill) = result.read(system.figures.read(FigureId::Fill)) {
        let evidence = Evidence::Filled { fill };
        result.check(fill >= 1.0, evidence, Warning, Next::WriteFirst);
    }
}

fn entropy(system: &SystemInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let figures = [
        FigureId::CompressiblePercent,
        FigureId::StatedCompressiblePercent,
    ];
    if let Some([found_percent, stated_percent]) = result.read(system.figures.read_all(figures)) {
        let limit_percent = thresholds.entropy;
        let evidence = Evidence::Compressible {
            found_percent,
            stated_percent,
            limit_percent,
        };
        let within = found_percent - stated_percent <= limit_percent;
        result.check(within, evidence, Warning, Next::UseRandomData);
    }
}

fn noise(system: &SystemInput, thresholds: &Thresholds, result: &mut RuleResult) {
    let codes = ["steal", "cpu", "noise"];
    diagnosed(system, &codes, Next::QuietMachine, result);
    if let Some(governor) = result.read(system.governor.clone().ok_or(Missing::NoGovernor)) {
        let is_fast = governor == "performance";
        let evidence = Evidence::Governor { governor };
        result.check(is_fast, evidence, Warning, Next::QuietMachine);
    }
    let warning = (Warning, Next::QuietMachine);
    result.within(
        "calibration",
        system.figures.read(FigureId::CalibrationOffPercent),
        thresholds.calibration,
        warning,
    );
    result.at_most(
        "other_io",
        system.figures.read(FigureId::OtherIoPercent),
        thresholds.other_io,
        warning,
    );
}

/// What the doctor found about one of `codes`, with its severity.
fn diagnosed(system: &SystemInput, codes: &[&str], next: Next, result: &mut RuleResult) {
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
