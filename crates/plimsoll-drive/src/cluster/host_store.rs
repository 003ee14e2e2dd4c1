//! What a store of a host is asked for, and what happens in it.

use plimsoll_plan::units::Nanos;

use super::disk_group::DestagedPiece;
use crate::model::Op;

/// A request to one of the drives of a host.
#[derive(Debug, Clone, Copy)]
pub struct StoreRequest {
    /// The trip that waits for it.
    pub trip: usize,
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
    /// A piece was read from the write buffer.
    BufferRead(DestagedPiece),
    Destaged(DestagedPiece),
}

/// What will happen, if the host does not fail.
#[derive(Debug, Clone, Copy)]
pub struct TimedStoreEvent {
    pub at: Nanos,
    pub event: StoreEvent,
}
