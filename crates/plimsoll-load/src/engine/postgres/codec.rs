//! PostgreSQL's binary values to plimsoll's and back.
//!
//! NUMERIC travels as `ndigits, weight, sign, dscale` (16 bits each) and then base-10000 digits (the server's
//! `src/backend/utils/adt/numeric.c`, `numeric_send`). TPC-C needs two scales only: cents and ten-thousandths.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::workload::statement::{Param, Value};

type Boxed = Box<dyn Error + Sync + Send>;

/// Decimal places of an amount of money.
pub const CENTS: u16 = 2;
/// Decimal places of a tax or discount.
pub const RATE: u16 = 4;

/// Microseconds from 1970-01-01 to PostgreSQL's epoch, 2000-01-01.
const EPOCH: i64 = 946_684_800_000_000;

const NEGATIVE: u16 = 0x4000;
const POSITIVE: u16 = 0x0000;
const BASE: u64 = 10_000;

/// Base-10000 digits of the largest i64 with decimals: five before the point, one after.
const MAX_DIGITS: usize = 6;

/// A fixed-point number as NUMERIC: `value / 10^scale`, for a scale of 2 or 4. Returns the bytes written.
fn put_numeric(value: i64, scale: u16, out: &mut impl BufMut) -> i32 {
    let unit = if scale == CENTS { 100 } else { BASE };
    let magnitude = value.unsigned_abs();
    let mut digits = [0u16; MAX_DIGITS];
    let mut first = MAX_DIGITS - 1;
    digits[first] = (magnitude % unit * (BASE / unit)) as u16;
    let mut whole = magnitude / unit;
    while whole > 0 {
        first -= 1;
        digits[first] = (whole % BASE) as u16;
        whole /= BASE;
    }
    // The server stores neither leading nor trailing zero digits.
    let mut weight = (MAX_DIGITS - 2) as i16 - first as i16;
    if digits[first] == 0 {
        first = MAX_DIGITS;
        weight = 0;
    }
    let end = (first..MAX_DIGITS)
        .rev()
        .find(|&i| digits[i] != 0)
        .map_or(first, |last| last + 1);
    let used = &digits[first..end];
    out.put_u16(used.len() as u16);
    out.put_i16(weight);
    out.put_u16(if value < 0 { NEGATIVE } else { POSITIVE });
    out.put_u16(scale);
    for digit in used {
        out.put_u16(*digit);
    }
    8 + 2 * used.len() as i32
}

/// A NUMERIC column of COPY's binary format: its length, then itself.
#[inline]
pub fn copy_numeric(value: i64, scale: u16, out: &mut Vec<u8>) {
    let at = out.len();
    out.put_i32(0);
    let length = put_numeric(value, scale, out);
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// A timestamp as the server counts it.
#[inline]
pub fn server_micros(unix_micros: i64) -> i64 {
    unix_micros.saturating_sub(EPOCH)
}

/// NUMERIC to [`Value::Cents`] (display scale up to 2) or [`Value::Rate`] (3 or 4). Anything finer, not a number, or
/// beyond 64 bits is an error.
fn numeric(raw: &[u8]) -> Result<Value, &'static str> {
    let (head, digits) = raw
        .split_at_checked(8)
        .ok_or("a NUMERIC shorter than its head")?;
    let field = |i: usize| u16::from_be_bytes([head[i], head[i + 1]]);
    let count = usize::from(field(0));
    let weight = field(2).cast_signed();
    let sign = field(4);
    let scale = field(6);
    if !matches!(sign, POSITIVE | NEGATIVE) {
        return Err("NUMERIC is not a finite number");
    }
    if scale > RATE {
        return Err("a NUMERIC with more than four decimals");
    }
    if digits.len() != count * 2 {
        return Err("a NUMERIC whose digits do not match its head");
    }
    // In ten-thousandths first: a digit's power of 10000 is its weight plus one.
    let mut total: i128 = 0;
    for (i, pair) in digits.chunks_exact(2).enumerate() {
        let digit = i128::from(u16::from_be_bytes([pair[0], pair[1]]));
        let power = i32::from(weight) - i as i32 + 1;
        let power = u32::try_from(power).map_err(|_| "a NUMERIC with hidden decimals")?;
        let factor = i128::from(BASE)
            .checked_pow(power)
            .ok_or("a NUMERIC out of range")?;
        total = digit
            .checked_mul(factor)
            .and_then(|d| total.checked_add(d))
            .ok_or("a NUMERIC out of range")?;
    }
    let signed = if sign == NEGATIVE { -total } else { total };
    if scale > CENTS {
        return narrow(signed).map(Value::Rate);
    }
    if signed % 100 != 0 {
        return Err("a NUMERIC with hidden decimals");
    }
    narrow(signed / 100).map(Value::Cents)
}

