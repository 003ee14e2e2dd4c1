//! What a transaction asks for at a measured point, and on what it was measured.

use plimsoll_plan::resolved::{EngineKind, Workload};
use plimsoll_plan::units::Bytes;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::{Point, Record, SubjectId, SubjectKind};

use super::refusal::{PointRefusal, Refusal};
use crate::summary::{DriveOpSummary, FigureId, PointSummary, RunFigures, Steady, Verdict};

/// The fact of an emulated medium that holds its drive file.
const DRIVE_FILE_FACT: &str = "drive_file";
/// Transactions of TPC-C that write nothing (clauses 2.6 and 2.8).
const READ_ONLY: [&str; 2] = ["order_status", "stock_level"];

/// The emulated drive of a point, as its run file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceDrive {
    /// The text of its drive file, with its slow-down.
    pub file: String,
    pub name: String,
    pub title: String,
    pub capacity: Option<Bytes>,
    /// Share of the capacity that is never rewritten.
    pub fill: f64,
    /// It lies: a flush is acknowledged at once.
    pub ignores_flush: bool,
}

/// A measured point, as a prediction starts from it. Figures are means per completed transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredDemand {
    pub run: String,
    pub step: String,
    pub medium: String,
    pub workload: String,
    pub mode: String,
    pub engine: EngineKind,
    pub users: u32,
    pub drive: SourceDrive,
    pub verdict: Verdict,
    pub per_second: f64,
    /// New-Orders per minute, where the workload has them.
    pub nopm: Option<f64>,
    pub think_s: f64,
    pub processors: u32,
    /// Of the system's limits.
    pub memory: Option<Bytes>,
    /// CPU of database and client; the emulator's is not in it.
    pub cpu_s: f64,
    /// Of all processors, 0 to 1: everything that ran on the machine.
    pub host_busy: f64,
    /// Share of transactions that write.
    pub writers: f64,
    pub warehouses: u32,
    pub reads: f64,
    pub read_bytes: f64,
    pub writes: f64,
    pub write_bytes: f64,
    pub flushes: f64,
    /// CPU of the emulator for each request.
    pub emulator_s: f64,
}

impl MeasuredDemand {
    /// Whether its transactions are the same, at the same load, on whatever drive.
    fn is_same_work(&self, other: &Self) -> bool {
        let of = |own: &Self| (own.engine, own.users, own.processors, own.memory);
        (&self.step, &self.workload, &self.mode) == (&other.step, &other.workload, &other.mode)
            && of(self) == of(other)
    }

    pub fn refused(&self, refusal: Refusal) -> PointRefusal {
        PointRefusal {
            medium: self.medium.clone(),
            users: self.users,
            refusal,
        }
    }
}

/// All points of a run with transactions, each as a demand or with the reason why there is none.
pub fn demands(record: &Record, figures: &RunFigures) -> Vec<Result<MeasuredDemand, PointRefusal>> {
    let points = figures.ladders.iter().flat_map(|ladder| &ladder.points);
    points
        .map(|point| {
            of_point(record, point).map_err(|refusal| PointRefusal {
                medium: point.key.medium.clone().unwrap_or_default(),
                users: point.key.load.users,
                refusal,
            })
        })
        .collect()
}

/// CPU per transaction becomes one figure for all media at a load: the work is the same, and what other programs took from
/// one medium's points is no property of its drive. Media count by their transactions, since the server's own work is a
/// larger part where there are few.
pub fn pool_cpu<'a>(demands: impl Iterator<Item = &'a mut MeasuredDemand>) {
    let mut loads: Vec<Vec<&mut MeasuredDemand>> = Vec::new();
    for demand in demands {
        match loads.iter_mut().find(|own| own[0].is_same_work(demand)) {
            Some(own) => own.push(demand),
            None => loads.push(vec![demand]),
        }
    }
    for load in loads {
        let rates: f64 = load.iter().map(|own| own.per_second).sum();
        let cpu: f64 = load.iter().map(|own| own.cpu_s * own.per_second).sum();
        for demand in load {
            demand.cpu_s = cpu / rates;
        }
    }
}

