//! The answer of a set: on a screen of a terminal, and the first screen of its page.

use std::mem::discriminant;

use plimsoll_analysis::set::{SetAnswer, SetAxisSummary, SetRow, SetSummary};
use plimsoll_analysis::summary::{FigureId, Finding, FindingKind, MediumSpeed, Verdict};

use super::rows::{rate, value};
use crate::answer::{Labeled, MOST_LIMITS, NextStep, distinct, words, wrapped};
use crate::document::PageAnswer;
use crate::load_summary::half;
use crate::message::Messages;
use crate::number::three;
use crate::svg::chart::{self, PlotBar};
use crate::svg::color::ChartColor;
use crate::table::Table;
use crate::table::Unit::{Plain, Three};

/// At most so many bars: with more, the charts below show more.
const MOST_BARS: usize = 16;

pub(super) fn page_answer(m: &Messages, summary: &SetSummary, dir: &str) -> PageAnswer {
    let own = SetWords::of(m, summary);
    let chart = summary.answer().and_then(|answer| {
        let args = [
            ("chart", own.unit.clone()),
            ("load", m.load(answer.best().load)),
        ];
        let heading = m.text_with("set-chart-at", &args);
        chart::bars(m, heading, &bars(&own.names, &answer.at_load))
    });
    PageAnswer {
        beside: own.emulated.into_iter().collect(),
        limits: own.limits,
        chart,
        table: table(&own.names.axes).to_grid(m, &own.rows),
        table_name: summary.title.clone(),
        next: next(m, dir),
        ..PageAnswer::new(m, own.sentence, own.verdict, own.trust)
    }
}

/// The answer for a terminal of so many columns.
pub fn set_answer_text(summary: &SetSummary, dir: &str, width: usize) -> String {
    let m = Messages::english();
    let own = SetWords::of(&m, summary);
    let sentences = [Some(own.sentence), own.emulated];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    let mut above = vec![
        wrapped(&summary.title, width, ""),
        wrapped(&sentences.join(" "), width, ""),
    ];
    if !own.rows.is_empty() {
        above.push(table(&own.names.axes).to_text_within(&m, &own.rows, width));
    }
    let mut labeled = Labeled::new(width);
    let word = m.text(&format!("verdict-{}", own.verdict.name()));
    labeled.add(
        &m.text("answer-trust-label"),
        &format!("{word} · {}", own.trust),
    );
    own.limits.iter().for_each(|limit| labeled.add("", limit));
    let report = format!("plimsoll report {dir}");
    labeled.add_command(&m.text("answer-report-label"), &report, "");
    labeled.add_next(&m, &next(&m, dir));
    format!("{}\n\n{}\n", above.join("\n\n"), labeled.text())
}

/// What page and terminal say.
struct SetWords<'a> {
    sentence: String,
    /// Of which emulated drives the figures are.
    emulated: Option<String>,
    verdict: Verdict,
    trust: String,
    limits: Vec<String>,
    unit: String,
    names: CombinationNames<'a>,
    /// All combinations at the load of the answer.
    rows: Vec<&'a SetRow>,
}

impl<'a> SetWords<'a> {
    fn of(m: &Messages, summary: &'a SetSummary) -> Self {
        let Some(answer) = summary.answer() else {
            return Self {
                sentence: m.text(why_none(summary)),
                emulated: emulated(m, summary, &summary.rows),
                verdict: worst(&summary.rows),
                trust: trust(m, summary),
                limits: limits(m, &summary.rows),
                unit: String::new(),
                names: CombinationNames::of(summary, &[]),
                rows: Vec::new(),
            };
        };
        let best = answer.best();
        let unit = m.text(match best.figures.get(FigureId::Nopm) {
            Some(_) => "headline-nopm",
            None => "headline-rate",
        });
        let names = CombinationNames::of(summary, &answer.at_load);
        let mut args = vec![
            ("load", m.load(best.load)),
            ("best", names.of_row(best)),
            ("rate", three(rate(best).map_or(0.0, |own| own.value))),
            ("unit", unit.clone()),
        ];
        let id = match &answer.ratio {
            Some(ratio) => {
                let interval = ratio.interval.map(|own| [own.low, own.high].map(three));
                let ends = interval.map(|[low, high]| {
                    m.text_with("versus-range", &[("low", low), ("high", high)])
                });
                args.push(("ratio", three(ratio.ratio)));
                args.push(("interval", ends.unwrap_or_else(|| "none".to_owned())));
                let one_window = best.runs < 2 || answer.lowest().runs < 2;
                args.push(("window", one_window.to_string()));
                args.push(("lowest", names.of_row(answer.lowest())));
                "set-answer"
            }
            None if answer.is_uncertain => {
                args.push(("lowest", names.of_row(answer.lowest())));
                "set-answer-uncertain"
            }
            None if !answer.other_speeds.is_empty() => "set-answer-speed",
            None => "set-answer-one",
        };
        let mut sentence = m.text_with(id, &args);
        sentence.extend(other_speeds(m, &answer, &names));
        Self {
            sentence: excluded(m, &names, &answer.at_load)
                .into_iter()
                .chain([sentence])
                .collect::<Vec<_>>()
                .join(" "),
            emulated: emulated(m, summary, answer.at_load.iter().copied()),
            verdict: verdict(&answer),
            trust: trust(m, summary),
            limits: limits(m, answer.at_load.iter().copied()),
            unit,
            names,
            rows: answer.at_load,
        }
    }
}

