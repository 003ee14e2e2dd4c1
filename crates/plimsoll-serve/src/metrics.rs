//! `/metrics`: runs that go on, for Prometheus. Counters are sums over the run file, so that a scrape that comes late, or a
//! server that starts late, misses nothing.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use plimsoll_plan::estimate;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::lane::Counts;
use plimsoll_record::metric::MetricInfo;
use plimsoll_record::runfile::{
    AddedSecond, LiveSample, RunFileError, TotalsCursor, TotalsRows, read_added, read_plan,
};
use plimsoll_record::{Point, PointId, SubjectId};

use crate::exposition::{Exposition, FamilyInfo, FamilyKind, Label};

/// Systems, steps and transaction types of a run that have series of their own; further ones share one, [`OTHER`].
const MOST_SERIES: usize = 256;
const OTHER: &str = "other";
/// Subjects of a run whose samples are shown, the machine first.
const MOST_SUBJECTS: usize = 128;

/// What was read of each run.
#[derive(Default)]
pub(crate) struct RunTotals(HashMap<PathBuf, TotalsOfRun>);

#[derive(Default)]
struct TotalsOfRun {
    cursor: TotalsCursor,
    rows: Option<TotalsRows>,
    planned: Nanos,
    transactions: BTreeMap<SeriesKey, TypeTotals>,
    drives: BTreeMap<DriveKey, DriveTotals>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SeriesKey {
    system: String,
    step: String,
    txn: String,
}

/// What one reading has added.
type AddedTypes = BTreeMap<AddedKey, TypeTotals>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddedKey {
    system: SubjectId,
    point: Option<PointId>,
    txn: usize,
}

#[derive(Default)]
struct TypeTotals {
    counts: Counts,
    response: CoarseHist,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DriveKey {
    medium: SubjectId,
    op: DriveOp,
}

#[derive(Default)]
struct DriveTotals {
    bytes: u64,
    errors: u64,
    real: CoarseHist,
}

impl RunTotals {
    /// Reads what these runs have added. Others are forgotten.
    pub fn scrape(&mut self, runs: &[PathBuf]) -> String {
        self.0.retain(|path, _| runs.contains(path));
        let mut exposition = Exposition::default();
        exposition.sample(RUNS, &[], runs.len() as f64);
        for path in runs {
            let totals = self.0.entry(path.clone()).or_default();
            // It may be moved away for another attempt, or be about to be made: the next scrape finds out.
            if totals.read(path).is_ok() {
                totals.expose(&mut exposition);
            }
        }
        exposition.into_text()
    }
}

impl TotalsOfRun {
    fn read(&mut self, path: &Path) -> Result<(), RunFileError> {
        let mut cursor = self.cursor.clone();
        let mut added = AddedTypes::new();
        let mut rows = read_added(path, &mut cursor, |second| add_second(&mut added, &second))?;
        let known = self.rows.as_ref().map(|rows| rows.run_id.as_str());
        if known.is_some_and(|known| known != rows.run_id) {
            // Another run took the place of the one before: from its beginning.
            *self = Self::default();
            cursor = TotalsCursor::default();
            added.clear();
            rows = read_added(path, &mut cursor, |second| add_second(&mut added, &second))?;
        }
        if self.rows.is_none() {
            let plan = read_plan(path)?;
            let plan = plan.resolved();
            self.planned = plan.map_or(Nanos::ZERO, |plan| estimate(plan).duration);
        }
        self.add_types(&rows, added);
        for row in &rows.drives {
            let key = DriveKey {
                medium: row.subject,
                op: row.op,
            };
            let own = self.drives.entry(key).or_default();
            own.bytes += row.bytes;
            own.errors += row.errors;
            own.real.merge(&row.real);
        }
        self.cursor = cursor;
        self.rows = Some(rows);
        Ok(())
    }

    fn add_types(&mut self, rows: &TotalsRows, added: AddedTypes) {
        for (key, totals) in added {
            let point = rows.points.iter().find(|own| Some(own.id) == key.point);
            let key = SeriesKey {
                system: name(rows, key.system).to_owned(),
                step: point.map_or(OTHER, |point| &point.step).to_owned(),
                txn: txn(point, key.txn).to_owned(),
            };
            let has_room =
                self.transactions.len() < MOST_SERIES || self.transactions.contains_key(&key);
            let key = if has_room { key } else { SeriesKey::other() };
            self.transactions.entry(key).or_default().add(&totals);
        }
    }

