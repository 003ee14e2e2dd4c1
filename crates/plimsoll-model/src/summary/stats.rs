//! How a rate scattered: interval and spread.

use serde::Serialize;

use crate::draws::split_mix;

/// Sub-windows of the batch-means interval.
pub(super) const BATCHES: usize = 5;
/// Two-sided 95 % quantile of Student's t with [`BATCHES`] − 1 = 4 degrees of freedom.
const T_95: f64 = 2.776_445;

/// A mean, or a median of repeats, with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn scaled(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, low: self.low * factor, high: self.high * factor }
    }

    /// Half the interval's width, as a share of the mean.
    pub fn relative(self) -> Option<f64> {
        (self.mean > 0.0).then(|| (self.high - self.low) / 2.0 / self.mean)
    }
}

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
        let Self { min, p25, p50, p75, max } = self;
        Self { min: min * factor, p25: p25 * factor, p50: p50 * factor, p75: p75 * factor, max: max * factor }
    }

    pub(super) fn of(rates: &[Batch]) -> Option<Self> {
        let mut sorted: Vec<f64> = rates.iter().filter_map(|b| b.rate()).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.first()?;
        let at = |q: f64| quantile(&sorted, q);
        Some(Self { min: at(0.0), p25: at(0.25), p50: at(0.5), p75: at(0.75), max: at(1.0) })
    }
}

/// By linear interpolation between order statistics (type 7 of Hyndman and Fan 1996). `sorted` is not empty.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
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
            Some(last) if tick.seconds < SHORTEST || last.seconds < SHORTEST => *last = total(&[*last, tick]),
            _ => out.push(tick),
        }
    }
    out
}

pub(super) fn total(ticks: &[Batch]) -> Batch {
    ticks.iter().fold(Batch::default(), |a, b| Batch { n: a.n + b.n, seconds: a.seconds + b.seconds })
}

/// The window cut into five parts of as many ticks; `None` with fewer than five ticks.
pub(super) fn parts(ticks: &[Batch]) -> Option<[Batch; BATCHES]> {
    let cut = |i: usize| i * ticks.len() / BATCHES;
    (ticks.len() >= BATCHES).then(|| std::array::from_fn(|i| total(&ticks[cut(i)..cut(i + 1)])))
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
    let (first, second) = (total(first), total(second));
    let off = second.rate()? / first.rate().filter(|rate| *rate > 0.0)? - 1.0;
    let chance = HALVES_BY_CHANCE * (1.0 / first.n as f64 + 1.0 / second.n.max(1) as f64).sqrt();
    Some(Halves { off_percent: off * 100.0, by_chance_percent: chance * 100.0 })
}

/// The rate with its 95 % interval by batch means: the window is cut into five equal parts, whose rates are taken as
/// independent. Neighbouring seconds are not (checkpoints, caches), so an interval from single seconds would be too
/// narrow (Law, Simulation Modeling and Analysis, §9.5.3). `None` with fewer than five ticks. The mean is the rate of
/// the whole window, and the interval is cut off at 0.
pub(super) fn interval(ticks: &[Batch]) -> Option<Interval> {
    let rates: Vec<f64> = parts(ticks)?.into_iter().filter_map(Batch::rate).collect();
    if rates.len() < BATCHES {
        return None;
    }
    let centre = rates.iter().sum::<f64>() / BATCHES as f64;
    let variance = rates.iter().map(|r| (r - centre).powi(2)).sum::<f64>() / (BATCHES - 1) as f64;
    let half = T_95 * (variance / BATCHES as f64).sqrt();
    let mean = total(ticks).rate()?;
    Some(Interval { mean, low: (mean - half).max(0.0), high: mean + half })
}

/// Two-sided 95 % quantiles of Student's t with 1 to 10 degrees of freedom.
const T_95_OF: [f64; 10] =
    [12.706_205, 4.302_653, 3.182_446, T_95, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139];

