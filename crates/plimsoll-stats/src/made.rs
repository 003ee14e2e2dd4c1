//! Made-up series of known mean and correlation, for tests.

use crate::split_mix;

/// Autoregressive of first order around 1000: neighbours correlate by `correlation`, and all scatter by `spread` of it.
pub fn series(seed: u64, n: usize, correlation: f64, spread: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut x = normal(&mut state);
    let fresh = (1.0 - correlation * correlation).sqrt();
    (0..n)
        .map(|_| {
            x = correlation * x + fresh * normal(&mut state);
            1000.0 * (1.0 + spread * x)
        })
        .collect()
}

fn normal(state: &mut u64) -> f64 {
    (0..12)
        .map(|_| (split_mix(state) >> 11) as f64 / (1u64 << 53) as f64)
        .sum::<f64>()
        - 6.0
}
