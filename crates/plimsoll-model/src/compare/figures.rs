//! One load on two sides.

use serde::Serialize;

use super::Ask;
use super::difference::Difference;
use super::side::{Figure, Place, Repeat, SidePoint};
use super::workload;
use crate::hist::Hist;
use crate::stat::{FEWEST_REPEATS, LatencySample, RankTest, Resampled, Sample, Slice, TooShort, rank_test};
use crate::summary::{Interval, Latency, Verdict};

/// One load of two sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointComparison {
    /// On the first side; `second_place` differs in names only.
    pub place: Place,
    pub second_place: Place,
    pub figure: Figure,
    pub method: Method,
    pub first: SideFigure,
    pub second: SideFigure,
    /// Second by first; its interval of 95 % where there is one.
    pub ratio: Option<f64>,
    pub interval: Option<Interval>,
    pub effect: Effect,
    /// Of repeats or blocks, as the interval.
    pub ranks: Option<RankTest>,
    pub latencies: Vec<ComparedLatency>,
    /// What makes the two loads ones of different workloads, without what was named as the factor. Unless it is wanted,
    /// there is no ratio then.
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
pub enum Method {
    /// Repeats of both sides: what changes from one time to the next is in it.
    Repeats,
    /// Blocks of the windows' seconds: it says how steady these windows were, not what another run would give.
    Blocks { first_s: f64, second_s: f64 },
    /// There is none.
    None { because: Unjudged },
}

/// Why a comparison is not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unjudged {
    /// One of the two must not be used.
    Invalid,
    /// The workloads differ.
    Unlike,
    /// Nothing was completed on a side.
    Nothing,
    /// Less than a minute, and less than three repeats.
    ShortWindow,
    /// So much hangs together in time that too few independent parts are left, and less than three repeats.
    Correlated,
}

impl From<TooShort> for Unjudged {
    fn from(why: TooShort) -> Self {
        match why {
            TooShort::Window => Self::ShortWindow,
            TooShort::Correlated => Self::Correlated,
            TooShort::Nothing => Self::Nothing,
        }
    }
}

/// What an interval says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The interval lies above 1, and not wholly within the smallest change that matters.
    More,
    Less,
    /// It holds 1.
    NotShown,
    /// It lies wholly within the smallest change that matters.
    TooSmall,
    NotJudged,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
            Self::NotShown => "not-shown",
            Self::TooSmall => "too-small",
            Self::NotJudged => "not-judged",
        }
    }

    pub(super) fn of(interval: Option<Interval>, minimum: f64) -> Self {
        let Some(Interval { low, high, .. }) = interval else { return Self::NotJudged };
        match (low, high) {
            _ if minimum > 0.0 && low >= 1.0 / (1.0 + minimum) && high <= 1.0 + minimum => Self::TooSmall,
            _ if low > 1.0 => Self::More,
            _ if high < 1.0 => Self::Less,
            _ => Self::NotShown,
        }
    }
}

/// A quantile of response times on both sides, in ms.
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
/// Draws of the two sides, and of their latencies, are of streams of their own.
const STREAMS: [u64; 4] = [1, 2, 3, 4];

pub(super) fn compare_points(first: &SidePoint, second: &SidePoint, ask: &Ask) -> PointComparison {
    let figure = first.figure;
    let mut unlike = workload::differences(first, second);
    unlike.retain(|found| found.is_unlike() && Some(found.group) != ask.factor);
    let hindered = if first.verdict == Verdict::Invalid || second.verdict == Verdict::Invalid {
        Some(Unjudged::Invalid)
    } else {
        (!unlike.is_empty() && !ask.anyway).then_some(Unjudged::Unlike)
    };
    let by_repeats = first.repeats.len() >= FEWEST_REPEATS && second.repeats.len() >= FEWEST_REPEATS;
    let samples = hindered.map_or_else(|| samples(first, second, by_repeats), Err);
    let resampled = samples.as_ref().ok().and_then(|(a, b)| Some((a.resampled(STREAMS[0])?, b.resampled(STREAMS[1])?)));
    let interval = resampled.as_ref().and_then(|(a, b)| b.ratio_to(a));
    let side = |point: &SidePoint, own: Option<&Resampled>| side_figure(point, own.and_then(Resampled::interval));
    let sides = [side(first, resampled.as_ref().map(|(a, _)| a)), side(second, resampled.as_ref().map(|(_, b)| b))];
    let ratio = sides[0].rate.zip(sides[1].rate).filter(|_| hindered.is_none()).map(|(a, b)| b / a);
    let method = match &samples {
        Err(because) => Method::None { because: *because },
        Ok(_) if interval.is_none() => Method::None { because: Unjudged::Nothing },
        Ok(_) if by_repeats => Method::Repeats,
        Ok((a, b)) => Method::Blocks { first_s: a.block_seconds(), second_s: b.block_seconds() },
    };
    let ranks = samples.as_ref().ok().and_then(|(a, b)| rank_test(&a.parts(), &b.parts()));
    PointComparison {
        place: first.place.clone(),
        second_place: second.place.clone(),
        figure,
        method,
        first: sides[0],
        second: sides[1],
        ratio,
        interval,
        effect: Effect::of(interval, ask.minimum_effect),
        ranks: ranks.filter(|ranks| ranks.first >= FEWEST_REPEATS && ranks.second >= FEWEST_REPEATS),
        latencies: if hindered.is_some() { Vec::new() } else { latencies(first, second, by_repeats, ask) },
        unlike,
    }
}

