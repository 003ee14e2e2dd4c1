//! A table is declared once, as columns; text, page, CSV and JSON are rendered from the same cells.

use plimsoll_analysis::summary::Interval;
use serde_json::{Map, Value as Json};

use crate::message::Messages;

mod cell;
mod declaration;
mod figures;
mod grid;
mod heading;
mod sink;
mod text;
mod unit;
mod value_type;

pub use cell::{CellValue, HasValueType, PageCell, RowChoice, TableCell, UtcTime};
pub use declaration::{Declaration, DeclaredColumn};
pub(crate) use grid::{Grid, GridCell, GridRow};
use heading::{ColumnPlace, Heading};
pub use sink::{CsvSink, TableSink, TypedColumn};
pub(crate) use text::WIDTH;
pub use unit::Unit;
pub use value_type::ValueType;

type RowFn<'a, R, T> = Box<dyn Fn(&R) -> T + 'a>;
type CellOf<'a, R> = Box<dyn Fn(&R, &Messages) -> TableCell + 'a>;

/// What rows must have for people to see a column.
struct ColumnCondition<'a, R> {
    test: RowFn<'a, R, bool>,
    /// Whether any row must pass; else none may.
    any: bool,
    /// Where it holds.
    places: &'static [ColumnPlace],
}

const EVERYWHERE: &[ColumnPlace] = &[ColumnPlace::Text, ColumnPlace::Page];

struct Column<'a, R> {
    id: String,
    heading: Heading,
    unit: Unit,
    value_type: ValueType,
    /// Its name in CSV and JSON.
    key: Option<String>,
    places: &'static [ColumnPlace],
    condition: Option<ColumnCondition<'a, R>>,
    cell: CellOf<'a, R>,
}

/// Columns over rows `R`. Methods that change a column are about the one added last.
pub struct Table<'a, R> {
    name: &'static str,
    columns: Vec<Column<'a, R>>,
    text_prefix: &'static str,
    page_prefix: &'static str,
    spare: &'static [&'static str],
    blank_repeats: usize,
    without_empty: bool,
    long_headings: bool,
    row_class: RowFn<'a, R, &'static str>,
    group: RowFn<'a, R, Option<String>>,
}

/// A table with its rows, of whatever kind they are.
pub(crate) trait FilledTable {
    /// As [`Table::to_text_within`].
    fn to_text_within(&self, m: &Messages, width: usize) -> String;
    fn to_grid(&self, m: &Messages) -> Grid;
}

struct TableRows<'a, R> {
    table: Table<'a, R>,
    rows: Vec<R>,
}

impl<R> FilledTable for TableRows<'_, R> {
    fn to_text_within(&self, m: &Messages, width: usize) -> String {
        self.table.to_text_within(m, &self.rows, width)
    }

    fn to_grid(&self, m: &Messages) -> Grid {
        self.table.to_grid(m, &self.rows)
    }
}

/// `None` without rows.
pub(crate) fn filled<'a, R: 'a>(
    table: Table<'a, R>,
    rows: Vec<R>,
) -> Option<Box<dyn FilledTable + 'a>> {
    if rows.is_empty() {
        return None;
    }
    Some(Box::new(TableRows { table, rows }))
}

