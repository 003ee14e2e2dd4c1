//! Rules about a system on a medium, or a side of a published table.

use std::collections::BTreeMap;

use super::result::RuleResult;
use crate::audit::input::{GeneratorLocation, SystemFacts};
use crate::audit::{Evidence, Next, Rule, RuleVerdict, Thresholds};
use crate::record::DiagnosisLevel;
use crate::record::Severity::{self, Error, Note, Warning};

type Look = fn(&SystemFacts, &Thresholds, &mut RuleResult);

pub(super) fn judge(site: &SystemFacts, thresholds: &Thresholds) -> Vec<RuleVerdict> {
    let rules: [(Rule, Look); 8] = [
        (Rule::SameBox, same_box),
        (Rule::Omission, omission),
        (Rule::Durable, durable),
        (Rule::Lies, lies),
        (Rule::Thin, thin),
        (Rule::Entropy, entropy),
        (Rule::Noise, noise),
        (Rule::PctAvg, percentiles),
    ];
    let judged = |(rule, look): (Rule, Look)| {
        let mut looked = RuleResult::default();
        look(site, thresholds, &mut looked);
        looked.judged(rule, &site.about)
    };
    rules.into_iter().map(judged).collect()
}

/// By itself it only has to be known; what was compared under different conditions is another matter.
fn same_box(site: &SystemFacts, _: &Thresholds, looked: &mut RuleResult) {
    match site.generator {
        Err(missing) => looked.untold(missing),
        Ok(place) => {
            let evidence = Evidence::GeneratorAt { place: place.name().to_owned() };
            looked.at(place == GeneratorLocation::Other, evidence, Note, Next::MoveClient);
        }
    }
}

fn omission(site: &SystemFacts, _: &Thresholds, looked: &mut RuleResult) {
    match &site.latencies {
        Err(missing) => looked.untold(*missing),
        Ok(from) => {
            let evidence = Evidence::Latencies { from: from.clone() };
            looked.at(from != "start", evidence, Error, Next::CountFromDue);
        }
    }
}

fn percentiles(site: &SystemFacts, _: &Thresholds, looked: &mut RuleResult) {
    match &site.percentiles {
        Err(missing) => looked.untold(*missing),
        Ok(from) => {
            let evidence = Evidence::Percentiles { from: from.clone() };
            looked.at(from != "averaged", evidence, Error, Next::MergeHistograms);
        }
    }
}

/// Whether a setting gives up what a commit promises. PostgreSQL manual, "Reliability"; MariaDB knowledge base,
/// innodb_flush_log_at_trx_commit, sync_binlog, innodb_doublewrite; SQLite, PRAGMA synchronous: in WAL mode only FULL and
/// EXTRA wait for the device at a commit.
pub(super) fn is_unsafe(settings: &BTreeMap<String, String>, name: &str, value: &str) -> bool {
    let value = value.trim().to_ascii_lowercase();
    let off = ["off", "0", "false", "no"].contains(&value.as_str());
    let is = |other: &str, word: &str| settings.get(other).is_some_and(|value| value.eq_ignore_ascii_case(word));
    match name {
        "fsync" | "full_page_writes" | "synchronous_commit" | "innodb_doublewrite" | "barriers" => off,
        "innodb_flush_log_at_trx_commit" => value != "1",
        "sync_binlog" => value == "0" && !is("log_bin", "OFF") && settings.contains_key("log_bin"),
        "innodb_flush_method" => value == "nosync" || value == "o_direct_no_fsync",
        "synchronous" => ["off", "0", "normal", "1"].contains(&value.as_str()),
        "journal_mode" => value == "off" || value == "memory",
        "flush" => value == "ignored",
        "write_cache" => value == "volatile",
        "mount_options" => value.split(',').any(|option| option == "nobarrier" || option == "barrier=0"),
        _ => false,
    }
}

/// Settings that this rule reads.
pub(in crate::audit) const DURABILITY: [&str; 15] = [
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "innodb_flush_log_at_trx_commit",
    "innodb_doublewrite",
    "innodb_flush_method",
    "log_bin",
    "sync_binlog",
    "synchronous",
    "journal_mode",
    "barriers",
    "mount_options",
    "write_cache",
    "flush",
];

