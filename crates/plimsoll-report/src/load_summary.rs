//! A row of a ladder's table: one load over its repeats.

use plimsoll_analysis::summary::{Figure, Interval, Ladder, LoadSummary, PointSummary, Steady};

use crate::number;
use crate::table::{Cell, Value};

/// A rung with its points.
pub(crate) struct LoadView<'a> {
    pub rung: &'a LoadSummary,
    /// The one that stands for all where only one can: means of resources, latencies by type.
    pub point: &'a PointSummary,
    pub all: Vec<&'a PointSummary>,
    /// Of the highest rate.
    pub is_peak: bool,
}

pub(crate) fn views(ladder: &Ladder) -> Vec<LoadView<'_>> {
    let mut views = Vec::new();
    for (place, rung) in ladder.loads.iter().enumerate() {
        views.push(LoadView {
            rung,
            is_peak: ladder.peak == Some(place),
            point: &ladder.points[rung.typical],
            all: rung.points.iter().map(|i| &ladder.points[*i]).collect(),
        });
    }
    views
}

/// Whether any load was measured more than once.
pub(crate) fn repeated(ladder: &Ladder) -> bool {
    ladder.loads.iter().any(|rung| rung.repeats() > 1)
}

/// The id of the column with the load.
pub(crate) fn load_id(ladder: &Ladder) -> &'static str {
    let mut points = ladder.points.iter();
    if points.any(|point| point.offered_per_second.is_some()) {
        "offered"
    } else {
        "users"
    }
}

impl LoadView<'_> {
    pub fn load(&self) -> String {
        number::load(
            self.rung.users,
            self.rung.offered_per_second,
            self.rung.offered_to_per_second,
        )
    }

    /// A count over all repeats; `None` where nothing was measured.
    pub fn counted(&self, of: fn(&PointSummary) -> u64) -> Option<u64> {
        let measured = self.all.iter().any(|point| point.measured_s > 0.0);
        measured.then(|| self.all.iter().map(|point| of(point)).sum())
    }

    /// The least favourable word on whether the rate held; nothing where nothing was measured.
    pub fn steady(&self) -> Option<Cell> {
        let measured = self.all.iter().filter(|point| point.measured_s > 0.0);
        let worst = measured
            .map(|point| point.steady)
            .max_by_key(steady_weight)?;
        Some(Cell::word("steady-", worst.name()))
    }
}

fn steady_weight(steady: &Steady) -> u8 {
    match steady {
        Steady::Yes { .. } => 0,
        Steady::NotMeant => 1,
        Steady::TooFew { .. } => 2,
        Steady::TooShort => 3,
        Steady::No { .. } => 4,
    }
}

/// `±` half the 95 % interval in percent of the figure.
pub(crate) fn half(figure: Option<Figure>) -> Option<f64> {
    Some(figure?.interval?.relative()? * 100.0)
}

/// The 95 % interval.
pub(crate) fn interval(figure: Option<Figure>) -> Option<Interval> {
    figure?.interval
}

/// The lowest and the highest of all repeats.
pub(crate) fn spread(figure: Option<Figure>) -> Option<Value> {
    figure.map(|own| Value::Range(own.min, own.max))
}