/// Combinations that have no ratio because their drives ran at another speed.
fn other_speeds(
    m: &Messages,
    answer: &SetAnswer<'_>,
    names: &CombinationNames<'_>,
) -> Option<String> {
    let all = answer.rows.iter().take(1).chain(&answer.other_speeds);
    let speeds: Vec<MediumSpeed> = all
        .map(|row| MediumSpeed {
            medium: names.of_row(row),
            slower: row.slower.unwrap_or(1.0),
        })
        .collect();
    (speeds.len() > 1).then(|| {
        let text = m.text_with("answer-speeds", &[("speeds", words::speeds(m, &speeds))]);
        format!(" {text}")
    })
}

/// Which combinations are left out, because they are invalid.
fn excluded(m: &Messages, names: &CombinationNames<'_>, at_load: &[&SetRow]) -> Option<String> {
    let invalid = at_load.iter();
    let invalid = invalid.filter(|row| row.verdict == Verdict::Invalid);
    let invalid: Vec<String> = invalid.map(|row| names.of_row(row)).collect();
    let args = [("names", invalid.join("; "))];
    (!invalid.is_empty()).then(|| m.text_with("set-answer-excluded", &args))
}

/// Of the combinations that are compared; doubtful at least where others are left out.
fn verdict(answer: &SetAnswer<'_>) -> Verdict {
    let compared = worst(answer.rows.iter().copied());
    match answer.rows.len() < answer.at_load.len() {
        true => compared.max(Verdict::Doubtful),
        false => compared,
    }
}

fn why_none(summary: &SetSummary) -> &'static str {
    let mut rows = summary.rows.iter();
    let imposed = rows.all(|row| row.load.is_open());
    match imposed && !summary.rows.is_empty() {
        true => "set-answer-imposed",
        false => "set-answer-none",
    }
}

fn emulated<'a>(
    m: &Messages,
    summary: &SetSummary,
    rows: impl IntoIterator<Item = &'a SetRow>,
) -> Option<String> {
    let rows: Vec<&SetRow> = rows.into_iter().collect();
    let drives = distinct(rows.iter().filter_map(|row| row.drive.clone()));
    let mut axes = summary.axes.iter();
    let memory = match axes.any(|axis| axis.key.ends_with("limits.memory")) {
        true => "limited",
        false => "enough",
    };
    let args = [("drives", drives.join("; ")), ("memory", memory.to_owned())];
    let id = match rows.iter().any(|row| row.is_simulated) {
        true => "set-simulated",
        false => "set-emulated",
    };
    (!drives.is_empty()).then(|| m.text_with(id, &args))
}

fn trust(m: &Messages, summary: &SetSummary) -> String {
    let valid = summary.rows.iter();
    let valid = valid.filter(|row| row.verdict == Verdict::Valid);
    let args = [
        ("valid", valid.count().to_string()),
        ("rows", summary.rows.len().to_string()),
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let text = m.text_with("set-trust", &args);
    if summary.rows.iter().all(|row| row.runs < 2) {
        return format!("{text} {}", m.text("set-trust-single"));
    }
    text
}

/// What makes combinations doubtful or invalid, one case of each kind; a last line counts the other kinds.
fn limits<'a>(m: &Messages, rows: impl IntoIterator<Item = &'a SetRow>) -> Vec<String> {
    let mut findings: Vec<&Finding> = rows.into_iter().flat_map(|row| &row.because).collect();
    findings.sort_by_key(|finding| finding.order());
    let mut kinds: Vec<&FindingKind> = Vec::new();
    for Finding { kind, .. } in findings {
        if !kinds
            .iter()
            .any(|other| discriminant(*other) == discriminant(kind))
        {
            kinds.push(kind);
        }
    }
    let mut all: Vec<String> = kinds.into_iter().map(|kind| m.finding(kind)).collect();
    let more = all.len().saturating_sub(MOST_LIMITS);
    all.truncate(MOST_LIMITS);
    if more > 0 {
        all.push(m.text_with("answer-limit-more", &[("n", more.to_string())]));
    }
    all
}