fn of_point(record: &Record, figures: &PointSummary) -> Result<MeasuredDemand, Refusal> {
    let point = match figures.ids.as_slice() {
        [id] => record.points.iter().find(|point| point.id == *id),
        _ => None,
    };
    let point = point.ok_or(Refusal::ManySystems)?;
    let medium = point.medium.ok_or(Refusal::NotEmulated)?;
    let drive = source_drive(record, medium).ok_or(Refusal::NotEmulated)?;
    if record.is_simulated() {
        return Err(Refusal::Simulated);
    }
    if point.offered_per_second.is_some() {
        return Err(Refusal::OfferedRate);
    }
    if figures.verdict == Verdict::Invalid {
        return Err(Refusal::InvalidSource);
    }
    // Members that fail change the rate, whether or not it is held to be steady.
    if matches!(figures.steady, Steady::No { .. }) || figures.array.is_some() {
        return Err(Refusal::Unsteady);
    }
    let per_second = figures
        .value(FigureId::Transactions)
        .filter(|rate| *rate > 0.0);
    let per_second = per_second.ok_or(Refusal::NothingMeasured)?;
    let per_txn = |per_second_of: f64| per_second_of / per_second;
    let [reads, writes, flushes] =
        [DriveOp::Read, DriveOp::Write, DriveOp::Flush].map(|op| request_rate(figures, op));
    let system = system(record, point).ok_or(Refusal::NoPlan)?;
    let emulator = figures
        .drive
        .as_ref()
        .and_then(|drive| drive.emulator_cpu_percent);
    let emulator_cpu = emulator.unwrap_or(0.0) / 100.0;
    let response_s = figures
        .overall
        .response
        .map_or(0.0, |all| all.mean_ms / 1e3);
    Ok(MeasuredDemand {
        run: record.run.title.clone(),
        step: point.step.clone(),
        medium: figures.key.medium.clone().unwrap_or_default(),
        workload: point.workload.clone(),
        mode: point.mode.clone(),
        engine: system.kind.engine(),
        users: point.users,
        drive,
        verdict: figures.verdict,
        per_second,
        nopm: figures.value(FigureId::Nopm),
        // Little's law: what of a user's time is not a transaction. Below 1 % it is rounding.
        think_s: Some(f64::from(point.users) / per_second - response_s)
            .filter(|think| *think > 0.01 * response_s)
            .unwrap_or(0.0),
        processors: processors(record, system.limits.cpus),
        memory: system.limits.memory,
        cpu_s: per_txn(cpu_of_load(figures)),
        host_busy: figures.resources.host_cpu_busy_percent.unwrap_or(0.0) / 100.0,
        writers: writers(figures),
        warehouses: warehouses(record, point).ok_or(Refusal::NotCalibrated)?,
        reads: per_txn(reads.per_second),
        read_bytes: per_txn(reads.bytes_per_second),
        writes: per_txn(writes.per_second),
        write_bytes: per_txn(writes.bytes_per_second),
        flushes: per_txn(flushes.per_second),
        emulator_s: emulator_cpu
            / (reads.per_second + writes.per_second + flushes.per_second).max(1.0),
    })
}

#[derive(Default)]
struct RequestRate {
    per_second: f64,
    bytes_per_second: f64,
}

fn request_rate(figures: &PointSummary, op: DriveOp) -> RequestRate {
    let drive = figures.drive.as_ref();
    let own = drive.and_then(|drive| drive.ops.iter().find(|own| own.op == op));
    own.map_or_else(RequestRate::default, |own: &DriveOpSummary| RequestRate {
        per_second: own.per_second.unwrap_or(0.0),
        bytes_per_second: own.mb_per_second.unwrap_or(0.0) * 1e6,
    })
}

/// CPU seconds in a second: of the server and of plimsoll, which an embedded database is a part of.
fn cpu_of_load(figures: &PointSummary) -> f64 {
    let resources = &figures.resources;
    let percent = resources.system_cpu_percent.unwrap_or(0.0)
        + resources.generator_cpu_percent.unwrap_or(0.0);
    percent / 100.0
}

fn writers(figures: &PointSummary) -> f64 {
    let all = figures.overall.counts.completed().max(1) as f64;
    let types = figures.types.iter();
    let read_only = types.filter(|own| READ_ONLY.contains(&own.name.as_str()));
    let reading: u64 = read_only.map(|own| own.counts.completed()).sum();
    1.0 - reading as f64 / all
}

fn fact<'a>(record: &'a Record, subject: SubjectId, key: &str) -> Option<&'a str> {
    let mut facts = record.facts.iter();
    let found = facts.find(|fact| fact.subject == subject && fact.key == key)?;
    Some(&found.value)
}

/// The emulated drives of a run, by the names of their media.
pub fn emulated_drives(record: &Record) -> Vec<(String, SourceDrive)> {
    let media = record.subjects.iter();
    media
        .filter_map(|own| Some((own.name.clone(), source_drive(record, own.id)?)))
        .collect()
}

fn source_drive(record: &Record, medium: SubjectId) -> Option<SourceDrive> {
    let fact = |key: &str| fact(record, medium, key);
    Some(SourceDrive {
        file: fact(DRIVE_FILE_FACT)?.to_owned(),
        name: fact("drive")?.to_owned(),
        title: fact("drive_title")?.to_owned(),
        capacity: fact("capacity").and_then(|size| plimsoll_plan::size::parse(size).ok()),
        fill: fact("fill")
            .and_then(|fill| fill.parse().ok())
            .filter(|fill| (0.0..=1.0).contains(fill))
            .unwrap_or(1.0),
        ignores_flush: fact("flush") == Some("ignored"),
    })
}

fn system<'a>(record: &'a Record, point: &Point) -> Option<&'a plimsoll_plan::resolved::System> {
    let subject = record.subjects.iter().find(|own| own.id == point.system)?;
    let name = record.system_name(subject);
    let plan = record.plan.resolved()?;
    plan.systems.iter().find(|system| system.name == name)
}

/// What the system may use of the machine's.
fn processors(record: &Record, limit: Option<f64>) -> u32 {
    let host = record
        .subjects
        .iter()
        .find(|own| own.kind == SubjectKind::Host);
    let machine = host
        .and_then(|host| fact(record, host.id, "cpus")?.parse().ok())
        .unwrap_or(1);
    limit.map_or(machine, |cpus| (cpus.ceil() as u32).clamp(1, machine))
}

/// `None` of a workload other than TPC-C.
fn warehouses(record: &Record, point: &Point) -> Option<u32> {
    let workloads = &record.plan.resolved()?.workloads;
    let own = workloads.iter().find(|own| own.name == point.workload)?;
    match &own.workload {
        Workload::Tpcc(tpcc) => Some(tpcc.warehouses),
        Workload::Sysbench(_) => None,
    }
}
