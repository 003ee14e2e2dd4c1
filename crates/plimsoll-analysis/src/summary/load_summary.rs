//! One load of a ladder over all its repeats.

use plimsoll_record::OfferedLoad;
use serde::Serialize;

use super::finding::Verdict;
use super::latency::LatencySummary;
use super::point_summary::PointSummary;
use super::stats::{self, Interval};

/// All points of one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadSummary {
    pub ordinal: u32,
    #[serde(flatten)]
    pub load: OfferedLoad,
    pub connections: u32,
    /// Indices into [`super::LadderSummary::points`], in the order of repeats.
    pub points: Vec<usize>,
    /// The one of them whose main rate is nearest to the median: what stands for the load where only one can.
    pub typical: usize,
    /// The worst of its points'.
    pub verdict: Verdict,
    pub nopm: Option<RepeatedFigure>,
    pub tpm: Option<RepeatedFigure>,
    pub completed_per_second: Option<RepeatedFigure>,
    /// Response times of the main transaction type (see [`PointSummary::main_latency`]).
    pub p50_ms: Option<RepeatedFigure>,
    pub p95_ms: Option<RepeatedFigure>,
    pub p99_ms: Option<RepeatedFigure>,
}

/// A figure over repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RepeatedFigure {
    /// Of all repeats that have the figure.
    pub median: f64,
    /// 95 %, and the geometric mean. Of three repeats or more: by Student's t. Of a single one: of its window, rates only.
    pub interval: Option<Interval>,
    pub min: f64,
    pub max: f64,
}

impl RepeatedFigure {
    /// Of values of which the only one has an interval of its own.
    pub(crate) fn of(
        values: impl Iterator<Item = Option<(f64, Option<Interval>)>>,
    ) -> Option<Self> {
        let all: Vec<(f64, Option<Interval>)> = values
            .flatten()
            .filter(|(value, _)| value.is_finite())
            .collect();
        let mut sorted: Vec<f64> = all.iter().map(|(value, _)| *value).collect();
        sorted.sort_by(f64::total_cmp);
        let min = *sorted.first()?;
        let max = *sorted.last()?;
        let interval = match all.as_slice() {
            [(_, own)] => *own,
            _ => stats::of_repeats(&sorted),
        };
        let median = stats::quantile(&sorted, 0.5);
        Some(Self {
            median,
            interval: interval.map(|own| Interval {
                low: own.low.min(median),
                high: own.high.max(median),
                ..own
            }),
            min,
            max,
        })
    }
}

/// Points with one place in the ladder, which `points` holds next to each other, by repeat.
pub(super) fn summarise_loads(points: &[PointSummary]) -> Vec<LoadSummary> {
    let mut loads: Vec<Vec<usize>> = Vec::new();
    for (i, point) in points.iter().enumerate() {
        match loads.last_mut() {
            Some(load) if points[load[0]].ordinal == point.ordinal => load.push(i),
            _ => loads.push(vec![i]),
        }
    }
    loads
        .into_iter()
        .map(|own| summarise_load(points, own))
        .collect()
}

fn summarise_load(all: &[PointSummary], own: Vec<usize>) -> LoadSummary {
    let points: Vec<&PointSummary> = own.iter().map(|i| &all[*i]).collect();
    let first = &all[own[0]];
    let main = RepeatedFigure::of(
        points
            .iter()
            .map(|p| p.main_rate().map(|rate| (rate, None))),
    );
    let typical = own
        .iter()
        .copied()
        .min_by(|a, b| distance(&all[*a], main).total_cmp(&distance(&all[*b], main)))
        .unwrap_or(own[0]);
    LoadSummary {
        ordinal: first.ordinal,
        load: first.key.load,
        connections: first.connections,
        typical,
        verdict: points
            .iter()
            .map(|point| point.verdict)
            .max()
            .unwrap_or_default(),
        nopm: RepeatedFigure::of(points.iter().map(|p| p.nopm.map(|v| (v, p.nopm_interval)))),
        tpm: RepeatedFigure::of(points.iter().map(|p| p.tpm.map(|v| (v, p.tpm_interval)))),
        completed_per_second: RepeatedFigure::of(
            points
                .iter()
                .map(|p| p.completed_per_second.map(|v| (v, p.rate_interval))),
        ),
        p50_ms: latency(&points, |l| l.p50_ms),
        p95_ms: latency(&points, |l| l.p95_ms),
        p99_ms: latency(&points, |l| l.p99_ms),
        points: own,
    }
}

