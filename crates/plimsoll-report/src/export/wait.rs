//! One row for each second, system, state and event of its sessions.

use plimsoll_record::{Record, WaitRow};

use crate::subject;
use crate::table::Table;

pub(crate) struct WaitExportRow<'a> {
    own: &'a WaitRow,
    system: &'a str,
}

pub(super) fn rows(record: &Record) -> impl Iterator<Item = WaitExportRow<'_>> {
    record.waits.iter().map(|own| WaitExportRow {
        own,
        system: subject::name(record, own.subject),
    })
}

pub(crate) fn table<'a>() -> Table<'a, WaitExportRow<'a>> {
    Table::<WaitExportRow<'_>>::new("wait")
        .field("start_s", |r| r.own.start.as_secs_f64())
        .field("end_s", |r| r.own.end.as_secs_f64())
        .field("system", |r| r.system)
        .field("state", |r| r.own.state.name())
        .field("event", |r| r.own.event.to_string())
        .field("sampled_sessions", |r| r.own.sessions)
        .field("samples", |r| r.own.samples)
        .field("sessions", |r| {
            (r.own.samples > 0).then(|| f64::from(r.own.sessions) / f64::from(r.own.samples))
        })
}
