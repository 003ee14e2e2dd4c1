//! What all kinds of answers share.

use plimsoll_analysis::answer::{TrustLimit, TrustReason};
use plimsoll_analysis::summary::{Interval, MediumSpeed, Ratio};
use plimsoll_record::OfferedLoad;

use crate::message::Messages;
use crate::number::three;
use crate::svg::chart::{Chart, PlotBar};
use crate::table::FilledTable;

/// What an answer consists of, whatever it is about.
pub(crate) struct AnswerParts<'a> {
    /// The first one answers; the others have to be known beside it.
    pub sentences: Vec<String>,
    pub table: Option<Box<dyn FilledTable + 'a>>,
    pub chart: Option<Chart>,
    /// One sentence for each medium.
    pub limited_by: Vec<String>,
}

/// The medium, and what people call the drive that is emulated on it.
pub(super) fn medium_and_drive(medium: Option<&str>, drive: Option<&str>) -> String {
    match (medium, drive) {
        (Some(medium), Some(drive)) => format!("{medium} · {drive}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::new(),
    }
}

/// The medium in a sentence; without one it is about the system.
pub(super) fn subject(m: &Messages, medium: Option<&String>) -> String {
    medium.cloned().unwrap_or_else(|| m.text("answer-system"))
}

/// The medium with its speed, if it is slowed.
pub(super) fn medium_at_speed(m: &Messages, medium: &str, slower: Option<f64>) -> String {
    match slower.filter(|slower| *slower > 1.0) {
        Some(slower) => {
            let args = [
                ("medium", medium.to_owned()),
                ("slower", slower.to_string()),
            ];
            m.text_with("answer-medium-speed", &args)
        }
        None => medium.to_owned(),
    }
}

/// How fast each of them ran: `nvme ran at 1/50 speed and here ran at full speed`.
pub(crate) fn speeds(m: &Messages, media: &[MediumSpeed]) -> String {
    let each = media.iter().map(|own| {
        let args = [
            ("medium", own.medium.clone()),
            ("slower", own.slower.to_string()),
        ];
        m.text_with("answer-speed", &args)
    });
    and(m, each.collect())
}

/// Both ends of a ratio that is too uncertain to be an answer.
pub(super) fn ends(ratio: Ratio) -> Option<[String; 2]> {
    let own = ratio.interval?;
    Some([own.low, own.high].map(three))
}

/// Each once, in order.
pub(crate) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

pub(super) fn at_load(m: &Messages, load: OfferedLoad) -> String {
    match load.offered_per_second {
        Some(rate) => m.text_with("answer-at-rate", &[("rate", three(rate))]),
        // Of an output of another tool.
        None if load.users == 0 => m.text("answer-at-unknown"),
        None => m.text_with("answer-at-users", &[("users", load.users.to_string())]),
    }
}

pub(super) fn and(m: &Messages, mut parts: Vec<String>) -> String {
    let Some(last) = parts.pop() else {
        return String::new();
    };
    if parts.is_empty() {
        return last;
    }
    m.text_with("answer-and", &[("first", parts.join(", ")), ("last", last)])
}

/// The heading of bars: whether intervals are drawn.
pub(super) fn intervals_drawn(m: &Messages, bars: &[PlotBar]) -> (&'static str, String) {
    let is_drawn = bars.iter().any(|bar| bar.mark.range.is_some());
    let text = is_drawn.then(|| m.text("answer-chart-intervals"));
    ("intervals", text.unwrap_or_default())
}

/// `, with a p99 of 4.1 ms`; empty where it is unknown.
pub(super) fn with_p99(m: &Messages, p99_ms: Option<f64>) -> String {
    let text = p99_ms.map(|ms| m.text_with("answer-p99", &[("p99", three(ms))]));
    text.unwrap_or_default()
}

pub(super) fn interval(m: &Messages, interval: Option<Interval>) -> String {
    let Some(own) = interval else {
        return String::new();
    };
    m.text_with(
        "answer-interval",
        &[("low", three(own.low)), ("high", three(own.high))],
    )
}

/// What it is, in words: a finding's sentence or what a rule is about, without a period.
pub(crate) fn reason(m: &Messages, limit: &TrustLimit) -> String {
    let text = match (&limit.reason, &limit.because) {
        (TrustReason::Rule { .. }, Some(kind)) => m.finding(kind),
        (TrustReason::Rule { rule }, None) => {
            m.text(&format!("answer-limit-{}", rule.code().to_lowercase()))
        }
        (TrustReason::Finding(kind), _) => m.finding(kind),
        (TrustReason::Fault(fault), _) => m.audit_fault(fault),
    };
    text.trim_end_matches('.').to_owned()
}
