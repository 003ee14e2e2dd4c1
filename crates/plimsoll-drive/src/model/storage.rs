//! What drives, arrays and clusters have in common.

use plimsoll_plan::units::{Bytes, Nanos};

use super::{Completion, Op, RebuildReport, RequestId, Work};

/// What takes requests and completes them in virtual time: a drive, or an array of drives.
pub trait Storage {
    /// A request arrives `now`; calls come in the order of their times.
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId;

    /// When something happens next, if nothing else is submitted. That need not be a completion.
    fn next_event(&self) -> Option<Nanos>;

    /// The next completion up to a time, `None` where all of them are taken.
    fn advance(&mut self, to: Nanos) -> Option<Completion>;

    /// Of each drive, everything since it was made.
    fn work_by_drive(&self) -> Vec<Work>;
}

impl<S: Storage> Storage for &mut S {
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        (**self).submit(now, op)
    }

    fn next_event(&self) -> Option<Nanos> {
        (**self).next_event()
    }

    fn advance(&mut self, to: Nanos) -> Option<Completion> {
        (**self).advance(to)
    }

    fn work_by_drive(&self) -> Vec<Work> {
        (**self).work_by_drive()
    }
}

/// Several drives as one: an array, whose members are its drives, or a cluster, whose members are its hosts.
pub trait Assembled: Storage {
    /// From now on [`Self::take_known`] gives completions.
    fn announce(&mut self);

    /// Completions whose times have become known; they may lie ahead.
    fn take_known(&mut self) -> Vec<Completion>;

    /// A request that begins when `first` is complete, such as a flush of what `first` writes.
    fn submit_after(&mut self, now: Nanos, first: Op, op: Op) -> RequestId;

    fn has_member(&self, member: u32) -> bool;

    /// It has failed, and nothing has taken its place.
    fn is_missing(&self, member: u32) -> bool;

    /// A member fails `now`. What it had in flight is done with the others. False where data are lost by that.
    fn fail(&mut self, now: Nanos, member: u32) -> bool;

    /// Rebuilds that have ended or begun by themselves since this was asked last.
    fn take_rebuild_reports(&mut self) -> Vec<RebuildReport>;

    /// A new one may take the place of this member: it has failed, and no other is being filled.
    fn can_replace(&self, member: u32) -> bool;

    /// A new one takes the place of a failed member and is filled from the others.
    fn replace(&mut self, now: Nanos, member: u32);

    /// A member that failed returns with its old data. What was written meanwhile is copied from the others: everything,
    /// where that was not recorded.
    fn bring_back(&mut self, now: Nanos, member: u32);

    /// From `now` on its drives take so many times as long as before all events.
    fn slow_down(&mut self, now: Nanos, member: u32, factor: f64);

    /// From `now` on every host's network has this bandwidth; returns that from before all events, `None` without a network.
    fn set_network(&mut self, now: Nanos, gbit: u32) -> Option<u32>;

    /// The last rebuild was of this member, and has come to its end.
    fn has_rebuilt(&self, member: u32) -> bool;

    /// Bytes that the last rebuild has filled.
    fn rebuilt(&self) -> Bytes;

    /// The power was away and is back `now`: nothing is in flight any more. A rebuild goes on.
    fn power_cycle(&mut self, now: Nanos);
}
