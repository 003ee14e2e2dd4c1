//! Numbers on the command line.

use clap::builder::TypedValueParser;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_plan::{LONGEST_TEXT, duration};

/// A size as plans have it, such as `20GiB`; also bytes without a unit, and `4k`, `512M` or `2G` in powers of 1024.
pub fn size(text: &str) -> Result<Bytes, String> {
    let text = text.trim();
    let missing = match text.bytes().last() {
        Some(b'0'..=b'9') => "B",
        Some(b'k' | b'K' | b'm' | b'M' | b'g' | b'G' | b't' | b'T') => "iB",
        _ => "",
    };
    plimsoll_plan::size::parse(&format!("{text}{missing}"))
        .map_err(|fault| format!("it {fault}; give a size such as 4096, 4k, 512M or 20GB"))
}

/// A title or label: one line.
pub fn line(text: &str) -> Result<String, String> {
    match text.chars().count() {
        0..=LONGEST_TEXT if !text.chars().any(char::is_control) => Ok(text.to_owned()),
        0..=LONGEST_TEXT => Err("it holds line breaks or control characters".to_owned()),
        _ => Err(format!("it is longer than {LONGEST_TEXT} characters")),
    }
}

/// A plan is TOML, whose integers have a sign.
pub fn seed() -> impl TypedValueParser<Value = u64> {
    clap::value_parser!(u64).range(..=i64::MAX as u64)
}

/// The size of a request.
pub fn request_size(text: &str) -> Result<u64, String> {
    match size(text)?.0 {
        bytes @ 512..=1_073_741_824 => Ok(bytes),
        _ => Err("give a size between 512 bytes and 1g".to_owned()),
    }
}

pub fn positive(text: &str) -> Result<f64, String> {
    between(
        text,
        f64::MIN_POSITIVE,
        1e8,
        "give a number above 0, at most 100000000",
    )
}

/// Percent, as a share of 1.
pub fn share(text: &str) -> Result<f64, String> {
    between(text, 1e-6, 100.0, "give a number above 0, at most 100").map(|percent| percent / 100.0)
}

/// Less than all, as a share of 1.
pub fn share_below_all(text: &str) -> Result<f64, String> {
    between(text, 1e-6, 99.9, "give a number above 0, at most 99.9").map(|percent| percent / 100.0)
}

pub fn not_negative(text: &str) -> Result<f64, String> {
    between(text, 0.0, 1e8, "give a number from 0 to 100000000")
}

/// A size above 0.
pub fn rate(text: &str) -> Result<Bytes, String> {
    size(text)
        .ok()
        .filter(|bytes| bytes.0 > 0)
        .ok_or_else(|| "give bytes in a second, such as 50MB".to_owned())
}

pub fn seconds(text: &str) -> Result<f64, String> {
    between(
        text,
        0.001,
        86_400.0,
        "give a number of seconds between 0.001 and 86400",
    )
}

/// Seconds, or a time with its unit.
pub fn time(text: &str) -> Result<Nanos, String> {
    let is_bare = text.ends_with(|last: char| last.is_ascii_digit());
    let unit = if is_bare { "s" } else { "" };
    duration::parse(&format!("{text}{unit}"))
        .map_err(|fault| format!("it {fault}; give 60, 60s or 5m"))
}

fn between(text: &str, low: f64, high: f64, help: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number| (low..=high).contains(number))
        .ok_or_else(|| help.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_nonsense_is_refused() {
        let sizes = [
            ("512", 512),
            ("2k", 2048),
            ("64M", 64 << 20),
            ("1m", 1 << 20),
            ("4.5G", 9 << 29),
            ("20GiB", 20 << 30),
            ("20gib", 20 << 30),
            ("64 MB", 64_000_000),
        ];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Ok(Bytes(bytes)), "{text}");
        }
        for bad in [
            "",
            "k",
            "M",
            "GiB",
            "-1",
            "4kk",
            "4 kM",
            "1.2.3G",
            "99999999999T",
            "99999999TiB",
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(
            [request_size("512"), request_size("4k")],
            [Ok(512), Ok(4096)]
        );
        for bad in ["", "1", "-4k", "99999999999g", "2g"] {
            assert!(request_size(bad).is_err(), "{bad}");
        }
        assert_eq!(share("50"), Ok(0.5));
        assert!(positive("nan").is_err() && positive("0").is_err() && seconds("inf").is_err());
    }
}
