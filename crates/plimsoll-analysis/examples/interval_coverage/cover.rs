//! Coverage of the intervals that plimsoll prints, by simulation: series of known truth, and how often the interval
//! contains it.
//!
//! A second's rate is log-normal, and changes from second to second as [`Noise`] has it; its count is Poisson's about that
//! rate. Response times are log-normal about such a level. The truths of windows are analytic: the mean of the rate is set,
//! and levels and values add their variances. That of a percentile of repeats is the middle of the percentiles of windows
//! of that length, found from windows of other seeds.

use std::ops::Range;

use plimsoll_analysis::latency::{Slice, repeats_quantile, window_quantile};
use plimsoll_analysis::summary::{Scaling, fit_scaling};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_stats::{Draws, Interval, TooShort, rate_interval};

use super::noise::{Noise, Wandering};

/// Of single response times within a second.
const SCATTERS: f64 = 0.5;
/// Of the logarithm of a repeat's level.
const BETWEEN_RUNS: f64 = 0.02;
/// Milliseconds.
const MEDIAN_MS: f64 = 5.0;
/// The second side by the first.
const RATIO: f64 = 1.1;

/// What one window or one repeat is generated from.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub seconds: usize,
    pub noise: Noise,
    /// Transactions a second, in the mean.
    pub rate: f64,
}

/// How often an interval was printed, and how often it contained the truth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Coverage {
    pub printed: u32,
    pub covered: u32,
}

impl Coverage {
    pub fn add<E>(&mut self, interval: Result<Interval, E>, truth: f64) {
        if let Ok(Interval { low, high, .. }) = interval {
            self.printed += 1;
            self.covered += u32::from(low <= truth && truth <= high);
        }
    }

    pub fn percent(self) -> Option<f64> {
        (self.printed > 0).then(|| f64::from(self.covered) * 100.0 / f64::from(self.printed))
    }
}

/// Of Poisson's distribution; the normal one above 60.
fn poisson(draws: &mut Draws, mean: f64) -> f64 {
    if mean > 60.0 {
        return (mean + mean.sqrt() * draws.normal()).round().max(0.0);
    }
    let (limit, mut product, mut n) = ((-mean).exp(), draws.uniform(), 0.0);
    while product > limit {
        product *= draws.uniform();
        n += 1.0;
    }
    n
}

fn counts(draws: &mut Draws, window: Window, level: f64) -> Vec<(f64, f64)> {
    let mut wandering = Wandering::new(draws, window.noise);
    let mut second = || {
        let rate = level * window.rate * wandering.next(draws).of_rate(window.noise.deviation());
        (poisson(draws, rate), 1.0)
    };
    (0..window.seconds).map(|_| second()).collect()
}

/// Response times of a window.
struct Latencies {
    slices: Vec<Slice>,
    all: Hist,
}

fn latencies(draws: &mut Draws, window: Window, level: f64, sliced: bool) -> Latencies {
    let mut wandering = Wandering::new(draws, window.noise);
    let (mut slices, mut values) = (Vec::new(), Vec::new());
    for _ in 0..window.seconds {
        let middle = level * MEDIAN_MS * 1e6 * wandering.next(draws).of_times();
        let n = poisson(draws, window.rate) as usize;
        let first = values.len();
        values.extend((0..n).map(|_| Nanos((middle * (SCATTERS * draws.normal()).exp()) as u64)));
        if sliced {
            let mut slice = Slice::default();
            slice.add(&of_values(&values[first..]).coarse());
            slices.push(slice);
        }
    }
    Latencies {
        slices,
        all: of_values(&values),
    }
}

fn of_values(values: &[Nanos]) -> Hist {
    Hist::of_buckets(
        values.iter().map(|value| (*value, 1)),
        0,
        Nanos::from_secs(3600),
    )
}

const PERCENTILES: [f64; 3] = [0.5, 0.95, 0.99];

fn true_percentile(noise: Noise, q: f64) -> f64 {
    MEDIAN_MS * noise.percentile(q, SCATTERS.hypot(noise.deviation()))
}

/// Other seeds than those of any trials.
const FIRST_SEED_OF_TRUTH: u64 = 1 << 32;

/// The geometric means of the percentiles of single repeats.
fn middle_percentiles(window: Window, windows: u64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for seed in 0..windows {
        let mut draws = Draws::new(FIRST_SEED_OF_TRUTH + seed);
        let level = (BETWEEN_RUNS * draws.normal()).exp();
        let all = latencies(&mut draws, window, level, false).all;
        for (sum, q) in sums.iter_mut().zip(PERCENTILES) {
            *sum += all.quantile(q).unwrap_or_default().as_millis_f64().ln();
        }
    }
    sums.map(|sum| (sum / windows as f64).exp())
}

/// A figure of one side, its ratio to another side and, of percentiles, the difference.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sides {
    pub figure: Coverage,
    pub ratio: Coverage,
    pub difference: Coverage,
}

