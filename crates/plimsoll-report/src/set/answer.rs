//! The first screen of a set's page.

use plimsoll_analysis::set::{SetRow, SetSummary};
use plimsoll_analysis::summary::Verdict;

use super::rows::{rate, table, value};
use crate::html::page_answer::PageAnswer;
use crate::message::Messages;
use crate::number::{three, whole};
use crate::svg::chart::{self, PlotBar, PlotMark};

/// At most so many bars: with more, the charts below show more.
const MOST_BARS: usize = 9;

pub(super) fn page_answer(m: &Messages, summary: &SetSummary) -> PageAnswer {
    let answer = summary.answer();
    let valid = summary.rows.iter();
    let valid = valid.filter(|row| row.verdict != Verdict::Invalid);
    let args = [
        ("valid", valid.count().to_string()),
        ("rows", summary.rows.len().to_string()),
        ("runs", summary.runs.to_string()),
        ("of", summary.of.to_string()),
    ];
    let mut trust = m.text_with("set-trust", &args);
    if summary.rows.iter().all(|row| row.runs < 2) {
        trust = format!("{trust} {}", m.text("set-trust-single"));
    }
    let Some(answer) = answer else {
        let imposed = summary
            .rows
            .iter()
            .all(|row| row.offered_per_second.is_some());
        let id = match imposed && !summary.rows.is_empty() {
            true => "set-answer-imposed",
            false => "set-answer-none",
        };
        return PageAnswer::new(m, m.text(id), worst(summary), trust);
    };
    let verdict = answer.rows.iter().map(|row| row.verdict).max();
    let names = CombinationNames::of(summary);
    let unit = match answer.best().nopm {
        Some(_) => m.text("headline-nopm"),
        None => m.text("headline-rate"),
    };
    let load = names.load(m, answer.best());
    let rate = rate(answer.best()).map_or(0.0, |own| own.median);
    let mut args = vec![
        ("load", load.clone()),
        ("best", names.of_row(answer.best())),
        ("rate", whole(rate)),
        ("unit", unit.clone()),
    ];
    let sentence = match &answer.ratio {
        Some(ratio) => {
            let interval = ratio.interval.map(|own| [own.low, own.high].map(three));
            let ends = interval
                .map(|[low, high]| m.text_with("versus-range", &[("low", low), ("high", high)]));
            args.push(("ratio", three(ratio.ratio)));
            args.push(("interval", ends.unwrap_or_else(|| "none".to_owned())));
            args.push(("lowest", names.of_row(answer.lowest())));
            m.text_with("set-answer", &args)
        }
        None => m.text_with("set-answer-one", &args),
    };
    let heading = m.text_with("set-chart-at", &[("chart", unit), ("load", load)]);
    PageAnswer {
        chart: chart::bars(m, heading, &bars(&names, &answer.at_load)),
        table: table(&summary.axes).to_grid(m, &answer.at_load),
        table_name: summary.title.clone(),
        ..PageAnswer::new(m, sentence, verdict.unwrap_or_default(), trust)
    }
}

fn worst(summary: &SetSummary) -> Verdict {
    let all = summary.rows.iter().map(|row| row.verdict);
    all.max().unwrap_or(Verdict::Invalid)
}

fn bars(names: &CombinationNames<'_>, rows: &[&SetRow]) -> Vec<PlotBar> {
    let shown = rows.iter().take(MOST_BARS).enumerate();
    shown
        .filter_map(|(color, row)| {
            let own = rate(row)?;
            Some(PlotBar {
                name: names.of_row(row),
                color,
                mark: PlotMark {
                    place: 0,
                    value: own.median,
                    range: own.interval.map(|own| [own.low, own.high]),
                    is_invalid: row.verdict == Verdict::Invalid,
                },
            })
        })
        .collect()
}

/// What people call a combination.
struct CombinationNames<'a> {
    summary: &'a SetSummary,
}

impl<'a> CombinationNames<'a> {
    fn of(summary: &'a SetSummary) -> Self {
        Self { summary }
    }

    fn of_row(&self, row: &SetRow) -> String {
        let axes = &self.summary.axes;
        let values =
            (0..axes.len()).map(|axis| format!("{} {}", axes[axis].name, value(axes, row, axis)));
        values.collect::<Vec<_>>().join(", ")
    }

    fn load(&self, m: &Messages, row: &SetRow) -> String {
        match row.users {
            1 => m.text("load-one"),
            users => m.text_with("load-closed", &[("users", users.to_string())]),
        }
    }
}
