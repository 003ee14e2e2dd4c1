//! What a run records and shows.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::sync::mpsc::Sender;

use plimsoll_load::clock::{Clock, VirtualClock};
use plimsoll_load::probe::{self, Probe, ProbeMessage, Warning, Watch};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::runfile::{self, RunFile, RunFileError};
use plimsoll_record::{
    BackupRow, Event, PhaseId, Point, PointId, Record, Severity, SubjectId, SubjectKind,
};
use plimsoll_report::message::Messages;

use super::error::{RunError, StepResult};
use super::inbox::{DriveMessage, Inbox};
use crate::progress::Progress;

/// The run file with all that is written to it, the clock of its times, and what the user sees. All parts of a run share it.
pub(super) struct RunLog {
    file: RunFile,
    clock: Clock,
    /// Samples what is watched; none in virtual time.
    probe: Option<Probe>,
    inbox: Inbox,
    progress: Progress,
    /// Points begun, of all purposes.
    points: Cell<u32>,
}

/// A phase under way.
#[derive(Clone, Copy)]
pub(super) struct OpenPhase {
    pub id: PhaseId,
    pub start: Nanos,
}

impl RunLog {
    /// Nothing is sampled: a run in virtual time, or one that was measured before.
    pub fn new(file: RunFile, clock: Clock, progress: Progress) -> Self {
        Self {
            file,
            clock,
            probe: None,
            inbox: Inbox::default(),
            progress,
            points: Cell::default(),
        }
    }

    /// Samples what is watched where time is real.
    pub fn sampling(mut self) -> io::Result<Self> {
        if let Clock::Real(_) = &self.clock {
            let news = self.inbox.from_probe.clone();
            self.probe = Some(probe::spawn(self.clock.clone(), news)?);
        }
        Ok(self)
    }

    pub fn file(&self) -> &RunFile {
        &self.file
    }

