//! Whether the generator ran when it should.

use super::facts::RecordFacts;
use crate::audit::input::{Known, LoadInput};
use crate::audit::{GeneratorStopCause, Missing};
use crate::summary::{FigureId, MetricMean, PointSummary};
use plimsoll_record::metric::Metric;
use plimsoll_record::{HOSTS_BETWEEN, SYSTEM_HOST_FACT, SubjectKind};

/// Of the generator that stood still most: of those on other hosts where load came from them, else of plimsoll here. A host
/// that is only watched generates nothing.
pub(super) fn put_stops(facts: &RecordFacts<'_>, point: &PointSummary, load: &mut LoadInput) {
    let record = facts.record;
    let hosts = record
        .facts
        .iter()
        .filter(|fact| fact.key == SYSTEM_HOST_FACT);
    let watched: Vec<&str> = hosts
        .flat_map(|fact| fact.value.split(HOSTS_BETWEEN))
        .collect();
    let named = |metric: Metric| {
        let name = metric.info().name;
        let means = point.metrics.iter().filter(move |mean| mean.metric == name);
        means.filter(|mean| !watched.contains(&mean.subject.as_str()))
    };
    let worst = |kind: SubjectKind| {
        named(Metric::GeneratorStopped)
            .filter(|mean| mean.subject_kind == kind)
            .max_by(|a, b| a.mean.total_cmp(&b.mean))
    };
    let most = worst(SubjectKind::Worker).or_else(|| worst(SubjectKind::Generator));
    let Some(most) = most else { return };
    let beside = |metric: Metric| {
        let own = |mean: &&MetricMean| {
            mean.subject_kind == most.subject_kind && mean.subject == most.subject
        };
        named(metric).find(own).map(|mean| mean.mean)
    };
    let is_most = |percent: Option<f64>| percent.is_some_and(|percent| percent >= most.mean / 2.0);
    let run_delay = beside(Metric::GeneratorRunDelay);
    load.stop_cause = if is_most(beside(Metric::GeneratorThrottled)) {
        GeneratorStopCause::Quota
    } else if is_most(run_delay) {
        GeneratorStopCause::Cpu
    } else {
        GeneratorStopCause::Unknown
    };
    // Of all generators together: each has its part of the transactions.
    let delays = named(Metric::GeneratorRunDelay)
        .filter(|mean| mean.subject_kind == most.subject_kind)
        .map(|mean| mean.mean);
    let delays = delays.reduce(|sum, more| sum + more);
    let waits = delays.ok_or(Missing::NoRunDelay);
    let waits = waits.and_then(|percent| waits_percent(percent, point));
    load.figures.put(FigureId::StoppedPercent, Ok(most.mean));
    load.figures.put(FigureId::GeneratorWaits, waits);
}

/// Waits of `percent` of one thread's time, of all response times. An embedded system's are waits of its own.
fn waits_percent(percent: f64, point: &PointSummary) -> Known<f64> {
    if point.resources.generator_cpu_withheld.is_some() {
        return Err(Missing::Embedded);
    }
    let response = point.overall.response.ok_or(Missing::TooFew)?;
    let all_s = response.count as f64 * response.mean_ms / 1e3;
    Ok(percent * point.measured_s / all_s)
}
