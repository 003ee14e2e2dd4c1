//! The section of what other tools printed.

use plimsoll_analysis::summary::Summary;

use super::tables::{Grid, Row, head, words};
use crate::imported::{COLUMNS, PART_COLUMNS, describe};
use crate::message::Messages;

pub(super) struct ImportView {
    pub heading: String,
    pub files: String,
    pub figures: Grid,
    pub parts: Grid,
    pub unknown: Vec<(String, String)>,
    pub known: Vec<(String, String)>,
}

pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<ImportView> {
    let view = |import: crate::imported::ImportText| ImportView {
        heading: import.heading,
        files: import.files,
        figures: grid(m, &COLUMNS, import.figures.into_iter().map(Vec::from)),
        parts: grid(m, &PART_COLUMNS, import.parts.into_iter().map(Vec::from)),
        unknown: import.unknown,
        known: import.known,
    };
    describe(m, summary).into_iter().map(view).collect()
}

fn grid(m: &Messages, columns: &[&'static str], rows: impl Iterator<Item = Vec<String>>) -> Grid {
    let row = |cells: Vec<String>| Row {
        class: "",
        cells: cells.into_iter().map(words).collect(),
    };
    Grid {
        header: columns.iter().map(|id| head(m, id)).collect(),
        rows: rows.map(row).collect(),
    }
}
