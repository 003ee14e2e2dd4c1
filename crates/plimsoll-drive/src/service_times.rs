//! How long a drive takes for the kinds of requests that a database makes: which of two is at least as fast in every respect.

use plimsoll_plan::units::{Bytes, Nanos};

use crate::model::{DriveOp, Op, Setup, Storage};
use crate::spec::DriveSpec;
use crate::storage_model::StorageModel;

/// Offsets lie in a region of this size, the same on all drives.
const REGION: Bytes = Bytes(4 << 30);
const KINDS: usize = 6;

/// Reads one at a time and four at a time; short and long commits; long writes, and many short ones at once, both until they
/// are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceTimes([Nanos; KINDS]);

impl ServiceTimes {
    /// By the model of the drive at its rated speed.
    pub fn of(spec: &DriveSpec, fill: f64, ignores_flush: bool) -> Self {
        let rated = spec.clone().slower(1.0 / spec.slower);
        let setup = Setup {
            capacity: REGION.min(spec.capacity),
            fill,
            seed: 7,
            ignores_flush,
        };
        Self(kinds().map(|batches| time_of(StorageModel::new(&rated, &setup), &batches)))
    }

    /// At least as fast for each kind.
    pub fn is_as_fast_as(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| *own <= other)
    }
}

fn kinds() -> [Vec<Vec<Op>>; KINDS] {
    let op = |kind, n: u64, len| Op {
        kind,
        offset: n * 7_919 * 4_096 % REGION.0,
        len,
    };
    let flush = vec![op(DriveOp::Flush, 0, 0)];
    let several = |kind, count: u64, n: u64| -> Vec<Op> {
        let numbers = n * count..(n + 1) * count;
        numbers.map(|number| op(kind, number, 4_096)).collect()
    };
    let reads = |count| move |n| several(DriveOp::Read, count, n);
    let writes = |count| move |n| several(DriveOp::Write, count, n);
    let commit = |n| [vec![op(DriveOp::Write, n, 16_384)], flush.clone()];
    let long_commit = |n| [several(DriveOp::Write, 32, n), flush.clone()];
    let long_write = |n| vec![op(DriveOp::Write, n, 1 << 20)];
    let flushed = || std::iter::once(flush.clone());
    [
        (0..200).map(reads(1)).collect(),
        (0..50).map(reads(4)).collect(),
        (0..50).flat_map(commit).collect(),
        (0..10).flat_map(long_commit).collect(),
        (0..100).map(long_write).chain(flushed()).collect(),
        (0..50).map(writes(64)).chain(flushed()).collect(),
    ]
}

/// Requests of a batch at once, one batch after the other.
fn time_of(mut model: StorageModel, batches: &[Vec<Op>]) -> Nanos {
    let mut now = Nanos::ZERO;
    for batch in batches {
        let mut waiting: Vec<_> = batch.iter().map(|op| model.submit(now, *op)).collect();
        loop {
            while let Some(done) = model.advance(now) {
                waiting.retain(|id| *id != done.id);
            }
            match model.next_event() {
                Some(next) if !waiting.is_empty() => now = now.max(next),
                _ => break,
            }
        }
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn times(name: &str, ignores_flush: bool) -> ServiceTimes {
        let spec = catalog::find(name).map(|entry| catalog::load(entry.name, entry.text));
        ServiceTimes::of(&spec.unwrap().unwrap(), 1.0, ignores_flush)
    }

    #[test]
    fn an_nvme_drive_is_as_fast_as_a_sata_drive_and_that_as_a_disk() {
        let [nvme, sata, disk] = [
            "kingston-dc1500m-960g",
            "micron-5200-eco-1920g",
            "seagate-constellation2-1t",
        ]
        .map(|name| times(name, false));
        assert!(
            nvme.is_as_fast_as(&sata) && sata.is_as_fast_as(&disk) && nvme.is_as_fast_as(&nvme)
        );
        assert!(!sata.is_as_fast_as(&nvme) && !disk.is_as_fast_as(&sata));
    }

    #[test]
    fn a_drive_that_lies_about_flushes_has_no_slower_one_among_honest_disks() {
        let disk = "seagate-constellation2-1t";
        assert!(times(disk, true).is_as_fast_as(&times(disk, false)));
        assert!(!times(disk, false).is_as_fast_as(&times(disk, true)));
    }

    #[test]
    fn a_slowed_drive_is_as_fast_as_it_is_rated() {
        let entry = catalog::find("micron-5200-eco-1920g").unwrap();
        let spec = catalog::load(entry.name, entry.text).unwrap();
        let slowed = spec.clone().slower(10.0);
        assert_eq!(
            ServiceTimes::of(&slowed, 1.0, false),
            ServiceTimes::of(&spec, 1.0, false)
        );
    }
}
