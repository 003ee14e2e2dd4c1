//! Keys that steps of several kinds have: the name and the time of measurement.

use std::collections::BTreeSet;

use super::names::LONGEST_NAME;
use super::values::scaled;
use crate::findings::Findings;
use crate::options::Options;
use crate::raw::RawStep;
use crate::units::Nanos;
use crate::value::{At, OptionalKey};

/// Name of a step: as written, or the workload's, numbered if a step has it already.
pub(super) fn step_name(raw: &RawStep, workload: &str, taken: &mut BTreeSet<String>) -> String {
    if let Some(name) = &raw.name {
        return name.get().clone();
    }
    // Room for the number, so that the name is one that could have been written.
    let stem: String = workload.chars().take(LONGEST_NAME - 5).collect();
    let numbered = (2..).map(|n| format!("{stem}-{n}"));
    let name = std::iter::once(workload.to_owned())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .expect("there are more numbers than steps");
    taken.insert(name.clone());
    name
}

/// Time of measurement as it is written; endless where a fault of it has been reported.
pub(super) fn planned_measure(at: &At<RawStep>, findings: &Findings<'_>) -> Nanos {
    if findings.explains(&at.span(), "measure") {
        Nanos(u64::MAX)
    } else {
        at.get().measure()
    }
}

/// Figures are taken per second, so a window has at least one.
pub(super) fn measure(at: &At<RawStep>, options: &Options, findings: &mut Findings<'_>) -> Nanos {
    let span = at.get().measure.span_or(&at.span());
    let written = at.get().measure();
    if written == Nanos::ZERO {
        let help = "write how long figures are taken, such as measure = \"60s\"";
        findings.error(span, "there is no time to measure", help);
        return written;
    }
    let measure = scaled(written, options, span.clone(), findings);
    if measure >= Nanos::SECOND {
        return measure;
    }
    let help = if written < Nanos::SECOND {
        "write measure = \"1s\" or more"
    } else {
        "choose a larger --scale"
    };
    findings.warn(
        span,
        format!("measuring for 1s instead of {measure}: figures are taken per second"),
        help,
    );
    Nanos::SECOND
}
