//! Systems on media, and media under block I/O.

use super::facts::RecordFacts;
use crate::audit::input::{Settings, SystemInput};
use crate::audit::rules::DURABILITY;
use crate::audit::{AuditSubject, Missing};
use crate::summary::{DiagnosisSummary, FigureId, RunFigures};
use plimsoll_record::import_facts;
use plimsoll_record::import_facts::{PERCENTILES_FACT, RESPONSE_FACT, TOOL_FACT};
use plimsoll_record::{DEVICE_FACT, Point, PointId, Record, SubjectId, SubjectKind};

const SETTING: &str = "setting.";

pub(super) fn of_run(facts: &RecordFacts<'_>, summary: &RunFigures) -> Vec<SystemInput> {
    let mut all: Vec<SystemInput> = Vec::new();
    let machine = diagnoses(summary, None);
    for (i, mut system) in systems(facts, summary)
        .chain(media(facts, summary))
        .enumerate()
    {
        // Diagnoses of the machine are listed once.
        if i == 0 {
            system.diagnoses.extend(machine.clone());
        }
        if !all.iter().any(|known| known.about == system.about) {
            all.push(system);
        }
    }
    all
}

fn systems<'a>(
    facts: &'a RecordFacts<'_>,
    summary: &'a RunFigures,
) -> impl Iterator<Item = SystemInput> + 'a {
    summary.ladders.iter().map(|ladder| {
        let system = ladder.first_system();
        let medium = ladder.medium.as_deref();
        let about = AuditSubject::Named(ladder.system.clone());
        let mut input = SystemInput {
            generator: facts.place(system),
            durability: durability(facts, system, medium),
            diagnoses: medium
                .map(|medium| diagnoses(summary, Some(medium)))
                .unwrap_or_default(),
            ..common(facts, about, system, medium)
        };
        let fill = match facts.system(system) {
            Some(_) if facts.is_mock(system) => Err(Missing::NotForThisLoad),
            // Whatever is read was loaded before.
            Some(_) => Ok(1.0),
            None => Err(Missing::NoSampling),
        };
        input.figures.put(FigureId::Fill, fill);
        input
    })
}

/// The subject that stands for fio on a medium.
fn fio_of(facts: &RecordFacts<'_>, medium: Option<SubjectId>) -> String {
    let point = facts
        .record
        .points
        .iter()
        .find(|point| point.is_block() && point.medium == medium);
    let system = point.and_then(|point| {
        facts
            .record
            .subjects
            .iter()
            .find(|subject| subject.id == point.system)
    });
    system.map_or_else(String::new, |subject| subject.name.clone())
}

fn media<'a>(
    facts: &'a RecordFacts<'_>,
    summary: &'a RunFigures,
) -> impl Iterator<Item = SystemInput> + 'a {
    summary
        .blocks
        .iter()
        .flat_map(|step| &step.media)
        .map(|medium| {
            let id = facts.medium(Some(&medium.medium));
            let fills = facts.record.blocks.iter().filter(|block| {
                let point = facts
                    .record
                    .points
                    .iter()
                    .find(|point| point.id == block.point);
                // Only reads meet what was never written.
                let reads = block.streams.iter().any(|stream| stream.read_percent > 0);
                reads && point.is_some_and(|point| id.is_none() || point.medium == id)
            });
            let fill = fills.map(|block| block.fill).reduce(f64::min);
            let fio = fio_of(facts, id);
            // No other tool reports how the space was filled; the record has 0 there.
            let is_unknown = !is_ours(facts, facts.subject(SubjectKind::System, &fio));
            let about = AuditSubject::Named(medium.medium.clone());
            let mut input = SystemInput {
                // No system is between the generator and the medium.
                generator: Err(Missing::NotForThisLoad),
                durability: durability(facts, "", Some(&medium.medium)),
                diagnoses: diagnoses(summary, Some(&medium.medium)),
                ..common(facts, about, &fio, Some(&medium.medium))
            };
            let fill = match fill {
                None => Err(Missing::NotForThisLoad),
                Some(_) if is_unknown => Err(Missing::NoSampling),
                Some(fill) => Ok(fill),
            };
            input.figures.put(FigureId::Fill, fill);
            input
        })
}

/// The method of plimsoll, the same everywhere; of another program what its importer states.
fn common(
    facts: &RecordFacts<'_>,
    about: AuditSubject,
    system: &str,
    medium: Option<&str>,
) -> SystemInput {
    let own = facts.subject(SubjectKind::System, system);
    let methods = Methods { facts, system: own };
    let id = facts.medium(medium);
    let sampled = facts.value(id, "sampled.compressible_percent");
    let sampled = sampled.and_then(|value| value.parse::<f64>().ok());
    let mut input = SystemInput {
        latencies: methods.latencies(),
        percentiles: methods.percentiles(),
        governor: facts.host("governor").map(str::to_owned),
        ..SystemInput::unknown(about)
    };
    let figures = &mut input.figures;
    figures.put_some(FigureId::CompressiblePercent, sampled);
    let stated = stated_compressible(facts, id);
    figures.put(FigureId::StatedCompressiblePercent, Ok(stated));
    input
}

