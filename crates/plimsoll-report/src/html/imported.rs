//! The section of what other tools printed.

use plimsoll_analysis::Summary;

use crate::imported::{describe, table};
use crate::message::Messages;
use crate::table::Grid;

pub(super) struct ImportView {
    pub heading: String,
    pub files: String,
    pub figures: Grid,
    pub parts: Grid,
    pub unknown: Vec<(String, String)>,
    pub known: Vec<(String, String)>,
}

pub(super) fn views(m: &Messages, summary: &Summary) -> Vec<ImportView> {
    let imports = describe(m, summary).into_iter();
    imports
        .map(|import| ImportView {
            heading: import.heading,
            files: import.files,
            figures: table().to_grid(m, &import.figures),
            parts: table().to_grid(m, &import.parts),
            unknown: import.unknown,
            known: import.known,
        })
        .collect()
}
