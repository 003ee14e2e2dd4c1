//! Values that many keys have: texts, times, sizes and numbers, checked and scaled.

use std::ops::{Range, RangeInclusive};

use crate::findings::Findings;
use crate::options::Options;
use crate::shortened::LONGEST_TEXT;
use crate::units::{Bytes, Nanos};
use crate::value::{At, RawSize, RawTime};
use crate::{duration, size as sizes};

/// Text that is not empty, not endless and in one line.
pub(super) fn text(value: &At<String>, what: &str, findings: &mut Findings<'_>) -> Option<String> {
    let text = value.get();
    let fault = match text {
        _ if text.trim().is_empty() => "is empty",
        _ if text.chars().count() > LONGEST_TEXT => "is longer than 500 characters",
        _ if text.chars().any(char::is_control) => "holds line breaks or control characters",
        _ => return Some(text.clone()),
    };
    findings.error(
        value.span(),
        format!("{what} {fault}"),
        "write one line of text here",
    );
    None
}

pub(super) fn time(value: &At<RawTime>, findings: &mut Findings<'_>) -> Option<Nanos> {
    let (message, help) = match value.get() {
        RawTime::Bare(number) => (
            format!("{number} has no unit"),
            format!("write times with a unit and in quotes: \"{number}s\""),
        ),
        RawTime::Text(text) => match duration::parse(text) {
            Ok(nanos) => return Some(nanos),
            Err(_) if text.trim().parse::<f64>().is_ok_and(|number| number >= 0.0) => (
                format!("\"{text}\" has no unit"),
                format!("write times with a unit: \"{}s\"", text.trim()),
            ),
            Err(fault) => {
                let help = "write times such as \"10s\", \"2m\", \"1h 30m\" or \"250ms\"";
                (
                    format!("\"{}\" {fault}", text.escape_debug()),
                    help.to_owned(),
                )
            }
        },
    };
    findings.error(value.span(), message, help);
    None
}

pub(super) fn time_or(
    value: &Option<At<RawTime>>,
    default: Nanos,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    value
        .as_ref()
        .map_or(Some(default), |value| time(value, findings))
}

pub(super) fn size(value: &At<RawSize>, findings: &mut Findings<'_>) -> Option<Bytes> {
    size_of(value.get(), value.span(), findings)
}

pub(super) fn size_of(
    raw: &RawSize,
    at: Range<usize>,
    findings: &mut Findings<'_>,
) -> Option<Bytes> {
    let help = "write sizes such as \"16GiB\", \"512MiB\" or \"960GB\"";
    let (message, help) = match raw {
        RawSize::Bare(number) => (
            format!("{number} has no unit"),
            format!("write sizes with a unit and in quotes: \"{number}GiB\""),
        ),
        RawSize::Text(text) => match sizes::parse(text) {
            Ok(bytes) => return Some(bytes),
            Err(fault) => (
                format!("\"{}\" {fault}", text.escape_debug()),
                help.to_owned(),
            ),
        },
    };
    findings.error(at, message, help);
    None
}

/// A whole number between two bounds, both included.
pub(super) fn whole(
    value: &At<i64>,
    what: &str,
    bounds: RangeInclusive<u32>,
    findings: &mut Findings<'_>,
) -> Option<u32> {
    if let Some(number) = u32::try_from(*value.get())
        .ok()
        .filter(|number| bounds.contains(number))
    {
        return Some(number);
    }
    let help = format!("{} to {} is possible", bounds.start(), bounds.end());
    findings.error(
        value.span(),
        format!("{what} cannot be {}", value.get()),
        help,
    );
    None
}

/// Multiplies a time and rounds it to a millisecond; `None` above the longest possible time, with an error.
pub(super) fn scaled(
    nanos: Nanos,
    options: &Options,
    at: Range<usize>,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    if options.scale == 1.0 {
        return Some(nanos);
    }
    let millis = (nanos.as_millis_f64() * options.scale).round();
    if millis > duration::LONGEST.as_millis_f64() {
        findings.error(
            at,
            format!("times {} this is longer than 30 days", options.scale),
            "choose a smaller --scale",
        );
        return None;
    }
    Some(Nanos::from_millis(millis as u64))
}
