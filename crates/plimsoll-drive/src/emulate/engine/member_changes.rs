//! What happens to the members of an array or a cluster while it is emulated.

use plimsoll_plan::member_event::MemberChange;
use plimsoll_record::message::EventKind;

use super::Engine;
use crate::emulate::clock;
use crate::member_changes::{change_member, loses_data, rebuild_events};

impl Engine {
    /// Something happens to a member. `None`: there is no such member, or it cannot happen now.
    pub fn change_member(&self, change: MemberChange) -> Option<EventKind> {
        let mut state = self.state();
        let now = clock::now().saturating_sub(self.origin);
        let event = change_member(&mut state.model, now, change)?;
        state.has_lost_data |= loses_data(&event);
        self.hold_known(&mut state);
        Some(event)
    }

    /// Rebuilds that have ended or begun by themselves since this was asked last.
    pub fn rebuild_events(&self) -> Vec<EventKind> {
        let events = rebuild_events(&mut self.state().model);
        events.into_iter().map(|(_, event)| event).collect()
    }
}
