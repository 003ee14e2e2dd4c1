//! What happens to the members of an array or a cluster while it is emulated.

use plimsoll_plan::member_event::MemberChange;
use plimsoll_record::message::EventKind;

use super::Engine;
use crate::emulate::clock;
use crate::model::{Assembled, RebuildProgress, RebuildReport};

impl Engine {
    /// Something happens to a member. `None`: there is no such member, or it cannot happen now.
    pub fn change_member(&self, change: MemberChange) -> Option<EventKind> {
        let mut state = self.state();
        let now = clock::now().saturating_sub(self.origin);
        let array = state.model.assembled_mut()?;
        let has_member = change
            .member()
            .is_none_or(|member| array.has_member(member));
        let event = match change {
            _ if !has_member => return None,
            MemberChange::Fail { member } => {
                let data_lost = !array.fail(now, member);
                state.has_lost_data |= data_lost;
                EventKind::MemberFailed { member, data_lost }
            }
            MemberChange::Replace { member } if array.can_replace(member) => {
                array.replace(now, member);
                EventKind::MemberReplaced { member }
            }
            MemberChange::Return { member } if array.can_replace(member) => {
                array.bring_back(now, member);
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

    /// Rebuilds that have ended or begun by themselves since this was asked last.
    pub fn rebuild_events(&self) -> Vec<EventKind> {
        let mut state = self.state();
        let array = state.model.assembled_mut();
        let reports = array.map(Assembled::take_rebuild_reports);
        reports.unwrap_or_default().iter().map(event_of).collect()
    }
}

fn event_of(report: &RebuildReport) -> EventKind {
    let RebuildReport {
        at,
        member,
        progress,
    } = *report;
    match progress {
        RebuildProgress::BegunOnSpare => EventKind::MemberReplaced { member },
        RebuildProgress::BegunOnOthers => EventKind::MemberRepairBegun { member },
        RebuildProgress::Ended { began } => EventKind::MemberRebuilt {
            member,
            seconds: at.saturating_sub(began).as_secs_f64(),
        },
    }
}
