//! Lateness of emulated drives, as charts show it.

use std::collections::BTreeMap;

use plimsoll_analysis::summary::lateness_us;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::{DriveRow, Record, SubjectId};
use serde::Serialize;

use super::bounded::DrawnBuckets;
use super::rounding::{seconds, short};
use crate::message::Messages;
use crate::subject;

/// How late an emulated drive was with one kind of operation: the 99th percentile of each second, in µs.
#[derive(Serialize)]
pub(super) struct Lateness {
    medium: String,
    op: String,
    t: Vec<f64>,
    late: Vec<Option<f64>>,
    #[serde(skip)]
    reduced_to: Option<f64>,
}

/// One for each medium and kind of operation. A `null` stands where seconds are missing.
pub(super) fn lines(record: &Record, m: &Messages) -> Vec<Lateness> {
    // Nothing is late in virtual time.
    if record.is_simulated() {
        return Vec::new();
    }
    let mut lines: BTreeMap<(SubjectId, DriveOp), Vec<&DriveRow>> = BTreeMap::new();
    // No request waits for a trim.
    for row in record
        .drive
        .iter()
        .filter(|row| row.ops > 0 && row.op != DriveOp::Trim)
    {
        lines.entry((row.subject, row.op)).or_default().push(row);
    }
    let lines = lines.into_iter();
    lines
        .map(|((subject, op), rows)| {
            let mut line = Lateness {
                medium: subject::name(record, subject).to_owned(),
                op: m.text(&format!("op-{}", op.name())),
                t: Vec::new(),
                late: Vec::new(),
                reduced_to: None,
            };
            line.add(rows);
            line.bounded()
        })
        .collect()
}

impl Lateness {
    /// How many seconds a drawn point stands for, where not all are drawn.
    pub fn reduced_to(&self) -> Option<f64> {
        self.reduced_to
    }

    fn bounded(self) -> Self {
        let buckets = DrawnBuckets::of(&self.late);
        Self {
            reduced_to: buckets.span(&self.t),
            t: buckets.times(self.t),
            late: buckets.values(self.late),
            ..self
        }
    }

    fn add(&mut self, mut rows: Vec<&DriveRow>) {
        rows.sort_by_key(|row| row.start);
        let mut last: Option<Nanos> = None;
        for row in rows {
            // Half a second of slack: a second without operations of this kind has none that are late.
            if last.is_some_and(|last| row.start.saturating_sub(last) > Nanos::from_millis(500)) {
                self.t.push(seconds(row.start));
                self.late.push(None);
            }
            self.t.push(seconds(row.end));
            self.late.push(lateness_us(&row.late, 0.99).map(short));
            last = Some(row.end);
        }
    }
}
