//! Random draws of the model: a generator of one multiplication chain, and latencies by table.

use crate::spec::Latency;

/// SplitMix64 (Steele, Lea and Flood, 2014). Equal seeds give equal sequences, always.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Uniform in `0..n`, by multiply-shift.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.draw()) * u128::from(n)) >> 64) as u64
    }

    /// Uniform in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Spreads a number's bits.
#[inline]
pub fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

const ENTRIES: usize = 4096;

/// A lognormal distribution as its quantiles, so that a draw is one look-up. The outermost of 4096 equal parts is drawn
/// as its middle: nothing beyond 3.7 standard deviations is drawn, and the mean is a little low.
#[derive(Debug, Clone)]
pub struct LognormalTable {
    ns: Box<[u32]>,
}

impl LognormalTable {
    pub fn new(latency: Latency) -> Self {
        const Z99: f64 = 2.326_347_874;
        let median = (latency.median.0 as f64).max(1.0);
        let sigma = (latency.p99.0 as f64 / median).max(1.0).ln() / Z99;
        let ns = (0..ENTRIES).map(|entry| {
            let z = normal_quantile((entry as f64 + 0.5) / ENTRIES as f64);
            (median * (sigma * z).exp()).min(f64::from(u32::MAX)) as u32
        });
        Self { ns: ns.collect() }
    }

    /// Takes the twelve highest bits of `random`.
    #[inline]
    pub fn at(&self, random: u64) -> u64 {
        u64::from(self.ns[(random >> 52) as usize & (ENTRIES - 1)])
    }
}

/// Inverse of the normal distribution function, to within 1.2·10⁻⁹ (Acklam's rational approximation).
fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] = [
        7.784695709041462e-3,
        3.224671290700398e-1,
        2.445134137142996,
        3.754408661907416,
        1.0,
    ];
    const TAIL: f64 = 0.02425;
    if p < TAIL {
        let q = (-2.0 * p.ln()).sqrt();
        horner(&C, q) / horner(&D, q)
    } else if p > 1.0 - TAIL {
        -normal_quantile(1.0 - p)
    } else {
        let q = p - 0.5;
        horner(&A, q * q) * q / horner(&B, q * q)
    }
}

/// The polynomial with these coefficients, the highest power first.
fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::units::Nanos;

    #[test]
    fn the_normal_distribution_is_inverted() {
        for (p, z) in [
            (0.5, 0.0),
            (0.841_344_746, 1.0),
            (0.99, 2.326_347_874),
            (0.001, -3.090_232_306),
        ] {
            assert!(
                (normal_quantile(p) - z).abs() < 1e-6,
                "{p}: {}",
                normal_quantile(p)
            );
        }
    }

    #[test]
    fn median_and_tail_are_as_specified() {
        let table = LognormalTable::new(Latency {
            median: Nanos(100_000),
            p99: Nanos(250_000),
        });
        let mut random = Random::new(1);
        let mut drawn: Vec<u64> = (0..100_000).map(|_| table.at(random.draw())).collect();
        drawn.sort_unstable();
        assert!(
            (99_000..101_000).contains(&drawn[50_000]),
            "{}",
            drawn[50_000]
        );
        assert!(
            (240_000..260_000).contains(&drawn[99_000]),
            "{}",
            drawn[99_000]
        );
        // exp(σ²/2) times the median, less the tail that is not drawn.
        let (mean, sigma) = (
            drawn.iter().sum::<u64>() as f64 / 1e5,
            2.5f64.ln() / 2.326_347_874,
        );
        assert!(
            (mean / (100_000.0 * (sigma * sigma / 2.0).exp()) - 1.0).abs() < 0.01,
            "{mean}"
        );
    }
}
