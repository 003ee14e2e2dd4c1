//! One load on two sides.

use plimsoll_record::LoadKey;
use serde::Serialize;

use super::ask::Ask;
use super::difference::Difference;
use super::side::{Repeat, SidePoint};
use crate::latency::{Slice, repeats_quantile, window_quantile};
use crate::summary::{Estimate, FigureId, Interval, LatencySummary, Ratio, Verdict, is_like_speed};
use plimsoll_record::hist::Hist;
use plimsoll_stats::{FEWEST_REPEATS, RankTest, TooShort, rank_test, rate_interval};

/// One load of two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointComparison {
    /// On the first side; `second_place` differs in names only.
    pub place: LoadKey,
    pub second_place: LoadKey,
    pub method: IntervalBasis,
    pub first: SidePart,
    pub second: SidePart,
    /// What is counted: on a side all of it by all of its time, with the range of its repeats.
    pub rate: FigureComparison,
    /// Quantiles of response times: the median of the repeats' own.
    pub times: Vec<FigureComparison>,
    /// Of the repeats' rates.
    pub ranks: Option<RankTest>,
    /// What makes the two workloads different, except for the named factor. Where there is anything, there is no ratio
    /// unless it was asked for.
    pub unlike: Vec<Difference>,
}

/// What the figures of a side rest on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SidePart {
    pub repeats: usize,
    pub systems: usize,
    pub measured_s: f64,
    pub verdict: Verdict,
}

/// One figure on two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FigureComparison {
    pub figure: FigureId,
    pub first: Option<Estimate>,
    pub second: Option<Estimate>,
    /// Second by first; its interval of 95 % where there is one.
    pub ratio: Option<Ratio>,
    /// Second less first; of times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Interval>,
    pub effect: Effect,
}

impl FigureComparison {
    pub fn interval(&self) -> Option<Interval> {
        self.ratio?.interval
    }
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

/// The quantiles that are compared.
const QUANTILES: [FigureId; 4] = [FigureId::P50, FigureId::P95, FigureId::P99, FigureId::P999];

pub(super) fn compare_points(first: &SidePoint, second: &SidePoint, ask: &Ask) -> PointComparison {
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
    let [of_first, of_second] = intervals.map_or([None; 2], |both| both.map(Some));
    let sides = [
        rate_estimate(first, of_first),
        rate_estimate(second, of_second),
    ];
    let ratio = compared_ratio(sides).filter(|_| hindered.is_none());
    let interval = ratio.and_then(|own| own.interval);
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
        method,
        first: side_part(first),
        second: side_part(second),
        rate: FigureComparison {
            figure: first.figure,
            first: sides[0],
            second: sides[1],
            ratio,
            difference: None,
            effect: Effect::of(interval.filter(|_| by_repeats), ask.minimum_effect),
        },
        times: match hindered {
            Some(_) => Vec::new(),
            None => times(first, second, by_repeats, ask),
        },
        ranks: if by_repeats && hindered.is_none() {
            rank_test(&rates(first), &rates(second))
        } else {
            None
        },
        unlike,
    }
}

fn compared_ratio([first, second]: [Option<Estimate>; 2]) -> Option<Ratio> {
    second?.ratio_to(first?)
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

/// In the figure's unit.
fn rate_estimate(point: &SidePoint, interval: Option<Interval>) -> Option<Estimate> {
    let rates = rates(point);
    let whole = Estimate {
        value: rate(point)?,
        interval,
        min: rates.iter().copied().reduce(f64::min)?,
        max: rates.iter().copied().reduce(f64::max)?,
        n: rates.len() as u64,
    };
    Some(whole.scaled(point.figure.per_second()))
}

fn side_part(point: &SidePoint) -> SidePart {
    SidePart {
        repeats: point.repeats.len(),
        systems: point.systems,
        measured_s: measured_s(point),
        verdict: point.verdict,
    }
}

fn measured_s(point: &SidePoint) -> f64 {
    point.repeats.iter().map(|repeat| repeat.whole().1).sum()
}

fn times(
    first: &SidePoint,
    second: &SidePoint,
    by_repeats: bool,
    ask: &Ask,
) -> Vec<FigureComparison> {
    let sides = [first, second].map(SideLatency::of);
    let compared = |figure: FigureId| -> Option<FigureComparison> {
        let q = figure.share()?;
        let intervals = sides
            .each_ref()
            .map(|side| side.interval(q, by_repeats).ok());
        // An interval of one side alone is none of the ratio.
        let both = intervals[0].zip(intervals[1]);
        let [first, second] = sides.each_ref().map(|side| side.quantile(q));
        let with = |own: Estimate, interval| Estimate { interval, ..own };
        let first = with(first?, both.map(|(own, _)| own));
        let second = with(second?, both.map(|(_, own)| own));
        let ratio = compared_ratio([Some(first), Some(second)]);
        let of_repeats = ratio.and_then(|own| own.interval).filter(|_| by_repeats);
        Some(FigureComparison {
            figure,
            first: Some(first),
            second: Some(second),
            ratio,
            difference: both
                .and_then(|(first, second)| second.less(first))
                .map(|own| own.with(second.value - first.value)),
            effect: Effect::of(of_repeats, ask.minimum_effect),
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

    /// The median of the repeats' own in milliseconds, as a ladder has it. `None` where a repeat has too few values.
    pub fn quantile(&self, q: f64) -> Option<Estimate> {
        let mut each = Vec::new();
        for hist in &self.repeats {
            if !LatencySummary::of(hist)?.resolves(q) {
                return None;
            }
            each.push(Some((hist.quantile(q)?.as_millis_f64(), None)));
        }
        Estimate::of(each.into_iter())
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
