//! A row of a ladder's table: one load over its repeats.

use plimsoll_analysis::summary::{
    Estimate, FigureId, Interval, LadderSummary, LoadSummary, PointSummary, Resources, Steady,
};

use crate::number;
use crate::table::Unit::Plain;
use crate::table::{CellValue, Table, TableCell};

/// A load with its points.
pub(crate) struct LoadView<'a> {
    pub summary: &'a LoadSummary,
    /// The one that stands for all where only one can: means of resources, latencies by type.
    pub point: &'a PointSummary,
    pub means: &'a Resources,
    pub all: Vec<&'a PointSummary>,
    /// Of the highest rate.
    pub is_peak: bool,
    /// Whether the ladder has rates of TPC-C.
    pub is_tpcc: bool,
    /// Whether any load of the ladder was measured more than once.
    pub is_repeated: bool,
}

pub(crate) fn views(ladder: &LadderSummary) -> Vec<LoadView<'_>> {
    let loads = ladder.loads.iter();
    let is_tpcc = loads
        .clone()
        .any(|load| load.figures.get(FigureId::Tpm).is_some())
        || !loads
            .clone()
            .any(|load| load.figures.get(FigureId::Transactions).is_some());
    let mut views = Vec::new();
    for (place, summary) in loads.enumerate() {
        let point = &ladder.points[summary.typical];
        views.push(LoadView {
            summary,
            point,
            means: &point.resources,
            all: summary.points.iter().map(|i| &ladder.points[*i]).collect(),
            is_peak: ladder.peak == Some(place),
            is_tpcc,
            is_repeated: repeated(ladder),
        });
    }
    views
}

/// Whether any load was measured more than once.
pub(crate) fn repeated(ladder: &LadderSummary) -> bool {
    ladder.loads.iter().any(|load| load.repeats() > 1)
}

/// Ids of the column with the load.
pub(crate) const LOAD: [&str; 2] = ["offered", "users"];

/// The load of a row: the offered rate, or the users where the loop is closed.
pub(crate) fn with_load<'a, R: 'a>(
    table: Table<'a, R>,
    is_open: fn(&R) -> bool,
    load: fn(&R) -> String,
) -> Table<'a, R> {
    table
        .column("offered", Plain, load)
        .if_any(is_open)
        .column("users", Plain, load)
        .unless_any(is_open)
}

impl LoadView<'_> {
    pub fn is_open(&self) -> bool {
        self.any(|point| point.key.load.is_open())
    }

    pub fn load(&self) -> String {
        number::load(self.summary.load)
    }

    pub fn any(&self, has: fn(&PointSummary) -> bool) -> bool {
        self.all.iter().any(|point| has(point))
    }

    /// A count over all repeats; `None` where nothing was measured.
    pub fn counted(&self, of: fn(&PointSummary) -> u64) -> Option<u64> {
        self.any(|point| point.measured_s > 0.0)
            .then(|| self.all.iter().map(|point| of(point)).sum())
    }

    pub fn dropped(&self) -> Option<u64> {
        self.counted(|point| point.overall.counts.dropped)
    }

    pub fn has_writes(&self) -> bool {
        self.any(|point| point.resources.device_write_mb_per_second.is_some())
    }

    /// NOPM, or the rate of other workloads.
    pub fn rate(&self) -> Option<Estimate> {
        if self.is_tpcc {
            self.summary.figures.get(FigureId::Nopm)
        } else {
            self.summary.figures.get(FigureId::Transactions)
        }
    }

    /// The least favourable word on whether the rate held; nothing where nothing was measured.
    pub fn steady(&self) -> Option<TableCell> {
        let measured = self.all.iter().filter(|point| point.measured_s > 0.0);
        let worst = measured
            .map(|point| point.steady)
            .max_by_key(steady_weight)?;
        Some(TableCell::word("steady-", worst.name()))
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
pub(crate) fn half(figure: Option<Estimate>) -> Option<f64> {
    Some(figure?.interval?.relative()? * 100.0)
}

/// The 95 % interval.
pub(crate) fn interval(figure: Option<Estimate>) -> Option<Interval> {
    figure?.interval
}

/// The lowest and the highest of all repeats.
pub(crate) fn spread(figure: Option<Estimate>) -> Option<CellValue> {
    figure.map(|own| CellValue::Range(own.min, own.max))
}
