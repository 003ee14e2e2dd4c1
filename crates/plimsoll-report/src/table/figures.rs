//! Columns that show figures of the catalog.

use plimsoll_analysis::summary::FigureId;

use super::heading::{FigureHeading, Heading};
use super::{HasValueType, Table, Unit};

impl<'a, R> Table<'a, R> {
    /// A figure of the catalog, for people: with its name and unit above it, and the digits that its unit has.
    pub fn figure<C: HasValueType>(self, figure: FigureId, value: impl Fn(&R) -> C + 'a) -> Self {
        let id = figure.info().name.replace('_', "-");
        self.column(id, Unit::of(figure), value)
            .changed(|column| column.heading = Heading::Figure(FigureHeading::new(figure)))
    }

    /// As [`Self::figure`], of several.
    pub fn figures<C: HasValueType>(
        self,
        figures: &[FigureId],
        value: impl Fn(&R, FigureId) -> C + Copy + 'a,
    ) -> Self {
        figures.iter().fold(self, |table, &figure| {
            table.figure(figure, move |row| value(row, figure))
        })
    }

    /// Times in microseconds, of which `ms` gives milliseconds: `p99-us`.
    pub fn micros(
        self,
        figures: &[FigureId],
        ms: impl Fn(&R, FigureId) -> Option<f64> + Copy + 'a,
    ) -> Self {
        figures.iter().fold(self, |table, &figure| {
            let id = format!("{}-us", figure.info().name);
            table
                .column(id, Unit::Three, move |row| Some(ms(row, figure)? * 1e3))
                .changed(|column| {
                    column.heading = Heading::Figure(FigureHeading::in_micros(figure));
                })
        })
    }

    /// The rate of transactions: NOPM where `is_nopm`, else all of them a second.
    pub fn rate<C: HasValueType>(
        self,
        digits: impl Fn(FigureId) -> Unit,
        is_nopm: impl Fn(&R) -> bool + Copy + 'a,
        value: impl Fn(&R) -> C + Copy + 'a,
    ) -> Self {
        let [nopm, per_second] = [FigureId::Nopm, FigureId::Transactions];
        self.figure(nopm, value)
            .digits(digits(nopm))
            .if_any(is_nopm)
            .figure(per_second, value)
            .digits(digits(per_second))
            .unless_any(is_nopm)
    }

    /// Which value of the figure it shows, such as the `lowest`: `heading-` and this name.
    pub fn value(self, name: &str) -> Self {
        self.changed(|column| {
            column.id = format!("{}-{name}", column.id);
            if let Heading::Figure(heading) = &mut column.heading {
                heading.value(name);
            }
        })
    }

    /// It shows one value of the figure over another.
    pub fn ratio(self) -> Self {
        self.value("ratio").changed(|column| {
            if let Heading::Figure(heading) = &mut column.heading {
                heading.without_unit();
            }
        })
    }

    /// Has other digits than its figure.
    pub fn digits(self, unit: Unit) -> Self {
        self.changed(|column| column.unit = unit)
    }
}
