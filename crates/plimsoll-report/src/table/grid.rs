//! A table as a page shows it, for the template `block.html`.

use super::cell::PageCell;

#[derive(Default)]
pub(crate) struct Grid {
    pub header: Vec<GridCell>,
    pub rows: Vec<GridRow>,
}

pub(crate) struct GridRow {
    pub class: &'static str,
    pub cells: Vec<GridCell>,
}

pub(crate) struct GridCell {
    pub text: String,
    /// Names of style classes.
    pub class: String,
    pub page: PageCell,
}
