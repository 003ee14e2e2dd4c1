//! Rows of figures as a table for people, JSON or CSV.

use serde_json::{Map, Value};

use crate::cli::Format;

/// A value as programs read it, and as people do.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    value: Value,
    shown: String,
}

impl Cell {
    pub fn text(text: impl Into<String>) -> Self {
        let shown: String = text.into();
        Self {
            value: Value::from(shown.as_str()),
            shown,
        }
    }

    /// With this many decimals for people, and thousands separated.
    pub fn number(value: f64, decimals: usize) -> Self {
        Self {
            value: Value::from(value),
            shown: grouped(value, decimals),
        }
    }

    pub fn count(value: u64) -> Self {
        Self {
            value: Value::from(value),
            shown: grouped(value as f64, 0),
        }
    }

    pub fn maybe(value: Option<f64>, decimals: usize) -> Self {
        value.map_or(
            Self {
                value: Value::Null,
                shown: "–".into(),
            },
            |value| Self::number(value, decimals),
        )
    }

    /// With a mark behind it, for people.
    pub fn marked(mut self, mark: &str) -> Self {
        self.shown.push_str(mark);
        self
    }

    fn csv(&self) -> String {
        let text = match &self.value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    }
}

fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let whole = text.find('.').unwrap_or(text.len());
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if i > 0 && i < whole && (whole - i).is_multiple_of(3) && !out.ends_with('-') {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Columns by their names for programs and for people.
#[derive(Debug, Clone)]
pub struct Rows {
    columns: Vec<(&'static str, &'static str)>,
    rows: Vec<Vec<Cell>>,
}

impl Rows {
    pub fn new(columns: &[(&'static str, &'static str)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// As many cells as there are columns.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Without these columns.
    pub fn without(&self, keys: &[&str]) -> Self {
        let kept: Vec<usize> = (0..self.columns.len())
            .filter(|i| !keys.contains(&self.columns[*i].0))
            .collect();
        Self {
            columns: kept.iter().map(|i| self.columns[*i]).collect(),
            rows: self
                .rows
                .iter()
                .map(|row| kept.iter().map(|i| row[*i].clone()).collect())
                .collect(),
        }
    }

    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Table => self.table(),
            Format::Json => format!("{:#}", self.json()),
            Format::Csv => self.csv(),
        }
    }

    pub fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            let fields = self
                .columns
                .iter()
                .zip(row)
                .map(|((key, _), cell)| ((*key).to_owned(), cell.value.clone()));
            Value::Object(fields.collect::<Map<_, _>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }

    pub fn csv(&self) -> String {
        let head = self
            .columns
            .iter()
            .map(|(key, _)| *key)
            .collect::<Vec<_>>()
            .join(",");
        let rows = self
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::csv).collect::<Vec<_>>().join(","));
        std::iter::once(head)
            .chain(rows)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Numbers stand at the right of their column.
    pub fn table(&self) -> String {
        let width = |i: usize| {
            let cells = self.rows.iter().map(|row| row[i].shown.chars().count());
            cells
                .chain([self.columns[i].1.chars().count()])
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let is_text = |i: usize| self.rows.iter().all(|row| row[i].value.is_string());
        let line = |cells: Vec<&str>| {
            let pad = |(i, cell): (usize, &&str)| {
                let width = widths[i];
                if is_text(i) {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            };
            cells
                .iter()
                .enumerate()
                .map(pad)
                .collect::<Vec<_>>()
                .join("  ")
                .trim_end()
                .to_owned()
        };
        let head = line(self.columns.iter().map(|(_, title)| *title).collect());
        let rows = self
            .rows
            .iter()
            .map(|row| line(row.iter().map(|cell| cell.shown.as_str()).collect()));
        std::iter::once(head)
            .chain(rows)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_rows_are_for_people_and_for_programs() {
        let mut rows = Rows::new(&[("drive", "drive"), ("read_iops", "read IOPS")]);
        rows.push(vec![Cell::text("a, \"b\""), Cell::number(440_000.5, 0)]);
        rows.push(vec![Cell::text("c"), Cell::maybe(None, 0)]);
        assert_eq!(
            rows.table(),
            "drive   read IOPS\na, \"b\"    440,000\nc               –"
        );
        assert_eq!(rows.csv(), "drive,read_iops\n\"a, \"\"b\"\"\",440000.5\nc,");
        assert_eq!(rows.json()[1]["read_iops"], Value::Null);
        assert_eq!(
            [grouped(-1234.5, 1), grouped(-123.0, 0)],
            ["-1,234.5", "-123"]
        );
    }
}
