//! The columns of the run file's tables: one list for each, by which rows are written and read.

use std::collections::BTreeMap;

use plimsoll_plan::Interference;
use plimsoll_plan::objective::{Objective, Quantile};
use plimsoll_plan::units::Nanos;
use rusqlite::types::{Null, ToSqlOutput};
use rusqlite::{Connection, Row, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::drive::DriveOp;
use crate::hist::CoarseHist;
use crate::lane::Absence;
use crate::message::{BackupDetail, CheckDetail, DoctorFinding, EventKind, FirstLost, ResetCheck};
use crate::{
    BackupKind, BackupOutcome, BackupRow, BlockPoint, BlockStreamInfo, Check, Diagnosis,
    DiagnosisLevel, DriveRow, Event, Fact, Outage, PhaseId, Point, PointId, PointPurpose, PowerCut,
    Receipt, Reported, Reset, SearchInfo, Severity, SteadyInfo, Subject, SubjectId, SubjectKind,
};

use super::row::{BadRow, hist, json, parsed, rows, time};

/// A value that is stored in a column of a row, or in several.
pub(super) trait Columns: Sized {
    /// Adds its columns. `field` names the column of a value that has one.
    fn write<'a>(&'a self, field: &'static str, row: &mut NewRow<'a>) -> rusqlite::Result<()>;

    fn read(row: &Row<'_>, field: &str) -> rusqlite::Result<Self>;
}

/// Names and values of a row's columns.
#[derive(Default)]
pub(super) struct NewRow<'a>(pub Vec<(&'static str, ToSqlOutput<'a>)>);

impl<'a> NewRow<'a> {
    pub fn push(&mut self, column: &'static str, value: impl Into<ToSqlOutput<'a>>) {
        self.0.push((column, value.into()));
    }
}

/// Rows of a table as records: `from` is its name and their order.
pub(super) fn table<T: Columns>(db: &Connection, from: &str) -> Result<Vec<T>, BadRow> {
    rows(db, &format!("SELECT * FROM {from}"), record)
}

pub(super) fn record<T: Columns>(row: &Row<'_>) -> rusqlite::Result<T> {
    T::read(row, "")
}

/// The name of a field's column.
macro_rules! column {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $column:ident) => {
        stringify!($column)
    };
}

macro_rules! columns {
    ($($record:ident { $($field:ident $(as $column:ident)?),* $(,)? })*) => {
        $(
            impl Columns for $record {
                fn write<'a>(&'a self, _: &'static str, row: &mut NewRow<'a>) -> rusqlite::Result<()> {
                    let Self { $($field),* } = self;
                    $($field.write(column!($field $($column)?), row)?;)*
                    Ok(())
                }

                fn read(row: &Row<'_>, _: &str) -> rusqlite::Result<Self> {
                    Ok(Self { $($field: Columns::read(row, column!($field $($column)?))?),* })
                }
            }
        )*
    };
}

columns! {
    Subject { id, kind, name }
    Fact { subject, key, value }
    Point {
        id, step, step_index, ordinal, system, medium, workload, mode, users, offered_per_second,
        txns, connections, offered_to_per_second, repeat, purpose, scene, parameters,
    }
    Event { at as at_ns, subject, severity, kind }
    Check { point, subject, clause, holds, detail }
    DriveRow {
        subject, start as start_ns, end as end_ns, op, ops, bytes, errors, modelled, real, late,
        beyond,
    }
    PowerCut {
        point, at as at_ns, recovery as recovery_ns, lost_writes, lost_bytes, lost_flushed_writes,
        receipts,
    }
    Receipt { txn, acknowledged, lost, in_doubt, first_lost }
    SearchInfo { step, step_index, system, medium, objective, most, precision }
    Objective { quantile, limit as limit_ns, of as txn }
    Reset { phase, subject, method, from_bytes, to_bytes, verified }
    BlockPoint {
        point, profile, job, job_index, workers, worker_bytes, fill, share_percent, streams,
    }
    SteadyInfo { step, step_index, medium, window, range, slope, most_rounds }
    Diagnosis { subject, code, level, disk, finding }
    BackupRow {
        step, step_index, point, system, medium, target, cycle, kind, method, program,
        start as start_ns, end as end_ns, bytes, outcome, detail,
    }
    Outage { phase, subject, start as start_ns, end as end_ns, absence }
    Absence { server as server_ns, connections as connections_ns }
    Reported { point, source, txn, name, value, printed, unit, over }
}

