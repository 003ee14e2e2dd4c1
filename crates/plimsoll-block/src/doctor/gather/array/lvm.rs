//! Logical volumes of LVM. sysfs shows that a device is one and what it is made of, `lvs` how.

use plimsoll_record::message::doctor::{ArrayUnknownCause, StorageLayer};
use serde_json::Value;

use super::files::{ArrayFiles, FoundArray};
use super::md::most_missing;
use crate::doctor::evidence::{ArrayEvidence, ArraySettings, UnknownArray, VolumeSettings};
use crate::doctor::gather::tool::run_within;
use crate::host::device::BlockDevice;
use crate::host::source::KernelFiles;

const COMMAND: &str = "lvs -a -o +segtype,lv_health_status,cache_mode";
const FIELDS: &str = "vg_name,lv_name,lv_kernel_major,lv_kernel_minor,segtype,stripes,stripe_size,chunk_size,region_size,\
    lv_health_status,raid_sync_action,sync_percent,data_percent,cache_mode,zero,pool_lv";
const PATIENCE_S: i64 = 5;
/// Of a whole RAID, cache or pool that answers with errors (lvs(8), `lv_health_status`).
const BROKEN: [&str; 4] = ["failed", "out_of_data", "metadata_read_only", "error"];

/// Of hidden volumes.
const BRACKETS: [char; 2] = ['[', ']'];

/// A segment of a volume as `lvs` prints it: numbers as texts, empty where they mean nothing.
struct VolumeRow(Value);

/// Of devices that are more than a part of one drive.
pub fn arrays(source: &KernelFiles, stack: &[BlockDevice], may_run: bool) -> Vec<FoundArray> {
    let Some(name) = first_volume(source, stack) else {
        return Vec::new();
    };
    let unknown = |cause| {
        vec![Err(UnknownArray {
            layer: StorageLayer::Lvm,
            name: name.clone(),
            cause,
            command: COMMAND.to_owned(),
        })]
    };
    if !may_run {
        return unknown(ArrayUnknownCause::NotAsked);
    }
    let args = ["-a", "--reportformat", "json", "--units", "b", "--nosuffix"];
    // Of old versions it would repair metadata as it reads them (lvm.conf(5), `metadata_read_only`).
    let reading = ["--config", "global{metadata_read_only=1}", "-o", FIELDS];
    let printed = run_within("lvs", &[&args[..], &reading[..]].concat(), PATIENCE_S);
    match printed {
        Ok(text) => of_report(&text, stack, lowest(source, stack))
            .unwrap_or_else(|| unknown(ArrayUnknownCause::NoAnswer)),
        Err(failure) => unknown(failure.of_array()),
    }
}

/// The name in device mapper of the first volume that lies on several devices or on other volumes.
fn first_volume(source: &KernelFiles, stack: &[BlockDevice]) -> Option<String> {
    stack.iter().find_map(|device| {
        let files = ArrayFiles::of(source, device);
        let below = files.names("slaves");
        let is_lvm = files.text("dm/uuid")?.starts_with("LVM-");
        let is_simple = below.len() < 2 && !below.iter().any(|name| name.starts_with("dm-"));
        (is_lvm && !is_simple)
            .then(|| files.text("dm/name"))
            .flatten()
    })
}

fn lowest(source: &KernelFiles, stack: &[BlockDevice]) -> u64 {
    let is_lowest =
        |device: &&BlockDevice| ArrayFiles::of(source, device).names("slaves").is_empty();
    stack.iter().filter(is_lowest).count() as u64
}

/// `drives` are below all of it. `None`: the text is none of `lvs`, or has no volume of the stack.
fn of_report(text: &str, stack: &[BlockDevice], drives: u64) -> Option<Vec<FoundArray>> {
    let printed: Value = serde_json::from_str(text).ok()?;
    let sections = printed["report"].as_array()?.iter();
    let rows = sections.filter_map(|section| section["lv"].as_array());
    let rows: Vec<VolumeRow> = rows.flatten().cloned().map(VolumeRow).collect();
    let own: Vec<&VolumeRow> = stack
        .iter()
        .filter_map(|device| rows.iter().find(|row| row.is_of(device)))
        .collect();
    let arrays = own
        .iter()
        .filter_map(|row| row.array(&rows, drives).map(Ok));
    (!own.is_empty()).then(|| arrays.collect())
}

