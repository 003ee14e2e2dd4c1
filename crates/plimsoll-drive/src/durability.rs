//! What a drive has acknowledged and a power cut takes away.

use plimsoll_plan::array::JournalMode;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::cluster::ClusterKind;
use plimsoll_plan::units::Bytes;

use crate::spec::{DriveSpec, Mechanism, WriteCache};

/// A volatile buffer whose size the drive file does not state.
const BUFFER: Bytes = Bytes::mib(64);

/// The buffer that loses what was not flushed; `None`: what is acknowledged is durable. A drive that ignores flushes is taken
/// for one whose buffer is volatile, even when its file has capacitors: with them nothing would be lost, and the setting would
/// mean nothing.
pub fn volatile_buffer(drive: &DriveSpec, ignores_flush: bool) -> Option<Bytes> {
    let mut drives = drive.drives.iter().chain([drive]);
    let is_volatile = drives.any(|own| own.write_cache == WriteCache::Volatile)
        && !drive.assembly.as_ref().is_some_and(acknowledges_durably);
    (ignores_flush || is_volatile).then(|| buffer_of(drive))
}

/// What the drive acknowledges before it is on the medium.
fn buffer_of(drive: &DriveSpec) -> Bytes {
    let of_drives = drive.drives.iter().map(stated_buffer);
    let stated = of_drives.max().unwrap_or(stated_buffer(drive));
    let of_each = if stated.0 == 0 { BUFFER } else { stated };
    Bytes(of_each.0 * drives_of_data(drive))
}

fn stated_buffer(drive: &DriveSpec) -> Bytes {
    match &drive.mechanism {
        Mechanism::Flash(flash) => flash.buffer,
        Mechanism::Disk(disk) => disk.buffer,
        Mechanism::Volume(_) => Bytes(0),
    }
}

/// Drives whose buffers have different data at a time.
fn drives_of_data(drive: &DriveSpec) -> u64 {
    let drives = match &drive.assembly {
        None => 1.0,
        Some(DriveAssembly::Array(own)) => {
            let of_each = drive.drive(0).capacity.0;
            own.usable(of_each) as f64 / of_each.max(1) as f64
        }
        Some(DriveAssembly::Cluster(own)) => {
            // Of a vSAN group the first drive has what is not yet on the others.
            let of_host = match own.kind {
                ClusterKind::Vsan => own.groups,
                ClusterKind::Ceph => own.data_drives(),
            };
            f64::from(own.hosts * of_host) / own.policy().bytes_per_byte()
        }
    };
    // An array holds whole chunks only.
    drives.round().max(1.0) as u64
}

/// Whether a write is complete only when a power cut cannot take it away, whatever the drives are. Those of a vSAN cluster
/// count as protected.
fn acknowledges_durably(assembly: &DriveAssembly) -> bool {
    match assembly {
        DriveAssembly::Array(own) => {
            (own.cache.is_some() && own.battery) || own.journal == Some(JournalMode::WriteThrough)
        }
        DriveAssembly::Cluster(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use plimsoll_plan::assembly::NamedAssembly;

    fn buffer(name: &str) -> u64 {
        buffer_of(&spec(name)).0
    }

    fn spec(name: &str) -> DriveSpec {
        let named: NamedAssembly = name.parse().unwrap();
        let file = catalog::assembly_file(named).unwrap();
        catalog::load("array", &file.text).unwrap()
    }

    #[test]
    fn an_array_may_lose_what_the_buffers_of_its_drives_hold() {
        let entry = catalog::find("consumer-nvme-1t").unwrap();
        let one = buffer_of(&catalog::load("one", entry.text).unwrap()).0;
        assert_eq!(buffer("raid1:2:consumer-nvme-1t"), one);
        assert_eq!(buffer("raid10:4:consumer-nvme-1t"), 2 * one);
        assert_eq!(buffer("raid5:6:consumer-nvme-1t"), 5 * one);
        assert_eq!(buffer("vsan:4:3:consumer-nvme-1t"), 2 * one);
    }

    #[test]
    fn what_acknowledges_durably_loses_nothing() {
        for (options, is_durable) in [
            ("raid5:4:consumer-nvme-1t", false),
            ("raid5:4:consumer-nvme-1t:cache=1GB", true),
            ("raid5:4:consumer-nvme-1t:cache=1GB:battery=no", false),
            ("raid5:4:consumer-nvme-1t:journal=write-through", true),
            ("raid5:4:consumer-nvme-1t:journal=write-back", false),
            ("ceph:3:2:consumer-nvme-1t", true),
            ("vsan:4:3:consumer-nvme-1t", true),
        ] {
            let drive = spec(options);
            assert_eq!(
                volatile_buffer(&drive, false).is_none(),
                is_durable,
                "{options}"
            );
            assert!(volatile_buffer(&drive, true).is_some());
        }
    }
}