fn narrow(n: i128) -> Result<i64, &'static str> {
    i64::try_from(n).map_err(|_| "a NUMERIC out of range")
}

/// A parameter, encoded as the type that the server found for it when the statement was prepared.
#[derive(Debug, Clone, Copy)]
pub struct SqlParam<'a>(pub Param<'a>);

impl ToSql for SqlParam<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        match (self.0, kind) {
            (Param::Null, _) => return Ok(IsNull::Yes),
            (Param::Int(n), &Type::INT2) => out.put_i16(i16::try_from(n)?),
            (Param::Int(n), &Type::INT4) => out.put_i32(i32::try_from(n)?),
            (Param::Int(n), &Type::INT8) => out.put_i64(n),
            (Param::Int(n), &Type::NUMERIC) => {
                put_numeric(
                    n.checked_mul(100).ok_or("an integer out of range")?,
                    CENTS,
                    out,
                );
            }
            (Param::Int(n), &(Type::TIMESTAMP | Type::TIMESTAMPTZ)) => {
                out.put_i64(server_micros(n))
            }
            (Param::Cents(n), &Type::NUMERIC) => {
                put_numeric(n, CENTS, out);
            }
            (Param::Text(text), &(Type::TEXT | Type::VARCHAR | Type::BPCHAR)) => {
                out.put_slice(text.as_bytes())
            }
            (param, kind) => {
                return Err(format!("{param:?} where the statement takes {kind}").into());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(
            *kind,
            Type::INT2
                | Type::INT4
                | Type::INT8
                | Type::NUMERIC
                | Type::TIMESTAMP
                | Type::TIMESTAMPTZ
                | Type::TEXT
                | Type::VARCHAR
                | Type::BPCHAR
        )
    }

    to_sql_checked!();
}

/// A column as plimsoll's value; timestamps as microseconds since 1970 in an `Int`.
pub struct SqlValue(pub Value);

impl<'a> FromSql<'a> for SqlValue {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Boxed> {
        let value = match *kind {
            Type::INT2 => Value::Int(i64::from(i16::from_sql(kind, raw)?)),
            Type::INT4 => Value::Int(i64::from(i32::from_sql(kind, raw)?)),
            Type::INT8 => Value::Int(i64::from_sql(kind, raw)?),
            Type::NUMERIC => numeric(raw)?,
            Type::TIMESTAMP | Type::TIMESTAMPTZ => {
                Value::Int(i64::from_sql(&Type::INT8, raw)?.saturating_add(EPOCH))
            }
            _ => Value::Text(std::str::from_utf8(raw)?.to_owned()),
        };
        Ok(Self(value))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Boxed> {
        Ok(Self(Value::Null))
    }

    fn accepts(kind: &Type) -> bool {
        <SqlParam<'_> as ToSql>::accepts(kind)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(value: i64, scale: u16) -> Vec<u8> {
        let mut out = BytesMut::new();
        assert_eq!(put_numeric(value, scale, &mut out) as usize, out.len());
        out.to_vec()
    }

    #[test]
    fn numbers_are_as_the_server_sends_them() {
        // SELECT numeric_send(…) of PostgreSQL 15.
        for (value, scale, expected) in [
            (0, CENTS, [0u16, 0, 0, 2].as_slice()),
            (1, CENTS, &[1, 0xffff, 0, 2, 100]),
            (100, CENTS, &[1, 0, 0, 2, 1]),
            (-123_456, CENTS, &[2, 0, 0x4000, 2, 1234, 5600]),
            (30_000_000, CENTS, &[1, 1, 0, 2, 30]),
            (1500, RATE, &[1, 0xffff, 0, 4, 1500]),
            (10_000, RATE, &[1, 0, 0, 4, 1]),
        ] {
            let expected: Vec<u8> = expected.iter().flat_map(|n| n.to_be_bytes()).collect();
            assert_eq!(bytes(value, scale), expected, "{value} at scale {scale}");
        }
    }

    proptest! {
        #[test]
        fn money_survives(value: i64) {
            prop_assert_eq!(numeric(&bytes(value, CENTS)), Ok(Value::Cents(value)));
        }

        #[test]
        fn rates_survive(value: i64) {
            prop_assert_eq!(numeric(&bytes(value, RATE)), Ok(Value::Rate(value)));
        }

        #[test]
        fn rubbish_never_panics(raw: Vec<u8>, head in 0u16..4, text in ".*") {
            let _ = numeric(&raw);
            let framed = [&head.to_be_bytes()[..], &raw].concat();
            let _ = numeric(&framed);
            for kind in [Type::INT4, Type::NUMERIC, Type::TEXT, Type::TIMESTAMPTZ] {
                let _ = SqlValue::from_sql(&kind, &raw);
                let _ = SqlParam(Param::Text(&text)).to_sql(&kind, &mut BytesMut::new());
            }
        }
    }
}
