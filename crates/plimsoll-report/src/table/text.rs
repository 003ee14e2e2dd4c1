//! Tables on a terminal: cells below each other, columns left out until the rest fits.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use plimsoll_plan::shortened;

/// The widest table in columns of the terminal.
pub(crate) const WIDTH: usize = 100;

/// A table of texts.
#[derive(Default)]
pub(super) struct Sheet<'a> {
    pub ids: Vec<&'a str>,
    pub left: Vec<bool>,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Sheet<'_> {
    pub fn blank_repeats(&mut self, names: usize) {
        for place in (1..self.rows.len()).rev() {
            let (above, below) = self.rows.split_at_mut(place);
            let (above, row) = (&above[place - 1], &mut below[0]);
            let same = (0..names)
                .take_while(|name| row[*name] == above[*name])
                .count();
            row[..same].iter_mut().for_each(String::clear);
        }
    }

    /// Cells are never broken: while it is too wide, columns are left out in the order of `spare`.
    pub fn fitted(mut self, spare: &[&str], width: usize) -> String {
        let mut shown = self.lined();
        for id in spare {
            if shown.lines().all(|line| line.chars().count() <= width) {
                break;
            }
            if let Some(place) = self.ids.iter().position(|own| own == id) {
                self.remove(place);
                shown = self.lined();
            }
        }
        shown
    }

    fn remove(&mut self, place: usize) {
        self.ids.remove(place);
        self.left.remove(place);
        self.header.remove(place);
        self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
    }

    fn lined(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.aligned(&self.header));
        for row in &self.rows {
            table.add_row(self.aligned(row));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let lines = table.to_string();
        let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    fn aligned(&self, cells: &[String]) -> Vec<Cell> {
        let alignment = self.left.iter().map(|left| match left {
            true => CellAlignment::Left,
            false => CellAlignment::Right,
        });
        let cells = cells.iter().zip(alignment);
        cells
            .map(|(text, alignment)| Cell::new(shortened(text)).set_alignment(alignment))
            .collect()
    }
}
