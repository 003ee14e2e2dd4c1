//! The tables of the report.

use plimsoll_analysis::summary::{Figure, Ladder, Latency, PointSummary, TxnSummary};
use plimsoll_record::Record;

use super::{cell, waits};
use crate::export;
use crate::load_summary::{self, LoadView};
use crate::message::Messages;
use crate::number::{NONE, percent, three, whole};
use crate::{scaling, text};

/// Text with how it is to be shown.
#[derive(Clone)]
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
    /// How it scales, and the law beside what was measured.
    pub scaling: Vec<String>,
    pub scaled: Grid,
    /// Whether a figure about the generator is missing because the system runs inside it.
    pub embedded: bool,
}

pub(super) fn plain(text: String) -> Cell {
    Cell { text, class: "" }
}

pub(super) fn words(text: String) -> Cell {
    Cell {
        text,
        class: "words",
    }
}

/// Columns that hold words and not numbers stand left.
const WORDS: [&str; 28] = [
    "column-rule",
    "column-evidence",
    "column-because",
    "column-outcome",
    "column-why",
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
    "column-job",
    "column-drive",
    "column-stream",
    "column-size-of",
    "column-depth",
    "column-access",
    "column-cache",
    "column-durable",
    "column-level",
    "column-check",
    "column-found",
    "column-next",
];

pub(super) fn head(m: &Messages, id: &str) -> Cell {
    Cell {
        text: m.text(id),
        class: if WORDS.contains(&id) { "words" } else { "" },
    }
}

/// The heading of the column that [`load`] fills.
pub(super) fn load_head(m: &Messages, ladder: &Ladder) -> Cell {
    let open = ladder.points.iter().any(|p| p.offered_per_second.is_some());
    head(
        m,
        if open {
            "column-offered"
        } else {
            "column-users"
        },
    )
}

/// The sentence that figures are those of an emulated drive.
pub(super) fn emulated(m: &Messages, ladder: &Ladder) -> String {
    ladder
        .drive
        .as_ref()
        .map(|drive| m.text_with("emulated-drive", &[("drive", drive.clone())]))
        .unwrap_or_default()
}

pub(super) type Column = (&'static str, fn(&Messages, &LoadView<'_>) -> String);

impl LadderView {
    pub fn new(m: &Messages, ladder: &Ladder) -> Self {
        Self {
            heading: text::heading(m, ladder),
            drive: emulated(m, ladder),
            latency_of: text::latency_of(m, ladder),
            ladder: rungs(m, ladder, &ladder_columns(ladder), true),
            latency: latency(m, ladder),
            resources: rungs(m, ladder, &resource_columns(m, ladder), false),
            scaling: scaling::describe(m, ladder),
            scaled: scaled(m, ladder),
            embedded: ladder
                .points
                .iter()
                .any(|point| point.resources.generator_cpu_withheld.is_some()),
        }
    }
}

fn scaled(m: &Messages, ladder: &Ladder) -> Grid {
    let header = scaling::COLUMNS
        .iter()
        .map(|id| plain(m.text(&format!("scaling-{id}"))))
        .collect();
    let row = |cells: [String; 4]| Row {
        class: "",
        cells: cells.into_iter().map(plain).collect(),
    };
    Grid {
        header,
        rows: scaling::rows(ladder).into_iter().map(row).collect(),
    }
}

/// One row for each load: how hard it was, the columns, and the verdict where wanted.
fn rungs(m: &Messages, ladder: &Ladder, columns: &[Column], verdict: bool) -> Grid {
    let mut header = vec![load_head(m, ladder)];
    header.extend(columns.iter().map(|(id, _)| head(m, id)));
    if verdict {
        header.push(head(m, "column-verdict"));
    }
    let row = |(i, view): (usize, &LoadView<'_>)| {
        let mut cells = vec![plain(view.load())];
        cells.extend(columns.iter().map(|(_, of)| plain(of(m, view))));
        if verdict {
            let name = view.rung.verdict.name();
            cells.push(Cell {
                text: m.text(&format!("verdict-{name}")),
                class: name,
            });
        }
        Row {
            class: if verdict && ladder.peak == Some(i) {
                "peak"
            } else {
                ""
            },
            cells,
        }
    };
    Grid {
        header,
        rows: load_summary::views(ladder)
            .iter()
            .enumerate()
            .map(row)
            .collect(),
    }
}

