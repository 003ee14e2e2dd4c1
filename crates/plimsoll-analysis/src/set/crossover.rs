//! How much memory is enough: the amount from which on more of it changes nothing.
//!
//! Of amounts in rising order the smallest one from which no larger one changes the main figure by more than 5 % or, with
//! three runs of both or more, by more than the noise of repeats where that is larger: the relative half widths of their
//! intervals, added in squares (see [`crate::summary::Ratio`]). Where the last step changed more than that, but not more
//! than the figures of single runs scatter, there is no finding.

use plimsoll_record::OfferedLoad;
use serde::Serialize;

use super::row::{SetAxisSummary, SetRow};
use crate::summary::{Estimate, Interval, Verdict, is_like_speed};
use plimsoll_plan::Interference;
use plimsoll_plan::size;

/// A change that does not matter.
pub const CHANGE_LIMIT: f64 = 0.05;
/// Fewer runs do not show how repeats scatter.
const FEWEST_RUNS: usize = 3;

/// One load with one combination of all other values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crossover {
    pub step: String,
    pub system: String,
    pub scene: Interference,
    #[serde(flatten)]
    pub load: OfferedLoad,
    /// The axis that is an amount of memory.
    pub axis: String,
    /// Values of the other axes.
    pub others: Vec<String>,
    pub found: CrossoverFound,
}

/// Amounts are as the plan writes them; ratios are those of NOPM, or of transactions per second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CrossoverFound {
    /// `ratio` is the largest amount's figure to that at `size`.
    From {
        size: String,
        largest: String,
        ratio: f64,
    },
    /// Also the last step mattered: `ratio` is the largest amount's figure to that before.
    NotReached {
        before: String,
        largest: String,
        ratio: f64,
    },
    /// Figures scatter by `noise_percent`, or by an unknown amount, so that `ratio` may be chance: no finding on the last step.
    NotDistinguished {
        before: String,
        largest: String,
        ratio: f64,
        noise_percent: Option<f64>,
    },
    /// Fewer than two amounts have figures that can be used.
    NotEvaluated,
}

/// Whether the values of an axis are amounts of memory.
fn is_memory(axis: &SetAxisSummary) -> bool {
    let about = ["memory", "buffer", "cache"];
    let named = about
        .iter()
        .any(|part| axis.key.contains(part) || axis.name.contains(part));
    named && axis.values.len() > 1 && axis.values.iter().all(|value| size::parse(value).is_ok())
}

