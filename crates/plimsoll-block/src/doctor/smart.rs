//! A disk's own report of its health: what `smartctl -j` and `nvme smart-log -o json` print.
//!
//! The fields are those of smartctl's JSON format 1.0 and of the SMART / Health Information log (NVM Express base
//! specification, log page 02h). Texts in another form give `None`; none panics.

use plimsoll_record::message::doctor::HealthFault;
use serde_json::Value;

/// What matters of it; `None` where the disk does not report it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Smart {
    /// The program that asked.
    pub source: &'static str,
    pub model: Option<String>,
    pub firmware: Option<String>,
    /// Turns per minute; 0: none.
    pub rpm: Option<u64>,
    /// The disk's own verdict.
    pub passed: Option<bool>,
    /// Bits of an NVMe drive's critical warning.
    pub critical_warning: Option<u64>,
    /// Of the rated endurance, in percent.
    pub used_percent: Option<u64>,
    /// Spare blocks left and the least that should be, in percent.
    pub spare: Option<(u64, u64)>,
    /// Errors that were not corrected.
    pub media_errors: Option<u64>,
    /// Sectors that were replaced, that wait to be, and that could not be read.
    pub reallocated: Option<u64>,
    pub pending: Option<u64>,
    pub uncorrectable: Option<u64>,
    pub celsius: Option<i64>,
    /// The disk's own cache of writes, as ATA reports it.
    pub write_cache: Option<bool>,
    /// The attribute of ATA that has fallen to its threshold.
    pub failing: Option<String>,
}

/// Why a disk's health is unknown although a program was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthFailure {
    pub cause: HealthFault,
    pub program: Option<&'static str>,
    /// Beside the cause: an error or a number.
    pub what: String,
}

impl HealthFailure {
    pub fn new(cause: HealthFault, program: &'static str, what: impl ToString) -> Self {
        Self {
            cause,
            program: Some(program),
            what: what.to_string(),
        }
    }

    pub fn error(error: impl ToString) -> Self {
        Self {
            cause: HealthFault::Error,
            program: None,
            what: error.to_string(),
        }
    }
}

/// `smartctl -j`. The error is its own message.
pub fn smartctl(text: &str) -> Result<Smart, HealthFailure> {
    let json = json("smartctl", text)?;
    if json.get("smart_status").is_none() && json.get("model_name").is_none() {
        return Err(match message(&json) {
            Some(message) => HealthFailure::error(message),
            None => HealthFailure::new(HealthFault::NothingReported, "smartctl", ""),
        });
    }
    let log = &json["nvme_smart_health_information_log"];
    let errors = ["read", "write"].iter().filter_map(|kind| {
        json["scsi_error_counter_log"][kind]["total_uncorrected_errors"].as_u64()
    });
    Ok(Smart {
        source: "smartctl",
        model: text_of(&json["model_name"]),
        firmware: text_of(&json["firmware_version"]).or_else(|| text_of(&json["revision"])),
        rpm: json["rotation_rate"].as_u64(),
        passed: json["smart_status"]["passed"].as_bool(),
        critical_warning: log["critical_warning"].as_u64(),
        used_percent: log["percentage_used"]
            .as_u64()
            .or_else(|| json["endurance_used"]["current_percent"].as_u64()),
        spare: log["available_spare"]
            .as_u64()
            .zip(log["available_spare_threshold"].as_u64()),
        media_errors: log["media_errors"]
            .as_u64()
            .or_else(|| errors.reduce(u64::saturating_add)),
        // A SCSI disk has a list instead.
        reallocated: attribute(&json, 5).or_else(|| json["scsi_grown_defect_list"].as_u64()),
        pending: attribute(&json, 197),
        uncorrectable: attribute(&json, 198),
        celsius: json["temperature"]["current"].as_i64(),
        write_cache: json["write_cache"]["enabled"].as_bool(),
        failing: failing(&json),
    })
}

fn json(program: &'static str, text: &str) -> Result<Value, HealthFailure> {
    serde_json::from_str(text)
        .map_err(|error| HealthFailure::new(HealthFault::NoJson, program, error))
}

fn text_of(value: &Value) -> Option<String> {
    value
        .as_str()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

fn message(json: &Value) -> Option<String> {
    text_of(json["smartctl"]["messages"].get(0)?.get("string")?)
}

fn attributes(json: &Value) -> impl Iterator<Item = &Value> {
    json["ata_smart_attributes"]["table"]
        .as_array()
        .into_iter()
        .flatten()
}

fn attribute(json: &Value, id: u64) -> Option<u64> {
    attributes(json).find(|attribute| attribute["id"] == id)?["raw"]["value"].as_u64()
}

/// Fallen to its threshold now, and one that foretells failure.
fn failing(json: &Value) -> Option<String> {
    let failing = attributes(json).find(|attribute| {
        attribute["when_failed"] == "now" && attribute["flags"]["prefailure"] == true
    });
    text_of(&failing?["name"])
}

/// `nvme smart-log -o json`. Temperatures are in kelvin there; the critical warning is a number, or an object in
/// newer versions.
pub fn nvme(text: &str) -> Result<Smart, HealthFailure> {
    let json = json("nvme", text)?;
    let warning = json["critical_warning"]
        .as_u64()
        .or_else(|| json["critical_warning"]["value"].as_u64());
    let Some(warning) = warning else {
        return Err(HealthFailure::new(
            HealthFault::NoCriticalWarning,
            "nvme",
            "",
        ));
    };
    Ok(Smart {
        source: "nvme",
        rpm: Some(0),
        passed: Some(warning == 0),
        critical_warning: Some(warning),
        used_percent: json["percent_used"].as_u64(),
        spare: json["avail_spare"]
            .as_u64()
            .zip(json["spare_thresh"].as_u64()),
        // 128 bits: newer versions print a text.
        media_errors: json["media_errors"]
            .as_u64()
            .or_else(|| json["media_errors"].as_str()?.parse().ok()),
        celsius: json["temperature"]
            .as_i64()
            .and_then(|kelvin| kelvin.checked_sub(273)),
        ..Smart::default()
    })
}

#[cfg(test)]
#[path = "smart_tests.rs"]
mod tests;
