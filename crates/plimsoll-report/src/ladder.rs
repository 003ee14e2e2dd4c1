//! A ladder in words, and its tables.

use plimsoll_analysis::summary::{Ladder, Latency, LoadSummary, PointSummary, TxnSummary};

use crate::load_summary::{LoadView, half, interval, load_id, repeated, spread, views};
use crate::message::Messages;
use crate::table::Unit::{Percent, Plain, Three, Whole, Words};
use crate::table::{Cell, Grid, Table, Value};
use crate::waits;

pub(crate) fn heading(m: &Messages, ladder: &Ladder) -> String {
    let mut args = vec![
        ("step", ladder.step.clone()),
        ("system", ladder.system.clone()),
        ("mode", ladder.mode.clone()),
    ];
    // A system that plimsoll starts is named after its medium already.
    let medium = ladder.medium.as_ref();
    let medium = medium.filter(|medium| !ladder.system.ends_with(&format!("@{medium}")));
    let id = if medium.is_some() {
        "ladder-on"
    } else {
        "ladder"
    };
    args.extend(medium.map(|medium| ("medium", medium.clone())));
    m.in_scene(m.text_with(id, &args), ladder.scene)
}

/// Whose latency the main columns show.
pub(crate) fn latency_of(m: &Messages, ladder: &Ladder) -> String {
    let latency = m.text_with("ladder-latency-of", &[("txn", main_txn(m, ladder))]);
    if repeated(ladder) {
        format!("{latency} {}", m.text("ladder-repeats"))
    } else {
        latency
    }
}

/// The transaction type whose response times stand beside rates.
pub(crate) fn main_txn(m: &Messages, ladder: &Ladder) -> String {
    let tpcc = ladder.points.iter().find(|point| point.nopm.is_some());
    let txn = tpcc.and_then(|point| point.types.first());
    txn.map_or_else(|| m.text("chart-all"), |txn| txn.name.clone())
}

/// The sentence that figures are those of an emulated drive.
pub(crate) fn emulated(m: &Messages, ladder: &Ladder) -> Option<String> {
    let drive = ladder.drive.clone()?;
    Some(m.text_with("emulated-drive", &[("drive", drive)]))
}

type Loads<'a> = Table<'a, LoadView<'a>>;

/// One row for each load.
pub(crate) fn table(ladder: &Ladder) -> Loads<'_> {
    let any_load = |has: fn(&LoadSummary) -> bool| ladder.loads.iter().any(has);
    let any = |has: fn(&PointSummary) -> bool| ladder.points.iter().any(has);
    let is_tpcc = any_load(|load| load.tpm.is_some())
        || !any_load(|load| load.completed_per_second.is_some());
    let table = Loads::new()
        .column(load_id(ladder), Plain, LoadView::load)
        .text_column("users", Plain, |v| v.rung.users)
        .when(load_id(ladder) == "offered")
        .column("repeats", Plain, |v| v.rung.repeats())
        .when(repeated(ladder));
    let table = if is_tpcc {
        tpcc_rate(table, repeated(ladder))
    } else {
        rate(table, repeated(ladder))
    };
    table
        .column("p50", Three, |v| v.rung.p50_ms)
        .column("p95", Three, |v| v.rung.p95_ms)
        .column("p99", Three, |v| v.rung.p99_ms)
        .column("failed", Whole, |v| v.counted(|p| p.overall.counts.failed))
        .text_column("dropped", Whole, |v| {
            v.counted(|p| p.overall.counts.dropped)
        })
        .when(any(|p| p.overall.counts.dropped > 0))
        .page_column("dropped", Whole, |v| {
            v.counted(|p| p.overall.counts.dropped)
        })
        .column("away", Three, |v| v.point.outage.map(|own| own.server_s))
        .when(any(|p| p.outage.is_some()))
        .column("retries", Whole, |v| {
            v.counted(|p| p.overall.counts.retries)
        })
        .page_column("round-trips", Three, |v| v.point.round_trips_per_txn)
        .page_column("rolled-back", Percent, |v| {
            v.point.rolled_back_new_orders_percent
        })
        .when(is_tpcc)
        .text_column("cpu", Whole, |v| v.point.resources.host_cpu_busy_percent)
        .when(any(|p| p.resources.host_cpu_busy_percent.is_some()))
        .text_column("write", Three, |v| {
            v.point.resources.device_write_mb_per_second
        })
        .when(any(|p| p.resources.device_write_mb_per_second.is_some()))
        .text_column("write-ms", Three, |v| {
            v.point.resources.device_write_latency_ms
        })
        .when(any(|p| p.resources.device_write_mb_per_second.is_some()))
        .column("steady", Plain, LoadView::steady)
        .page_column("measured", Three, |v| {
            Some(v.point.measured_s).filter(|s| *s > 0.0)
        })
        .column("verdict", Plain, |v| v.rung.verdict)
        .row_class(|v| if v.is_peak { "peak" } else { "" })
        .spare(&[
            "interval", "write-ms", "retries", "tpm-user", "write", "spread", "p50", "cpu",
        ])
}

