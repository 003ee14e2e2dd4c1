//! Numbers on the command line.

/// Bytes: `512`, `4k`, `1m` or `2g`, in powers of 1024.
pub fn size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, shift) = match lower.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if lower.ends_with('k') => (digits, 10),
        Some(digits) if lower.ends_with('m') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (lower.as_str(), 0),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "give a number of bytes, such as 512, 4k or 1m".to_owned())?;
    match number.checked_mul(1 << shift) {
        Some(bytes @ 512..=1_073_741_824) => Ok(bytes),
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

pub fn seconds(text: &str) -> Result<f64, String> {
    between(
        text,
        0.001,
        86_400.0,
        "give a number of seconds between 0.001 and 86400",
    )
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
        assert_eq!(
            [size("512"), size("4k"), size("1M")],
            [Ok(512), Ok(4096), Ok(1 << 20)]
        );
        for bad in ["", "k", "1", "-4k", "4kk", "99999999999g", "2g", "4.5k"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(share("50"), Ok(0.5));
        assert!(positive("nan").is_err() && positive("0").is_err() && seconds("inf").is_err());
    }
}
