//! What a row states that depends on each other, and on the rows beside it.

use super::ClaimFigure;
use crate::audit::input::{Neighbours, Range, RelatedFigures};
use crate::summary::FigureId;

/// Rates, which follow each other along a ladder.
const RATES: [FigureId; 4] = [
    FigureId::PerSecond,
    FigureId::MbPerSecond,
    FigureId::Tpm,
    FigureId::Nopm,
];
/// Neighbours that differ by more give no idea of what lies beside them.
const ALIKE: f64 = 10.0;

/// `None`: no two figures depend on each other.
pub(super) fn of(figure: &ClaimFigure, rows: &[&ClaimFigure]) -> Option<RelatedFigures> {
    let stated = figure.numbers.iter();
    // Nothing is compared with no bandwidth.
    let stated = stated.filter(|(id, value)| **id != FigureId::MbPerSecond || **value > 0.0);
    let row = RelatedFigures {
        percentiles: figure.percentiles(),
        figures: stated.map(|(id, value)| (*id, *value)).collect(),
        resolution_percent: 0.0,
        lowest: figure.percentiles_of_ranges(0),
        highest: figure.percentiles_of_ranges(1),
        ranges: ranges(figure),
        neighbours: RATES
            .iter()
            .filter_map(|rate| neighbours(figure, *rate, rows))
            .collect(),
    };
    (!row.is_empty()).then_some(row)
}

fn ranges(figure: &ClaimFigure) -> Vec<Range> {
    figure
        .ranges
        .iter()
        .map(|(key, ends)| Range {
            figure: key.clone(),
            low: ends[0],
            high: ends[1],
        })
        .collect()
}

/// The two rows that are nearest in the same series, where they are alike.
fn neighbours(figure: &ClaimFigure, rate: FigureId, rows: &[&ClaimFigure]) -> Option<Neighbours> {
    let value = figure.figure(rate).filter(|value| *value > 0.0)?;
    let all: Vec<(&ClaimFigure, f64)> = rows
        .iter()
        .filter(|row| row.side == figure.side && series(&row.name) == series(&figure.name))
        .filter_map(|row| Some((*row, row.figure(rate).filter(|value| *value > 0.0)?)))
        .collect();
    let own = all.iter().position(|(row, _)| std::ptr::eq(*row, figure))?;
    let [first, second] = match own {
        0 => [1, 2],
        last if last + 1 == all.len() => [last.checked_sub(2)?, last - 1],
        inside => [inside - 1, inside + 1],
    };
    let first = all.get(first)?.1;
    let second = all.get(second)?.1;
    let alike = first.max(second) / first.min(second) <= ALIKE;
    alike.then(|| Neighbours {
        figure: rate.key().to_owned(),
        value,
        expected: (first * second).sqrt(),
    })
}

/// What rows of one ladder have in common: `8 users` and `16 users`.
fn series(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty());
    words
        .map(|word| word.trim_end_matches('s'))
        .collect::<Vec<_>>()
        .join(" ")
}
