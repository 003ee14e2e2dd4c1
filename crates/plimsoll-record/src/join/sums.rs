//! Sums over hosts: media, their drives, and block I/O on them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use plimsoll_plan::units::Nanos;

use super::point_key::PointKey;
use crate::metric::Metric;
use crate::{
    BlockPoint, DriveRow, Fact, HOSTS_BETWEEN, PhaseId, Point, PointId, Record, SYSTEM_HOST_FACT,
    Sample, Second, Series, SubjectId, SubjectKind, Window,
};

pub(super) fn add_up(record: &mut Record) {
    add_up_blocks(record);
    let is_shared: BTreeSet<SubjectId> = record
        .subjects
        .iter()
        .filter(|subject| matches!(subject.kind, SubjectKind::Medium | SubjectKind::Emulator))
        .map(|subject| subject.id)
        .collect();
    let (shared, others) = std::mem::take(&mut record.series)
        .into_iter()
        .partition(|series| is_shared.contains(&series.subject));
    record.series = others;
    record.series.extend(sums(shared));
    let mut diagnoses = Vec::new();
    for diagnosis in std::mem::take(&mut record.diagnoses) {
        if !diagnoses.contains(&diagnosis) {
            diagnoses.push(diagnosis);
        }
    }
    record.diagnoses = diagnoses;
    record.facts = add_up_facts(std::mem::take(&mut record.facts));
}

/// Facts of all hosts; those that differ are of devices and workers, and only hosts are listed.
fn add_up_facts(facts: Vec<Fact>) -> Vec<Fact> {
    let mut all: Vec<Fact> = Vec::new();
    for fact in facts {
        let mut known = all.iter_mut();
        let known = known.find(|it| it.subject == fact.subject && it.key == fact.key);
        match known {
            None => all.push(fact),
            Some(known) if fact.key == SYSTEM_HOST_FACT && known.value != fact.value => {
                known.value = format!("{}{HOSTS_BETWEEN}{}", known.value, fact.value);
            }
            Some(_) => {}
        }
    }
    all
}

/// Points of block I/O of all hosts become one, with the workers of all.
fn add_up_blocks(record: &mut Record) {
    let mut first: BTreeMap<PointKey, PointId> = BTreeMap::new();
    let mut same: HashMap<PointId, PointId> = HashMap::new();
    for point in record.points.iter().filter(|point| point.is_block()) {
        let of_all = *first
            .entry(PointKey::from_point(record, point))
            .or_insert(point.id);
        same.insert(point.id, of_all);
    }
    record.points = add_up_points(std::mem::take(&mut record.points), &same);
    let mut workers: HashMap<PointId, u32> = HashMap::new();
    let mut before: HashMap<PointId, u32> = HashMap::new();
    for BlockPoint {
        point,
        workers: of_host,
        ..
    } in &record.blocks
    {
        let Some(of_all) = same.get(point) else {
            continue;
        };
        let sum = workers.entry(*of_all).or_default();
        before.insert(*point, *sum);
        *sum += of_host;
    }
    for share in &mut record.shares {
        share.worker += before.get(&share.point).copied().unwrap_or_default();
        share.point = same.get(&share.point).copied().unwrap_or(share.point);
    }
    record
        .blocks
        .retain(|block| workers.contains_key(&block.point));
    for block in &mut record.blocks {
        block.workers = workers[&block.point];
    }
    let phases = same_phases(record, &same);
    record.phases.retain(|phase| {
        phases
            .get(&phase.id)
            .is_none_or(|of_all| *of_all == phase.id)
    });
    let windows = std::mem::take(&mut record.windows);
    record.windows = add_up_windows(windows, &phases);
    if !phases.is_empty() {
        record
            .seconds
            .edit(|seconds| add_up_seconds(seconds, &phases));
    }
}

fn add_up_points(points: Vec<Point>, same: &HashMap<PointId, PointId>) -> Vec<Point> {
    let mut all: Vec<Point> = Vec::new();
    for point in points {
        let of_all = same.get(&point.id).filter(|of_all| **of_all != point.id);
        let whole = of_all.and_then(|of_all| all.iter_mut().find(|it| it.id == *of_all));
        let Some(whole) = whole else {
            all.push(point);
            continue;
        };
        whole.users += point.users;
        whole.connections += point.connections;
        let rates = whole.offered_per_second.zip(point.offered_per_second);
        whole.offered_per_second = rates.map(|(whole, rate)| whole + rate);
    }
    all
}

