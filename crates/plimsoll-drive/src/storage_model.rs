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

impl Storage for StorageModel {
    #[inline]
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        match self {
            Self::Drive(drive) => drive.submit(now, op),
            Self::Array(array) => array.submit(now, op),
            Self::Controller(own) => own.submit(now, op),
            Self::Cluster(cluster) => cluster.submit(now, op),
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        match self {
            Self::Drive(drive) => drive.next_event(),
            Self::Array(array) => array.next_event(),
            Self::Controller(own) => own.next_event(),
            Self::Cluster(cluster) => cluster.next_event(),
        }
    }

    #[inline]
    fn advance(&mut self, to: Nanos) -> Option<Completion> {
        match self {
            Self::Drive(drive) => drive.advance(to),
            Self::Array(array) => array.advance(to),
            Self::Controller(own) => own.advance(to),
            Self::Cluster(cluster) => cluster.advance(to),
        }
    }

    fn work_by_drive(&self) -> Vec<Work> {
        match self {
            Self::Drive(drive) => vec![drive.work()],
            Self::Array(array) => array.work_by_drive(),
            Self::Controller(own) => own.work_by_drive(),
            Self::Cluster(cluster) => cluster.work_by_drive(),
        }
    }
}
