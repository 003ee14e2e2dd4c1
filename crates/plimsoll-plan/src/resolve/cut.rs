//! Power cuts: of which media and systems, and when.

use super::names::Names;
use super::step_keys::planned_measure;
use super::values::scaled;
use crate::findings::Findings;
use crate::raw::RawStep;
use crate::resolved::{DriveForm, WithoutFuse};
use crate::units::Nanos;
use crate::value::{At, RawTime};

/// The outer `None` is a reported fault, the inner one a step without a cut. `on` are names of media.
pub(super) fn resolve(
    at: &At<RawStep>,
    system: Option<&At<String>>,
    on: Option<&[String]>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Option<Nanos>> {
    let Some(written) = &at.get().power_cut else {
        return Some(None);
    };
    let fits = system.is_none_or(|system| has_a_medium(written, system.get(), names, findings))
        & on.is_none_or(|on| all_emulated(written, on, names, findings))
        & on.is_none_or(|on| nobody_else_is_up(at, system, on, names, findings));
    let after = written.value();
    if after < Nanos::SECOND {
        let help = "figures are taken per second: power_cut = \"1s\" or more";
        findings.error(
            written.span(),
            "nothing is measured before the power fails",
            help,
        );
        return None;
    }
    let measure = planned_measure(at, findings);
    if after > measure {
        let help = "it is counted from the beginning of the measurement: shorten it, or lengthen `measure`";
        findings.error(
            written.span(),
            format!("the power fails after {measure} of measurement are over"),
            help,
        );
        return None;
    }
    let after = scaled(after, names.options, written.span(), findings)?.max(Nanos::SECOND);
    fits.then_some(Some(after))
}

/// The power of a system that plimsoll did not start is not plimsoll's to cut, and the mock has none.
fn has_a_medium(
    written: &At<RawTime>,
    system: &str,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let fits = names.kind(system).is_none_or(|kind| kind.needs_medium());
    if !fits {
        let message = format!("the power of the system `{system}` cannot be cut");
        findings.error(
            written.span(),
            message,
            "only of one that plimsoll starts on an emulated drive; remove it",
        );
    }
    fits
}

fn all_emulated(
    written: &At<RawTime>,
    on: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let mut fits = true;
    for medium in names
        .media
        .iter()
        .filter(|medium| on.contains(&medium.name))
    {
        let name = &medium.name;
        match medium.kind.emulated() {
            None => {
                let help = "only emulated drives can lose their power: give it a `drive`, or take it out of `on`";
                findings.error(
                    written.span(),
                    format!("the power of the medium `{name}` cannot be cut"),
                    help,
                );
                fits = false;
            }
            Some(drive) if drive.form == DriveForm::Directory => {
                let help = "only a block device can lose its power: form = \"block\", as root";
                findings.error(
                    written.span(),
                    format!("the power of `{name}` cannot be cut: it is a directory"),
                    help,
                );
                fits = false;
            }
            Some(drive) if drive.without_fuse == WithoutFuse::PlainDirectory => {
                let help = "without_fuse = \"refuse\" makes sure that there is a drive";
                findings.warn(
                    written.span(),
                    format!("in a plain directory the power of `{name}` cannot fail"),
                    help,
                );
            }
            Some(_) => {}
        }
    }
    fits
}

/// A system of an earlier step that a later one uses again is up in between, and its data would lose power as well.
fn nobody_else_is_up(
    at: &At<RawStep>,
    system: Option<&At<String>>,
    on: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> bool {
    let Some(system) = system else {
        return true;
    };
    let Some(written) = &at.get().power_cut else {
        return true;
    };
    let uses = |step: &RawStep| {
        let everywhere = names.raw.medium.len() == 1;
        step.on.as_ref().map_or(everywhere, |media| {
            media.get().iter().any(|medium| on.contains(medium.get()))
        })
    };
    let here = names
        .raw
        .step
        .iter()
        .position(|step| step.span() == at.span())
        .unwrap_or_default();
    let systems = |steps: &[At<RawStep>]| -> Vec<String> {
        let steps = steps.iter().map(At::get).filter(|step| uses(step));
        steps
            .filter_map(|step| Some(step.system.as_ref()?.get().clone()))
            .collect()
    };
    let (before, after) = names.raw.step.split_at(here);
    let after = systems(after);
    let other = systems(before)
        .into_iter()
        .find(|other| other != system.get() && after.contains(other));
    if let Some(other) = &other {
        let message = format!(
            "the system `{other}` is up on the same drive, and its data would lose power as well"
        );
        findings.error(
            written.span(),
            message,
            "put this step before or after its steps, or give it a medium of its own",
        );
    }
    other.is_none()
}
