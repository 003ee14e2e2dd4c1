//! What the stores of a host are asked for, and what happens in them.

use plimsoll_plan::units::Nanos;

use super::read_cache::CacheLine;
use crate::destaging::DirtyRun;
use crate::model::Op;

/// A request to one of the drives of a host.
#[derive(Debug, Clone, Copy)]
pub struct StoreRequest {
    /// The trip that waits for it.
    pub trip: usize,
    pub object: usize,
    /// Of those with data of its host, or of its disk group.
    pub drive: u32,
    pub op: Op,
}

impl StoreRequest {
    pub const fn stored(self, at: Nanos) -> TimedStoreEvent {
        let event = StoreEvent::Stored(self.trip);
        TimedStoreEvent { at, event }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum StoreEvent {
    /// The request of a trip is complete.
    Stored(usize),
    /// Within a group of its host.
    Group {
        group: u32,
        event: GroupEvent,
    },
    Object {
        drive: u32,
        event: ObjectEvent,
    },
}

/// What will happen, if the host does not fail.
#[derive(Debug, Clone, Copy)]
pub struct TimedStoreEvent {
    pub at: Nanos,
    pub event: StoreEvent,
}

/// What is complete in a disk group.
#[derive(Debug, Clone, Copy)]
pub enum GroupEvent {
    /// A piece was read from the write buffer.
    BufferRead(DestagedPiece),
    Destaged(DestagedPiece),
    /// A line of the read cache was read from its drive.
    LineRead(CacheLine),
}

/// What is destaged at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DestagedPiece {
    /// Of the group's drives with data.
    pub drive: usize,
    pub run: DirtyRun,
}

/// What is complete on a drive.
#[derive(Debug, Clone, Copy)]
pub enum ObjectEvent {
    Read(StoreRequest),
    Data(StoreRequest),
    DataFlush,
    Log,
    LogFlush,
    Journal,
    JournalFlush,
}
