//! A table that both text and page show.

/// Cells by the ids of their columns' headings, the first `words` of which hold names.
pub(crate) struct Table {
    pub ids: Vec<&'static str>,
    pub words: usize,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Without the columns that are empty in every row.
    pub fn without_empty_columns(mut self) -> Self {
        for place in (0..self.ids.len()).rev() {
            if self
                .rows
                .iter()
                .all(|row| row[place] == crate::number::NONE || row[place].is_empty())
            {
                self.ids.remove(place);
                self.words -= usize::from(place < self.words);
                self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
            }
        }
        self
    }
}