/// Two-sided 95 % quantile of Student's t with `degrees` of freedom, of which there is at least one. Beyond ten by the
/// first terms of its expansion about the normal quantile (Abramowitz and Stegun 1964, 26.7.5), there within 0.0005.
fn t_95(degrees: usize) -> f64 {
    if let Some(exact) = degrees.checked_sub(1).and_then(|place| T_95_OF.get(place)) {
        return *exact;
    }
    let (z, n) = (1.959_964_f64, degrees.max(1) as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / (n * n) + third / n.powi(3)
}

/// Standard deviation (n − 1); `None` with fewer than two values.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.len() > 1).then(|| (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// Half the width of the 95 % interval of the mean of independent values, by Student's t; `None` with fewer than two.
pub(super) fn half_width(values: &[f64]) -> Option<f64> {
    Some(t_95(values.len() - 1) * deviation(values)? / (values.len() as f64).sqrt())
}

/// A figure that was found several times over.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sampled {
    /// So many values.
    pub n: u64,
    pub mean: f64,
    /// 95 %, by Student's t over the means of groups; `None` with fewer than two groups.
    pub interval: Option<Interval>,
    pub min: f64,
    pub max: f64,
    /// Standard deviation (n − 1) over mean; `None` with fewer than two values.
    pub cv_percent: Option<f64>,
}

impl Sampled {
    /// Of values in groups: those of one group came about together and are not independent, groups are. `None` without
    /// any value.
    pub(super) fn of(groups: &[Vec<f64>]) -> Option<Self> {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let all = groups.concat();
        let (min, max) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
        let means: Vec<f64> = groups.iter().filter(|group| !group.is_empty()).map(|group| mean(group)).collect();
        let centre = mean(&all);
        let around = |half: f64| Interval { mean: centre, low: (centre - half).max(0.0), high: centre + half };
        Some(Self {
            n: all.len() as u64,
            mean: centre,
            interval: half_width(&means).map(around),
            min,
            max,
            cv_percent: deviation(&all).filter(|_| centre > 0.0).map(|deviation| deviation * 100.0 / centre),
        })
    }
}

/// Resamples of a bootstrap: the ends of a 95 % interval then rest on a hundred of them each.
const RESAMPLES: usize = 4000;
/// Fewer repeats say nothing about how they scatter.
const FEWEST_REPEATS: usize = 3;

