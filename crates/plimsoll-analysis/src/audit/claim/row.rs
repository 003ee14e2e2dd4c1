//! What a row states that depends on each other, and on the rows beside it.

use super::ClaimFigure;
use crate::audit::Missing;
use crate::audit::input::{Bandwidth, Known, Neighbours, OrderRate, Range, RelatedFigures};

/// Rates, which follow each other along a ladder.
const RATES: [&str; 4] = ["per_second", "mb_per_second", "tpm", "nopm"];
/// Neighbours that differ by more give no idea of what lies beside them.
const ALIKE: f64 = 10.0;

pub(super) fn of(figure: &ClaimFigure, rows: &[&ClaimFigure]) -> Known<RelatedFigures> {
    let row = RelatedFigures {
        percentiles: figure.percentiles(),
        mean_ms: figure.mean_ms,
        resolution_percent: 0.0,
        orders: figure
            .tpm
            .zip(figure.nopm)
            .map(|(tpm, nopm)| OrderRate { tpm, nopm }),
        bandwidth: bandwidth(figure),
        lowest: figure.percentiles_of_ranges(0),
        highest: figure.percentiles_of_ranges(1),
        ranges: ranges(figure),
        neighbours: RATES
            .iter()
            .filter_map(|key| neighbours(figure, key, rows))
            .collect(),
    };
    if row.is_empty() {
        Err(Missing::OneFigure)
    } else {
        Ok(row)
    }
}

fn bandwidth(figure: &ClaimFigure) -> Option<Bandwidth> {
    Some(Bandwidth {
        per_second: figure.per_second?,
        request_kib: figure.request_kib?,
        mb_per_second: figure.mb_per_second.filter(|mb| *mb > 0.0)?,
    })
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
fn neighbours(figure: &ClaimFigure, key: &str, rows: &[&ClaimFigure]) -> Option<Neighbours> {
    let value = figure.number(key).filter(|value| *value > 0.0)?;
    let all: Vec<(&ClaimFigure, f64)> = rows
        .iter()
        .filter(|row| row.side == figure.side && series(&row.name) == series(&figure.name))
        .filter_map(|row| Some((*row, row.number(key).filter(|value| *value > 0.0)?)))
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
        figure: key.to_owned(),
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
