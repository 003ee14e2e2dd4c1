//! vdbench's `flatfile.html`, `summary.html`, `totals.html` and what it prints, of raw and of file system workloads.
//!
//! All have for each interval rates, mean response times and their standard deviation, and no distribution. Columns are
//! found by the header: they differ between versions and between workloads. The row `avg_2-5` is over intervals 2 to 5:
//! those before it are warm-up. The length of an interval is the time between its row and the one before.

mod flatfile;
mod load;
mod summary;

use super::fault::{Fault, Read};
use super::load::ImportedLoad;
use super::when;
use plimsoll_plan::units::Nanos;

pub(super) use flatfile::header;

/// vdbench writes files and preallocates disks in runs of its own.
fn is_preparation(run: &str) -> bool {
    run.starts_with("format_for_") || run == "SD_format"
}

/// One run, named after its run definition (`RD=`).
#[derive(Debug, Clone, Default)]
struct Run {
    name: String,
    /// Line of the first row.
    line: usize,
    /// When it was started, since midnight.
    start: Option<Nanos>,
    /// The day on which its first row was printed.
    day: Option<jiff::civil::Date>,
    /// Empty where the output has none.
    zone: String,
    version: String,
    /// Seconds that are left out of the average.
    warmup_s: Option<f64>,
    offered_per_second: Option<f64>,
    /// As `forthreads=` and its like, or the columns of a flatfile, give them.
    parameters: Vec<(String, String)>,
    intervals: Vec<Row>,
    average: Option<Row>,
}

#[derive(Debug, Clone)]
struct Row {
    line: usize,
    interval: Interval,
    /// Since midnight.
    time: Option<Nanos>,
    columns: Columns,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Interval {
    Single(u64),
    /// `avg_2-5`.
    Average {
        first: u64,
        last: u64,
    },
    /// `std_2-5`, `max_2-5`: most of their columns are empty.
    Spread,
}

impl Interval {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(n) = text.parse() {
            return Some(Self::Single(n));
        }
        let (kind, range) = text.split_once('_')?;
        let (first, last) = range.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        match kind {
            "avg" => Some(Self::Average { first, last }),
            "std" | "max" => Some(Self::Spread),
            _ => None,
        }
    }
}

/// The values of a row with the names that a flatfile has for them, in lower case.
#[derive(Debug, Clone, Default)]
struct Columns(Vec<(String, String)>);

impl Columns {
    fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
    }
}

impl Run {
    fn add(&mut self, row: Row) -> Read<()> {
        if self.intervals.is_empty() && self.average.is_none() {
            self.line = row.line;
        }
        match row.interval {
            Interval::Spread => {}
            Interval::Average { .. } => self.average = Some(row),
            Interval::Single(n) => {
                if let Some(Interval::Single(last)) =
                    self.intervals.last().map(|last| last.interval)
                    && last.checked_add(1) != Some(n)
                {
                    let expected = format!(
                        "interval {}, as interval {last} is above",
                        last.saturating_add(1)
                    );
                    return Err(Fault::at(row.line, &format!("interval {n}"), expected));
                }
                self.intervals.push(row);
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.intervals.is_empty() && self.average.is_none()
    }

    /// The first value of a column.
    fn first(&self, name: &str) -> Option<&str> {
        self.rows().find_map(|row| row.columns.get(name))
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.intervals.iter().chain(&self.average)
    }
}

/// The rate that a run was asked for; vdbench writes "as fast as possible" and "find the highest rate" as rates
/// of 9999988 and 9999977, in old versions with a digit less.
fn offered(rate: f64) -> Option<f64> {
    let is_mark = [9_999_988.0, 9_999_977.0, 999_988.0, 999_977.0].contains(&rate);
    (rate > 0.0 && !is_mark).then_some(rate)
}

pub(super) fn read(text: &str) -> Read<Vec<ImportedLoad>> {
    let mut runs = match header(text) {
        Some(_) => flatfile::runs(text)?,
        None => summary::runs(text)?,
    };
    runs.retain(|run| !run.is_empty());
    let names: Vec<String> = runs
        .iter()
        .filter(|run| is_preparation(&run.name))
        .map(|run| run.name.clone())
        .collect();
    if names.len() < runs.len() {
        runs.retain(|run| !is_preparation(&run.name));
    }
    let mut loads = runs
        .iter()
        .enumerate()
        .map(|(i, run)| load::of_run(i, run))
        .collect::<Read<Vec<_>>>()?;
    let Some(last) = loads.last_mut() else {
        return Err(Fault::end(
            text,
            "a row of figures for at least one interval",
        ));
    };
    if header(text).is_none() && !text.contains("Vdbench execution completed") {
        let text = "The output ends before vdbench's last line (`Vdbench execution completed`): further runs may be missing.";
        last.unknown.push(("end", text.to_owned()));
    }
    if !names.is_empty() {
        loads
            .iter_mut()
            .for_each(|load| load.fact("import.preparation", names.join(", ")));
    }
    Ok(loads)
}

/// A time of day, since midnight.
fn time_of(text: &str) -> Option<Nanos> {
    when::clock(text).map(when::of_day)
}