fn latency(points: &[&PointSummary], of: fn(&LatencySummary) -> f64) -> Option<RepeatedFigure> {
    let latencies = points.iter().map(|point| point.main_latency());
    RepeatedFigure::of(latencies.map(|found| found.map(|latency| (of(&latency), None))))
}

/// Of a point's rate from the median of all.
fn distance(point: &PointSummary, median: Option<RepeatedFigure>) -> f64 {
    match (point.main_rate(), median) {
        (Some(rate), Some(all)) => (rate - all.median).abs(),
        _ => f64::INFINITY,
    }
}

impl LoadSummary {
    /// What loads of one ladder are ranked by: NOPM, or the rate of completed transactions.
    pub fn main_rate(&self) -> Option<RepeatedFigure> {
        self.nopm.or(self.completed_per_second)
    }

    pub fn repeats(&self) -> usize {
        self.points.len()
    }
}

/// Index of the load with the highest rate among those that are not invalid.
pub(super) fn peak(loads: &[LoadSummary]) -> Option<usize> {
    let usable = loads
        .iter()
        .enumerate()
        .filter(|(_, load)| load.verdict < Verdict::Invalid);
    usable
        .filter_map(|(i, load)| Some((i, load.main_rate()?.median)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(values: &[f64]) -> RepeatedFigure {
        RepeatedFigure::of(values.iter().map(|v| Some((*v, None)))).unwrap()
    }

    #[test]
    fn repeats_give_median_spread_and_interval() {
        let three = figure(&[7.0, 3.0, 4.0]);
        assert_eq!((three.median, three.min, three.max), (4.0, 3.0, 7.0));
        let interval = three.interval.unwrap();
        assert!(
            interval.low < 2.0
                && interval.high > 10.0
                && (interval.mean.powi(3) - 84.0).abs() < 1e-9
        );
        let two = figure(&[7.0, 3.0]);
        assert_eq!(
            (two.median, two.min, two.max, two.interval),
            (5.0, 3.0, 7.0, None)
        );
        assert_eq!(RepeatedFigure::of([None, None].into_iter()), None);
    }

    #[test]
    fn a_single_point_keeps_its_own_interval() {
        let own = Some(Interval::new(5.0, 4.0, 6.0));
        assert_eq!(
            RepeatedFigure::of([Some((5.0, own))].into_iter())
                .unwrap()
                .interval,
            own
        );
        assert_eq!(figure(&[5.0]).interval, None);
    }

    #[test]
    fn the_typical_point_is_nearest_to_the_median() {
        let point = |rate, repeat| PointSummary {
            completed_per_second: Some(rate),
            repeat,
            ..PointSummary::default()
        };
        let other = PointSummary {
            ordinal: 1,
            completed_per_second: Some(1.0),
            ..PointSummary::default()
        };
        let loads = summarise_loads(&[point(9.0, 0), point(5.0, 1), point(6.0, 2), other]);
        assert_eq!(
            (loads.len(), loads[0].typical, loads[0].points.clone()),
            (2, 2, vec![0, 1, 2])
        );
        assert_eq!(
            (
                loads[0].completed_per_second.unwrap().median,
                loads[1].repeats()
            ),
            (6.0, 1)
        );
    }

    #[test]
    fn intervals_of_repeats_cover_the_truth() {
        for repeats in [3, 5] {
            let trials = 400;
            let covers = |seed: &u64| {
                let interval = figure(&plimsoll_stats::made::series(*seed, repeats, 0.0, 0.02))
                    .interval
                    .unwrap();
                interval.low <= 1000.0 && 1000.0 <= interval.high
            };
            let held = (0..trials).filter(covers).count();
            assert!(
                (372..=392).contains(&held),
                "{repeats} repeats: {held} of {trials}"
            );
        }
    }
}