    pub fn into_file(self) -> RunFile {
        self.file
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The clock, where time is virtual.
    pub fn virtual_clock(&self) -> Option<&VirtualClock> {
        match &self.clock {
            Clock::Virtual(clock) => Some(clock),
            Clock::Real(_) => None,
        }
    }

    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    pub fn probe(&self) -> Option<&Probe> {
        self.probe.as_ref()
    }

    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Lets time pass.
    pub fn pass_until(&self, at: Nanos) -> StepResult<()> {
        match &self.clock {
            Clock::Real(_) => self.clock.block_until(at),
            Clock::Virtual(clock) => self.block_on(clock.sleep_until(at))?,
        }
        Ok(())
    }

    /// Runs a future to its end on this thread.
    pub fn block_on<F: Future>(&self, future: F) -> StepResult<F::Output> {
        self.clock
            .block_on(future)
            .map_err(|error| RunError::failed(format!("no runtime: {error}")))
    }

    /// Senders for those who measure beside this thread.
    pub fn host_sender(&self) -> Sender<ProbeMessage> {
        self.inbox.from_probe.clone()
    }

    pub fn drive_sender(&self) -> Sender<DriveMessage> {
        self.inbox.from_drives.clone()
    }

    pub fn backup_sender(&self) -> Sender<(String, BackupRow)> {
        self.inbox.from_backups.clone()
    }

    /// Makes what has arrived from probes, backups, drives and hosts part of the file; prints warnings.
    pub fn store(&self) -> Result<(), RunFileError> {
        self.receive()?;
        self.file.commit()
    }

    /// As [`Self::store`], to be committed together with what follows.
    pub fn receive(&self) -> Result<(), RunFileError> {
        self.inbox
            .store(&self.file, &self.progress, self.clock.now())
    }

    pub fn watch(&self, subject: SubjectId, watch: Watch) {
        if let Some(probe) = &self.probe {
            probe.watch(subject, watch);
        }
    }

    pub fn unwatch(&self, subject: SubjectId) {
        if let Some(probe) = &self.probe {
            probe.unwatch(subject);
        }
    }

    /// Samples nothing from now on; returns what could not be read.
    pub fn stop_sampling(&self) -> Vec<Warning> {
        self.probe.as_ref().map(Probe::stop).unwrap_or_default()
    }

    /// Records what the probes could not read since the last call.
    pub fn record_probe_warnings(&self) -> Result<(), RunFileError> {
        let warnings = self.probe.as_ref().map(Probe::take_warnings);
        self.record_warnings(warnings.unwrap_or_default())
    }

    pub fn record_warnings(&self, warnings: Vec<Warning>) -> Result<(), RunFileError> {
        warnings
            .into_iter()
            .try_for_each(|Warning { subject, kind }| {
                self.file.event(&Event {
                    at: self.now(),
                    subject: Some(subject),
                    severity: Severity::Warning,
                    kind,
                })
            })
    }

    /// Prints and records what happens now.
    pub fn event(
        &self,
        subject: Option<SubjectId>,
        severity: Severity,
        kind: EventKind,
    ) -> StepResult<()> {
        self.event_at(Event {
            at: self.now(),
            subject,
            severity,
            kind,
        })
    }

    /// Prints and records what happened.
    pub fn event_at(&self, event: Event) -> StepResult<()> {
        self.progress.print(&Messages::english().event(&event.kind));
        Ok(self.file.event(&event)?)
    }

    /// Warns of what could not be stopped or removed.
    pub fn cleanup_failed(&self, subject: SubjectId, errors: Vec<String>) -> StepResult<()> {
        errors.into_iter().try_for_each(|error| {
            let kind = EventKind::Cleanup { error };
            self.event(Some(subject), Severity::Warning, kind)
        })
    }

    /// Records a fact for each of the names and values.
    pub fn fact(&self, subject: SubjectId, key: &str, value: &str) -> StepResult<()> {
        let fact = (key.to_owned(), value.to_owned());
        Ok(self.file.facts(subject, &[fact])?)
    }

    pub fn subject(&self, kind: SubjectKind, name: &str) -> StepResult<SubjectId> {
        Ok(self.file.subject(kind, name)?)
    }

    /// Does work in a phase, which is complete where the work succeeds.
    pub fn phase<T>(
        &self,
        step: &str,
        point: Option<&Point>,
        kind: PhaseKind,
        work: impl FnOnce(OpenPhase) -> StepResult<T>,
    ) -> StepResult<T> {
        let start = self.now();
        let id = self.file.open_phase(step, point, kind, start)?;
        let done = work(OpenPhase { id, start });
        let closed = self
            .file
            .close_phase(id, self.now(), done.is_ok())
            .and_then(|()| self.file.commit());
        // An error of later writes would hide the first one.
        let value = done?;
        closed?;
        Ok(value)
    }

    /// Number of the point that begins next.
    pub fn next_point(&self) -> PointId {
        PointId(self.points.get() + 1)
    }

    /// Records a point that has [`Self::next_point`] as its number.
    pub fn begin_point(&self, point: &Point) -> StepResult<()> {
        self.points.set(point.id.0);
        Ok(self.file.point(point)?)
    }

    /// Record of the run so far, with no points but these.
    pub fn record_of(&self, points: &[PointId]) -> StepResult<Record> {
        self.store()?;
        let mut record = runfile::read(self.file.path())?;
        record.points.retain(|point| points.contains(&point.id));
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::RecordedPlan;
    use plimsoll_record::fixture::single_point;

    use super::*;

    #[test]
    fn a_phase_ends_whether_its_work_succeeds_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.plimsoll");
        let run = single_point().run;
        let file = RunFile::create(&path, &run, "", &RecordedPlan::Imported).unwrap();
        let clock = Clock::Virtual(VirtualClock::default());
        let log = RunLog::new(file, clock, Progress::new(true, Nanos::ZERO));
        let second = Nanos::from_secs;
        let done = log.phase("a", None, PhaseKind::Check, |_| log.pass_until(second(1)));
        assert!(done.is_ok());
        let failed: StepResult<()> = log.phase("b", None, PhaseKind::Reset, |phase| {
            assert_eq!(phase.start, second(1));
            log.pass_until(second(3))?;
            Err(RunError::Interrupted)
        });
        assert!(matches!(failed, Err(RunError::Interrupted)));
        let phases = runfile::read(&path).unwrap().phases;
        let ends: Vec<(Nanos, bool)> = phases
            .iter()
            .map(|phase| (phase.end, phase.complete))
            .collect();
        assert_eq!(ends, [(second(1), true), (second(3), false)]);
    }

    #[test]
    fn points_are_numbered_as_they_begin() {
        let record = single_point();
        let plan = RecordedPlan::Imported;
        let file = RunFile::part(&record.run, "", &plan).unwrap();
        let clock = Clock::Virtual(VirtualClock::default());
        let log = RunLog::new(file, clock, Progress::new(true, Nanos::ZERO));
        log.subject(SubjectKind::System, "db").unwrap();
        for number in 1..3 {
            assert_eq!(log.next_point(), PointId(number));
            let point = Point {
                id: log.next_point(),
                medium: None,
                system: SubjectId(1),
                ..record.points[0].clone()
            };
            log.begin_point(&point).unwrap();
        }
    }
}
