//! Which components are rebuilt, and when.

use std::collections::VecDeque;

use plimsoll_plan::cluster::{ClusterKind, ClusterSpec};
use plimsoll_plan::units::Bytes;

use super::placement::ComponentPlace;
use crate::array::RebuildSpeed;
use crate::spec::{DriveSpec, Mechanism};

/// With disks, Ceph waits 0.1 s after each piece of 4 MiB (`osd_recovery_sleep_hdd`); with SSDs it does not.
const DISK_SPEED: u64 = 40 << 20;

/// An object's component on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnHost {
    pub object: usize,
    pub member: u32,
    /// The drive has what it was written before its host was down.
    pub has_old_data: bool,
}

#[derive(Debug, Clone)]
pub struct Rebuilds {
    /// A drive takes part in one at a time (`osd_max_backfills`).
    is_one_of_drive: bool,
    speed: RebuildSpeed,
    active: Vec<OnHost>,
    waiting: VecDeque<OnHost>,
    /// What those that are not active any more have filled.
    ended: Bytes,
}

impl Rebuilds {
    pub fn new(spec: &ClusterSpec, drive: &DriveSpec) -> Self {
        let is_ceph = spec.kind == ClusterKind::Ceph;
        let is_disk = matches!(drive.mechanism, Mechanism::Disk(_));
        let own = if is_disk { DISK_SPEED } else { u64::MAX };
        let of_ceph = RebuildSpeed {
            least: own,
            most: own,
        };
        Self {
            is_one_of_drive: is_ceph,
            speed: if is_ceph {
                of_ceph
            } else {
                RebuildSpeed::default()
            },
            active: Vec::new(),
            waiting: VecDeque::new(),
            ended: Bytes(0),
        }
    }

    /// Of each component.
    pub const fn speed(&self) -> RebuildSpeed {
        self.speed
    }

    pub fn active(&self) -> impl Iterator<Item = OnHost> {
        self.active.iter().copied()
    }

    pub fn is_idle(&self) -> bool {
        self.active.is_empty() && self.waiting.is_empty()
    }

    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub const fn ended(&self) -> Bytes {
        self.ended
    }

    /// These are missing, and nothing else is being rebuilt.
    pub fn begin(&mut self, components: Vec<OnHost>) {
        self.active.clear();
        self.waiting.clear();
        self.ended = Bytes(0);
        self.add(components);
    }

    /// These are missing, too.
    pub fn add(&mut self, components: Vec<OnHost>) {
        self.waiting.extend(components);
    }

    /// Those that may begin now: no other component of their object is being rebuilt. `places_of` are the components of
    /// an object.
    pub fn begin_next(
        &mut self,
        is_rebuilding: impl Fn(usize) -> bool,
        places_of: impl Fn(usize) -> Vec<ComponentPlace>,
    ) -> Vec<OnHost> {
        let mut busy: Vec<ComponentPlace> = Vec::new();
        for own in &self.active {
            busy.extend(drives_of(*own, &places_of));
        }
        let mut begun = Vec::new();
        let mut rest = VecDeque::new();
        for own in self.waiting.drain(..) {
            let drives: Vec<ComponentPlace> = drives_of(own, &places_of).collect();
            let is_busy = |drive: &ComponentPlace| busy.iter().any(|own| own.is_on_drive_of(drive));
            let must_wait = self.is_one_of_drive && drives.iter().any(is_busy);
            let has_begun = begun
                .iter()
                .any(|other: &OnHost| other.object == own.object);
            if must_wait || has_begun || is_rebuilding(own.object) {
                rest.push_back(own);
            } else {
                busy.extend(drives);
                begun.push(own);
            }
        }
        self.waiting = rest;
        self.active.extend(&begun);
        begun
    }

    /// An object was rebuilt, with so many bytes. False if that was known.
    pub fn end(&mut self, object: usize, bytes: Bytes) -> bool {
        let found = self.active.iter().position(|own| own.object == object);
        if let Some(at) = found {
            self.active.swap_remove(at);
            self.ended.0 += bytes.0;
        }
        found.is_some()
    }

    /// The host of these components fails. Returns those of which nothing has been filled.
    pub fn fail(&mut self, is_gone: impl Fn(&OnHost) -> bool) -> Vec<OnHost> {
        self.active.retain(|own| !is_gone(own));
        let (gone, waiting): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(&is_gone);
        self.waiting = waiting.into();
        gone.into_iter().filter(|own| !own.has_old_data).collect()
    }
}

/// The drive that is filled, and the one that has the data.
fn drives_of(
    own: OnHost,
    places_of: impl Fn(usize) -> Vec<ComponentPlace>,
) -> impl Iterator<Item = ComponentPlace> {
    let places = places_of(own.object);
    let member = own.member as usize;
    let source = usize::from(member == 0);
    [member, source]
        .into_iter()
        .filter_map(move |at| places.get(at).copied())
}