pub(super) fn of(axes: &[SetAxisSummary], rows: &[SetRow]) -> Vec<Crossover> {
    let Some(index) = axes.iter().position(is_memory) else {
        return Vec::new();
    };
    let mut groups: Vec<Vec<&SetRow>> = Vec::new();
    for row in rows {
        match groups
            .iter_mut()
            .find(|group| differ_by_memory(group[0], row, index))
        {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
        .iter()
        .map(|group| crossover(axes, index, group))
        .collect()
}

/// Whether two rows are of the same load at the same speed and differ in the axis of memory only.
fn differ_by_memory(a: &SetRow, b: &SetRow, memory: usize) -> bool {
    (&a.step, &a.system, a.scene, a.load) == (&b.step, &b.system, b.scene, b.load)
        && others(a, memory).eq(others(b, memory))
        && is_like_speed(a.slower, b.slower)
}

/// The other axes, and which of their values was chosen.
fn others(row: &SetRow, memory: usize) -> impl Iterator<Item = (usize, usize)> {
    let choice = row.choice.iter().copied().enumerate();
    choice.filter(move |(axis, _)| *axis != memory)
}

fn value(axis: &SetAxisSummary, chosen: usize) -> String {
    axis.values.get(chosen).cloned().unwrap_or_default()
}

fn crossover(axes: &[SetAxisSummary], memory: usize, group: &[&SetRow]) -> Crossover {
    let first = group[0];
    Crossover {
        step: first.step.clone(),
        system: first.system.clone(),
        scene: first.scene,
        load: first.load,
        axis: axes[memory].name.clone(),
        others: others(first, memory)
            .filter_map(|(axis, chosen)| Some(value(axes.get(axis)?, chosen)))
            .collect(),
        found: find(group.iter().filter_map(|row| {
            let chosen = row.choice.get(memory)?;
            Amount::of(row, value(&axes[memory], *chosen))
        })),
    }
}

/// The figure with an amount of memory.
struct Amount {
    bytes: u64,
    written: String,
    figure: Estimate,
    runs: usize,
}

impl Amount {
    fn of(row: &SetRow, written: String) -> Option<Self> {
        let figure = row
            .figures
            .main_rate()
            .filter(|figure| figure.value > 0.0)?;
        let bytes = size::parse(&written).ok()?.0;
        (row.verdict < Verdict::Invalid).then_some(Self {
            bytes,
            written,
            figure,
            runs: row.runs,
        })
    }

    fn noise(&self) -> Option<f64> {
        self.figure
            .interval
            .filter(|_| self.runs >= FEWEST_RUNS)?
            .relative()
    }

    /// How far figures scatter at least: of fewer repeats from the seconds of a run, without the variation between runs.
    /// `None`: unknown.
    fn scatter(&self, other: &Self) -> Option<f64> {
        let own = self.relative_error()?;
        Some(own.hypot(other.relative_error()?))
    }

    fn relative_error(&self) -> Option<f64> {
        match self.figure.interval.and_then(Interval::relative) {
            None if self.runs >= FEWEST_RUNS => Some(0.0),
            known => known,
        }
    }

    /// Whether the figure differs from that of `other`.
    fn differs(&self, other: &Self) -> bool {
        let noise = self
            .noise()
            .zip(other.noise())
            .map_or(0.0, |(a, b)| a.hypot(b));
        (other.figure.value / self.figure.value - 1.0).abs() > noise.max(CHANGE_LIMIT)
    }
}

fn find(amounts: impl Iterator<Item = Amount>) -> CrossoverFound {
    let mut all: Vec<Amount> = amounts.collect();
    all.sort_by_key(|amount| amount.bytes);
    let [.., before, largest] = all.as_slice() else {
        return CrossoverFound::NotEvaluated;
    };
    let flat = (0..all.len() - 1).find(|i| !all[i + 1..].iter().any(|more| all[*i].differs(more)));
    let written = largest.written.clone();
    if let Some(own) = flat.map(|i| &all[i]) {
        return CrossoverFound::From {
            size: own.written.clone(),
            largest: written,
            ratio: largest.figure.value / own.figure.value,
        };
    }
    let ratio = largest.figure.value / before.figure.value;
    let noise = before.scatter(largest);
    let before = before.written.clone();
    if noise.is_some_and(|noise| (ratio - 1.0).abs() > noise) {
        CrossoverFound::NotReached {
            before,
            largest: written,
            ratio,
        }
    } else {
        let noise_percent = noise.map(|noise| noise * 100.0);
        CrossoverFound::NotDistinguished {
            before,
            largest: written,
            ratio,
            noise_percent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(written: &str, median: f64, half: Option<f64>) -> Amount {
        let interval = half.map(|half| Interval::new(median, median - half, median + half));
        let figure = Estimate::single(median, interval).unwrap();
        Amount {
            bytes: size::parse(written).unwrap().0,
            written: written.to_owned(),
            figure,
            runs: 3,
        }
    }

    fn found(amounts: &[(&str, f64, Option<f64>)]) -> CrossoverFound {
        find(
            amounts
                .iter()
                .map(|(written, median, half)| amount(written, *median, *half)),
        )
    }

    #[test]
    fn memory_stops_mattering_where_no_more_of_it_changes_the_figure() {
        // In the order of size, not of writing.
        let from = |size: &str, ratio| CrossoverFound::From {
            size: size.into(),
            largest: "8GiB".into(),
            ratio,
        };
        let all = [
            ("8GiB", 1010.0, None),
            ("512MiB", 300.0, None),
            ("4GiB", 1000.0, None),
            ("1GiB", 600.0, None),
        ];
        assert_eq!(found(&all), from("4GiB", 1.01));
        // What comes back later mattered.
        let late = [
            ("1GiB", 1000.0, None),
            ("4GiB", 1001.0, None),
            ("8GiB", 1100.0, None),
        ];
        let beyond = CrossoverFound::NotReached {
            before: "4GiB".into(),
            largest: "8GiB".into(),
            ratio: 1100.0 / 1001.0,
        };
        assert_eq!(found(&late), beyond);
        // Less can be more: a change is a change.
        assert!(matches!(
            found(&[("1GiB", 1000.0, None), ("8GiB", 900.0, None)]),
            CrossoverFound::NotReached { .. }
        ));
        assert_eq!(
            found(&[("8GiB", 1000.0, None)]),
            CrossoverFound::NotEvaluated
        );
    }

    #[test]
    fn the_noise_of_repeats_widens_what_does_not_matter() {
        // 10 % more; noise of 6 and 8 % together is 10 %.
        let with = |a, b| found(&[("4GiB", 1000.0, Some(a)), ("8GiB", 1099.0, Some(b))]);
        assert!(matches!(
            with(60.0, 0.08 * 1099.0),
            CrossoverFound::From { .. }
        ));
        assert!(matches!(
            with(10.0, 10.0),
            CrossoverFound::NotReached { .. }
        ));
    }

    #[test]
    fn a_change_within_the_scatter_of_single_runs_is_no_finding() {
        let of_one = |written, median, half| Amount {
            runs: 1,
            ..amount(written, median, Some(half))
        };
        let all = |half| {
            find(
                [
                    of_one("1GiB", 600.0, 10.0),
                    of_one("4GiB", 1000.0, half),
                    of_one("8GiB", 1100.0, half),
                ]
                .into_iter(),
            )
        };
        let CrossoverFound::NotDistinguished {
            before,
            noise_percent,
            ..
        } = all(80.0)
        else {
            panic!("{:?}", all(80.0))
        };
        assert_eq!(
            (before.as_str(), noise_percent.map(f64::round)),
            ("4GiB", Some(11.0))
        );
        let unknown = find(
            [("4GiB", 1000.0), ("8GiB", 1100.0)]
                .map(|(written, median)| Amount {
                    runs: 1,
                    ..amount(written, median, None)
                })
                .into_iter(),
        );
        assert!(
            matches!(
                unknown,
                CrossoverFound::NotDistinguished {
                    noise_percent: None,
                    ..
                }
            ),
            "{unknown:?}"
        );
        assert!(matches!(all(50.0), CrossoverFound::NotReached { .. }));
    }

    #[test]
    fn only_amounts_of_memory_are_an_axis_of_memory() {
        let axis = |key: &str, values: &[&str]| SetAxisSummary {
            name: "x".into(),
            key: key.into(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        assert!(is_memory(&axis(
            "system.db.limits.memory",
            &["1GiB", "512 MiB"]
        )));
        assert!(is_memory(&axis(
            "system.db.settings.shared_buffers",
            &["1GB", "4GB"]
        )));
        assert!(!is_memory(&axis(
            "system.db.limits.memory",
            &["1GiB", "none"]
        )));
        assert!(!is_memory(&axis(
            "workload.x.block.size",
            &["4KiB", "8KiB"]
        )));
    }
}
