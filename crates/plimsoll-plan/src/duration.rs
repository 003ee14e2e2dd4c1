//! Lengths of time as a person writes them: `"10s"`, `"1h 30m"`, `"250ms"`.

use jiff::fmt::friendly::SpanParser;

use crate::units::Nanos;

/// Longest length of time a plan may state. Far below where sums of times could overflow.
pub(super) const LONGEST: Nanos = Nanos::from_secs(30 * 24 * 3600);

/// Reads a length of time of at most 30 days; units from `ns` to `h`, decimals allowed (`"1.5s"`). `Err` names what is
/// wrong, as the end of a sentence that begins with the text.
pub fn parse(text: &str) -> Result<Nanos, &'static str> {
    let length = SpanParser::new()
        .parse_duration(text)
        .map_err(|_| "is not a length of time")?;
    if length.is_negative() {
        return Err("is negative");
    }
    match u64::try_from(length.as_nanos()).map(Nanos) {
        Ok(nanos) if nanos <= LONGEST => Ok(nanos),
        _ => Err("is longer than 30 days"),
    }
}

/// As options of drives have it: `11.25us`.
pub(crate) fn write_micros(time: Nanos) -> String {
    format!("{}us", time.0 as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn people_write_times_in_many_ways() {
        let read = |text| parse(text).map(|nanos| nanos.0);
        assert_eq!(read("10s"), Ok(10_000_000_000));
        assert_eq!(read("1h 30m"), Ok(5_400_000_000_000));
        assert_eq!(read("2m"), Ok(120_000_000_000));
        assert_eq!(read("250ms"), Ok(250_000_000));
        assert_eq!(read("0.5us"), Ok(500));
        assert_eq!(read("10 seconds"), Ok(10_000_000_000));
        assert_eq!(read("-1s"), Err("is negative"));
        assert_eq!(read("10"), Err("is not a length of time"));
        assert_eq!(read(""), Err("is not a length of time"));
        assert_eq!(read("721h"), Err("is longer than 30 days"));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(ns in 0..=LONGEST.0) {
            prop_assert_eq!(parse(&Nanos(ns).to_string()), Ok(Nanos(ns)));
        }

        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = parse(&text);
        }
    }
}