/// Values of one column each: how they are written and read.
macro_rules! values {
    ($($type:ty),* $(,)?; $write:expr, $read:expr) => {
        $(
            impl Columns for $type {
                fn write<'a>(&'a self, field: &'static str, row: &mut NewRow<'a>) -> rusqlite::Result<()> {
                    row.push(field, $write(self)?);
                    Ok(())
                }

                fn read(row: &Row<'_>, field: &str) -> rusqlite::Result<Self> {
                    $read(row, field)
                }
            }
        )*
    };
}

values!(
    bool,
    u32,
    u64,
    f64,
    Option<f64>,
    String,
    Option<String>,
    SubjectId,
    Option<SubjectId>,
    PointId,
    Option<PointId>,
    PhaseId;
    ToSql::to_sql,
    Row::get
);
values!(
    BackupKind,
    BackupOutcome,
    DiagnosisLevel,
    DriveOp,
    Interference,
    PointPurpose,
    Quantile,
    Severity,
    SubjectKind;
    name,
    parsed
);
values!(Vec<String>, BTreeMap<String, String>, Vec<BlockStreamInfo>; to_json, json);
values!(Nanos; nanoseconds, time);
values!(Option<Nanos>; optional_nanoseconds, optional_time);
values!(CoarseHist; encode, coarse);
values!(BackupDetail, CheckDetail, DoctorFinding, FirstLost, ResetCheck; to_json, message);
values!(Option<BackupDetail>, Option<FirstLost>; optional_json, optional_message);

fn name<T: Copy + Into<&'static str>>(value: &T) -> rusqlite::Result<&'static str> {
    Ok((*value).into())
}

fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    Ok(serde_json::json!(value).to_string())
}

/// Empty where there is none.
fn optional_json(value: &Option<impl Serialize>) -> rusqlite::Result<String> {
    value.as_ref().map_or(Ok(String::new()), to_json)
}

fn nanoseconds(time: &Nanos) -> rusqlite::Result<ToSqlOutput<'_>> {
    time.0.to_sql()
}

fn optional_nanoseconds(time: &Option<Nanos>) -> rusqlite::Result<ToSqlOutput<'_>> {
    time.as_ref().map_or(Ok(Null.into()), nanoseconds)
}

fn optional_time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Nanos>> {
    Ok(row.get::<_, Option<u64>>(column)?.map(Nanos))
}

fn encode(hist: &CoarseHist) -> rusqlite::Result<Vec<u8>> {
    Ok(hist.encode())
}

fn coarse(row: &Row<'_>, column: &str) -> rusqlite::Result<CoarseHist> {
    hist(column, row.get_ref(column)?.as_blob()?, CoarseHist::decode)
}

/// One whose code this version does not know is kept as it stands.
fn message<T: DeserializeOwned + From<String>>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    Ok(serde_json::from_str(&text).unwrap_or_else(|_| text.into()))
}

fn optional_message<T: DeserializeOwned + From<String>>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<Option<T>> {
    let is_none = row.get_ref(column)?.as_str()?.is_empty();
    (!is_none).then(|| message(row, column)).transpose()
}

/// Two columns: a part of the time.
impl Columns for Option<(Nanos, Nanos)> {
    fn write<'a>(&'a self, _: &'static str, row: &mut NewRow<'a>) -> rusqlite::Result<()> {
        if let Some((start, end)) = self {
            start.write("start_ns", row)?;
            end.write("end_ns", row)?;
        }
        Ok(())
    }

    fn read(row: &Row<'_>, _: &str) -> rusqlite::Result<Self> {
        let start = optional_time(row, "start_ns")?;
        Ok(start.zip(optional_time(row, "end_ns")?))
    }
}

/// Two columns.
impl Columns for EventKind {
    fn write<'a>(&'a self, _: &'static str, row: &mut NewRow<'a>) -> rusqlite::Result<()> {
        row.push("code", self.code());
        row.push("args", self.args());
        Ok(())
    }

    fn read(row: &Row<'_>, _: &str) -> rusqlite::Result<Self> {
        Ok(Self::from_columns(row.get("code")?, row.get("args")?))
    }
}

/// They have a table of their own.
impl Columns for Vec<Receipt> {
    fn write<'a>(&'a self, _: &'static str, _: &mut NewRow<'a>) -> rusqlite::Result<()> {
        Ok(())
    }

    fn read(_: &Row<'_>, _: &str) -> rusqlite::Result<Self> {
        Ok(Vec::new())
    }
}