    fn expose(&self, exposition: &mut Exposition) {
        let Some(rows) = &self.rows else { return };
        let run = &rows.run_id;
        let info = [
            label("run", run),
            label("title", &rows.title),
            label("status", rows.status.name()),
        ];
        exposition.sample(RUN_INFO, &info, 1.0);
        let under_load = rows.under_load.as_secs_f64();
        exposition.sample(UNDER_LOAD, &[label("run", run)], under_load);
        exposition.sample(PLANNED, &[label("run", run)], self.planned.as_secs_f64());
        expose_points(exposition, rows);
        for (key, totals) in &self.transactions {
            totals.expose(exposition, run, key);
        }
        for (key, totals) in &self.drives {
            totals.expose(exposition, rows, *key);
        }
        let mut subjects: Vec<&str> = Vec::new();
        for sample in &rows.samples {
            if !subjects.contains(&sample.name.as_str()) && subjects.len() < MOST_SUBJECTS {
                subjects.push(&sample.name);
            }
            if subjects.contains(&sample.name.as_str()) {
                expose_sample(exposition, run, sample);
            }
        }
    }
}

fn add_second(added: &mut AddedTypes, second: &AddedSecond) {
    let key = AddedKey {
        system: second.system,
        point: second.point,
        txn: second.txn,
    };
    let own = added.entry(key).or_default();
    own.counts.add(&second.counts);
    own.response.merge(&second.response);
}

impl SeriesKey {
    fn other() -> Self {
        Self {
            system: OTHER.to_owned(),
            step: OTHER.to_owned(),
            txn: OTHER.to_owned(),
        }
    }
}

fn label<'a>(name: &'static str, value: &'a str) -> Label<'a> {
    Label { name, value }
}

fn name(rows: &TotalsRows, id: SubjectId) -> &str {
    let mut subjects = rows.subjects.iter();
    let subject = subjects.find(|subject| subject.id == id);
    subject.map_or(OTHER, |subject| &subject.name)
}

fn txn(point: Option<&Point>, place: usize) -> &str {
    let name = point.and_then(|point| point.txns.get(place));
    name.map_or(OTHER, |name| name)
}

const RUNS: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_runs",
    kind: FamilyKind::Gauge,
    help: "Runs that go on, or ended less than a minute ago.",
};
const RUN_INFO: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_run_info",
    kind: FamilyKind::Gauge,
    help: "Title and status of a run.",
};
const UNDER_LOAD: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_run_under_load_seconds",
    kind: FamilyKind::Gauge,
    help: "How long systems were warmed up and measured so far.",
};
const PLANNED: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_run_planned_seconds",
    kind: FamilyKind::Gauge,
    help: "How long the plan warms up and measures systems.",
};
const PHASE: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_phase_info",
    kind: FamilyKind::Gauge,
    help: "What goes on: the phase of a step and, under load, its system.",
};
const USERS: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_users",
    kind: FamilyKind::Gauge,
    help: "Users of the load that goes on.",
};
const OFFERED_RATE: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_offered_transactions_per_second",
    kind: FamilyKind::Gauge,
    help: "Offered rate of an open loop.",
};
const TRANSACTIONS: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_transactions_total",
    kind: FamilyKind::Counter,
    help: "Completed transactions: committed, or rolled back as the workload wants.",
};
const ERRORS: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_errors_total",
    kind: FamilyKind::Counter,
    help: "Failed transactions.",
};
const OFFERED: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_offered_transactions_total",
    kind: FamilyKind::Counter,
    help: "Transactions that became due.",
};
const DROPPED: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_dropped_transactions_total",
    kind: FamilyKind::Counter,
    help: "Transactions that never began: the queue of an open loop was full.",
};
const RETRIES: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_retries_total",
    kind: FamilyKind::Counter,
    help: "Further attempts of transactions.",
};
const LATENCY: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_latency_seconds",
    kind: FamilyKind::Histogram,
    help: "Response times of completed transactions, from when they were due.",
};
const DRIVE_LATENCY: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_emulated_drive_latency_seconds",
    kind: FamilyKind::Histogram,
    help: "Times of operations of an emulated drive, as clients see them.",
};
const DRIVE_BYTES: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_emulated_drive_bytes_total",
    kind: FamilyKind::Counter,
    help: "Bytes that an emulated drive has moved.",
};
const DRIVE_ERRORS: FamilyInfo<'_> = FamilyInfo {
    name: "plimsoll_emulated_drive_errors_total",
    kind: FamilyKind::Counter,
    help: "Operations of an emulated drive that failed.",
};

