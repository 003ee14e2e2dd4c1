//! Builds a record from loads and samples.

use std::collections::BTreeMap;

use super::attach::{self, ParsedFiles};
use super::fault::ImportError;
use super::host::{self, join, subject};
use super::load::{ImportedLoad, LoadTick};
use super::source::{ImportOptions, SourceFile};
use super::tool::Tool;
use super::{rate, when};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Interference, RecordedPlan};
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::import_facts::{
    FILE_FACT, GIVEN_FACT, IMPORT_FACT, TOOL_FACT, VERSION_FACT, key_of, note_key,
};
use plimsoll_record::message::ImportNote;
use plimsoll_record::{
    BlockPoint, BlockShare, Check, Integrity, Phase, PhaseId, Point, PointId, PointPurpose, Record,
    Reported, RunInfo, RunStatus, Second, Seconds, SubjectId, SubjectKind, Window,
};

/// A record made of other tools' outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub record: Record,
    /// Each file with its detected format.
    pub taken: Vec<(String, Tool)>,
}

/// Reads the files and builds a record from them.
pub fn import(
    sources: &[SourceFile<'_>],
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let mut files = attach::read(sources)?;
    if files.loads.is_empty() && files.host.is_empty() {
        return Err(ImportError::files(
            "a run",
            "No file is given",
            "Give the output of a tool",
        ));
    }
    add_options(&mut files.loads, options);
    rate::unify(&mut files.loads);
    let began = began(&files, options);
    let mut record = empty_record(options);
    record.run.started_at = began.and_then(when::written).unwrap_or_default();
    let mut assembly = Assembly {
        record: &mut record,
        options,
        loads: &files.loads,
    };
    for (load, start) in files.loads.iter().zip(starts(&files.loads)) {
        assembly.load(load, start);
    }
    number_points(&mut record);
    let ends = record.phases.iter().map(|phase| phase.end);
    record.run.lasted = ends.max().unwrap_or_default();
    join(&mut record, run_start(&files, began)?, &files.host)?;
    Ok(Imported {
        record,
        taken: files.taken,
    })
}

/// Adds what the user gave where the source lacks it.
fn add_options(loads: &mut [ImportedLoad], options: &ImportOptions) {
    let is_single = loads.len() == 1;
    for load in loads {
        if let Some(users) = options.users.filter(|_| load.users == 0) {
            load.users = users;
            load.drop_notes(&[ImportNote::UsersUnknown]);
            load.fact(&format!("{GIVEN_FACT}users"), users.to_string());
        }
        if let Some(started) = options
            .started
            .filter(|_| load.started.is_none() && is_single)
        {
            load.started = Some(started);
            load.drop_notes(&[ImportNote::StartTimeUnknown]);
            let written = when::written(started).unwrap_or_default();
            load.fact(&format!("{GIVEN_FACT}started_at"), written);
        }
        if let Some(step) = &options.step {
            load.drop_notes(&[ImportNote::WorkloadUnknown]);
            load.fact(&format!("{GIVEN_FACT}step"), step.clone());
        }
    }
}

/// When the run began. A record of samples alone begins with the first of them.
fn began(files: &ParsedFiles, options: &ImportOptions) -> Option<Nanos> {
    let loads = files.loads.iter().filter_map(|load| load.started).min();
    loads.or(options.started).or_else(|| {
        let samples = files.host.iter().map(|samples| samples.started).min();
        samples.flatten().filter(|_| files.loads.is_empty())
    })
}

/// What the run's times count from, to the nanosecond; unknown where loads only follow each other.
fn run_start(files: &ParsedFiles, began: Option<Nanos>) -> Result<Option<Nanos>, ImportError> {
    let loads = &files.loads;
    let zero =
        began.filter(|_| loads.len() <= 1 || loads.iter().all(|load| load.started.is_some()));
    if zero.is_some() || loads.len() <= 1 || files.host.is_empty() {
        return Ok(zero);
    }
    let samples: Vec<&str> = files.host.iter().map(|own| own.file.as_str()).collect();
    let mut outputs: Vec<&str> = loads
        .iter()
        .flat_map(|load| &load.files)
        .map(String::as_str)
        .collect();
    outputs.dedup();
    Err(ImportError::files(
        samples.join(", "),
        format!(
            "{} does not report when each of its jobs ran: samples cannot be assigned to them",
            outputs.join(", ")
        ),
        "Import the output of each job with its own samples, or use fio 3.42 or newer",
    ))
}

/// Start of each load in the record: its real start, or one after the other if any start is unknown.
fn starts(loads: &[ImportedLoad]) -> Vec<Nanos> {
    let known: Option<Vec<Nanos>> = loads.iter().map(|load| load.started).collect();
    if let Some(known) = known {
        let first = known.iter().min().copied().unwrap_or_default();
        let starts = known.into_iter().map(|start| start.saturating_sub(first));
        return starts.collect();
    }
    let mut starts = Vec::new();
    let mut next = Nanos::ZERO;
    for load in loads {
        starts.push(next);
        next += load.lasted();
    }
    starts
}

fn empty_record(options: &ImportOptions) -> Record {
    Record {
        run: RunInfo {
            status: RunStatus::Complete,
            ..options.run.clone()
        },
        plan_written: String::new(),
        plan: RecordedPlan::Imported,
        subjects: Vec::new(),
        facts: Vec::new(),
        points: Vec::new(),
        phases: Vec::new(),
        seconds: Seconds::default(),
        windows: Vec::new(),
        series: Vec::new(),
        events: Vec::new(),
        checks: Vec::new(),
        drive: Vec::new(),
        cuts: Vec::new(),
        searches: Vec::new(),
        resets: Vec::new(),
        waits: Vec::new(),
        blocks: Vec::new(),
        shares: Vec::new(),
        steady: Vec::new(),
        diagnoses: Vec::new(),
        backups: Vec::new(),
        outages: Vec::new(),
        reported: Vec::new(),
        integrity: Integrity::Open,
    }
}

struct Assembly<'a> {
    record: &'a mut Record,
    options: &'a ImportOptions,
    /// All of the import.
    loads: &'a [ImportedLoad],
}