impl Sides {
    fn add(&mut self, sides: [Result<Interval, TooShort>; 2], truth: f64) {
        let [first, second] = sides;
        self.figure.add(first, truth);
        let both = first.ok().zip(second.ok());
        self.ratio
            .add(both.and_then(|(a, b)| b.ratio_to(a)).ok_or(()), RATIO);
        self.difference.add(
            both.and_then(|(a, b)| b.less(a)).ok_or(()),
            truth * (RATIO - 1.0),
        );
    }
}

/// Rates of one window.
pub fn window_rates(window: Window, trials: Range<u64>) -> Sides {
    let mut sides = Sides::default();
    for trial in trials {
        let mut draws = Draws::new(trial);
        let own = [1.0, RATIO].map(|level| rate_interval(&counts(&mut draws, window, level)));
        sides.add(own, window.rate * window.noise.mean());
    }
    sides
}

/// Rates of repeats, which scatter from one to the next.
pub fn repeated_rates(window: Window, repeats: usize, trials: Range<u64>) -> Sides {
    let mut sides = Sides::default();
    for trial in trials {
        let mut draws = Draws::new(trial);
        let own = [1.0, RATIO].map(|level| {
            let rate = |_| {
                let level = level * (BETWEEN_RUNS * draws.normal()).exp();
                let seconds = counts(&mut draws, window, level);
                seconds.iter().map(|second| second.0).sum::<f64>() / seconds.len() as f64
            };
            let rates: Vec<f64> = (0..repeats).map(rate).collect();
            let mean = rates.iter().sum::<f64>() / repeats as f64;
            Interval::of_values(&rates)
                .map(|own| own.moved_to(mean))
                .ok_or(TooShort::Nothing)
        });
        sides.add(own, window.rate * window.noise.mean());
    }
    sides
}

/// Percentiles of one window.
pub fn window_percentiles(window: Window, trials: Range<u64>) -> [Sides; 3] {
    let mut found = [Sides::default(); 3];
    for trial in trials {
        let mut draws = Draws::new(trial);
        let own = [1.0, RATIO].map(|level| latencies(&mut draws, window, level, true));
        for (sides, q) in found.iter_mut().zip(PERCENTILES) {
            let interval =
                |own: &Latencies| window_quantile(&own.slices, &own.all, q, window.seconds as f64);
            sides.add(
                own.each_ref().map(interval),
                true_percentile(window.noise, q),
            );
        }
    }
    found
}

/// Percentiles of repeats.
pub fn repeated_percentiles(window: Window, repeats: usize, trials: Range<u64>) -> [Sides; 3] {
    let truths = middle_percentiles(window, trials.end - trials.start);
    let mut found = [Sides::default(); 3];
    for trial in trials {
        let mut draws = Draws::new(trial);
        let own = [1.0, RATIO].map(|level| {
            let repeat = |_| {
                let level = level * (BETWEEN_RUNS * draws.normal()).exp();
                latencies(&mut draws, window, level, false).all
            };
            (0..repeats).map(repeat).collect::<Vec<Hist>>()
        });
        for (i, q) in PERCENTILES.into_iter().enumerate() {
            found[i].add(
                own.each_ref().map(|hists| middle_quantile(hists, q)),
                truths[i],
            );
        }
    }
    found
}

fn middle_quantile(hists: &[Hist], q: f64) -> Result<Interval, TooShort> {
    repeats_quantile(&hists.iter().collect::<Vec<_>>(), q)
}

/// The parameters of a ladder, and its peak.
#[derive(Debug, Clone, Copy, Default)]
pub struct LadderCoverage {
    pub gamma: Coverage,
    pub alpha: Coverage,
    pub beta: Coverage,
    pub peak: Coverage,
}

const USERS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0];

/// The Universal Scalability Law, from rates that scatter by 2 %.
pub fn ladder(loads: usize, alpha: f64, beta: f64, trials: Range<u64>) -> LadderCoverage {
    let mut found = LadderCoverage::default();
    for trial in trials {
        let mut draws = Draws::new(trial);
        let rate = |users: f64| {
            let law = 1.0 + alpha * (users - 1.0) + beta * users * (users - 1.0);
            (users, 1000.0 * users / law * (1.0 + 0.02 * draws.normal()))
        };
        let step = USERS.len() / loads;
        let users = (0..loads).map(|i| {
            USERS[if step > 1 {
                i * step
            } else {
                i + USERS.len() - loads
            }]
        });
        let points: Vec<(f64, f64)> = users.map(rate).collect();
        let Scaling::Fits(law) = fit_scaling(&points) else {
            continue;
        };
        found.gamma.add(Ok::<_, ()>(law.gamma), 1000.0);
        found.alpha.add(Ok::<_, ()>(law.alpha), alpha);
        found.beta.add(Ok::<_, ()>(law.beta), beta);
        let peak = law.peak.and_then(|peak| peak.users_interval);
        found
            .peak
            .add(peak.ok_or(()), ((1.0 - alpha) / beta).sqrt());
    }
    found
}
