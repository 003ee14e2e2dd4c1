//! Tables of text: cells below each other, columns left out until the rest fits.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use super::WIDTH;
use crate::message::Messages;

/// Words of the header stand below each other.
pub(crate) fn aligned(header: &[String], rows: &[Vec<String>]) -> String {
    lined(header, rows, 0)
}

/// The first `left` columns hold names and begin at the left.
pub(super) fn lined(header: &[String], rows: &[Vec<String>], left: usize) -> String {
    let cell = |(place, text): (usize, String)| {
        Cell::new(text).set_alignment(if place < left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        })
    };
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(
        header
            .iter()
            .map(|name| name.replace(' ', "\n"))
            .enumerate()
            .map(cell),
    );
    for row in rows {
        table.add_row(row.iter().cloned().enumerate().map(cell));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.to_string();
    lines
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

/// A table whose columns are named by the `ids` of their headers. Cells are never broken: while it is too wide, columns are
/// left out in the order of `dispensable`.
pub(super) fn fitted(
    m: &Messages,
    ids: &[&str],
    mut rows: Vec<Vec<String>>,
    dispensable: &[&str],
    left: usize,
) -> String {
    let mut ids = ids.to_vec();
    let mut dispensable = dispensable.iter();
    loop {
        let header: Vec<String> = ids.iter().map(|id| m.text(id)).collect();
        let shown = lined(&header, &rows, left);
        if shown.lines().all(|line| line.chars().count() <= WIDTH) {
            return shown;
        }
        let Some(next) = dispensable.next() else {
            return shown;
        };
        if let Some(place) = ids.iter().position(|id| id == next) {
            ids.remove(place);
            rows.iter_mut().for_each(|row| drop(row.remove(place)));
        }
    }
}
