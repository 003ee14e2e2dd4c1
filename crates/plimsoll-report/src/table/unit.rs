//! How people read the values of a column.

use plimsoll_analysis::summary::{FigureId, FigureUnit};

use super::cell::{CellValue, TableCell};
use crate::message::Messages;
use crate::number::{NONE, decimals, percent, three, whole};

/// How many digits numbers have, and where words stand.
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
    /// The digits that a figure has.
    pub fn of(figure: FigureId) -> Self {
        match figure.info().unit {
            FigureUnit::PerMinute => Self::Whole,
            FigureUnit::Percent => Self::Percent,
            _ => Self::Three,
        }
    }

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

    pub(crate) fn is_words(self) -> bool {
        matches!(self, Self::Words | Self::Sentences)
    }

    /// Of its cells on a page.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Sentences => "words long",
            _ => "",
        }
    }

    /// A cell as people read it.
    pub(super) fn shown(self, m: &Messages, cell: &TableCell) -> String {
        self.shown_value(m, &cell.value) + cell.mark
    }

    fn shown_value(self, m: &Messages, value: &CellValue) -> String {
        match value {
            CellValue::Missing(None) => NONE.to_owned(),
            CellValue::Missing(Some(reason)) => m.text(reason),
            CellValue::Number(value) => self.number(*value),
            CellValue::Single(value) => self.number(f64::from(*value)),
            CellValue::Count(count) if matches!(self, Self::Whole | Self::Three) => {
                self.number(*count as f64)
            }
            CellValue::Count(count) => count.to_string(),
            CellValue::Range(low, high) => {
                format!("{} to {}", self.number(*low), self.number(*high))
            }
            CellValue::Flag(flag) => flag.to_string(),
            CellValue::Text(text) | CellValue::Time(text) => text.clone(),
            CellValue::Word { id, .. } => m.text(id),
        }
    }
}
