//! Lateness of emulated drives, as charts show it.

use std::collections::BTreeMap;

use plimsoll_analysis::summary::lateness_us;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::{DriveRow, Record, SubjectId};
use serde::Serialize;

use super::island::{seconds, short};
use crate::export;
use crate::message::Messages;

/// How late an emulated drive was with one kind of operation: the 99th percentile of each second, in µs.
#[derive(Serialize)]
pub(super) struct Lateness {
    medium: String,
    op: String,
    t: Vec<f64>,
    late: Vec<Option<f64>>,
}

/// One for each medium and kind of operation. A `null` stands where seconds are missing.
pub(super) fn lines(record: &Record, m: &Messages) -> Vec<Lateness> {
    let mut lines: BTreeMap<(SubjectId, DriveOp), Vec<&DriveRow>> = BTreeMap::new();
    // No request waits for a trim.
    for row in record
        .drive
        .iter()
        .filter(|row| row.ops > 0 && row.op != DriveOp::Trim)
    {
        lines.entry((row.subject, row.op)).or_default().push(row);
    }
    let line = |((subject, op), mut rows): ((SubjectId, DriveOp), Vec<&DriveRow>)| {
        rows.sort_by_key(|row| row.start);
        let (mut t, mut late, mut last) = (Vec::new(), Vec::new(), None);
        for row in rows {
            // Half a second of slack: a second without operations of this kind has none that are late.
            if last.is_some_and(|last| row.start.saturating_sub(last) > Nanos::from_millis(500)) {
                t.push(seconds(row.start));
                late.push(None);
            }
            t.push(seconds(row.end));
            late.push(lateness_us(&row.late, 0.99).map(short));
            last = Some(row.end);
        }
        let (medium, op) = (
            export::name(record, subject).to_owned(),
            m.text(&format!("op-{}", op.name())),
        );
        Lateness {
            medium,
            op,
            t,
            late,
        }
    };
    lines.into_iter().map(line).collect()
}