fn samples(first: &SidePoint, second: &SidePoint, by_repeats: bool) -> Result<(Sample, Sample), Unjudged> {
    let sample = |point: &SidePoint| {
        if by_repeats {
            return Ok(Sample::of_repeats(point.repeats.iter().map(Repeat::whole).collect()));
        }
        let seconds: Vec<(f64, f64)> = point.repeats.iter().flat_map(|repeat| repeat.seconds.iter().copied()).collect();
        Sample::of_seconds(&seconds)
    };
    let (a, b) = (sample(first)?, sample(second)?);
    if a.rate().is_none() || b.rate().is_none() { Err(Unjudged::Nothing) } else { Ok((a, b)) }
}

fn side_figure(point: &SidePoint, interval: Option<Interval>) -> SideFigure {
    let factor = point.figure.factor();
    let whole = |repeat: &Repeat| Some(repeat.whole()).filter(|whole| whole.1 > 0.0);
    let total = point.repeats.iter().filter_map(whole).fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    let rate = (total.0 > 0.0 && total.1 > 0.0).then(|| total.0 / total.1);
    let rates: Vec<f64> = point.repeats.iter().filter_map(whole).map(|(n, seconds)| n / seconds).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let ends = rates.iter().copied().reduce(f64::max).zip(rates.iter().copied().reduce(f64::min));
    let spread = ends.filter(|_| rates.len() > 1 && mean > 0.0).map(|(high, low)| (high - low) / mean * 100.0);
    SideFigure {
        rate: rate.map(|rate| rate * factor),
        interval: interval.map(|interval| interval.scaled(factor)),
        repeats: point.repeats.len(),
        systems: point.systems,
        measured_s: total.1,
        spread_percent: spread,
        verdict: point.verdict,
    }
}

fn latencies(first: &SidePoint, second: &SidePoint, by_repeats: bool, ask: &Ask) -> Vec<ComparedLatency> {
    let merged = [first, second].map(|point| {
        let mut sum = Hist::new();
        point.repeats.iter().for_each(|repeat| sum.merge(&repeat.latency));
        sum
    });
    let [Some(a), Some(b)] = [&merged[0], &merged[1]].map(Latency::of) else { return Vec::new() };
    let parts = [first, second].map(|point| latency_sample(point, by_repeats));
    let resolved = QUANTILES.into_iter().filter(|q| a.resolves(*q) && b.resolves(*q));
    let compared = |q: f64| {
        let told = |hist: &Hist| hist.quantile(q).unwrap_or_default().as_millis_f64();
        let (first_ms, second_ms) = (told(&merged[0]), told(&merged[1]));
        let own = |i: usize, ms: f64| parts[i].as_ref()?.quantile(q, ms, STREAMS[2 + i]).ok();
        let both = own(0, first_ms).zip(own(1, second_ms));
        let ratio = both.as_ref().and_then(|(a, b)| b.ratio_to(a));
        let difference_ms = both.as_ref().and_then(|(a, b)| b.less(a));
        let effect = Effect::of(ratio, ask.minimum_effect);
        ComparedLatency { quantile: q, first_ms, second_ms, ratio, difference_ms, effect }
    };
    resolved.map(compared).collect()
}

fn latency_sample(point: &SidePoint, by_repeats: bool) -> Option<LatencySample> {
    if !by_repeats {
        let slices: Vec<Slice> = point.repeats.iter().flat_map(|repeat| repeat.slices.iter().cloned()).collect();
        return LatencySample::of_seconds(&slices).ok();
    }
    let whole = |repeat: &Repeat| {
        let mut sum = Slice::default();
        repeat.slices.iter().for_each(|slice| sum.merge(slice));
        sum
    };
    LatencySample::of_repeats(&point.repeats.iter().map(whole).collect::<Vec<_>>())
}
