//! What happens to members of an emulated array, or hosts of a cluster, while a step runs.

use std::ops::Range;

use plimsoll_stats::Draws;

use super::names::Names;
use super::step_keys::planned_measure;
use super::values::scaled;
use crate::Options;
use crate::assembly::{DriveAssembly, NamedAssembly};
use crate::findings::Findings;
use crate::member_event::{MemberChange, MemberEvent};
use crate::network::{FASTEST_GBIT, parse_gbit};
use crate::raw::{RawEvent, RawStep};
use crate::resolved::WithoutFuse;
use crate::units::Nanos;
use crate::value::{At, OptionalKey, RawMoment, ValueFault};

/// The events, in the order of their times. `on` are names of media.
pub(super) fn resolve(
    at: &At<RawStep>,
    on: Option<&[String]>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Vec<MemberEvent> {
    let Some(written) = &at.get().event else {
        return Vec::new();
    };
    check_one_point(written, at.get(), findings);
    let assemblies = on.and_then(|on| assemblies(written, on, names, findings));
    let planned = planned_measure(at, findings);
    let events: Vec<PlannedEvent> = written
        .get()
        .iter()
        .filter_map(|event| resolve_one(event, planned, names.options, findings))
        .collect();
    let measure = scaled(planned, names.options, written.span(), findings);
    let Some(mut events) = with_moments(&events, measure, seed(names)) else {
        let help = "it happens between the events that are written before and after it, from 1s to the end of the measurement";
        findings.error(written.span(), "a random event has no time", help);
        return Vec::new();
    };
    events.sort_by_key(|event| event.at);
    // A change that is left out for a fault may be what others follow.
    if let Some(assemblies) = assemblies
        && events.len() == written.get().len()
    {
        let fault = member_fault(&events, &assemblies)
            .or_else(|| network_fault(&events, &assemblies))
            .or_else(|| order_fault(&events, &assemblies));
        findings.fault(written.span(), fault);
    }
    events
}

struct PlannedEvent {
    /// `None`: at a random moment.
    at: Option<Nanos>,
    change: MemberChange,
}

fn seed(names: &Names<'_>) -> u64 {
    let written = names.raw.seed.as_ref().map(|seed| *seed.get());
    names
        .options
        .seed
        .or(written)
        .unwrap_or_else(|| names.raw.data_seed())
}

/// Draws the moments of those at random ones, uniformly between the events that are written before and after them, in
/// whole milliseconds. `None` where these leave no time.
fn with_moments(events: &[PlannedEvent], measure: Nanos, seed: u64) -> Option<Vec<MemberEvent>> {
    let mut draws = Draws::new(seed);
    let mut from = Nanos::SECOND;
    let mut all = Vec::new();
    for group in events.chunk_by(|one, next| one.at.is_none() && next.at.is_none()) {
        let first = all.len();
        let to = events.get(first + group.len()).and_then(|next| next.at);
        let span = to.unwrap_or(measure).saturating_sub(from).0 / Nanos::from_millis(1).0;
        let is_random = group.iter().any(|event| event.at.is_none());
        if is_random && span == 0 {
            return None;
        }
        let mut moments: Vec<Nanos> = group
            .iter()
            .map(|event| {
                let random = || from + Nanos::from_millis(draws.below(span as usize) as u64);
                event.at.unwrap_or_else(random)
            })
            .collect();
        moments.sort_unstable();
        let events = moments.iter().zip(group);
        all.extend(events.map(|(at, event)| MemberEvent {
            at: *at,
            change: event.change,
        }));
        from = moments.last().copied().unwrap_or(from);
    }
    Some(all)
}

/// After an event the array is not what it was.
fn check_one_point(written: &At<Vec<At<RawEvent>>>, raw: &RawStep, findings: &mut Findings<'_>) {
    let users = raw.users.as_ref().map(|ladder| ladder.get().loads().len());
    let rates = raw.rate.as_ref().map(|ladder| ladder.get().loads().len());
    let many = users > Some(1) || rates > Some(1) || raw.repeat() > 1;
    for (other, is_set) in [
        ("find", raw.find.is_some()),
        ("power_cut", raw.power_cut.is_some()),
        ("noise", raw.noise.is_some()),
        ("more than one point", many),
    ] {
        if is_set {
            let message = format!("`event` and {other} exclude each other");
            let help = "after an event the array is not what it was: one load, once";
            findings.error(written.span(), message, help);
        }
    }
}

fn assemblies(
    written: &At<Vec<At<RawEvent>>>,
    on: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<DriveAssembly>> {
    let assemblies: Option<Vec<DriveAssembly>> = names
        .media
        .iter()
        .filter(|medium| on.contains(&medium.name))
        .map(|medium| {
            let drive = medium.kind.emulated()?;
            let named: NamedAssembly = drive.drive.parse().ok()?;
            (drive.without_fuse == WithoutFuse::Refuse).then_some(named.assembly)
        })
        .collect();
    if assemblies.as_ref().is_none_or(Vec::is_empty) {
        let help = "only of an array or a cluster, without_fuse = \"refuse\": drive = \"raid5:6:kingston-dc500m-960g\"; or take other media out of `on`";
        findings.error(
            written.span(),
            "the members of these media cannot fail",
            help,
        );
    }
    assemblies.filter(|assemblies| !assemblies.is_empty())
}

fn member_fault(events: &[MemberEvent], assemblies: &[DriveAssembly]) -> Option<ValueFault> {
    let members = assemblies
        .iter()
        .map(DriveAssembly::members)
        .min()
        .unwrap_or_default();
    let beyond = events
        .iter()
        .filter_map(|event| event.change.member())
        .find(|member| *member >= members)?;
    let last = members.saturating_sub(1);
    Some(ValueFault::new(
        format!("there is no member {beyond}"),
        format!("members are numbered from 0 to {last}"),
    ))
}

fn network_fault(events: &[MemberEvent], assemblies: &[DriveAssembly]) -> Option<ValueFault> {
    let mut changes = events.iter().map(|event| event.change.member());
    let is_needed = changes.any(|member| member.is_none());
    let is_missing = is_needed && !assemblies.iter().all(DriveAssembly::has_network);
    is_missing.then(|| {
        ValueFault::new(
            "an array on its host has no `network`",
            "only of a cluster, such as vsan:4:3:kingston-dc1500m-960g, or of an array behind a network: raid5:6:sata:network=10Gb",
        )
    })
}

/// Only what failed is replaced, and only what has not failed is slow.
fn order_fault(events: &[MemberEvent], assemblies: &[DriveAssembly]) -> Option<ValueFault> {
    let failed = assemblies.iter().flat_map(DriveAssembly::failed);
    let mut failed: Vec<u32> = failed.copied().collect();
    // They take the places of what fails, on all media or not at all.
    let mut spares = assemblies
        .iter()
        .map(DriveAssembly::spares)
        .min()
        .unwrap_or_default();
    let with_spares = failed.len().min(spares as usize);
    failed.drain(..with_spares);
    spares -= with_spares as u32;
    for event in events {
        match event.change {
            MemberChange::Fail { .. } if spares > 0 => spares -= 1,
            MemberChange::Fail { member } => failed.push(member),
            MemberChange::Replace { member } | MemberChange::Return { member }
                if failed.contains(&member) =>
            {
                failed.retain(|other| *other != member);
            }
            MemberChange::Replace { member } => {
                return Some(ValueFault::new(
                    format!("member {member} is replaced, and is not missing"),
                    "let it fail first: fail = …; a spare takes its place at once",
                ));
            }
            MemberChange::Return { member } => {
                return Some(ValueFault::new(
                    format!("member {member} returns, and is not missing"),
                    "let it fail first: fail = …",
                ));
            }
            MemberChange::Slow { member, .. } if failed.contains(&member) => {
                return Some(ValueFault::new(
                    format!("member {member} becomes slow, and has failed before"),
                    "replace it first: replace = …",
                ));
            }
            MemberChange::Slow { .. } | MemberChange::Network { .. } => {}
        }
    }
    None
}

fn resolve_one(
    written: &At<RawEvent>,
    measure: Nanos,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<PlannedEvent> {
    let help = "at = \"20s\" or \"random\", counted from the beginning of the measurement";
    let at = findings.required(&written.span(), "at", &written.get().at, help)?;
    Some(PlannedEvent {
        at: match at.get() {
            RawMoment::Random => None,
            RawMoment::After(after) => Some(when(*after, at.span(), measure, options, findings)),
        },
        change: change(written, findings)?,
    })
}

/// A time within the measurement, scaled like it.
fn when(
    after: Nanos,
    at: Range<usize>,
    measure: Nanos,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Nanos {
    if !(Nanos::SECOND..measure).contains(&after) {
        let message = format!("nothing is measured before or after an event at {after}");
        let help = format!(
            "it is counted from the beginning of the measurement: 1s or more, before {measure}"
        );
        findings.error(at.clone(), message, help);
    }
    scaled(after, options, at, findings).max(Nanos::SECOND)
}

fn change(written: &At<RawEvent>, findings: &mut Findings<'_>) -> Option<MemberChange> {
    let RawEvent {
        at: _,
        fail,
        replace,
        r#return: returned,
        slow,
        factor,
        network,
    } = written.get();
    let members = [fail, replace, returned, slow].map(|member| member.value());
    let (message, help) = match (members, factor.value(), network) {
        ([Some(member), None, None, None], None, None) => {
            return Some(MemberChange::Fail { member });
        }
        ([None, Some(member), None, None], None, None) => {
            return Some(MemberChange::Replace { member });
        }
        ([None, None, Some(member), None], None, None) => {
            return Some(MemberChange::Return { member });
        }
        ([None, None, None, Some(member)], Some(factor), None) => {
            return Some(MemberChange::Slow { member, factor });
        }
        ([None, None, None, None], None, Some(network)) => {
            let gbit = bandwidth(network, findings)?;
            return Some(MemberChange::Network { gbit });
        }
        _ if findings.is_incomplete(&written.span()) => return None,
        ([None, None, None, Some(_)], None, None) => (
            "`slow` lacks its `factor`",
            "factor = 10: the member takes 10 times as long; 1 ends it",
        ),
        ([.., None], Some(_), _) => (
            "`factor` goes with `slow`",
            "slow = 2, factor = 10: member 2 takes 10 times as long",
        ),
        _ => (
            "an event is one of `fail`, `replace`, `return`, `slow`, `network`",
            "fail = 2, replace = 2, return = 2 or slow = 2, the number of a member, counted from 0, or network = \"1Gb\"",
        ),
    };
    findings.error(written.span(), message, help);
    None
}

fn bandwidth(written: &At<String>, findings: &mut Findings<'_>) -> Option<u32> {
    let gbit = parse_gbit(written.get()).filter(|gbit| (1..=FASTEST_GBIT).contains(gbit));
    if gbit.is_none() {
        let message = format!("`network` cannot be \"{}\"", written.get().escape_debug());
        findings.error(written.span(), message, "\"1Gb\" to \"800Gb\"");
    }
    gbit
}
