//! A record with its rows indexed by what they are looked up by.

use std::collections::BTreeMap;

use super::drive_summary::{DRIVE_FACT, DRIVE_TITLE_FACT, SLOWER_FACT};
use super::tick::Ticks;
use plimsoll_plan::units::Nanos;
use plimsoll_record::{
    DriveRow, INSTANCE_OF, Phase, PhaseId, Point, PointId, PointPurpose, PowerCut, Record,
    SubjectId, WaitRow, Window,
};

/// Points of which [`super::LadderSummary`]s are made: load of transactions of which figures are taken.
pub(super) fn is_of_ladder(point: &Point) -> bool {
    matches!(point.purpose, PointPurpose::Ladder | PointPurpose::Search) && !point.is_block()
}

/// The record, with its rows indexed by what they are looked up by.
pub(super) struct Index<'a> {
    pub record: &'a Record,
    pub ticks: &'a Ticks<'a>,
    pub windows: BTreeMap<PhaseId, Vec<&'a Window>>,
    /// Under load, by point, in time order.
    pub phases: BTreeMap<PointId, Vec<&'a Phase>>,
    /// By system, in time order.
    pub waits: BTreeMap<SubjectId, Vec<&'a WaitRow>>,
    /// By medium, in time order.
    pub drive: BTreeMap<SubjectId, Vec<&'a DriveRow>>,
    /// Points whose figures contradict each other, with the audit's rule that found it.
    pub contradictions: BTreeMap<PointId, &'static str>,
}

impl<'a> Index<'a> {
    pub fn new(record: &'a Record, ticks: &'a Ticks<'a>) -> Self {
        let mut windows: BTreeMap<PhaseId, Vec<&Window>> = BTreeMap::new();
        record
            .windows
            .iter()
            .for_each(|window| windows.entry(window.phase).or_default().push(window));
        let mut waits: BTreeMap<SubjectId, Vec<&WaitRow>> = BTreeMap::new();
        record
            .waits
            .iter()
            .for_each(|row| waits.entry(row.subject).or_default().push(row));
        waits
            .values_mut()
            .for_each(|rows| rows.sort_by_key(|row| middle(row)));
        let mut phases: BTreeMap<PointId, Vec<&Phase>> = BTreeMap::new();
        for phase in record
            .phases
            .iter()
            .filter(|phase| phase.kind.is_under_load())
        {
            phase
                .point
                .into_iter()
                .for_each(|point| phases.entry(point).or_default().push(phase));
        }
        phases
            .values_mut()
            .for_each(|phases| phases.sort_by_key(|phase| phase.start));
        let mut drive: BTreeMap<SubjectId, Vec<&DriveRow>> = BTreeMap::new();
        for row in &record.drive {
            drive.entry(row.subject).or_default().push(row);
        }
        for rows in drive.values_mut() {
            rows.sort_by_key(|row| row.start);
        }
        Self {
            record,
            ticks,
            windows,
            contradictions: BTreeMap::new(),
            phases,
            waits,
            drive,
        }
    }

    /// What an emulated drive did in the seconds that reach into a phase, in time order.
    pub fn drive_rows(&self, medium: SubjectId, phase: &Phase) -> Vec<&'a DriveRow> {
        let all = self.drive.get(&medium).map_or(&[][..], Vec::as_slice);
        let before_its_end = &all[..all.partition_point(|row| row.start < phase.end)];
        let from = before_its_end
            .iter()
            .rposition(|row| row.end <= phase.start)
            .map_or(0, |last| last + 1);
        before_its_end[from..].to_vec()
    }

    pub fn windows(&self, phase: PhaseId) -> &[&'a Window] {
        self.windows.get(&phase).map_or(&[], Vec::as_slice)
    }

    pub fn name(&self, id: SubjectId) -> String {
        let found = self.record.subjects.iter().find(|subject| subject.id == id);
        found.map_or_else(|| format!("#{}", id.0), |subject| subject.name.clone())
    }

    /// What the medium's drive is called, if the medium is emulated.
    pub fn drive_title(&self, medium: Option<SubjectId>) -> Option<String> {
        let medium = medium?;
        let named = self
            .fact(medium, DRIVE_TITLE_FACT)
            .or_else(|| self.fact(medium, DRIVE_FACT));
        if named.is_none() && self.drive.contains_key(&medium) {
            return Some(self.name(medium));
        }
        named.map(str::to_owned)
    }

    /// How many times slower than rated the medium's drive ran; `None` of a real medium.
    pub fn slower(&self, medium: Option<SubjectId>) -> Option<f64> {
        self.fact(medium?, SLOWER_FACT)?.parse().ok()
    }

    /// The system that an instance is one of.
    pub fn base_of(&self, system: SubjectId) -> Option<&'a str> {
        self.fact(system, INSTANCE_OF)
    }

    pub fn fact(&self, subject: SubjectId, key: &str) -> Option<&'a str> {
        let mut facts = self.record.facts.iter();
        let fact = facts.find(|fact| fact.subject == subject && fact.key == key);
        fact.map(|fact| fact.value.as_str())
    }

    pub fn cut_of(&self, point: &Point) -> Option<&'a PowerCut> {
        self.record.cuts.iter().find(|cut| cut.point == point.id)
    }

    /// The phases of `point` under load, in time order.
    pub fn load_phases(&self, point: &Point) -> Vec<&'a Phase> {
        self.phases.get(&point.id).cloned().unwrap_or_default()
    }
}

/// A second belongs to the window that its middle is in.
pub(super) fn middle(row: &WaitRow) -> Nanos {
    Nanos(row.start.0 / 2 + row.end.0 / 2)
}
