//! Which drives the components of virtual disks are on.

use plimsoll_plan::cluster::ClusterSpec;

use crate::model::Random;

/// Where a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentPlace {
    pub host: u32,
    /// Of its host's drives with data.
    pub drive: u32,
    /// Where on that drive it begins.
    pub base: u64,
}

/// A part of a virtual disk that has components of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedObject {
    /// The host that uses it.
    pub home: u32,
    /// Bytes of the cluster.
    pub from: u64,
    pub to: u64,
    /// Bytes of each component.
    pub component_bytes: u64,
    /// No two are on the same host.
    pub components: Vec<ComponentPlace>,
}

/// What is on the drives so far.
struct DriveLevels {
    drives_of_host: u32,
    used: Vec<u64>,
}

/// Places virtual disks of `usable` bytes together, each component on the emptiest drive of a host without another one of
/// the same object; of equal ones by lot.
pub fn place(spec: &ClusterSpec, usable: u64, seed: u64) -> Vec<PlacedObject> {
    let layout = spec.layout();
    let mut random = Random::new(seed ^ 0x5eed_0b1e);
    let mut levels = DriveLevels {
        drives_of_host: spec.drives - 1,
        used: vec![0; spec.data_drives() as usize],
    };
    let mut objects = Vec::new();
    let vdisk_bytes = spec.vdisk_bytes(usable);
    for vdisk in 0..spec.vdisks {
        let start = u64::from(vdisk) * vdisk_bytes;
        let end = start + vdisk_bytes;
        let mut from = start;
        while from < end {
            let to = (from + spec.object_bytes()).min(end);
            let component_bytes = layout.member_bytes(to - from);
            objects.push(PlacedObject {
                home: vdisk % spec.hosts,
                from,
                to,
                component_bytes,
                components: levels.place(layout.members, component_bytes, &mut random),
            });
            from = to;
        }
    }
    objects
}

impl DriveLevels {
    fn place(&mut self, count: u32, bytes: u64, random: &mut Random) -> Vec<ComponentPlace> {
        let mut placed: Vec<ComponentPlace> = Vec::new();
        for _ in 0..count {
            let is_free = |drive: &usize| {
                let host = *drive as u32 / self.drives_of_host;
                placed.iter().all(|own| own.host != host)
            };
            let free = (0..self.used.len()).filter(is_free);
            let emptiest = free.min_by_key(|drive| (self.used[*drive], random.draw()));
            // There are as many hosts as components (`ClusterSpec::check`).
            let drive = emptiest.unwrap_or_default();
            placed.push(ComponentPlace {
                host: drive as u32 / self.drives_of_host,
                drive: drive as u32 % self.drives_of_host,
                base: self.used[drive],
            });
            self.used[drive] += bytes;
        }
        placed
    }
}
