//! What keeps the data of a host: a disk group, or an object store on each drive.

use plimsoll_plan::cluster::{ClusterKind, ClusterSpec};
use plimsoll_plan::units::Nanos;

use super::disk_group::DiskGroup;
use super::object_store::ObjectStore;
use super::store_event::{StoreEvent, StoreRequest, TimedStoreEvent};
use crate::model::{Setup, Work};
use crate::spec::DriveSpec;

#[derive(Debug, Clone)]
pub enum HostStore {
    Group(Box<DiskGroup>),
    Objects(Vec<ObjectStore>),
}

impl HostStore {
    /// `setup` is that of each drive with data. Hosts that differ draw other random numbers.
    pub fn new(drive: &DriveSpec, setup: &Setup, spec: &ClusterSpec, host: u32) -> Self {
        let of_host = setup.of_member(host * spec.drives + 1);
        match spec.kind {
            ClusterKind::Vsan => {
                let group = DiskGroup::new(drive, &of_host, spec.data_drives(), spec.buffer);
                Self::Group(Box::new(group))
            }
            ClusterKind::Ceph => {
                let stores = 0..spec.data_drives();
                let new = |number| ObjectStore::new(drive, &of_host.of_member(number));
                Self::Objects(stores.map(new).collect())
            }
        }
    }

    pub fn submit(&mut self, now: Nanos, request: StoreRequest, ahead: &mut Vec<TimedStoreEvent>) {
        match self {
            Self::Group(group) => group.submit(now, request, ahead),
            Self::Objects(stores) => stores[request.drive as usize].submit(now, request, ahead),
        }
    }

    /// Something that was expected has happened.
    pub fn happen(&mut self, now: Nanos, event: StoreEvent, ahead: &mut Vec<TimedStoreEvent>) {
        match (self, event) {
            (Self::Objects(stores), StoreEvent::Object { drive, event }) => {
                stores[drive as usize].happen(now, drive, event, ahead);
            }
            (Self::Group(group), event) => group.happen(now, event, ahead),
            _ => {}
        }
    }

    /// Trips whose end is not known, which will have none.
    pub fn fail(&mut self) -> Vec<usize> {
        match self {
            Self::Group(group) => group.fail(),
            Self::Objects(stores) => stores.iter_mut().flat_map(ObjectStore::fail).collect(),
        }
    }

    pub fn power_cycle(&mut self, now: Nanos) {
        match self {
            Self::Group(group) => group.power_cycle(now),
            Self::Objects(stores) => stores.iter_mut().for_each(|own| own.power_cycle(now)),
        }
    }

    /// Its drives take so many times as long from now on.
    pub fn slow_down(&mut self, now: Nanos, factor: f64) {
        match self {
            Self::Group(group) => group.slow_down(now, factor),
            Self::Objects(stores) => stores
                .iter_mut()
                .for_each(|own| own.drive.slow_down(now, factor)),
        }
    }

    pub fn work(&self) -> Vec<Work> {
        match self {
            Self::Group(group) => group.work().collect(),
            Self::Objects(stores) => stores.iter().map(ObjectStore::work).collect(),
        }
    }
}
