//! An array of md (Documentation/admin-guide/md.rst).

use super::files::ArrayFiles;
use crate::doctor::evidence::{ArrayEvidence, ArraySettings, MdSettings};
use crate::host::chosen;
use crate::host::device::BlockDevice;
use crate::host::source::KernelFiles;

/// A drive of it.
struct MdMember {
    name: String,
    state: String,
    slot: String,
    errors: u64,
}

impl MdMember {
    fn is(&self, state: &str) -> bool {
        self.state.split(',').any(|own| own == state)
    }
}

pub fn array(source: &KernelFiles, device: &BlockDevice) -> Option<ArrayEvidence> {
    let files = ArrayFiles::of(source, device);
    let level = files.text("md/level")?;
    let members = members(&files);
    let faulty = members.iter().filter(|own| own.is("faulty"));
    let lost_journal = members
        .iter()
        .any(|own| own.is("journal") && own.is("faulty"));
    // One that is being filled has a slot already.
    let spares = members
        .iter()
        .filter(|own| own.is("spare") && own.slot == "none");
    let action = files.text("md/sync_action");
    let missing = files.number("md/degraded").unwrap_or(0);
    // The kernel names this state only of an array to which nothing was written lately.
    let is_broken = files.text("md/array_state").as_deref() == Some("broken");
    Some(ArrayEvidence {
        name: device.name.clone(),
        is_broken: is_broken || lost_journal || missing > most_missing(&level),
        level,
        members: files.number("md/raid_disks")?,
        missing,
        failed: faulty.map(|own| own.name.clone()).collect(),
        spares: spares.count() as u64,
        action: action.filter(|action| action != "idle" && action != "frozen"),
        done_percent: done_percent(&files),
        errors: members.iter().map(|own| own.errors).sum(),
        settings: Some(ArraySettings::Md(settings(&files))),
    })
}

/// With more a level with parity has lost data; of others it depends on which. LVM adds the layout: `raid5_ls`.
pub fn most_missing(level: &str) -> u64 {
    match level.split('_').next() {
        Some("raid4" | "raid5") => 1,
        Some("raid6") => 2,
        _ => u64::MAX,
    }
}

/// `63488 / 95232`, in sectors; `none` or `delayed`.
fn done_percent(files: &ArrayFiles<'_>) -> Option<f64> {
    let text = files.text("md/sync_completed")?;
    let mut sectors = text.split(" / ").map_while(|part| part.parse::<f64>().ok());
    let done = sectors.next()?;
    let all = sectors.next().filter(|all| *all > 0.0)?;
    Some(100.0 * done / all)
}

fn members(files: &ArrayFiles<'_>) -> Vec<MdMember> {
    let names = files.names("md");
    let members = names.iter().filter_map(|entry| {
        let text = |file: &str| files.text(&format!("md/{entry}/{file}"));
        Some(MdMember {
            name: entry.strip_prefix("dev-")?.to_owned(),
            state: text("state")?,
            slot: text("slot").unwrap_or_default(),
            errors: files.number(&format!("md/{entry}/errors")).unwrap_or(0),
        })
    });
    members.collect()
}

fn settings(files: &ArrayFiles<'_>) -> MdSettings {
    // md writes "none" for a missing bitmap.
    let bitmap = files
        .text("md/bitmap/location")
        .filter(|text| text != "none");
    MdSettings {
        chunk: files.number("md/chunk_size").filter(|bytes| *bytes > 0),
        bitmap_chunk: bitmap
            .is_some()
            .then(|| files.number("md/bitmap/chunksize"))
            .flatten(),
        bitmap,
        stripe_cache: files.number("md/stripe_cache_size"),
        journal: files.text("md/journal_mode").map(|text| chosen(&text)),
        policy: files
            .text("md/consistency_policy")
            .filter(|text| text != "none"),
    }
}
