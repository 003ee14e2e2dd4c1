//! What a server counted over a measure window.

use serde::Serialize;

use super::index::Index;
use super::means::MetricMean;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Phase, Point, SubjectKind};

/// A server's own counters over a window. Per transaction is per completed one, as clients saw them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DatabaseFigures {
    pub commits_per_second: Option<f64>,
    pub rollbacks_per_second: Option<f64>,
    /// Pages found in the buffer pool, of all that were needed.
    pub buffer_hit_percent: Option<f64>,
    pub log_mb_per_second: Option<f64>,
    pub log_bytes_per_txn: Option<f64>,
    pub log_syncs_per_txn: Option<f64>,
    pub checkpoints_per_minute: Option<f64>,
    pub deadlocks_per_minute: Option<f64>,
    pub size_mb: Option<f64>,
    /// What the data grew by within the window, as its gauge shows.
    pub growth_mb: Option<f64>,
}

/// `None` for a system without statistics of its own.
pub(super) fn summarise(
    index: &Index,
    point: &Point,
    window: &Phase,
    metrics: &[MetricMean],
    completed_per_second: Option<f64>,
) -> Option<DatabaseFigures> {
    let system = index.name(point.system);
    let of = |metric: Metric| mean(metrics, &system, metric).map(|mean| mean.mean);
    if !metrics
        .iter()
        .any(|mean| mean.subject == system && mean.metric.starts_with("db_"))
    {
        return None;
    }
    let per_txn =
        |rate: Option<f64>| Some(rate? / completed_per_second.filter(|rate| *rate > 0.0)?);
    let pages = of(Metric::DbBufferHits).zip(of(Metric::DbBufferReads));
    let pages = pages.filter(|(hits, reads)| hits + reads > 0.0);
    Some(DatabaseFigures {
        commits_per_second: of(Metric::DbCommits),
        rollbacks_per_second: of(Metric::DbRollbacks),
        buffer_hit_percent: pages.map(|(hits, reads)| hits / (hits + reads) * 100.0),
        log_mb_per_second: of(Metric::DbLogBytes).map(|bytes| bytes / 1e6),
        log_bytes_per_txn: per_txn(of(Metric::DbLogBytes)),
        log_syncs_per_txn: per_txn(of(Metric::DbLogSyncs)),
        checkpoints_per_minute: of(Metric::DbCheckpoints).map(|rate| rate * 60.0),
        deadlocks_per_minute: of(Metric::DbDeadlocks).map(|rate| rate * 60.0),
        size_mb: of(Metric::DbSize).map(|bytes| bytes / 1e6),
        growth_mb: growth(index, point, window).map(|bytes| bytes / 1e6),
    })
}

fn mean<'a>(metrics: &'a [MetricMean], system: &str, metric: Metric) -> Option<&'a MetricMean> {
    metrics
        .iter()
        .filter(|mean| mean.subject_kind == SubjectKind::System && mean.subject == system)
        .find(|mean| mean.metric == metric.info().name)
}

/// Last size in the window less the first.
fn growth(index: &Index, point: &Point, window: &Phase) -> Option<f64> {
    let samples = &index
        .record
        .series
        .iter()
        .find(|series| series.subject == point.system && series.metric == Metric::DbSize)?
        .samples;
    let from = samples.partition_point(|sample| sample.at <= window.start);
    let to = samples.partition_point(|sample| sample.at <= window.end);
    match samples.get(from..to)? {
        [first, .., last] => Some(f64::from(last.value) - f64::from(first.value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::summarise;
    use crate::summary::FigureId;
    use plimsoll_record::fixture;

    #[test]
    fn counters_become_figures() {
        let summary = summarise(&fixture::record());
        let point = &summary.figures.ladders[0].points[1];
        let database = point.database.clone().unwrap();
        let of = |name: &str| {
            point
                .metrics
                .iter()
                .find(|mean| mean.subject == point.key.system && mean.metric == name)
                .unwrap()
                .mean
        };
        let (hits, reads) = (of("db_buffer_hits"), of("db_buffer_reads"));
        assert_eq!(
            database.buffer_hit_percent,
            Some(hits / (hits + reads) * 100.0)
        );
        let rate = point.value(FigureId::Transactions).unwrap();
        assert_eq!(database.log_bytes_per_txn, Some(of("db_log_bytes") / rate));
        assert_eq!(database.log_syncs_per_txn, Some(of("db_log_syncs") / rate));
        assert!(database.growth_mb.is_some());
    }
}
