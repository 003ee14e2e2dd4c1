//! One record of several hosts that ran the same plan at the same time.
//!
//! A system of the plan has an instance on each host. A medium and what fio did there are added up, as a cluster's
//! performance service shows them: rates are sums, latencies those of all requests. Points that not all hosts have
//! reached are left out: with a part of the hosts missing they would look like a slower system.

mod cut;
mod point_key;
mod renumber;
mod sums;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use plimsoll_plan::PlacedName;
use plimsoll_plan::units::Nanos;

use crate::{
    DEVICE_FACT, Fact, INSTANCE_OF, PhaseId, PointId, Record, SYSTEM_HOST_FACT, Subject, SubjectId,
    SubjectKind,
};
use point_key::{HostPoint, PointKey};
pub use renumber::IdsExhausted;
pub(crate) use renumber::{Renumbering, renumber};

/// The record of one host.
pub struct HostRecord<'a> {
    pub host: &'a str,
    pub record: Record,
    /// A time of its clock on the clock of the joined record.
    pub time: &'a dyn Fn(Nanos) -> Nanos,
}

/// `None` without a host. Run, plan and integrity are those of the first one.
pub fn join(hosts: Vec<HostRecord<'_>>) -> Result<Option<Record>, IdsExhausted> {
    let is_alone = hosts.len() == 1;
    let mut subjects = JoinedSubjects::default();
    let mut joined: Vec<Record> = Vec::new();
    for HostRecord {
        host,
        mut record,
        time,
    } in hosts
    {
        place_systems(&mut record, host, is_alone);
        let ids = Renumbering {
            subjects: subjects.take(&record, host, is_alone),
            points: joined.iter().map(last_point).max().unwrap_or_default(),
            phases: joined.iter().map(last_phase).max().unwrap_or_default(),
            time,
        };
        leave_out_machine(&mut record);
        renumber(&mut record, &ids)?;
        let worker = subjects.id(SubjectKind::Worker, host.to_owned());
        // These are about a host's machine or run.
        for diagnosis in &mut record.diagnoses {
            diagnosis.subject.get_or_insert(worker);
        }
        for event in &mut record.events {
            event.subject.get_or_insert(worker);
        }
        joined.push(record);
    }
    let common = common_points(&joined);
    cut::to_common_seconds(&mut joined, &common);
    let drives = joined
        .iter_mut()
        .map(|record| std::mem::take(&mut record.drive));
    let drive = sums::drive_rows(drives.collect());
    let mut records = joined.into_iter();
    let Some(mut whole) = records.next() else {
        return Ok(None);
    };
    for record in records {
        append(&mut whole, record);
    }
    whole.subjects = subjects.all;
    whole.drive = drive;
    let kept = common.iter().flatten().map(|point| point.point).collect();
    keep(&mut whole, &kept);
    sums::add_up(&mut whole);
    Ok(Some(whole))
}

fn last_point(record: &Record) -> u32 {
    record
        .points
        .iter()
        .map(|point| point.id.0)
        .max()
        .unwrap_or_default()
}

fn last_phase(record: &Record) -> u32 {
    record
        .phases
        .iter()
        .map(|phase| phase.id.0)
        .max()
        .unwrap_or_default()
}

/// The subjects of all hosts: those that are added up are one.
#[derive(Default)]
struct JoinedSubjects {
    all: Vec<Subject>,
}

impl JoinedSubjects {
    fn take(
        &mut self,
        record: &Record,
        host: &str,
        is_alone: bool,
    ) -> HashMap<SubjectId, SubjectId> {
        let fio: BTreeSet<SubjectId> = block_systems(record);
        let ids = record.subjects.iter().map(|subject| {
            let name = match subject.kind {
                SubjectKind::Host | SubjectKind::Generator | SubjectKind::Worker => host.to_owned(),
                SubjectKind::Medium | SubjectKind::Emulator => subject.name.clone(),
                SubjectKind::System if fio.contains(&subject.id) => subject.name.clone(),
                _ if is_alone => subject.name.clone(),
                SubjectKind::Device
                | SubjectKind::System
                | SubjectKind::Backup
                | SubjectKind::Member => on_host(&subject.name, host),
            };
            let kind = match subject.kind {
                SubjectKind::Host | SubjectKind::Generator => SubjectKind::Worker,
                kind => kind,
            };
            (subject.id, self.id(kind, name))
        });
        ids.collect()
    }

    fn id(&mut self, kind: SubjectKind, name: String) -> SubjectId {
        let mut all = self.all.iter();
        if let Some(known) = all.find(|it| it.kind == kind && it.name == name) {
            return known.id;
        }
        let id = SubjectId(self.all.len() as u32 + 1);
        self.all.push(Subject { id, kind, name });
        id
    }
}

/// `db-1@nvme` on `n2`: `db-1.n2@nvme`.
fn on_host(name: &str, host: &str) -> String {
    let PlacedName { name, medium } = PlacedName::parse(name);
    let name = &format!("{name}.{host}");
    PlacedName { name, medium }.to_string()
}