impl Assembly<'_> {
    fn load(&mut self, load: &ImportedLoad, start: Nanos) {
        let system = subject(self.record, SubjectKind::System, load.tool.maker());
        let point = self.point(load, system);
        self.facts(load, &point);
        if let Some(block) = &load.block {
            self.block(load, block, &point);
        }
        let warm = warm_ticks(&load.ticks);
        if warm > 0 {
            self.phase(load, &point, PhaseKind::Warm, &load.ticks[..warm], start);
        }
        self.phase(load, &point, PhaseKind::Measure, &load.ticks[warm..], start);
        let checks = load.failure.iter().map(|detail| Check {
            point: Some(point.id),
            subject: system,
            clause: "\"the tool reports no error\"".to_owned(),
            holds: false,
            detail: detail.clone(),
        });
        self.record.checks.extend(checks);
        let reported = load.figures.iter().map(|figure| Reported {
            point: point.id,
            source: load.source(),
            txn: figure.txn.clone(),
            name: figure.name.clone(),
            value: figure.value,
            printed: figure.printed.clone(),
            unit: figure.unit.clone(),
            over: figure
                .over
                .map(|over| (start + over.start, start + over.end)),
        });
        self.record.reported.extend(reported);
        self.record.points.push(point);
    }

    /// What holds for all loads of the tool is a fact of the system, else of the load's point.
    fn facts(&mut self, load: &ImportedLoad, point: &Point) {
        let system = point.system;
        let maker = load.tool.maker();
        let alike: Vec<&ImportedLoad> = self
            .loads
            .iter()
            .filter(|other| other.tool.maker() == maker)
            .collect();
        host::fact(self.record, system, TOOL_FACT, maker);
        if load.version.is_empty() {
            let note = ImportNote::VersionUnknown;
            host::note(self.record, system, &note_key(&note), &note);
        } else {
            host::fact(self.record, system, VERSION_FACT, &load.version);
        }
        for file in &load.files {
            host::fact(self.record, system, FILE_FACT, file);
        }
        for fact in &load.facts {
            let of_system = !fact.0.starts_with(IMPORT_FACT)
                || alike.iter().all(|other| other.facts.contains(fact));
            let key = placed_key(&fact.0, of_system, point);
            host::fact(self.record, system, &key, &fact.1);
        }
        for note in &load.notes {
            let of_system = alike.iter().all(|other| other.notes.contains(note));
            let key = placed_key(&note_key(note), of_system, point);
            host::note(self.record, system, &key, note);
        }
    }

    fn point(&mut self, load: &ImportedLoad, system: SubjectId) -> Point {
        let is_block = load.block.is_some();
        // Jobs of one file share a medium; those of another file have another one, so that the two can be compared.
        let unnamed = load.files.first().filter(|_| is_block);
        let medium = self.options.medium.as_ref().or(unnamed);
        let medium = medium.map(|name| subject(self.record, SubjectKind::Medium, name));
        let step = self.step(load);
        let points = &self.record.points;
        let known = points
            .iter()
            .find(|point| point.step == step && point.is_block() == is_block);
        let next = points.iter().map(|point| point.step_index + 1).max();
        Point {
            id: PointId(points.len() as u32 + 1),
            step_index: known.map_or(next.unwrap_or_default(), |point| point.step_index),
            step,
            ordinal: 0,
            system,
            medium,
            workload: match load.workload.as_str() {
                "" => load.tool.maker().to_owned(),
                name => name.to_owned(),
            },
            mode: if is_block {
                Point::BLOCK
            } else {
                Point::IMPORTED
            }
            .into(),
            users: load.users,
            connections: load.users,
            offered_per_second: load.offered_per_second,
            offered_to_per_second: None,
            repeat: 0,
            purpose: PointPurpose::Ladder,
            scene: Interference::Alone,
            txns: load.txns.clone(),
            parameters: load.parameters.clone(),
        }
    }

    /// Loads of one tool share a step while they differ only in users and rates. Each different workload gets its own
    /// step, named by the parameters that differ.
    fn step(&self, load: &ImportedLoad) -> String {
        let given = self.options.step.clone();
        let mut name = given.unwrap_or_else(|| load.tool.maker().to_owned());
        for (key, value) in &load.parameters {
            if load.block.is_none() && self.loads.iter().any(|other| differs(load, other, key)) {
                name += &format!(", {key} {value}");
            }
        }
        name
    }

    fn block(&mut self, load: &ImportedLoad, block: &BlockPoint, point: &Point) {
        let job = self.job_name(&block.job, &point.parameters);
        let blocks = &self.record.blocks;
        let known = blocks.iter().find(|other| other.job == job);
        let next = blocks.iter().map(|other| other.job_index + 1).max();
        let job_index = known.map_or(next.unwrap_or_default(), |other| other.job_index);
        self.record.blocks.push(BlockPoint {
            point: point.id,
            job,
            job_index,
            ..block.clone()
        });
        let Some(medium) = point.medium else { return };
        let shares = load.shares.iter().map(|share| BlockShare {
            point: point.id,
            worker: share.worker,
            medium,
            txn: share.txn,
            requests: share.requests,
            bytes: share.bytes,
            response: share.response.clone(),
        });
        self.record.shares.extend(shares);
    }

    /// Jobs of one name with different options are different jobs: the name lists what differs from the first.
    fn job_name(&self, name: &str, parameters: &BTreeMap<String, String>) -> String {
        let mut blocks = self.record.blocks.iter();
        let Some(block) = blocks.find(|block| block.job == name) else {
            return name.to_owned();
        };
        let mut points = self.record.points.iter();
        let first = points.find(|point| point.id == block.point);
        let Some(first) = first.filter(|first| first.parameters != *parameters) else {
            return name.to_owned();
        };
        let own: Vec<String> = parameters
            .iter()
            .filter(|(key, value)| first.parameters.get(*key) != Some(*value))
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        if own.is_empty() {
            format!("{name} (fewer options)")
        } else {
            format!("{name} ({})", own.join(", "))
        }
    }

    fn phase(
        &mut self,
        load: &ImportedLoad,
        point: &Point,
        kind: PhaseKind,
        ticks: &[LoadTick],
        start: Nanos,
    ) {
        let id = PhaseId(self.record.phases.len() as u32 + 1);
        let begins = ticks.first().map_or(Nanos::ZERO, |tick| tick.start);
        let ends = ticks.last().map_or(begins, |tick| tick.end);
        self.record.phases.push(Phase {
            id,
            point: Some(point.id),
            step: point.step.clone(),
            kind,
            start: start + begins,
            end: start + ends,
            complete: kind != PhaseKind::Measure || !load.ended_early,
        });
        for tick in ticks {
            let rows = tick.counts.iter().enumerate().map(|(txn, counts)| Second {
                phase: id,
                subject: point.system,
                txn: txn as u32,
                start: start + tick.start,
                end: start + tick.end,
                counts: *counts,
                in_flight: 0,
                response: tick.response.get(txn).cloned().unwrap_or_default(),
                service: tick
                    .service
                    .get(txn)
                    .cloned()
                    .filter(|own| *own != CoarseHist::default()),
            });
            self.record.seconds.extend(rows);
        }
        if kind != PhaseKind::Measure {
            return;
        }
        for (txn, window) in load.windows.iter().enumerate() {
            self.record
                .windows
                .extend(window.iter().map(|window| Window {
                    phase: id,
                    subject: point.system,
                    txn: txn as u32,
                    response: window.response.clone(),
                    service: window.service.clone(),
                    coarse: false,
                }));
        }
    }
}