fn durable(site: &SystemFacts, _: &Thresholds, looked: &mut RuleResult) {
    diagnosed(site, &["mount_options", "power_loss", "write_cache"], Next::MakeDurable, looked);
    match &site.durability {
        Err(missing) => looked.untold(*missing),
        Ok(settings) => {
            let (bad, good): (Vec<_>, Vec<_>) =
                settings.iter().partition(|(name, value)| is_unsafe(settings, name, value));
            for (name, value) in bad {
                let evidence = Evidence::Unsafe { setting: name.clone(), value: value.clone() };
                looked.bad(evidence, Warning, Next::MakeDurable);
            }
            if !good.is_empty() {
                let told: Vec<String> = good.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                looked.good(Evidence::Safe { settings: told.join(", ") });
            }
        }
    }
}

fn lies(site: &SystemFacts, _: &Thresholds, looked: &mut RuleResult) {
    diagnosed(site, &["fsync"], Next::CheckFlush, looked);
    match site.flush {
        Err(missing) => looked.untold(missing),
        Ok((mean_us, fastest_us, per_second)) => {
            let evidence = Evidence::FlushTime { mean_us, fastest_us, per_second };
            looked.at(mean_us >= fastest_us, evidence, Error, Next::CheckFlush);
        }
    }
}

/// Below 1, some blocks were read that nobody wrote.
fn thin(site: &SystemFacts, _: &Thresholds, looked: &mut RuleResult) {
    diagnosed(site, &["unwritten"], Next::WriteFirst, looked);
    match site.fill {
        Err(missing) => looked.untold(missing),
        Ok(fill) => looked.at(fill >= 1.0, Evidence::Filled { fill }, Warning, Next::WriteFirst),
    }
}

fn entropy(site: &SystemFacts, thresholds: &Thresholds, looked: &mut RuleResult) {
    match site.entropy {
        Err(missing) => looked.untold(missing),
        Ok((found_percent, said_percent)) => {
            let limit_percent = thresholds.entropy;
            let evidence = Evidence::Compressible { found_percent, said_percent, limit_percent };
            looked.at(found_percent - said_percent <= limit_percent, evidence, Warning, Next::UseRandomData);
        }
    }
}

fn noise(site: &SystemFacts, thresholds: &Thresholds, looked: &mut RuleResult) {
    diagnosed(site, &["steal", "cpu", "noise"], Next::QuietMachine, looked);
    match &site.governor {
        Err(missing) => looked.untold(*missing),
        Ok(governor) => {
            let evidence = Evidence::Governor { governor: governor.clone() };
            looked.at(governor == "performance", evidence, Warning, Next::QuietMachine);
        }
    }
    match site.calibration {
        Err(missing) => looked.untold(missing),
        Ok(off_percent) => {
            let limit_percent = thresholds.calibration;
            let evidence = Evidence::Calibration { off_percent, limit_percent };
            looked.at(off_percent.abs() <= limit_percent, evidence, Warning, Next::QuietMachine);
        }
    }
    match site.other_io {
        Err(missing) => looked.untold(missing),
        Ok(percent) => {
            let evidence = Evidence::OtherIo { percent, limit_percent: thresholds.other_io };
            looked.at(percent <= thresholds.other_io, evidence, Warning, Next::QuietMachine);
        }
    }
}

/// What the doctor found about one of `codes`, as heavy as it says.
fn diagnosed(site: &SystemFacts, codes: &[&str], next: Next, looked: &mut RuleResult) {
    for (of, code, level, found) in site.diagnoses.iter().filter(|row| codes.contains(&row.1.as_str())) {
        let evidence = Evidence::Diagnosed { of: of.clone(), code: code.clone(), found: found.clone() };
        let severity: Option<Severity> = match level {
            DiagnosisLevel::Ok => None,
            // Said by the rule's own evidence, or by nothing.
            DiagnosisLevel::Unknown => continue,
            DiagnosisLevel::Warning => Some(Warning),
            DiagnosisLevel::Error => Some(Error),
        };
        match severity {
            None => looked.good(evidence),
            Some(severity) => looked.bad(evidence, severity, next),
        }
    }
}
