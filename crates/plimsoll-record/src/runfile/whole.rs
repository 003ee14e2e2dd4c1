//! Writing a record that is complete: of an imported run, or of one that others joined.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::drive::{DriveOp, DriveTally};
use crate::hist::CoarseHist;
use crate::join::{Renumbering, renumber};
use crate::lane::{Absence, LaneSecond, TransactionStats};
use crate::metric::Metric;
use crate::{
    DriveRow, Phase, PhaseId, Record, RunInfo, SCHEMA_VERSION, Sample, Second, Subject, SubjectId,
};
use plimsoll_plan::RecordedPlan;
use plimsoll_plan::schedule::{PhaseKind, Tick};
use plimsoll_plan::units::Nanos;
use rusqlite::params;

use super::digest;
use super::file::{Result, RunFile};
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
        file.execute("INSERT INTO digest VALUES (?1)", [digest])?;
        create_file(path, &file.image()?)
    }

    fn fill_all(&self, record: &Record) -> Result<()> {
        for Subject { id, kind, name } in &record.subjects {
            let sql = "INSERT INTO subject (id, kind, name) VALUES (?1, ?2, ?3)";
            self.execute(sql, params![id.0, kind.name(), name])?;
        }
        self.fill(record)
    }

    /// A file in memory, of a part of a run that is recorded beside others; [`Self::append`] takes what it holds.
    pub fn part(run: &RunInfo, plan_written: &str, plan: &RecordedPlan) -> Result<Self> {
        Self::in_memory(Path::new("a part of the run"), run, plan_written, plan)
    }

    /// Everything of a part, which began at this time of the run.
    pub fn append(&self, part: &Self, from: Nanos) -> Result<()> {
        let record = unfinished(&part.db, SCHEMA_VERSION);
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
        renumber(&mut record, &ids);
        self.fill(&record)
    }

    fn fill(&self, record: &Record) -> Result<()> {
        let Record {
            facts,
            points,
            phases,
            seconds,
            windows,
            ..
        } = record;
        for fact in facts {
            self.facts(fact.subject, &[(fact.key.clone(), fact.value.clone())])?;
        }
        points.iter().try_for_each(|point| self.point(point))?;
        for Phase {
            id,
            point,
            step,
            kind,
            start,
            end,
            complete,
        } in phases
        {
            let sql = "INSERT INTO phase (id, point, step, kind, start_ns, end_ns, complete)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            let point = point.map(|point| point.0);
            self.execute(
                sql,
                params![id.0, point, step, kind.name(), start.0, end.0, complete],
            )?;
        }
        let kinds: BTreeMap<PhaseId, PhaseKind> =
            phases.iter().map(|phase| (phase.id, phase.kind)).collect();
        for (phase, subject, second) in ticks(seconds, &kinds) {
            self.second(phase, subject, Nanos::ZERO, &second)?;
        }
        // Those that were rebuilt from seconds are rebuilt when they are read.
        windows
            .iter()
            .filter(|window| !window.coarse)
            .try_for_each(|window| self.window(window))?;
        self.beside(record)?;
        self.commit()
    }

    /// What stands beside points, phases and seconds.
    fn beside(&self, record: &Record) -> Result<()> {
        let Record {
            run: _,
            plan_written: _,
            plan: _,
            subjects: _,
            facts: _,
            points: _,
            phases: _,
            ..
        } = record;
        let Record {
            seconds: _,
            windows: _,
            series,
            events,
            checks,
            drive,
            cuts,
            searches,
            resets,
            waits,
            ..
        } = record;
        let Record {
            blocks,
            shares,
            steady,
            diagnoses,
            backups,
            outages,
            reported,
            ..
        } = record;
        let samples: Vec<(SubjectId, Metric, Sample)> = (series.iter())
            .flat_map(|series| {
                series
                    .samples
                    .iter()
                    .map(|sample| (series.subject, series.metric, *sample))
            })
            .collect();
        self.samples(&samples)?;
        self.waits(waits)?;
        events.iter().try_for_each(|event| self.event(event))?;
        checks.iter().try_for_each(|check| self.check(check))?;
        for rows in drive.chunk_by(|a, b| (a.subject, a.start) == (b.subject, b.start)) {
            self.drive_second(rows[0].subject, rows[0].start, rows[0].end, &tallies(rows))?;
        }
        cuts.iter().try_for_each(|cut| self.power_cut(cut))?;
        searches.iter().try_for_each(|search| self.search(search))?;
        resets.iter().try_for_each(|reset| self.reset(reset))?;
        blocks
            .iter()
            .try_for_each(|block| self.block_point(block))?;
        shares
            .iter()
            .try_for_each(|share| self.block_share(share))?;
        steady.iter().try_for_each(|steady| self.steady(steady))?;
        diagnoses
            .iter()
            .try_for_each(|diagnosis| self.diagnosis(diagnosis))?;
        backups.iter().try_for_each(|backup| self.backup(backup))?;
        outages.iter().try_for_each(|outage| self.outage(outage))?;
        reported
            .iter()
            .try_for_each(|reported| self.reported(reported))
    }
}

/// One second of an emulated drive as its emulator reports it.
fn tallies(rows: &[DriveRow]) -> [DriveTally; DriveOp::ALL.len()] {
    let mut tallies: [DriveTally; DriveOp::ALL.len()] = Default::default();
    for DriveRow {
        subject: _,
        start: _,
        end: _,
        op,
        ops,
        bytes,
        errors,
        modelled,
        real,
        late,
        beyond,
    } in rows
    {
        let [modelled, real, late] = [modelled, real, late].map(|hist| hist.to_hist());
        let ops = *ops;
        let bytes = *bytes;
        let errors = *errors;
        let beyond = *beyond;
        tallies[*op as usize] = DriveTally {
            ops,
            bytes,
            errors,
            modelled,
            real,
            late,
            beyond,
        };
    }
    tallies
}

/// A record's seconds as a lane would have reported them. A tick of no length begins with the one that follows it.
fn ticks(
    seconds: &[Second],
    kinds: &BTreeMap<PhaseId, PhaseKind>,
) -> Vec<(PhaseId, SubjectId, LaneSecond)> {
    let mut ticks: BTreeMap<(PhaseId, SubjectId, Nanos, Nanos), LaneSecond> = BTreeMap::new();
    for second in seconds {
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
            .or_insert(LaneSecond {
                tick,
                in_flight: second.in_flight,
                tallies: Vec::new(),
                earlier: Vec::new(),
                late: 0,
                overflow: 0,
                merge_lag: Nanos::ZERO,
                absence: Absence::default(),
            });
        let service = second.service.as_ref().map(CoarseHist::to_hist);
        let place = second.txn as usize;
        if lane.tallies.len() <= place {
            lane.tallies.resize(place + 1, TransactionStats::default());
        }
        lane.tallies[place] =
            TransactionStats::new(second.counts, second.response.to_hist(), service);
    }
    ticks
        .into_iter()
        .map(|((phase, subject, ..), second)| (phase, subject, second))
        .collect()
}
