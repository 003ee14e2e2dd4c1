//! A table is declared once, as columns; text, page, CSV and JSON are rendered from the same cells.

use plimsoll_analysis::summary::Interval;
use serde_json::{Map, Value as Json};

use crate::message::Messages;
use crate::number::{NONE, decimals, percent, three, whole};

mod cell;
mod text;

pub use cell::{Cell, Value};
pub(crate) use text::WIDTH;

/// How people read a column: how many digits its numbers have, and where words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Names and sentences begin at the left.
    Words,
    /// Sentences that may take several lines on a page.
    Sentences,
    /// At the right, with the digits that it has.
    Plain,
    Whole,
    /// Three significant digits.
    Three,
    Percent,
    /// So many decimals.
    Decimals(usize),
    /// So many decimals, but none of a whole number.
    Fraction(usize),
}

impl Unit {
    fn number(self, value: f64) -> String {
        match self {
            Self::Words | Self::Sentences | Self::Plain => value.to_string(),
            Self::Whole => whole(value),
            Self::Three => three(value),
            Self::Percent => percent(value),
            Self::Fraction(_) if value.fract() == 0.0 => whole(value),
            Self::Decimals(places) | Self::Fraction(places) => decimals(value, places),
        }
    }

    fn is_words(self) -> bool {
        matches!(self, Self::Words | Self::Sentences)
    }

    fn class(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Sentences => "words long",
            _ => "",
        }
    }

    /// A cell as people read it.
    fn shown(self, m: &Messages, cell: &Cell) -> String {
        self.shown_value(m, &cell.value) + cell.mark
    }

    fn shown_value(self, m: &Messages, value: &Value) -> String {
        match value {
            Value::Missing(None) => NONE.to_owned(),
            Value::Missing(Some(reason)) => m.text(reason),
            Value::Number(value) => self.number(*value),
            Value::Count(count) if matches!(self, Self::Whole | Self::Three) => {
                self.number(*count as f64)
            }
            Value::Count(count) => count.to_string(),
            Value::Range(low, high) => format!("{} to {}", self.number(*low), self.number(*high)),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => text.clone(),
            Value::Word { id, .. } => m.text(id),
        }
    }
}

/// What a heading is read from.
enum Heading {
    /// The column's id, behind the table's prefix.
    Id,
    /// A name of the run's own, such as that of an axis or of a percentile.
    Name(String),
}

type OfRow<'a, R, T> = Box<dyn Fn(&R) -> T + 'a>;

struct Column<'a, R> {
    id: String,
    heading: Heading,
    unit: Unit,
    /// Its name in CSV and JSON.
    key: Option<String>,
    in_text: bool,
    on_page: bool,
    value: OfRow<'a, R, Cell>,
}

/// Columns over rows `R`. Methods that change a column are about the one added last.
pub struct Table<'a, R> {
    columns: Vec<Column<'a, R>>,
    text_prefix: &'static str,
    page_prefix: &'static str,
    spare: &'static [&'static str],
    blank_repeats: usize,
    without_empty: bool,
    long_headings: bool,
    row_class: OfRow<'a, R, &'static str>,
    group: Option<OfRow<'a, R, String>>,
}

impl<R> Default for Table<'_, R> {
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            text_prefix: "text-",
            page_prefix: "column-",
            spare: &[],
            blank_repeats: 0,
            without_empty: false,
            long_headings: false,
            row_class: Box::new(|_| ""),
            group: None,
        }
    }
}

impl<'a, R> Table<'a, R> {
    /// Headings are `text-` and `column-` with the columns' ids.
    pub fn new() -> Self {
        Self::default()
    }

    /// Headings of text and page are `prefix` with the columns' ids.
    pub fn with_prefix(prefix: &'static str) -> Self {
        Self {
            text_prefix: prefix,
            page_prefix: prefix,
            ..Self::default()
        }
    }

    /// For people: in text and on a page.
    pub fn column<C: Into<Cell>>(
        mut self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.columns.push(Column {
            id: id.into(),
            heading: Heading::Id,
            unit,
            key: None,
            in_text: true,
            on_page: true,
            value: Box::new(move |row| value(row).into()),
        });
        self
    }

