//! How a level changes from second to second, and its true figures.

use std::collections::VecDeque;

use plimsoll_stats::Draws;

/// Deviation of the logarithm of a second's level.
const WANDERS: f64 = 0.1;
/// The same, where stalls interrupt it.
const WANDERS_WITH_STALLS: f64 = 0.2;
/// Chances that a stall begins and ends in a second: one a minute, of two seconds.
const STALL_BEGINS: f64 = 1.0 / 60.0;
const STALL_ENDS: f64 = 0.5;
/// What is left of the rate in a stall, and by how much response times grow.
const STALLED_RATE: f64 = 0.1;
const STALLED_TIMES: f64 = 5.0;

/// What the intervals were tuned on is the first; the others test them on what they do not know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Autoregressive of first order, by the correlation of neighbouring seconds.
    Autoregressive(f64),
    /// The mean of so many independent seconds.
    MovingAverage(usize),
    /// Independent seconds, and now and then a stall.
    Stalls,
}

impl Noise {
    pub fn name(self) -> String {
        match self {
            Self::Autoregressive(correlation) => format!("correlation {correlation}"),
            Self::MovingAverage(seconds) => format!("moving average {seconds} s"),
            Self::Stalls => "stalls".to_owned(),
        }
    }

    /// Deviation of the logarithm of a second's level.
    pub fn deviation(self) -> f64 {
        if self == Self::Stalls {
            WANDERS_WITH_STALLS
        } else {
            WANDERS
        }
    }

    /// Share of the seconds that are stalled.
    fn stalled(self) -> f64 {
        if self == Self::Stalls {
            STALL_BEGINS / (STALL_BEGINS + STALL_ENDS)
        } else {
            0.0
        }
    }

    /// The mean rate, of that without stalls.
    pub fn mean(self) -> f64 {
        1.0 - self.stalled() * (1.0 - STALLED_RATE)
    }

    /// The percentile of times that are log-normal about 1 with `deviation`, but for stalls.
    pub fn percentile(self, q: f64, deviation: f64) -> f64 {
        let stalled = self.stalled();
        let below = |log: f64| {
            (1.0 - stalled) * normal_below(log / deviation)
                + stalled * normal_below((log - STALLED_TIMES.ln()) / deviation)
        };
        let (mut low, mut high) = (-10.0, 10.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if below(middle) < q {
                low = middle
            } else {
                high = middle
            }
        }
        f64::exp((low + high) / 2.0)
    }
}

/// Share of the standard normal distribution below `x`: Marsaglia's series, Journal of Statistical Software 11 (2004).
fn normal_below(x: f64) -> f64 {
    if x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut sum, mut term, mut i) = (x, x, 1.0);
    while term.abs() > 1e-17 {
        i += 2.0;
        term *= x * x / i;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

/// A level that changes from second to second.
pub struct Wandering {
    noise: Noise,
    x: f64,
    past: VecDeque<f64>,
    stalled: bool,
}

/// One second's level.
pub struct Level {
    /// Of the logarithm.
    offset: f64,
    stalled: bool,
}

impl Level {
    pub fn of_rate(&self, deviation: f64) -> f64 {
        (self.offset - deviation * deviation / 2.0).exp()
            * if self.stalled { STALLED_RATE } else { 1.0 }
    }

    pub fn of_times(&self) -> f64 {
        self.offset.exp() * if self.stalled { STALLED_TIMES } else { 1.0 }
    }
}

impl Wandering {
    pub fn new(draws: &mut Draws, noise: Noise) -> Self {
        let mut own = Self {
            noise,
            x: 0.0,
            past: VecDeque::new(),
            stalled: false,
        };
        match noise {
            Noise::Autoregressive(_) => own.x = draws.normal(),
            Noise::MovingAverage(seconds) => own.past.extend((0..seconds).map(|_| draws.normal())),
            Noise::Stalls => own.stalled = draws.uniform() < noise.stalled(),
        }
        own
    }

    pub fn next(&mut self, draws: &mut Draws) -> Level {
        match self.noise {
            Noise::Autoregressive(correlation) => {
                self.x = correlation * self.x + (1.0 - correlation.powi(2)).sqrt() * draws.normal();
            }
            Noise::MovingAverage(seconds) => {
                self.past.pop_front();
                self.past.push_back(draws.normal());
                self.x = self.past.iter().sum::<f64>() / (seconds as f64).sqrt();
            }
            Noise::Stalls => {
                let changes = if self.stalled {
                    STALL_ENDS
                } else {
                    STALL_BEGINS
                };
                self.stalled ^= draws.uniform() < changes;
                self.x = draws.normal();
            }
        }
        Level {
            offset: self.noise.deviation() * self.x,
            stalled: self.stalled,
        }
    }
}
