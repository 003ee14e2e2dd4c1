//! Samples of a machine by iostat, vmstat and mpstat, and how they join a run.

use super::attach;
use super::fault::ImportError;
use super::samples::{HostSample, HostSamples};
use super::source::SourceFile;
use super::when;
use plimsoll_plan::units::Nanos;
use plimsoll_record::import_facts::{self, IMPORT_FACT, UNKNOWN_FACT};
use plimsoll_record::message::ImportNote;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Fact, Record, Sample, Series, Subject, SubjectId, SubjectKind};

/// Reads outputs of iostat, vmstat and mpstat alone.
pub fn samples(sources: &[SourceFile<'_>]) -> Result<Vec<HostSamples>, ImportError> {
    let read = attach::read(sources)?;
    match read.loads.first() {
        Some(load) => Err(ImportError::files(
            load.files.join(", "),
            format!("It is {}, which is a run itself", load.tool.title()),
            "Give outputs of iostat, vmstat and mpstat only",
        )),
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
        join_one(record, started, own)?;
    }
    if record.points.is_empty() {
        let samples = record.series.iter().flat_map(|series| &series.samples);
        let last = samples.map(|sample| sample.at).max();
        record.run.lasted = record.run.lasted.max(last.unwrap_or_default());
    }
    Ok(())
}

fn join_one(
    record: &mut Record,
    started: Option<Nanos>,
    own: &HostSamples,
) -> Result<(), ImportError> {
    let is_alone = record.points.is_empty();
    let starts = started.zip(own.started);
    let within = samples_within(record, starts, own);
    if within.is_empty() && !own.samples.is_empty() {
        let why = format!(
            "It was recorded at another time than the run: none of its {} samples lies within it",
            own.samples.len()
        );
        let advice =
            "Give the file that was recorded beside it; times without a zone are taken as UTC";
        return Err(ImportError::files(&own.file, why, advice));
    }
    let host = subject(record, SubjectKind::Host, "host");
    let tool = own.tool.name();
    fact(record, host, &format!("{IMPORT_FACT}{tool}"), &own.file);
    let assumed = (starts.is_none() && !is_alone).then(|| ImportNote::StartAssumed {
        file: own.file.clone(),
    });
    for missing in own.missing.iter().chain(&assumed) {
        let what = import_facts::note_subject(missing);
        note(
            record,
            host,
            &format!("{UNKNOWN_FACT}{tool}_{what}"),
            missing,
        );
    }
    for PlacedSample { at, sample } in within {
        let subject = match &sample.device {
            Some(device) => subject(record, SubjectKind::Device, device),
            None => host,
        };
        let sample_of_run = Sample {
            at,
            over: sample.over,
            value: sample.value,
        };
        put(record, subject, sample.metric, sample_of_run);
    }
    Ok(())
}

/// A sample on the run's own timeline.
struct PlacedSample<'a> {
    at: Nanos,
    sample: &'a HostSample,
}

/// Those that lie within the run; without both starts, they are assumed to be the same.
fn samples_within<'a>(
    record: &Record,
    starts: Option<(Nanos, Nanos)>,
    own: &'a HostSamples,
) -> Vec<PlacedSample<'a>> {
    let ends = match record.points.is_empty() {
        true => Nanos(u64::MAX),
        false => record.run.lasted + Nanos::SECOND,
    };
    let mut within = Vec::new();
    for sample in &own.samples {
        let at = match starts {
            Some((run, samples)) => (sample.at + samples).0.checked_sub(run.0).map(Nanos),
            None => Some(sample.at),
        };
        within.extend(
            at.filter(|at| *at <= ends)
                .map(|at| PlacedSample { at, sample }),
        );
    }
    within
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
    match find_fact(record, subject, key) {
        Some(fact) if fact.value.split("; ").any(|own| own == value) => {}
        Some(fact) => fact.value = format!("{}; {value}", fact.value),
        None => record.facts.push(Fact {
            subject,
            key: key.to_owned(),
            value: value.to_owned(),
        }),
    }
}

/// A note beside those that the fact has already.
pub(super) fn note(record: &mut Record, subject: SubjectId, key: &str, note: &ImportNote) {
    match find_fact(record, subject, key) {
        Some(fact) => fact.value = import_facts::with_note(&fact.value, note),
        None => record.facts.push(Fact {
            subject,
            key: key.to_owned(),
            value: import_facts::with_note("", note),
        }),
    }
}

fn find_fact<'a>(record: &'a mut Record, subject: SubjectId, key: &str) -> Option<&'a mut Fact> {
    let mut facts = record.facts.iter_mut();
    facts.find(|fact| fact.subject == subject && fact.key == key)
}
