//! One load of a ladder over all its repeats.

use plimsoll_record::OfferedLoad;
use serde::Serialize;

use super::estimate::Estimate;
use super::figure::FigureSet;
use super::finding::Verdict;
use super::point_summary::PointSummary;

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
    /// Rates, and response times of the main transaction type (see [`PointSummary::main_latency`]).
    #[serde(flatten)]
    pub figures: FigureSet,
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
    let figures = FigureSet::over(points.iter().map(|point| &point.figures));
    let main = figures.main_rate();
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
        figures,
        points: own,
    }
}

/// Of a point's rate from the median of all.
fn distance(point: &PointSummary, median: Option<Estimate>) -> f64 {
    match (point.main_rate(), median) {
        (Some(rate), Some(all)) => (rate - all.value).abs(),
        _ => f64::INFINITY,
    }
}

impl LoadSummary {
    /// What loads of one ladder are ranked by: NOPM, or the rate of completed transactions.
    pub fn main_rate(&self) -> Option<Estimate> {
        self.figures.main_rate()
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
        .filter_map(|(i, load)| Some((i, load.main_rate()?.value)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::super::figure::FigureId;
    use super::*;

    #[test]
    fn the_typical_point_is_nearest_to_the_median() {
        let rated =
            |rate| FigureSet::default().with(FigureId::Transactions, Estimate::single(rate, None));
        let point = |rate, repeat| PointSummary {
            figures: rated(rate),
            repeat,
            ..PointSummary::default()
        };
        let other = PointSummary {
            ordinal: 1,
            figures: rated(1.0),
            ..PointSummary::default()
        };
        let loads = summarise_loads(&[point(9.0, 0), point(5.0, 1), point(6.0, 2), other]);
        assert_eq!(
            (loads.len(), loads[0].typical, loads[0].points.clone()),
            (2, 2, vec![0, 1, 2])
        );
        assert_eq!(
            (
                loads[0].figures.get(FigureId::Transactions).unwrap().value,
                loads[1].repeats()
            ),
            (6.0, 1)
        );
    }
}