/// 95 % interval of the median of `sorted` by the percentile bootstrap (Efron and Tibshirani 1993, §13.3). The draws are
/// the same for ever, so that a record gives the same figures for ever. `None` with fewer than three values. From few
/// values the interval is too narrow rather than too wide: it never leaves what was measured.
pub(super) fn bootstrap(sorted: &[f64]) -> Option<Interval> {
    let n = sorted.len();
    if n < FEWEST_REPEATS {
        return None;
    }
    let mut state = 0u64;
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut places: Vec<usize> = (0..n).map(|_| (split_mix(&mut state) % n as u64) as usize).collect();
            places.sort_unstable();
            (sorted[places[(n - 1) / 2]] + sorted[places[n / 2]]) / 2.0
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    Some(Interval { mean: quantile(sorted, 0.5), low: quantile(&medians, 0.025), high: quantile(&medians, 0.975) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(counts: &[u64]) -> Vec<Batch> {
        counts.iter().map(|n| Batch { n: *n, seconds: 1.0 }).collect()
    }

    #[test]
    fn the_interval_is_students_over_five_parts() {
        // Parts 10, 12, 11, 9, 13: mean 11, s² = 10/4 = 2.5, half width 2.776445·√(2.5/5) = 1.96324.
        let got = interval(&seconds(&[10, 12, 11, 9, 13])).unwrap();
        assert_eq!(got.mean, 11.0);
        assert!((got.high - 12.96324).abs() < 1e-4, "{got:?}");
        assert!((got.low - 9.03676).abs() < 1e-4, "{got:?}");
        assert!((got.relative().unwrap() - 0.178476).abs() < 1e-5);
        // Pairs of seconds form the parts: (10+10)/2 = 10, …; the scatter within a pair does not count.
        let pairs = interval(&seconds(&[9, 11, 12, 12, 10, 12, 9, 9, 13, 13])).unwrap();
        assert!((pairs.high - got.high).abs() < 1e-9);
        assert_eq!(interval(&seconds(&[1, 2, 3, 4])), None);
    }

    #[test]
    fn a_short_last_tick_weighs_by_its_length() {
        let mut ticks = seconds(&[10, 10, 10, 10]);
        ticks.push(Batch { n: 5, seconds: 0.5 });
        assert_eq!(interval(&ticks), Some(Interval { mean: 10.0, low: 10.0, high: 10.0 }));
    }

    #[test]
    fn a_tick_too_short_for_a_rate_is_joined_to_its_neighbour() {
        let tick = |n, seconds| Batch { n, seconds };
        let ticks = joined([tick(10, 1.0), tick(12, 1.0), tick(9, 0.25)]);
        assert_eq!(ticks, [tick(10, 1.0), tick(21, 1.25)]);
        assert_eq!(Spread::of(&ticks).unwrap().max, 16.8);
        assert_eq!(joined([tick(1, 0.25), tick(10, 1.0), tick(5, 0.5)]), [tick(11, 1.25), tick(5, 0.5)]);
        assert_eq!(joined([tick(0, 0.25)]), [tick(0, 0.25)]);
    }

    #[test]
    fn halves_of_a_window() {
        // Two seconds and three.
        let halves = super::halves(&seconds(&[10_000, 10_000, 10_000, 11_000, 11_000])).unwrap();
        assert!((halves.off_percent - (32_000.0 / 3.0 / 10_000.0 - 1.0) * 100.0).abs() < 1e-9, "{halves:?}");
        let even = super::halves(&seconds(&[10_000, 10_000, 11_000, 11_000, 10_000, 12_000])).unwrap();
        assert!((even.off_percent - (33.0 / 31.0 - 1.0) * 100.0).abs() < 1e-9, "{even:?}");
        assert!((even.by_chance_percent - 390.0 * (1.0f64 / 31e3 + 1.0 / 33e3).sqrt()).abs() < 1e-9, "{even:?}");
        assert_eq!(super::halves(&seconds(&[1, 2, 3, 4])), None);
        assert_eq!(super::halves(&seconds(&[0, 0, 0, 0, 1, 1])), None, "there is no change of nothing");
    }

    #[test]
    fn the_interval_does_not_go_below_zero() {
        assert_eq!(interval(&seconds(&[0, 0, 0, 0, 100])).unwrap().low, 0.0);
    }

    #[test]
    fn the_bootstrap_interval_is_that_of_the_medians_of_resamples() {
        // The median of nine draws from 1 to 9 is at most 1 in 0.14 % of all cases and at most 2 in 3.04 %: when at least
        // five of nine draws are (binomial). So 2.5 % of all lie below 2.
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(bootstrap(&nine), Some(Interval { mean: 5.0, low: 2.0, high: 8.0 }));
        assert_eq!(bootstrap(&nine), bootstrap(&nine));
        assert_eq!(bootstrap(&[4.0; 5]), Some(Interval { mean: 4.0, low: 4.0, high: 4.0 }));
        assert_eq!(bootstrap(&[1.0, 2.0]), None);
    }

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        // Two-sided 95 %, as any table has them.
        for (degrees, t) in [(1, 12.706), (2, 4.303), (4, 2.776), (10, 2.228), (11, 2.201), (20, 2.086), (120, 1.980)] {
            assert!((t_95(degrees) - t).abs() < 6e-4, "{degrees}: {}", t_95(degrees));
        }
    }

    #[test]
    fn values_of_a_group_are_not_independent() {
        // Groups 10 and 13 (of 12 and 14): mean of all 12; their deviation is 3/√2, so half is 12.706·1.5 = 19.06.
        let got = Sampled::of(&[vec![10.0], vec![12.0, 14.0], vec![]]).unwrap();
        assert_eq!((got.n, got.mean, got.min, got.max), (3, 12.0, 10.0, 14.0));
        let interval = got.interval.unwrap();
        assert!((interval.high - 31.059_307).abs() < 1e-5 && interval.low == 0.0, "{interval:?}");
        // All three: deviation 2.
        assert!((got.cv_percent.unwrap() - 100.0 / 6.0).abs() < 1e-9);
        let one = Sampled::of(&[vec![5.0, 7.0]]).unwrap();
        assert_eq!((one.interval, one.mean), (None, 6.0));
        assert_eq!(Sampled::of(&[vec![]]), None);
    }

    #[test]
    fn spread_interpolates() {
        let spread = Spread::of(&seconds(&[4, 1, 3, 2])).unwrap();
        assert_eq!(spread, Spread { min: 1.0, p25: 1.75, p50: 2.5, p75: 3.25, max: 4.0 });
        assert_eq!(spread.scaled(2.0).p75, 6.5);
        assert_eq!(Spread::of(&[]), None);
    }
}
