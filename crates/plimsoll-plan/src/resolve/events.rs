//! What happens to members of an emulated array, or hosts of a cluster, while a step runs.

use super::names::Names;
use super::step_keys::planned_measure;
use super::values::{scaled, time, whole};
use crate::Options;
use crate::array::{MemberAction, MemberEvent};
use crate::assembly::{DriveAssembly, NamedAssembly};
use crate::findings::Findings;
use crate::raw::{RawEvent, RawStep};
use crate::resolved::{EmulatedDrive, WithoutFuse};
use crate::units::Nanos;
use crate::value::{At, RawTime};

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
    let assemblies = on.and_then(|on| assemblies(written, on, names, findings));
    let events = written.get().iter();
    let events: Vec<Option<MemberEvent>> = events
        .map(|event| resolve_one(event, raw, options, findings))
        .collect();
    let mut events = events.into_iter().collect::<Option<Vec<MemberEvent>>>()?;
    events.sort_by_key(|event| event.at);
    let assemblies = assemblies?;
    let order = has_members(written, &events, &assemblies, findings)
        && replaces_what_failed(written, &events, &assemblies, findings);
    (fits && order).then_some(events)
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

fn assemblies(
    written: &At<Vec<At<RawEvent>>>,
    on: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<DriveAssembly>> {
    let media = names.media.iter().filter(|own| on.contains(&own.name));
    let assembly = |drive: &str| Some(drive.parse::<NamedAssembly>().ok()?.assembly);
    let refuses = |own: &&EmulatedDrive| own.without_fuse == WithoutFuse::Refuse;
    let emulated = media.map(|own| own.kind.emulated().filter(refuses));
    let assemblies: Option<Vec<DriveAssembly>> =
        emulated.map(|own| assembly(&own?.drive)).collect();
    if assemblies.as_ref().is_none_or(Vec::is_empty) {
        let help = "only of an array or a cluster, without_fuse = \"refuse\": drive = \"raid5:6:kingston-dc500m-960g\"; or take other media out of `on`";
        let message = "the members of these media cannot fail".to_owned();
        findings.error(written.span(), message, help);
    }
    assemblies.filter(|own| !own.is_empty())
}

fn has_members(
    written: &At<Vec<At<RawEvent>>>,
    events: &[MemberEvent],
    assemblies: &[DriveAssembly],
    findings: &mut Findings<'_>,
) -> bool {
    let members = assemblies.iter().map(DriveAssembly::members).min();
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

/// Only what failed is replaced.
fn replaces_what_failed(
    written: &At<Vec<At<RawEvent>>>,
    events: &[MemberEvent],
    assemblies: &[DriveAssembly],
    findings: &mut Findings<'_>,
) -> bool {
    let mut failed: Vec<u32> = assemblies
        .iter()
        .flat_map(DriveAssembly::failed)
        .copied()
        .collect();
    for MemberEvent { member, action, .. } in events {
        match action {
            MemberAction::Fail => failed.push(*member),
            MemberAction::Replace if failed.contains(member) => {
                failed.retain(|own| own != member);
            }
            MemberAction::Replace => {
                let message = format!("member {member} is replaced, and has not failed before");
                findings.error(written.span(), message, "let it fail first: fail = …");
                return false;
            }
        }
    }
    true
}

/// When, counted from the beginning of the measurement, and within it.
fn when(
    at: &At<RawTime>,
    step: &RawStep,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    let after = time(at, findings)?;
    let measure = planned_measure(step);
    if (Nanos::SECOND..measure).contains(&after) {
        return Some(scaled(after, options, at.span(), findings)?.max(Nanos::SECOND));
    }
    let message = format!("nothing is measured before or after an event at {after}");
    let help = format!(
        "it is counted from the beginning of the measurement: 1s or more, before {measure}"
    );
    findings.error(at.span(), message, help);
    None
}

fn resolve_one(
    written: &At<RawEvent>,
    step: &RawStep,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<MemberEvent> {
    let raw = written.get();
    let Some(at) = &raw.at else {
        let help = "at = \"20s\", counted from the beginning of the measurement";
        findings.error(written.span(), "`at` is missing".to_owned(), help);
        return None;
    };
    let after = when(at, step, options, findings)?;
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
