//! A row of a published table, and its numbers by their keys.

use std::collections::BTreeMap;

use super::table::{claim_table, figures};
use crate::audit::input::Percentile;
use crate::summary::{FigureId, StatedIn};

claim_table! {
    /// One row of a table: only what the report states.
    ClaimFigure, figures stated in a Row {
        name: String,
        /// The side that it is of; empty where there are none.
        side: String,
        /// Lowest and highest of several systems, by key: `p99_ms = [86.9, 99.2]`.
        ranges: BTreeMap<String, [f64; 2]>,
        offered: Option<u64>,
        committed: Option<u64>,
        rolled_back: Option<u64>,
        failed: Option<u64>,
        dropped: Option<u64>,
        /// Consistency conditions that were verified, and those that failed.
        conditions_verified: Option<u32>,
        conditions_failed: String,
        /// An emulated drive, and the operations by which it is evaluated.
        emulated_drive: Option<String>,
        emulated_ops: u64,
        /// Any other figures that sentences refer to.
        other: BTreeMap<String, f64>,
    }
}

impl ClaimFigure {
    /// What a report calls it: its name, with the side that it is of.
    pub fn title(&self) -> String {
        if self.side.is_empty() {
            self.name.clone()
        } else {
            format!("{}, {}", self.name, self.side)
        }
    }

    pub fn stated(&self, figure: FigureId) -> Option<f64> {
        self.numbers.get(&figure).copied()
    }

    /// A figure as it is stated; a rate also as bandwidth and size of requests give it.
    pub fn figure(&self, figure: FigureId) -> Option<f64> {
        let stated = self.stated(figure);
        match figure {
            FigureId::PerSecond => stated.or_else(|| self.rate_of_bandwidth()),
            _ => stated,
        }
    }

    fn rate_of_bandwidth(&self) -> Option<f64> {
        let request_kib = self.stated(FigureId::RequestKib).filter(|kib| *kib > 0.0)?;
        Some(self.stated(FigureId::MbPerSecond)? * 1e6 / (request_kib * 1024.0))
    }

    /// All figures that it has.
    pub(super) fn figures(&self) -> impl Iterator<Item = (FigureId, f64)> {
        figures(StatedIn::Row).filter_map(|figure| Some((figure, self.figure(figure)?)))
    }

    /// The number that stands under a key, those of `other` included.
    pub fn number(&self, key: &str) -> Option<f64> {
        match figure_of(key) {
            Some(figure) => self.figure(figure),
            None => self.other.get(key).copied(),
        }
    }

    /// All numbers with their keys, but for the slope: falls are below 0.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        let figures = self.figures().filter(|(figure, _)| is_positive(*figure));
        let others = self.other.iter();
        figures
            .map(|(figure, value)| (figure.key(), value))
            .chain(others.map(|(key, value)| (key.as_str(), *value)))
    }

    /// Those that are stated, from the minimum to the maximum.
    pub(super) fn percentiles(&self) -> Vec<Percentile> {
        percentiles(|figure| self.stated(figure))
    }

    /// Lowest or highest (`end`) of those whose range is stated.
    pub(super) fn percentiles_of_ranges(&self, end: usize) -> Vec<Percentile> {
        percentiles(|figure| self.ranges.get(figure.key()).map(|range| range[end]))
    }
}

fn percentiles(value: impl Fn(FigureId) -> Option<f64>) -> Vec<Percentile> {
    FigureId::PERCENTILES
        .into_iter()
        .filter_map(|(figure, share)| {
            Some(Percentile {
                name: figure.info().name.to_owned(),
                share,
                ms: value(figure)?,
            })
        })
        .collect()
}

fn is_positive(figure: FigureId) -> bool {
    figure != FigureId::SlopePercent
}

/// The figure to which sentences and ranges refer by this key.
pub(super) fn figure_of(key: &str) -> Option<FigureId> {
    let mut all = figures(StatedIn::Row).filter(|figure| is_positive(*figure));
    all.find(|figure| figure.key() == key)
}
