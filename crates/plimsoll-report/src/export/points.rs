//! One row for each ladder point; one for each transaction type of each.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{FigureId, LatencySummary, PointSummary, TxnSummary};
use plimsoll_record::{Point, Record, SubjectId};

use crate::load_summary::interval;
use crate::table::Table;

type Points<'a> = Table<'a, PointRow<'a>>;

/// The point's name among transaction types, all of them together.
const ALL: &str = "all";

/// A point and what the record knows of it.
#[derive(Clone, Copy)]
pub(crate) struct PointRow<'a> {
    point: &'a PointSummary,
    record: &'a Record,
    recorded: Option<&'a Point>,
}

impl<'a> PointRow<'a> {
    fn of(record: &'a Record, point: &'a PointSummary) -> Self {
        let first = point.ids.first();
        let mut points = record.points.iter();
        Self {
            point,
            record,
            recorded: points.find(|own| Some(&own.id) == first),
        }
    }

    /// Several where figures are sums.
    fn ids(&self) -> String {
        let ids = self.point.ids.iter();
        ids.map(|id| id.0.to_string()).collect::<Vec<_>>().join(" ")
    }

    fn system(&self) -> Option<SubjectId> {
        Some(self.recorded?.system)
    }

    /// `None` of imported runs.
    fn engine(&self) -> Option<&'static str> {
        let system = self.system()?;
        let mut subjects = self.record.subjects.iter();
        let name = self
            .record
            .system_name(subjects.find(|subject| subject.id == system)?);
        let system = self.record.plan.resolved()?.system_named(name)?;
        Some(system.kind.engine().name())
    }

    fn engine_version(&self) -> Option<&'a str> {
        let system = self.system()?;
        let mut facts = self.record.facts.iter();
        let fact = facts.find(|fact| {
            fact.subject == system && ["version", "sqlite_version"].contains(&fact.key.as_str())
        });
        Some(&fact?.value)
    }
}

/// Of all ladders.
pub(super) fn rows<'a>(
    record: &'a Record,
    summary: &'a Summary,
) -> impl Iterator<Item = PointRow<'a>> {
    let points = summary.figures.points();
    points.map(|point| PointRow::of(record, point))
}

/// With the transaction types of these points, which differ between workloads: types of later ones stand at the end.
pub(super) fn table_of<'a>(summary: &'a Summary) -> Points<'a> {
    let points: Vec<&PointSummary> = summary.figures.points().collect();
    let first = match points.first() {
        Some(first) => txn_names(first),
        None => vec![ALL],
    };
    let mut later: Vec<&str> = Vec::new();
    for name in points.iter().flat_map(|point| txn_names(point)) {
        if !first.contains(&name) && !later.contains(&name) {
            later.push(name);
        }
    }
    table(first, later)
}

/// With the columns that all runs have.
pub(crate) fn table_of_any<'a>() -> Points<'a> {
    table(vec![ALL], Vec::new())
}

/// With the transaction types that stand among the other columns, and those that stand at the end.
pub(crate) fn table<'a>(first: Vec<&'a str>, later: Vec<&'a str>) -> Points<'a> {
    let table = counts(rates(place(Table::new("points"))));
    let table = first.into_iter().fold(table, latencies);
    let table = origin(outcome(resources(table)));
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
        .field("step", |r| r.point.key.step.clone())
        .field("ordinal", |r| r.point.ordinal)
        .field("system", |r| r.point.key.system.clone())
        .field("medium", |r| r.point.key.medium.clone())
        .field("drive", |r| Some(r.point.drive.as_ref()?.drive.clone()))
        .field("mode", |r| r.point.mode.clone())
        .field("users", |r| r.point.key.load.users)
        .field("connections", |r| r.point.connections)
        .field("offered_per_second", |r| {
            r.point.key.load.offered_per_second
        })
        .field("offered_to_per_second", |r| {
            r.point.key.load.offered_to_per_second
        })
        .field("repeat", |r| r.point.repeat)
        .field("scene", |r| r.point.key.scene.name())
        .field("measured_s", |r| r.point.measured_s)
        .field("complete", |r| r.point.complete)
        .field("verdict", |r| r.point.verdict)
}