/// Whether another load of the tool has another value of the parameter.
fn differs(load: &ImportedLoad, other: &ImportedLoad, key: &str) -> bool {
    let value = other.parameters.get(key);
    load.tool.maker() == other.tool.maker()
        && other.block.is_none()
        && value.is_some()
        && value != load.parameters.get(key)
}

fn placed_key(key: &str, of_system: bool, point: &Point) -> String {
    if of_system {
        key.to_owned()
    } else {
        key_of(key, point.id)
    }
}

/// The number of ticks of the warm-up; later ticks that are not measured stay with the measured ones.
fn warm_ticks(ticks: &[LoadTick]) -> usize {
    let measured = ticks.iter().position(|tick| tick.measured);
    measured.unwrap_or_default()
}

/// Points of one series are a ladder.
#[derive(Clone, Copy, PartialEq)]
struct LadderSeries {
    step: u32,
    medium: Option<SubjectId>,
    system: SubjectId,
}

/// What orders the points of a ladder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LoadOrder {
    job: u32,
    rate_bits: u64,
    users: u32,
}

#[derive(Clone, Copy, PartialEq)]
struct LadderPlace {
    series: LadderSeries,
    order: LoadOrder,
}

/// Numbers points in the ladder by load, and repeats of one load in the order of the files.
fn number_points(record: &mut Record) {
    let jobs: Vec<Option<u32>> = record
        .points
        .iter()
        .map(|point| job_index(record, point))
        .collect();
    let points = record.points.iter().zip(&jobs);
    let places: Vec<LadderPlace> = points
        .map(|(point, job)| ladder_place(point, *job))
        .collect();
    for (i, point) in record.points.iter_mut().enumerate() {
        let own = places[i];
        let mut lower: Vec<LoadOrder> = places
            .iter()
            .filter(|other| other.series == own.series && other.order < own.order)
            .map(|other| other.order)
            .collect();
        lower.sort_unstable();
        lower.dedup();
        point.ordinal = jobs[i].unwrap_or(lower.len() as u32);
        point.repeat = places[..i].iter().filter(|other| **other == own).count() as u32;
    }
}

fn job_index(record: &Record, point: &Point) -> Option<u32> {
    let mut blocks = record.blocks.iter();
    let block = blocks.find(|block| block.point == point.id)?;
    Some(block.job_index)
}

fn ladder_place(point: &Point, job: Option<u32>) -> LadderPlace {
    LadderPlace {
        series: LadderSeries {
            step: point.step_index,
            medium: point.medium,
            system: point.system,
        },
        order: LoadOrder {
            job: job.unwrap_or_default(),
            rate_bits: point.offered_per_second.unwrap_or_default().to_bits(),
            users: point.users,
        },
    }
}