/// How hard a single point was loaded, and which repeat it is.
pub(super) fn load(point: &PointSummary) -> String {
    let load = load_summary::load(
        point.users,
        point.offered_per_second,
        point.offered_to_per_second,
    );
    if point.repeat == 0 {
        load
    } else {
        format!("{load} (#{})", point.repeat + 1)
    }
}

fn median(figure: Option<Figure>, format: fn(f64) -> String) -> String {
    cell(figure.map(|figure| figure.median), format)
}

fn ladder_columns(ladder: &Ladder) -> Vec<Column> {
    let tpcc = ladder
        .rungs
        .iter()
        .all(|r| r.tpm.is_some() || r.completed_per_second.is_none());
    let mut columns: Vec<Column> = Vec::new();
    if load_summary::repeated(ladder) {
        columns.push(("column-repeats", |_, v| v.rung.repeats().to_string()));
    }
    columns.extend(if tpcc {
        tpcc_columns(ladder)
    } else {
        rate_columns(ladder)
    });
    columns.extend::<[Column; 7]>([
        ("column-p50", |_, v| median(v.rung.p50_ms, three)),
        ("column-p95", |_, v| median(v.rung.p95_ms, three)),
        ("column-p99", |_, v| median(v.rung.p99_ms, three)),
        ("column-failed", |_, v| {
            v.counted(|p| p.overall.counts.failed)
        }),
        ("column-dropped", |_, v| {
            v.counted(|p| p.overall.counts.dropped)
        }),
        ("column-retries", |_, v| {
            v.counted(|p| p.overall.counts.retries)
        }),
        ("column-round-trips", |_, v| {
            cell(v.point.round_trips_per_txn, three)
        }),
    ]);
    if ladder.points.iter().any(|point| point.outage.is_some()) {
        columns.push(("column-away", |_, v| {
            cell(v.point.outage.map(|outage| outage.server_s), three)
        }));
    }
    if tpcc {
        columns.push(("column-rolled-back", |_, v| {
            cell(v.point.rolled_back_new_orders_percent, percent)
        }));
    }
    columns.push(("column-steady", |m, v| v.steady(m)));
    columns.push(("column-measured", |_, v| {
        cell(Some(v.point.measured_s).filter(|s| *s > 0.0), three)
    }));
    columns
}

fn tpcc_columns(ladder: &Ladder) -> Vec<Column> {
    let mut columns: Vec<Column> = vec![("column-nopm", |_, v| median(v.rung.nopm, whole))];
    if load_summary::repeated(ladder) {
        columns.push(("column-interval-of", |_, v| {
            load_summary::interval(v.rung.nopm, whole)
        }));
        columns.push(("column-spread", |_, v| {
            load_summary::spread(v.rung.nopm, whole)
        }));
    } else {
        columns.push(("column-interval", |_, v| load_summary::half(v.rung.nopm)));
    }
    columns.push(("column-tpm", |_, v| median(v.rung.tpm, whole)));
    columns.push(("column-tpm-user", |_, v| cell(v.point.tpm_per_user, whole)));
    columns
}

fn rate_columns(ladder: &Ladder) -> Vec<Column> {
    let mut columns: Vec<Column> = vec![("column-rate", |_, v| {
        median(v.rung.completed_per_second, three)
    })];
    if load_summary::repeated(ladder) {
        columns.push(("column-interval-of", |_, v| {
            load_summary::interval(v.rung.completed_per_second, three)
        }));
        columns.push(("column-spread", |_, v| {
            load_summary::spread(v.rung.completed_per_second, three)
        }));
    } else {
        columns.push(("column-interval", |_, v| {
            load_summary::half(v.rung.completed_per_second)
        }));
    }
    columns
}

