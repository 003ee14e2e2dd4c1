//! Builds a record from loads and samples.

use plimsoll_record::import_facts;
use plimsoll_record::import_facts::{
    FILE_FACT, IMPORT_FACT, TOOL_FACT, UNKNOWN_FACT, VERSION_FACT,
};
use std::collections::BTreeMap;

use super::host::{fact, join, subject};
use super::load::{ImportedLoad, LoadTick};
use super::{ImportError, ImportOptions, Imported, Source, attach, rate, when};
use plimsoll_plan::Interference;
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{
    BlockPoint, BlockShare, Check, Integrity, Phase, PhaseId, Point, PointId, PointPurpose, Record,
    Reported, RunStatus, Second, SubjectId, SubjectKind, Window,
};

/// Reads the files and builds a record from them.
pub fn import(sources: &[Source<'_>], options: &ImportOptions) -> Result<Imported, ImportError> {
    let mut read = attach::read(sources)?;
    if read.loads.is_empty() && read.host.is_empty() {
        return Err(ImportError::Together(
            "no file to import\nGive the output of a tool.".into(),
        ));
    }
    complete(&mut read.loads, options);
    rate::unify(&mut read.loads);
    let starts = starts(&read.loads);
    let began = read.loads.iter().filter_map(|load| load.started).min();
    // A record of samples alone begins with the first of them.
    let began = began.or(options.started).or_else(|| {
        let host = read.host.iter().map(|own| own.started).min().flatten();
        host.filter(|_| read.loads.is_empty())
    });
    let mut record = empty(options);
    record.run.started_at = began.and_then(when::written).unwrap_or_default();
    record.run.status = RunStatus::Complete;
    let steps = steps(&read.loads, options);
    for ((load, start), step) in read.loads.iter().zip(starts).zip(steps) {
        Assembly {
            record: &mut record,
            options,
            loads: &read.loads,
            step,
        }
        .load(load, start);
    }
    number_points(&mut record);
    record.run.lasted = record
        .phases
        .iter()
        .map(|phase| phase.end)
        .max()
        .unwrap_or_default();
    // What the run's times count from, to the nanosecond; unknown where loads only follow each other.
    let zero = began
        .filter(|_| read.loads.len() <= 1 || read.loads.iter().all(|load| load.started.is_some()));
    if zero.is_none() && read.loads.len() > 1 && !read.host.is_empty() {
        return Err(ImportError::Together(format!(
            "{} does not report when each of its jobs ran: samples of {} cannot be assigned to them\n\
             Import the output of each job with its own samples, or use fio 3.42 or newer.",
            files_of(&read.loads),
            read.host
                .iter()
                .map(|own| own.file.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        )));
    }
    join(&mut record, zero, &read.host)?;
    Ok(Imported {
        record,
        taken: read.taken,
    })
}

fn files_of(loads: &[ImportedLoad]) -> String {
    let mut files: Vec<&str> = loads
        .iter()
        .flat_map(|load| &load.files)
        .map(String::as_str)
        .collect();
    files.dedup();
    files.join(", ")
}

/// Adds what the user gave where the source lacks it.
fn complete(loads: &mut [ImportedLoad], options: &ImportOptions) {
    let single = loads.len() == 1;
    for load in loads {
        if let (0, Some(users)) = (load.users, options.users) {
            load.users = users;
            load.unknown.retain(|(what, _)| *what != "users");
            load.fact("import.told.users", users.to_string());
        }
        if let (None, Some(started), true) = (load.started, options.started, single) {
            load.started = Some(started);
            load.unknown.retain(|(what, _)| *what != "started_at");
            load.fact(
                "import.told.started_at",
                when::written(started).unwrap_or_default(),
            );
        }
        if let Some(step) = &options.step {
            load.unknown.retain(|(what, _)| *what != "workload");
            load.fact("import.told.step", step.clone());
        }
    }
}

/// Start of each load in the record: its real start, or one after the other if any start is unknown.
fn starts(loads: &[ImportedLoad]) -> Vec<Nanos> {
    let known: Option<Vec<Nanos>> = loads.iter().map(|load| load.started).collect();
    if let Some(known) = known {
        let first = known.iter().min().copied().unwrap_or_default();
        return known
            .into_iter()
            .map(|start| start.saturating_sub(first))
            .collect();
    }
    let mut next = Nanos::ZERO;
    let follow = |load: &ImportedLoad| {
        let start = next;
        next += load.lasted();
        start
    };
    loads.iter().map(follow).collect()
}

/// Loads of one tool share a step while they differ only in users and rates. Each different workload gets its own step,
/// named by the parameters that differ.
fn steps(loads: &[ImportedLoad], options: &ImportOptions) -> Vec<String> {
    let step = |load: &ImportedLoad| {
        let is_alike = |other: &&ImportedLoad| {
            other.tool.maker() == load.tool.maker() && other.block.is_none()
        };
        let differs = |(key, value): &(&String, &String)| {
            let other_value =
                |other: &ImportedLoad| other.parameters.get(*key).is_some_and(|own| own != *value);
            load.block.is_none() && loads.iter().filter(is_alike).any(other_value)
        };
        let name = options
            .step
            .clone()
            .unwrap_or_else(|| load.tool.maker().to_owned());
        let differing = load.parameters.iter().filter(differs);
        differing.fold(name, |name, (key, value)| format!("{name}, {key} {value}"))
    };
    loads.iter().map(step).collect()
}

fn empty(options: &ImportOptions) -> Record {
    Record {
        run: options.run.clone(),
        plan_written: String::new(),
        plan_resolved: String::new(),
        subjects: Vec::new(),
        facts: Vec::new(),
        points: Vec::new(),
        phases: Vec::new(),
        seconds: Vec::new(),
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
    step: String,
}

impl Assembly<'_> {
    fn load(&mut self, load: &ImportedLoad, start: Nanos) {
        let maker = load.tool.maker();
        let system = subject(self.record, SubjectKind::System, maker);
        let point = self.point(load, maker, system);
        self.facts(load, &point);
        if let Some(block) = &load.block {
            self.block(load, block, &point);
        }
        let (warm, measured) = split(&load.ticks);
        if !warm.is_empty() {
            self.phase(load, &point, PhaseKind::Warm, warm, start);
        }
        self.phase(load, &point, PhaseKind::Measure, measured, start);
        self.record
            .checks
            .extend(load.failure.iter().map(|detail| Check {
                point: Some(point.id),
                subject: system,
                clause: "\"the tool reports no error\"".to_owned(),
                holds: false,
                detail: detail.clone(),
            }));
        let reported = load.figures.iter().map(|figure| Reported {
            point: point.id,
            source: load.source(),
            txn: figure.txn.clone(),
            name: figure.name.clone(),
            value: figure.value,
            printed: figure.printed.clone(),
            unit: figure.unit.clone(),
            over: figure.over.map(|(from, to)| (start + from, start + to)),
        });
        self.record.reported.extend(reported);
        self.record.points.push(point);
    }

    fn facts(&mut self, load: &ImportedLoad, point: &Point) {
        let alike: Vec<&ImportedLoad> = self
            .loads
            .iter()
            .filter(|other| other.tool.maker() == load.tool.maker())
            .collect();
        let mut put = |key: &str, value: &str| fact(self.record, point.system, key, value);
        put(TOOL_FACT, load.tool.maker());
        match load.version.as_str() {
            "" => put(
                &format!("{UNKNOWN_FACT}version"),
                "The output does not contain the version of the tool.",
            ),
            version => put(VERSION_FACT, version),
        }
        load.files.iter().for_each(|file| put(FILE_FACT, file));
        for (key, value) in &load.facts {
            let holds = |other: &&ImportedLoad| {
                other
                    .facts
                    .iter()
                    .any(|own| own.0 == *key && own.1 == *value)
            };
            let of_system = !key.starts_with(IMPORT_FACT) || alike.iter().all(holds);
            put(
                &if of_system {
                    key.clone()
                } else {
                    import_facts::key_of(key, point.id)
                },
                value,
            );
        }
        for (what, text) in &load.unknown {
            let key = format!("{UNKNOWN_FACT}{what}");
            let of_system = alike.iter().all(|other| {
                other
                    .unknown
                    .iter()
                    .any(|own| own.0 == *what && own.1 == *text)
            });
            put(
                &if of_system {
                    key
                } else {
                    import_facts::key_of(&key, point.id)
                },
                text,
            );
        }
    }

    fn point(&mut self, load: &ImportedLoad, maker: &str, system: SubjectId) -> Point {
        let block = load.block.is_some();
        // Jobs of one file share a medium; those of another file have another one, so that the two can be compared.
        let unnamed = || load.files.first().cloned().filter(|_| block);
        let medium = self.options.medium.clone().or_else(unnamed);
        let medium = medium.map(|name| subject(self.record, SubjectKind::Medium, &name));
        let step = self.step.clone();
        let known = self
            .record
            .points
            .iter()
            .find(|point| point.step == step && point.is_block() == block);
        let next = self
            .record
            .points
            .iter()
            .map(|point| point.step_index + 1)
            .max()
            .unwrap_or_default();
        Point {
            id: PointId(self.record.points.len() as u32 + 1),
            step_index: known.map_or(next, |point| point.step_index),
            step,
            ordinal: 0,
            system,
            medium,
            workload: if load.workload.is_empty() {
                maker.to_owned()
            } else {
                load.workload.clone()
            },
            mode: if block { Point::BLOCK } else { Point::IMPORTED }.into(),
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

    fn block(&mut self, load: &ImportedLoad, block: &BlockPoint, point: &Point) {
        let job = self.job_name(&block.job, &point.parameters);
        let known = self
            .record
            .blocks
            .iter()
            .find(|other| other.job == job)
            .map(|other| other.job_index);
        let next = self
            .record
            .blocks
            .iter()
            .map(|other| other.job_index + 1)
            .max()
            .unwrap_or_default();
        let job_index = known.unwrap_or(next);
        self.record.blocks.push(BlockPoint {
            point: point.id,
            job,
            job_index,
            ..block.clone()
        });
        let Some(medium) = point.medium else { return };
        self.record
            .shares
            .extend(load.shares.iter().map(|share| BlockShare {
                point: point.id,
                worker: share.worker,
                medium,
                txn: share.txn,
                requests: share.requests,
                bytes: share.bytes,
                response: share.response.clone(),
            }));
    }

    /// Jobs of one name with different options are different jobs: the name lists what differs from the first.
    fn job_name(&self, name: &str, parameters: &BTreeMap<String, String>) -> String {
        let first = self
            .record
            .blocks
            .iter()
            .find(|block| block.job == name)
            .map(|block| block.point);
        let first = first.and_then(|id| self.record.points.iter().find(|point| point.id == id));
        let Some(first) = first.filter(|first| first.parameters != *parameters) else {
            return name.to_owned();
        };
        let differs =
            |(key, value): &(&String, &String)| first.parameters.get(*key) != Some(*value);
        let own: Vec<String> = parameters
            .iter()
            .filter(differs)
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
            complete: true,
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

/// Splits off the warm-up; later ticks that are not measured stay with the measured ones.
fn split(ticks: &[LoadTick]) -> (&[LoadTick], &[LoadTick]) {
    ticks.split_at(
        ticks
            .iter()
            .position(|tick| tick.measured)
            .unwrap_or_default(),
    )
}

/// Numbers points in the ladder by load, and repeats of one load in the order of the files.
fn number_points(record: &mut Record) {
    let job = |point: &Point| {
        record
            .blocks
            .iter()
            .find(|block| block.point == point.id)
            .map(|block| block.job_index)
    };
    let jobs: Vec<Option<u32>> = record.points.iter().map(job).collect();
    let load = |point: &Point| {
        (
            point.offered_per_second.unwrap_or_default().to_bits(),
            point.users,
        )
    };
    let keys: Vec<_> = record
        .points
        .iter()
        .zip(&jobs)
        .map(|(point, job)| {
            (
                (point.step_index, point.medium, point.system),
                (job.unwrap_or_default(), load(point)),
            )
        })
        .collect();
    for (i, point) in record.points.iter_mut().enumerate() {
        let (step, own) = keys[i];
        let mut lower: Vec<_> = keys
            .iter()
            .filter(|(s, other)| *s == step && *other < own)
            .map(|(_, k)| k)
            .collect();
        lower.sort_unstable();
        lower.dedup();
        point.ordinal = jobs[i].unwrap_or(lower.len() as u32);
        point.repeat = keys[..i].iter().filter(|key| **key == (step, own)).count() as u32;
    }
}
