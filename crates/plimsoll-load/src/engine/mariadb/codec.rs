//! Binary parameters and rows (the manual's "Binary Protocol").

use std::fmt::Write as _;

use bytes::{BufMut, BytesMut};
use mysql_common::constants::{ColumnFlags, ColumnType};

use super::statements::{days, number};
use crate::engine::sql::TextRow;
use crate::workload::statement::{Param, Value};

const LONGLONG: u8 = ColumnType::MYSQL_TYPE_LONGLONG as u8;
const VAR_STRING: u8 = ColumnType::MYSQL_TYPE_VAR_STRING as u8;
/// Of a description: character set (2 bytes), length (4), type (1), flags (2), decimals (1), nothing (2).
const DESCRIPTION_END: usize = 12;
/// In place of a text's length.
const NULL: u8 = 0xfb;
const CUT_SHORT: &str = "a row that is shorter than it says";

/// How a column's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnKind {
    kind: u8,
    is_unsigned: bool,
}

impl ColumnKind {
    pub const fn new(kind: u8, is_unsigned: bool) -> Self {
        Self { kind, is_unsigned }
    }

    /// As the server describes it with a result. What cannot be read has no kind, and so no values.
    pub fn of_description(body: &[u8]) -> Self {
        let end = body.last_chunk::<DESCRIPTION_END>();
        let own = end.map(|end| {
            let flags = u16::from_le_bytes([end[7], end[8]]);
            Self::new(end[6], flags & ColumnFlags::UNSIGNED_FLAG.bits() != 0)
        });
        own.unwrap_or(Self::new(u8::MAX, false))
    }
}

/// A length-encoded number.
pub(super) fn lenenc(bytes: &mut &[u8]) -> Option<u64> {
    let first = u8::from_le_bytes(take(bytes)?);
    Some(match first {
        0..=0xfa => u64::from(first),
        0xfc => u64::from(u16::from_le_bytes(take(bytes)?)),
        0xfd => {
            let [a, b, c] = take(bytes)?;
            u64::from(u32::from_le_bytes([a, b, c, 0]))
        }
        0xfe => u64::from_le_bytes(take(bytes)?),
        NULL | 0xff => return None,
    })
}

pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(lenenc(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// Which are NULL, the types unless the server has them (`sent`), and the values.
pub(super) fn write_params<'p>(
    out: &mut BytesMut,
    params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
    sent: &mut Vec<u8>,
) {
    let count = params.len();
    if count == 0 {
        return;
    }
    let nulls = out.len();
    out.put_bytes(0, count.div_ceil(8));
    for (i, _) in params
        .clone()
        .enumerate()
        .filter(|(_, own)| *own == Param::Null)
    {
        out[nulls + i / 8] |= 1 << (i % 8);
    }
    if sent.len() == count
        && params
            .clone()
            .zip(&*sent)
            .all(|(own, sent)| fits(own, *sent))
    {
        out.put_u8(0);
    } else {
        out.put_u8(1);
        sent.clear();
        sent.extend(params.clone().map(kind_of));
        // The second byte would make a number unsigned.
        sent.iter().for_each(|kind| out.put_slice(&[*kind, 0]));
    }
    for param in params {
        write_param(out, param);
    }
}

/// A NULL has whatever type the parameter had before.
fn fits(param: Param<'_>, kind: u8) -> bool {
    param == Param::Null || kind_of(param) == kind
}

const fn kind_of(param: Param<'_>) -> u8 {
    match param {
        Param::Int(_) => LONGLONG,
        Param::Null | Param::Cents(_) | Param::Text(_) => VAR_STRING,
    }
}

fn write_param(out: &mut BytesMut, param: Param<'_>) {
    match param {
        Param::Null => {}
        Param::Int(n) => out.put_i64_le(n),
        Param::Cents(cents) => {
            let at = out.len();
            out.put_u8(0);
            // Memory takes all text, and at most 21 characters need one byte of length.
            let _ = write!(out, "{}", super::statements::DecimalText(cents));
            out[at] = (out.len() - at - 1) as u8;
        }
        Param::Text(text) => {
            match text.len() {
                short @ 0..=0xfa => out.put_u8(short as u8),
                long => {
                    out.put_u8(0xfe);
                    out.put_u64_le(long as u64);
                }
            }
            out.put_slice(text.as_bytes());
        }
    }
}

/// A row of a statement that was sent as text.
pub(super) fn text_row(mut row: &[u8]) -> Result<TextRow, String> {
    let mut columns = Vec::new();
    while let Some((&first, rest)) = row.split_first() {
        columns.push(if first == NULL {
            row = rest;
            None
        } else {
            let text = take_text(&mut row).ok_or(CUT_SHORT)?;
            Some(String::from_utf8_lossy(text).into_owned())
        });
    }
    Ok(TextRow(columns))
}

/// A row's columns, by their kinds.
pub(super) fn values(row: &[u8], columns: &[ColumnKind]) -> Result<Vec<Value>, String> {
    // A byte of no meaning; the bits of NULLs begin with two that are not used.
    let nulls_len = (columns.len() + 2).div_ceil(8);
    let parts = row
        .get(1..)
        .and_then(|rest| rest.split_at_checked(nulls_len));
    let (nulls, mut rest) = parts.ok_or(CUT_SHORT)?;
    let columns = columns.iter().zip(2..);
    columns
        .map(|(column, bit)| match nulls[bit / 8] >> (bit % 8) & 1 {
            1 => Ok(Value::Null),
            _ => value(&mut rest, *column),
        })
        .collect()
}

fn value(rest: &mut &[u8], column: ColumnKind) -> Result<Value, String> {
    let kind = ColumnType::try_from(column.kind);
    let kind = kind.map_err(|_| format!("a column of an unknown type: {}", column.kind))?;
    match kind {
        ColumnType::MYSQL_TYPE_TINY
        | ColumnType::MYSQL_TYPE_SHORT
        | ColumnType::MYSQL_TYPE_YEAR
        | ColumnType::MYSQL_TYPE_INT24
        | ColumnType::MYSQL_TYPE_LONG
        | ColumnType::MYSQL_TYPE_LONGLONG => {
            let n = integer(rest, kind, column.is_unsigned).ok_or(CUT_SHORT)?;
            let n = i64::try_from(n).map_err(|_| format!("{n} is out of range"))?;
            Ok(Value::Int(n))
        }
        ColumnType::MYSQL_TYPE_DATE
        | ColumnType::MYSQL_TYPE_DATETIME
        | ColumnType::MYSQL_TYPE_TIMESTAMP => {
            let micros = timestamp(rest).ok_or(CUT_SHORT)?;
            Ok(Value::Int(micros))
        }
        ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_DECIMAL => {
            let text = text(rest)?;
            number(text).ok_or_else(|| format!("{text} is no amount"))
        }
        ColumnType::MYSQL_TYPE_VARCHAR
        | ColumnType::MYSQL_TYPE_VAR_STRING
        | ColumnType::MYSQL_TYPE_STRING
        | ColumnType::MYSQL_TYPE_TINY_BLOB
        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
        | ColumnType::MYSQL_TYPE_LONG_BLOB
        | ColumnType::MYSQL_TYPE_BLOB => Ok(Value::Text(text(rest)?.to_owned())),
        other => Err(format!("a value of an unexpected type: {other:?}")),
    }
}

fn text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, String> {
    let bytes = take_text(rest).ok_or(CUT_SHORT)?;
    std::str::from_utf8(bytes).map_err(|_| "a text that is not ASCII".to_owned())
}

fn integer(rest: &mut &[u8], kind: ColumnType, is_unsigned: bool) -> Option<i128> {
    let (n, bits): (u64, u32) = match kind {
        ColumnType::MYSQL_TYPE_TINY => (u8::from_le_bytes(take(rest)?).into(), 8),
        ColumnType::MYSQL_TYPE_SHORT | ColumnType::MYSQL_TYPE_YEAR => {
            (u16::from_le_bytes(take(rest)?).into(), 16)
        }
        ColumnType::MYSQL_TYPE_INT24 | ColumnType::MYSQL_TYPE_LONG => {
            (u32::from_le_bytes(take(rest)?).into(), 32)
        }
        _ => (u64::from_le_bytes(take(rest)?), 64),
    };
    // Fills the upper bits with the sign.
    let signed = (n << (64 - bits)) as i64 >> (64 - bits);
    Some(if is_unsigned { n.into() } else { signed.into() })
}

/// In microseconds since 1970-01-01. Parts at the end are left out when they are 0.
fn timestamp(rest: &mut &[u8]) -> Option<i64> {
    let length = u8::from_le_bytes(take(rest)?);
    let (own, after) = rest.split_at_checked(length.into())?;
    *rest = after;
    let part = |at: usize| own.get(at).map_or(0, |own| i64::from(*own));
    let year = part(0) | part(1) << 8;
    let [month, day, hour, minute, second] = [2, 3, 4, 5, 6].map(part);
    let micros = own.get(7..).and_then(<[u8]>::first_chunk);
    let micros = micros.map_or(0, |own| i64::from(u32::from_le_bytes(*own)));
    let seconds = (hour * 60 + minute) * 60 + second;
    Some((days(year, month, day) * 86_400 + seconds) * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(kinds: &[ColumnType]) -> Vec<ColumnKind> {
        let kind = |own: &ColumnType| ColumnKind::new(*own as u8, false);
        kinds.iter().map(kind).collect()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let columns = kinds(&[
            ColumnType::MYSQL_TYPE_TINY,
            ColumnType::MYSQL_TYPE_SHORT,
            ColumnType::MYSQL_TYPE_LONG,
            ColumnType::MYSQL_TYPE_LONGLONG,
            ColumnType::MYSQL_TYPE_STRING,
            ColumnType::MYSQL_TYPE_NEWDECIMAL,
            ColumnType::MYSQL_TYPE_LONG,
            ColumnType::MYSQL_TYPE_DATETIME,
        ]);
        let row = [
            // The seventh column, which is the ninth bit, is NULL.
            &[0, 0, 0b1][..],
            &[0xfe],
            &300_i16.to_le_bytes(),
            &(-70_000_i32).to_le_bytes(),
            &i64::MIN.to_le_bytes(),
            b"\x02ab",
            b"\x06-12.05",
            &[11, 0xd0, 0x07, 2, 29, 1, 2, 3, 4, 0, 0, 0],
        ];
        let expected = [
            Value::Int(-2),
            Value::Int(300),
            Value::Int(-70_000),
            Value::Int(i64::MIN),
            Value::Text("ab".into()),
            Value::Cents(-1_205),
            Value::Null,
            Value::Int((11_016 * 86_400 + 3_723) * 1_000_000 + 4),
        ];
        assert_eq!(values(&row.concat(), &columns), Ok(expected.to_vec()));
        let unsigned = [ColumnKind::new(LONGLONG, true)];
        let row = [&[0, 0][..], &u64::MAX.to_le_bytes()].concat();
        assert!(
            values(&row, &unsigned)
                .unwrap_err()
                .contains("out of range")
        );
        assert!(values(&[0, 0, 1], &unsigned).is_err());
    }

    #[test]
    fn a_row_of_texts_is_read() {
        let row = text_row(b"\x02ab\xfb\0").unwrap();
        assert_eq!(row.0, [Some("ab".into()), None, Some(String::new())]);
        assert!(text_row(b"\x03ab").is_err());
    }

    #[test]
    fn parameters_are_written_as_the_manual_has_them() {
        let mut out = BytesMut::new();
        let mut types = Vec::new();
        let params = [
            Param::Int(-2),
            Param::Null,
            Param::Cents(-1_205),
            Param::Text("ab"),
        ];
        write_params(&mut out, params.into_iter(), &mut types);
        let expected = [
            &[0b10, 1, 8, 0, 253, 0, 253, 0, 253, 0][..],
            &(-2_i64).to_le_bytes(),
            b"\x06-12.05\x02ab",
        ];
        assert_eq!(out[..], expected.concat());
        out.clear();
        let params = [Param::Null, Param::Text(""), Param::Cents(5), Param::Null];
        write_params(&mut out, params.into_iter(), &mut types);
        assert_eq!(out[..], *b"\x09\0\0\x040.05", "the types are known");
    }
}
