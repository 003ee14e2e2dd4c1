//! A ratio as it is shown: rounded once, so that ratio and percent agree.

use serde::Serialize;

/// A rounded ratio, and the change in percent that follows from the rounded value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoundedRatio {
    pub ratio: f64,
    /// Digits after the point with which the ratio is shown.
    pub decimals: usize,
    /// (ratio − 1) × 100, of the ratio as it is shown: never negative; `more` gives the direction.
    pub percent: f64,
    pub more: bool,
}

impl RoundedRatio {
    /// Three decimals near 1, where a percent counts; else three significant digits.
    pub fn of(ratio: f64) -> Self {
        let decimals = match (ratio - 1.0).abs() {
            off if off < 0.0995 => 3,
            _ if ratio < 9.995 => 2,
            _ if ratio < 99.95 => 1,
            _ => 0,
        };
        let unit = 10f64.powi(decimals as i32);
        let shown = (ratio * unit).round() / unit;
        Self {
            ratio: shown,
            decimals,
            percent: (shown - 1.0).abs() * 100.0,
            more: shown >= 1.0,
        }
    }

    pub fn ratio_text(&self) -> String {
        format!("{:.*}", self.decimals, self.ratio)
    }

    /// `42`, `3.4`.
    pub fn percent_text(&self) -> String {
        format!("{:.*}", self.decimals.saturating_sub(2), self.percent)
    }

    /// Another ratio with as many digits: the end of an interval.
    pub fn like(&self, ratio: f64) -> String {
        format!("{ratio:.*}", self.decimals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_follows_from_the_ratio_that_is_shown() {
        let of = |ratio: f64| {
            (
                RoundedRatio::of(ratio).ratio_text(),
                RoundedRatio::of(ratio).percent_text(),
                RoundedRatio::of(ratio).more,
            )
        };
        assert_eq!(of(1.4249), ("1.42".into(), "42".into(), true));
        assert_eq!(of(1.0341), ("1.034".into(), "3.4".into(), true));
        assert_eq!(of(0.966), ("0.966".into(), "3.4".into(), false));
        assert_eq!(of(0.5), ("0.50".into(), "50".into(), false));
        assert_eq!(of(12.34), ("12.3".into(), "1130".into(), true));
        assert_eq!(of(1.0), ("1.000".into(), "0.0".into(), true));
        assert_eq!(of(123.4), ("123".into(), "12200".into(), true));
    }

    #[test]
    fn percent_and_ratio_agree_for_every_value() {
        for i in 1..4000 {
            let rounded = RoundedRatio::of(f64::from(i) / 400.0);
            let (ratio, percent): (f64, f64) = (
                rounded.ratio_text().parse().unwrap(),
                rounded.percent_text().parse().unwrap(),
            );
            let from_percent = if rounded.more {
                1.0 + percent / 100.0
            } else {
                1.0 - percent / 100.0
            };
            assert!((from_percent - ratio).abs() < 1e-9, "{rounded:?}");
        }
    }
}
