//! Load lines as text: the line, the loads tried, and the bottleneck.

use plimsoll_analysis::Summary;
use plimsoll_analysis::search::{Attempt, SearchState};
use plimsoll_analysis::summary::{
    Bottleneck, Ladder, LoadLine, ObjectiveResult, PreconditionSummary, ResetSummary, Shortfall,
    Sign, TriedLoad,
};

use crate::ladder;
use crate::message::Messages;
use crate::number::{self, NONE, or_none, percent, three, whole};
use crate::table::Unit::{Plain, Words};
use crate::table::{Cell, Table};

/// A load line as text.
pub(crate) struct LoadLineText<'a> {
    pub ladder: &'a Ladder,
    pub line: &'a LoadLine,
    pub heading: String,
    /// The line itself, and its unit; what stands for it where there is none.
    pub value: String,
    pub unit: String,
    /// `p99 of new_order ≤ 10 ms`.
    pub objective: String,
    /// Between which loads the line lies, and what it took to find out.
    pub between: String,
    pub effort: String,
    /// What the system did at the line; empty where there is none.
    pub rate: String,
    pub bottleneck: Vec<String>,
}

pub(crate) fn describe<'a>(m: &Messages, summary: &'a Summary) -> Vec<LoadLineText<'a>> {
    summary
        .lines()
        .map(|(ladder, line)| line_text(m, ladder, line))
        .collect()
}

fn line_text<'a>(m: &Messages, ladder: &'a Ladder, line: &'a LoadLine) -> LoadLineText<'a> {
    let unit = if line.open {
        "line-unit-open"
    } else {
        "line-unit-closed"
    };
    let figure = line.quantile.name().replace("p999", "p99.9");
    let of = line.of.clone().unwrap_or_else(|| m.text("chart-all"));
    let limit = three(line.limit_ms);
    LoadLineText {
        ladder,
        line,
        heading: ladder::heading(m, ladder),
        value: match line.line {
            Some(load) if line.state == SearchState::AboveMost => format!("≥ {}", three(load)),
            Some(load) => three(load),
            None => NONE.to_owned(),
        },
        unit: m.text(unit),
        objective: m.text_with(
            "line-objective",
            &[("figure", figure), ("of", of), ("limit", limit)],
        ),
        between: between(m, line),
        effort: effort(m, ladder, line),
        rate: rate(m, ladder, line),
        bottleneck: bottleneck(m, line),
    }
}

fn between(m: &Messages, line: &LoadLine) -> String {
    let shown = |load: Option<f64>| or_none(load, three);
    let args = [
        ("low", shown(line.line)),
        ("high", shown(line.below)),
        ("most", three(line.most)),
    ];
    let id = match (line.state, line.line, line.below) {
        (SearchState::AboveMost, ..) => "line-above-most",
        (_, Some(_), Some(_)) => "line-between",
        (_, Some(_), None) => "line-from",
        (_, None, Some(_)) => "line-below",
        (_, None, None) => "line-unknown",
    };
    m.text_with(id, &args)
}

fn effort(m: &Messages, ladder: &Ladder, line: &LoadLine) -> String {
    let repeats = ladder
        .loads
        .iter()
        .map(|rung| rung.repeats())
        .max()
        .unwrap_or_default();
    let args = [
        ("loads", line.tried.len().to_string()),
        ("repeats", repeats.to_string()),
        ("precision", percent(line.precision * 100.0)),
    ];
    let text = m.text_with("line-effort", &args);
    match line.state {
        SearchState::Open => format!("{text} {}", m.text("line-open")),
        SearchState::TooMany => format!("{text} {}", m.text_with("line-too-many", &args)),
        SearchState::BelowLeast => format!("{text} {}", m.text("line-below-least")),
        SearchState::Found | SearchState::AboveMost => text,
    }
}

fn rate(m: &Messages, ladder: &Ladder, line: &LoadLine) -> String {
    let Some(at) = line.load_index.and_then(|i| ladder.loads.get(i)) else {
        return String::new();
    };
    let p99 = ("p99", or_none(at.p99_ms.map(|p99| p99.median), three));
    let txn = ("txn", ladder::main_txn(m, ladder));
    match (at.nopm, at.completed_per_second) {
        (Some(nopm), _) => {
            let each = three(nopm.median / 60.0);
            m.text_with(
                "line-rate-nopm",
                &[("nopm", whole(nopm.median)), ("each", each), p99, txn],
            )
        }
        (None, Some(rate)) => m.text_with("line-rate", &[("rate", three(rate.median)), p99, txn]),
        (None, None) => String::new(),
    }
}

fn bottleneck(m: &Messages, line: &LoadLine) -> Vec<String> {
    if !line
        .tried
        .iter()
        .any(|tried| line.line.is_none_or(|load| tried.load > load))
    {
        return vec![m.text("bottleneck-nothing-above")];
    }
    if line.bottleneck.is_empty() {
        return vec![m.text("bottleneck-unknown")];
    }
    line.bottleneck
        .iter()
        .map(|sign| sign_text(m, sign))
        .collect()
}

fn sign_text(m: &Messages, sign: &Sign) -> String {
    let (line, beyond) = (or_none(sign.at_line, three), three(sign.beyond));
    let change = if line == beyond {
        beyond
    } else {
        format!("{line} → {beyond}")
    };
    m.text_with(
        sign_id(sign.what),
        &[("change", change), ("limit", three(sign.limit))],
    )
}

