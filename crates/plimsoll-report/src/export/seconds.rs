//! One row for each second and transaction type, and one for each sample of each metric.

use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{Phase, Point, Record, Sample, SecondRef, Series, Subject};

use crate::subject;
use crate::table::Table;

pub(crate) struct SecondRow<'a> {
    second: SecondRef<'a>,
    response: CoarseHist,
    service: Option<CoarseHist>,
    phase: &'a Phase,
    point: Option<&'a Point>,
    system: &'a str,
}

impl<'a> SecondRow<'a> {
    /// `None` of a second whose phase the record does not have.
    fn of(record: &'a Record, second: SecondRef<'a>) -> Option<Self> {
        let mut phases = record.phases.iter();
        let phase = phases.find(|phase| phase.id == second.phase)?;
        let mut points = record.points.iter();
        Some(Self {
            second,
            response: second.response(),
            service: second.service(),
            phase,
            point: points.find(|point| Some(point.id) == phase.point),
            system: subject::name(record, second.subject),
        })
    }

    fn txn(&self) -> Option<String> {
        self.point?.txns.get(self.second.txn as usize).cloned()
    }

    fn response(&self, quantile: f64) -> Option<f64> {
        ms(self.response.quantile(quantile))
    }

    fn service(&self, quantile: f64) -> Option<f64> {
        ms(self.service.as_ref()?.quantile(quantile))
    }
}

fn ms(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_millis_f64)
}

pub(super) fn rows(record: &Record) -> impl Iterator<Item = SecondRow<'_>> {
    let seconds = record.seconds.iter();
    seconds.filter_map(|second| SecondRow::of(record, second))
}

pub(crate) fn table<'a>() -> Table<'a, SecondRow<'a>> {
    Table::<SecondRow<'_>>::new("seconds")
        .field("start_s", |r| r.second.start.as_secs_f64())
        .field("end_s", |r| r.second.end.as_secs_f64())
        .field("step", |r| r.phase.step.clone())
        .field("ordinal", |r| Some(r.point?.ordinal))
        .field("phase", |r| r.phase.kind.name())
        .field("system", |r| r.system)
        .field("txn", SecondRow::txn)
        .field("offered", |r| r.second.counts.offered)
        .field("committed", |r| r.second.counts.committed)
        .field("rolled_back", |r| r.second.counts.rolled_back)
        .field("failed", |r| r.second.counts.failed)
        .field("dropped", |r| r.second.counts.dropped)
        .field("retries", |r| r.second.counts.retries)
        .field("round_trips", |r| r.second.counts.round_trips)
        .field("in_flight", |r| r.second.in_flight)
        .field("response_mean_ms", |r| ms(r.response.mean()))
        .field("response_p50_ms", |r| r.response(0.5))
        .field("response_p95_ms", |r| r.response(0.95))
        .field("response_p99_ms", |r| r.response(0.99))
        .field("response_max_ms", |r| ms(r.response.max()))
        .field("service_p50_ms", |r| r.service(0.5))
        .field("service_p99_ms", |r| r.service(0.99))
        .field("service_max_ms", |r| ms(r.service.as_ref()?.max()))
        .field("point", |r| Some(r.point?.id.0.to_string()))
        .field("bytes", |r| r.second.counts.bytes)
}

pub(crate) struct SampleRow<'a> {
    series: &'a Series,
    subject: Option<&'a Subject>,
    sample: &'a Sample,
}

pub(super) fn sample_rows(record: &Record) -> impl Iterator<Item = SampleRow<'_>> {
    record.series.iter().flat_map(|series| {
        let mut subjects = record.subjects.iter();
        let subject = subjects.find(|own| own.id == series.subject);
        series.samples.iter().map(move |sample| SampleRow {
            series,
            subject,
            sample,
        })
    })
}

pub(crate) fn samples<'a>() -> Table<'a, SampleRow<'a>> {
    Table::<SampleRow<'_>>::new("series")
        .field("t_s", |r| r.sample.at.as_secs_f64())
        .field("subject_kind", |r| Some(r.subject?.kind.name()))
        .field("subject", |r| Some(r.subject?.name.clone()))
        .field("metric", |r| r.series.metric.info().name)
        .field("unit", |r| r.series.metric.info().unit)
        .field("value", |r| r.sample.value)
}
