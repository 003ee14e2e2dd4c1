//! One load on two sides.

use plimsoll_record::LoadKey;
use serde::Serialize;

use super::ask::Ask;
use super::difference::Difference;
use super::side::{Repeat, SidePoint};
use crate::latency::{Slice, repeats_quantile, window_quantile};
use crate::summary::{Estimate, FigureId, Interval, LatencySummary, Verdict, is_like_speed};
use plimsoll_record::hist::Hist;
use plimsoll_stats::{FEWEST_REPEATS, RankTest, TooShort, rank_test, rate_interval};

/// One load of two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointComparison {
    /// On the first side; `second_place` differs in names only.
    pub place: LoadKey,
    pub second_place: LoadKey,
    pub figure: FigureId,
    pub method: IntervalBasis,
    pub first: SideFigure,
    pub second: SideFigure,
    /// Second by first; its interval of 95 % where there is one.
    pub ratio: Option<f64>,
    pub interval: Option<Interval>,
    pub effect: Effect,
    /// Of repeats.
    pub ranks: Option<RankTest>,
    pub latencies: Vec<ComparedLatency>,
    /// What makes the two workloads different, except for the named factor. Where there is anything, there is no ratio
    /// unless it was asked for.
    pub unlike: Vec<Difference>,
}

/// A rate on one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SideFigure {
    /// In the figure's unit: all that was counted by all time.
    pub rate: Option<f64>,
    pub interval: Option<Interval>,
    pub repeats: usize,
    pub systems: usize,
    pub measured_s: f64,
    /// Highest less lowest rate of the repeats, in percent of their mean.
    pub spread_percent: Option<f64>,
    pub verdict: Verdict,
}

/// What an interval rests on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum IntervalBasis {
    /// Repeats of both sides: what changes from one time to the next is in it.
    Repeats,
    /// How rates moved within the windows: how steady these windows were, not what another run would give.
    Windows,
    /// There is none.
    None { because: NotComparable },
}

/// Why a comparison is not evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotComparable {
    /// One of the two points is invalid.
    Invalid,
    /// The workloads differ.
    Unlike,
    /// Their drives were slowed by unlike factors, or only one of them.
    Speeds,
    /// Nothing was completed on a side.
    Nothing,
    /// Less than five minutes on a side, and less than three repeats.
    ShortWindow,
    /// Five minutes in too few intervals on a side, and less than three repeats.
    FewIntervals,
    /// One movement over a whole window, and less than three repeats.
    Correlated,
}

impl NotComparable {
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Unlike => "unlike",
            Self::Speeds => "speeds",
            Self::Nothing => "nothing",
            Self::ShortWindow => "short_window",
            Self::FewIntervals => "few_intervals",
            Self::Correlated => "correlated",
        }
    }
}

impl From<TooShort> for NotComparable {
    fn from(why: TooShort) -> Self {
        match why {
            TooShort::Window => Self::ShortWindow,
            TooShort::Parts => Self::FewIntervals,
            TooShort::Correlated => Self::Correlated,
            TooShort::Nothing => Self::Nothing,
        }
    }
}

/// What an interval of repeats shows. Single windows show nothing of how runs vary, and so no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The interval lies above 1, and not wholly within the smallest change that matters.
    More,
    Less,
    /// It contains 1.
    NotShown,
    /// It lies wholly within the smallest change that matters.
    TooSmall,
    NotEvaluated,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::NotShown => "not-shown",
            Self::TooSmall => "too-small",
            Self::NotEvaluated => "not-judged",
        }
    }

    pub(super) fn of(interval: Option<Interval>, minimum: f64) -> Self {
        let Some(Interval { low, high, .. }) = interval else {
            return Self::NotEvaluated;
        };
        match (low, high) {
            _ if minimum > 0.0 && low >= 1.0 / (1.0 + minimum) && high <= 1.0 + minimum => {
                Self::TooSmall
            }
            _ if low > 1.0 => Self::More,
            _ if high < 1.0 => Self::Less,
            _ => Self::NotShown,
        }
    }
}

/// A quantile of response times on both sides, in ms: the median of the repeats' own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ComparedLatency {
    pub quantile: f64,
    pub first_ms: f64,
    pub second_ms: f64,
    pub ratio: Option<Interval>,
    /// Second less first.
    pub difference_ms: Option<Interval>,
    pub effect: Effect,
}

/// The quantiles that are compared.
const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

pub(super) fn compare_points(first: &SidePoint, second: &SidePoint, ask: &Ask) -> PointComparison {
    let figure = first.figure;
    let mut unlike = first.unlike_workload(second);
    unlike.retain(|found| Some(found.group) != ask.factor);
    let hindered = if first.verdict == Verdict::Invalid || second.verdict == Verdict::Invalid {
        Some(NotComparable::Invalid)
    } else if !is_like_speed(first.slower, second.slower) {
        Some(NotComparable::Speeds)
    } else {
        (!unlike.is_empty() && !ask.anyway).then_some(NotComparable::Unlike)
    };
    let by_repeats =
        first.repeats.len() >= FEWEST_REPEATS && second.repeats.len() >= FEWEST_REPEATS;
    let intervals = hindered.map_or_else(|| intervals(first, second, by_repeats), Err);
    let interval = intervals.ok().and_then(|[a, b]| b.ratio_to(a));
    let sides = [
        side_figure(first, intervals.ok().map(|[own, _]| own)),
        side_figure(second, intervals.ok().map(|[_, own]| own)),
    ];
    let ratio = sides[0]
        .rate
        .zip(sides[1].rate)
        .filter(|_| hindered.is_none())
        .map(|(a, b)| b / a);
    let method = match intervals {
        Err(because) => IntervalBasis::None { because },
        Ok(_) if interval.is_none() => IntervalBasis::None {
            because: NotComparable::Nothing,
        },
        Ok(_) if by_repeats => IntervalBasis::Repeats,
        Ok(_) => IntervalBasis::Windows,
    };
    PointComparison {
        place: first.key.clone(),
        second_place: second.key.clone(),
        figure,
        method,
        first: sides[0],
        second: sides[1],
        ratio,
        interval,
        effect: Effect::of(interval.filter(|_| by_repeats), ask.minimum_effect),
        ranks: if by_repeats && hindered.is_none() {
            rank_test(&rates(first), &rates(second))
        } else {
            None
        },
        latencies: if hindered.is_some() {
            Vec::new()
        } else {
            latencies(first, second, by_repeats, ask)
        },
        unlike,
    }
}

