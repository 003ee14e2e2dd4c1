//! Samples of a machine by iostat, vmstat and mpstat, and how they join a run.

use super::{ImportError, Source, Tool, attach, when};
use plimsoll_plan::units::Nanos;
use plimsoll_record::import_facts::UNKNOWN_FACT;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Fact, Record, Sample, Series, Subject, SubjectId, SubjectKind};

/// One value over one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSample {
    /// End of the interval, from [`HostSamples::started`].
    pub at: Nanos,
    pub over: Nanos,
    /// A device; `None`: the machine.
    pub device: Option<String>,
    pub metric: Metric,
    pub value: f32,
}

/// Everything in one file.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSamples {
    pub tool: Tool,
    pub file: String,
    /// Since 1970; `None` where the output has no times.
    pub started: Option<Nanos>,
    pub samples: Vec<HostSample>,
    pub unknown: Vec<(&'static str, String)>,
}

/// One report of a tool, before its length is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    /// Since 1970.
    pub time: Option<Nanos>,
    pub values: Vec<(Option<String>, Metric, f64)>,
}

/// What the first report of an output covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// No interval: it only marks the start of the next one.
    Start,
    /// The time since the machine was started: an average, which is left out.
    SinceBoot,
    /// One interval, as all others (`-y`).
    Interval,
    /// One of the last two, and nothing shows which: it is left out.
    Unknown,
}

impl HostSamples {
    /// Of reports in their order, each with the time at which it ended.
    pub(super) fn of_reports(tool: Tool, mut reports: Vec<Report>, first: First) -> Self {
        let mut own = Self {
            tool,
            file: String::new(),
            started: None,
            samples: Vec::new(),
            unknown: Vec::new(),
        };
        let mut times = times(&reports);
        if first == First::Interval {
            reports.insert(0, Report::default());
            times = times.map(before_first);
        }
        if first == First::Unknown {
            let text = "The output does not show whether its first report is an average since the machine was started \
                        or one interval (option -y): it is left out.";
            own.unknown.push(("first_report", text.to_owned()));
        }
        let zero = times.as_ref().and_then(|times| times.first().copied());
        own.started = zero;
        if zero.is_none() {
            let text = "The output has no times (option -t) that rise: reports are taken as one second apart.";
            own.unknown.push(("interval", text.to_owned()));
        }
        let time = |i: usize| match (&times, zero) {
            (Some(times), Some(zero)) => times[i].saturating_sub(zero),
            _ => Nanos::from_secs(i as u64),
        };
        for (i, report) in reports.iter().enumerate().skip(1) {
            let (at, over) = (time(i), time(i).saturating_sub(time(i - 1)));
            let finite = report
                .values
                .iter()
                .filter(|(_, _, value)| value.is_finite());
            own.samples
                .extend(finite.map(|(device, metric, value)| HostSample {
                    at,
                    over,
                    device: device.clone(),
                    metric: *metric,
                    value: *value as f32,
                }));
        }
        own
    }
}

/// Rising times of all reports. They are printed as whole seconds: where two reports share one, all count back from the
/// last, as many whole seconds apart as they are on average.
fn times(reports: &[Report]) -> Option<Vec<Nanos>> {
    let times: Vec<Nanos> = reports
        .iter()
        .map(|report| report.time)
        .collect::<Option<_>>()?;
    if times.windows(2).all(|pair| pair[0] < pair[1]) {
        return Some(times);
    }
    let (first, last) = (*times.first()?, *times.last()?);
    if first == last || !times.is_sorted() {
        return None;
    }
    let intervals = times.len() as u64 - 1;
    let average_s = last.saturating_sub(first).as_secs_f64() / intervals as f64;
    let interval = average_s.round().max(1.0) as u64;
    Some(
        (0..=intervals)
            .rev()
            .map(|back| last.saturating_sub(Nanos::from_secs(back * interval)))
            .collect(),
    )
}

/// With the time at which the first of them began: as long before it as the second came after it.
fn before_first(times: Vec<Nanos>) -> Vec<Nanos> {
    let first = times.first().copied().unwrap_or_default();
    let lasted = times
        .get(1)
        .map_or(Nanos::SECOND, |second| second.saturating_sub(first));
    std::iter::once(first.saturating_sub(lasted))
        .chain(times)
        .collect()
}

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
