//! Where the rows of a table go to that programs read.

use super::cell::CellValue;
use super::value_type::ValueType;

/// A column as programs read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedColumn {
    pub name: String,
    pub value_type: ValueType,
}

/// Takes a table: its columns once, then each row.
pub trait TableSink {
    fn begin(&mut self, columns: Vec<TypedColumn>);

    /// A value for each column.
    fn row(&mut self, cells: &[CellValue]);
}

/// CSV as in RFC 4180, but with bare newlines.
#[derive(Debug, Default)]
pub struct CsvSink {
    pub text: String,
    has_header: bool,
}

impl CsvSink {
    /// The first line has the columns' names; by default there are only rows.
    pub fn with_header() -> Self {
        Self {
            text: String::new(),
            has_header: true,
        }
    }

    fn line(&mut self, fields: impl Iterator<Item = String>) {
        for (place, field) in fields.enumerate() {
            if place > 0 {
                self.text.push(',');
            }
            self.text.push_str(&quoted(field));
        }
        self.text.push('\n');
    }
}

impl TableSink for CsvSink {
    fn begin(&mut self, columns: Vec<TypedColumn>) {
        if self.has_header {
            self.line(columns.iter().map(|column| without_formula(&column.name)));
        }
    }

    fn row(&mut self, cells: &[CellValue]) {
        self.line(cells.iter().map(|cell| match cell {
            CellValue::Text(text) | CellValue::Time(text) => without_formula(text),
            other => other.to_plain(),
        }));
    }
}

/// The text as spreadsheets read it: what they would take for a formula begins with an apostrophe. Numbers stay as they are.
fn without_formula(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'])
        && text.parse::<f64>().is_err();
    match is_formula {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

fn quoted(text: String) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_formulas() {
        let mut csv = CsvSink::default();
        let texts = [
            "=1+1", "+x", "-1.5", "-x", "@a", "\t=1", "=a,\"b\"", "a=1", "+2", "",
        ];
        csv.row(&texts.map(|text| CellValue::Text(text.to_owned())));
        csv.row(&[
            CellValue::Number(-1.5),
            CellValue::Range(-2.0, -1.0),
            CellValue::Time("=now()".to_owned()),
        ]);
        assert_eq!(
            csv.text,
            "'=1+1,'+x,-1.5,'-x,'@a,'\t=1,\"'=a,\"\"b\"\"\",a=1,+2,\n-1.5,-2 to -1,'=now()\n"
        );
    }

    #[test]
    fn cells_with_separators_are_quoted() {
        assert_eq!(quoted("a,b".to_owned()), "\"a,b\"");
        assert_eq!(quoted("a \"b\"".to_owned()), "\"a \"\"b\"\"\"");
        assert_eq!(quoted("plain".to_owned()), "plain");
    }
}
