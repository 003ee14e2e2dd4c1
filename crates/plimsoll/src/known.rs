//! Facts from drive files about real and emulated drives, for the doctor.

use plimsoll_block::doctor::evidence::{KnownDrive, Protection};
use plimsoll_drive::catalog;
use plimsoll_drive::simulate::synced_per_second;
use plimsoll_drive::spec::{DriveSpec, Mechanism, WriteCache};
use plimsoll_plan::units::{Bytes, Nanos};

/// What a drive of this kind is like.
pub fn known(spec: &DriveSpec) -> KnownDrive {
    KnownDrive {
        name: match spec.slower {
            1.0 => spec.id.clone(),
            times => format!("{}, {times} times slower", spec.id),
        },
        models: spec.file.models.clone(),
        protection: match spec.write_cache {
            WriteCache::Protected => Protection::Protected,
            WriteCache::Volatile => Protection::Volatile,
        },
        is_flash: matches!(spec.mechanism, Mechanism::Flash(_)),
        source: spec.file.write_cache.source.clone(),
        turn: match &spec.mechanism {
            Mechanism::Disk(disk) => Some(Nanos((disk.turn.0 as f64 * spec.slower) as u64)),
            Mechanism::Flash(_) | Mechanism::Volume(_) => None,
        },
        synced_per_second: None,
    }
}

/// An emulated one, whose times are those of its model. Whether it flushes is not stated here: that is measured.
pub fn emulated(spec: &DriveSpec, capacity: Bytes, fill: f64, seed: u64) -> KnownDrive {
    KnownDrive {
        synced_per_second: Some(synced_per_second(spec, capacity, fill, seed)),
        ..known(spec)
    }
}

/// The drives of the catalog with a name that they are recognized by.
pub fn catalog() -> Vec<KnownDrive> {
    let specs = catalog::all()
        .iter()
        .filter_map(|entry| catalog::load(entry.name, entry.text).ok());
    specs
        .map(|spec| known(&spec))
        .filter(|known| !known.models.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_recognises_drives_and_knows_their_caches() {
        let all = catalog();
        let of = |name: &str| all.iter().find(|known| known.name == name).unwrap();
        assert_eq!(
            of("kingston-dc1500m-960g").protection,
            Protection::Protected
        );
        assert_eq!(of("consumer-nvme-1t").protection, Protection::Volatile);
        let disk = of("seagate-constellation2-1t");
        assert_eq!(
            disk.turn.map(|turn| turn.as_millis_f64().round()),
            Some(8.0)
        );
        let mut models: Vec<&String> = all.iter().flat_map(|known| &known.models).collect();
        let count = models.len();
        models.sort();
        models.dedup();
        assert_eq!(models.len(), count, "no name leads to two drives");
    }
}
