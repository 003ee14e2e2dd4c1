//! Draws that are the same for ever, apart for each stream.

/// SplitMix64 (Steele, Lea and Flood 2014).
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    pub fn new(stream: u64) -> Self {
        let mut state = stream;
        Self(split_mix(&mut state))
    }

    /// In `0..n`; `n` is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        // Multiply and shift (Lemire 2019); the bias is below n / 2^64.
        ((u128::from(split_mix(&mut self.0)) * n as u128) >> 64) as usize
    }

    /// In 0..1, neither end among them.
    pub fn uniform(&mut self) -> f64 {
        ((split_mix(&mut self.0) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Of the standard normal distribution (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