/// Of the rates of both sides.
fn intervals(
    first: &SidePoint,
    second: &SidePoint,
    by_repeats: bool,
) -> Result<[Interval; 2], NotComparable> {
    Ok([interval(first, by_repeats)?, interval(second, by_repeats)?])
}

fn interval(point: &SidePoint, by_repeats: bool) -> Result<Interval, NotComparable> {
    let rate = rate(point).ok_or(NotComparable::Nothing)?;
    if by_repeats {
        let interval = Interval::of_values(&rates(point)).ok_or(NotComparable::Nothing)?;
        return Ok(interval.moved_to(rate));
    }
    let repeats = point.repeats.iter();
    let seconds = repeats.flat_map(|repeat| repeat.seconds.iter().copied());
    Ok(rate_interval(&seconds.collect::<Vec<_>>())?)
}

/// All that was counted by all time, per second.
pub(super) fn rate(point: &SidePoint) -> Option<f64> {
    let whole = point
        .repeats
        .iter()
        .map(Repeat::whole)
        .filter(|whole| whole.1 > 0.0);
    let total = whole.fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    (total.0 > 0.0 && total.1 > 0.0).then(|| total.0 / total.1)
}

/// Of each repeat, per second.
fn rates(point: &SidePoint) -> Vec<f64> {
    let whole = point
        .repeats
        .iter()
        .map(Repeat::whole)
        .filter(|whole| whole.1 > 0.0);
    whole.map(|(n, seconds)| n / seconds).collect()
}

fn side_figure(point: &SidePoint, interval: Option<Interval>) -> SideFigure {
    let factor = point.figure.per_second();
    let rates = rates(point);
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let ends = rates
        .iter()
        .copied()
        .reduce(f64::max)
        .zip(rates.iter().copied().reduce(f64::min));
    let spread = ends
        .filter(|_| rates.len() > 1 && mean > 0.0)
        .map(|(high, low)| (high - low) / mean * 100.0);
    SideFigure {
        rate: rate(point).map(|rate| rate * factor),
        interval: interval.map(|interval| interval.scaled(factor)),
        repeats: point.repeats.len(),
        systems: point.systems,
        measured_s: measured_s(point),
        spread_percent: spread,
        verdict: point.verdict,
    }
}

fn measured_s(point: &SidePoint) -> f64 {
    point.repeats.iter().map(|repeat| repeat.whole().1).sum()
}

fn latencies(
    first: &SidePoint,
    second: &SidePoint,
    by_repeats: bool,
    ask: &Ask,
) -> Vec<ComparedLatency> {
    let sides = [first, second].map(SideLatency::of);
    let compared = |q: f64| -> Option<ComparedLatency> {
        let [first_ms, second_ms] = [sides[0].quantile_ms(q)?, sides[1].quantile_ms(q)?];
        let [a, b] = sides
            .each_ref()
            .map(|side| side.interval(q, by_repeats).ok());
        let both = a.zip(b);
        let ratio = both
            .and_then(|(a, b)| b.ratio_to(a))
            .map(|own| own.with(second_ms / first_ms));
        let difference_ms = both
            .and_then(|(a, b)| b.less(a))
            .map(|own| own.with(second_ms - first_ms));
        let effect = Effect::of(ratio.filter(|_| by_repeats), ask.minimum_effect);
        Some(ComparedLatency {
            quantile: q,
            first_ms,
            second_ms,
            ratio,
            difference_ms,
            effect,
        })
    };
    QUANTILES.into_iter().filter_map(compared).collect()
}

/// Response times of a side.
pub(super) struct SideLatency<'a> {
    point: &'a SidePoint,
    pub repeats: Vec<&'a Hist>,
}

impl<'a> SideLatency<'a> {
    pub fn of(point: &'a SidePoint) -> Self {
        let repeats = point
            .repeats
            .iter()
            .map(|repeat| &repeat.latency)
            .filter(|hist| hist.count() > 0)
            .collect();
        Self { point, repeats }
    }

    /// The median of the repeats' own, as a ladder has it. `None` where a repeat has too few values.
    pub fn quantile_ms(&self, q: f64) -> Option<f64> {
        let mut each = Vec::new();
        for hist in &self.repeats {
            if !LatencySummary::of(hist)?.resolves(q) {
                return None;
            }
            each.push(Some((hist.quantile(q)?.as_millis_f64(), None)));
        }
        Estimate::of(each.into_iter()).map(|own| own.value)
    }

    fn interval(&self, q: f64, by_repeats: bool) -> Result<Interval, TooShort> {
        if by_repeats {
            return repeats_quantile(&self.repeats, q);
        }
        let mut merged = Hist::new();
        self.repeats.iter().for_each(|hist| merged.merge(hist));
        let slices: Vec<Slice> = self
            .point
            .repeats
            .iter()
            .flat_map(|repeat| repeat.slices.iter().cloned())
            .collect();
        window_quantile(&slices, &merged, q, measured_s(self.point))
    }
}
