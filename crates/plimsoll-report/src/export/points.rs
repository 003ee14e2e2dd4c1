//! One row for each ladder point.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{LatencySummary, PointSummary, TxnSummary};

use crate::table::Table;

type Points<'a> = Table<'a, &'a PointSummary>;

pub(super) fn csv(summary: &Summary) -> String {
    let points: Vec<&PointSummary> = summary.figures.points().collect();
    // Points of different workloads differ in their transaction types: types of later ones stand at the end.
    let first = match points.first() {
        Some(first) => txn_names(first),
        None => vec!["all"],
    };
    let mut later: Vec<&str> = Vec::new();
    for name in points.iter().flat_map(|point| txn_names(point)) {
        if !first.contains(&name) && !later.contains(&name) {
            later.push(name);
        }
    }
    table(first, later).to_csv(points)
}

/// With the transaction types that stand among the other columns, and those that stand at the end.
pub(crate) fn table<'a>(first: Vec<&'a str>, later: Vec<&'a str>) -> Points<'a> {
    let table = counts(rates(place(Table::new("points"))));
    let table = first.into_iter().fold(table, latencies);
    let table = outcome(resources(table));
    later.into_iter().fold(table, latencies)
}

fn txns(point: &PointSummary) -> impl Iterator<Item = &TxnSummary> {
    std::iter::once(&point.overall).chain(&point.types)
}

fn txn_names(point: &PointSummary) -> Vec<&str> {
    txns(point).map(|txn| txn.name.as_str()).collect()
}

fn place(table: Points<'_>) -> Points<'_> {
    table
        .field("step", |p| p.step.clone())
        .field("ordinal", |p| p.ordinal)
        .field("system", |p| p.system.clone())
        .field("medium", |p| p.medium.clone())
        .field("drive", |p| Some(p.drive.as_ref()?.drive.clone()))
        .field("mode", |p| p.mode.clone())
        .field("users", |p| p.users)
        .field("connections", |p| p.connections)
        .field("offered_per_second", |p| p.offered_per_second)
        .field("offered_to_per_second", |p| p.offered_to_per_second)
        .field("repeat", |p| p.repeat)
        .field("scene", |p| p.scene.name())
        .field("measured_s", |p| p.measured_s)
        .field("complete", |p| p.complete)
        .field("verdict", |p| p.verdict)
}

fn rates(table: Points<'_>) -> Points<'_> {
    table
        .field("nopm", |p| p.nopm)
        .field("tpm", |p| p.tpm)
        .field("tpm_per_user", |p| p.tpm_per_user)
        .field("completed_per_second", |p| p.completed_per_second)
        .interval_fields("nopm_interval", |p| p.nopm_interval)
        .interval_fields("tpm_interval", |p| p.tpm_interval)
        .interval_fields("completed_per_second_interval", |p| p.rate_interval)
        .field("steady", |p| p.steady.name())
        .field("steady_range_percent", |p| Some(p.steady.figures()?.0))
        .field("steady_slope_percent", |p| Some(p.steady.figures()?.1))
        .field("rolled_back_new_orders_percent", |p| {
            p.rolled_back_new_orders_percent
        })
        .field("round_trips_per_txn", |p| p.round_trips_per_txn)
}

fn counts(table: Points<'_>) -> Points<'_> {
    table
        .field("offered", |p| p.overall.counts.offered)
        .field("committed", |p| p.overall.counts.committed)
        .field("rolled_back", |p| p.overall.counts.rolled_back)
        .field("failed", |p| p.overall.counts.failed)
        .field("dropped", |p| p.overall.counts.dropped)
        .field("retries", |p| p.overall.counts.retries)
        .field("round_trips", |p| p.overall.counts.round_trips)
}

/// Response and service times of the transactions of one name.
fn latencies<'a>(table: Points<'a>, txn: &'a str) -> Points<'a> {
    let table = latency(table, txn, "response", |txn| txn.response);
    latency(table, txn, "service", |txn| txn.service)
}

type OfLatency = fn(LatencySummary) -> f64;

fn latency<'a>(
    mut table: Points<'a>,
    txn: &'a str,
    kind: &str,
    of: fn(&TxnSummary) -> Option<LatencySummary>,
) -> Points<'a> {
    let figures: [(&str, OfLatency); 7] = [
        ("mean", |l| l.mean_ms),
        ("p50", |l| l.p50_ms),
        ("p90", |l| l.p90_ms),
        ("p95", |l| l.p95_ms),
        ("p99", |l| l.p99_ms),
        ("p999", |l| l.p999_ms),
        ("max", |l| l.max_ms),
    ];
    for (name, figure) in figures {
        table = table.field(format!("{txn}_{kind}_{name}_ms"), move |p| {
            let own = txns(p).find(|own| own.name == txn)?;
            of(own).map(figure)
        });
    }
    table
}

macro_rules! resources {
    ($table:expr; $($field:ident),* $(,)?) => {
        $table$(.field(stringify!($field), |p| p.resources.$field.clone()))*
    };
}

fn resources(table: Points<'_>) -> Points<'_> {
    resources![
        table;
        host_cpu_user_percent,
        host_cpu_system_percent,
        host_cpu_iowait_percent,
        host_cpu_steal_percent,
        host_cpu_idle_percent,
        host_cpu_busy_percent,
        host_cpu_busiest_percent,
        host_memory_available_mb,
        psi_io_some_percent,
        device,
        device_reads_per_second,
        device_writes_per_second,
        device_flushes_per_second,
        device_read_mb_per_second,
        device_write_mb_per_second,
        device_read_latency_ms,
        device_write_latency_ms,
        device_queue,
        device_busy_percent,
        system_cpu_percent,
        system_memory_mb,
        system_write_mb_per_second,
        generator_cpu_percent,
        generator_memory_mb,
        generator_cpu_us_per_txn,
    ]
}

fn outcome(table: Points<'_>) -> Points<'_> {
    table
        .field("emulator_cpu_percent", |p| {
            p.drive.as_ref()?.emulator_cpu_percent
        })
        .field("power_cut_lost", |p| Some(p.power_cut.as_ref()?.lost))
        .field("consistency_verified", |p| p.consistency.verified)
        .field("consistency_failed", |p| p.consistency.failed.join(" "))
}
