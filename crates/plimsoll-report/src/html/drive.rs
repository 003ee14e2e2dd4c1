//! The report's tables of emulated drives, power cuts and media side by side.

use plimsoll_analysis::summary::{DriveOpSummary, DriveSummary, DriveTimes, Ladder, Summary};
use plimsoll_record::drive::DriveOp;

use super::cell;
use super::tables::{Cell, Grid, Row, head, load, load_head, plain, words};
use crate::cut::{self, CutText};
use crate::message::Messages;
use crate::number::{percent, three};
use crate::{compare, text};

pub(super) struct ComparisonView {
    pub heading: String,
    pub note: String,
    pub grid: Grid,
}

pub(super) struct CutView {
    pub cut: CutText,
    pub receipts: Grid,
}

pub(super) struct DriveView {
    pub heading: String,
    pub drive: String,
    pub grid: Grid,
}

pub(super) fn comparisons(m: &Messages, summary: &Summary) -> Vec<ComparisonView> {
    let view = |comparison| {
        let columns = compare::columns(comparison);
        let header = columns.map(|id| head(m, &format!("column-{id}")));
        let row = |row: compare::ComparedRow| {
            let verdict = row.verdict;
            let cells = row
                .cells
                .into_iter()
                .zip(columns)
                .map(|(text, id)| match id {
                    "medium" => words(text),
                    "verdict" => Cell {
                        text,
                        class: verdict,
                    },
                    _ => plain(text),
                });
            Row {
                class: if row.last { "group" } else { "" },
                cells: cells.collect(),
            }
        };
        ComparisonView {
            heading: compare::heading(m, comparison),
            note: compare::note(m, comparison),
            grid: Grid {
                header: header.into(),
                rows: compare::rows(m, comparison).into_iter().map(row).collect(),
            },
        }
    };
    summary.comparisons.iter().map(view).collect()
}

pub(super) fn cuts(m: &Messages, summary: &Summary) -> Vec<CutView> {
    let view = |cut: CutText| {
        let row = |cells: &[String; 5]| {
            let [txn, acknowledged, lost, in_doubt, first] = cells.clone();
            let class = if lost == "0" { "sound" } else { "invalid" };
            let lost = Cell { text: lost, class };
            Row {
                class: "",
                cells: vec![
                    words(txn),
                    plain(acknowledged),
                    lost,
                    plain(in_doubt),
                    words(first),
                ],
            }
        };
        let receipts = Grid {
            header: cut::COLUMNS
                .map(|id| head(m, &format!("column-{id}")))
                .into(),
            rows: cut.receipts.iter().map(row).collect(),
        };
        CutView { cut, receipts }
    };
    cut::describe(m, summary).into_iter().map(view).collect()
}

/// One for each ladder on an emulated medium.
pub(super) fn drives(m: &Messages, summary: &Summary) -> Vec<DriveView> {
    let view = |ladder: &Ladder| {
        let drive = ladder.drive.clone()?;
        let points = ladder
            .points
            .iter()
            .filter_map(|point| Some((point, point.drive.as_ref()?)));
        let rows: Vec<Row> = points
            .flat_map(|(point, drive)| rows(m, &[plain(load(point))], drive))
            .collect();
        let header = header(m, vec![load_head(m, ladder)]);
        let drive = m.text_with("emulated-drive", &[("drive", drive)]);
        (!rows.is_empty()).then(|| DriveView {
            heading: text::heading(m, ladder),
            drive,
            grid: Grid { header, rows },
        })
    };
    summary.ladders.iter().filter_map(view).collect()
}

type Column = (
    &'static str,
    fn(&Messages, &DriveSummary, &DriveOpSummary) -> Cell,
);

const COLUMNS: [Column; 15] = [
    ("column-op", |m, _, op| {
        words(m.text(&format!("op-{}", op.op.name())))
    }),
    ("column-rate-s", |_, _, op| {
        plain(cell(op.per_second, three))
    }),
    ("column-mb-s", |_, _, op| {
        plain(cell(op.mb_per_second.filter(|mb| *mb > 0.0), three))
    }),
    ("column-modelled-mean", |_, _, op| {
        plain(ms(op.modelled.map(|t| t.mean_us)))
    }),
    ("column-real-mean", |_, _, op| {
        plain(ms(op.real.map(|t| t.mean_us)))
    }),
    ("column-host-mean", |_, drive, op| {
        plain(ms(host(drive, op.op)))
    }),
    ("column-modelled-p50", |_, _, op| {
        times(op.modelled, |t| t.p50_us)
    }),
    ("column-real-p50", |_, _, op| times(op.real, |t| t.p50_us)),
    ("column-modelled-p99", |_, _, op| {
        times(op.modelled, |t| t.p99_us)
    }),
    ("column-real-p99", |_, _, op| times(op.real, |t| t.p99_us)),
    ("column-late-percent", |_, _, op| {
        plain(cell(op.late_percent, percent))
    }),
    ("column-late-p99", |_, _, op| {
        plain(cell(op.late_p99_us, three))
    }),
    ("column-beyond", |_, _, op| {
        plain(cell(op.beyond_percent, percent))
    }),
    ("column-added", |_, _, op| {
        plain(cell(op.added_percent, percent))
    }),
    ("column-errors", |_, _, op| plain(three(op.errors as f64))),
];

/// The headings of [`rows`], behind those of what leads them.
pub(super) fn header(m: &Messages, mut lead: Vec<Cell>) -> Vec<Cell> {
    lead.extend(COLUMNS.iter().map(|(id, _)| head(m, id)));
    lead.extend(["column-kept-up", "column-emulator-cpu"].map(|id| head(m, id)));
    lead
}

/// One for each kind of operation.
pub(super) fn rows(m: &Messages, lead: &[Cell], drive: &DriveSummary) -> Vec<Row> {
    let row = |(i, op): (usize, &DriveOpSummary)| {
        let mut cells = lead.to_vec();
        cells.extend(COLUMNS.iter().map(|(_, of)| of(m, drive, op)));
        let (id, class) = match op.kept_up() {
            Some(true) => ("drive-kept-up-yes", "sound"),
            Some(false) => ("drive-kept-up-no", "invalid"),
            None => ("drive-kept-up-unknown", ""),
        };
        cells.push(Cell {
            text: m.text(id),
            class,
        });
        cells.push(plain(cell(drive.emulator_cpu_percent, percent)));
        Row {
            class: if i + 1 == drive.ops.len() {
                "group"
            } else {
                ""
            },
            cells,
        }
    };
    drive.ops.iter().enumerate().map(row).collect()
}

fn host(drive: &DriveSummary, op: DriveOp) -> Option<f64> {
    match op {
        DriveOp::Read => drive.host_read_mean_us,
        DriveOp::Write => drive.host_write_mean_us,
        DriveOp::Flush | DriveOp::Trim => None,
    }
}

fn times(times: Option<DriveTimes>, of: fn(DriveTimes) -> f64) -> Cell {
    plain(ms(times.map(of)))
}

fn ms(us: Option<f64>) -> String {
    cell(us.map(|us| us / 1e3), three)
}