    /// For people, but in text only.
    pub fn text_column<C: Into<Cell>>(
        self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(id, unit, value)
            .changed(|column| column.on_page = false)
    }

    /// For people, but on a page only.
    pub fn page_column<C: Into<Cell>>(
        self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(id, unit, value)
            .changed(|column| column.in_text = false)
    }

    /// For programs: in CSV and JSON only.
    pub fn field<C: Into<Cell>>(
        self,
        key: impl Into<String>,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column("", Unit::Plain, value).changed(|column| {
            column.key = Some(key.into());
            (column.in_text, column.on_page) = (false, false);
        })
    }

    /// Both ends of an interval, for programs: `name_low` and `name_high`.
    pub fn interval_fields(
        self,
        name: &str,
        interval: impl Fn(&R) -> Option<Interval> + Copy + 'a,
    ) -> Self {
        self.field(format!("{name}_low"), move |row| {
            interval(row).map(|ends| ends.low)
        })
        .field(format!("{name}_high"), move |row| {
            interval(row).map(|ends| ends.high)
        })
    }

    fn changed(mut self, change: impl FnOnce(&mut Column<'a, R>)) -> Self {
        if let Some(last) = self.columns.last_mut() {
            change(last);
        }
        self
    }

    /// Is read by programs too, under this name.
    pub fn key(self, key: &str) -> Self {
        self.changed(|column| column.key = Some(key.to_owned()))
    }

    /// All columns are read by programs too, under their ids.
    pub fn with_keys(mut self) -> Self {
        for column in &mut self.columns {
            let key = || column.id.replace('-', "_");
            column.key = Some(column.key.take().unwrap_or_else(key));
        }
        self
    }

    /// People see it only if so.
    pub fn shown(self, shown: bool) -> Self {
        self.changed(|column| (column.in_text, column.on_page) = (shown, shown))
    }

    /// Headings in text are on one line.
    pub fn with_long_headings(self) -> Self {
        Self {
            long_headings: true,
            ..self
        }
    }

    /// Has a heading that is not in the catalogue.
    pub fn named(self, heading: impl Into<String>) -> Self {
        self.changed(|column| column.heading = Heading::Name(heading.into()))
    }

    /// Belongs to the table only if so.
    pub fn when(mut self, wanted: bool) -> Self {
        if !wanted {
            self.columns.pop();
        }
        self
    }

    /// Columns that text leaves out where it would be too wide, the first one first.
    pub fn spare(self, spare: &'static [&'static str]) -> Self {
        Self { spare, ..self }
    }

    /// Text leaves out the first `names` cells where they are as in the row above.
    pub fn blank_repeats(self, names: usize) -> Self {
        Self {
            blank_repeats: names,
            ..self
        }
    }

    /// People do not see columns that have no value in any row.
    pub fn without_empty_columns(self) -> Self {
        Self {
            without_empty: true,
            ..self
        }
    }

    /// The style of a row on a page.
    pub fn row_class(mut self, class: impl Fn(&R) -> &'static str + 'a) -> Self {
        self.row_class = Box::new(class);
        self
    }

    /// On a page, rows of one key that follow each other stand together.
    pub fn grouped(mut self, key: impl Fn(&R) -> String + 'a) -> Self {
        self.group = Some(Box::new(key));
        self
    }

