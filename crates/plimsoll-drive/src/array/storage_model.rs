//! The model of whatever a drive file describes: a drive, or an array of them.

use plimsoll_plan::units::Nanos;

use super::Array;
use crate::model::{Completion, Drive, Op, RequestId, Setup, Storage, Work};
use crate::spec::DriveSpec;

#[derive(Debug, Clone)]
pub enum StorageModel {
    Drive(Drive),
    Array(Box<Array>),
}

impl StorageModel {
    pub fn new(spec: &DriveSpec, setup: &Setup) -> Self {
        match &spec.array {
            None => Self::Drive(Drive::new(spec, setup)),
            Some(of) => Self::Array(Box::new(Array::new(spec, of, setup))),
        }
    }

    /// The power was away and is back `now`.
    pub fn power_cycle(&mut self, now: Nanos) {
        match self {
            Self::Drive(drive) => drive.power_cycle(now),
            Self::Array(array) => array.power_cycle(now),
        }
    }

    pub fn array(&self) -> Option<&Array> {
        match self {
            Self::Drive(_) => None,
            Self::Array(array) => Some(array),
        }
    }

    pub fn array_mut(&mut self) -> Option<&mut Array> {
        match self {
            Self::Drive(_) => None,
            Self::Array(array) => Some(array),
        }
    }
}

impl Storage for StorageModel {
    #[inline]
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        match self {
            Self::Drive(drive) => drive.submit(now, op),
            Self::Array(array) => array.submit(now, op),
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Nanos> {
        match self {
            Self::Drive(drive) => drive.next_event(),
            Self::Array(array) => array.next_event(),
        }
    }

    #[inline]
    fn advance(&mut self, to: Nanos) -> Option<Completion> {
        match self {
            Self::Drive(drive) => drive.advance(to),
            Self::Array(array) => array.advance(to),
        }
    }

    fn work_by_drive(&self) -> Vec<Work> {
        match self {
            Self::Drive(drive) => vec![drive.work()],
            Self::Array(array) => array.work_by_drive(),
        }
    }
}
