//! What killed runs have left on the media of a plan.

use std::path::Path;

use plimsoll_load::limit;
use plimsoll_load::scratch::sweep;
use plimsoll_plan::resolved::{MediumKind, ResolvedPlan};
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;

use super::drives::DRIVE_DIR;
use crate::failure::Failure;

/// Media may hold what a killed run left; it is cleared before anything new is made, and nothing else is touched.
pub fn clear_leftovers(plan: &ResolvedPlan) -> Result<Vec<EventKind>, Failure> {
    // Those of hosts that run the plan are theirs.
    if !plan.on_hosts.is_empty() {
        return Ok(Vec::new());
    }
    let mut cleared = Vec::new();
    // Nothing is made on a device that could be left.
    for medium in plan
        .used_media()
        .map(|medium| plan.medium(medium))
        .filter(|medium| medium.kind != MediumKind::Device)
    {
        cleared.extend(clear_directory(Path::new(&medium.path))?);
    }
    // After the servers in them.
    if plan.systems.iter().any(|system| !system.limits.is_none()) {
        cleared.extend(
            limit::sweep()
                .into_iter()
                .map(|group| group.display().to_string()),
        );
    }
    let cleared = cleared.into_iter();
    Ok(cleared
        .map(|removed| EventKind::Leftovers { removed })
        .collect())
}

/// Clears what killed runs left in a directory. Returns what was done, a sentence each.
pub fn clear_directory(directory: &Path) -> Result<Vec<String>, Failure> {
    Ok(sweep(directory, &clear_drives)?)
}

/// Mounts and loop devices of an emulator that is gone, or about to be: its run is.
fn clear_drives(dir: &Path) -> std::io::Result<Vec<String>> {
    const PATIENCE: Nanos = Nanos::from_millis(60_000);
    let dir = dir.join(DRIVE_DIR);
    if !dir.exists() && dir.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    plimsoll_drive::emulate::clear(&dir, PATIENCE)
}
