//! Writing a record that is complete: of an imported run, or of one that others joined.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::join::{Renumbering, renumber};
use crate::lane::{LaneSecond, TransactionStats};
use crate::metric::Metric;
use crate::{Phase, PhaseId, Record, RunInfo, Sample, Seconds, Series, Subject, SubjectId};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::schedule::{PhaseKind, Tick};
use plimsoll_plan::units::Nanos;

use super::digest;
use super::file::{Result, RunFile, write_error};
use super::open::damaged;
use super::reader::unfinished;
use super::writer::create_file;

impl RunFile {
    /// A new file with everything that `record` holds; to be finished.
    pub fn of_record(path: &Path, record: &Record) -> Result<Self> {
        let file = Self::create(path, &record.run, &record.plan_written, &record.plan)?;
        file.fill_all(record)?;
        Ok(file)
    }

    /// Creates the closed file of a record; until it is whole, nothing is on disk.
    pub fn create_closed(path: &Path, record: &Record) -> Result<()> {
        let mut file = Self::in_memory(path, &record.run, &record.plan_written, &record.plan)?;
        file.fill_all(record)?;
        let RunInfo {
            status,
            failure,
            lasted,
            ..
        } = &record.run;
        file.close(*status, failure.as_deref(), *lasted)?;
        let digest = digest::of_database(&mut file.db);
        let digest = digest.map_err(|error| file.error(error))?;
        file.insert_columns("INSERT INTO digest", &[("sha256", &digest)])?;
        create_file(path, &file.image()?)
    }

    fn fill_all(&self, record: &Record) -> Result<()> {
        for subject in &record.subjects {
            self.insert("INSERT INTO subject", subject)?;
        }
        self.fill(record)
    }

    /// A file in memory, of a part of a run that is recorded beside others; [`Self::append`] takes what it holds.
    pub fn part(run: &RunInfo, plan_written: &str, plan: &RecordedPlan) -> Result<Self> {
        Self::in_memory(Path::new("a part of the run"), run, plan_written, plan)
    }

    /// Everything of a part, which began at this time of the run.
    pub fn append(&self, part: &Self, from: Nanos) -> Result<()> {
        let record = unfinished(&part.db);
        let record = record.map_err(|what| damaged(&part.path, what))?;
        self.add_at(record, from)
    }

    /// Everything of a record that was measured elsewhere, at the same times.
    pub fn add(&self, record: Record) -> Result<()> {
        self.add_at(record, Nanos::ZERO)
    }

    /// After what the file has. Subjects of the same name are the same.
    fn add_at(&self, mut record: Record, from: Nanos) -> Result<()> {
        let mut subjects = HashMap::new();
        for Subject { id, kind, name } in &record.subjects {
            subjects.insert(*id, self.subject(*kind, name)?);
        }
        let last =
            "SELECT (SELECT ifnull(max(id), 0) FROM point), (SELECT ifnull(max(id), 0) FROM phase)";
        let last = self
            .db
            .query_row(last, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (points, phases) = last.map_err(|error| self.error(error))?;
        let ids = Renumbering {
            subjects,
            points,
            phases,
            time: &|at| from + at,
        };
        renumber(&mut record, &ids).map_err(|error| write_error(&self.path, error))?;
        self.fill(&record)
    }

    fn fill(&self, record: &Record) -> Result<()> {
        let Record {
            run: _,
            plan_written: _,
            plan: _,
            subjects: _,
            facts,
            points,
            phases,
            seconds,
            windows,
            series,
            events,
            checks,
            drive,
            cuts,
            searches,
            resets,
            waits,
            blocks,
            shares,
            steady,
            diagnoses,
            backups,
            outages,
            reported,
            integrity: _,
        } = record;
        (facts.iter()).try_for_each(|fact| self.insert("INSERT OR REPLACE INTO fact", fact))?;
        points.iter().try_for_each(|point| self.point(point))?;
        phases.iter().try_for_each(|phase| self.phase(phase))?;
        let kinds: BTreeMap<PhaseId, PhaseKind> =
            phases.iter().map(|phase| (phase.id, phase.kind)).collect();
        for (phase, subject, second) in ticks(seconds, &kinds) {
            self.second(phase, subject, Nanos::ZERO, &second)?;
        }
        // Those that were rebuilt from seconds are rebuilt when they are read.
        (windows.iter().filter(|window| !window.coarse))
            .try_for_each(|window| self.window(window))?;
        self.samples(&samples(series))?;
        self.waits(waits)?;
        events.iter().try_for_each(|row| self.event(row))?;
        checks.iter().try_for_each(|row| self.check(row))?;
        drive.iter().try_for_each(|row| self.drive_row(row))?;
        cuts.iter().try_for_each(|row| self.power_cut(row))?;
        searches.iter().try_for_each(|row| self.search(row))?;
        resets.iter().try_for_each(|row| self.reset(row))?;
        blocks.iter().try_for_each(|row| self.block_point(row))?;
        shares.iter().try_for_each(|row| self.block_share(row))?;
        steady.iter().try_for_each(|row| self.steady(row))?;
        diagnoses.iter().try_for_each(|row| self.diagnosis(row))?;
        backups.iter().try_for_each(|row| self.backup(row))?;
        outages.iter().try_for_each(|row| self.outage(row))?;
        reported.iter().try_for_each(|row| self.reported(row))?;
        self.commit()
    }

    fn phase(&self, phase: &Phase) -> Result<()> {
        let Phase {
            id,
            point,
            step,
            kind,
            start,
            end,
            complete,
        } = phase;
        self.insert_columns(
            "INSERT INTO phase",
            &[
                ("id", id),
                ("point", point),
                ("step", step),
                ("kind", &kind.name()),
                ("start_ns", &start.0),
                ("end_ns", &end.0),
                ("complete", complete),
            ],
        )
    }
}

fn samples(series: &[Series]) -> Vec<(SubjectId, Metric, Sample)> {
    let mut all = Vec::new();
    for Series {
        subject,
        metric,
        samples,
    } in series
    {
        all.extend(samples.iter().map(|sample| (*subject, *metric, *sample)));
    }
    all
}

/// A record's seconds as a lane would have reported them. A tick of no length begins with the one that follows it.
fn ticks(
    seconds: &Seconds,
    kinds: &BTreeMap<PhaseId, PhaseKind>,
) -> Vec<(PhaseId, SubjectId, LaneSecond)> {
    let mut ticks: BTreeMap<(PhaseId, SubjectId, Nanos, Nanos), LaneSecond> = BTreeMap::new();
    for second in seconds.iter() {
        let phase = kinds
            .get(&second.phase)
            .copied()
            .unwrap_or(PhaseKind::Measure);
        let tick = Tick {
            start: second.start,
            end: second.end,
            phase,
        };
        let lane = ticks
            .entry((second.phase, second.subject, second.start, second.end))
            .or_insert_with(|| LaneSecond::new(tick, second.in_flight, Vec::new()));
        let service = second.service().map(|service| service.to_hist());
        let place = second.txn as usize;
        if lane.tallies.len() <= place {
            lane.tallies.resize(place + 1, TransactionStats::default());
        }
        lane.tallies[place] =
            TransactionStats::new(second.counts, second.response().to_hist(), service);
    }
    ticks
        .into_iter()
        .map(|((phase, subject, ..), second)| (phase, subject, second))
        .collect()
}
