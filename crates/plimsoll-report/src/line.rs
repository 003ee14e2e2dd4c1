//! Load lines as text: the line, the loads tried, and the bottleneck.

use plimsoll_analysis::Summary;
use plimsoll_analysis::search::{Attempt, SearchState};
use plimsoll_analysis::summary::{
    Bottleneck, FigureId, LadderSummary, LoadLine, ObjectiveResult, PreconditionSummary,
    ResetSummary, Shortfall, Sign, TriedLoad,
};

use crate::ladder;
use crate::message::Messages;
use crate::number::{self, NONE, or_none, percent, percentile_name, three, whole};
use crate::table::Unit::{Plain, Words};
use crate::table::{Table, TableCell};

/// A load line as text.
pub(crate) struct LoadLineText<'a> {
    pub ladder: &'a LadderSummary,
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
    let lines = summary.figures.lines();
    lines
        .map(|(ladder, line)| line_text(m, ladder, line))
        .collect()
}

fn line_text<'a>(m: &Messages, ladder: &'a LadderSummary, line: &'a LoadLine) -> LoadLineText<'a> {
    let unit = if line.open {
        "line-unit-open"
    } else {
        "line-unit-closed"
    };
    let figure = percentile_name(line.quantile.name());
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
    let args = [
        ("low", or_none(line.line, three)),
        ("high", or_none(line.below, three)),
        ("most", three(line.most)),
        ("figure", percentile_name(line.quantile.name())),
        ("ms", or_none(line.lowest.map(|own| own.figure_ms), three)),
        ("from", or_none(line.lowest.map(|own| own.load), three)),
        ("to", or_none(line.lowest.map(|own| own.up_to), three)),
    ];
    let id = match (line.state, line.line, line.below) {
        (SearchState::AboveMost, ..) => "line-above-most",
        (SearchState::Floor, ..) => "line-floor",
        (_, Some(_), Some(_)) => "line-between",
        (_, Some(_), None) => "line-from",
        (_, None, Some(_)) => "line-below",
        (_, None, None) => "line-unknown",
    };
    m.text_with(id, &args)
}

fn effort(m: &Messages, ladder: &LadderSummary, line: &LoadLine) -> String {
    let repeats = ladder.loads.iter().map(|load| load.repeats()).max();
    let args = [
        ("loads", line.tried.len().to_string()),
        ("repeats", repeats.unwrap_or_default().to_string()),
        ("precision", percent(line.precision * 100.0)),
        ("needed", whole(line.needed as f64)),
        ("longest", three(line.longest_s)),
    ];
    let text = m.text_with("line-effort", &args);
    let more = match line.state {
        SearchState::Open => "line-open",
        SearchState::TooMany => "line-too-many",
        SearchState::BelowLeast => "line-below-least",
        SearchState::TooFew => "line-too-few",
        SearchState::Found | SearchState::AboveMost | SearchState::Floor => return text,
    };
    format!("{text} {}", m.text_with(more, &args))
}

fn rate(m: &Messages, ladder: &LadderSummary, line: &LoadLine) -> String {
    let Some(at) = line.load_index.and_then(|index| ladder.loads.get(index)) else {
        return String::new();
    };
    let p99 = at.figures.get(FigureId::P99).map(|p99| p99.value);
    let mut args = vec![
        ("p99", or_none(p99, three)),
        ("txn", ladder::main_txn(m, ladder)),
    ];
    match (
        at.figures.get(FigureId::Nopm),
        at.figures.get(FigureId::Transactions),
    ) {
        (Some(nopm), _) => {
            args.push(("nopm", whole(nopm.value)));
            args.push(("each", three(nopm.value / 60.0)));
            m.text_with("line-rate-nopm", &args)
        }
        (None, Some(rate)) => {
            args.push(("rate", three(rate.value)));
            m.text_with("line-rate", &args)
        }
        (None, None) => String::new(),
    }
}

fn bottleneck(m: &Messages, line: &LoadLine) -> Vec<String> {
    let mut tried = line.tried.iter();
    if !tried.any(|tried| line.line.is_none_or(|load| tried.load > load)) {
        return vec![m.text("bottleneck-nothing-above")];
    }
    if line.bottleneck.is_empty() {
        return vec![m.text("bottleneck-unknown")];
    }
    let signs = line.bottleneck.iter();
    signs.map(|sign| sign_text(m, sign)).collect()
}

fn sign_text(m: &Messages, sign: &Sign) -> String {
    let at_line = or_none(sign.at_line, three);
    let beyond = three(sign.beyond);
    let change = if at_line == beyond {
        beyond
    } else {
        format!("{at_line} → {beyond}")
    };
    let args = [("change", change), ("limit", three(sign.limit))];
    m.text_with(sign_id(sign.what), &args)
}

