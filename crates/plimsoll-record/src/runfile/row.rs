//! Rows of a run file's tables and their columns.

use std::str::FromStr;

use crate::hist::Hist;
use crate::{PhaseId, PointId, SubjectId};
use plimsoll_plan::units::Nanos;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql};
use serde::de::DeserializeOwned;

use super::restrict::{RowBudget, SMALLEST_LIMIT, file_size};

/// Why a row cannot be used; the caller adds the path.
pub(super) type BadRow = String;

pub(super) fn rows<T>(
    db: &Connection,
    sql: &str,
    mut read: impl FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
) -> Result<Vec<T>, BadRow> {
    read_rows(db, sql, &mut read).map_err(|e| e.to_string())
}

fn read_rows<T>(
    db: &Connection,
    sql: &str,
    read: &mut dyn FnMut(&Row<'_>) -> Result<T, rusqlite::Error>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = db.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut budget = RowBudget::of_file(db)?;
    let mut found = statement.query([])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        if !budget.take(row, columns)? {
            return Err(meaningless("the table", "more than its file"));
        }
        all.push(read(row)?);
    }
    Ok(all)
}

pub(super) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Nanos> {
    row.get(column).map(Nanos)
}

/// A value that has no meaning here, as an error of the row that holds it.
pub(super) fn meaningless(column: &str, value: impl std::fmt::Display) -> rusqlite::Error {
    let text = format!("{column} holds {value}");
    rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, text.into())
}

/// A value by its name.
pub(super) fn parsed<T: FromStr>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    name.parse().map_err(|_| meaningless(column, name))
}

pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| meaningless(column, error))
}

macro_rules! ids {
    ($($id:ident),*) => {
        $(
            impl ToSql for $id {
                fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                    self.0.to_sql()
                }
            }

            impl FromSql for $id {
                fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                    u32::column_result(value).map(Self)
                }
            }
        )*
    };
}

ids!(SubjectId, PointId, PhaseId);

pub(super) fn hist<T>(
    column: &str,
    bytes: &[u8],
    decode: fn(&[u8]) -> Result<T, crate::hist::HistError>,
) -> rusqlite::Result<T> {
    decode(bytes).map_err(|error| meaningless(column, error))
}

/// How many more values may be unpacked: packed ones can take a thousandth of their size.
pub(super) struct ValueBudget(u64);

impl ValueBudget {
    pub fn of_file(db: &Connection) -> Result<Self, BadRow> {
        file_size(db)
            .map(|size| Self(SMALLEST_LIMIT + 2 * size))
            .map_err(|error| error.to_string())
    }

    pub fn take(&mut self, column: &str, values: usize) -> rusqlite::Result<()> {
        let left = self.0.checked_sub(values as u64);
        self.0 = left.ok_or_else(|| meaningless(column, "more values than its file"))?;
        Ok(())
    }
}

/// A histogram of full precision: a hundred bytes can hold all its buckets.
pub(super) fn full_hist(
    column: &str,
    bytes: &[u8],
    budget: &mut ValueBudget,
) -> rusqlite::Result<Hist> {
    let hist = hist(column, bytes, Hist::decode)?;
    budget.take(column, hist.stored_values())?;
    Ok(hist)
}
