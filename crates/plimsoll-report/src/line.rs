//! Load lines in words: where the line is, what was tried, and what gave way first.

use plimsoll_model::search::SearchState;
use plimsoll_model::summary::{
    GaveWay, Judgement, Ladder, LoadLine, PreconditionSummary, ResetSummary, Shortfall, Sign, Summary, TriedLoad,
};

use crate::message::Messages;
use crate::number::{NONE, or_none, percent, three, whole};
use crate::{rung, text};

/// A load line as it is told.
pub(crate) struct ToldLine<'a> {
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
    pub gave_way: Vec<String>,
}

/// Ids of the columns of [`rows`] without `column-` or `text-`.
pub(crate) const COLUMNS: [&str; 4] = ["load", "outcome", "objective", "why"];

pub(crate) fn told<'a>(m: &Messages, summary: &'a Summary) -> Vec<ToldLine<'a>> {
    summary.lines().map(|(ladder, line)| told_line(m, ladder, line)).collect()
}

fn told_line<'a>(m: &Messages, ladder: &'a Ladder, line: &'a LoadLine) -> ToldLine<'a> {
    let unit = if line.open { "line-unit-open" } else { "line-unit-closed" };
    let figure = line.quantile.name().replace("p999", "p99.9");
    let of = line.of.clone().unwrap_or_else(|| m.say("chart-all"));
    let limit = three(line.limit_ms);
    ToldLine {
        ladder,
        line,
        heading: text::heading(m, ladder),
        value: match line.line {
            Some(load) if line.state == SearchState::AboveMost => format!("≥ {}", three(load)),
            Some(load) => three(load),
            None => NONE.to_owned(),
        },
        unit: m.say(unit),
        objective: m.say_with("line-objective", &[("figure", figure), ("of", of), ("limit", limit)]),
        between: between(m, line),
        effort: effort(m, ladder, line),
        rate: rate(m, ladder, line),
        gave_way: gave_way(m, line),
    }
}

fn between(m: &Messages, line: &LoadLine) -> String {
    let shown = |load: Option<f64>| or_none(load, three);
    let args = [("low", shown(line.line)), ("high", shown(line.below)), ("most", three(line.most))];
    let id = match (line.state, line.line, line.below) {
        (SearchState::AboveMost, ..) => "line-above-most",
        (_, Some(_), Some(_)) => "line-between",
        (_, Some(_), None) => "line-from",
        (_, None, Some(_)) => "line-below",
        (_, None, None) => "line-unknown",
    };
    m.say_with(id, &args)
}

fn effort(m: &Messages, ladder: &Ladder, line: &LoadLine) -> String {
    let repeats = ladder.rungs.iter().map(|rung| rung.repeats()).max().unwrap_or_default();
    let args = [
        ("loads", line.tried.len().to_string()),
        ("repeats", repeats.to_string()),
        ("precision", percent(line.precision * 100.0)),
    ];
    let told = m.say_with("line-effort", &args);
    match line.state {
        SearchState::Open => format!("{told} {}", m.say("line-open")),
        SearchState::TooMany => format!("{told} {}", m.say_with("line-too-many", &args)),
        SearchState::BelowLeast => format!("{told} {}", m.say("line-below-least")),
        SearchState::Found | SearchState::AboveMost => told,
    }
}

fn rate(m: &Messages, ladder: &Ladder, line: &LoadLine) -> String {
    let Some(at) = line.rung.and_then(|i| ladder.rungs.get(i)) else { return String::new() };
    let p99 = ("p99", or_none(at.p99_ms.map(|p99| p99.median), three));
    let txn = ("txn", text::main_txn(m, ladder));
    match (at.nopm, at.completed_per_second) {
        (Some(nopm), _) => {
            let each = three(nopm.median / 60.0);
            m.say_with("line-rate-nopm", &[("nopm", whole(nopm.median)), ("each", each), p99, txn])
        }
        (None, Some(rate)) => m.say_with("line-rate", &[("rate", three(rate.median)), p99, txn]),
        (None, None) => String::new(),
    }
}

fn gave_way(m: &Messages, line: &LoadLine) -> Vec<String> {
    if !line.tried.iter().any(|tried| line.line.is_none_or(|load| tried.load > load)) {
        return vec![m.say("gave-way-nothing-above")];
    }
    if line.gave_way.is_empty() {
        return vec![m.say("gave-way-unknown")];
    }
    line.gave_way.iter().map(|sign| sign_text(m, sign)).collect()
}

