//! Durable writes, one after the other.

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use crate::model::{Op, Setup, Storage};
use crate::spec::DriveSpec;
use crate::storage_model::StorageModel;

const BLOCK: u64 = 4096;
const WRITES: u32 = 500;

/// How often a second the drive makes the same 4 KiB durable: each write is followed by a flush, and that by the next
/// write.
pub fn synced_per_second(spec: &DriveSpec, capacity: Bytes, fill: f64, seed: u64) -> f64 {
    let mut storage = StorageModel::new(
        spec,
        &Setup {
            capacity,
            fill,
            seed,
            ignores_flush: false,
        },
    );
    let offset = capacity.0 / 2 / BLOCK * BLOCK;
    let mut now = Nanos::ZERO;
    for _ in 0..WRITES {
        for kind in [DriveOp::Write, DriveOp::Flush] {
            let op = Op {
                kind,
                offset,
                len: if kind == DriveOp::Write { BLOCK } else { 0 },
            };
            storage.submit(now, op);
            now = storage.advance(Nanos(u64::MAX)).map_or(now, |done| done.at);
        }
    }
    f64::from(WRITES) / now.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn a_volatile_cache_waits_for_its_medium_and_a_protected_one_does_not() {
        let of = |name: &str| {
            let spec = catalog::load(name, catalog::find(name).unwrap().text).unwrap();
            synced_per_second(&spec, Bytes(16 << 30), 1.0, 1)
        };
        // 16.7 µs and a flush of 1 ms.
        assert!(
            (900.0..1000.0).contains(&of("consumer-nvme-1t")),
            "{}",
            of("consumer-nvme-1t")
        );
        assert!(
            of("kingston-dc1500m-960g") > 10_000.0,
            "{}",
            of("kingston-dc1500m-960g")
        );
        assert!(
            (50.0..500.0).contains(&of("disk-7200rpm-4t")),
            "{}",
            of("disk-7200rpm-4t")
        );
    }
}
