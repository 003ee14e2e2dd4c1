//! Other numbers for subjects, points and phases of a record, and other times.

use std::collections::HashMap;

use plimsoll_plan::units::Nanos;

use crate::{PhaseId, PointId, Record, SubjectId};

/// Points or phases with numbers so high that none are left for those of another record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the numbers of its points or phases are too high: it was changed or is damaged")]
pub struct IdsExhausted;

type Renumbered = Result<(), IdsExhausted>;

/// From the numbers and times of a record to others.
pub(crate) struct Renumbering<'a> {
    pub subjects: HashMap<SubjectId, SubjectId>,
    /// Added to the numbers of points and phases.
    pub points: u32,
    pub phases: u32,
    pub time: &'a dyn Fn(Nanos) -> Nanos,
}

impl Renumbering<'_> {
    fn subject(&self, id: &mut SubjectId) {
        // A number without a subject means nothing, here as there.
        *id = self.subjects.get(id).copied().unwrap_or(*id);
    }

    fn point(&self, id: &mut PointId) -> Renumbered {
        id.0 = id.0.checked_add(self.points).ok_or(IdsExhausted)?;
        Ok(())
    }

    fn phase(&self, id: &mut PhaseId) -> Renumbered {
        id.0 = id.0.checked_add(self.phases).ok_or(IdsExhausted)?;
        Ok(())
    }

    fn times<const N: usize>(&self, times: [&mut Nanos; N]) {
        for time in times {
            *time = (self.time)(*time);
        }
    }
}

pub(crate) fn renumber(record: &mut Record, ids: &Renumbering<'_>) -> Renumbered {
    load(record, ids)?;
    beside(record, ids)?;
    for it in &mut record.subjects {
        ids.subject(&mut it.id);
    }
    for it in &mut record.facts {
        ids.subject(&mut it.subject);
    }
    ids.times([&mut record.run.lasted]);
    Ok(())
}

/// Points, phases, and what was counted in them.
fn load(record: &mut Record, ids: &Renumbering<'_>) -> Renumbered {
    for it in &mut record.points {
        ids.point(&mut it.id)?;
        ids.subject(&mut it.system);
        it.medium.iter_mut().for_each(|medium| ids.subject(medium));
    }
    for it in &mut record.phases {
        ids.phase(&mut it.id)?;
        it.point.iter_mut().try_for_each(|point| ids.point(point))?;
        ids.times([&mut it.start, &mut it.end]);
    }
    for it in record.seconds.ticks_mut() {
        ids.phase(&mut it.phase)?;
        ids.subject(&mut it.subject);
        ids.times([&mut it.start, &mut it.end]);
    }
    for it in &mut record.windows {
        ids.phase(&mut it.phase)?;
        ids.subject(&mut it.subject);
    }
    for it in &mut record.outages {
        ids.phase(&mut it.phase)?;
        ids.subject(&mut it.subject);
        ids.times([&mut it.start, &mut it.end]);
    }
    for it in &mut record.blocks {
        ids.point(&mut it.point)?;
    }
    for it in &mut record.shares {
        ids.point(&mut it.point)?;
        ids.subject(&mut it.medium);
    }
    for it in &mut record.reported {
        ids.point(&mut it.point)?;
        let over = it.over.iter_mut();
        over.for_each(|(start, end)| ids.times([start, end]));
    }
    Ok(())
}

/// Samples, events and the rest.
fn beside(record: &mut Record, ids: &Renumbering<'_>) -> Renumbered {
    for it in &mut record.series {
        ids.subject(&mut it.subject);
        it.samples
            .iter_mut()
            .for_each(|sample| ids.times([&mut sample.at]));
    }
    for it in &mut record.events {
        it.subject
            .iter_mut()
            .for_each(|subject| ids.subject(subject));
        ids.times([&mut it.at]);
    }
    for it in &mut record.checks {
        it.point.iter_mut().try_for_each(|point| ids.point(point))?;
        ids.subject(&mut it.subject);
    }
    for it in &mut record.drive {
        ids.subject(&mut it.subject);
        ids.times([&mut it.start, &mut it.end]);
    }
    for it in &mut record.cuts {
        ids.point(&mut it.point)?;
        ids.times([&mut it.at]);
    }
    for it in &mut record.searches {
        ids.subject(&mut it.system);
        it.medium.iter_mut().for_each(|medium| ids.subject(medium));
    }
    for it in &mut record.resets {
        ids.phase(&mut it.phase)?;
        ids.subject(&mut it.subject);
    }
    for it in &mut record.waits {
        ids.subject(&mut it.subject);
        ids.times([&mut it.start, &mut it.end]);
    }
    for it in &mut record.steady {
        it.medium.iter_mut().for_each(|medium| ids.subject(medium));
    }
    for it in &mut record.diagnoses {
        it.subject
            .iter_mut()
            .for_each(|subject| ids.subject(subject));
    }
    for it in &mut record.backups {
        it.point.iter_mut().try_for_each(|point| ids.point(point))?;
        ids.subject(&mut it.system);
        it.medium.iter_mut().for_each(|medium| ids.subject(medium));
        ids.subject(&mut it.target);
        ids.times([&mut it.start, &mut it.end]);
    }
    Ok(())
}
