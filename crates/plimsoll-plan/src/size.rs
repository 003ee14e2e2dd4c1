//! Sizes as a person writes them: `"16GiB"`, `"512 MiB"`, `"1.5TB"`.

use crate::units::Bytes;

/// Largest size a plan may state. Far below where sums of sizes could overflow.
pub(super) const LARGEST: Bytes = Bytes(1 << 50);

/// Largest first, so that a size is shown in the largest unit that it is a whole number of.
const UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
];

/// Reads a size of at most 1 PiB: a number, decimals allowed, and a unit in any case. `Err` names what is wrong, as the
/// end of a sentence that begins with the text.
pub fn parse(text: &str) -> Result<Bytes, &'static str> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number = &text[..end];
    let unit = text[end..].trim();
    if number.parse::<f64>().is_err() {
        return Err(if text.starts_with('-') {
            "is negative"
        } else {
            "is not a size"
        });
    }
    let factor = match UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
    {
        Some((_, factor)) => *factor,
        None if unit.eq_ignore_ascii_case("b") => 1,
        None if unit.is_empty() => return Err("has no unit"),
        None => return Err("is not a size"),
    };
    // Whole numbers stay exact; only those with decimals go through a float.
    let bytes = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(factor),
        Err(_) => number
            .parse::<f64>()
            .ok()
            .map(|number| (number * factor as f64).round() as u64),
    };
    bytes
        .map(Bytes)
        .filter(|bytes| *bytes <= LARGEST)
        .ok_or("is larger than 1 PiB")
}

/// The shortest exact writing of a size, as plans have it: `4KiB`.
pub fn write(bytes: Bytes) -> String {
    match UNITS
        .iter()
        .find(|(_, factor)| bytes.0 > 0 && bytes.0.is_multiple_of(*factor))
    {
        Some((unit, factor)) => format!("{}{unit}", bytes.0 / factor),
        None => format!("{}B", bytes.0),
    }
}

/// The size with a binary unit that a decimal one was written for: `8KiB` for 8 kB.
pub fn binary(bytes: Bytes) -> Option<String> {
    let decimal =
        |(unit, factor): &&(&str, u64)| !unit.contains('i') && bytes.0.is_multiple_of(*factor);
    let (unit, factor) = UNITS.iter().find(decimal).filter(|_| bytes.0 > 0)?;
    let prefix = unit.trim_end_matches('B').to_uppercase();
    Some(format!("{}{prefix}iB", bytes.0 / factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn people_write_sizes_in_many_ways() {
        let read = |text| parse(text).map(|bytes| bytes.0);
        assert_eq!(read("16GiB"), Ok(16 << 30));
        assert_eq!(read("512 MiB"), Ok(512 << 20));
        assert_eq!(read("960GB"), Ok(960_000_000_000), "a GB is not a GiB");
        assert_eq!(read("1.5 tib"), Ok(3 << 39));
        assert_eq!(read("4096 B"), Ok(4096));
        assert_eq!(read("1024TiB"), Ok(1 << 50));
        assert_eq!(read("1025TiB"), Err("is larger than 1 PiB"));
        assert_eq!(
            read("99999999999999999999 GiB"),
            Err("is larger than 1 PiB")
        );
        assert_eq!(read("16"), Err("has no unit"));
        assert_eq!(read("-1GiB"), Err("is negative"));
        assert_eq!(read("1.2.3GiB"), Err("is not a size"));
        assert_eq!(read("16 GiBs"), Err("is not a size"));
        assert_eq!(read(""), Err("is not a size"));
    }

    #[test]
    fn sizes_are_shown_in_the_unit_they_were_written_in() {
        for text in ["16GiB", "960GB", "512MiB", "1TiB", "2TB", "1537B"] {
            assert_eq!(parse(text).map(write).as_deref(), Ok(text));
        }
    }

    #[test]
    fn a_decimal_unit_has_a_binary_one() {
        let binary = |bytes| binary(Bytes(bytes));
        assert_eq!(binary(8_000).as_deref(), Some("8KiB"));
        assert_eq!(binary(1_000_000).as_deref(), Some("1MiB"));
        assert_eq!((binary(513), binary(0)), (None, None));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(bytes in 0..=LARGEST.0) {
            prop_assert_eq!(parse(&write(Bytes(bytes))), Ok(Bytes(bytes)));
        }

        #[test]
        fn rubbish_never_panics(text in "(.*|[0-9.]{0,30} ?[kKmMgGtT]?i?[bB]?)") {
            let _ = parse(&text);
        }
    }
}
