//! Intervals, ranks, change points. `docs/compare.md` and `docs/method.md` describe them with their measured coverage.

mod divisive;
mod draws;
mod interval;
mod latency;
mod rank;
mod student;
mod trend;
mod window;

pub use divisive::{ChangePoint, change_points};
pub use draws::Draws;
pub use interval::{FEWEST_REPEATS, Interval};
pub use latency::{Slice, repeats_quantile, window_quantile};
pub use rank::{RankTest, rank_test};
pub use student::t_975;
pub use trend::{Trend, trend};
pub use window::{SHORTEST_S, TooShort, mean_interval, rate_interval};

#[cfg(test)]
pub(crate) mod made {
    //! Series for tests.

    use crate::draws::split_mix;

    /// Autoregressive of first order around 1000: neighbours correlate by `correlation`, and all scatter by `spread` of it.
    pub fn series(seed: u64, n: usize, correlation: f64, spread: f64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let mut normal = || {
            (0..12)
                .map(|_| (split_mix(&mut state) >> 11) as f64 / (1u64 << 53) as f64)
                .sum::<f64>()
                - 6.0
        };
        let mut x = normal();
        let fresh = (1.0 - correlation * correlation).sqrt();
        let step = |_| {
            x = correlation * x + fresh * normal();
            1000.0 * (1.0 + spread * x)
        };
        (0..n).map(step).collect()
    }
}
