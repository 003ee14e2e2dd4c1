//! One row for each second, emulated drive and kind of operation.

use plimsoll_analysis::summary::lateness_us;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{DriveRow, Record};

use crate::subject;
use crate::table::Table;

pub(crate) struct DriveExportRow<'a> {
    own: &'a DriveRow,
    medium: &'a str,
}

pub(super) fn rows(record: &Record) -> impl Iterator<Item = DriveExportRow<'_>> {
    record.drive.iter().map(|own| DriveExportRow {
        own,
        medium: subject::name(record, own.subject),
    })
}

pub(crate) fn table<'a>() -> Table<'a, DriveExportRow<'a>> {
    let table = Table::<DriveExportRow<'_>>::new("drive")
        .field("start_s", |r| r.own.start.as_secs_f64())
        .field("end_s", |r| r.own.end.as_secs_f64())
        .field("medium", |r| r.medium)
        .field("op", |r| r.own.op.name())
        .field("ops", |r| r.own.ops)
        .field("bytes", |r| r.own.bytes)
        .field("errors", |r| r.own.errors);
    let table = times(table, "modelled", |r| &r.own.modelled);
    times(table, "real", |r| &r.own.real)
        .field("late_p50_us", |r| lateness_us(&r.own.late, 0.5))
        .field("late_p99_us", |r| lateness_us(&r.own.late, 0.99))
        .field("beyond", |r| r.own.beyond)
}

fn times<'a>(
    table: Table<'a, DriveExportRow<'a>>,
    of: &str,
    hist: fn(&DriveExportRow<'a>) -> &'a CoarseHist,
) -> Table<'a, DriveExportRow<'a>> {
    table
        .field(format!("{of}_mean_us"), move |r| us(hist(r).mean()))
        .field(format!("{of}_p50_us"), move |r| us(hist(r).quantile(0.5)))
        .field(format!("{of}_p99_us"), move |r| us(hist(r).quantile(0.99)))
        .field(format!("{of}_max_us"), move |r| us(hist(r).max()))
}

fn us(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_micros_f64)
}
