//! The tables of the report.

use plimsoll_model::record::Record;
use plimsoll_model::summary::{Ladder, Latency, PointSummary, TxnSummary};

use super::{cell, waits};
use crate::export;
use crate::message::Messages;
use crate::number::{NONE, percent, three, whole};
use crate::text;

/// Text with how it is to be shown.
pub(super) struct Cell {
    pub text: String,
    /// Names of style classes.
    pub class: &'static str,
}

pub(super) struct Row {
    pub class: &'static str,
    pub cells: Vec<Cell>,
}

/// A table. The first cell of a row is its heading.
pub(super) struct Grid {
    pub header: Vec<Cell>,
    pub rows: Vec<Row>,
}

pub(super) struct LadderView {
    pub heading: String,
    /// What is emulated below it; empty where nothing is.
    pub drive: String,
    pub latency_of: String,
    pub ladder: Grid,
    pub latency: Grid,
    pub resources: Grid,
    /// Whether a figure about the generator is missing because the system runs inside it.
    pub embedded: bool,
}

pub(super) fn plain(text: String) -> Cell {
    Cell { text, class: "" }
}

pub(super) fn words(text: String) -> Cell {
    Cell { text, class: "words" }
}

/// Columns that hold words and not numbers stand left.
const WORDS: [&str; 11] = [
    "column-state",
    "column-waits-for",
    "column-type",
    "column-severity",
    "column-subject",
    "column-event",
    "column-text",
    "column-medium",
    "column-op",
    "column-txn",
    "column-first-lost",
];

pub(super) fn head(m: &Messages, id: &str) -> Cell {
    Cell { text: m.say(id), class: if WORDS.contains(&id) { "words" } else { "" } }
}

/// The heading of the column that [`load`] fills.
pub(super) fn load_head(m: &Messages, ladder: &Ladder) -> Cell {
    let open = ladder.points.iter().any(|p| p.offered_per_second.is_some());
    head(m, if open { "column-offered" } else { "column-users" })
}

/// The sentence that figures are those of an emulated drive.
pub(super) fn emulated(m: &Messages, ladder: &Ladder) -> String {
    ladder.drive.as_ref().map(|drive| m.say_with("emulated-drive", &[("drive", drive.clone())])).unwrap_or_default()
}

