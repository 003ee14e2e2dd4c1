//! Figures that another tool printed, where no histogram and no counts have them.

use crate::audit::Missing;
use crate::audit::input::{InFlight, Known, OrderRate, Percentile, RelatedFigures};
use crate::summary::PointSummary;
use crate::summary::printed::{PrintedLatencies, mean_ms};
use plimsoll_record::{PointId, Record, Reported};

/// A mean that may be off by more says nothing about the number in flight, in percent.
const MOST_ROUNDING: f64 = 5.0;

/// Latencies that depend on each other, and TPM with NOPM.
pub(super) fn rows(record: &Record, points: &[PointId]) -> Vec<RelatedFigures> {
    let printed = points
        .iter()
        .flat_map(|point| PrintedLatencies::of_point(record, *point));
    let mut rows: Vec<RelatedFigures> = printed.map(row).filter(|row| !row.is_empty()).collect();
    let orders = points.iter().filter_map(|point| orders(record, *point));
    rows.extend(orders.map(|orders| RelatedFigures {
        orders: Some(orders),
        ..RelatedFigures::default()
    }));
    rows
}

fn row(printed: PrintedLatencies) -> RelatedFigures {
    let kind = match printed.txn.as_str() {
        "" => String::new(),
        txn => format!(" ({txn})"),
    };
    let percentiles = printed.percentiles.into_iter().map(|own| Percentile {
        name: format!("{}{kind}", own.name),
        share: own.share,
        ms: own.ms,
    });
    RelatedFigures {
        percentiles: percentiles.collect(),
        mean_ms: printed.mean_ms,
        resolution_percent: printed.rounding_percent,
        ..RelatedFigures::default()
    }
}

fn orders(record: &Record, point: PointId) -> Option<OrderRate> {
    let own = || {
        let own = record.reported.iter().filter(|own| own.point == point);
        own.filter(|own| own.over.is_none() && own.unit == "1/min")
    };
    let is_tpm = |own: &&Reported| own.name == "TPM" || own.name.ends_with(" TPM");
    let tpm = own().find(is_tpm)?.value;
    let nopm = own().find(|own| own.name == "NOPM")?.value;
    (nopm > 0.0).then_some(OrderRate { tpm, nopm })
}

/// With the New-Orders that they rest on.
pub(super) fn tpm_nopm(record: &Record, point: &PointSummary) -> Option<(f64, f64, Option<f64>)> {
    let mut ids = point.ids.iter();
    let orders = ids.find_map(|id| orders(record, *id))?;
    let minutes = point.measured_s / 60.0;
    Some((orders.tpm, orders.nopm, Some(orders.nopm * minutes)))
}

/// Rate and printed mean of a point whose users wait for nothing else.
pub(super) fn in_flight(record: &Record, point: &PointSummary, per_second: f64) -> Known<InFlight> {
    let [id] = point.ids.as_slice() else {
        return Err(Missing::NoInFlight);
    };
    let all = PrintedLatencies::of_point(record, *id);
    let mean = mean_ms(&all, "").ok_or(Missing::NoInFlight)?;
    // pgbench measures no latency unless an option needs it, and prints no deviation then (`printResults` in pgbench.c).
    let is_pgbench = point
        .imported
        .as_deref()
        .is_some_and(|own| own.starts_with("pgbench"));
    let mut reported = record.reported.iter().filter(|own| own.point == *id);
    if is_pgbench && !reported.any(|own| own.name == "latency stddev" && own.over.is_none()) {
        return Err(Missing::ComputedMean);
    }
    if mean.rounding_percent > MOST_ROUNDING {
        return Err(Missing::TooFewDigits);
    }
    let longest = all.iter().filter(|own| own.txn.is_empty());
    let longest = longest.flat_map(|own| &own.percentiles).map(|own| own.ms);
    let longest_ms = longest.fold(mean.ms, f64::max);
    Ok(InFlight {
        per_second,
        mean_ms: mean.ms,
        asked: f64::from(point.key.load.users),
        edges_percent: longest_ms / 10.0 / point.measured_s,
    })
}
