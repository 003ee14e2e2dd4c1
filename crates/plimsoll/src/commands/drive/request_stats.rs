//! Rates and latencies of simulated requests.

use plimsoll_drive::simulate::{Arrival, SeedResults, SimulatedProfile, SimulatedResult};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_report::message::Messages;
use plimsoll_report::number::whole;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};

/// All requests, reads or writes.
pub struct RequestStats {
    what: &'static str,
    ops: u64,
    bytes: u64,
    latency: Hist,
    /// Of the measurement.
    span: Nanos,
    whole: Option<Totals>,
}

/// What belongs to all requests stands in their row only.
struct Totals {
    queued: u64,
    dropped: u64,
    watts: Option<f64>,
    /// For each request.
    joules: Option<f64>,
}

impl RequestStats {
    fn us(&self, quantile: f64) -> Option<f64> {
        us(self.latency.quantile(quantile))
    }

    fn per_second(&self, n: u64) -> f64 {
        n as f64 / self.span.as_secs_f64().max(1e-9)
    }
}

pub fn us(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_micros_f64)
}

pub fn rows(spec: &DriveSpec, outcome: &SimulatedResult) -> Vec<RequestStats> {
    let mut rows = vec![RequestStats {
        what: "all",
        ops: outcome.reads.ops + outcome.writes.ops,
        bytes: outcome.reads.bytes + outcome.writes.bytes,
        latency: outcome.latency(),
        span: outcome.span,
        whole: Some(Totals {
            queued: outcome.queued,
            dropped: outcome.dropped,
            watts: outcome.total_watts(spec),
            joules: outcome.joules_per_request(spec),
        }),
    }];
    if outcome.reads.ops > 0 && outcome.writes.ops > 0 {
        for (what, side) in [("reads", &outcome.reads), ("writes", &outcome.writes)] {
            rows.push(RequestStats {
                what,
                ops: side.ops,
                bytes: side.bytes,
                latency: side.latency.clone(),
                span: outcome.span,
                whole: None,
            });
        }
    }
    rows
}

pub fn table() -> Table<'static, RequestStats> {
    Table::<RequestStats>::new("simulated")
        .prefix("simulated-")
        .column("requests", Words, |own| own.what)
        .column("ops", Whole, |own| own.ops)
        .column("iops", Whole, |own| own.per_second(own.ops))
        .column("mb-s", Decimals(1), |own| own.per_second(own.bytes) / 1e6)
        .column("mean-us", Decimals(1), |own| us(own.latency.mean()))
        .column("p50-us", Decimals(1), |own| own.us(0.5))
        .column("p90-us", Decimals(1), |own| own.us(0.9))
        .column("p99-us", Decimals(1), |own| own.us(0.99))
        .column("p999-us", Decimals(1), |own| own.us(0.999))
        .column("max-us", Decimals(1), |own| us(own.latency.max()))
        .field("queue", |own| {
            own.latency.sum() as f64 / own.span.0.max(1) as f64
        })
        .field("queued", |own| Some(own.whole.as_ref()?.queued as f64))
        .field("dropped", |own| Some(own.whole.as_ref()?.dropped as f64))
        .field("watts", |own| own.whole.as_ref()?.watts)
        .field("joules_per_request", |own| own.whole.as_ref()?.joules)
        .with_keys()
        .with_long_headings()
}

/// Queue, power, and how far apart the seeds are.
pub fn below(
    m: &Messages,
    spec: &DriveSpec,
    profile: &SimulatedProfile,
    seeds: &SeedResults,
) -> String {
    let outcome = &seeds.joined;
    let mut parts = queue(m, profile, outcome);
    if let Some(watts) = outcome.total_watts(spec) {
        let joules = outcome.joules_per_request(spec);
        let millijoules = 1e3 * joules.unwrap_or_default();
        let args = [
            ("watts", format!("{watts:.1}")),
            ("millijoules", format!("{millijoules:.3}")),
        ];
        parts.push(m.text_with("simulated-power", &args));
    }
    let line = parts.join("; ") + ".";
    let lines = [Some(line), of_seeds(m, seeds)];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// How many requests were in flight, waited, were dropped.
fn queue(m: &Messages, profile: &SimulatedProfile, outcome: &SimulatedResult) -> Vec<String> {
    let queue = [("queue", format!("{:.1}", outcome.queue()))];
    let mut parts = vec![m.text_with("simulated-queue", &queue)];
    if matches!(profile.load, Arrival::Open { .. }) {
        let args = [
            ("queued", outcome.queued.to_string()),
            ("dropped", outcome.dropped.to_string()),
        ];
        parts.push(m.text_with("simulated-queued", &args));
    }
    parts
}

/// How far apart the seeds are; `None` of a single one.
fn of_seeds(m: &Messages, seeds: &SeedResults) -> Option<String> {
    let interval = seeds.interval()?;
    let lowest = seeds.iops.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = seeds.iops.iter().copied().fold(0.0, f64::max);
    let args = [
        ("seeds", seeds.iops.len().to_string()),
        ("lowest", whole(lowest)),
        ("highest", whole(highest)),
        ("low", whole(interval.low)),
        ("high", whole(interval.high)),
    ];
    Some(m.text_with("simulated-seeds", &args))
}
