//! Checks that several keys have: times that `--scale` multiplies, and numbers that their place limits.

use std::ops::Range;

use crate::duration;
use crate::findings::Findings;
use crate::options::Options;
use crate::units::Nanos;
use crate::value::{At, PlanValue};

/// A number that its type allows, with an error where it is too large for its place.
pub(super) fn at_most<T: PlanValue<Resolved = u32>>(
    number: &At<T>,
    key: &str,
    most: u32,
    findings: &mut Findings<'_>,
) -> u32 {
    let value = number.value();
    if value > most {
        let message = format!("`{key}` cannot be {value}");
        findings.error(number.span(), message, format!("1 to {most} is possible"));
    }
    value
}

/// Multiplies a time and rounds it to a millisecond; above the longest possible time with an error.
pub(super) fn scaled(
    nanos: Nanos,
    options: &Options,
    at: Range<usize>,
    findings: &mut Findings<'_>,
) -> Nanos {
    // What is endless, for a fault that has been reported, stays so.
    if options.scale == 1.0 || nanos == Nanos(u64::MAX) {
        return nanos;
    }
    let millis = (nanos.as_millis_f64() * options.scale).round();
    if millis > duration::LONGEST.as_millis_f64() {
        findings.error(
            at,
            format!("times {} this is longer than 30 days", options.scale),
            "choose a smaller --scale",
        );
    }
    Nanos::from_millis(millis as u64)
}
