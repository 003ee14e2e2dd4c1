//! A series of runs of the same plan: where a figure changed, and with which run.

use serde::Serialize;

use crate::compare::{ComparedSide, SidePoint, WorkloadParameters};
use crate::summary::{FigureId, is_like_speed};
use plimsoll_record::LoadKey;
use plimsoll_stats::{Trend, change_points, fewest_for_step, trend};

/// A change is reported when at most this share of permutations splits the series as clearly.
pub const SIGNIFICANCE: f64 = 0.01;

/// The fewest runs in which a step can be that clear.
pub fn fewest_runs() -> usize {
    fewest_for_step(SIGNIFICANCE)
}

/// One run of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRun {
    /// The run's file.
    pub file: String,
    /// The label given by a user, or empty.
    pub label: String,
    pub side: ComparedSide,
}

/// One figure over runs, in the order of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureSeries {
    pub place: LoadKey,
    pub figure: FigureId,
    /// Of its first run; that of the others is not known to differ.
    #[serde(skip)]
    workload: WorkloadParameters,
    /// How many times slower than rated the drives ran: runs at another speed are another series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    pub points: Vec<SeriesPoint>,
    /// Where its level changed.
    pub changes: Vec<Change>,
    /// Where it drifts, steps are those of the drift.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesPoint {
    pub file: String,
    pub started_at: String,
    pub commit: String,
    pub label: String,
    pub rate: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Index into [`FigureSeries::points`] of the first run of the new level.
    pub at: usize,
    /// Means of the levels before and after.
    pub before: f64,
    pub after: f64,
    pub ratio: f64,
    pub p: f64,
}

/// One series for each figure of each load that at least two runs have. `runs` are in the order of time; invalid points
/// are left out.
pub fn figure_series(runs: &[HistoryRun]) -> Vec<FigureSeries> {
    let mut series: Vec<FigureSeries> = Vec::new();
    for run in runs {
        for point in run
            .side
            .points
            .iter()
            .filter(|point| point.verdict < crate::summary::Verdict::Invalid)
        {
            let whole = point.repeats.iter().map(crate::compare::Repeat::whole);
            let (n, seconds) = whole.fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            if n <= 0.0 || seconds <= 0.0 {
                continue;
            }
            let info = run.side.runs.first();
            let here = SeriesPoint {
                file: run.file.clone(),
                started_at: info.map(|info| info.started_at.clone()).unwrap_or_default(),
                commit: info
                    .map(|info| info.plimsoll_commit.clone())
                    .unwrap_or_default(),
                label: run.label.clone(),
                rate: n / seconds * point.figure.per_second(),
            };
            match series.iter_mut().find(|known| known.is_of(point)) {
                Some(known) => known.points.push(here),
                None => series.push(FigureSeries {
                    place: point.key.clone(),
                    figure: point.figure,
                    workload: point.workload.clone(),
                    slower: point.slower,
                    points: vec![here],
                    changes: Vec::new(),
                    trend: None,
                }),
            }
        }
    }
    series.retain(|own| own.points.len() > 1);
    for own in &mut series {
        let rates: Vec<f64> = own.points.iter().map(|point| point.rate).collect();
        let found = change_points(&rates, SIGNIFICANCE);
        own.trend = trend(&rates, &found, SIGNIFICANCE);
        own.changes = found.into_iter().map(Change::from).collect();
    }
    series
}

impl From<plimsoll_stats::ChangePoint> for Change {
    fn from(found: plimsoll_stats::ChangePoint) -> Self {
        Self {
            at: found.at,
            before: found.before,
            after: found.after,
            ratio: found.after / found.before,
            p: found.p,
        }
    }
}

