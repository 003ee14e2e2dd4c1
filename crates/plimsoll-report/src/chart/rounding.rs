//! Digits of what charts are drawn from.

use plimsoll_plan::units::Nanos;

/// To the millisecond: finer than anything that is drawn.
pub(crate) fn seconds(at: Nanos) -> f64 {
    (at.0 as f64 / 1e6).round() / 1e3
}

/// As [`seconds`], of a time in seconds.
pub(crate) fn millis(s: f64) -> f64 {
    (s * 1e3).round() / 1e3
}

/// Four significant digits: finer than anything that is drawn.
pub(crate) fn short(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let unit = 10f64.powi(3 - value.abs().log10().floor() as i32);
    let rounded = (value * unit).round() / unit;
    if rounded.is_finite() { rounded } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_kept() {
        assert_eq!(
            [123_456.0, 1.234_56, 0.000_123_456, 0.0].map(short),
            [123_500.0, 1.235, 0.000_123_5, 0.0]
        );
    }
}
