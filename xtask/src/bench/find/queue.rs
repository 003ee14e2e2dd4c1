//! A queue with equal servers, first come, first served: its 99th percentile, and the rate at which that is a limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Customers of one simulation. At 95 % of the capacity the rate is then known to about 0.2 %.
const CUSTOMERS: usize = 400_000;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Copy)]
pub enum Arrivals {
    Constant,
    Poisson,
}

impl Arrivals {
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Poisson => "poisson",
        }
    }
}

/// Parts of a service time, in seconds, that are added.
#[derive(Clone, Copy)]
pub struct Service {
    pub fixed_s: f64,
    /// Uniform up to this.
    pub jitter_s: f64,
    /// Mean.
    pub exponential_s: f64,
    /// Share of the customers, and what they take more.
    pub slow: (f64, f64),
}

#[derive(Clone, Copy)]
pub struct System {
    pub servers: u32,
    pub arrivals: Arrivals,
    pub service: Service,
    /// All servers rest so long at the beginning of each second.
    pub stall_s: f64,
}

impl System {
    /// The rate at which the 99th percentile of response times is `limit_s`.
    pub fn line(&self, limit_s: f64) -> f64 {
        let Service {
            fixed_s,
            jitter_s,
            exponential_s,
            slow: (share, by),
        } = self.service;
        let mean = fixed_s + jitter_s / 2.0 + exponential_s + share * by;
        let capacity = f64::from(self.servers) / mean * (1.0 - self.stall_s);
        let [mut low, mut high] = [0.01, 0.9999].map(|share| share * capacity);
        for _ in 0..16 {
            let middle = (low + high) / 2.0;
            if self.p99(middle) <= limit_s {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low + high) / 2.0
    }

    fn p99(&self, rate: f64) -> f64 {
        let Service {
            fixed_s,
            jitter_s,
            exponential_s,
            slow,
        } = self.service;
        let is_formula = fixed_s + jitter_s + slow.0 + self.stall_s == 0.0;
        match self.arrivals {
            Arrivals::Poisson if is_formula => mmc_p99(self.servers, 1.0 / exponential_s, rate),
            Arrivals::Poisson | Arrivals::Constant => self.simulated_p99(rate),
        }
    }

    fn simulated_p99(&self, rate: f64) -> f64 {
        let mut draws = Draws(SEED);
        let mut free: BinaryHeap<Reverse<u64>> = (0..self.servers).map(|_| Reverse(0)).collect();
        let mut responses = Vec::with_capacity(CUSTOMERS);
        let mut due = 0.0;
        for _ in 0..CUSTOMERS {
            due += match self.arrivals {
                Arrivals::Constant => 1.0 / rate,
                Arrivals::Poisson => draws.exponential() / rate,
            };
            let Reverse(at) = free.pop().unwrap_or_default();
            let start = due.max(at as f64 / 1e9);
            let end = self.end(start, self.service.draw(&mut draws));
            free.push(Reverse((end * 1e9) as u64));
            responses.push(end - due);
        }
        // What comes first finds an empty system.
        let mut settled = responses.split_off(CUSTOMERS / 20);
        settled.sort_by(f64::total_cmp);
        settled[settled.len() * 99 / 100]
    }

    /// When work ends that starts then: no work is done in stalls.
    fn end(&self, start: f64, work: f64) -> f64 {
        let mut at = start;
        let mut left = work;
        loop {
            let second = at.floor();
            at = at.max(second + self.stall_s);
            let until = second + 1.0;
            if at + left <= until {
                return at + left;
            }
            left -= until - at;
            at = until;
        }
    }
}

impl Service {
    fn draw(&self, draws: &mut Draws) -> f64 {
        let (share, by) = self.slow;
        let slow = if draws.unit() < share { by } else { 0.0 };
        self.fixed_s
            + self.jitter_s * draws.unit()
            + self.exponential_s * draws.exponential()
            + slow
    }
}

/// 99th percentile of the response time of M/M/c, first come, first served (Gross, Shortle, Thompson and Harris,
/// Fundamentals of Queueing Theory, 4th ed., 2.3.2): P(T > t) = e^(-μt) (1 + C (1 - e^(-μt(c-1-a))) / (c-1-a)).
fn mmc_p99(servers: u32, mu: f64, rate: f64) -> f64 {
    let c = f64::from(servers);
    let a = rate / mu;
    let mut term = 1.0;
    let mut below = 0.0;
    for k in 0..servers {
        below += term;
        term *= a / f64::from(k + 1);
    }
    let all_busy = term / (1.0 - a / c);
    let waits = all_busy / (below + all_busy);
    // Where it is 0 the limit is e^(-μt) (1 + C μt).
    let apart = c - 1.0 - a;
    let beyond = |t: f64| {
        let more = if apart.abs() < 1e-9 {
            mu * t
        } else {
            (1.0 - (-mu * t * apart).exp()) / apart
        };
        (-mu * t).exp() * (1.0 + waits * more)
    };
    let mut low = 0.0;
    let mut high = 1e4;
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if beyond(middle) > 0.01 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// splitmix64.
struct Draws(u64);

impl Draws {
    /// From 0 up to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(SEED);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_that_of_one_server() {
        // P(T > t) = e^(-(μ-λ)t).
        let exact = 100f64.ln() / (200.0 - 180.0);
        assert!((mmc_p99(1, 200.0, 180.0) - exact).abs() < 1e-6);
        let free = 100f64.ln() / 200.0;
        assert!(
            (mmc_p99(50, 200.0, 1.0) - free).abs() < 1e-6,
            "nobody waits"
        );
    }

    #[test]
    fn no_work_is_done_in_stalls() {
        let system = System {
            servers: 1,
            arrivals: Arrivals::Constant,
            service: Service {
                fixed_s: 0.1,
                jitter_s: 0.0,
                exponential_s: 0.0,
                slow: (0.0, 0.0),
            },
            stall_s: 0.25,
        };
        let end = |start: f64| (system.end(start, 0.1) * 1e3).round();
        assert_eq!(
            [end(0.5), end(0.95), end(1.0), end(1.1)],
            [600.0, 1300.0, 1350.0, 1350.0]
        );
    }
}