    /// The columns that `is_shown` names, and that have a value if they must have one.
    fn shown_columns(
        &self,
        rows: &[R],
        is_shown: fn(&Column<'a, R>) -> bool,
    ) -> Vec<&Column<'a, R>> {
        let has_values = |column: &Column<'a, R>| {
            !self.without_empty || rows.iter().any(|row| !(column.value)(row).is_empty())
        };
        let columns = self.columns.iter();
        columns
            .filter(|column| is_shown(column) && has_values(column))
            .collect()
    }

    /// Whether text would have more than headings.
    pub fn has_values(&self, rows: &[R]) -> bool {
        let columns = self.columns.iter().filter(|column| column.in_text);
        columns
            .flat_map(|column| rows.iter().map(|row| (column.value)(row)))
            .any(|cell| !cell.is_empty())
    }

    /// For a terminal.
    pub fn to_text(&self, m: &Messages, rows: &[R]) -> String {
        let columns = self.shown_columns(rows, |column| column.in_text);
        let cells_of = |row: &R| columns.iter().map(|column| column.shown(m, row)).collect();
        let mut sheet = text::Sheet {
            ids: columns.iter().map(|column| column.id.as_str()).collect(),
            left: columns
                .iter()
                .map(|column| column.unit.is_words())
                .collect(),
            header: columns
                .iter()
                .map(|column| self.text_heading(m, column))
                .collect(),
            rows: rows.iter().map(cells_of).collect(),
        };
        sheet.blank_repeats(self.blank_repeats);
        sheet.fitted(self.spare)
    }

    /// Its words stand below each other.
    fn text_heading(&self, m: &Messages, column: &Column<'a, R>) -> String {
        let heading = column.heading(m, self.text_prefix);
        let between = if self.long_headings { " " } else { "\n" };
        heading.replace(' ', between)
    }

    /// For the template `components.html`.
    pub(crate) fn to_grid(&self, m: &Messages, rows: &[R]) -> Grid {
        let columns = self.shown_columns(rows, |column| column.on_page);
        let header = columns.iter().map(|column| GridCell {
            text: column.heading(m, self.page_prefix),
            class: if column.unit.is_words() { "words" } else { "" }.to_owned(),
        });
        let grid_row = |(place, row): (usize, &R)| GridRow {
            class: self.class_of(rows, place),
            cells: columns
                .iter()
                .map(|column| column.grid_cell(m, row))
                .collect(),
        };
        Grid {
            header: header.collect(),
            rows: rows.iter().enumerate().map(grid_row).collect(),
        }
    }

    fn class_of(&self, rows: &[R], place: usize) -> &'static str {
        let own = (self.row_class)(&rows[place]);
        let Some(key) = &self.group else {
            return own;
        };
        let next = rows.get(place + 1).map(key);
        if own.is_empty() && next != Some(key(&rows[place])) {
            "group"
        } else {
            own
        }
    }

    /// RFC 4180, but with bare newlines, with a header.
    pub fn to_csv(&self, rows: impl IntoIterator<Item = R>) -> String {
        let keyed = || {
            self.columns
                .iter()
                .filter_map(|column| Some((column.key.as_deref()?, column)))
        };
        let header: Vec<String> = keyed().map(|(key, _)| quoted(key)).collect();
        let mut out = header.join(",") + "\n";
        for row in rows {
            let cells: Vec<String> = keyed()
                .map(|(_, column)| quoted(&(column.value)(&row).to_plain()))
                .collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
        out
    }

    /// An array with an object for each row.
    pub fn to_json(&self, rows: &[R]) -> Json {
        let field_of = |row: &R, column: &Column<'a, R>| {
            Some((column.key.clone()?, (column.value)(row).to_json()))
        };
        let object_of = |row: &R| {
            let fields = self.columns.iter();
            Json::Object(
                fields
                    .filter_map(|column| field_of(row, column))
                    .collect::<Map<_, _>>(),
            )
        };
        Json::Array(rows.iter().map(object_of).collect())
    }
}

impl<R> Column<'_, R> {
    fn heading(&self, m: &Messages, prefix: &str) -> String {
        match &self.heading {
            Heading::Id => {
                let id = format!("{prefix}{}", self.id);
                let text = m.text(&id);
                debug_assert_ne!(text, id, "the catalogue has no such heading");
                text
            }
            Heading::Name(name) => name.clone(),
        }
    }

    fn shown(&self, m: &Messages, row: &R) -> String {
        self.unit.shown(m, &(self.value)(row))
    }

    fn grid_cell(&self, m: &Messages, row: &R) -> GridCell {
        let cell = (self.value)(row);
        GridCell {
            text: self.unit.shown(m, &cell),
            class: [self.unit.class(), cell.class].join(" ").trim().to_owned(),
        }
    }
}

/// A table as a page shows it.
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
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
