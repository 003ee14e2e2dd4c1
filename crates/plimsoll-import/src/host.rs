//! Samples of a machine by iostat, vmstat and mpstat, and how they join a run.

use super::samples::{HostSample, HostSamples};
use super::{ImportError, Source, attach, when};
use plimsoll_plan::units::Nanos;
use plimsoll_record::import_facts::UNKNOWN_FACT;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Fact, Record, Sample, Series, Subject, SubjectId, SubjectKind};

/// Reads outputs of iostat, vmstat and mpstat alone.
pub fn samples(sources: &[Source<'_>]) -> Result<Vec<HostSamples>, ImportError> {
    let read = attach::read(sources)?;
    match read.loads.first() {
        Some(load) => Err(ImportError::Together(format!(
            "{} is {}, which is a run itself\nOnly outputs of iostat, vmstat and mpstat join a run.",
            load.files.join(", "),
            load.tool.title()
        ))),
        None => Ok(read.host),
    }
}

/// As [`join`], to a run of which only its record is known.
pub fn join_run(record: &mut Record, all: &[HostSamples]) -> Result<(), ImportError> {
    let started = when::instant(&record.run.started_at);
    join(record, started, all)
}

/// Puts samples beside a run's own, by the time at which both started.
pub(super) fn join(
    record: &mut Record,
    started: Option<Nanos>,
    all: &[HostSamples],
) -> Result<(), ImportError> {
    for own in all {
        let aligned = started.zip(own.started);
        let (run, samples) = aligned.unwrap_or_default();
        let moved = |sample: &HostSample| (sample.at + samples).0.checked_sub(run.0).map(Nanos);
        let ends = record.run.lasted + Nanos::SECOND;
        let alone = record.points.is_empty();
        let within: Vec<(Nanos, &HostSample)> = own
            .samples
            .iter()
            .filter_map(|sample| Some((moved(sample)?, sample)))
            .filter(|(at, _)| alone || *at <= ends)
            .collect();
        if within.is_empty() && !own.samples.is_empty() {
            return Err(ImportError::Together(format!(
                "{} was recorded at another time than the run: none of its {} samples lies within it\n\
                 Give the file that was recorded beside it; times without a zone are taken as UTC.",
                own.file,
                own.samples.len()
            )));
        }
        let host = subject(record, SubjectKind::Host, "host");
        fact(
            record,
            host,
            &format!("import.{}", own.tool.name()),
            &own.file,
        );
        for (what, text) in &own.unknown {
            fact(
                record,
                host,
                &format!("{}{}_{what}", UNKNOWN_FACT, own.tool.name()),
                text,
            );
        }
        if aligned.is_none() && !alone {
            let text = format!(
                "{} or the run has no start time: both are assumed to have started together.",
                own.file
            );
            fact(
                record,
                host,
                &format!("{}{}_start", UNKNOWN_FACT, own.tool.name()),
                &text,
            );
        }
        for (at, sample) in within {
            let subject = match &sample.device {
                Some(device) => subject(record, SubjectKind::Device, device),
                None => host,
            };
            put(
                record,
                subject,
                sample.metric,
                Sample {
                    at,
                    over: sample.over,
                    value: sample.value,
                },
            );
        }
    }
    if record.points.is_empty() {
        let last = record
            .series
            .iter()
            .flat_map(|series| &series.samples)
            .map(|sample| sample.at)
            .max();
        record.run.lasted = record.run.lasted.max(last.unwrap_or_default());
    }
    Ok(())
}

fn put(record: &mut Record, subject: SubjectId, metric: Metric, sample: Sample) {
    let at = record
        .series
        .iter()
        .position(|series| series.subject == subject && series.metric == metric);
    let at = at.unwrap_or_else(|| {
        record.series.push(Series {
            subject,
            metric,
            samples: Vec::new(),
        });
        record.series.len() - 1
    });
    let samples = &mut record.series[at].samples;
    // Two sources of one moment: the first one stays.
    let place = samples.partition_point(|other| other.at < sample.at);
    if samples.get(place).is_none_or(|other| other.at != sample.at) {
        samples.insert(place, sample);
    }
}

/// The subject, made if it is new.
pub(super) fn subject(record: &mut Record, kind: SubjectKind, name: &str) -> SubjectId {
    let found = record
        .subjects
        .iter()
        .find(|subject| subject.kind == kind && subject.name == name);
    if let Some(found) = found {
        return found.id;
    }
    let id = SubjectId(
        record
            .subjects
            .iter()
            .map(|subject| subject.id.0)
            .max()
            .unwrap_or_default()
            + 1,
    );
    record.subjects.push(Subject {
        id,
        kind,
        name: name.to_owned(),
    });
    id
}

/// A fact that occurs again with another value has both.
pub(super) fn fact(record: &mut Record, subject: SubjectId, key: &str, value: &str) {
    match record
        .facts
        .iter_mut()
        .find(|fact| fact.subject == subject && fact.key == key)
    {
        Some(fact) if fact.value.split("; ").any(|own| own == value) => {}
        Some(fact) => fact.value = format!("{}; {value}", fact.value),
        None => record.facts.push(Fact {
            subject,
            key: key.to_owned(),
            value: value.to_owned(),
        }),
    }
}