impl VolumeRow {
    fn text(&self, field: &str) -> &str {
        self.0[field].as_str().unwrap_or_default()
    }

    fn number(&self, field: &str) -> Option<u64> {
        self.text(field).parse().ok()
    }

    /// 0 stands for none.
    fn size(&self, field: &str) -> Option<u64> {
        self.number(field).filter(|bytes| *bytes > 0)
    }

    fn percent(&self, field: &str) -> Option<f64> {
        self.text(field).parse().ok()
    }

    fn is_of(&self, device: &BlockDevice) -> bool {
        self.number("lv_kernel_major") == Some(device.major.into())
            && self.number("lv_kernel_minor") == Some(device.minor.into())
    }

    fn name(&self) -> &str {
        self.text("lv_name").trim_matches(BRACKETS)
    }

    /// The rows of its volume group.
    fn of_group<'a>(&'a self, all: &'a [Self]) -> impl Iterator<Item = &'a Self> {
        let group = self.text("vg_name");
        all.iter().filter(move |row| row.text("vg_name") == group)
    }

    fn is_raid(&self) -> bool {
        self.text("segtype").starts_with("raid") || self.text("segtype") == "mirror"
    }

    /// `None`: a linear volume, or a part of one that is none.
    fn array(&self, all: &[Self], drives: u64) -> Option<ArrayEvidence> {
        let is_striped = self.text("segtype") == "striped" && self.number("stripes") > Some(1);
        let is_layer = ["thin", "cache", "writecache"].contains(&self.text("segtype"));
        if !(is_striped || is_layer || self.is_raid()) {
            return None;
        }
        let pool = self.text("pool_lv").trim_matches(BRACKETS);
        let pool = self.of_group(all).find(|row| row.name() == pool);
        let health = self.text("lv_health_status");
        let pool_health = pool.map_or("", |pool| pool.text("lv_health_status"));
        let is_partial = health == "partial" && !self.is_raid();
        let missing = self.missing(all);
        let has_lost_data = missing > most_missing(self.text("segtype"));
        Some(ArrayEvidence {
            name: format!("{}/{}", self.text("vg_name"), self.name()),
            level: self.text("segtype").to_owned(),
            members: if is_layer {
                drives
            } else {
                self.number("stripes")?
            },
            missing,
            action: Some(self.text("raid_sync_action"))
                .filter(|action| !["", "idle", "frozen"].contains(action))
                .map(str::to_owned),
            done_percent: self
                .is_raid()
                .then(|| self.percent("sync_percent"))
                .flatten(),
            is_broken: is_partial
                || has_lost_data
                || BROKEN.contains(&health)
                || BROKEN.contains(&pool_health),
            errors: u64::from(health == "mismatches exist"),
            settings: Some(ArraySettings::Volume(self.settings(pool))),
            ..ArrayEvidence::default()
        })
    }

    /// Images of a RAID that are partial; one at least where the RAID itself is, or waits to be refreshed.
    fn missing(&self, all: &[Self]) -> u64 {
        if !self.is_raid() {
            return 0;
        }
        let is_whole = !["partial", "refresh needed"].contains(&self.text("lv_health_status"));
        let image = format!("{}_rimage_", self.name());
        let images = self.of_group(all).filter(|row| {
            row.name().starts_with(&image) && row.text("lv_health_status") == "partial"
        });
        (images.count() as u64).max(u64::from(!is_whole))
    }

    fn settings(&self, pool: Option<&Self>) -> VolumeSettings {
        let of_pool = pool.unwrap_or(self);
        let is_thin = self.text("segtype") == "thin";
        let cache_mode = match self.text("segtype") {
            // It has no other (Documentation/admin-guide/device-mapper/writecache.rst).
            "writecache" => "writeback",
            _ => self.text("cache_mode"),
        };
        VolumeSettings {
            chunk: (self.size("stripe_size"))
                .or_else(|| self.size("chunk_size"))
                .or_else(|| of_pool.size("chunk_size")),
            region: self.size("region_size"),
            cache_mode: Some(cache_mode.to_owned()).filter(|mode| !mode.is_empty()),
            zeroes: is_thin.then_some(of_pool.text("zero") == "zero"),
            used_percent: is_thin.then(|| of_pool.percent("data_percent")).flatten(),
        }
    }
}

#[cfg(test)]
#[path = "lvm_tests.rs"]
mod tests;
