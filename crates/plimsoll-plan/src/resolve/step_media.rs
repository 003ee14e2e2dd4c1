//! The media of a step: named, or the only one of the plan.

use std::ops::Range;

use super::names::{Names, known, names_of};
use crate::findings::Findings;
use crate::raw::RawStep;
use crate::resolved::{MediumKind, SystemKind};
use crate::value::At;

/// Media that the system of a load step keeps its data on.
pub(super) fn media(
    at: &At<RawStep>,
    system: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<String>> {
    media_if(SystemKind::needs_medium, at, system, names, findings)
}

/// Media of a backup step: also an existing server is restored on a medium of the plan's.
pub(super) fn needed_media(
    at: &At<RawStep>,
    system: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<String>> {
    media_if(|_| true, at, system, names, findings)
}

fn media_if(
    needs: impl Fn(&SystemKind) -> bool,
    at: &At<RawStep>,
    system: Option<&At<String>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Vec<String>> {
    let written = at.get().on.as_ref();
    let on = written.map_or(Vec::new(), |on| named_media(on, names, findings));
    let system = system?;
    let needs = needs(names.kind(system.get())?);
    match written {
        Some(written) if !needs => {
            let message = format!(
                "`on` changes nothing: the system `{}` keeps no data on a medium",
                system.get()
            );
            findings.warn(written.span(), message, "remove it");
            Some(Vec::new())
        }
        Some(written) => {
            if written.get().is_empty() && !findings.is_incomplete(&written.span()) {
                let help = format!("known here: {}", names_of(&names.raw.medium));
                findings.error(written.span(), "`on` names no medium", help);
            }
            refuse_devices(&on, written.span(), names, findings);
            Some(on)
        }
        None if !needs || findings.explains(&at.span(), "on") => Some(on),
        None => {
            let engine = names
                .kind(system.get())
                .map_or("", |kind| kind.engine().name());
            let what = format!(
                "the system `{}` ({engine}) needs a medium for its data",
                system.get()
            );
            let on = vec![only_medium(at, system.span(), &what, names, findings)?];
            refuse_devices(&on, at.span(), names, findings);
            Some(on)
        }
    }
}

/// Those that the plan has.
pub(super) fn named_media(
    written: &At<Vec<At<String>>>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Vec<String> {
    let mut on: Vec<String> = Vec::new();
    for name in written.get() {
        if on.contains(name.get()) {
            findings.error(
                name.span(),
                format!("`{}` is named twice", name.get()),
                "a medium is tried once per step",
            );
        } else if known(&names.raw.medium, "medium", name, findings) {
            on.push(name.get().clone());
        }
    }
    on
}

fn refuse_devices(on: &[String], at: Range<usize>, names: &Names<'_>, findings: &mut Findings<'_>) {
    let devices = names
        .media
        .iter()
        .filter(|medium| medium.kind == MediumKind::Device);
    let device = on
        .iter()
        .find(|name| devices.clone().any(|device| device.name == **name));
    if let Some(name) = device {
        let help = "plimsoll makes no filesystem on it: name a directory with `path`; only block workloads use a `device`";
        findings.error(
            at,
            format!("no system can keep its data on `{name}`, which is a device itself"),
            help,
        );
    }
}

/// The medium that a step means which names none; `needs` begins the sentence if there is none, reported at `needing`.
pub(super) fn only_medium(
    at: &At<RawStep>,
    needing: Range<usize>,
    needs: &str,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<String> {
    let media = &names.raw.medium;
    match (media.len(), media.keys().next()) {
        (1, Some(only)) => return Some(only.get().clone()),
        (0, _) if findings.explains_name("medium", "") => {}
        (0, _) => findings.error(needing, needs, "add [medium.here] with path = \".\""),
        _ => {
            let help = format!(
                "state which, for example on = [\"{}\"]; known here: {}",
                media.keys().next().map_or("", |name| name.get()),
                names_of(media)
            );
            findings.error(
                at.span(),
                "`on` is missing, and the plan has several media",
                help,
            );
        }
    }
    None
}
