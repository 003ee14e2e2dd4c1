//! A ladder in words, and its tables.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{FigureId, LadderSummary, LatencySummary, TxnSummary};
use plimsoll_plan::PlacedName;

use crate::chart::ChartAxis;
use crate::load_summary::{LoadView, half, interval, repeated, spread, with_load};
use crate::message::Messages;
use crate::table::Unit::{self, Percent, Plain, Three, Whole, Words};
use crate::table::{CellValue, Table, TableCell};
use crate::{medium, waits};

pub(crate) fn heading(m: &Messages, ladder: &LadderSummary) -> String {
    let mut args = vec![
        ("step", ladder.step.clone()),
        ("system", ladder.system.clone()),
        ("mode", ladder.mode.clone()),
    ];
    let medium = medium_beside(&ladder.system, ladder.medium.as_deref());
    let id = if medium.is_some() {
        "ladder-on"
    } else {
        "ladder"
    };
    args.extend(medium.map(|medium| ("medium", medium.to_owned())));
    m.in_scene(m.text_with(id, &args), ladder.scene)
}

/// A ladder's name in a legend: where a step was run on several media, what distinguishes them.
pub(crate) fn legend(m: &Messages, summary: &Summary, ladder: &LadderSummary) -> String {
    let mut ladders = summary.figures.ladders.iter();
    let several =
        ladders.any(|own| own.step_index == ladder.step_index && own.medium != ladder.medium);
    let Some(medium) = ladder.medium.as_ref().filter(|_| several) else {
        return heading(m, ladder);
    };
    let medium = medium::name(m, medium, ladder.drive.is_some() && !ladder.is_simulated);
    let curve = m.in_scene(medium, ladder.scene);
    let mut ladders = summary.figures.ladders.iter();
    if ladders.all(|own| own.step_index == ladder.step_index) {
        return curve;
    }
    m.text_with(
        "legend-step",
        &[("step", ladder.step.clone()), ("curve", curve)],
    )
}

/// The horizontal axis of charts over the load.
pub(crate) fn load_axis(m: &Messages, is_open: bool) -> ChartAxis {
    let name = m.text(if is_open {
        "chart-offered"
    } else {
        "chart-users"
    });
    ChartAxis {
        tip: format!("{{}} {name}"),
        name,
        is_whole: !is_open,
        ..ChartAxis::default()
    }
}

/// The medium, unless the system is named after it, as one is that plimsoll starts.
pub(crate) fn medium_beside<'a>(system: &str, medium: Option<&'a str>) -> Option<&'a str> {
    medium.filter(|medium| PlacedName::parse(system).medium != Some(*medium))
}

/// Whose latency the main columns show.
pub(crate) fn latency_of(m: &Messages, ladder: &LadderSummary) -> String {
    let latency = m.text_with("ladder-latency-of", &[("txn", main_txn(m, ladder))]);
    if repeated(ladder) {
        format!("{latency} {}", m.text("ladder-repeats"))
    } else {
        latency
    }
}

/// The transaction type whose response times stand beside rates.
pub(crate) fn main_txn(m: &Messages, ladder: &LadderSummary) -> String {
    let tpcc = ladder
        .points
        .iter()
        .find(|point| point.value(FigureId::Nopm).is_some());
    let txn = tpcc.and_then(|point| point.types.first());
    txn.map_or_else(|| m.text("chart-all"), |txn| txn.name.clone())
}

/// The sentence that figures are those of an emulated or simulated drive; empty where there is none.
pub(crate) fn emulated(m: &Messages, ladder: &LadderSummary) -> String {
    let drive = ladder.drive.as_deref();
    drive.map_or_else(String::new, |drive| {
        medium::modeled(m, drive, ladder.is_simulated)
    })
}

type Loads<'a> = Table<'a, LoadView<'a>>;

/// One row for each load.
pub(crate) fn table<'a>() -> Loads<'a> {
    let table = with_load(Table::new("ladder"), LoadView::is_open, LoadView::load)
        .text_column("users", Plain, |v| v.summary.load.users)
        .if_any(LoadView::is_open)
        .column("repeats", Plain, |v| v.summary.repeats())
        .if_any(|v| v.is_repeated);
    rates(table)
        .figures(
            &[FigureId::P50, FigureId::P95, FigureId::P99],
            |v, figure| v.summary.figures.get(figure),
        )
        .column("failed", Whole, |v| v.counted(|p| p.overall.counts.failed))
        .text_column("dropped", Whole, LoadView::dropped)
        .if_any(|v| v.any(|p| p.overall.counts.dropped > 0))
        .page_column("dropped", Whole, LoadView::dropped)
        .column("away", Three, |v| Some(v.point.outage?.server_s))
        .if_any(|v| v.any(|p| p.outage.is_some()))
        .column("retries", Whole, |v| {
            v.counted(|p| p.overall.counts.retries)
        })
        .figure(FigureId::RoundTrips, |v| {
            v.point.value(FigureId::RoundTrips)
        })
        .on_page()
        .figure(FigureId::RolledBack, |v| {
            v.point.value(FigureId::RolledBack)
        })
        .on_page()
        .if_any(|v| v.is_tpcc)
        .text_column("cpu", Whole, |v| v.means.host_cpu_busy_percent)
        .if_any(|v| v.any(|p| p.resources.host_cpu_busy_percent.is_some()))
        .text_column("write", Three, |v| v.means.device_write_mb_per_second)
        .if_any(LoadView::has_writes)
        .text_column("write-ms", Three, |v| v.means.device_write_latency_ms)
        .if_any(LoadView::has_writes)
        .column("steady", Plain, LoadView::steady)
        .page_column("measured", Three, |v| {
            Some(v.point.measured_s).filter(|s| *s > 0.0)
        })
        .column("verdict", Plain, |v| v.summary.verdict)
        .row_class(|v| if v.is_peak { "peak" } else { "" })
        .spare(&[
            "interval-percent",
            "write-ms",
            "retries",
            "tpm-per-user",
            "write",
            "spread",
            "p50",
            "cpu",
        ])
}

