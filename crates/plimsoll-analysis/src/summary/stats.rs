//! How a rate scattered: interval and spread.

use serde::Serialize;

use plimsoll_stats::{self, FEWEST_REPEATS, TooShort};

pub use plimsoll_stats::Interval;

/// Parts of a window that show whether a rate was steady.
pub(super) const BATCHES: usize = 5;

/// How single seconds scatter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub min: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub max: f64,
}

impl Spread {
    pub fn scaled(self, factor: f64) -> Self {
        let Self {
            min,
            p25,
            p50,
            p75,
            max,
        } = self;
        Self {
            min: min * factor,
            p25: p25 * factor,
            p50: p50 * factor,
            p75: p75 * factor,
            max: max * factor,
        }
    }

    pub(super) fn of(rates: &[Batch]) -> Option<Self> {
        let mut sorted: Vec<f64> = rates.iter().filter_map(|b| b.rate()).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.first()?;
        Some(Self {
            min: quantile(&sorted, 0.0),
            p25: quantile(&sorted, 0.25),
            p50: quantile(&sorted, 0.5),
            p75: quantile(&sorted, 0.75),
            max: quantile(&sorted, 1.0),
        })
    }
}

/// By linear interpolation between order statistics (type 7 of Hyndman and Fan 1996). `sorted` is not empty.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let rank = q * (sorted.len() - 1) as f64;
    let low = sorted[rank.floor() as usize];
    let high = sorted[rank.ceil() as usize];
    low + (high - low) * rank.fract()
}

/// So many events in so many seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Batch {
    pub n: u64,
    pub seconds: f64,
}

impl Batch {
    pub fn rate(self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.n as f64 / self.seconds)
    }
}

/// Half a second: a tick below is no second, and its rate no second's rate.
const SHORTEST: f64 = 0.5;

/// The ticks with each that is too short for a rate of its own joined to the one before, or the first to the next.
pub(super) fn joined(ticks: impl IntoIterator<Item = Batch>) -> Vec<Batch> {
    let mut out: Vec<Batch> = Vec::new();
    for tick in ticks {
        match out.last_mut() {
            Some(last) if tick.seconds < SHORTEST || last.seconds < SHORTEST => {
                *last = total(&[*last, tick])
            }
            _ => out.push(tick),
        }
    }
    out
}

pub(super) fn total(ticks: &[Batch]) -> Batch {
    ticks.iter().fold(Batch::default(), |a, b| Batch {
        n: a.n + b.n,
        seconds: a.seconds + b.seconds,
    })
}

/// One of five parts of as many.
pub(super) fn part<T>(all: &[T], i: usize) -> &[T] {
    &all[i * all.len() / BATCHES..(i + 1) * all.len() / BATCHES]
}

/// The window cut into five parts of as many ticks; `None` with fewer than five ticks.
pub(super) fn parts(ticks: &[Batch]) -> Option<[Batch; BATCHES]> {
    (ticks.len() >= BATCHES).then(|| std::array::from_fn(|i| total(part(ticks, i))))
}

/// How the second half of a window differs from the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// Of the first half's rate.
    pub off_percent: f64,
    /// What two counts that small differ by with a chance of 1 in 10,000: 3.9 standard deviations of a difference of
    /// Poisson's, relative.
    pub by_chance_percent: f64,
}

const HALVES_BY_CHANCE: f64 = 3.9;

pub(super) fn halves(ticks: &[Batch]) -> Option<Halves> {
    let (first, second) = (ticks.len() >= BATCHES).then(|| ticks.split_at(ticks.len() / 2))?;
    let first = total(first);
    let second = total(second);
    let off = second.rate()? / first.rate().filter(|rate| *rate > 0.0)? - 1.0;
    let chance = HALVES_BY_CHANCE * (1.0 / first.n as f64 + 1.0 / second.n.max(1) as f64).sqrt();
    Some(Halves {
        off_percent: off * 100.0,
        by_chance_percent: chance * 100.0,
    })
}

/// The rate of a window with its 95 % interval (see [`plimsoll_stats::rate_interval`]).
pub(super) fn interval(ticks: &[Batch]) -> Result<Interval, TooShort> {
    let parts: Vec<(f64, f64)> = ticks
        .iter()
        .map(|tick| (tick.n as f64, tick.seconds))
        .collect();
    plimsoll_stats::rate_interval(&parts)
}

/// Standard deviation (n − 1); `None` with fewer than two values.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.len() > 1).then(|| {
        (values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / (n - 1.0))
            .sqrt()
    })
}

/// 95 % interval of what repeats scatter about, by Student's t on logarithms. `None` with fewer than three values.
pub(super) fn of_repeats(values: &[f64]) -> Option<Interval> {
    if values.len() < FEWEST_REPEATS {
        None
    } else {
        Interval::of_values(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(counts: &[u64]) -> Vec<Batch> {
        counts
            .iter()
            .map(|n| Batch {
                n: *n,
                seconds: 1.0,
            })
            .collect()
    }

    #[test]
    fn a_tick_too_short_for_a_rate_is_joined_to_its_neighbour() {
        let tick = |n, seconds| Batch { n, seconds };
        let ticks = joined([tick(10, 1.0), tick(12, 1.0), tick(9, 0.25)]);
        assert_eq!(ticks, [tick(10, 1.0), tick(21, 1.25)]);
        assert_eq!(Spread::of(&ticks).unwrap().max, 16.8);
        assert_eq!(
            joined([tick(1, 0.25), tick(10, 1.0), tick(5, 0.5)]),
            [tick(11, 1.25), tick(5, 0.5)]
        );
        assert_eq!(joined([tick(0, 0.25)]), [tick(0, 0.25)]);
    }

    #[test]
    fn halves_of_a_window() {
        // Two seconds and three.
        let halves = super::halves(&seconds(&[10_000, 10_000, 10_000, 11_000, 11_000])).unwrap();
        assert!(
            (halves.off_percent - (32_000.0 / 3.0 / 10_000.0 - 1.0) * 100.0).abs() < 1e-9,
            "{halves:?}"
        );
        let even =
            super::halves(&seconds(&[10_000, 10_000, 11_000, 11_000, 10_000, 12_000])).unwrap();
        assert!(
            (even.off_percent - (33.0 / 31.0 - 1.0) * 100.0).abs() < 1e-9,
            "{even:?}"
        );
        assert!(
            (even.by_chance_percent - 390.0 * (1.0f64 / 31e3 + 1.0 / 33e3).sqrt()).abs() < 1e-9,
            "{even:?}"
        );
        assert_eq!(super::halves(&seconds(&[1, 2, 3, 4])), None);
        assert_eq!(
            super::halves(&seconds(&[0, 0, 0, 0, 1, 1])),
            None,
            "there is no change of nothing"
        );
    }

    #[test]
    fn spread_interpolates() {
        let spread = Spread::of(&seconds(&[4, 1, 3, 2])).unwrap();
        assert_eq!(
            spread,
            Spread {
                min: 1.0,
                p25: 1.75,
                p50: 2.5,
                p75: 3.25,
                max: 4.0
            }
        );
        assert_eq!(spread.scaled(2.0).p75, 6.5);
        assert_eq!(Spread::of(&[]), None);
    }
}
