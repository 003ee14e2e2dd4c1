//! One row for each second, system, state and event of its sessions.

use plimsoll_record::{Record, WaitRow};

use super::{name, quoted};

pub(super) fn csv(record: &Record) -> String {
    let mut out = String::from("start_s,end_s,system,state,event,seen,looks,sessions\n");
    for row in &record.waits {
        let WaitRow {
            subject,
            start,
            end,
            state,
            event,
            seen,
            looks,
        } = row;
        let sessions = if *looks > 0 {
            (f64::from(*seen) / f64::from(*looks)).to_string()
        } else {
            String::new()
        };
        let cells = [
            start.as_secs_f64().to_string(),
            end.as_secs_f64().to_string(),
            quoted(name(record, *subject)),
            state.name().to_owned(),
            quoted(event),
            seen.to_string(),
            looks.to_string(),
            sessions,
        ];
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}
