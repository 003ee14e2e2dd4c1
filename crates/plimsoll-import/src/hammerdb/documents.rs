//! JSON that `jobs JOBID timing` and `jobs JOBID tcount` print.

use serde_json::{Map, Value};

use super::super::load::{PrintedFigures, Span};
use super::super::when;
use super::profile::{ResultPosition, TimeProfile};
use plimsoll_plan::units::Nanos;

const MOST_DOCUMENTS: usize = 100;

/// Names of HammerDB's timing profile, with their units.
const TIMING: [(&str, &str); 9] = [
    ("calls", ""),
    ("min_ms", "ms"),
    ("avg_ms", "ms"),
    ("p50_ms", "ms"),
    ("p95_ms", "ms"),
    ("p99_ms", "ms"),
    ("max_ms", "ms"),
    ("elapsed_ms", "ms"),
    ("ratio_pct", "%"),
];

/// `timing` and `tcount` of one job; a second `timing` is another job's.
pub(super) fn profiles(text: &str) -> Vec<TimeProfile> {
    let mut profiles: Vec<TimeProfile> = Vec::new();
    let mut is_timed = false;
    for document in documents(text) {
        let mut figures = PrintedFigures::default();
        let is_timing = add_figures(&mut figures, &document.value);
        match profiles.last_mut().filter(|_| !(is_timing && is_timed)) {
            Some(last) => last.figures.0.extend(figures.0),
            None => profiles.push(TimeProfile {
                line: document.line,
                result: ResultPosition::Either,
                users: 0,
                figures,
            }),
        }
        is_timed |= is_timing;
    }
    profiles
}

/// A JSON document that begins a line.
struct Document {
    line: usize,
    value: Value,
}

fn documents(text: &str) -> Vec<Document> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut read_to = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        if at >= read_to && line.trim_start().starts_with('{') && found.len() < MOST_DOCUMENTS {
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            if let Some(Ok(value)) = values.next() {
                read_to = at + values.byte_offset();
                found.push(Document { line: i + 1, value });
            }
        }
        at += line.len();
    }
    found
}

/// Whether it is a timing profile.
fn add_figures(figures: &mut PrintedFigures, document: &Value) -> bool {
    let mut is_timing = false;
    for (name, value) in document.as_object().into_iter().flatten() {
        let Some(fields) = value.as_object() else {
            continue;
        };
        if fields.contains_key("elapsed_ms") || fields.contains_key("avg_ms") {
            is_timing = true;
            for (key, unit) in TIMING {
                let printed = fields.get(key).map(printed).unwrap_or_default();
                figures.add_of(name, key, &printed, unit);
            }
        } else if name.ends_with(" tpm") {
            add_counter(figures, name, fields);
        }
    }
    is_timing
}

fn printed(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

/// A count with its time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TimedCount {
    at: Nanos,
    printed: String,
}

impl TimedCount {
    /// Either of them is the key.
    fn of(key: &str, value: &str) -> Option<Self> {
        let of_key = when::instant(key);
        Some(Self {
            at: of_key.or_else(|| when::instant(value))?,
            printed: of_key.map_or(key, |_| value).to_owned(),
        })
    }
}

/// `tcount`: TPM by the time at which it was counted.
fn add_counter(figures: &mut PrintedFigures, name: &str, fields: &Map<String, Value>) {
    let counts = fields.iter();
    let mut counts: Vec<TimedCount> = counts
        .filter_map(|(key, value)| TimedCount::of(key, &printed(value)))
        .collect();
    counts.sort();
    let first = counts.first().map(|counted| counted.at).unwrap_or_default();
    for pair in counts.windows(2) {
        let over = Span {
            start: pair[0].at.saturating_sub(first),
            end: pair[1].at.saturating_sub(first),
        };
        figures.add_over(over, name, &pair[1].printed, "1/min");
    }
}
