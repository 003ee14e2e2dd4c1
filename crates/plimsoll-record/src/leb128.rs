//! Whole numbers of any size in few bytes: seven bits a byte, the low ones first; the eighth marks that more follow.

pub fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// `None`: it ends inside a number, or the number has more than ten bytes. What a tenth byte has above 2^64 is cut off.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back_and_rubbish_never_panics(values in prop::collection::vec(any::<u64>(), 0..9), rubbish: Vec<u8>) {
            let mut out = Vec::new();
            values.iter().for_each(|value| put(*value >> (value % 64), &mut out));
            let mut data = out.as_slice();
            for value in &values {
                prop_assert_eq!(take(&mut data), Some(value >> (value % 64)));
            }
            prop_assert_eq!(take(&mut data), None);
            let _ = take(&mut rubbish.as_slice());
        }
    }
}