/// Whether plimsoll measured it, and no other tool.
fn is_ours(facts: &RecordFacts<'_>, system: Option<SubjectId>) -> bool {
    facts.value(system, TOOL_FACT).is_none()
}

/// How the figures of a system came about: those of its loads together are as good as the worst.
struct Methods<'a> {
    facts: &'a RecordFacts<'a>,
    system: Option<SubjectId>,
}

impl Methods<'_> {
    /// Of each load.
    fn values(&self, key: &str) -> Vec<(&Point, Option<&str>)> {
        let record = self.facts.record;
        let own = record
            .points
            .iter()
            .filter(|point| Some(point.system) == self.system);
        own.map(|point| {
            (
                point,
                import_facts::value_at(record, point.system, point.id, key),
            )
        })
        .collect()
    }

    fn latencies(&self) -> Option<String> {
        if is_ours(self.facts, self.system) {
            return Some("due".to_owned());
        }
        // In a closed loop a transaction is due when it starts.
        worst(
            self.values(RESPONSE_FACT)
                .into_iter()
                .map(|(point, value)| match value {
                    Some("start") if point.offered_per_second.is_none() => {
                        Some("closed".to_owned())
                    }
                    other => other.map(str::to_owned),
                })
                .collect(),
            &["due", "closed"],
        )
    }

    fn percentiles(&self) -> Option<String> {
        if is_ours(self.facts, self.system) {
            return Some("merged".to_owned());
        }
        let values = self
            .values(PERCENTILES_FACT)
            .into_iter()
            .map(|(_, value)| value.map(str::to_owned));
        worst(values.collect(), &["merged"])
    }
}

/// One method that is not sound is that of all; where one is not known, none is.
fn worst(methods: Vec<Option<String>>, sound: &[&str]) -> Option<String> {
    let known: Vec<String> = methods.into_iter().collect::<Option<_>>()?;
    let is_unknown = |method: &String| matches!(method.as_str(), "unknown" | "none");
    if known.iter().any(is_unknown) {
        return None;
    }
    let unsound = known.iter().find(|own| !sound.contains(&own.as_str()));
    unsound.or(known.first()).cloned()
}

fn stated_compressible(facts: &RecordFacts<'_>, medium: Option<SubjectId>) -> f64 {
    let streams = facts
        .record
        .blocks
        .iter()
        .filter(|block| is_on(facts.record, block.point, medium))
        .flat_map(|block| &block.streams);
    streams
        .map(|stream| f64::from(stream.compressible_percent))
        .fold(0.0, f64::max)
}

fn is_on(record: &Record, point: PointId, medium: Option<SubjectId>) -> bool {
    record
        .points
        .iter()
        .any(|own| own.id == point && own.medium == medium)
}

/// Settings of the system, of the medium and of the device below that decide about durability.
pub(super) fn durability(facts: &RecordFacts<'_>, system: &str, medium: Option<&str>) -> Settings {
    let medium = facts.medium(medium);
    let subjects = [facts.subject(SubjectKind::System, system), medium];
    let all = subjects
        .into_iter()
        .flat_map(|subject| facts.of(subject).iter().copied());
    all.map(|fact| {
        (
            fact.key.strip_prefix(SETTING).unwrap_or(&fact.key),
            fact.value.clone(),
        )
    })
    .filter(|(key, _)| DURABILITY.contains(key))
    .map(|(key, value)| (key.to_owned(), value))
    .collect()
}

fn diagnoses(summary: &RunFigures, medium: Option<&str>) -> Vec<DiagnosisSummary> {
    let own = summary
        .diagnoses
        .iter()
        .filter(|row| row.medium.as_deref() == medium);
    own.cloned().collect()
}

/// What the data of a medium lie on: the drive that is emulated, or the device with its model.
pub(super) fn drive_of(
    facts: &RecordFacts<'_>,
    medium: Option<&str>,
    emulated: Option<&str>,
) -> Option<String> {
    if let Some(drive) = emulated {
        return Some(drive.to_owned());
    }
    let device = facts.value(facts.medium(medium), DEVICE_FACT)?;
    let model = facts.value(facts.subject(SubjectKind::Device, device), "model");
    Some(model.map_or_else(|| device.to_owned(), |model| format!("{model} ({device})")))
}
