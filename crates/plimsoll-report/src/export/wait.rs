//! One row for each second, system, state and event of its sessions.

use plimsoll_record::{Record, WaitRow};

use super::name;
use crate::table::Table;

pub(super) fn csv(record: &Record) -> String {
    Table::<&WaitRow>::new()
        .field("start_s", |r| r.start.as_secs_f64())
        .field("end_s", |r| r.end.as_secs_f64())
        .field("system", |r| name(record, r.subject))
        .field("state", |r| r.state.name())
        .field("event", |r| r.event.to_string())
        .field("sampled_sessions", |r| r.seen)
        .field("samples", |r| r.looks)
        .field("sessions", |r| {
            (r.looks > 0).then(|| f64::from(r.seen) / f64::from(r.looks))
        })
        .to_csv(&record.waits)
}
