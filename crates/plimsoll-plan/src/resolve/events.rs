//! What happens to members of an emulated array while a step runs.

use super::names::Names;
use super::values::{scaled, time, whole};
use crate::Options;
use crate::array::{ArraySpec, MemberAction, MemberEvent, NamedArray};
use crate::findings::Findings;
use crate::raw::{RawEvent, RawStep};
use crate::value::At;

/// The events, in the order of their times. `on` are names of media.
pub(super) fn resolve(
    raw: &RawStep,
    on: Option<&[String]>,
    names: &Names<'_>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Vec<MemberEvent>> {
    let Some(written) = &raw.event else {
        return Some(Vec::new());
    };
    let fits = one_point(written, raw, findings);
    let arrays = on.and_then(|on| arrays(written, on, names, findings));
    let events = written.get().iter();
    let events: Vec<Option<MemberEvent>> = events
        .map(|event| resolve_one(event, options, findings))
        .collect();
    let mut events = events.into_iter().collect::<Option<Vec<MemberEvent>>>()?;
    events.sort_by_key(|event| event.at);
    let known = arrays.is_some_and(|arrays| {
        let least = arrays.iter().map(|array| array.members).min();
        has_members(written, &events, least, findings)
    });
    (fits && known).then_some(events)
}

/// After it the array is not what it was.
fn one_point(written: &At<Vec<At<RawEvent>>>, raw: &RawStep, findings: &mut Findings<'_>) -> bool {
    let users = raw.users.as_ref().map_or(1, |of| of.get().loads().len());
    let rates = raw.rate.as_ref().map_or(1, |of| of.get().loads().len());
    let repeat = raw.repeat.as_ref().map_or(1, |repeat| *repeat.get());
    let many = users > 1 || rates > 1 || repeat > 1;
    let others = [
        ("find", raw.find.is_some()),
        ("power_cut", raw.power_cut.is_some()),
        ("noise", raw.noise.is_some()),
        ("more than one point", many),
    ];
    let mut fits = true;
    for (other, _) in others.iter().filter(|(_, set)| *set) {
        let message = format!("`event` and {other} exclude each other");
        let help = "after an event the array is not what it was: one load, once";
        findings.error(written.span(), message, help);
        fits = false;
    }
    fits
}

fn arrays(
    written: &At<Vec<At<RawEvent>>>,
    on: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<ArraySpec>> {
    let media = names.media.iter().filter(|own| on.contains(&own.name));
    let array = |drive: &str| Some(drive.parse::<NamedArray>().ok()?.array);
    let arrays: Option<Vec<ArraySpec>> = media
        .map(|own| array(&own.kind.emulated()?.drive))
        .collect();
    if arrays.as_ref().is_none_or(Vec::is_empty) {
        let help = "only of an array: drive = \"raid5:6:kingston-dc500m-960g\"; or take other media out of `on`";
        let message = "the members of these media cannot fail".to_owned();
        findings.error(written.span(), message, help);
    }
    arrays.filter(|own| !own.is_empty())
}

fn has_members(
    written: &At<Vec<At<RawEvent>>>,
    events: &[MemberEvent],
    members: Option<u32>,
    findings: &mut Findings<'_>,
) -> bool {
    let members = members.unwrap_or_default();
    let beyond = events.iter().find(|event| event.member >= members);
    if let Some(event) = beyond {
        let message = format!("there is no member {}", event.member);
        let help = format!(
            "members are numbered from 0 to {}",
            members.saturating_sub(1)
        );
        findings.error(written.span(), message, help);
    }
    beyond.is_none()
}

fn resolve_one(
    written: &At<RawEvent>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<MemberEvent> {
    let raw = written.get();
    let Some(at) = &raw.at else {
        let help = "at = \"20s\", counted from the beginning of the measurement";
        findings.error(written.span(), "`at` is missing".to_owned(), help);
        return None;
    };
    let after = time(at, findings)?;
    let after = scaled(after, options, at.span(), findings)?;
    let (action, member) = match (&raw.fail, &raw.replace) {
        (Some(member), None) => (MemberAction::Fail, member),
        (None, Some(member)) => (MemberAction::Replace, member),
        _ => {
            let help = "fail = 2 or replace = 2, the number of a member, counted from 0";
            let message = "an event is one of `fail`, `replace`".to_owned();
            findings.error(written.span(), message, help);
            return None;
        }
    };
    Some(MemberEvent {
        at: after,
        member: whole(member, "the member", 0..=63, findings)?,
        action,
    })
}