impl<'a, R> Table<'a, R> {
    /// Headings are `text-` and `column-` with the columns' ids.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            columns: Vec::new(),
            text_prefix: "text-",
            page_prefix: "column-",
            spare: &[],
            blank_repeats: 0,
            without_empty: false,
            long_headings: false,
            row_class: Box::new(|_| ""),
            group: Box::new(|_| None),
        }
    }

    /// Headings of text and page are `prefix` with the columns' ids.
    pub fn prefix(self, prefix: &'static str) -> Self {
        Self {
            text_prefix: prefix,
            page_prefix: prefix,
            ..self
        }
    }

    /// For people: in text and on a page.
    pub fn column<C: HasValueType>(
        self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.message(id, unit, move |row, _| value(row))
    }

    /// For people, with words of the catalog in its cells.
    pub fn message<C: HasValueType>(
        mut self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R, &Messages) -> C + 'a,
    ) -> Self {
        self.columns.push(Column {
            id: id.into(),
            heading: Heading::Id,
            unit,
            value_type: C::TYPE,
            key: None,
            places: EVERYWHERE,
            condition: None,
            cell: Box::new(move |row, m| value(row, m).into()),
        });
        self
    }

    /// For people, but in text only.
    pub fn text_column<C: HasValueType>(
        self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(id, unit, value)
            .changed(|column| column.places = &[ColumnPlace::Text])
    }

    /// For people, but on a page only.
    pub fn page_column<C: HasValueType>(
        self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.column(id, unit, value)
            .changed(|column| column.places = &[ColumnPlace::Page])
    }

    /// As [`Self::message`], but on a page only.
    pub fn page_message<C: HasValueType>(
        self,
        id: impl Into<String>,
        unit: Unit,
        value: impl Fn(&R, &Messages) -> C + 'a,
    ) -> Self {
        self.message(id, unit, value).on_page()
    }

    /// People see it on a page only.
    pub fn on_page(self) -> Self {
        self.changed(|column| column.places = &[ColumnPlace::Page])
    }

    /// People see it in text only.
    pub fn in_text(self) -> Self {
        self.changed(|column| column.places = &[ColumnPlace::Text])
    }

    /// For programs: in CSV and JSON only.
    pub fn field<C: HasValueType>(
        self,
        key: impl Into<String>,
        value: impl Fn(&R) -> C + 'a,
    ) -> Self {
        self.message_field(key, move |row, _| value(row))
    }

    /// For programs, with words of the catalog.
    pub fn message_field<C: HasValueType>(
        self,
        key: impl Into<String>,
        value: impl Fn(&R, &Messages) -> C + 'a,
    ) -> Self {
        self.message("", Unit::Plain, value).changed(|column| {
            column.key = Some(key.into());
            column.places = &[];
        })
    }

    /// Both ends of an interval, for programs: `name_low` and `name_high`.
    pub fn interval_fields(
        self,
        name: &str,
        interval: impl Fn(&R) -> Option<Interval> + Copy + 'a,
    ) -> Self {
        self.field(format!("{name}_low"), move |row| Some(interval(row)?.low))
            .field(format!("{name}_high"), move |row| Some(interval(row)?.high))
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
            column
                .key
                .get_or_insert_with(|| column.id.replace('-', "_"));
        }
        self
    }

    /// People see it only where any row passes.
    pub fn if_any(self, test: impl Fn(&R) -> bool + 'a) -> Self {
        self.conditional(test, true, EVERYWHERE)
    }

    /// People see it only where no row passes.
    pub fn unless_any(self, test: impl Fn(&R) -> bool + 'a) -> Self {
        self.conditional(test, false, EVERYWHERE)
    }

    /// On a page, people see it only where any row passes.
    pub fn on_page_if_any(self, test: impl Fn(&R) -> bool + 'a) -> Self {
        self.conditional(test, true, &[ColumnPlace::Page])
    }

    fn conditional(
        self,
        test: impl Fn(&R) -> bool + 'a,
        any: bool,
        places: &'static [ColumnPlace],
    ) -> Self {
        let test = Box::new(test);
        self.changed(|column| column.condition = Some(ColumnCondition { test, any, places }))
    }

    /// Has the heading of this id.
    pub fn headed(self, id: impl Into<String>) -> Self {
        self.changed(|column| column.heading = Heading::Message(id.into()))
    }

    /// Has a heading that is not in the catalog.
    pub fn named(self, heading: impl Into<String>) -> Self {
        self.changed(|column| column.heading = Heading::Name(heading.into()))
    }

    /// Headings in text are on one line.
    pub fn with_long_headings(self) -> Self {
        Self {
            long_headings: true,
            ..self
        }
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

    /// On a page, rows of one key that follow each other stand together; those without a key by themselves.
    pub fn grouped(mut self, key: impl Fn(&R) -> Option<String> + 'a) -> Self {
        self.group = Box::new(key);
        self
    }

    /// Its name, and what its columns are called.
    pub fn declaration(&self) -> Declaration {
        let columns = self.columns.iter().map(|column| DeclaredColumn {
            id: column.id.clone(),
            unit: column.unit,
            value_type: column.value_type,
            headings: column
                .places
                .iter()
                .flat_map(|place| self.heading_ids(column, *place))
                .collect(),
            key: column.key.clone(),
        });
        Declaration {
            name: self.name,
            columns: columns.collect(),
        }
    }

    /// Ids of a heading's words; none where it is not in the catalog of messages.
    fn heading_ids(&self, column: &Column<'a, R>, place: ColumnPlace) -> Vec<String> {
        match &column.heading {
            Heading::Id => vec![self.own_heading(column, place)],
            Heading::Message(id) => vec![id.clone()],
            Heading::Name(_) => Vec::new(),
            Heading::Figure(figure) => figure.ids(),
        }
    }

    fn own_heading(&self, column: &Column<'a, R>, place: ColumnPlace) -> String {
        let prefix = match place {
            ColumnPlace::Text => self.text_prefix,
            ColumnPlace::Page => self.page_prefix,
        };
        format!("{prefix}{}", column.id)
    }

    fn heading(&self, m: &Messages, column: &Column<'a, R>, place: ColumnPlace) -> String {
        match &column.heading {
            Heading::Id => m.text(&self.own_heading(column, place)),
            Heading::Message(id) => m.text(id),
            Heading::Name(name) => name.clone(),
            Heading::Figure(figure) => figure.text(m, place),
        }
    }

    /// What people see of these rows.
    fn columns_in(&self, m: &Messages, rows: &[R], place: ColumnPlace) -> Vec<&Column<'a, R>> {
        let columns = self.columns.iter();
        columns
            .filter(|column| column.places.contains(&place) && column.is_met(rows, place))
            .filter(|column| !self.without_empty || column.has_values(m, rows))
            .collect()
    }

    /// Whether text would have a value besides those of the columns `names`.
    pub fn has_values(&self, m: &Messages, rows: &[R], names: &[&str]) -> bool {
        let columns = self.columns_in(m, rows, ColumnPlace::Text).into_iter();
        columns
            .filter(|column| !names.contains(&column.id.as_str()))
            .any(|column| column.has_values(m, rows))
    }

    /// For a terminal.
    pub fn to_text(&self, m: &Messages, rows: &[R]) -> String {
        self.to_text_within(m, rows, WIDTH)
    }

    /// As [`Self::to_text`]; `None` without rows.
    pub(crate) fn to_lines(&self, m: &Messages, rows: &[R]) -> Option<String> {
        (!rows.is_empty()).then(|| self.to_text(m, rows))
    }

    /// At most so many columns wide, as far as spare columns allow.
    pub fn to_text_within(&self, m: &Messages, rows: &[R], width: usize) -> String {
        let columns = self.columns_in(m, rows, ColumnPlace::Text);
        let between = if self.long_headings { " " } else { "\n" };
        let mut sheet = text::Sheet::default();
        for column in &columns {
            let heading = self.heading(m, column, ColumnPlace::Text);
            sheet.ids.push(&column.id);
            sheet.left.push(column.unit.is_words());
            // Its words stand below each other.
            sheet.header.push(heading.replace(' ', between));
        }
        for row in rows {
            let cells = columns.iter().map(|column| column.shown(m, row));
            sheet.rows.push(cells.collect());
        }
        sheet.blank_repeats(self.blank_repeats);
        sheet.fitted(self.spare, width)
    }

    pub(crate) fn to_grid(&self, m: &Messages, rows: &[R]) -> Grid {
        let columns = self.columns_in(m, rows, ColumnPlace::Page);
        let header = columns.iter().map(|column| GridCell {
            text: self.heading(m, column, ColumnPlace::Page),
            class: if column.unit.is_words() { "words" } else { "" }.to_owned(),
            page: PageCell::default(),
        });
        let mut grid = Grid {
            header: header.collect(),
            rows: Vec::new(),
        };
        for (place, row) in rows.iter().enumerate() {
            let cells = columns.iter().map(|column| column.grid_cell(m, row));
            grid.rows.push(GridRow {
                class: self.class_of(row, rows.get(place + 1)),
                cells: cells.collect(),
            });
        }
        grid
    }

    fn class_of(&self, row: &R, next: Option<&R>) -> &'static str {
        let own = (self.row_class)(row);
        match (self.group)(row) {
            key @ Some(_) if own.is_empty() && next.and_then(&self.group) != key => "group",
            _ => own,
        }
    }

    /// Columns that programs read, with their keys.
    fn keyed(&self) -> impl Iterator<Item = (&str, &Column<'a, R>)> {
        let columns = self.columns.iter();
        columns.filter_map(|column| Some((column.key.as_deref()?, column)))
    }

    /// The columns that programs read.
    pub fn typed_columns(&self) -> Vec<TypedColumn> {
        let columns = self.keyed().map(|(key, column)| TypedColumn {
            name: key.to_owned(),
            value_type: column.value_type,
        });
        columns.collect()
    }

    /// What programs read of a row.
    pub fn values(&self, row: &R) -> Vec<CellValue> {
        self.values_in(&Messages::english(), row)
    }

    fn values_in(&self, m: &Messages, row: &R) -> Vec<CellValue> {
        let cells = self.keyed().map(|(_, column)| (column.cell)(row, m));
        cells.map(|cell| cell.value).collect()
    }

    /// Passes on what programs read: the columns, then row by row.
    pub fn send(&self, rows: impl IntoIterator<Item = R>, sink: &mut dyn TableSink) {
        let m = Messages::english();
        sink.begin(self.typed_columns());
        for row in rows {
            sink.row(&self.values_in(&m, &row));
        }
    }

    /// RFC 4180, but with bare newlines, with a header.
    pub fn to_csv(&self, rows: impl IntoIterator<Item = R>) -> String {
        let mut csv = CsvSink::with_header();
        self.send(rows, &mut csv);
        csv.text
    }

    /// An array with an object for each row.
    pub fn to_json(&self, rows: &[R]) -> Json {
        let m = Messages::english();
        let objects = rows.iter().map(|row| {
            let fields = self.keyed();
            let fields =
                fields.map(|(key, column)| (key.to_owned(), (column.cell)(row, &m).to_json()));
            Json::Object(fields.collect::<Map<_, _>>())
        });
        Json::Array(objects.collect())
    }
}

impl<R> Column<'_, R> {
    fn is_met(&self, rows: &[R], place: ColumnPlace) -> bool {
        let condition = self.condition.as_ref();
        condition
            .filter(|own| own.places.contains(&place))
            .is_none_or(|own| rows.iter().any(&own.test) == own.any)
    }

    fn has_values(&self, m: &Messages, rows: &[R]) -> bool {
        rows.iter().any(|row| !(self.cell)(row, m).is_empty())
    }

    fn shown(&self, m: &Messages, row: &R) -> String {
        self.unit.shown(m, &(self.cell)(row, m))
    }

    fn grid_cell(&self, m: &Messages, row: &R) -> GridCell {
        let cell = (self.cell)(row, m);
        GridCell {
            text: self.unit.shown(m, &cell),
            class: [self.unit.class(), cell.class].join(" ").trim().to_owned(),
            page: cell.page.map_or_else(PageCell::default, |page| *page),
        }
    }
}

#[cfg(test)]
mod tests;
