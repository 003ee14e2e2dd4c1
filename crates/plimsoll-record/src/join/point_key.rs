//! Which points of several hosts are the same.

use plimsoll_plan::Interference;

use crate::{Point, PointId, Record, SubjectId};

/// Points of several hosts with this key are the same: they were measured at the same time, after a meeting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PointKey {
    step: u32,
    system: String,
    medium: Option<SubjectId>,
    job: Option<u32>,
    ordinal: u32,
    repeat: u32,
    purpose: &'static str,
    scene: Interference,
}

impl PointKey {
    pub fn from_point(record: &Record, point: &Point) -> Self {
        let system = record.subjects.iter().find(|it| it.id == point.system);
        let block = record.blocks.iter().find(|block| block.point == point.id);
        Self {
            step: point.step_index,
            system: system.map_or_else(String::new, |system| record.system_name(system).to_owned()),
            medium: point.medium,
            job: block.map(|block| block.job_index),
            ordinal: point.ordinal,
            repeat: point.repeat,
            purpose: point.purpose.name(),
            scene: point.scene,
        }
    }
}

/// A point of one of the hosts.
pub(super) struct HostPoint {
    pub host: usize,
    pub point: PointId,
}
