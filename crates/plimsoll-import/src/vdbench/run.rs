//! Runs of vdbench, however they are printed.

use super::super::fault::{Fault, Read};
use super::super::lines::{NamedCell, cell};
use super::super::when;
use plimsoll_plan::units::Nanos;

/// One run, named after its run definition (`RD=`).
#[derive(Debug, Clone, Default)]
pub(super) struct VdbenchRun {
    pub name: String,
    /// Line of the first row.
    pub line: usize,
    /// When it was started, since midnight.
    pub start: Option<Nanos>,
    /// The day on which its first row was printed.
    pub day: Option<jiff::civil::Date>,
    /// Empty where the output has none.
    pub zone: String,
    pub version: String,
    /// Seconds that are left out of the average.
    pub warmup_s: Option<f64>,
    pub offered_per_second: Option<f64>,
    /// As `forthreads=` and its like, or the columns of a flatfile, give them.
    pub parameters: Vec<(String, String)>,
    pub intervals: Vec<VdbenchRow>,
    pub average: Option<VdbenchRow>,
}

#[derive(Debug, Clone)]
pub(super) struct VdbenchRow {
    pub line: usize,
    pub interval: VdbenchInterval,
    /// Since midnight.
    pub time: Option<Nanos>,
    /// With the names that a flatfile has for them, in lower case.
    pub columns: Vec<NamedCell<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum VdbenchInterval {
    Single(u64),
    /// `avg_2-5`.
    Average {
        first: u64,
        last: u64,
    },
    /// `std_2-5`, `max_2-5`: most of their columns are empty.
    Spread,
}

impl VdbenchInterval {
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(n) = text.parse() {
            return Some(Self::Single(n));
        }
        let parts: Vec<&str> = text.split(['_', '-']).collect();
        let [kind, first, last] = parts.as_slice() else {
            return None;
        };
        let first = first.parse().ok()?;
        let last = last.parse().ok()?;
        match *kind {
            "avg" => Some(Self::Average { first, last }),
            "std" | "max" => Some(Self::Spread),
            _ => None,
        }
    }
}

impl VdbenchRun {
    pub fn add(&mut self, row: VdbenchRow) -> Read<()> {
        if self.is_empty() {
            self.line = row.line;
        }
        match row.interval {
            VdbenchInterval::Spread => {}
            VdbenchInterval::Average { .. } => self.average = Some(row),
            VdbenchInterval::Single(n) => {
                self.follows(&row, n)?;
                self.intervals.push(row);
            }
        }
        Ok(())
    }

    fn follows(&self, row: &VdbenchRow, n: u64) -> Read<()> {
        match self.intervals.last().map(|last| last.interval) {
            Some(VdbenchInterval::Single(last)) if last.checked_add(1) != Some(n) => {
                let next = last.saturating_add(1);
                let expected = format!("interval {next}, as interval {last} is above");
                Err(Fault::at(row.line, &format!("interval {n}"), expected))
            }
            _ => Ok(()),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty() && self.average.is_none()
    }

    /// The first value of a column.
    pub fn first(&self, name: &str) -> Option<&str> {
        self.rows().find_map(|row| row.get(name))
    }

    pub fn rows(&self) -> impl Iterator<Item = &VdbenchRow> {
        self.intervals.iter().chain(&self.average)
    }

    /// vdbench writes files and preallocates disks in runs of its own.
    pub fn is_preparation(&self) -> bool {
        self.name.starts_with("format_for_") || self.name == "SD_format"
    }
}

impl VdbenchRow {
    pub fn get(&self, name: &str) -> Option<&str> {
        cell(&self.columns, name).map(String::as_str)
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        let number: f64 = self.get(name)?.parse().ok()?;
        number.is_finite().then_some(number)
    }
}

/// The rate that a run was asked for; vdbench writes "as fast as possible" and "find the highest rate" as rates
/// of 9999988 and 9999977, in old versions with a digit less.
pub(super) fn offered(rate: f64) -> Option<f64> {
    let is_mark = [9_999_988.0, 9_999_977.0, 999_988.0, 999_977.0].contains(&rate);
    (rate > 0.0 && !is_mark).then_some(rate)
}

/// A time of day, since midnight.
pub(super) fn time_of(text: &str) -> Option<Nanos> {
    when::clock(text).map(when::of_day)
}
