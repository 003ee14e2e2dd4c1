//! Whether flushes make writes durable, by how long they take.
//!
//! No software can observe what a drive does with a flush. But a medium has a speed: a disk cannot make the same place
//! durable twice in one turn, and flash cannot without programming a page. Who answers sooner keeps what it acknowledges
//! alive without power, or forgets it; only knowledge of the drive, or a power cut, decides which.

use plimsoll_plan::units::Nanos;
use plimsoll_record::Diagnosis;

use super::{error, grouped, ok, unknown, warning};
use crate::doctor::evidence::{Disk, DiskKind, Medium, Pace, Protection, SyncOutcome, SyncTest};

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

const LIES: &str = "Do not run a database on it that must not lose what it has committed. On purpose (flush = \"ignored\") it \
                    shows just that.";
const LOOK_UP: &str = "Find out whether its cache is protected (data sheet, controller, host); name the drive with --drive, or cut the power.";

/// What can make a write durable here, and how soon.
#[derive(Debug, Clone, PartialEq)]
struct Medial {
    /// No sooner than this, each.
    least: Nanos,
    why: String,
}

/// `None`: not requested.
pub fn fsync(medium: &Medium) -> Option<Diagnosis> {
    let test = match medium.sync.as_ref()? {
        SyncOutcome::Tested(test) => test,
        SyncOutcome::Untested(why, next) => return Some(unknown("fsync", why.clone(), next)),
    };
    let measured = describe(test);
    let fastest = test.fastest();
    let random_read = medium.sample.as_ref().ok().and_then(|sample| sample.read);
    let limit = medium
        .disks
        .iter()
        .filter_map(|disk| limit(disk, random_read))
        .max_by_key(|limit| limit.least);
    let too_fast = limit.as_ref().filter(|limit| fastest.median < limit.least);
    Some(match protection(&medium.disks) {
        Some(Protection::Protected) => ok(
            "fsync",
            format!("{measured}; its cache is protected, so that may be"),
        ),
        Some(Protection::Volatile) => match (too_fast, limit.is_some()) {
            (Some(limit), _) => error("fsync", lie(&measured, limit), LIES),
            (None, true) => ok(
                "fsync",
                format!("{measured}: no sooner than the medium can"),
            ),
            (None, false) => unknown(
                "fsync",
                format!("{measured}: how fast the medium can is not known"),
                LOOK_UP,
            ),
        },
        None => of_unknown(test, &measured, medium, too_fast),
    })
}

/// The protection of its cache is unknown.
fn of_unknown(
    test: &SyncTest,
    measured: &str,
    medium: &Medium,
    too_fast: Option<&Medial>,
) -> Diagnosis {
    let sure = medium.disks.iter().any(|disk| turns(disk).is_some());
    match too_fast {
        // It reports that it is a disk, and reports no protected cache.
        Some(limit) if sure => error("fsync", lie(measured, limit), LIES),
        Some(limit) => warning(
            "fsync",
            format!("{}. Or a protected cache answers", lie(measured, limit)),
            LOOK_UP,
        ),
        None if costs_nothing(test) => {
            let found = format!(
                "{measured}: a flush costs next to nothing. Either the cache is protected, or flushes are ignored and a \
                 power cut takes what was committed"
            );
            warning("fsync", found, LOOK_UP)
        }
        None => ok(
            "fsync",
            format!("{measured}: flushes reach something that takes its time"),
        ),
    }
}

/// No flash was programmed and no head was moved for it.
fn costs_nothing(test: &SyncTest) -> bool {
    test.flush.median < PROGRAM
}

fn lie(measured: &str, limit: &Medial) -> String {
    format!("FLUSHES ARE IGNORED: {measured}, and {}", limit.why)
}

/// The rates of one writer.
fn describe(test: &SyncTest) -> String {
    let SyncTest {
        direct,
        unsynced,
        synced,
        flush,
        dsync,
    } = test;
    let cache = if *direct { "" } else { " into the page cache" };
    format!(
        "{} writes of 4 KiB a second{cache}, {} with fdatasync ({} of which is the flush), {} with O_DSYNC",
        rate(unsynced),
        rate(synced),
        time(flush.median),
        rate(dsync)
    )
}

fn rate(pace: &Pace) -> String {
    grouped(pace.per_second())
}

fn time(time: Nanos) -> String {
    if time >= Nanos::from_millis(1) {
        format!("{:.1} ms", time.as_millis_f64())
    } else {
        format!("{:.0} µs", time.as_micros_f64())
    }
}

/// Protected if all are; volatile if one is known to be.
fn protection(disks: &[Disk]) -> Option<Protection> {
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
fn turns(disk: &Disk) -> Option<Nanos> {
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
fn limit(disk: &Disk, random_read: Option<Nanos>) -> Option<Medial> {
    if let Some(per_second) = disk
        .known
        .as_ref()
        .and_then(|known| known.synced_per_second)
    {
        let least = Nanos((1e9 / (per_second * MODEL_TOLERANCE).max(1e-3)) as u64);
        return Some(Medial {
            least,
            why: format!("the drive that is emulated makes {per_second:.0} durable"),
        });
    }
    if let Some(turn) = turns(disk) {
        let least = Nanos((turn.0 as f64 * TURN_TOLERANCE) as u64);
        let per_second = 1e9 / turn.0.max(1) as f64;
        return Some(Medial {
            least,
            why: format!("a disk comes by the same place {per_second:.0} times a second at most"),
        });
    }
    if let Some(read) = random_read.filter(|read| *read >= SEEKS) {
        let why = format!(
            "reads at random take {}, as of a disk, which comes by the same place 250 times a second at most",
            time(read)
        );
        return Some(Medial {
            least: Nanos((FASTEST_TURN.0 as f64 * TURN_TOLERANCE) as u64),
            why,
        });
    }
    let is_kernel_flash = matches!(disk.kind, DiskKind::Nvme | DiskKind::Scsi)
        && disk.queue.rotational == Some(false);
    let is_flash = is_kernel_flash || disk.known.as_ref().is_some_and(|known| known.is_flash);
    let volatile = disk
        .known
        .as_ref()
        .is_some_and(|known| known.protection == Protection::Volatile);
    let why = "a page of flash takes at least 100 µs to program".to_owned();
    (is_flash && volatile).then_some(Medial {
        least: PROGRAM,
        why,
    })
}

#[cfg(test)]
#[path = "sync_tests.rs"]
mod tests;
