//! Whether flushes make writes durable, by how long they take.
//!
//! No software can observe what a drive does with a flush. But a medium has a speed: a disk cannot make the same place
//! durable twice in one turn, and flash cannot without programming a page. Who answers sooner keeps what it acknowledges
//! alive without power, or forgets it; only knowledge of the drive, or a power cut, decides which.

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::message::doctor::{FlushLimit, FlushOutcome};
use plimsoll_record::{Diagnosis, DiagnosisLevel};

use super::row::{diagnosis, unknown};
use crate::doctor::evidence::{
    DiskEvidence, DiskKind, MediumEvidence, Protection, SyncOutcome, SyncTest,
};

/// The fastest disk there ever was turned 15,000 times a minute.
const FASTEST_TURN: Nanos = Nanos(4_000_000);
/// What a page of flash takes to program at least: single-level cells, 100 µs and more (NVMeVirt, FAST 2023, has 185 µs
/// for a drive of 2018).
const PROGRAM: Nanos = Nanos::from_micros(100);
/// The clock, and a disk that turns a little faster than it reports.
const TURN_TOLERANCE: f64 = 0.9;
/// An emulated drive's times are known; beyond this it did not wait for what its model waits for.
const MODEL_TOLERANCE: f64 = 2.0;
/// Reads at random that take this long are a head's movements: no flash and no network of a data centre is so slow.
const SEEKS: Nanos = Nanos::from_millis(4);

/// What can make a write durable here, and how soon.
#[derive(Debug, Clone, PartialEq)]
struct SyncLimit {
    /// No sooner than this, each.
    least: Nanos,
    kind: FlushLimit,
    per_second: Option<f64>,
}

/// `None`: not requested.
pub fn fsync(medium: &MediumEvidence) -> Option<Diagnosis> {
    let test = match medium.sync.as_ref()? {
        SyncOutcome::Tested(test) => test,
        SyncOutcome::Untested(why) => return Some(unknown("fsync", why.clone())),
    };
    let fastest = test.fastest();
    let random_read = medium.sample.as_ref().ok().and_then(|sample| sample.read);
    let limit = medium
        .disks
        .iter()
        .filter_map(|disk| limit(disk, random_read))
        .max_by_key(|limit| limit.least);
    let too_fast = limit
        .as_ref()
        .is_some_and(|limit| fastest.median < limit.least);
    let turns = medium.disks.iter().any(|disk| turns(disk).is_some());
    let outcome = match protection(&medium.disks) {
        Some(Protection::Protected) => FlushOutcome::Protected,
        Some(Protection::Volatile) if too_fast => FlushOutcome::Ignored,
        Some(Protection::Volatile) if limit.is_some() => FlushOutcome::Plausible,
        Some(Protection::Volatile) => FlushOutcome::NoLimit,
        // It reports that it is a disk, and reports no protected cache.
        None if too_fast && turns => FlushOutcome::Ignored,
        None if too_fast => FlushOutcome::IgnoredOrProtected,
        None if costs_nothing(test) => FlushOutcome::Free,
        None => FlushOutcome::TakesTime,
    };
    let level = match outcome {
        FlushOutcome::Protected | FlushOutcome::Plausible | FlushOutcome::TakesTime => {
            DiagnosisLevel::Ok
        }
        FlushOutcome::NoLimit => DiagnosisLevel::Unknown,
        FlushOutcome::IgnoredOrProtected | FlushOutcome::Free => DiagnosisLevel::Warning,
        FlushOutcome::Ignored => DiagnosisLevel::Error,
    };
    let limit = limit.filter(|_| too_fast);
    let found = DoctorFinding::Flush {
        outcome,
        limit: limit.as_ref().map(|limit| limit.kind),
        limit_per_second: limit.as_ref().and_then(|limit| limit.per_second),
        read_ns: random_read.map(|time| time.0),
        is_direct: test.direct,
        unsynced_per_second: test.unsynced.per_second(),
        synced_per_second: test.synced.per_second(),
        flush_ns: test.flush.median.0,
        dsync_per_second: test.dsync.per_second(),
    };
    Some(diagnosis(level, "fsync", found))
}

/// No flash was programmed and no head was moved for it.
fn costs_nothing(test: &SyncTest) -> bool {
    test.flush.median < PROGRAM
}

/// Protected if all are; volatile if one is known to be.
fn protection(disks: &[DiskEvidence]) -> Option<Protection> {
    let known: Vec<Option<Protection>> = disks
        .iter()
        .map(|disk| disk.known.as_ref().map(|known| known.protection))
        .collect();
    if known.contains(&Some(Protection::Volatile)) {
        return Some(Protection::Volatile);
    }
    let is_protected = !known.is_empty()
        && known
            .iter()
            .all(|protection| *protection == Some(Protection::Protected));
    is_protected.then_some(Protection::Protected)
}

/// The time of a turn, where the disk is known to turn. Virtual disks often report it wrongly.
fn turns(disk: &DiskEvidence) -> Option<Nanos> {
    let rpm = disk
        .health
        .as_ref()
        .ok()
        .and_then(|smart| smart.rpm)
        .filter(|rpm| *rpm > 0);
    let of_rpm = rpm.map(|rpm| Nanos(60_000_000_000 / rpm));
    let reports_rotation = disk.kind == DiskKind::Scsi && disk.queue.rotational == Some(true);
    disk.known
        .as_ref()
        .and_then(|known| known.turn)
        .or(of_rpm)
        .or(reports_rotation.then_some(FASTEST_TURN))
}

/// How soon a write can be durable on this disk; `None`: not known.
fn limit(disk: &DiskEvidence, random_read: Option<Nanos>) -> Option<SyncLimit> {
    if let Some(per_second) = disk
        .known
        .as_ref()
        .and_then(|known| known.synced_per_second)
    {
        return Some(SyncLimit {
            least: Nanos((1e9 / (per_second * MODEL_TOLERANCE).max(1e-3)) as u64),
            kind: FlushLimit::Model,
            per_second: Some(per_second),
        });
    }
    if let Some(turn) = turns(disk) {
        return Some(SyncLimit::of_turn(turn, FlushLimit::Rotation));
    }
    if random_read.is_some_and(|read| read >= SEEKS) {
        return Some(SyncLimit::of_turn(FASTEST_TURN, FlushLimit::Seeks));
    }
    let is_kernel_flash = matches!(disk.kind, DiskKind::Nvme | DiskKind::Scsi)
        && disk.queue.rotational == Some(false);
    let is_flash = is_kernel_flash || disk.known.as_ref().is_some_and(|known| known.is_flash);
    let volatile = disk
        .known
        .as_ref()
        .is_some_and(|known| known.protection == Protection::Volatile);
    (is_flash && volatile).then_some(SyncLimit {
        least: PROGRAM,
        kind: FlushLimit::Program,
        per_second: None,
    })
}

impl SyncLimit {
    fn of_turn(turn: Nanos, kind: FlushLimit) -> Self {
        Self {
            least: Nanos((turn.0 as f64 * TURN_TOLERANCE) as u64),
            kind,
            per_second: Some(1e9 / turn.0.max(1) as f64),
        }
    }
}

#[cfg(test)]
#[path = "sync_tests.rs"]
mod tests;