fn expose_points(exposition: &mut Exposition, rows: &TotalsRows) {
    for phase in rows.phases.iter().take(MOST_SERIES) {
        let point = rows.points.iter().find(|own| Some(own.id) == phase.point);
        let system = point.map_or("", |point| name(rows, point.system));
        let labels = [
            label("run", &rows.run_id),
            label("system", system),
            label("step", &phase.step),
            label("phase", phase.kind.name()),
        ];
        exposition.sample(PHASE, &labels, 1.0);
        let [place @ .., _] = &labels;
        let Some(point) = point else { continue };
        exposition.sample(USERS, place, f64::from(point.users));
        if let Some(rate) = point.offered_per_second {
            exposition.sample(OFFERED_RATE, place, rate);
        }
    }
}

impl TypeTotals {
    fn add(&mut self, more: &Self) {
        self.counts.add(&more.counts);
        self.response.merge(&more.response);
    }

    fn expose(&self, exposition: &mut Exposition, run: &str, key: &SeriesKey) {
        let labels = [
            label("run", run),
            label("system", &key.system),
            label("step", &key.step),
            label("type", &key.txn),
        ];
        let counts = &self.counts;
        for (info, count) in [
            (TRANSACTIONS, counts.completed()),
            (ERRORS, counts.failed),
            (OFFERED, counts.offered),
            (DROPPED, counts.dropped),
            (RETRIES, counts.retries),
        ] {
            exposition.sample(info, &labels, count as f64);
        }
        exposition.histogram(LATENCY, &labels, &self.response);
    }
}

impl DriveTotals {
    fn expose(&self, exposition: &mut Exposition, rows: &TotalsRows, key: DriveKey) {
        let labels = [
            label("run", &rows.run_id),
            label("medium", name(rows, key.medium)),
            label("op", key.op.name()),
        ];
        exposition.sample(DRIVE_BYTES, &labels, self.bytes as f64);
        exposition.sample(DRIVE_ERRORS, &labels, self.errors as f64);
        exposition.histogram(DRIVE_LATENCY, &labels, &self.real);
    }
}

/// A metric of the catalog.
fn expose_sample(exposition: &mut Exposition, run: &str, sample: &LiveSample) {
    let own = sample.metric.info();
    let unit = BaseUnit::of(&own);
    let info = FamilyInfo {
        name: &format!("plimsoll_{}{}", unit.stem, unit.suffix),
        kind: FamilyKind::Gauge,
        help: own.source,
    };
    let labels = [
        label("run", run),
        label("subject_kind", sample.subject.name()),
        label("subject", &sample.name),
    ];
    exposition.sample(info, &labels, f64::from(sample.value) * unit.factor);
}

/// Prometheus' names end in base units: seconds, bytes, and ratios from 0 to 1.
struct BaseUnit {
    stem: &'static str,
    suffix: &'static str,
    factor: f64,
}

impl BaseUnit {
    fn scaled(info: &MetricInfo, suffix: &'static str, factor: f64) -> Self {
        Self {
            stem: info.name,
            suffix,
            factor,
        }
    }

    /// Some names have the unit already.
    fn bytes(info: &MetricInfo, suffix: &'static str) -> Self {
        Self {
            stem: info.name.strip_suffix("_bytes").unwrap_or(info.name),
            suffix,
            factor: 1.0,
        }
    }

    fn of(info: &MetricInfo) -> Self {
        match info.unit {
            "%" => Self::scaled(info, "_ratio", 0.01),
            "ms" => Self::scaled(info, "_seconds", 0.001),
            "bytes" => Self::bytes(info, "_bytes"),
            "bytes/s" => Self::bytes(info, "_bytes_per_second"),
            "1/s" => Self::scaled(info, "_per_second", 1.0),
            _ => Self::scaled(info, "", 1.0),
        }
    }
}

#[cfg(test)]
mod tests;
