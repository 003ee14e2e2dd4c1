//! One row for each second and transaction type, and one for each sample of each metric.

use plimsoll_plan::units::Nanos;
use plimsoll_record::{Phase, Point, Record, Sample, Second, Series, Subject};

use super::name;
use crate::table::Table;

struct Row<'a> {
    second: &'a Second,
    phase: &'a Phase,
    point: Option<&'a Point>,
}

impl Row<'_> {
    fn txn(&self) -> Option<String> {
        self.point?.txns.get(self.second.txn as usize).cloned()
    }

    fn service(&self, quantile: f64) -> Option<f64> {
        ms(self.second.service.as_ref()?.quantile(quantile))
    }
}

fn ms(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_millis_f64)
}

fn row_of<'a>(record: &'a Record, second: &'a Second) -> Option<Row<'a>> {
    let mut phases = record.phases.iter();
    let phase = phases.find(|phase| phase.id == second.phase)?;
    let mut points = record.points.iter();
    Some(Row {
        second,
        phase,
        point: points.find(|point| Some(point.id) == phase.point),
    })
}

pub(super) fn seconds(record: &Record) -> String {
    let seconds = record.seconds.iter();
    Table::new()
        .field("start_s", |r: &Row<'_>| r.second.start.as_secs_f64())
        .field("end_s", |r| r.second.end.as_secs_f64())
        .field("step", |r| r.phase.step.clone())
        .field("ordinal", |r| r.point.map(|point| point.ordinal))
        .field("phase", |r| r.phase.kind.name())
        .field("system", |r| name(record, r.second.subject))
        .field("txn", |r| r.txn())
        .field("offered", |r| r.second.counts.offered)
        .field("committed", |r| r.second.counts.committed)
        .field("rolled_back", |r| r.second.counts.rolled_back)
        .field("failed", |r| r.second.counts.failed)
        .field("dropped", |r| r.second.counts.dropped)
        .field("retries", |r| r.second.counts.retries)
        .field("round_trips", |r| r.second.counts.round_trips)
        .field("in_flight", |r| r.second.in_flight)
        .field("response_mean_ms", |r| ms(r.second.response.mean()))
        .field("response_p50_ms", |r| ms(r.second.response.quantile(0.5)))
        .field("response_p95_ms", |r| ms(r.second.response.quantile(0.95)))
        .field("response_p99_ms", |r| ms(r.second.response.quantile(0.99)))
        .field("response_max_ms", |r| ms(r.second.response.max()))
        .field("service_p50_ms", |r| r.service(0.5))
        .field("service_p99_ms", |r| r.service(0.99))
        .field("service_max_ms", |r| {
            ms(r.second.service.as_ref().and_then(|hist| hist.max()))
        })
        .field("point", |r| r.point.map(|point| point.id.0.to_string()))
        .field("bytes", |r| r.second.counts.bytes)
        .to_csv(seconds.filter_map(|second| row_of(record, second)))
}

struct SampleRow<'a> {
    series: &'a Series,
    subject: Option<&'a Subject>,
    sample: &'a Sample,
}

fn samples<'a>(record: &'a Record, series: &'a Series) -> impl Iterator<Item = SampleRow<'a>> {
    let mut subjects = record.subjects.iter();
    let subject = subjects.find(|own| own.id == series.subject);
    series.samples.iter().map(move |sample| SampleRow {
        series,
        subject,
        sample,
    })
}

pub(super) fn series(record: &Record) -> String {
    Table::new()
        .field("t_s", |r: &SampleRow<'_>| r.sample.at.as_secs_f64())
        .field("subject_kind", |r| r.subject.map(|own| own.kind.name()))
        .field("subject", |r| r.subject.map(|own| own.name.clone()))
        .field("metric", |r| r.series.metric.info().name)
        .field("unit", |r| r.series.metric.info().unit)
        .field("value", |r| r.sample.value.to_string())
        .to_csv(
            record
                .series
                .iter()
                .flat_map(|series| samples(record, series)),
        )
}
