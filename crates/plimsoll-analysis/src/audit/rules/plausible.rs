//! Figures that cannot all be true, whatever was measured.

use super::result::RuleResult;
use crate::audit::input::{LoadInput, Neighbours, Percentile, RelatedFigures};
use crate::audit::{Evidence, Missing, Next};
use crate::summary::FigureId;
use plimsoll_plan::Thresholds;
use plimsoll_record::Severity::Error;

pub(super) fn plausible(load: &LoadInput, thresholds: &Thresholds, result: &mut RuleResult) {
    for row in &load.rows {
        related(row, thresholds, result);
    }
    if load.rows.is_empty() {
        result.missing(match load.figures.read(FigureId::MeasuredS) {
            Err(Missing::NothingMeasured) => Missing::NothingMeasured,
            _ => Missing::OneFigure,
        });
    }
}

/// Whoever states figures that contradict each other has a source to look at.
fn check(holds: bool, evidence: Evidence, result: &mut RuleResult) {
    result.check(holds, evidence, Error, Next::CheckSource);
}

fn related(row: &RelatedFigures, thresholds: &Thresholds, result: &mut RuleResult) {
    let in_order = [&row.percentiles, &row.lowest, &row.highest]
        .map(|percentiles| order(percentiles, row, result));
    if in_order[0] {
        mean(row, thresholds, result);
    }
    if let Ok([tpm, nopm]) = row.figures.read_all(RelatedFigures::ORDERS) {
        let evidence = Evidence::NewOrders { nopm, tpm };
        check(nopm <= tpm, evidence, result);
    }
    if let Ok(stated) = row.figures.read_all(RelatedFigures::BANDWIDTH) {
        bandwidth(stated, thresholds, result);
    }
    for range in &row.ranges {
        let evidence = Evidence::RangeOf {
            figure: range.figure.clone(),
            low: range.low,
            high: range.high,
        };
        check(range.low <= range.high, evidence, result);
    }
    row.neighbours
        .iter()
        .for_each(|rate| beside_others(rate, thresholds, result));
}

/// Percentiles rise with their share. Whether they do.
fn order(percentiles: &[Percentile], row: &RelatedFigures, result: &mut RuleResult) -> bool {
    // Of coarse buckets the middle stands for all their values, also for a largest one below it.
    let slack = 1.0 + row.resolution_percent / 100.0;
    let wrong = percentiles
        .windows(2)
        .find(|pair| pair[0].ms > pair[1].ms * slack);
    match wrong {
        Some([first, second]) => {
            let lower = first.name.clone();
            let higher = second.name.clone();
            let evidence = Evidence::OutOfOrder {
                lower,
                lower_ms: first.ms,
                higher,
                higher_ms: second.ms,
            };
            result.fail(evidence, Error, Next::CheckSource);
        }
        _ if percentiles.len() > 1 => {
            let names: Vec<&str> = percentiles
                .iter()
                .map(|percentile| percentile.name.as_str())
                .collect();
            result.pass(Evidence::InOrder {
                percentiles: names.join(", "),
            });
        }
        _ => {}
    }
    wrong.is_none()
}

fn mean(row: &RelatedFigures, thresholds: &Thresholds, result: &mut RuleResult) {
    let Some(mean_ms) = row.figures.value(FigureId::Mean) else {
        return;
    };
    if row.percentiles.is_empty() {
        return;
    }
    let rounding = (thresholds.rounding + row.resolution_percent) / 100.0;
    let bound_ms = least_mean(&row.percentiles);
    let evidence = Evidence::MeanAtLeast { mean_ms, bound_ms };
    check(mean_ms * (1.0 + rounding) >= bound_ms, evidence, result);
    if let Some(bound_ms) = highest_mean(&row.percentiles) {
        let evidence = Evidence::MeanAtMost { mean_ms, bound_ms };
        check(mean_ms * (1.0 - rounding) <= bound_ms, evidence, result);
    }
}

/// What lies between two percentiles took at least as long as the lower one.
fn least_mean(percentiles: &[Percentile]) -> f64 {
    let ends = percentiles
        .iter()
        .skip(1)
        .map(|percentile| percentile.share)
        .chain([1.0]);
    percentiles
        .iter()
        .zip(ends)
        .map(|(percentile, end)| (end - percentile.share) * percentile.ms)
        .sum()
}

/// What lies between two percentiles took at most as long as the higher one. `None` without a maximum.
fn highest_mean(percentiles: &[Percentile]) -> Option<f64> {
    percentiles.last().filter(|last| last.share >= 1.0)?;
    let starts = [0.0]
        .into_iter()
        .chain(percentiles.iter().map(|percentile| percentile.share));
    Some(
        percentiles
            .iter()
            .zip(starts)
            .map(|(percentile, start)| (percentile.share - start) * percentile.ms)
            .sum(),
    )
}

fn bandwidth(
    [per_second, request_kib, mb_per_second]: [f64; 3],
    thresholds: &Thresholds,
    result: &mut RuleResult,
) {
    let product_mb = per_second * request_kib * 1024.0 / 1e6;
    let off_percent = (product_mb / mb_per_second - 1.0) * 100.0;
    let limit_percent = thresholds.bandwidth;
    let evidence = Evidence::BandwidthOf {
        per_second,
        request_kib,
        product_mb,
        mb_per_second,
        off_percent,
        limit_percent,
    };
    check(off_percent.abs() <= limit_percent, evidence, result);
}

fn beside_others(rate: &Neighbours, thresholds: &Thresholds, result: &mut RuleResult) {
    let times = rate.value / rate.expected;
    let limit = thresholds.neighbors;
    let figure = rate.figure.clone();
    let value = rate.value;
    let expected = rate.expected;
    let evidence = Evidence::BesideOthers {
        figure,
        value,
        expected,
        times,
        limit,
    };
    check(times < limit && times > 1.0 / limit, evidence, result);
}
