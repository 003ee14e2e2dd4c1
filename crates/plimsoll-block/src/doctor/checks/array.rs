//! The arrays that a medium lies on.

use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::StorageArrayState;
use plimsoll_record::{Diagnosis, DiagnosisLevel};

use super::row::{diagnosis, ok, unknown, warning};
use crate::doctor::evidence::{
    ArrayEvidence, ArraySettings, MdSettings, MediumEvidence, PoolSettings, UnknownArray,
    VolumeSettings,
};

/// What each is and whether it is whole, and how it is set up.
pub fn arrays(medium: &MediumEvidence) -> Vec<Diagnosis> {
    let mut rows = Vec::new();
    for found in &medium.arrays {
        match found {
            Ok(own) => {
                rows.push(array(own));
                rows.extend(own.settings.as_ref().map(settings));
            }
            Err(unknown) => rows.push(unknown_array(unknown)),
        }
    }
    rows
}

fn array(own: &ArrayEvidence) -> Diagnosis {
    let state = state(own);
    let level = match state {
        StorageArrayState::Whole => DiagnosisLevel::Ok,
        StorageArrayState::Broken => DiagnosisLevel::Error,
        _ => DiagnosisLevel::Warning,
    };
    let found = DoctorFinding::Array {
        state,
        name: own.name.clone(),
        raid: own.level.clone(),
        members: own.members,
        missing: own.missing,
        failed: own.failed.clone(),
        spares: Some(own.spares).filter(|spares| *spares > 0),
        action: own.action.clone(),
        done_percent: own.done_percent.filter(|_| own.action.is_some()),
        errors: own.errors,
    };
    diagnosis(level, "array", found)
}

fn state(own: &ArrayEvidence) -> StorageArrayState {
    let is_filled = own.action.as_deref() == Some("recover");
    if own.is_broken {
        StorageArrayState::Broken
    } else if own.missing > 0 && !is_filled {
        StorageArrayState::Degraded
    } else if own.action.is_some() {
        StorageArrayState::Busy
    } else if !own.failed.is_empty() {
        StorageArrayState::Replaced
    } else if own.errors > 0 {
        StorageArrayState::Errors
    } else {
        StorageArrayState::Whole
    }
}

fn settings(settings: &ArraySettings) -> Diagnosis {
    match settings {
        ArraySettings::Md(md) => of_md(md),
        ArraySettings::Volume(volume) => of_volume(volume),
        ArraySettings::Ceph(pool) => of_pool(pool),
    }
}

fn of_md(md: &MdSettings) -> Diagnosis {
    let found = DoctorFinding::ArraySettings {
        chunk_bytes: md.chunk,
        bitmap: md.bitmap.clone(),
        bitmap_chunk_bytes: md.bitmap_chunk,
        stripe_cache: md.stripe_cache,
        journal: md.journal.clone(),
        policy: md.policy.clone(),
    };
    ok("array_settings", found)
}

/// A thin pool that is nearly full soon takes no writes.
const FULL_PERCENT: f64 = 90.0;

fn of_volume(volume: &VolumeSettings) -> Diagnosis {
    let is_full = volume.used_percent.is_some_and(|used| used >= FULL_PERCENT);
    let found = DoctorFinding::VolumeSettings {
        chunk_bytes: volume.chunk,
        region_bytes: volume.region,
        cache_mode: volume.cache_mode.clone(),
        zeroes: volume.zeroes,
        used_percent: volume.used_percent,
    };
    if is_full {
        warning("array_settings", found)
    } else {
        ok("array_settings", found)
    }
}

fn of_pool(pool: &PoolSettings) -> Diagnosis {
    let found = DoctorFinding::CephPool {
        pool: pool.pool.clone(),
        copies: pool.copies,
        least_copies: pool.least_copies,
        osds: pool.osds,
        osds_up: pool.osds_up,
        osds_in: pool.osds_in,
        degraded_percent: pool.degraded_percent,
        health: pool.health.clone(),
    };
    if pool.health == "HEALTH_OK" {
        ok("array_settings", found)
    } else {
        warning("array_settings", found)
    }
}

fn unknown_array(own: &UnknownArray) -> Diagnosis {
    let found = DoctorFinding::ArrayUnknown {
        layer: own.layer,
        name: own.name.clone(),
        cause: own.cause,
        command: own.command.clone(),
    };
    unknown("array", found)
}

#[cfg(test)]
#[path = "array_tests.rs"]
mod tests;