fn worst<'a>(rows: impl IntoIterator<Item = &'a SetRow>) -> Verdict {
    let all = rows.into_iter().map(|row| row.verdict);
    all.max().unwrap_or(Verdict::Invalid)
}

fn next(m: &Messages, dir: &str) -> Vec<NextStep> {
    let step = |command: String, why: &str| NextStep {
        command,
        why: m.text(why),
    };
    vec![
        step(format!("plimsoll report {dir}/FILE"), "set-next-report"),
        step(
            format!("plimsoll export {dir} --to text"),
            "set-next-tables",
        ),
    ]
}

fn bars(names: &CombinationNames<'_>, rows: &[&SetRow]) -> Vec<PlotBar> {
    let shown = rows.iter().take(MOST_BARS).enumerate();
    shown
        .filter_map(|(color, row)| {
            let own = rate(row)?;
            Some(PlotBar::of(
                names.of_row(row),
                ChartColor(Some(color)),
                own.value,
                own.interval.map(|own| [own.low, own.high]),
                row.verdict,
            ))
        })
        .collect()
}

/// One of the axes, and its place among all.
#[derive(Clone, Copy)]
pub(crate) struct PlacedAxis<'a> {
    place: usize,
    axis: &'a SetAxisSummary,
}

impl<'a> PlacedAxis<'a> {
    pub(crate) fn all(axes: &'a [SetAxisSummary]) -> Vec<Self> {
        let placed = axes.iter().enumerate();
        placed.map(|(place, axis)| Self { place, axis }).collect()
    }

    fn value(&self, row: &SetRow) -> &'a str {
        value(self.axis, row, self.place)
    }
}

/// The combinations at the load of the answer, by the axes in which they differ.
pub(crate) fn table<'a>(axes: &[PlacedAxis<'a>]) -> Table<'a, &'a SetRow> {
    let table = Table::<&SetRow>::new("set-answer").prefix("answered-");
    let table = axes.iter().fold(table, |table, own| {
        let own = *own;
        table
            .column("axis", Plain, move |row| own.value(row))
            .named(&own.axis.name)
    });
    table
        .figure(FigureId::Nopm, |row| row.figures.get(FigureId::Nopm))
        .digits(Three)
        .if_any(|row| row.figures.get(FigureId::Nopm).is_some())
        .figure(FigureId::Transactions, |row| {
            row.figures.get(FigureId::Transactions)
        })
        .if_any(|row| row.figures.get(FigureId::Nopm).is_none())
        .figure(FigureId::IntervalPercent, |row| half(rate(row)))
        .in_text()
        .if_any(|row| half(rate(row)).is_some())
        .figure(FigureId::P99, |row| row.figures.get(FigureId::P99))
        .column("verdict", Plain, |row| row.verdict)
        .spare(&["interval-percent", "p99"])
}

/// What people call a combination: its values on the axes in which the compared ones differ.
struct CombinationNames<'a> {
    axes: Vec<PlacedAxis<'a>>,
}

impl<'a> CombinationNames<'a> {
    fn of(summary: &'a SetSummary, rows: &[&SetRow]) -> Self {
        let all = PlacedAxis::all(&summary.axes);
        let differs = |own: &PlacedAxis<'_>| {
            let mut values = rows.iter().map(|row| own.value(row));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        let differing: Vec<PlacedAxis<'_>> = all.iter().copied().filter(differs).collect();
        let axes = if differing.is_empty() { all } else { differing };
        Self { axes }
    }

    fn of_row(&self, row: &SetRow) -> String {
        let values = self
            .axes
            .iter()
            .map(|own| format!("{} {}", own.axis.name, own.value(row)));
        values.collect::<Vec<_>>().join(", ")
    }
}
