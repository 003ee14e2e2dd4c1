//! Lines of a file, and the numbers in them.

use super::fault::{Fault, Read};

/// Larger numbers are not measurements; sums of smaller ones do not overflow.
pub(super) const MOST: f64 = 1e15;
/// No run lasts longer, in seconds (three years).
pub(super) const LONGEST_S: f64 = 1e8;
/// Connections, threads and the like.
const MOST_USERS: u32 = 10_000_000;

/// A line with its number, from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberedLine<'a> {
    pub number: usize,
    pub text: &'a str,
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = NumberedLine<'_>> {
    text.lines().enumerate().map(|(at, text)| NumberedLine {
        number: at + 1,
        text,
    })
}

impl<'a> NumberedLine<'a> {
    pub fn trim(self) -> Self {
        Self {
            text: self.text.trim(),
            ..self
        }
    }

    pub fn words(self) -> Vec<&'a str> {
        self.text.split_whitespace().collect()
    }

    /// The whole line is not what it should be.
    pub fn unexpected(self, expected: impl Into<String>) -> Fault {
        self.fault(self.text, expected)
    }

    /// A part of it is not.
    pub fn fault(self, found: &str, expected: impl Into<String>) -> Fault {
        Fault::at(self.number, found, expected)
    }

    /// A finite number that is not negative and that a tool may have counted or measured.
    pub fn number(self, text: &str, what: &str) -> Read<f64> {
        number(text).ok_or_else(|| self.fault(text, format!("{what}, a number from 0 to 10^15")))
    }

    pub fn seconds(self, text: &str, what: &str) -> Read<f64> {
        let value = number(text).filter(|s| *s <= LONGEST_S);
        value.ok_or_else(|| self.fault(text, format!("{what}, seconds from 0 to 10^8")))
    }

    pub fn count(self, text: &str, what: &str) -> Read<u64> {
        let value: Option<u64> = text.trim().parse().ok();
        let value = value.filter(|n| *n as f64 <= MOST);
        value.ok_or_else(|| self.fault(text, format!("{what}, a whole number from 0 to 10^15")))
    }

    pub fn users(self, text: &str, what: &str) -> Read<u32> {
        let value: Option<u32> = text.trim().parse().ok();
        let value = value.filter(|n| *n <= MOST_USERS);
        let expected = || format!("{what}, a whole number from 0 to 10,000,000");
        value.ok_or_else(|| self.fault(text, expected()))
    }
}

/// As [`Line::number`].
pub(super) fn number(text: &str) -> Option<f64> {
    let value: f64 = text.trim().parse().ok()?;
    (0.0..=MOST).contains(&value).then_some(value)
}

/// The first word of a text; empty where it has none.
pub(super) fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// The line of names above a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Header(pub Vec<String>);

/// A value of a row with its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedCell<T> {
    pub name: String,
    pub value: T,
}

impl Header {
    pub fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A row below it, which has as many values.
    pub fn row(&self, line: NumberedLine<'_>, values: &[&str]) -> Read<Vec<NamedCell<String>>> {
        if self.0.len() != values.len() {
            let expected = format!("{} columns, as the line of names has", self.0.len());
            return Err(line.unexpected(expected));
        }
        let cells = self.0.iter().zip(values);
        Ok(cells
            .map(|(name, value)| NamedCell {
                name: name.clone(),
                value: (*value).to_owned(),
            })
            .collect())
    }
}

/// The value of a row that has that name.
pub(super) fn cell<'a, T>(row: &'a [NamedCell<T>], name: &str) -> Option<&'a T> {
    let mut cells = row.iter();
    cells.find(|cell| cell.name == name).map(|cell| &cell.value)
}
