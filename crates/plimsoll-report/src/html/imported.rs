//! The section of what other tools printed.

use plimsoll_analysis::Summary;

use crate::imported::{ImportText, describe, table};
use crate::message::Messages;
use crate::table::Grid;

pub(super) struct ImportView<'a> {
    pub text: ImportText<'a>,
    pub figures: Grid,
    pub parts: Grid,
}

pub(super) fn views<'a>(m: &Messages, summary: &'a Summary) -> Vec<ImportView<'a>> {
    let imports = describe(m, summary).into_iter();
    imports
        .map(|text| ImportView {
            figures: table().to_grid(m, &text.figures),
            parts: table().to_grid(m, &text.parts),
            text,
        })
        .collect()
}
