//! What keeps the data of a host: disk groups, or an object store on each drive.

use plimsoll_plan::cluster::{ClusterKind, ClusterSpec};
use plimsoll_plan::units::Nanos;

use super::disk_group::DiskGroup;
use super::object_store::ObjectStore;
use super::store_event::{StoreEvent, StoreRequest, TimedStoreEvent};
use crate::model::{Setup, Work};
use crate::spec::DriveSpec;

#[derive(Debug, Clone)]
pub enum HostStore {
    Groups(Vec<DiskGroup>),
    Objects(Vec<ObjectStore>),
}

impl HostStore {
    /// On drives of `drive`. `setup` is that of each drive with data. Hosts that differ draw other random numbers.
    pub fn new(drive: &DriveSpec, setup: &Setup, spec: &ClusterSpec, host: u32) -> Self {
        let of_host = setup.of_member(host * spec.drives + 1);
        match spec.kind {
            ClusterKind::Vsan => {
                let new = |group| {
                    let of_group = of_host.of_member(group * spec.group_drives());
                    DiskGroup::new(drive, &of_group, spec, group)
                };
                Self::Groups((0..spec.groups).map(new).collect())
            }
            ClusterKind::Ceph => {
                let new = |number| {
                    let setup = of_host.of_member(number);
                    ObjectStore::new(drive.drive(number), &setup)
                };
                Self::Objects((0..spec.drives).map(new).collect())
            }
        }
    }

    pub fn submit(&mut self, now: Nanos, request: StoreRequest, ahead: &mut Vec<TimedStoreEvent>) {
        match self {
            Self::Groups(groups) => {
                let of_each = groups[0].data_drives();
                let group = &mut groups[(request.drive / of_each) as usize];
                let drive = request.drive % of_each;
                group.submit(now, StoreRequest { drive, ..request }, ahead);
            }
            Self::Objects(stores) => stores[request.drive as usize].submit(now, request, ahead),
        }
    }

    /// Something that was expected has happened.
    pub fn happen(&mut self, now: Nanos, event: StoreEvent, ahead: &mut Vec<TimedStoreEvent>) {
        match (self, event) {
            (Self::Objects(stores), StoreEvent::Object { drive, event }) => {
                stores[drive as usize].happen(now, drive, event, ahead);
            }
            (Self::Groups(groups), StoreEvent::Group { group, event }) => {
                groups[group as usize].happen(now, event, ahead);
            }
            _ => {}
        }
    }

    /// Trips whose end is not known, which will have none.
    pub fn fail(&mut self) -> Vec<usize> {
        match self {
            Self::Groups(groups) => groups.iter_mut().flat_map(DiskGroup::fail).collect(),
            Self::Objects(stores) => stores.iter_mut().flat_map(ObjectStore::fail).collect(),
        }
    }

    pub fn power_cycle(&mut self, now: Nanos) {
        match self {
            Self::Groups(groups) => groups.iter_mut().for_each(|own| own.power_cycle(now)),
            Self::Objects(stores) => stores.iter_mut().for_each(|own| own.power_cycle(now)),
        }
    }

    /// Its drives take so many times as long from now on.
    pub fn slow_down(&mut self, now: Nanos, factor: f64) {
        match self {
            Self::Groups(groups) => groups.iter_mut().for_each(|own| own.slow_down(now, factor)),
            Self::Objects(stores) => stores
                .iter_mut()
                .for_each(|own| own.drive.slow_down(now, factor)),
        }
    }

    pub fn work(&self) -> Vec<Work> {
        match self {
            Self::Groups(groups) => groups.iter().flat_map(DiskGroup::work).collect(),
            Self::Objects(stores) => stores.iter().map(ObjectStore::work).collect(),
        }
    }
}