fn block_systems(record: &Record) -> BTreeSet<SubjectId> {
    let blocks = record.points.iter().filter(|point| point.is_block());
    blocks.map(|point| point.system).collect()
}

/// Each system belongs to its host, and where there are several it is an instance of the plan's.
fn place_systems(record: &mut Record, host: &str, is_alone: bool) {
    let fio = block_systems(record);
    let systems = record
        .subjects
        .iter()
        .filter(|subject| subject.kind == SubjectKind::System);
    let mut facts = Vec::new();
    let media: HashSet<SubjectId> = of_kind(record, SubjectKind::Medium);
    for system in systems {
        let mut add = |key: &str, value: &str| {
            facts.push(Fact {
                subject: system.id,
                key: key.to_owned(),
                value: value.to_owned(),
            });
        };
        add(SYSTEM_HOST_FACT, host);
        let mut facts = record.facts.iter();
        let is_instance = facts.any(|it| it.subject == system.id && it.key == INSTANCE_OF);
        if !is_alone && !is_instance && !fio.contains(&system.id) {
            add(INSTANCE_OF, PlacedName::parse(&system.name).name);
        }
    }
    // A medium of several hosts lies on several devices.
    record
        .facts
        .retain(|fact| is_alone || fact.key != DEVICE_FACT || !media.contains(&fact.subject));
    record.facts.extend(facts);
}

fn of_kind(record: &Record, kind: SubjectKind) -> HashSet<SubjectId> {
    let subjects = record
        .subjects
        .iter()
        .filter(|subject| subject.kind == kind);
    subjects.map(|subject| subject.id).collect()
}

/// The worker has sampled its host and itself, and sent that already.
fn leave_out_machine(record: &mut Record) {
    let generator = of_kind(record, SubjectKind::Generator);
    let host = of_kind(record, SubjectKind::Host);
    record
        .series
        .retain(|it| !generator.contains(&it.subject) && !host.contains(&it.subject));
    record
        .facts
        .retain(|fact| !generator.contains(&fact.subject));
}

/// The points that all hosts have begun to measure, those that are the same together.
fn common_points(hosts: &[Record]) -> Vec<Vec<HostPoint>> {
    let mut found: BTreeMap<PointKey, Vec<HostPoint>> = BTreeMap::new();
    for (host, record) in hosts.iter().enumerate() {
        let begun: HashSet<PointId> = record.phases.iter().filter_map(|it| it.point).collect();
        let points = record.points.iter().filter(|it| begun.contains(&it.id));
        for point in points {
            let host_point = HostPoint {
                host,
                point: point.id,
            };
            let key = PointKey::from_point(record, point);
            found.entry(key).or_default().push(host_point);
        }
    }
    let of_all = found.into_values().filter(|points| {
        let hosts_of_point: BTreeSet<usize> = points.iter().map(|point| point.host).collect();
        hosts_of_point.len() == hosts.len()
    });
    of_all.collect()
}

/// Removes the points that are not among these, with what belongs to them.
fn keep(record: &mut Record, points: &HashSet<PointId>) {
    let is_kept = |point: &PointId| points.contains(point);
    record.points.retain(|point| is_kept(&point.id));
    record
        .phases
        .retain(|phase| phase.point.as_ref().is_none_or(is_kept));
    let phases: HashSet<PhaseId> = record.phases.iter().map(|phase| phase.id).collect();
    record.seconds.retain_ticks(|it| phases.contains(&it.phase));
    record.windows.retain(|it| phases.contains(&it.phase));
    record.outages.retain(|it| phases.contains(&it.phase));
    record
        .checks
        .retain(|check| check.point.as_ref().is_none_or(is_kept));
    record.cuts.retain(|cut| is_kept(&cut.point));
    record.blocks.retain(|block| is_kept(&block.point));
    record.shares.retain(|share| is_kept(&share.point));
    record
        .backups
        .retain(|backup| backup.point.as_ref().is_none_or(is_kept));
}

fn append(whole: &mut Record, part: Record) {
    whole.run.lasted = whole.run.lasted.max(part.run.lasted);
    whole.facts.extend(part.facts);
    whole.points.extend(part.points);
    whole.phases.extend(part.phases);
    whole.seconds.append(part.seconds);
    whole.windows.extend(part.windows);
    whole.series.extend(part.series);
    whole.events.extend(part.events);
    whole.checks.extend(part.checks);
    whole.drive.extend(part.drive);
    whole.cuts.extend(part.cuts);
    whole.searches.extend(part.searches);
    whole.resets.extend(part.resets);
    whole.waits.extend(part.waits);
    whole.blocks.extend(part.blocks);
    whole.shares.extend(part.shares);
    whole.steady.extend(part.steady);
    whole.diagnoses.extend(part.diagnoses);
    whole.backups.extend(part.backups);
    whole.outages.extend(part.outages);
    whole.reported.extend(part.reported);
}

#[cfg(test)]
mod tests;