fn rates(table: Points<'_>) -> Points<'_> {
    table
        .field("nopm", |r| r.point.value(FigureId::Nopm))
        .field("tpm", |r| r.point.value(FigureId::Tpm))
        .field("tpm_per_user", |r| r.point.value(FigureId::TpmPerUser))
        .field("completed_per_second", |r| {
            r.point.value(FigureId::Transactions)
        })
        .interval_fields("nopm_interval", |r| {
            interval(r.point.figures.get(FigureId::Nopm))
        })
        .interval_fields("tpm_interval", |r| {
            interval(r.point.figures.get(FigureId::Tpm))
        })
        .interval_fields("completed_per_second_interval", |r| {
            interval(r.point.figures.get(FigureId::Transactions))
        })
        .field("steady", |r| r.point.steady.name())
        .field("steady_range_percent", |r| {
            Some(r.point.steady.figures()?.0)
        })
        .field("steady_slope_percent", |r| {
            Some(r.point.steady.figures()?.1)
        })
        .field("rolled_back_new_orders_percent", |r| {
            r.point.value(FigureId::RolledBack)
        })
        .field("round_trips_per_txn", |r| {
            r.point.value(FigureId::RoundTrips)
        })
}

fn counts(table: Points<'_>) -> Points<'_> {
    table
        .field("offered", |r| r.point.overall.counts.offered)
        .field("committed", |r| r.point.overall.counts.committed)
        .field("rolled_back", |r| r.point.overall.counts.rolled_back)
        .field("failed", |r| r.point.overall.counts.failed)
        .field("dropped", |r| r.point.overall.counts.dropped)
        .field("retries", |r| r.point.overall.counts.retries)
        .field("round_trips", |r| r.point.overall.counts.round_trips)
}

/// Response and service times of the transactions of one name.
fn latencies<'a>(table: Points<'a>, txn: &'a str) -> Points<'a> {
    let table = latency(table, txn, "response", |txn| txn.response);
    latency(table, txn, "service", |txn| txn.service)
}

fn latency<'a>(
    mut table: Points<'a>,
    txn: &'a str,
    kind: &str,
    of: fn(&TxnSummary) -> Option<LatencySummary>,
) -> Points<'a> {
    for figure in LatencySummary::times() {
        table = table.field(format!("{txn}_{kind}_{}", figure.key()), move |r| {
            let own = txns(r.point).find(|own| own.name == txn)?;
            of(own)?.ms(figure)
        });
    }
    table
}

macro_rules! resources {
    ($table:expr; $($field:ident),* $(,)?) => {
        $table$(.field(stringify!($field), |r| r.point.resources.$field.clone()))*
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
        .field("emulator_cpu_percent", |r| {
            r.point.drive.as_ref()?.emulator_cpu_percent
        })
        .field("power_cut_lost", |r| Some(r.point.power_cut.as_ref()?.lost))
        .field("consistency_verified", |r| r.point.consistency.verified)
        .field("consistency_failed", |r| {
            r.point.consistency.failed.join(" ")
        })
}

/// Which point it is, and what it was measured on.
fn origin(table: Points<'_>) -> Points<'_> {
    table
        .field("point", PointRow::ids)
        .field("workload", |r| Some(r.recorded?.workload.clone()))
        .field("engine", PointRow::engine)
        .field("engine_version", PointRow::engine_version)
}

/// The transactions of one type at a point.
pub(crate) struct TypeRow<'a> {
    row: PointRow<'a>,
    txn: &'a TxnSummary,
}

/// Of all points the types, without their sum.
pub(super) fn type_rows<'a>(
    record: &'a Record,
    summary: &'a Summary,
) -> impl Iterator<Item = TypeRow<'a>> {
    rows(record, summary).flat_map(|row| {
        let types = row.point.types.iter();
        types.map(move |txn| TypeRow { row, txn })
    })
}

pub(crate) fn types<'a>() -> Table<'a, TypeRow<'a>> {
    let table = Table::<TypeRow<'_>>::new("types")
        .field("point", |r| r.row.ids())
        .field("step", |r| r.row.point.key.step.clone())
        .field("ordinal", |r| r.row.point.ordinal)
        .field("system", |r| r.row.point.key.system.clone())
        .field("medium", |r| r.row.point.key.medium.clone())
        .field("users", |r| r.row.point.key.load.users)
        .field("repeat", |r| r.row.point.repeat)
        .field("verdict", |r| r.row.point.verdict)
        .field("txn", |r| r.txn.name.clone())
        .field("offered", |r| r.txn.counts.offered)
        .field("committed", |r| r.txn.counts.committed)
        .field("rolled_back", |r| r.txn.counts.rolled_back)
        .field("failed", |r| r.txn.counts.failed)
        .field("dropped", |r| r.txn.counts.dropped)
        .field("retries", |r| r.txn.counts.retries)
        .field("completed_per_minute", |r| r.txn.completed_per_minute)
        .field("share_percent", |r| r.txn.share_percent);
    let table = type_latency(table, "response", |txn| txn.response);
    type_latency(table, "service", |txn| txn.service)
}

fn type_latency<'a>(
    mut table: Table<'a, TypeRow<'a>>,
    kind: &str,
    of: fn(&TxnSummary) -> Option<LatencySummary>,
) -> Table<'a, TypeRow<'a>> {
    for figure in LatencySummary::times() {
        let key = format!("{kind}_{}", figure.key());
        table = table.field(key, move |r| of(r.txn)?.ms(figure));
    }
    table
}