fn sign_text(m: &Messages, sign: &Sign) -> String {
    let (line, beyond) = (or_none(sign.at_line, three), three(sign.beyond));
    let change = if line == beyond { beyond } else { format!("{line} → {beyond}") };
    m.say_with(sign_id(sign.what), &[("change", change), ("limit", three(sign.limit))])
}

fn sign_id(what: GaveWay) -> &'static str {
    match what {
        GaveWay::Generator => "gave-way-generator",
        GaveWay::Cpu => "gave-way-cpu",
        GaveWay::DeviceBusy => "gave-way-device-busy",
        GaveWay::DeviceWriteTime => "gave-way-device-write-time",
        GaveWay::DeviceReadTime => "gave-way-device-read-time",
        GaveWay::DriveQueue => "gave-way-drive-queue",
        GaveWay::Locks => "gave-way-locks",
        GaveWay::Log => "gave-way-log",
        GaveWay::Connections => "gave-way-connections",
    }
}

/// The loads in the order of trying: load, outcome, the objective's figure of each repeat, why it was not met.
pub(crate) fn rows(m: &Messages, told: &ToldLine<'_>) -> Vec<[String; 4]> {
    told.line.tried.iter().map(|tried| row(m, told.ladder, tried)).collect()
}

fn row(m: &Messages, ladder: &Ladder, tried: &TriedLoad) -> [String; 4] {
    let load = ladder
        .rungs
        .get(tried.rung)
        .map_or_else(|| three(tried.load), |at| rung::load(at.users, at.offered_per_second, at.offered_to_per_second));
    let figures: Vec<String> = tried.repeats.iter().map(|repeat| or_none(repeat.figure_ms, three)).collect();
    [load, m.say(&format!("outcome-{}", tried.outcome.name())), figures.join(" · "), why(m, &tried.repeats)]
}

/// Each reason once, as the first repeat that has it says it.
fn why(m: &Messages, repeats: &[Judgement]) -> String {
    let mut told: Vec<(&'static str, String)> = Vec::new();
    for shortfall in repeats.iter().flat_map(|repeat| &repeat.shortfalls) {
        if !told.iter().any(|(name, _)| *name == shortfall.name()) {
            told.push((shortfall.name(), shortfall_text(m, *shortfall)));
        }
    }
    told.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

fn shortfall_text(m: &Messages, shortfall: Shortfall) -> String {
    match shortfall {
        Shortfall::NothingMeasured => m.say("shortfall-nothing-measured"),
        Shortfall::Incomplete => m.say("shortfall-incomplete"),
        Shortfall::Slow => m.say("shortfall-slow"),
        Shortfall::Failed { percent: p } => m.say_with("shortfall-failed", &[("percent", percent(p))]),
        Shortfall::Dropped { intents } => m.say_with("shortfall-dropped", &[("intents", whole(intents as f64))]),
        Shortfall::Behind { percent: p } => m.say_with("shortfall-behind", &[("percent", percent(p))]),
        Shortfall::Unsteady { range_percent, slope_percent } => {
            let args = [("range", percent(range_percent)), ("slope", percent(slope_percent))];
            m.say_with("shortfall-unsteady", &args)
        }
    }
}

/// What was done to data and drives before points: load, and resets.
pub(crate) fn before_points(m: &Messages, summary: &Summary) -> Vec<String> {
    let preconditions = summary.preconditions.iter().map(|own| precondition(m, own));
    preconditions.chain(summary.resets.iter().map(|own| reset(m, own))).collect()
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
    m.say_with("reset", &args)
}

/// That load ran before the first point, how long, and what became of its rate.
fn precondition(m: &Messages, p: &PreconditionSummary) -> String {
    let load = rung::load(p.users, p.offered_per_second, None);
    let unit = m.say(if p.offered_per_second.is_some() { "line-unit-open" } else { "line-unit-closed" });
    let args = [
        ("step", p.step.clone()),
        ("system", p.system.clone()),
        ("load", format!("{load} {unit}")),
        ("lasted", three(p.lasted_s)),
        ("first", or_none(p.first_per_second, three)),
        ("last", or_none(p.last_per_second, three)),
        ("change", or_none(p.change_percent, |change| format!("{change:+.1}"))),
    ];
    let told = m.say_with("precondition", &args);
    if p.complete { told } else { format!("{told} {}", m.say("precondition-cut")) }
}