fn sign_id(what: Bottleneck) -> &'static str {
    match what {
        Bottleneck::Generator => "bottleneck-generator",
        Bottleneck::Cpu => "bottleneck-cpu",
        Bottleneck::DeviceBusy => "bottleneck-device-busy",
        Bottleneck::DeviceWriteTime => "bottleneck-device-write-time",
        Bottleneck::DeviceReadTime => "bottleneck-device-read-time",
        Bottleneck::DriveQueue => "bottleneck-drive-queue",
        Bottleneck::Locks => "bottleneck-locks",
        Bottleneck::Log => "bottleneck-log",
        Bottleneck::Connections => "bottleneck-connections",
    }
}

/// The loads in the order of trying.
pub(crate) fn table<'a>(m: &'a Messages, text: &LoadLineText<'a>) -> Table<'a, &'a TriedLoad> {
    let ladder = text.ladder;
    let line = text.line;
    Table::<&TriedLoad>::new()
        .column("load", Plain, move |tried| load(ladder, tried))
        .column("outcome", Words, |tried| {
            Cell::word("outcome-", tried.outcome.name()).styled(match tried.outcome {
                Attempt::Met => "sound",
                Attempt::Mixed => "doubtful",
                Attempt::Failed => "invalid",
            })
        })
        .column("objective", Plain, |tried| figures(&tried.repeats))
        .column("why", Words, |tried| why(m, &tried.repeats))
        .row_class(|tried| {
            if line.load_index == Some(tried.load_index) {
                "peak"
            } else {
                ""
            }
        })
}

fn load(ladder: &Ladder, tried: &TriedLoad) -> String {
    let Some(at) = ladder.loads.get(tried.load_index) else {
        return three(tried.load);
    };
    number::load(at.users, at.offered_per_second, at.offered_to_per_second)
}

/// The objective's figure of each repeat.
fn figures(repeats: &[ObjectiveResult]) -> String {
    let figures = repeats
        .iter()
        .map(|repeat| or_none(repeat.figure_ms, three));
    figures.collect::<Vec<_>>().join(" · ")
}

/// Each reason once, with the figures of the first repeat that has it.
fn why(m: &Messages, repeats: &[ObjectiveResult]) -> String {
    let mut reasons: Vec<(&'static str, String)> = Vec::new();
    for shortfall in repeats.iter().flat_map(|repeat| &repeat.shortfalls) {
        if !reasons.iter().any(|(name, _)| *name == shortfall.name()) {
            reasons.push((shortfall.name(), shortfall_text(m, *shortfall)));
        }
    }
    reasons
        .into_iter()
        .map(|(_, text)| text)
        .collect::<Vec<_>>()
        .join(", ")
}

fn shortfall_text(m: &Messages, shortfall: Shortfall) -> String {
    match shortfall {
        Shortfall::NothingMeasured => m.text("shortfall-nothing-measured"),
        Shortfall::Incomplete => m.text("shortfall-incomplete"),
        Shortfall::Slow => m.text("shortfall-slow"),
        Shortfall::Failed { percent: p } => {
            m.text_with("shortfall-failed", &[("percent", percent(p))])
        }
        Shortfall::Dropped { intents } => {
            m.text_with("shortfall-dropped", &[("intents", whole(intents as f64))])
        }
        Shortfall::Behind { percent: p } => {
            m.text_with("shortfall-behind", &[("percent", percent(p))])
        }
        Shortfall::Unsteady {
            range_percent,
            slope_percent,
        } => {
            let args = [
                ("range", percent(range_percent)),
                ("slope", percent(slope_percent)),
            ];
            m.text_with("shortfall-unsteady", &args)
        }
    }
}

/// What was done to data and drives before points: load, and resets.
pub(crate) fn before_points(m: &Messages, summary: &Summary) -> Vec<String> {
    let preconditions = summary.preconditions.iter().map(|own| precondition(m, own));
    preconditions
        .chain(summary.resets.iter().map(|own| reset(m, own)))
        .collect()
}

fn reset(m: &Messages, r: &ResetSummary) -> String {
    let args = [
        ("step", r.step.clone()),
        ("system", r.system.clone()),
        ("method", r.method.clone()),
        ("times", r.times.to_string()),
        ("longest", three(r.longest_s)),
        ("largest", three(r.largest_mb)),
        ("last", three(r.last_mb)),
        ("verified", r.verified.clone()),
    ];
    m.text_with("reset", &args)
}

/// That load ran before the first point, how long, and what became of its rate.
fn precondition(m: &Messages, p: &PreconditionSummary) -> String {
    let load = number::load(p.users, p.offered_per_second, None);
    let unit = m.text(if p.offered_per_second.is_some() {
        "line-unit-open"
    } else {
        "line-unit-closed"
    });
    let args = [
        ("step", p.step.clone()),
        ("system", p.system.clone()),
        ("load", format!("{load} {unit}")),
        ("lasted", three(p.lasted_s)),
        ("first", or_none(p.first_per_second, three)),
        ("last", or_none(p.last_per_second, three)),
        (
            "change",
            or_none(p.change_percent, |change| format!("{change:+.1}")),
        ),
    ];
    let text = m.text_with("precondition", &args);
    if p.complete {
        text
    } else {
        format!("{text} {}", m.text("precondition-cut"))
    }
}
