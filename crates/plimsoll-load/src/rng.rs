//! The one source of randomness: xoshiro256++ (Blackman and Vigna, 2019), seeded by SplitMix64.
//!
//! Own code because runs must be reproducible for years: the sequence of a library's "small" generator may change with
//! its version.

/// A seeded generator. Equal seeds give equal sequences, always.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

/// One step of SplitMix64: spreads a seed's bits.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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

    /// Fisher–Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.between(0, i as u64) as usize);
        }
    }
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
}
