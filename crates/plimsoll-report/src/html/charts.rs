//! Which charts have something to show.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{FigureId, PointSummary};
use plimsoll_record::Record;

use super::per_second;

/// Names of all charts, in the order of the page.
pub(crate) const CHART_TITLES: [&str; 15] = [
    "nopm",
    "tpm",
    "tpm-per-user",
    "rate",
    "throughput",
    "latency-time",
    "in-flight",
    "cpu",
    "iops",
    "bandwidth",
    "io-time",
    "queue",
    "cpu-one",
    "memory",
    LATENESS,
];

/// Those over time that transactions are needed for.
const OF_TRANSACTIONS: [&str; 3] = ["throughput", "latency-time", "in-flight"];

/// The one that only emulated drives have.
const LATENESS: &str = "lateness";

#[derive(Default)]
pub(super) struct Charts {
    pub throughput: Vec<AxisCharts<&'static str>>,
    /// By transaction type.
    pub latency: Vec<AxisCharts<String>>,
    pub time: Vec<&'static str>,
}

/// Charts over one kind of horizontal axis: `users` or `offered`.
pub(super) struct AxisCharts<T> {
    pub axis: &'static str,
    pub names: Vec<T>,
}

impl Charts {
    pub fn of(record: &Record, summary: &Summary, is_foreign: bool) -> Self {
        let mut charts = Self::default();
        for (axis, is_open) in [("users", false), ("offered", true)] {
            let points = summary.figures.points();
            let points: Vec<&PointSummary> = points
                .filter(|p| p.key.load.is_open() == is_open)
                .filter(|p| p.value(FigureId::Transactions).is_some())
                .collect();
            if !points.is_empty() {
                let names = throughput(&points, is_open);
                charts.throughput.push(AxisCharts { axis, names });
                let names = timed_types(&points);
                charts.latency.push(AxisCharts { axis, names });
            }
        }
        charts.time = over_time(record, is_foreign);
        charts
    }
}

fn throughput(points: &[&PointSummary], is_open: bool) -> Vec<&'static str> {
    if points
        .iter()
        .all(|point| point.value(FigureId::Tpm).is_none())
    {
        vec!["rate"]
    } else if is_open {
        vec!["nopm", "tpm"]
    } else {
        vec!["nopm", "tpm", "tpm-per-user"]
    }
}

fn timed_types(points: &[&PointSummary]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for txn in points.iter().flat_map(|point| &point.types) {
        if txn.response.is_some() && !names.contains(&txn.name) {
            names.push(txn.name.clone());
        }
    }
    names
}

fn over_time(record: &Record, is_foreign: bool) -> Vec<&'static str> {
    // Those of block I/O have charts of their own.
    let block = per_second::block_phases(record);
    let mut seconds = record.seconds.iter();
    let has_seconds = seconds.any(|second| !block.contains(&second.phase));
    let mut series = record.series.iter();
    let has_samples = series.any(|series| !series.samples.is_empty());
    if !has_seconds && !has_samples {
        return Vec::new();
    }
    let has_drive = !record.drive.is_empty();
    let names = CHART_TITLES[4..].iter().copied();
    names
        .filter(|name| has_drive || *name != LATENESS)
        .filter(|name| has_seconds || !OF_TRANSACTIONS.contains(name))
        .filter(|name| !is_foreign || is_reported(record, name))
        .collect()
}

/// Other tools do not report what was in flight, and seldom the latencies of each second.
fn is_reported(record: &Record, name: &str) -> bool {
    match name {
        "in-flight" => false,
        "latency-time" => {
            let mut seconds = record.seconds.iter();
            seconds.any(|second| second.response.count() > 0)
        }
        name => OF_TRANSACTIONS.contains(&name) || !record.series.is_empty(),
    }
}
