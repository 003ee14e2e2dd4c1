//! Which drives the components of virtual disks are on.

use plimsoll_plan::cluster::{ClusterKind, ClusterSpec};

use crate::model::random::mix;
use crate::model::{Op, Random};

/// Ceph cuts an image into pieces of this size.
const PIECE: u64 = 4 << 20;
/// Placement groups of each drive (`mon_target_pg_per_osd`).
const GROUPS_OF_DRIVE: f64 = 100.0;

/// Where a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComponentPlace {
    pub host: u32,
    /// Of its host's drives with data.
    pub drive: u32,
    /// Where on that drive it begins.
    pub base: u64,
}

impl ComponentPlace {
    pub const fn is_on_drive_of(&self, other: &Self) -> bool {
        self.host == other.host && self.drive == other.drive
    }
}

/// What has components of its own: a part of a virtual disk, or a placement group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedObject {
    /// Bytes of each component.
    pub component_bytes: u64,
    /// No two are on the same host.
    pub components: Vec<ComponentPlace>,
}

impl PlacedObject {
    pub fn member_on(&self, host: u32) -> Option<u32> {
        let mut components = self.components.iter();
        let member = components.position(|place| place.host == host)?;
        Some(member as u32)
    }
}

/// A part of a request, to one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectPart {
    pub object: usize,
    /// From the start of the object.
    pub op: Op,
    /// Where the part begins in the cluster.
    pub from: u64,
}

/// Which object has which bytes of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressMap {
    /// One after the other: where each ends.
    InTurn(Vec<u64>),
    /// Pieces are spread over so many placement groups, a power of two.
    Spread { groups: u64, seed: u64 },
}

/// Whatever is stored, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    pub objects: Vec<PlacedObject>,
    pub map: AddressMap,
}

/// What is on the drives so far.
pub struct DriveLevels {
    drives_of_host: u32,
    used: Vec<u64>,
}

/// Places virtual disks of `usable` bytes together, each component on the emptiest drive of a host without another one of
/// the same object; of equal ones by lot.
pub fn place(spec: &ClusterSpec, usable: u64, seed: u64) -> Placement {
    let mut random = Random::new(seed ^ 0x5eed_0b1e);
    let mut levels = DriveLevels::new(spec);
    match spec.kind {
        ClusterKind::Vsan => levels.place_disks(spec, usable, &mut random),
        ClusterKind::Ceph => levels.place_groups(spec, usable, &mut random),
    }
}

impl DriveLevels {
    fn new(spec: &ClusterSpec) -> Self {
        Self {
            drives_of_host: spec.data_drives(),
            used: vec![0; (spec.hosts * spec.data_drives()) as usize],
        }
    }

    pub fn of<'o>(spec: &ClusterSpec, objects: impl Iterator<Item = &'o PlacedObject>) -> Self {
        let mut own = Self::new(spec);
        for object in objects {
            for at in &object.components {
                let drive = at.host * own.drives_of_host + at.drive;
                own.used[drive as usize] += object.component_bytes;
            }
        }
        own
    }

    fn place_disks(&mut self, spec: &ClusterSpec, usable: u64, random: &mut Random) -> Placement {
        let layout = spec.layout();
        let mut objects = Vec::new();
        let mut ends = Vec::new();
        let vdisk_bytes = spec.vdisk_bytes(usable);
        for vdisk in 0..spec.vdisks {
            let start = u64::from(vdisk) * vdisk_bytes;
            let end = start + vdisk_bytes;
            let mut from = start;
            while from < end {
                let to = (from + spec.object_bytes()).min(end);
                let component_bytes = layout.member_bytes(to - from);
                objects.push(PlacedObject {
                    component_bytes,
                    components: self.place(layout.members, component_bytes, random),
                });
                ends.push(to);
                from = to;
            }
        }
        let map = AddressMap::InTurn(ends);
        Placement { objects, map }
    }

    /// Which of the copies is the primary is a matter of chance.
    fn place_groups(&mut self, spec: &ClusterSpec, usable: u64, random: &mut Random) -> Placement {
        let layout = spec.layout();
        let pieces = usable.div_ceil(PIECE).max(1);
        let wished = GROUPS_OF_DRIVE * self.used.len() as f64 / f64::from(layout.members);
        let groups = 1u64 << (wished.log2().round() as u32).min(pieces.ilog2());
        let component_bytes = layout.member_bytes(pieces.div_ceil(groups) * PIECE);
        let objects = (0..groups).map(|_| {
            let mut components = self.place(layout.members, component_bytes, random);
            let first = random.below(components.len() as u64) as usize;
            components.rotate_left(first);
            PlacedObject {
                component_bytes,
                components,
            }
        });
        let objects = objects.collect();
        let seed = random.draw();
        let map = AddressMap::Spread { groups, seed };
        Placement { objects, map }
    }

    fn place(&mut self, count: u32, bytes: u64, random: &mut Random) -> Vec<ComponentPlace> {
        let mut placed: Vec<ComponentPlace> = Vec::new();
        // There are as many hosts as components (`ClusterSpec::check`).
        for _ in 0..count {
            let is_free = |host: u32| placed.iter().all(|own| own.host != host);
            placed.extend(self.place_one(bytes, random, is_free));
        }
        placed
    }

    /// On the emptiest drive of hosts that may have it.
    pub fn place_one(
        &mut self,
        bytes: u64,
        random: &mut Random,
        is_allowed: impl Fn(u32) -> bool,
    ) -> Option<ComponentPlace> {
        let of_host = self.drives_of_host;
        let allowed = (0..self.used.len()).filter(|drive| is_allowed(*drive as u32 / of_host));
        let drive = allowed.min_by_key(|drive| (self.used[*drive], random.draw()))?;
        let base = self.used[drive];
        self.used[drive] += bytes;
        Some(ComponentPlace {
            host: drive as u32 / of_host,
            drive: drive as u32 % of_host,
            base,
        })
    }
}

impl AddressMap {
    /// The first part of a request, or of what is left of it.
    pub fn first_part(&self, op: Op) -> ObjectPart {
        let from = op.offset;
        let (object, start, room) = match self {
            Self::InTurn(ends) => {
                let object = ends.partition_point(|end| *end <= from);
                let begin = object.checked_sub(1).map_or(0, |before| ends[before]);
                let room = ends.get(object).map_or(op.len, |end| end - from);
                (object.min(ends.len() - 1), from - begin, room)
            }
            Self::Spread { groups, seed } => {
                let piece = from / PIECE;
                let round = piece / groups;
                // Pieces that follow each other are in different groups; each round begins at another one.
                let group = piece.wrapping_add(mix(seed ^ round)) % groups;
                let within = from % PIECE;
                (group as usize, round * PIECE + within, PIECE - within)
            }
        };
        let op = Op {
            offset: start,
            len: op.len.min(room),
            ..op
        };
        ObjectPart { object, op, from }
    }
}
