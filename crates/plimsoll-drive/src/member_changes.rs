//! What happens to the members of an array or a cluster while it is in use.

use plimsoll_plan::member_event::MemberChange;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;

use crate::model::{Assembled, RebuildProgress, RebuildReport};
use crate::storage_model::StorageModel;

/// Something happens to a member. `None`: there is no such member, or it cannot happen now.
pub fn change_member(
    model: &mut StorageModel,
    now: Nanos,
    change: MemberChange,
) -> Option<EventKind> {
    let array = model.assembled_mut()?;
    let has_member = change
        .member()
        .is_none_or(|member| array.has_member(member));
    let event = match change {
        _ if !has_member => return None,
        MemberChange::Fail { member } => EventKind::MemberFailed {
            member,
            data_lost: !array.fail(now, member),
        },
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
    Some(event)
}

/// Whether a member's failure has taken data with it.
pub fn loses_data(event: &EventKind) -> bool {
    matches!(
        event,
        EventKind::MemberFailed {
            data_lost: true,
            ..
        }
    )
}

/// Rebuilds that have ended or begun by themselves since this was asked last, with their times.
pub fn rebuild_events(model: &mut StorageModel) -> Vec<(Nanos, EventKind)> {
    let reports = model.assembled_mut().map(Assembled::take_rebuild_reports);
    let reports = reports.unwrap_or_default();
    reports.iter().map(|own| (own.at, event_of(own))).collect()
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
