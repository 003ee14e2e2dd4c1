//! Ceph: an image of RBD by the kernel (Documentation/ABI/testing/sysfs-bus-rbd) or by rbd-nbd, or a CephFS. The `ceph` command
//! has the state of the cluster.

use plimsoll_record::message::doctor::{ArrayUnknownCause, StorageLayer};
use serde_json::Value;

use super::files::{ArrayFiles, FoundArray};
use crate::doctor::evidence::{ArrayEvidence, ArraySettings, PoolSettings, UnknownArray};
use crate::doctor::gather::tool::{ToolFailure, run_within};
use crate::host::device::BlockDevice;
use crate::host::mount::Mount;
use crate::host::source::KernelFiles;

const COMMAND: &str = "ceph -s && ceph osd pool ls detail";
const PATIENCE_S: i64 = 5;
/// What names of placement groups' states contain while copies are made or compared, the heaviest first.
const WORK: [&str; 4] = ["recover", "backfill", "deep", "scrubbing"];

/// Where the data are in Ceph.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CephData {
    name: String,
    /// `None`: of a CephFS, whose files may be in several, or not known.
    pool: Option<String>,
}

impl CephData {
    fn image(pool: &str, name: &str) -> Self {
        Self {
            name: format!("{pool}/{name}"),
            pool: Some(pool.to_owned()),
        }
    }
}

pub fn array(
    source: &KernelFiles,
    stack: &[BlockDevice],
    mount: Option<&Mount>,
    may_run: bool,
) -> Option<FoundArray> {
    let image = stack.iter().find_map(|device| image(source, device));
    let place = image.or_else(|| filesystem(mount?))?;
    let unknown = |cause| UnknownArray {
        layer: StorageLayer::Ceph,
        name: place.name.clone(),
        cause,
        command: COMMAND.to_owned(),
    };
    if !may_run {
        return Some(Err(unknown(ArrayUnknownCause::NotAsked)));
    }
    let asked = status().and_then(|status| Ok((status, pools()?)));
    Some(match asked {
        Ok((status, pools)) => {
            of_cluster(&place, &status, &pools).ok_or_else(|| unknown(ArrayUnknownCause::NoAnswer))
        }
        Err(failure) => Err(unknown(failure.of_array())),
    })
}

fn status() -> Result<String, ToolFailure> {
    run_within(
        "ceph",
        &["-s", "-f", "json", "--connect-timeout", "4"],
        PATIENCE_S,
    )
}

fn pools() -> Result<String, ToolFailure> {
    let args = ["osd", "pool", "ls", "detail", "-f", "json"];
    run_within("ceph", &args, PATIENCE_S)
}

fn image(source: &KernelFiles, device: &BlockDevice) -> Option<CephData> {
    if let Some(id) = device.name.strip_prefix("rbd") {
        let files = ArrayFiles {
            source,
            directory: format!("sys/bus/rbd/devices/{id}"),
        };
        return Some(CephData::image(&files.text("pool")?, &files.text("name")?));
    }
    if device.name.starts_with("nbd") {
        let pid = ArrayFiles::of(source, device).text("pid")?;
        let command = source.read(&format!("proc/{pid}/cmdline")).ok()?;
        return mapped(&command);
    }
    None
}

/// The image of `rbd-nbd map [pool/[namespace/]]image`; the words end with zeros.
fn mapped(command: &str) -> Option<CephData> {
    let mut words = command.split('\0');
    words.next().filter(|word| word.ends_with("rbd-nbd"))?;
    let mut words = words.skip_while(|word| *word != "map").skip(1);
    // The word after another option may be its value, even a key: what then is the image is not known.
    let is_known =
        |word: &&str| !word.starts_with('-') || ["--read-only", "--exclusive"].contains(word);
    let has_others = words.clone().any(|word| !is_known(&word));
    let image = words.find(|word| !word.is_empty() && !word.starts_with('-'))?;
    if has_others {
        return Some(CephData {
            name: "RBD".to_owned(),
            pool: None,
        });
    }
    let parts = image.split_once('/');
    Some(parts.map_or_else(
        || CephData::image("rbd", image),
        |(pool, name)| CephData::image(pool, name),
    ))
}

fn filesystem(mount: &Mount) -> Option<CephData> {
    let is_ceph = ["ceph", "fuse.ceph-fuse", "fuse.ceph"].contains(&mount.filesystem.as_str());
    is_ceph.then(|| CephData {
        name: "CephFS".to_owned(),
        pool: None,
    })
}

/// Of `ceph -s -f json` and `ceph osd pool ls detail -f json`.
fn of_cluster(place: &CephData, status: &str, pools: &str) -> Option<ArrayEvidence> {
    let status: Value = serde_json::from_str(status).ok()?;
    let pools: Value = serde_json::from_str(pools).ok()?;
    let mut pools = pools.as_array()?.iter();
    let pool = place
        .pool
        .as_deref()
        .and_then(|name| pools.find(|pool| pool["pool_name"] == name));
    let count = |name: &str| status["osdmap"][name].as_u64();
    let osds = count("num_osds")?;
    let osds_up = count("num_up_osds")?;
    let degraded = status["pgmap"]["degraded_ratio"].as_f64().unwrap_or(0.0);
    let settings = PoolSettings {
        pool: place.pool.clone(),
        copies: pool.and_then(|pool| pool["size"].as_u64()),
        least_copies: pool.and_then(|pool| pool["min_size"].as_u64()),
        osds,
        osds_up,
        osds_in: count("num_in_osds")?,
        degraded_percent: 100.0 * degraded,
        health: status["health"]["status"].as_str()?.to_owned(),
    };
    Some(ArrayEvidence {
        name: place.name.clone(),
        level: level(pool),
        members: osds,
        missing: osds.saturating_sub(osds_up),
        action: action(&status["pgmap"]["pgs_by_state"]),
        settings: Some(ArraySettings::Ceph(settings)),
        ..ArrayEvidence::default()
    })
}

fn level(pool: Option<&Value>) -> String {
    let profile = pool.and_then(|pool| pool["erasure_code_profile"].as_str());
    match profile.filter(|profile| !profile.is_empty()) {
        Some(profile) => format!("Ceph, erasure code {profile}"),
        None => "Ceph".to_owned(),
    }
}

fn action(states: &Value) -> Option<String> {
    let names = states.as_array()?.iter();
    let names: Vec<_> = names
        .filter_map(|state| state["state_name"].as_str())
        .collect();
    let found = WORK
        .iter()
        .find(|work| names.iter().any(|name| name.contains(*work)));
    let name = match *found? {
        "backfill" => "recover",
        "deep" | "scrubbing" => "scrub",
        other => other,
    };
    Some(name.to_owned())
}

#[cfg(test)]
#[path = "ceph_tests.rs"]
mod tests;
