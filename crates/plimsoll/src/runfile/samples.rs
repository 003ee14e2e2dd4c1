//! Values of one time in a few bytes: zeros as bits, the others as floats of 24 bits.
//!
//! First a bit for each value, low ones of a byte first: whether it is not zero. Then the values that are not: sign,
//! exponent and the upper 15 bits of the mantissa of an IEEE 754 single, rounded, in three little-endian bytes. That is
//! off by at most 1 in 65,536, less than any of the sources is.

pub(super) fn encode(values: &[f32]) -> Vec<u8> {
    let mut data = vec![0; values.len().div_ceil(8)];
    for (i, value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        data[i / 8] |= 1 << (i % 8);
        let bits = value.to_bits();
        let rounded = bits.saturating_add(0x80);
        // The largest numbers are rounded down: a sample is finite.
        let bits = if f32::from_bits(rounded).is_finite() { rounded } else { bits };
        data.extend_from_slice(&bits.to_le_bytes()[1..]);
    }
    data
}

/// `None`: the data are not those of so many values.
pub(super) fn decode(data: &[u8], values: usize) -> Option<Vec<f32>> {
    let (mask, rest) = data.split_at_checked(values.div_ceil(8))?;
    let (triples, rest) = rest.as_chunks::<3>();
    let mut triples = triples.iter();
    let decoded: Option<Vec<f32>> = (0..values)
        .map(|i| match mask[i / 8] >> (i % 8) & 1 {
            0 => Some(0.0),
            _ => triples.next().map(|[low, middle, high]| f32::from_le_bytes([0, *low, *middle, *high])),
        })
        .collect();
    decoded.filter(|_| rest.is_empty() && triples.next().is_none())
}

/// Up to schema 2: 32-bit little-endian floats.
pub(super) fn decode_singles(data: &[u8], values: usize) -> Option<Vec<f32>> {
    let (singles, rest) = data.as_chunks::<4>();
    let is_whole = singles.len() == values && rest.is_empty();
    is_whole.then(|| singles.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zeros_are_bits() {
        assert_eq!(encode(&[0.0; 17]), [0; 3]);
        let some = encode(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.5]);
        assert_eq!(some.len(), 2 + 2 * 3);
        assert_eq!(decode(&some, 9).unwrap()[2..], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.5]);
        assert_eq!((decode(&some, 8), decode(&some[..7], 9), decode(&[], 1)), (None, None, None));
        assert!(decode(&encode(&[f32::MAX]), 1).unwrap()[0].is_finite());
    }

    proptest! {
        #[test]
        fn values_come_back_as_exact_as_it_says(values in prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::ZERO, 0..40)) {
            let back = decode(&encode(&values), values.len()).unwrap();
            for (value, back) in values.iter().zip(back) {
                prop_assert!((value - back).abs() <= value.abs() / 65_536.0, "{} {}", value, back);
            }
        }

        #[test]
        fn rubbish_never_panics(data: Vec<u8>, values in 0usize..99) {
            let _ = (decode(&data, values), decode_singles(&data, values));
        }
    }
}