pub(super) type Column = (&'static str, fn(&PointSummary) -> String);

impl LadderView {
    pub fn new(m: &Messages, ladder: &Ladder) -> Self {
        Self {
            heading: text::heading(m, ladder),
            drive: emulated(m, ladder),
            latency_of: text::latency_of(m, ladder),
            ladder: points(m, ladder, &ladder_columns(ladder), true),
            latency: latency(m, ladder),
            resources: points(m, ladder, &resource_columns(ladder), false),
            embedded: ladder.points.iter().any(|point| point.resources.generator_cpu_withheld.is_some()),
        }
    }
}

/// One row for each point: how hard it was loaded, the columns, and the verdict where wanted.
fn points(m: &Messages, ladder: &Ladder, columns: &[Column], verdict: bool) -> Grid {
    let mut header = vec![load_head(m, ladder)];
    header.extend(columns.iter().map(|(id, _)| head(m, id)));
    if verdict {
        header.push(head(m, "column-verdict"));
    }
    let row = |(i, point): (usize, &PointSummary)| {
        let mut cells = vec![plain(load(point))];
        cells.extend(columns.iter().map(|(_, of)| plain(of(point))));
        if verdict {
            let text = m.say(&format!("verdict-{}", point.verdict.name()));
            cells.push(Cell { text, class: point.verdict.name() });
        }
        Row { class: if verdict && ladder.peak == Some(i) { "peak" } else { "" }, cells }
    };
    Grid { header, rows: ladder.points.iter().enumerate().map(row).collect() }
}

pub(super) fn load(point: &PointSummary) -> String {
    point.offered_per_second.map_or_else(|| point.users.to_string(), three)
}

fn ladder_columns(ladder: &Ladder) -> Vec<Column> {
    let tpcc = ladder.points.iter().all(|p| p.tpm.is_some() || p.completed_per_second.is_none());
    let mut columns: Vec<Column> = if tpcc {
        vec![
            ("column-nopm", |p| cell(p.nopm, whole)),
            ("column-interval", |p| cell(p.nopm_interval.and_then(|i| i.relative()).map(|r| r * 100.0), percent)),
            ("column-tpm", |p| cell(p.tpm, whole)),
            ("column-tpm-user", |p| cell(p.tpm_per_user, whole)),
        ]
    } else {
        vec![
            ("column-rate", |p| cell(p.completed_per_second, three)),
            ("column-interval", |p| cell(p.rate_interval.and_then(|i| i.relative()).map(|r| r * 100.0), percent)),
        ]
    };
    columns.extend::<[Column; 7]>([
        ("column-p50", |p| cell(text::main_latency(p).map(|l| l.p50_ms), three)),
        ("column-p95", |p| cell(text::main_latency(p).map(|l| l.p95_ms), three)),
        ("column-p99", |p| cell(text::main_latency(p).map(|l| l.p99_ms), three)),
        ("column-failed", |p| text::counted(p, p.overall.counts.failed)),
        ("column-dropped", |p| text::counted(p, p.overall.counts.dropped)),
        ("column-retries", |p| text::counted(p, p.overall.counts.retries)),
        ("column-round-trips", |p| cell(p.round_trips_per_txn, three)),
    ]);
    if tpcc {
        columns.push(("column-rolled-back", |p| cell(p.rolled_back_new_orders_percent, percent)));
    }
    columns.push(("column-drift", |p| cell(p.drift.map(|d| d * 100.0), |v| format!("{v:+.1}"))));
    columns.push(("column-measured", |p| cell(Some(p.measured_s).filter(|s| *s > 0.0), three)));
    columns
}

fn resource_columns(ladder: &Ladder) -> Vec<Column> {
    let all: [Column; 15] = [
        ("column-cpu-busy", |p| cell(p.resources.host_cpu_busy_percent, percent)),
        ("column-cpu-iowait", |p| cell(p.resources.host_cpu_iowait_percent, percent)),
        ("column-device", |p| p.resources.device.clone().unwrap_or_else(|| NONE.to_owned())),
        ("column-reads", |p| cell(p.resources.device_reads_per_second, three)),
        ("column-writes", |p| cell(p.resources.device_writes_per_second, three)),
        ("column-read-mb", |p| cell(p.resources.device_read_mb_per_second, three)),
        ("column-write-mb", |p| cell(p.resources.device_write_mb_per_second, three)),
        ("column-read-ms", |p| cell(p.resources.device_read_latency_ms, three)),
        ("column-write-ms", |p| cell(p.resources.device_write_latency_ms, three)),
        ("column-queue", |p| cell(p.resources.device_queue, three)),
        ("column-system-cpu", |p| cell(p.resources.system_cpu_percent, percent)),
        ("column-system-memory", |p| cell(p.resources.system_memory_mb, three)),
        ("column-generator-cpu", |p| cell(p.resources.generator_cpu_percent, percent)),
        ("column-generator-us", |p| cell(p.resources.generator_cpu_us_per_txn, three)),
        ("column-round-trips", |p| cell(p.round_trips_per_txn, three)),
    ];
    // Columns that say nothing about any point are left out.
    all.into_iter()
        .chain(waits::COUNTERS)
        .filter(|(_, of)| ladder.points.iter().any(|point| of(point) != NONE))
        .collect()
}

/// One row for each point and type, service times beneath where they differ.
fn latency(m: &Messages, ladder: &Ladder) -> Grid {
    let ids = ["column-type", "column-count", "column-share", "column-mean"];
    let quantiles = ["p50", "p90", "p95", "p99", "p99.9"].map(|name| plain(name.to_owned()));
    let mut header = vec![load_head(m, ladder)];
    header.extend(ids.map(|id| head(m, id)));
    header.extend(quantiles);
    header.push(head(m, "column-max"));
    let mut rows = Vec::new();
    for point in &ladder.points {
        for txn in point.types.iter().chain([&point.overall]) {
            rows.extend(txn_rows(m, point, txn));
        }
    }
    Grid { header, rows }
}

fn txn_rows(m: &Messages, point: &PointSummary, txn: &TxnSummary) -> Vec<Row> {
    let overall = std::ptr::eq(txn, &point.overall);
    let name = if overall { m.say("chart-all") } else { txn.name.clone() };
    let class = if overall { "total" } else { "" };
    let row = |name: String, latency: Option<Latency>| {
        let mut cells = vec![plain(load(point)), words(name), plain(text::counted(point, txn.counts.completed()))];
        cells.push(plain(cell(txn.share_percent, percent)));
        cells.push(plain(cell(latency.map(|l| l.mean_ms), three)));
        for (i, q) in Latency::QUANTILES.into_iter().enumerate() {
            let class = if latency.is_some_and(|l| !l.resolves(q)) { "weak" } else { "" };
            cells.push(Cell { text: cell(latency.map(|l| l.quantiles()[i]), three), class });
        }
        cells.push(plain(cell(latency.map(|l| l.max_ms), three)));
        Row { class, cells }
    };
    match txn.service {
        None => vec![row(name, txn.response)],
        Some(service) => vec![
            row(format!("{name}, {}", m.say("detail-response")), txn.response),
            row(format!("{name}, {}", m.say("detail-service")), Some(service)),
        ],
    }
}

pub(super) fn events(m: &Messages, record: &Record) -> Grid {
    let ids = ["column-at", "column-severity", "column-subject", "column-event", "column-text"];
    let row = |event: &plimsoll_model::record::Event| Row {
        class: "",
        cells: vec![
            plain(format!("{:.1}", event.at.as_secs_f64())),
            words(m.say(&format!("severity-{}", event.severity.name()))),
            words(event.subject.map_or_else(|| NONE.to_owned(), |id| export::name(record, id).to_owned())),
            words(event.code.clone()),
            words(event.text.clone()),
        ],
    };
    Grid { header: ids.map(|id| head(m, id)).into(), rows: record.events.iter().map(row).collect() }
}
