//! The model of whatever a drive file describes: a drive, an array of them, or a cluster.

use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::Nanos;

use crate::array::{Array, ArrayController};
use crate::cluster::Cluster;
use crate::model::{Assembled, Completion, Drive, Op, RequestId, Setup, Storage, Work};
use crate::spec::DriveSpec;

#[derive(Debug, Clone)]
pub enum StorageModel {
    Drive(Drive),
    Array(Box<Array>),
    Controller(Box<ArrayController>),
    Cluster(Box<Cluster>),
}

impl StorageModel {
    pub fn new(spec: &DriveSpec, setup: &Setup) -> Self {
        match &spec.assembly {
            None => Self::Drive(Drive::new(spec, setup)),
            Some(DriveAssembly::Array(of)) if of.has_controller() => {
                Self::Controller(Box::new(ArrayController::new(spec, of, setup)))
            }
            Some(DriveAssembly::Array(of)) => Self::Array(Box::new(Array::new(spec, of, setup))),
            Some(DriveAssembly::Cluster(of)) => {
                Self::Cluster(Box::new(Cluster::new(spec, of, setup)))
            }
        }
    }

    /// The power was away and is back `now`.
    pub fn power_cycle(&mut self, now: Nanos) {
        match self {
            Self::Drive(drive) => drive.power_cycle(now),
            Self::Array(array) => array.power_cycle(now),
            Self::Controller(own) => own.power_cycle(now),
            Self::Cluster(cluster) => Assembled::power_cycle(&mut **cluster, now),
        }
    }

    pub fn assembled(&self) -> Option<&dyn Assembled> {
        match self {
            Self::Drive(_) => None,
            Self::Array(array) => Some(&**array),
            Self::Controller(own) => Some(&**own),
            Self::Cluster(cluster) => Some(&**cluster),
        }
    }

    pub fn assembled_mut(&mut self) -> Option<&mut dyn Assembled> {
        match self {
            Self::Drive(_) => None,
            Self::Array(array) => Some(&mut **array),
            Self::Controller(own) => Some(&mut **own),
            Self::Cluster(cluster) => Some(&mut **cluster),
        }
    }
}

impl StorageModel {
    fn storage(&self) -> &dyn Storage {
        match self {
            Self::Drive(drive) => drive,
            Self::Array(array) => &**array,
            Self::Controller(own) => &**own,
            Self::Cluster(cluster) => &**cluster,
        }
    }

    fn storage_mut(&mut self) -> &mut dyn Storage {
        match self {
            Self::Drive(drive) => drive,
            Self::Array(array) => &mut **array,
            Self::Controller(own) => &mut **own,
            Self::Cluster(cluster) => &mut **cluster,
        }
    }
}

impl Storage for StorageModel {
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        self.storage_mut().submit(now, op)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.storage().next_event()
    }

    fn advance(&mut self, to: Nanos) -> Option<Completion> {
        self.storage_mut().advance(to)
    }

    fn work_by_drive(&self) -> Vec<Work> {
        self.storage().work_by_drive()
    }
}