/// The phase that stands for each phase of block I/O of all hosts.
fn same_phases(
    record: &mut Record,
    points: &HashMap<PointId, PointId>,
) -> HashMap<PhaseId, PhaseId> {
    let mut first: BTreeMap<(PointId, &'static str), usize> = BTreeMap::new();
    let mut same = HashMap::new();
    for index in 0..record.phases.len() {
        let phase = &record.phases[index];
        let Some(of_all) = phase.point.and_then(|point| points.get(&point)) else {
            continue;
        };
        let key = (*of_all, phase.kind.name());
        let whole = *first.entry(key).or_insert(index);
        let phase = phase.clone();
        let whole = &mut record.phases[whole];
        same.insert(phase.id, whole.id);
        whole.end = whole.end.max(phase.end);
        whole.complete &= phase.complete;
    }
    same
}

fn add_up_windows(windows: Vec<Window>, phases: &HashMap<PhaseId, PhaseId>) -> Vec<Window> {
    let mut all: Vec<Window> = Vec::new();
    let mut first: BTreeMap<(PhaseId, SubjectId, u32), usize> = BTreeMap::new();
    for mut window in windows {
        let Some(phase) = phases.get(&window.phase) else {
            all.push(window);
            continue;
        };
        window.phase = *phase;
        let key = (window.phase, window.subject, window.txn);
        match first.get(&key) {
            None => {
                first.insert(key, all.len());
                all.push(window);
            }
            Some(whole) => {
                let whole = &mut all[*whole];
                whole.response.merge(&window.response);
                whole.coarse |= window.coarse;
            }
        }
    }
    all
}

/// The n-th second of each host is one: they began at the same time.
fn add_up_seconds(seconds: &mut Vec<Second>, phases: &HashMap<PhaseId, PhaseId>) {
    let mut all: Vec<Second> = Vec::new();
    let mut numbers: BTreeMap<(PhaseId, SubjectId, u32), u32> = BTreeMap::new();
    let mut first: BTreeMap<(PhaseId, SubjectId, u32, u32), usize> = BTreeMap::new();
    for mut second in std::mem::take(seconds) {
        let Some(phase) = phases.get(&second.phase) else {
            all.push(second);
            continue;
        };
        let number = numbers
            .entry((second.phase, second.subject, second.txn))
            .or_default();
        let key = (*phase, second.subject, second.txn, *number);
        *number += 1;
        second.phase = *phase;
        match first.get(&key) {
            None => {
                first.insert(key, all.len());
                all.push(second);
            }
            Some(whole) => {
                let whole = &mut all[*whole];
                whole.counts.add(&second.counts);
                whole.in_flight += second.in_flight;
                whole.response.merge(&second.response);
            }
        }
    }
    *seconds = all;
}

/// The reports of all hosts' drives: those of others belong to the second of the first host's that is nearest.
pub(super) fn drive_rows(hosts: Vec<Vec<DriveRow>>) -> Vec<DriveRow> {
    let mut hosts = hosts.into_iter();
    let mut all = hosts.next().unwrap_or_default();
    let mut seconds: BTreeMap<SubjectId, BTreeMap<Nanos, DriveTime>> = BTreeMap::new();
    let mut places: HashMap<DriveRowKey, usize> = HashMap::new();
    for (place, row) in all.iter().enumerate() {
        let DriveRow { start, end, .. } = *row;
        let of_drive = seconds.entry(row.subject).or_default();
        of_drive.insert(middle(row), DriveTime { start, end });
        places.insert(DriveRowKey::from_row(row), place);
    }
    for mut row in hosts.flatten() {
        let of_drive = seconds.get(&row.subject);
        if let Some(time) = of_drive.and_then(|times| nearest(times, middle(&row))) {
            row.start = time.start;
            row.end = time.end;
        }
        match places.get(&DriveRowKey::from_row(&row)) {
            Some(place) => add_row(&mut all[*place], &row),
            None => {
                places.insert(DriveRowKey::from_row(&row), all.len());
                all.push(row);
            }
        }
    }
    all
}

#[derive(Clone, Copy)]
struct DriveTime {
    start: Nanos,
    end: Nanos,
}

#[derive(PartialEq, Eq, Hash)]
struct DriveRowKey {
    subject: SubjectId,
    start: Nanos,
    op: usize,
}

impl DriveRowKey {
    fn from_row(row: &DriveRow) -> Self {
        Self {
            subject: row.subject,
            start: row.start,
            op: row.op as usize,
        }
    }
}

fn middle(row: &DriveRow) -> Nanos {
    Nanos(row.start.0 / 2 + row.end.0 / 2)
}

/// `None` where it is more than a second away.
fn nearest(seconds: &BTreeMap<Nanos, DriveTime>, middle: Nanos) -> Option<DriveTime> {
    let before = seconds.range(..=middle).next_back();
    let after = seconds.range(middle..).next();
    let both = before.into_iter().chain(after);
    let near = both.map(|(at, time)| (at.0.abs_diff(middle.0), *time));
    let near = near.min_by_key(|(away, _)| *away);
    near.filter(|(away, _)| *away <= Nanos::SECOND.0)
        .map(|(_, time)| time)
}

fn add_row(whole: &mut DriveRow, row: &DriveRow) {
    whole.ops += row.ops;
    whole.bytes += row.bytes;
    whole.errors += row.errors;
    whole.beyond += row.beyond;
    whole.modelled.merge(&row.modelled);
    whole.real.merge(&row.real);
    whole.late.merge(&row.late);
}

/// The series of each medium and emulator over all hosts: space, processor time, requests.
fn sums(series: Vec<Series>) -> Vec<Series> {
    let mut hosts: BTreeMap<(SubjectId, Metric), Vec<Series>> = BTreeMap::new();
    for of_host in series {
        hosts
            .entry((of_host.subject, of_host.metric))
            .or_default()
            .push(of_host);
    }
    hosts
        .into_values()
        .filter_map(|hosts| sum(&hosts))
        .collect()
}

fn sum(hosts: &[Series]) -> Option<Series> {
    let [first, others @ ..] = hosts else {
        return None;
    };
    let samples = first.samples.iter().map(|sample| {
        let middle = sample.at.saturating_sub(Nanos(sample.over.0 / 2));
        let others: f32 = others.iter().filter_map(|host| at(host, middle)).sum();
        Sample {
            value: sample.value + others,
            ..*sample
        }
    });
    Some(Series {
        samples: samples.collect(),
        ..*first
    })
}

/// The value of the sample that the time is in, or the next one.
fn at(series: &Series, time: Nanos) -> Option<f32> {
    let next = series.samples.partition_point(|sample| sample.at < time);
    let next = series.samples.get(next)?;
    let is_near = next.at.saturating_sub(next.over.max(Nanos::SECOND)) <= time;
    is_near.then_some(next.value)
}