fn resource_columns(m: &Messages, ladder: &Ladder) -> Vec<Column> {
    let all: [Column; 15] = [
        ("column-cpu-busy", |_, v| {
            cell(v.point.resources.host_cpu_busy_percent, percent)
        }),
        ("column-cpu-iowait", |_, v| {
            cell(v.point.resources.host_cpu_iowait_percent, percent)
        }),
        ("column-device", |_, v| {
            v.point
                .resources
                .device
                .clone()
                .unwrap_or_else(|| NONE.to_owned())
        }),
        ("column-reads", |_, v| {
            cell(v.point.resources.device_reads_per_second, three)
        }),
        ("column-writes", |_, v| {
            cell(v.point.resources.device_writes_per_second, three)
        }),
        ("column-read-mb", |_, v| {
            cell(v.point.resources.device_read_mb_per_second, three)
        }),
        ("column-write-mb", |_, v| {
            cell(v.point.resources.device_write_mb_per_second, three)
        }),
        ("column-read-ms", |_, v| {
            cell(v.point.resources.device_read_latency_ms, three)
        }),
        ("column-write-ms", |_, v| {
            cell(v.point.resources.device_write_latency_ms, three)
        }),
        ("column-queue", |_, v| {
            cell(v.point.resources.device_queue, three)
        }),
        ("column-system-cpu", |_, v| {
            cell(v.point.resources.system_cpu_percent, percent)
        }),
        ("column-system-memory", |_, v| {
            cell(v.point.resources.system_memory_mb, three)
        }),
        ("column-generator-cpu", |_, v| {
            cell(v.point.resources.generator_cpu_percent, percent)
        }),
        ("column-generator-us", |_, v| {
            cell(v.point.resources.generator_cpu_us_per_txn, three)
        }),
        ("column-round-trips", |_, v| {
            cell(v.point.round_trips_per_txn, three)
        }),
    ];
    // Columns without a value at any load are left out.
    let views = load_summary::views(ladder);
    let all = all.into_iter().chain(waits::COUNTERS);
    all.filter(|(_, of)| views.iter().any(|view| of(m, view) != NONE))
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
    for view in load_summary::views(ladder) {
        for txn in view.point.types.iter().chain([&view.point.overall]) {
            rows.extend(txn_rows(m, &view, txn));
        }
    }
    Grid { header, rows }
}

fn txn_rows(m: &Messages, view: &LoadView<'_>, txn: &TxnSummary) -> Vec<Row> {
    let point = view.point;
    let overall = std::ptr::eq(txn, &point.overall);
    let name = if overall {
        m.text("chart-all")
    } else {
        txn.name.clone()
    };
    let class = if overall { "total" } else { "" };
    let row = |name: String, latency: Option<Latency>| {
        let completed = Some(txn.counts.completed() as f64).filter(|_| point.measured_s > 0.0);
        let mut cells = vec![
            plain(view.load()),
            words(name),
            plain(cell(completed, whole)),
        ];
        cells.push(plain(cell(txn.share_percent, percent)));
        cells.push(plain(cell(latency.map(|l| l.mean_ms), three)));
        for (i, q) in Latency::QUANTILES.into_iter().enumerate() {
            let class = if latency.is_some_and(|l| !l.resolves(q)) {
                "weak"
            } else {
                ""
            };
            cells.push(Cell {
                text: cell(latency.map(|l| l.quantiles()[i]), three),
                class,
            });
        }
        cells.push(plain(cell(latency.map(|l| l.max_ms), three)));
        Row { class, cells }
    };
    match txn.service {
        None => vec![row(name, txn.response)],
        Some(service) => vec![
            row(
                format!("{name}, {}", m.text("detail-response")),
                txn.response,
            ),
            row(
                format!("{name}, {}", m.text("detail-service")),
                Some(service),
            ),
        ],
    }
}

pub(super) fn events(m: &Messages, record: &Record) -> Grid {
    let ids = [
        "column-at",
        "column-severity",
        "column-subject",
        "column-event",
        "column-text",
    ];
    let row = |event: &plimsoll_record::Event| Row {
        class: "",
        cells: vec![
            plain(format!("{:.1}", event.at.as_secs_f64())),
            words(m.text(&format!("severity-{}", event.severity.name()))),
            words(
                event
                    .subject
                    .map_or_else(|| NONE.to_owned(), |id| export::name(record, id).to_owned()),
            ),
            words(event.code.clone()),
            words(event.text.clone()),
        ],
    };
    Grid {
        header: ids.map(|id| head(m, id)).into(),
        rows: record.events.iter().map(row).collect(),
    }
}