impl FigureSeries {
    fn is_of(&self, point: &SidePoint) -> bool {
        self.place == point.key
            && self.figure == point.figure
            && is_like_speed(self.slower, point.slower)
            && self.workload.is_alike(&point.workload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::fixture;
    use plimsoll_stats::made;

    #[test]
    fn a_change_is_reported_with_its_run() {
        let record = fixture::single_point();
        let side = ComparedSide::of("x", &record);
        let noise = made::series(4, 16, 0.0, 0.01);
        let run = |(i, level): (usize, f64)| {
            let mut side = side.clone();
            side.runs[0].plimsoll_commit = format!("commit-{i}");
            let level = level / 1000.0 * if i < 9 { 1.0 } else { 0.9 };
            side.points[0].repeats[0].seconds = vec![(50.0 * level, 1.0); 60];
            HistoryRun {
                file: format!("{i}.plimsoll"),
                label: format!("v{i}"),
                side,
            }
        };
        let runs: Vec<HistoryRun> = noise.into_iter().enumerate().map(run).collect();
        let series = figure_series(&runs);
        assert_eq!((series.len(), series[0].points.len()), (1, 16));
        let change = &series[0].changes[0];
        let point = &series[0].points[change.at];
        assert_eq!(
            (
                series[0].changes.len(),
                point.label.as_str(),
                point.commit.as_str()
            ),
            (1, "v9", "commit-9")
        );
        assert!(
            (change.ratio - 0.9).abs() < 0.02 && (change.before / 3000.0 - 1.0).abs() < 0.02,
            "{change:?}"
        );
        assert_eq!(series[0].trend, None, "a step is no drift");
        let mut slowed = runs.clone();
        let last = slowed[9..].iter_mut();
        last.for_each(|run| run.side.points[0].slower = Some(20.0));
        let series = figure_series(&slowed);
        assert_eq!(series.len(), 2, "a chosen speed is no step");
        assert!(series.iter().all(|own| own.changes.is_empty()));
        assert_eq!(
            super::figure_series(&runs[..1]),
            [],
            "one run has no series"
        );
    }

    #[test]
    fn a_clean_step_is_found_from_the_stated_number_of_runs_on() {
        let side = ComparedSide::of("x", &fixture::single_point());
        let series = |before: usize, after: usize| {
            let rates = [vec![12_460.0; before], vec![8_510.0; after]].concat();
            let noise = made::series(3, rates.len(), 0.0, 0.01);
            let runs = rates.iter().zip(noise).enumerate();
            let runs: Vec<HistoryRun> = runs
                .map(|(i, (rate, noise))| {
                    let mut side = side.clone();
                    side.points[0].repeats[0].seconds = vec![(rate * noise / 60_000.0, 1.0); 60];
                    HistoryRun {
                        file: format!("{i}.plimsoll"),
                        label: String::new(),
                        side,
                    }
                })
                .collect();
            figure_series(&runs).remove(0)
        };
        let half = fewest_runs() / 2;
        let found = series(half, half);
        assert_eq!((found.changes.len(), found.changes[0].at), (1, half));
        assert!((found.changes[0].ratio - 0.683).abs() < 0.01 && found.trend.is_none());
        for half in 3..half {
            let short = series(half, half);
            assert_eq!((short.changes.len(), short.trend), (0, None), "{half}");
        }
    }

    #[test]
    fn a_dip_in_the_middle_third_is_found_at_both_edges() {
        // A tenth less for 20 of 60 runs that scatter by 7 %: the level before and after is the same.
        let found = |seed: u64| {
            let mut rates = made::series(seed, 60, 0.0, 0.07);
            rates[20..40].iter_mut().for_each(|rate| *rate *= 0.9);
            let changes = change_points(&rates, SIGNIFICANCE);
            let near = |edge: usize| changes.iter().any(|change| change.at.abs_diff(edge) <= 3);
            usize::from(near(20)) + usize::from(near(40))
        };
        let edges: usize = (0..50).map(found).sum();
        assert!(edges >= 60, "{edges} of 100 edges");
    }

    #[test]
    fn a_drift_shows_steps_that_are_not_there() {
        // One tenth in 60 runs that scatter by 2 %; and runs whose neighbours correlate by 0.7. docs/compare.md warns of it.
        let drift = |seed: u64| {
            let mut rates = made::series(seed, 60, 0.0, 0.02);
            rates
                .iter_mut()
                .enumerate()
                .for_each(|(i, rate)| *rate *= 1.0 + 0.1 * i as f64 / 59.0);
            change_points(&rates, SIGNIFICANCE).len()
        };
        let correlated =
            |seed: u64| change_points(&made::series(seed, 60, 0.7, 0.02), SIGNIFICANCE).len();
        let with_steps =
            |found: &dyn Fn(u64) -> usize| (0..20).filter(|seed| found(*seed) > 0).count();
        assert_eq!(with_steps(&drift), 20);
        let correlated = with_steps(&correlated);
        assert!(correlated > 10, "{correlated} of 20");
    }
}