fn sign_id(what: Bottleneck) -> &'static str {
    match what {
        Bottleneck::Generator => "bottleneck-generator",
        Bottleneck::Emulator => "bottleneck-emulator",
        Bottleneck::OtherPrograms => "bottleneck-other-programs",
        Bottleneck::Steal => "bottleneck-steal",
        Bottleneck::Cpu => "bottleneck-cpu",
        Bottleneck::Processors => "bottleneck-processors",
        Bottleneck::CpuLimit => "bottleneck-cpu-limit",
        Bottleneck::SessionCpu => "bottleneck-session-cpu",
        Bottleneck::Reads => "bottleneck-reads",
        Bottleneck::Client => "bottleneck-client",
        Bottleneck::DeviceBusy => "bottleneck-device-busy",
        Bottleneck::DeviceWriteTime => "bottleneck-device-write-time",
        Bottleneck::DeviceReadTime => "bottleneck-device-read-time",
        Bottleneck::DriveQueue => "bottleneck-drive-queue",
        Bottleneck::Locks => "bottleneck-locks",
        Bottleneck::Log => "bottleneck-log",
        Bottleneck::Connections => "bottleneck-connections",
    }
}

/// A load that was tried for a line.
pub(crate) struct TriedRow<'a> {
    tried: &'a TriedLoad,
    load: String,
    /// Whether it is the line.
    is_line: bool,
}

/// In the order of trying.
pub(crate) fn tried<'a>(text: &LoadLineText<'a>) -> Vec<TriedRow<'a>> {
    let rows = text.line.tried.iter().map(|tried| TriedRow {
        tried,
        load: load(text.ladder, tried),
        is_line: text.line.load_index == Some(tried.load_index),
    });
    rows.collect()
}

pub(crate) fn table<'a>() -> Table<'a, TriedRow<'a>> {
    Table::<TriedRow<'_>>::new("load-line")
        .column("load", Plain, |r| r.load.clone())
        .column("outcome", Words, |r| {
            let class = match r.tried.outcome {
                Attempt::Met => "valid",
                Attempt::Mixed | Attempt::Short | Attempt::TooFew => "doubtful",
                Attempt::Failed => "invalid",
            };
            TableCell::word("outcome-", r.tried.outcome.name()).styled(class)
        })
        .column("objective", Plain, |r| figures(&r.tried.repeats))
        .message("why", Words, |r, m| why(m, &r.tried.repeats))
        .row_class(|r| if r.is_line { "peak" } else { "" })
}

fn load(ladder: &LadderSummary, tried: &TriedLoad) -> String {
    match ladder.loads.get(tried.load_index) {
        None => three(tried.load),
        Some(at) => number::load(at.load),
    }
}

/// The objective's figure of each repeat.
fn figures(repeats: &[ObjectiveResult]) -> String {
    let figures = repeats.iter();
    let figures = figures.map(|repeat| or_none(repeat.figure_ms, three));
    figures.collect::<Vec<_>>().join(" · ")
}

/// Each reason once, with the figures of the first repeat that has it.
fn why(m: &Messages, repeats: &[ObjectiveResult]) -> String {
    let mut reasons: Vec<Shortfall> = Vec::new();
    for shortfall in repeats.iter().flat_map(|repeat| &repeat.shortfalls) {
        if reasons.iter().all(|own| own.name() != shortfall.name()) {
            reasons.push(*shortfall);
        }
    }
    let texts = reasons.into_iter();
    let texts = texts.map(|own| shortfall_text(m, own));
    texts.collect::<Vec<_>>().join(", ")
}

fn shortfall_text(m: &Messages, shortfall: Shortfall) -> String {
    match shortfall {
        Shortfall::TooFew { samples, needed } => {
            let args = [
                ("samples", whole(samples as f64)),
                ("needed", whole(needed as f64)),
            ];
            m.text_with("shortfall-too-few", &args)
        }
        Shortfall::Incomplete => m.text("shortfall-incomplete"),
        Shortfall::Slow => m.text("shortfall-slow"),
        Shortfall::Failed { percent: p } => {
            m.text_with("shortfall-failed", &[("percent", percent(p))])
        }
        Shortfall::Unfinished { intents } => m.text_with(
            "shortfall-unfinished",
            &[("intents", whole(intents as f64))],
        ),
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
    let preconditions = summary
        .figures
        .preconditions
        .iter()
        .map(|own| precondition(m, own));
    preconditions
        .chain(summary.figures.resets.iter().map(|own| reset(m, own)))
        .collect()
}

fn reset(m: &Messages, r: &ResetSummary) -> String {
    let verified = r.verified.as_ref().map(|check| m.reset_check(check));
    let args = [
        ("step", r.step.clone()),
        ("system", r.system.clone()),
        ("method", r.method.clone()),
        ("times", r.times.to_string()),
        ("longest", three(r.longest_s)),
        ("largest", three(r.largest_mb)),
        ("last", three(r.last_mb)),
        ("verified", verified.unwrap_or_default()),
    ];
    m.text_with("reset", &args)
}

/// That load ran before the first point, how long, and what became of its rate.
fn precondition(m: &Messages, p: &PreconditionSummary) -> String {
    let load = number::load(p.load);
    let unit = m.text(if p.load.is_open() {
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
