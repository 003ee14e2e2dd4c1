//! Rows as LOAD DATA reads them: tabs between columns, line feeds between rows, `\N` for NULL.

use std::io::{self, Write};

use crate::engine::LoadControl;
use crate::engine::sql::part::{PartSink, Pieces};
use crate::workload::tpcc::rows::RowSink;

/// Encodes the rows of one LOAD DATA.
pub struct TsvSink<'a, W: Write> {
    pieces: Pieces<'a, W>,
    /// The last timestamp and its text: a load has one.
    time: (i64, String),
}

impl<'a, W: Write> TsvSink<'a, W> {
    pub fn new(to: W, control: &'a LoadControl) -> Self {
        Self {
            pieces: Pieces::new(to, control),
            time: (0, datetime(0)),
        }
    }

    pub fn end(self) -> io::Result<()> {
        self.pieces.end()
    }

    fn tab(&mut self) {
        self.pieces.out.push(b'\t');
    }

    fn decimal(&mut self, value: i64, unit: i64, places: usize) {
        let out = &mut self.pieces.out;
        if value < 0 {
            out.push(b'-');
        }
        let magnitude = value.unsigned_abs();
        let unit = unit.unsigned_abs();
        put(out, magnitude / unit, 1);
        out.push(b'.');
        put(out, magnitude % unit, places);
        self.tab();
    }
}

impl<W: Write> PartSink for TsvSink<'_, W> {
    fn is_closed(&self) -> bool {
        self.pieces.is_closed()
    }
}

/// Digits, at least so many.
fn put(out: &mut Vec<u8>, mut value: u64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while value > 0 {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&digits[first.min(digits.len() - least)..]);
}

impl<W: Write> RowSink for TsvSink<'_, W> {
    #[inline]
    fn int(&mut self, value: i32) {
        if value < 0 {
            self.pieces.out.push(b'-');
        }
        put(&mut self.pieces.out, u64::from(value.unsigned_abs()), 1);
        self.tab();
    }

    #[inline]
    fn cents(&mut self, value: i64) {
        self.decimal(value, 100, 2);
    }

    #[inline]
    fn rate(&mut self, ten_thousandths: i32) {
        self.decimal(ten_thousandths.into(), 10_000, 4);
    }

    /// The population is made of letters, digits and blanks (clause 4.3.2.2): nothing to escape.
    #[inline]
    fn text(&mut self, value: &str) {
        self.pieces.out.extend_from_slice(value.as_bytes());
        self.tab();
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        if self.time.0 != micros {
            self.time = (micros, datetime(micros));
        }
        self.pieces.out.extend_from_slice(self.time.1.as_bytes());
        self.tab();
    }

    #[inline]
    fn null(&mut self) {
        self.pieces.out.extend_from_slice(b"\\N\t");
    }

    #[inline]
    fn end_row(&mut self) {
        // In the place of the last column's tab.
        if let Some(last) = self.pieces.out.last_mut() {
            *last = b'\n';
        }
        self.pieces.end_row();
    }
}

const DAY_MICROS: i64 = 86_400_000_000;

/// A DATETIME(6) in UTC. Days to dates as in Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>).
fn datetime(unix_micros: i64) -> String {
    let days = unix_micros.div_euclid(DAY_MICROS);
    let micros = unix_micros.rem_euclid(DAY_MICROS);
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let seconds = micros / 1_000_000;
    let micros = micros % 1_000_000;
    let hour = seconds / 3_600;
    let minute = seconds / 60 % 60;
    let second = seconds % 60;
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines() {
        let control = LoadControl::default();
        let mut out = Vec::new();
        let mut sink = TsvSink::new(&mut out, &control);
        for value in [0, 7, -12, i32::MIN] {
            sink.int(value);
        }
        for value in [0, 5, -1_000, 123_456] {
            sink.cents(value);
        }
        sink.rate(1_234);
        sink.rate(5);
        sink.text("ab c");
        sink.null();
        sink.end_row();
        sink.timestamp(1_000_001);
        sink.end_row();
        sink.end().unwrap();
        let expected = "0\t7\t-12\t-2147483648\t0.00\t0.05\t-10.00\t1234.56\t0.1234\t0.0005\tab c\t\\N\n\
                        1970-01-01 00:00:01.000001\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(control.done(), 2);
    }

    #[test]
    fn dates_are_the_calendars() {
        for (micros, text) in [
            (0, "1970-01-01 00:00:00.000000"),
            (951_782_400_000_000, "2000-02-29 00:00:00.000000"),
            (1_709_251_199_999_999, "2024-02-29 23:59:59.999999"),
            (1_767_225_600_000_000, "2026-01-01 00:00:00.000000"),
        ] {
            assert_eq!(datetime(micros), text);
        }
    }
}