/// How sure a rate is: of repeats their interval and spread, of single points half the interval.
fn rates(table: Loads<'_>) -> Loads<'_> {
    table
        .rate(Unit::of, |v| v.is_tpcc, LoadView::rate)
        .figure(FigureId::IntervalPercent, |v| half(v.rate()))
        .unless_any(|v| v.is_repeated)
        .column("interval-of", Whole, |v| interval(v.rate()))
        .if_any(|v| v.is_repeated && v.is_tpcc)
        .column("interval-of", Three, |v| interval(v.rate()))
        .if_any(|v| v.is_repeated && !v.is_tpcc)
        .column("spread", Whole, |v| spread(v.rate()))
        .if_any(|v| v.is_repeated && v.is_tpcc)
        .column("spread", Three, |v| spread(v.rate()))
        .if_any(|v| v.is_repeated && !v.is_tpcc)
        .figure(FigureId::Tpm, |v| v.summary.figures.get(FigureId::Tpm))
        .if_any(|v| v.is_tpcc)
        .figure(FigureId::TpmPerUser, |v| {
            v.point.value(FigureId::TpmPerUser)
        })
        .if_any(|v| v.is_tpcc)
}

/// Means of resources and of the server's counters, those that are known.
pub(crate) fn resources<'a>() -> Loads<'a> {
    let table = with_load(
        Table::new("resources").prefix("column-"),
        LoadView::is_open,
        LoadView::load,
    )
    .column("cpu-busy", Percent, |v| v.means.host_cpu_busy_percent)
    .column("cpu-iowait", Percent, |v| v.means.host_cpu_iowait_percent)
    .column("device", Plain, |v| v.means.device.clone())
    .column("reads", Three, |v| v.means.device_reads_per_second)
    .column("writes", Three, |v| v.means.device_writes_per_second)
    .column("read-mb", Three, |v| v.means.device_read_mb_per_second)
    .column("write-mb", Three, |v| v.means.device_write_mb_per_second)
    .column("read-ms", Three, |v| v.means.device_read_latency_ms)
    .column("write-ms", Three, |v| v.means.device_write_latency_ms)
    .column("queue", Three, |v| v.means.device_queue)
    .column("system-cpu", Percent, |v| v.means.system_cpu_percent)
    .column("system-memory", Three, |v| v.means.system_memory_mb)
    .column("generator-cpu", Percent, |v| v.means.generator_cpu_percent)
    .column("generator-us", Three, |v| v.means.generator_cpu_us_per_txn)
    .figure(FigureId::RoundTrips, |v| {
        v.point.value(FigureId::RoundTrips)
    });
    waits::counters(table, |v| v.point.database.as_ref()).without_empty_columns()
}

/// Times of a transaction type under one load.
pub(crate) struct TxnTimes<'a> {
    view: &'a LoadView<'a>,
    txn: &'a TxnSummary,
    /// Which of its times; empty where there is one kind only.
    kind: &'static str,
    latency: Option<LatencySummary>,
}

impl TxnTimes<'_> {
    fn is_total(&self) -> bool {
        std::ptr::eq(self.txn, &self.view.point.overall)
    }

    fn name(&self, m: &Messages) -> String {
        let name = if self.is_total() {
            m.text("chart-all")
        } else {
            self.txn.name.clone()
        };
        if self.kind.is_empty() {
            name
        } else {
            format!("{name}, {}", m.text(self.kind))
        }
    }
}

/// One row for each point and type, service times beneath where they differ.
pub(crate) fn latency<'a>() -> Table<'a, TxnTimes<'a>> {
    with_load(
        Table::new("latency").prefix("column-"),
        |r: &TxnTimes<'_>| r.view.is_open(),
        |r| r.view.load(),
    )
    .message("type", Words, TxnTimes::name)
    .column("count", Whole, |r| {
        (r.view.point.measured_s > 0.0).then(|| r.txn.counts.completed())
    })
    .column("share", Percent, |r| r.txn.share_percent)
    .figure(FigureId::Mean, |r| Some(r.latency?.mean_ms))
    .figures(&LatencySummary::KEPT, |r, figure| {
        percentile(r.latency?, figure)
    })
    .figure(FigureId::Max, |r| Some(r.latency?.max_ms))
    .row_class(|r| if r.is_total() { "total" } else { "" })
}

fn percentile(latency: LatencySummary, figure: FigureId) -> Option<TableCell> {
    let resolved = latency.resolves(figure.share()?);
    let value = CellValue::Number(latency.ms(figure)?);
    Some(TableCell::from(value).styled(if resolved { "" } else { "weak" }))
}

pub(crate) fn txn_times<'a>(views: &'a [LoadView<'a>]) -> Vec<TxnTimes<'a>> {
    let mut rows = Vec::new();
    for view in views {
        for txn in view.point.types.iter().chain([&view.point.overall]) {
            let kinds = [
                ("detail-response", txn.response),
                ("detail-service", txn.service),
            ];
            let kinds = match txn.service {
                Some(_) => kinds.to_vec(),
                None => vec![("", txn.response)],
            };
            rows.extend(kinds.into_iter().map(|(kind, latency)| TxnTimes {
                view,
                txn,
                kind,
                latency,
            }));
        }
    }
    rows
}
