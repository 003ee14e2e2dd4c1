//! One row for each second, emulated drive and kind of operation.

use plimsoll_analysis::summary::lateness_us;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{DriveRow, Record};

use super::name;
use crate::table::Table;

type Rows<'a> = Table<'a, &'a DriveRow>;

pub(super) fn csv(record: &Record) -> String {
    let table = Rows::new()
        .field("start_s", |r| r.start.as_secs_f64())
        .field("end_s", |r| r.end.as_secs_f64())
        .field("medium", |r| name(record, r.subject))
        .field("op", |r| r.op.name())
        .field("ops", |r| r.ops)
        .field("bytes", |r| r.bytes)
        .field("errors", |r| r.errors);
    let table = times(table, "modelled", |r| &r.modelled);
    times(table, "real", |r| &r.real)
        .field("late_p50_us", |r| lateness_us(&r.late, 0.5))
        .field("late_p99_us", |r| lateness_us(&r.late, 0.99))
        .field("beyond", |r| r.beyond)
        .to_csv(&record.drive)
}

fn times<'a>(table: Rows<'a>, of: &str, hist: fn(&DriveRow) -> &CoarseHist) -> Rows<'a> {
    let us = |time: Option<Nanos>| time.map(Nanos::as_micros_f64);
    table
        .field(format!("{of}_mean_us"), move |r| us(hist(r).mean()))
        .field(format!("{of}_p50_us"), move |r| us(hist(r).quantile(0.5)))
        .field(format!("{of}_p99_us"), move |r| us(hist(r).quantile(0.99)))
        .field(format!("{of}_max_us"), move |r| us(hist(r).max()))
}
