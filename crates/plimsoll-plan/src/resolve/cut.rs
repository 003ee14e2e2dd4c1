//! Power cuts: of which media and systems, and when.

use super::names::Names;
use super::step_keys::planned_measure;
use super::values::scaled;
use crate::findings::Findings;
use crate::raw::RawStep;
use crate::resolved::{DriveForm, WithoutFuse};
use crate::units::Nanos;
use crate::value::{At, RawTime};

/// When the power fails, if it does. `on` are names of media.
pub(super) fn resolve(
    at: &At<RawStep>,
    system: Option<&At<String>>,
    on: Option<&[String]>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    let written = at.get().power_cut.as_ref()?;
    if let Some(system) = system {
        check_system(written, system.get(), names, findings);
    }
    if let Some(on) = on {
        check_media(written, on, names, findings);
        if let Some(system) = system {
            check_others(at, written, system.get(), on, names, findings);
        }
    }
    let after = written.value();
    let measure = planned_measure(at, findings);
    if after < Nanos::SECOND {
        let help = "figures are taken per second: power_cut = \"1s\" or more";
        let message = "nothing is measured before the power fails";
        findings.error(written.span(), message, help);
    } else if after > measure {
        let help = "it is counted from the beginning of the measurement: shorten it, or lengthen `measure`";
        let message = format!("the power fails after {measure} of measurement are over");
        findings.error(written.span(), message, help);
    }
    let after = scaled(after, names.options, written.span(), findings);
    Some(after.max(Nanos::SECOND))
}

/// The power of a system that plimsoll did not start is not plimsoll's to cut, and the mock has none.
fn check_system(
    written: &At<RawTime>,
    system: &str,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    if names.kind(system).is_some_and(|kind| !kind.needs_medium()) {
        let message = format!("the power of the system `{system}` cannot be cut");
        let help = "only of one that plimsoll starts on an emulated drive; remove it";
        findings.error(written.span(), message, help);
    }
}

fn check_media(
    written: &At<RawTime>,
    on: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    for medium in &names.media {
        let name = &medium.name;
        match medium.kind.emulated() {
            _ if !on.contains(name) => {}
            None => {
                let message = format!("the power of the medium `{name}` cannot be cut");
                let help = "only emulated drives can lose their power: give it a `drive`, or take it out of `on`";
                findings.error(written.span(), message, help);
            }
            Some(drive) if drive.form == DriveForm::Directory => {
                let message = format!("the power of `{name}` cannot be cut: it is a directory");
                let help = "only a block device can lose its power: form = \"block\", as root";
                findings.error(written.span(), message, help);
            }
            Some(drive) if drive.without_fuse == WithoutFuse::PlainDirectory => {
                let message = format!("in a plain directory the power of `{name}` cannot fail");
                let help = "without_fuse = \"refuse\" makes sure that there is a drive";
                findings.warn(written.span(), message, help);
            }
            Some(_) => {}
        }
    }
}

/// A system of an earlier step that a later one uses again is up in between, and its data would lose power as well.
fn check_others(
    at: &At<RawStep>,
    written: &At<RawTime>,
    system: &str,
    on: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    let steps = &names.raw.step;
    let is_here = |step: &At<RawStep>| step.span() == at.span();
    let here = steps.iter().position(is_here).unwrap_or_default();
    let (before, after) = steps.split_at(here);
    let after = systems_on(after, on, names);
    let other = systems_on(before, on, names)
        .into_iter()
        .find(|other| *other != system && after.contains(other));
    if let Some(other) = other {
        let message = format!(
            "the system `{other}` is up on the same drive, and its data would lose power as well"
        );
        let help = "put this step before or after its steps, or give it a medium of its own";
        findings.error(written.span(), message, help);
    }
}

/// Systems that steps use on one of the media.
fn systems_on<'r>(steps: &'r [At<RawStep>], on: &[String], names: &Names<'_>) -> Vec<&'r String> {
    let everywhere = names.raw.medium.len() == 1;
    steps
        .iter()
        .map(At::get)
        .filter(|step| match &step.on {
            None => everywhere,
            Some(media) => media.get().iter().any(|medium| on.contains(medium.get())),
        })
        .filter_map(|step| Some(step.system.as_ref()?.get()))
        .collect()
}
