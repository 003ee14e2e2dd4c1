//! The one source of randomness: xoshiro256++ (Blackman and Vigna, 2019), seeded by SplitMix64.
//!
//! Own code because runs must be reproducible for years: the sequence of a library's "small" generator may change with
//! its version.

use crate::split_mix;

/// A seeded generator. Equal seeds give equal sequences, always.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    pub fn new(seed: u64) -> Self {
        let mut s = seed;
        Self {
            state: std::array::from_fn(|_| split_mix(&mut s)),
        }
    }

    /// An independent stream for a part of the work, named by numbers: `Rng::stream(seed, &[table, warehouse])`.
    pub fn stream(seed: u64, path: &[u64]) -> Self {
        let mut s = seed;
        for part in path {
            s = split_mix(&mut s) ^ part.wrapping_mul(0xd134_2543_de82_ef95);
        }
        Self::new(s)
    }

    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let c = c ^ a;
        let d = d ^ b;
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Uniform in `low..=high` (Lemire's multiply-shift; the bias is below 2⁻³² for ranges below 2³²).
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        debug_assert!(low <= high);
        low + ((u128::from(self.next_u64()) * u128::from(high - low + 1)) >> 64) as u64
    }

    /// Uniform in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with a chance of `percent` in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// Exponentially distributed with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Fills with random letters and digits, ten per random number.
    pub fn fill_letters(&mut self, out: &mut [u8]) {
        let (groups, rest) = out.as_chunks_mut::<10>();
        for group in groups {
            let mut bits = self.next_u64();
            for pair in group.as_chunks_mut::<2>().0 {
                *pair = PAIRS[take(&mut bits, ALL_PAIRS)];
            }
        }
        let mut bits = self.next_u64();
        for byte in rest {
            *byte = ALPHABET[take(&mut bits, ALPHABET.len())];
        }
    }

    /// Fisher–Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.between(0, i as u64) as usize);
        }
    }
}

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const ALL_PAIRS: usize = ALPHABET.len() * ALPHABET.len();

/// All pairs of [`ALPHABET`].
static PAIRS: [[u8; 2]; ALL_PAIRS] = {
    let mut pairs = [[0; 2]; ALL_PAIRS];
    let mut i = 0;
    while i < ALL_PAIRS {
        pairs[i] = [ALPHABET[i / ALPHABET.len()], ALPHABET[i % ALPHABET.len()]];
        i += 1;
    }
    pairs
};

/// Takes a number below `n` from 64 random bits, read as a fraction: its integer part times `n`, while the rest stays for
/// the next. Ten letters and digits take 59.5 bits.
fn take(bits: &mut u64, n: usize) -> usize {
    let product = u128::from(*bits) * n as u128;
    *bits = product as u64;
    (product >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_never_changes() {
        // Reference values of xoshiro256++ from the state 1, 2, 3, 4 (the authors' C code).
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let first: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [41943041, 58720359, 3588806011781223, 3591011842654386]
        );
    }

    #[test]
    fn bounds_are_reached_and_kept() {
        let mut rng = Rng::new(7);
        let drawn: Vec<u64> = (0..10_000).map(|_| rng.between(3, 9)).collect();
        assert_eq!(
            (drawn.iter().min(), drawn.iter().max()),
            (Some(&3), Some(&9))
        );
        let mean = (0..100_000).map(|_| rng.exponential(5.0)).sum::<f64>() / 1e5;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn streams_differ() {
        assert_ne!(
            Rng::stream(1, &[1, 2]).next_u64(),
            Rng::stream(1, &[2, 1]).next_u64()
        );
        assert_ne!(
            Rng::stream(1, &[1]).next_u64(),
            Rng::stream(2, &[1]).next_u64()
        );
    }

    #[test]
    fn all_letters_and_digits_are_equally_frequent() {
        let mut text = vec![0; 620_000];
        Rng::new(3).fill_letters(&mut text);
        // Each comes 10,000 times, with a standard deviation of 99; the places of a group of ten one by one.
        let of = |place: usize| text.iter().skip(place).step_by(10);
        for letter in (0..128u8).filter(u8::is_ascii_alphanumeric) {
            let all = text.iter().filter(|byte| **byte == letter).count();
            assert!((9_500..10_500).contains(&all), "{}: {all}", letter as char);
            let last = of(9).filter(|byte| **byte == letter).count();
            assert!(
                (840..1_160).contains(&last),
                "{}: {last} in the last place",
                letter as char
            );
        }
    }
}
