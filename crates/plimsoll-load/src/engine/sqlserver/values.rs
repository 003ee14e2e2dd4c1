//! Values as they travel, as the workload has them, and as text.

use tiberius::numeric::Numeric;
use tiberius::time::{Date, DateTime2, Time};
use tiberius::{ColumnData, ToSql};

use super::failure::SqlserverFailure;
use crate::workload::statement::{Param, Value};

const CENTS: u8 = 2;
const RATES: u8 = 4;
/// Decimal places of a time: microseconds.
const MICROS: u8 = 6;
const DAY_MICROS: i64 = 86_400_000_000;
/// Days from 0001-01-01, where dates are counted from, to 1970-01-01.
const EPOCH_DAYS: i64 = 719_162;

pub(super) fn amount(cents: i64) -> Numeric {
    Numeric::new_with_scale(cents.into(), CENTS)
}

pub(super) fn cents(value: i64) -> ColumnData<'static> {
    ColumnData::Numeric(Some(amount(value)))
}

pub(super) fn rate(ten_thousandths: i32) -> ColumnData<'static> {
    ColumnData::Numeric(Some(Numeric::new_with_scale(ten_thousandths.into(), RATES)))
}

/// Of microseconds since 1970, in UTC.
pub(super) fn timestamp(micros: i64) -> ColumnData<'static> {
    let days = micros.div_euclid(DAY_MICROS) + EPOCH_DAYS;
    let of_day = micros.rem_euclid(DAY_MICROS);
    let date = Date::new(u32::try_from(days).unwrap_or_default());
    let time = Time::new(of_day.unsigned_abs(), MICROS);
    ColumnData::DateTime2(Some(DateTime2::new(date, time)))
}

fn micros(time: DateTime2) -> Option<i64> {
    let days = i64::from(time.date().days()) - EPOCH_DAYS;
    let increments = i64::try_from(time.time().increments()).ok()?;
    let scale = u32::from(time.time().scale());
    let of_day = match scale.checked_sub(MICROS.into()) {
        Some(finer) => increments.checked_div(10_i64.checked_pow(finer)?)?,
        None => increments.checked_mul(10_i64.pow(u32::from(MICROS) - scale))?,
    };
    days.checked_mul(DAY_MICROS)?.checked_add(of_day)
}

/// A parameter of `sp_executesql`. Numbers of each kind always have the same type, whatever their size, since the server
/// keeps a plan for each: an amount is a number of cents, which the statement divides.
pub(super) struct RpcParam<'a>(pub Param<'a>);

impl ToSql for RpcParam<'_> {
    fn to_sql(&self) -> ColumnData<'_> {
        match self.0 {
            Param::Null => ColumnData::I32(None),
            Param::Int(value) => match i32::try_from(value) {
                Ok(value) => ColumnData::I32(Some(value)),
                Err(_) => ColumnData::I64(Some(value)),
            },
            Param::Cents(value) => ColumnData::I64(Some(value)),
            Param::Text(text) => ColumnData::String(Some(text.into())),
        }
    }
}

/// Decimals with up to two places are cents, with up to four a rate.
pub(super) fn value(data: ColumnData<'_>) -> Result<Value, SqlserverFailure> {
    let scaled = |number: Numeric| {
        let places = if number.scale() <= CENTS {
            CENTS
        } else {
            RATES
        };
        let factor = 10_i128.pow(places.checked_sub(number.scale())?.into());
        let value = i64::try_from(number.value().checked_mul(factor)?).ok()?;
        Some(if places == CENTS {
            Value::Cents(value)
        } else {
            Value::Rate(value)
        })
    };
    let read = match data {
        ColumnData::U8(own) => own.map(|n| Some(Value::Int(n.into()))),
        ColumnData::I16(own) => own.map(|n| Some(Value::Int(n.into()))),
        ColumnData::I32(own) => own.map(|n| Some(Value::Int(n.into()))),
        ColumnData::I64(own) => own.map(|n| Some(Value::Int(n))),
        ColumnData::Numeric(own) => own.map(scaled),
        ColumnData::String(own) => own.map(|text| Some(Value::Text(text.into_owned()))),
        ColumnData::DateTime2(own) => own.map(|time| micros(time).map(Value::Int)),
        other => return Err(SqlserverFailure::unreadable(&format!("{other:?}"))),
    };
    match read {
        None => Ok(Value::Null),
        Some(Some(value)) => Ok(value),
        Some(None) => Err(SqlserverFailure::unreadable(
            "a number that is out of range",
        )),
    }
}

/// As the server would print it; truth values are 1 and 0. `None` for NULL, and for types that plimsoll does not ask for.
pub(super) fn text(data: ColumnData<'_>) -> Option<String> {
    match data {
        ColumnData::U8(own) => own.map(|n| n.to_string()),
        ColumnData::I16(own) => own.map(|n| n.to_string()),
        ColumnData::I32(own) => own.map(|n| n.to_string()),
        ColumnData::I64(own) => own.map(|n| n.to_string()),
        ColumnData::F32(own) => own.map(|n| n.to_string()),
        ColumnData::F64(own) => own.map(|n| n.to_string()),
        ColumnData::Bit(own) => own.map(|is| u8::from(is).to_string()),
        ColumnData::String(own) => own.map(|text| text.into_owned()),
        ColumnData::Numeric(own) => own.map(decimal),
        _ => None,
    }
}

fn decimal(number: Numeric) -> String {
    let places = usize::from(number.scale());
    let digits = number.value().unsigned_abs().to_string();
    let digits = format!("{digits:0>least$}", least = places + 1);
    let sign = if number.value() < 0 { "-" } else { "" };
    match digits.split_at(digits.len() - places) {
        (whole, "") => format!("{sign}{whole}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_printed_with_their_places() {
        for (value, scale, text) in [
            (0, 2, "0.00"),
            (-5, 2, "-0.05"),
            (123_456, 2, "1234.56"),
            (1_234, 4, "0.1234"),
            (-7, 0, "-7"),
        ] {
            assert_eq!(decimal(Numeric::new_with_scale(value, scale)), text);
        }
        assert_eq!(text(ColumnData::Bit(Some(true))).as_deref(), Some("1"));
        assert_eq!(text(ColumnData::String(None)), None);
    }

    #[test]
    fn times_are_counted_from_1970() {
        let ColumnData::DateTime2(Some(time)) = timestamp(0) else {
            panic!("a time")
        };
        // 0001-01-01 is day 0; 1970-01-01 is 719,162 days later.
        assert_eq!((time.date().days(), time.time().increments()), (719_162, 0));
        let coarse = DateTime2::new(time.date(), Time::new(3, 0));
        let fine = DateTime2::new(time.date(), Time::new(29, 7));
        assert_eq!((micros(coarse), micros(fine)), (Some(3_000_000), Some(2)));
        let beyond = Numeric::new_with_scale(i128::MAX, 2);
        assert!(value(ColumnData::Numeric(Some(beyond))).is_err());
        let uneven = Numeric::new_with_scale(5, 9);
        assert!(value(ColumnData::Numeric(Some(uneven))).is_err());
    }

    proptest! {
        #[test]
        fn values_come_back(number in -1_000_000_000_000_i64..1_000_000_000_000, ten_thousandths in 0..10_000) {
            prop_assert_eq!(value(cents(number)), Ok(Value::Cents(number)));
            prop_assert_eq!(value(rate(ten_thousandths)), Ok(Value::Rate(ten_thousandths.into())));
            prop_assert_eq!(value(timestamp(number.abs())), Ok(Value::Int(number.abs())));
        }
    }
}
