//! What stands above a column.

use plimsoll_analysis::summary::FigureId;

use crate::message::{Messages, figure_id};

/// Where people find a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnPlace {
    Text,
    Page,
}

/// What a heading is read from.
pub(super) enum Heading {
    /// The column's id, behind the table's prefix.
    Id,
    /// Another id of the catalog of messages.
    Message(String),
    /// A name of the run's own, such as that of an axis.
    Name(String),
    Figure(FigureHeading),
}

/// The name of a figure with its unit.
pub(super) struct FigureHeading {
    figure: FigureId,
    /// Of response times; other names have it.
    unit: Option<&'static str>,
    /// Id of which value of the figure it is.
    of: Option<String>,
}

impl FigureHeading {
    pub fn new(figure: FigureId) -> Self {
        Self {
            figure,
            unit: figure.is_time().then_some("unit-ms"),
            of: None,
        }
    }

    pub fn in_micros(figure: FigureId) -> Self {
        Self {
            unit: Some("unit-us"),
            ..Self::new(figure)
        }
    }

    pub fn value(&mut self, name: &str) {
        self.of = Some(format!("heading-{name}"));
    }

    pub fn without_unit(&mut self) {
        self.unit = None;
    }

    /// Ids of its words.
    pub fn ids(&self) -> Vec<String> {
        let unit = self.unit.map(str::to_owned);
        let name = figure_id(self.figure);
        [Some(name), self.of.clone(), unit]
            .into_iter()
            .flatten()
            .collect()
    }

    /// `p99 ms` in text, `p99, ms` on a page.
    pub fn text(&self, m: &Messages, place: ColumnPlace) -> String {
        let (is_page, between) = match place {
            ColumnPlace::Text => (false, " "),
            ColumnPlace::Page => (true, ", "),
        };
        let mut text = m.placed(&figure_id(self.figure), is_page, &[]);
        if let Some(of) = &self.of {
            text = m.placed(of, is_page, &[("figure", text)]);
        }
        match self.unit {
            Some(unit) => format!("{text}{between}{}", m.text(unit)),
            None => text,
        }
    }
}
