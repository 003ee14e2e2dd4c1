//! A row of a ladder's table: one load over its repeats.

use plimsoll_analysis::summary::{Figure, Ladder, LoadSummary, PointSummary, Steady};

use crate::message::Messages;
use crate::number::{NONE, percent, three, whole};

/// A rung with its points.
pub(crate) struct LoadView<'a> {
    pub rung: &'a LoadSummary,
    /// The one that stands for all where only one can: means of resources, latencies by type.
    pub point: &'a PointSummary,
    pub all: Vec<&'a PointSummary>,
}

pub(crate) fn views(ladder: &Ladder) -> Vec<LoadView<'_>> {
    let view = |rung| LoadView {
        rung,
        point: &ladder.points[rung.typical],
        all: rung.points.iter().map(|i| &ladder.points[*i]).collect(),
    };
    ladder.rungs.iter().map(view).collect()
}

/// Whether any load was measured more than once.
pub(crate) fn repeated(ladder: &Ladder) -> bool {
    ladder.rungs.iter().any(|rung| rung.repeats() > 1)
}

impl LoadView<'_> {
    pub fn load(&self) -> String {
        load(
            self.rung.users,
            self.rung.offered_per_second,
            self.rung.offered_to_per_second,
        )
    }

    /// A count over all repeats, or a dash where nothing was measured.
    pub fn counted(&self, of: fn(&PointSummary) -> u64) -> String {
        let measured = self.all.iter().any(|point| point.measured_s > 0.0);
        let n: u64 = self.all.iter().map(|point| of(point)).sum();
        if measured {
            whole(n as f64)
        } else {
            NONE.to_owned()
        }
    }

    /// The least favourable word on whether the rate held; a dash where nothing was measured.
    pub fn steady(&self, m: &Messages) -> String {
        let weight = |steady: &Steady| match steady {
            Steady::Yes { .. } => 0,
            Steady::NotMeant => 1,
            Steady::TooFew { .. } => 2,
            Steady::TooShort => 3,
            Steady::No { .. } => 4,
        };
        let measured = self
            .all
            .iter()
            .filter(|point| point.measured_s > 0.0)
            .map(|point| point.steady);
        let worst = measured.max_by_key(weight);
        worst.map_or_else(
            || NONE.to_owned(),
            |steady| m.text(&format!("steady-{}", steady.name().replace('_', "-"))),
        )
    }
}

/// Users, or the offered rate: `16`, `412`, `100 → 500`.
pub(crate) fn load(users: u32, offered: Option<f64>, to: Option<f64>) -> String {
    match (offered, to) {
        (Some(from), Some(to)) => format!("{} → {}", three(from), three(to)),
        (Some(rate), None) => three(rate),
        // An imported run whose source does not report it.
        (None, _) if users == 0 => NONE.to_owned(),
        (None, _) => users.to_string(),
    }
}

/// `±` half the 95 % interval in percent of the figure.
pub(crate) fn half(figure: Option<Figure>) -> String {
    let half = figure.and_then(|figure| figure.interval?.relative());
    half.map_or_else(|| NONE.to_owned(), |half| percent(half * 100.0))
}

/// The 95 % interval.
pub(crate) fn interval(figure: Option<Figure>, format: fn(f64) -> String) -> String {
    let interval = figure.and_then(|figure| figure.interval);
    interval.map_or_else(
        || NONE.to_owned(),
        |i| format!("{} to {}", format(i.low), format(i.high)),
    )
}

/// The lowest and the highest of all repeats.
pub(crate) fn spread(figure: Option<Figure>, format: fn(f64) -> String) -> String {
    figure.map_or_else(
        || NONE.to_owned(),
        |f| format!("{} to {}", format(f.min), format(f.max)),
    )
}
