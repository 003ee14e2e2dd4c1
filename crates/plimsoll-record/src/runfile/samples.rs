//! Values of one time in a few bytes: zeros as bits, the others as floats of 24 bits.
//!
//! First a bit for each value, low ones of a byte first: whether it is not zero. Then the values that are not: sign,
//! exponent and the upper 15 bits of the mantissa of an IEEE 754 single, rounded, in three little-endian bytes. That is
//! off by at most 1 in 65,536, less than any of the sources is.

pub(super) fn encode(values: &[f32]) -> Vec<u8> {
    let mut data = vec![0; values.len().div_ceil(8)];
    for (i, value) in values
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0.0)
    {
        data[i / 8] |= 1 << (i % 8);
        let bits = value.to_bits();
        let rounded = bits.saturating_add(0x80);
        // The largest numbers are rounded down: a sample is finite.
        let bits = if f32::from_bits(rounded).is_finite() {
            rounded
        } else {
            bits
        };
        data.extend_from_slice(&bits.to_le_bytes()[1..]);
    }
    data
}

/// Puts the values that the data hold into `into`, and nothing else. `None`: they are not those of so many.
pub(super) fn decode(data: &[u8], values: usize, into: &mut Vec<f32>) -> Option<()> {
    into.clear();
    let (mask, rest) = data.split_at_checked(values.div_ceil(8))?;
    let (triples, rest) = rest.as_chunks::<3>();
    let mut triples = triples.iter();
    for i in 0..values {
        into.push(match mask[i / 8] >> (i % 8) & 1 {
            0 => 0.0,
            _ => triples
                .next()
                .map(|[low, middle, high]| f32::from_le_bytes([0, *low, *middle, *high]))?,
        });
    }
    (rest.is_empty() && triples.next().is_none()).then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(data: &[u8], values: usize) -> Option<Vec<f32>> {
        let mut into = vec![7.0];
        decode(data, values, &mut into).map(|()| into)
    }

    #[test]
    fn zeros_are_bits() {
        assert_eq!(encode(&[0.0; 17]), [0; 3]);
        let some = encode(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.5]);
        assert_eq!(some.len(), 2 + 2 * 3);
        assert_eq!(
            decoded(&some, 9).unwrap()[2..],
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.5]
        );
        assert_eq!(
            (decoded(&some, 8), decoded(&some[..7], 9), decoded(&[], 1)),
            (None, None, None)
        );
        assert!(decoded(&encode(&[f32::MAX]), 1).unwrap()[0].is_finite());
    }

    proptest! {
        #[test]
        fn values_come_back_within_the_stated_error(values in prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::ZERO, 0..40)) {
            let back = decoded(&encode(&values), values.len()).unwrap();
            for (value, back) in values.iter().zip(back) {
                prop_assert!((value - back).abs() <= value.abs() / 65_536.0, "{} {}", value, back);
            }
        }

        #[test]
        fn rubbish_never_panics(data: Vec<u8>, values in 0usize..99) {
            let mut into = Vec::new();
            let _ = decode(&data, values, &mut into);
        }
    }
}