/// How sure a rate is: of repeats their interval and spread, of single points half the interval.
fn tpcc_rate(table: Loads<'_>, repeated: bool) -> Loads<'_> {
    table
        .column("nopm", Whole, |v| v.rung.nopm)
        .column("interval", Percent, |v| half(v.rung.nopm))
        .when(!repeated)
        .column("interval-of", Whole, |v| interval(v.rung.nopm))
        .when(repeated)
        .column("spread", Whole, |v| spread(v.rung.nopm))
        .when(repeated)
        .column("tpm", Whole, |v| v.rung.tpm)
        .column("tpm-user", Whole, |v| v.point.tpm_per_user)
}

fn rate(table: Loads<'_>, repeated: bool) -> Loads<'_> {
    table
        .column("rate", Three, |v| v.rung.completed_per_second)
        .column("interval", Percent, |v| half(v.rung.completed_per_second))
        .when(!repeated)
        .column("interval-of", Three, |v| {
            interval(v.rung.completed_per_second)
        })
        .when(repeated)
        .column("spread", Three, |v| spread(v.rung.completed_per_second))
        .when(repeated)
}

/// Means of resources and of the server's counters, those that are known.
pub(crate) fn resources(m: &Messages, ladder: &Ladder) -> Grid {
    let table = Loads::new()
        .column(load_id(ladder), Plain, LoadView::load)
        .column("cpu-busy", Percent, |v| {
            v.point.resources.host_cpu_busy_percent
        })
        .column("cpu-iowait", Percent, |v| {
            v.point.resources.host_cpu_iowait_percent
        })
        .column("device", Plain, |v| v.point.resources.device.clone())
        .column("reads", Three, |v| {
            v.point.resources.device_reads_per_second
        })
        .column("writes", Three, |v| {
            v.point.resources.device_writes_per_second
        })
        .column("read-mb", Three, |v| {
            v.point.resources.device_read_mb_per_second
        })
        .column("write-mb", Three, |v| {
            v.point.resources.device_write_mb_per_second
        })
        .column("read-ms", Three, |v| {
            v.point.resources.device_read_latency_ms
        })
        .column("write-ms", Three, |v| {
            v.point.resources.device_write_latency_ms
        })
        .column("queue", Three, |v| v.point.resources.device_queue)
        .column("system-cpu", Percent, |v| {
            v.point.resources.system_cpu_percent
        })
        .column("system-memory", Three, |v| {
            v.point.resources.system_memory_mb
        })
        .column("generator-cpu", Percent, |v| {
            v.point.resources.generator_cpu_percent
        })
        .column("generator-us", Three, |v| {
            v.point.resources.generator_cpu_us_per_txn
        })
        .column("round-trips", Three, |v| v.point.round_trips_per_txn);
    waits::counters(table, |v| v.point.database.as_ref())
        .without_empty_columns()
        .to_grid(m, &views(ladder))
}

/// Times of a transaction type under one load.
struct TxnTimes<'a> {
    load: String,
    name: String,
    txn: &'a TxnSummary,
    latency: Option<Latency>,
    is_measured: bool,
    is_total: bool,
}

/// One row for each point and type, service times beneath where they differ.
pub(crate) fn latency(m: &Messages, ladder: &Ladder) -> Grid {
    let views = views(ladder);
    let rows: Vec<TxnTimes<'_>> = views.iter().flat_map(|view| txn_times(m, view)).collect();
    let table = Table::new()
        .column(load_id(ladder), Plain, |r: &TxnTimes<'_>| r.load.clone())
        .column("type", Words, |r| r.name.clone())
        .column("count", Whole, |r| {
            r.is_measured.then(|| r.txn.counts.completed())
        })
        .column("share", Percent, |r| r.txn.share_percent)
        .column("mean", Three, |r| r.latency.map(|l| l.mean_ms));
    let quantiles = ["p50", "p90", "p95", "p99", "p99.9"]
        .into_iter()
        .enumerate();
    let table = quantiles.fold(table, |table, (place, name)| {
        let value = move |r: &TxnTimes<'_>| r.latency.map(|own| quantile(own, place));
        table.column(name, Three, value).named(name)
    });
    table
        .column("max", Three, |r| r.latency.map(|l| l.max_ms))
        .row_class(|r| if r.is_total { "total" } else { "" })
        .to_grid(m, &rows)
}

fn quantile(latency: Latency, place: usize) -> Cell {
    let resolved = latency.resolves(Latency::QUANTILES[place]);
    let value = Value::Number(latency.quantiles()[place]);
    Cell::from(value).styled(if resolved { "" } else { "weak" })
}

fn txn_times<'a>(m: &Messages, view: &LoadView<'a>) -> Vec<TxnTimes<'a>> {
    let point = view.point;
    let mut rows = Vec::new();
    for txn in point.types.iter().chain([&point.overall]) {
        let is_total = std::ptr::eq(txn, &point.overall);
        let name = if is_total {
            m.text("chart-all")
        } else {
            txn.name.clone()
        };
        let row = |name, latency| TxnTimes {
            load: view.load(),
            name,
            txn,
            latency,
            is_measured: point.measured_s > 0.0,
            is_total,
        };
        if txn.service.is_none() {
            rows.push(row(name, txn.response));
            continue;
        }
        for (id, latency) in [
            ("detail-response", txn.response),
            ("detail-service", txn.service),
        ] {
            rows.push(row(format!("{name}, {}", m.text(id)), latency));
        }
    }
    rows
}
