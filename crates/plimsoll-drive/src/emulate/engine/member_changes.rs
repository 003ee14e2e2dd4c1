//! What happens to the members of an array or a cluster while it is emulated.

use plimsoll_plan::member_event::MemberChange;
use plimsoll_record::message::EventKind;

use super::{Engine, StartedRebuild};
use crate::emulate::clock;

impl Engine {
    /// Something happens to a member. `None`: there is no such member, or it cannot happen now.
    pub fn change_member(&self, change: MemberChange) -> Option<EventKind> {
        let mut state = self.state();
        let at = clock::now();
        let now = at.saturating_sub(self.origin);
        let array = state.model.assembled_mut()?;
        let has_member = change
            .member()
            .is_none_or(|member| array.has_member(member));
        let event = match change {
            _ if !has_member => return None,
            MemberChange::Fail { member } => {
                let data_lost = !array.fail(now, member);
                state.has_lost_data |= data_lost;
                state.rebuild = state.rebuild.filter(|own| own.member != member);
                EventKind::MemberFailed { member, data_lost }
            }
            MemberChange::Replace { member } if array.can_replace(member) => {
                array.replace(now, member);
                state.rebuild = Some(StartedRebuild { member, at });
                EventKind::MemberReplaced { member }
            }
            MemberChange::Return { member } if array.can_replace(member) => {
                array.bring_back(now, member);
                state.rebuild = Some(StartedRebuild { member, at });
                EventKind::MemberReturned { member }
            }
            MemberChange::Replace { .. } | MemberChange::Return { .. } => return None,
            MemberChange::Slow { member, factor } => {
                array.slow_down(now, member, factor);
                match factor > 1.0 {
                    true => EventKind::MemberSlowed { member, factor },
                    false => EventKind::MemberRecovered { member },
                }
            }
            MemberChange::Network { gbit } => EventKind::NetworkChanged {
                gbit,
                usual_gbit: array.set_network(now, gbit)?,
            },
        };
        self.hold_known(&mut state);
        Some(event)
    }

    /// A rebuild has come to its end since this was asked last, or one onto a spare has begun.
    pub fn rebuild_event(&self) -> Option<EventKind> {
        let mut state = self.state();
        let now = clock::now();
        let array = state.model.assembled()?;
        let on_spare = array.rebuilding_onto_spare();
        let Some(StartedRebuild { member, at }) = state.rebuild else {
            let member = on_spare?;
            state.rebuild = Some(StartedRebuild { member, at: now });
            return Some(EventKind::MemberReplaced { member });
        };
        // The next one may have begun already.
        let has_next = on_spare.is_some_and(|own| own != member);
        (has_next || array.has_rebuilt(member)).then_some(())?;
        state.rebuild = None;
        Some(EventKind::MemberRebuilt {
            member,
            seconds: now.saturating_sub(at).as_secs_f64(),
        })
    }
}
