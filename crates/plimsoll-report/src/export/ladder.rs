//! One row for each ladder point.

use plimsoll_analysis::summary::{Latency, PointSummary, Resources, Summary};

use super::quoted;

/// Names and values in the order of the columns.
type Cells = Vec<(String, String)>;

pub(super) fn csv(summary: &Summary) -> String {
    let rows: Vec<Cells> = summary.points().map(row).collect();
    // Where no point was reached, the header has all columns except those of transaction types.
    let mut unknown = PointSummary::default();
    unknown.overall.name = "all".to_owned();
    let unknown = row(&unknown);
    let rows_or_unknown = if rows.is_empty() {
        std::slice::from_ref(&unknown)
    } else {
        &rows
    };
    // Points of different workloads differ in their transaction types: the header is the union.
    let mut header: Vec<&str> = Vec::new();
    for (name, _) in rows_or_unknown.iter().flatten() {
        if !header.contains(&name.as_str()) {
            header.push(name);
        }
    }
    let mut out = header.join(",");
    out.push('\n');
    for row in &rows {
        let cell = |name: &&str| {
            row.iter()
                .find(|(own, _)| own == name)
                .map_or("", |(_, value)| value.as_str())
        };
        out.push_str(&header.iter().map(cell).collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    out
}

fn opt<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

macro_rules! cells {
    ($of:expr; $($field:ident),* $(,)?) => { [$((stringify!($field).to_owned(), opt($of.$field))),*] };
}

fn row(p: &PointSummary) -> Cells {
    let named = |name: &str, value: String| (name.to_owned(), value);
    let mut cells = vec![
        named("step", quoted(&p.step)),
        named("ordinal", p.ordinal.to_string()),
        named("system", quoted(&p.system)),
        named("medium", quoted(p.medium.as_deref().unwrap_or_default())),
        named(
            "drive",
            p.drive
                .as_ref()
                .map(|drive| quoted(&drive.drive))
                .unwrap_or_default(),
        ),
        named("mode", quoted(&p.mode)),
        named("users", p.users.to_string()),
        named("connections", p.connections.to_string()),
        named("offered_per_second", opt(p.offered_per_second)),
        named("offered_to_per_second", opt(p.offered_to_per_second)),
        named("repeat", p.repeat.to_string()),
        named("scene", p.scene.name().to_owned()),
        named("measured_s", p.measured_s.to_string()),
        named("complete", p.complete.to_string()),
        named("verdict", p.verdict.name().to_owned()),
    ];
    cells.extend(cells![p; nopm, tpm, tpm_per_user, completed_per_second]);
    cells.extend([
        named("nopm_interval_low", opt(p.nopm_interval.map(|i| i.low))),
        named("nopm_interval_high", opt(p.nopm_interval.map(|i| i.high))),
        named("tpm_interval_low", opt(p.tpm_interval.map(|i| i.low))),
        named("tpm_interval_high", opt(p.tpm_interval.map(|i| i.high))),
        named(
            "completed_per_second_interval_low",
            opt(p.rate_interval.map(|i| i.low)),
        ),
        named(
            "completed_per_second_interval_high",
            opt(p.rate_interval.map(|i| i.high)),
        ),
        named("steady", p.steady.name().to_owned()),
        named(
            "steady_range_percent",
            opt(p.steady.figures().map(|(range, _)| range)),
        ),
        named(
            "steady_slope_percent",
            opt(p.steady.figures().map(|(_, slope)| slope)),
        ),
    ]);
    cells.extend(cells![p; rolled_back_new_orders_percent, round_trips_per_txn]);
    let c = p.overall.counts;
    let counts = [
        ("offered", c.offered),
        ("committed", c.committed),
        ("rolled_back", c.rolled_back),
        ("failed", c.failed),
        ("dropped", c.dropped),
        ("retries", c.retries),
        ("round_trips", c.round_trips),
    ];
    cells.extend(counts.map(|(name, n)| named(name, n.to_string())));
    for txn in std::iter::once(&p.overall).chain(&p.types) {
        cells.extend(latency(&format!("{}_response", txn.name), txn.response));
        cells.extend(latency(&format!("{}_service", txn.name), txn.service));
    }
    cells.extend(resources(p));
    cells.push(named(
        "emulator_cpu_percent",
        opt(p
            .drive
            .as_ref()
            .and_then(|drive| drive.emulator_cpu_percent)),
    ));
    cells.push(named(
        "power_cut_lost",
        opt(p.power_cut.as_ref().map(|cut| cut.lost)),
    ));
    cells.push(named(
        "consistency_verified",
        p.consistency.verified.to_string(),
    ));
    cells.push(named("consistency_failed", p.consistency.failed.join(" ")));
    cells
}

fn latency(prefix: &str, latency: Option<Latency>) -> Cells {
    type Part = (&'static str, fn(&Latency) -> f64);
    let parts: [Part; 7] = [
        ("mean", |l| l.mean_ms),
        ("p50", |l| l.p50_ms),
        ("p90", |l| l.p90_ms),
        ("p95", |l| l.p95_ms),
        ("p99", |l| l.p99_ms),
        ("p999", |l| l.p999_ms),
        ("max", |l| l.max_ms),
    ];
    parts
        .map(|(name, of)| (format!("{prefix}_{name}_ms"), opt(latency.as_ref().map(of))))
        .into()
}

fn resources(p: &PointSummary) -> Cells {
    let device = p.resources.device.as_deref().map(quoted);
    let r = Resources {
        device,
        ..p.resources.clone()
    };
    cells![
        r;
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
    .into()
}
