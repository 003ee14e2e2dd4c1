//! Numbers as people read them. What machines read is in [`crate::export`].

use plimsoll_plan::units::Nanos;
use plimsoll_record::OfferedLoad;

/// What stands for a figure that there is not.
pub const NONE: &str = "–";

/// Rounded, with thousands separators: `41,203`.
pub fn whole(value: f64) -> String {
    decimals(value, 0)
}

/// So many decimals, with thousands separators: `1,234.5`.
pub fn decimals(value: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", value.abs());
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut out = String::with_capacity(digits.len() + whole / 3 + 1);
    if value < 0.0 && digits.contains(|digit| ('1'..='9').contains(&digit)) {
        out.push('-');
    }
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Three significant digits, never an exponent: `0.0123`, `1.23`, `12.3`, `123`, `1,230`.
pub fn three(value: f64) -> String {
    significant(value, 3)
}

/// Two significant digits: `0.012`, `1.2`, `12`.
pub fn two(value: f64) -> String {
    significant(value, 2)
}

fn significant(value: f64, digits: i32) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    // 9.996 reads 10.0 and not 10.00: the number of decimals follows the rounded value.
    let exponent = size.log10().floor() as i32;
    let unit = 10f64.powi(exponent - digits + 1);
    let rounded = (size / unit).round() * unit;
    let decimals = digits - 1 - (rounded.log10() + 1e-9).floor() as i32;
    if decimals <= 0 {
        return whole(rounded.copysign(value));
    }
    format!("{:.*}", decimals.min(9) as usize, value)
}

/// Percent with one decimal; below 0.1 with three digits, so that little is not shown as nothing.
pub fn percent(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.1 {
        three(value)
    } else {
        format!("{value:.1}")
    }
}

/// `8.3 ms`, `120 µs`.
pub fn time(time: Nanos) -> String {
    match time.0 {
        ns if ns >= 10_000_000_000 => format!("{:.0} s", ns as f64 / 1e9),
        ns if ns >= 1_000_000_000 => format!("{:.1} s", ns as f64 / 1e9),
        ns if ns >= 1_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        ns => format!("{:.0} µs", ns as f64 / 1e3),
    }
}

/// Users, or the offered rate: `16`, `412`, `100 → 500`.
pub fn load(load: OfferedLoad) -> String {
    match (load.offered_per_second, load.offered_to_per_second) {
        (Some(from), Some(to)) => format!("{} → {}", three(from), three(to)),
        (Some(rate), None) => three(rate),
        // An imported run whose source does not report it.
        (None, _) if load.users == 0 => NONE.to_owned(),
        (None, _) => load.users.to_string(),
    }
}

/// The same, with `/s` behind a rate: beside loads that are users.
pub fn load_or_rate(of: OfferedLoad) -> String {
    let unit = if of.is_open() { "/s" } else { "" };
    format!("{}{unit}", load(of))
}

/// `value` as `format` shows it, or a dash.
pub fn or_none(value: Option<f64>, format: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), format)
}

/// A percentile as people write it: `p99.9`.
pub fn percentile_name(name: &str) -> String {
    name.replace("p999", "p99.9")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let shown: Vec<String> = [0.0, 7.4, 999.5, 1234.0, 1_234_567.8, -1234.0, -0.2]
            .map(whole)
            .into();
        assert_eq!(
            shown,
            ["0", "7", "1,000", "1,234", "1,234,568", "-1,234", "0"]
        );
    }

    #[test]
    fn three_digits_are_significant() {
        let shown: Vec<String> = [
            0.0, 0.012345, 0.9996, 1.0, 1.2345, 9.996, 99.96, 123.4, 999.6, 1234.5, -1.2345,
        ]
        .map(three)
        .into();
        assert_eq!(
            shown,
            [
                "0", "0.0123", "1.00", "1.00", "1.23", "10.0", "100", "123", "1,000", "1,230",
                "-1.23"
            ]
        );
    }

    #[test]
    fn decimals_are_not_grouped() {
        let shown = [-1234.5, 0.25, -0.01].map(|value| decimals(value, 1));
        assert_eq!(shown, ["-1,234.5", "0.2", "0.0"]);
    }

    #[test]
    fn little_is_not_nothing() {
        let shown: Vec<String> = [0.0, 0.0123, 0.5, 99.96].map(percent).into();
        assert_eq!(shown, ["0.0", "0.0123", "0.5", "100.0"]);
    }
}
