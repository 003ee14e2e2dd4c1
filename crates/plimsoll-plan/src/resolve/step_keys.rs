//! Keys that steps of several kinds have: the name and the time of measurement.

use std::collections::BTreeSet;

use super::names::LONGEST_NAME;
use super::values::{scaled, time_or};
use crate::duration;
use crate::findings::Findings;
use crate::options::Options;
use crate::raw::RawStep;
use crate::units::Nanos;
use crate::value::{At, RawTime};

const DEFAULT_MEASURE: Nanos = Nanos::from_secs(60);

/// The workload's name, numbered if a step has it already.
pub(super) fn unique(workload: &str, taken: &mut BTreeSet<String>) -> String {
    // Room for the number, so that the name is one that could have been written.
    let stem: String = workload.chars().take(LONGEST_NAME - 5).collect();
    let numbered = (2..).map(|n| format!("{stem}-{n}"));
    let mut names = std::iter::once(workload.to_owned()).chain(numbered);
    let name = names
        .find(|name| !taken.contains(name))
        .expect("there are more numbers than steps");
    taken.insert(name.clone());
    name
}

/// As it is written. A fault of it is reported where it is read.
pub(super) fn planned_measure(raw: &RawStep) -> Nanos {
    match raw.measure.as_ref().map(At::get) {
        None => DEFAULT_MEASURE,
        Some(RawTime::Text(text)) => duration::parse(text).unwrap_or(Nanos(u64::MAX)),
        Some(RawTime::Bare(_)) => Nanos(u64::MAX),
    }
}

/// Figures are taken per second, so a window has at least one.
pub(super) fn measure(
    at: &At<RawStep>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    let raw = at.get();
    let span = raw.measure.as_ref().map_or(at.span(), At::span);
    let written = time_or(&raw.measure, DEFAULT_MEASURE, findings)?;
    if written == Nanos::ZERO {
        let help = "write how long figures are taken, such as measure = \"60s\"";
        findings.error(span, "there is no time to measure", help);
        return None;
    }
    let measure = scaled(written, options, span.clone(), findings)?;
    if measure >= Nanos::SECOND {
        return Some(measure);
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
    Some(Nanos::SECOND)
}
