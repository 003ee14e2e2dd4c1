//! Which charts have something to show.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{FigureId, PointSummary};
use plimsoll_record::Record;

use crate::document::{BlockHeading, HeadingAside, ReportBlock, ReportSection, ScriptChart};
use crate::html::per_second;
use crate::message::Messages;

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

/// Throughput and latencies against the load, then everything over the time of the run. `reduced`: that not all points are
/// drawn; empty where all are.
pub(crate) fn sections(
    m: &Messages,
    record: &Record,
    summary: &Summary,
    is_foreign: bool,
    reduced: &str,
) -> Vec<ReportSection> {
    let axes: Vec<AxisPoints<'_>> = [("users", false), ("offered", true)]
        .map(|(axis, is_open)| AxisPoints::of(summary, axis, is_open))
        .into_iter()
        .filter(|own| !own.points.is_empty())
        .collect();
    let sections = [
        throughput_section(m, &axes),
        latency_section(m, &axes),
        time_section(m, record, is_foreign, reduced),
    ];
    sections.into_iter().flatten().collect()
}

/// Measured points over one kind of horizontal axis: `users` or `offered`.
struct AxisPoints<'a> {
    axis: &'static str,
    is_open: bool,
    points: Vec<&'a PointSummary>,
}

impl<'a> AxisPoints<'a> {
    fn of(summary: &'a Summary, axis: &'static str, is_open: bool) -> Self {
        let points = summary.figures.points();
        let points = points
            .filter(|p| p.key.load.is_open() == is_open)
            .filter(|p| p.value(FigureId::Transactions).is_some());
        Self {
            axis,
            is_open,
            points: points.collect(),
        }
    }

    fn chart(&self, title: String, chart: &str) -> ScriptChart {
        ScriptChart {
            title,
            data: vec![("chart", chart.to_owned()), ("axis", self.axis.to_owned())],
        }
    }
}

/// Charts of each axis, which is named where there are several.
fn add_by_axis(
    m: &Messages,
    axes: &[AxisPoints<'_>],
    section: &mut ReportSection,
    charts: impl Fn(&AxisPoints<'_>) -> Vec<ReportBlock>,
) {
    for own in axes {
        let charts = charts(own);
        if axes.len() > 1 {
            let title = m.text(&format!("axis-{}", own.axis));
            section.page(ReportBlock::heading(title));
        }
        section.page(ReportBlock::group("figures", charts));
    }
}

fn throughput_section(m: &Messages, axes: &[AxisPoints<'_>]) -> Option<ReportSection> {
    let mut section = ReportSection::new("throughput", m.text("throughput-title")).styled("charts");
    section.page(ReportBlock::note(m.text("throughput-note")));
    add_by_axis(m, axes, &mut section, |own| {
        let names = throughput(&own.points, own.is_open).into_iter();
        names
            .map(|name| ReportBlock::Chart(own.chart(chart_title(m, name), name)))
            .collect()
    });
    section.if_filled()
}

/// By transaction type.
fn latency_section(m: &Messages, axes: &[AxisPoints<'_>]) -> Option<ReportSection> {
    let switch = HeadingAside::Switch("latency".to_owned());
    let heading = BlockHeading::section(m.text("latency-title")).beside(switch);
    let mut section = ReportSection::headed("latency", heading).styled("charts");
    section.page(ReportBlock::note(m.text("latency-note")));
    add_by_axis(m, axes, &mut section, |own| {
        let types = timed_types(&own.points).into_iter();
        let charts = types.map(|txn| {
            let mut chart = own.chart(txn.clone(), "latency");
            chart.data.push(("txn", txn));
            ReportBlock::Chart(chart)
        });
        charts.collect()
    });
    section.if_filled()
}

fn time_section(
    m: &Messages,
    record: &Record,
    is_foreign: bool,
    reduced: &str,
) -> Option<ReportSection> {
    let switch = HeadingAside::Switch("time".to_owned());
    let heading = BlockHeading::section(m.text("time-title")).beside(switch);
    let mut section = ReportSection::headed("time", heading).styled("charts");
    section.page(ReportBlock::note(m.text("time-note")));
    let charts = over_time(record, is_foreign).into_iter().map(|name| {
        ReportBlock::Chart(ScriptChart {
            title: chart_title(m, name),
            data: vec![("chart", name.to_owned()), ("axis", "time".to_owned())],
        })
    });
    section.page(ReportBlock::group("figures wide", charts));
    section.page(ReportBlock::note(reduced));
    section.if_filled()
}

fn chart_title(m: &Messages, name: &str) -> String {
    m.text(&format!("chart-title-{name}"))
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
