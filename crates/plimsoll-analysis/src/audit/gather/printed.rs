//! Figures that another tool printed, where no histogram and no counts have them.

use crate::audit::Missing;
use crate::audit::input::{Known, Percentile, RelatedFigures};
use crate::summary::printed::{PrintedLatencies, mean_ms};
use crate::summary::{FigureId, FigureSet, PointSummary};
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
    rows.extend(orders.map(|figures| RelatedFigures {
        figures,
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
    let mut figures = FigureSet::default();
    figures.put_some(FigureId::Mean, printed.mean_ms);
    RelatedFigures {
        percentiles: percentiles.collect(),
        figures,
        resolution_percent: printed.rounding_percent,
        ..RelatedFigures::default()
    }
}

/// TPM and NOPM.
fn orders(record: &Record, point: PointId) -> Option<FigureSet> {
    let own = || {
        let own = record.reported.iter().filter(|own| own.point == point);
        own.filter(|own| own.over.is_none() && own.unit == "1/min")
    };
    let is_tpm = |own: &&Reported| own.name == "TPM" || own.name.ends_with(" TPM");
    let tpm = own().find(is_tpm)?.value;
    let nopm = own().find(|own| own.name == "NOPM")?.value;
    let orders = [(FigureId::Tpm, tpm), (FigureId::Nopm, nopm)];
    (nopm > 0.0).then(|| FigureSet::from_iter(orders))
}

/// With the New-Orders that they rest on.
pub(super) fn tpm_nopm(record: &Record, point: &PointSummary) -> Option<FigureSet> {
    let mut ids = point.ids.iter();
    let mut figures = ids.find_map(|id| orders(record, *id))?;
    let minutes = point.measured_s / 60.0;
    let counted = figures.read(FigureId::Nopm).map(|nopm| nopm * minutes);
    figures.put(FigureId::NewOrders, counted);
    Some(figures)
}

/// Rate and printed mean of a point whose users wait for nothing else.
pub(super) fn in_flight(
    record: &Record,
    point: &PointSummary,
    per_second: f64,
) -> Known<FigureSet> {
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
    let edges_percent = longest_ms / 10.0 / point.measured_s;
    Ok(FigureSet::from_iter([
        (FigureId::PerSecond, per_second),
        (FigureId::TimeInFlight, mean.ms),
        (FigureId::InFlight, f64::from(point.key.load.users)),
        (FigureId::InFlightEdges, edges_percent),
    ]))
}
