//! Writes a lane's messages to the run file, one transaction a second.

use plimsoll_analysis::summary::MeasuredPoint;
use plimsoll_drive::emulate::protocol::Lost;
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{
    Counts, LaneControl, LaneEnd, LaneEvent, LaneMessage, LaneSecond, LateTimes, TransactionStats,
};
use plimsoll_record::message::EventKind;
use plimsoll_record::receipt::CommitCounts;
use plimsoll_record::runfile::RunFile;
use plimsoll_record::{Event, Outage, PhaseId, Point, Severity, SubjectId, SubjectKind, Window};
use plimsoll_report::message::Messages;
use tokio::sync::watch;

use super::error::{RunError, StepResult};
use super::log::RunLog;
use crate::progress::{block_figures, figures, whole_seconds};

/// Phases shorter than this are not announced: the line of their outcome follows soon.
const LONG_PHASE: Nanos = Nanos::from_secs(20);

/// Time at which the lanes of a point started, on the run's timeline. Clones share it.
#[derive(Clone, Default)]
pub(super) struct StartTime(watch::Sender<Option<Nanos>>);

impl StartTime {
    /// The first lane's counts.
    fn set(&self, at: Nanos) {
        self.0.send_if_modified(|start| {
            let is_first = start.is_none();
            start.get_or_insert(at);
            is_first
        });
    }

    pub fn get(&self) -> Option<Nanos> {
        *self.0.borrow()
    }

    pub async fn wait(&self) -> Nanos {
        let mut start = self.0.subscribe();
        // The sender is in self: an error cannot come.
        let start = start.wait_for(Option::is_some).await;
        start.map_or(None, |start| *start).unwrap_or_default()
    }
}

pub(super) struct LaneRecorder<'a> {
    log: &'a RunLog,
    /// Only one of concurrent lanes does.
    pub shows_progress: bool,
    /// All of a lane is recorded again, of which a killed plimsoll had recorded a part.
    pub replaces: bool,
    point: &'a Point,
    timeline: Timeline,
    title: &'a str,
    start: StartTime,
    /// When the lane started, on the run's timeline.
    origin: Nanos,
    /// The phase that was announced last.
    announced: Option<PhaseKind>,
    phase: Option<RecordedPhase>,
    /// Those that were closed: what was due in them may end later.
    closed: Vec<RecordedPhase>,
    acknowledged: CommitCounts,
    /// The measure phase so far.
    measured: MeasuredPoint,
    end: Option<LaneEnd>,
    /// When the last phase ended.
    ended_at: Nanos,
}

/// Result of a lane.
pub(super) struct LaneResult {
    pub end: LaneEnd,
    /// On the run's timeline, as what follows; none for a lane that never started.
    pub started_at: Option<Nanos>,
    /// Zero for a lane that never started.
    pub ended_at: Nanos,
    /// Commits that the database acknowledged before a power cut.
    pub acknowledged: CommitCounts,
    /// The measure phase, for the search to choose the next load.
    pub measured: MeasuredPoint,
    /// The power cut that ended it.
    pub power_off: Option<PowerOff>,
    /// More members of the medium's array or cluster failed than it can do without.
    pub data_lost: bool,
}

impl LaneResult {
    pub fn is_complete(&self) -> bool {
        self.end == LaneEnd::Complete
    }
}

/// A power cut that took place.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerOff {
    pub at: Nanos,
    pub lost: Lost,
}

/// Distance of fio's snapshots in nanoseconds; phases of block I/O end with the one that comes nearest.
const SNAPSHOTS: u64 = Nanos::SECOND.0;

struct RecordedPhase {
    id: PhaseId,
    kind: PhaseKind,
    start: Nanos,
    end: Nanos,
    tallies: Vec<TransactionStats>,
    in_flight: u64,
}

impl<'a> LaneRecorder<'a> {
    pub fn new(
        log: &'a RunLog,
        point: &'a Point,
        timeline: Timeline,
        title: &'a str,
        start: StartTime,
    ) -> Self {
        Self {
            log,
            shows_progress: true,
            replaces: false,
            point,
            timeline,
            title,
            start,
            origin: Nanos::ZERO,
            announced: None,
            phase: None,
            closed: Vec::new(),
            acknowledged: CommitCounts::default(),
            measured: MeasuredPoint::default(),
            end: None,
            ended_at: Nanos::ZERO,
        }
    }

    /// Until the lane's last message. On an error the channel closes, which ends the lane.
    pub async fn record(
        mut self,
        mut messages: tokio::sync::mpsc::Receiver<LaneMessage>,
        mut orders: watch::Receiver<LaneControl>,
    ) -> StepResult<LaneResult> {
        let mut asked = false;
        loop {
            let message = tokio::select! {
                biased;
                // An error means that no order can come any more.
                Ok(_) = orders.wait_for(|order| *order != LaneControl::Run), if !asked => {
                    asked = true;
                    if self.shows_progress {
                        self.log.progress().print("Ending the phase and keeping its results; press Ctrl-C again to stop at once.");
                    }
                    continue;
                }
                message = messages.recv() => message,
            };
            let Some(message) = message else { break };
            self.take(message)?;
        }
        let end = self.end.ok_or_else(|| {
            RunError::failed("the lane exited without a result: this is a fault of plimsoll")
        })?;
        Ok(LaneResult {
            end,
            started_at: self.start.get(),
            ended_at: self.ended_at,
            acknowledged: self.acknowledged,
            measured: self.measured,
            power_off: None,
            data_lost: false,
        })
    }

    fn take(&mut self, message: LaneMessage) -> StepResult<()> {
        match message {
            LaneMessage::Started { at } => {
                if self.replaces {
                    self.log.file().forget_load(self.point.id)?;
                }
                self.origin = at;
                self.start.set(at);
                let first = self
                    .timeline
                    .tick_at(Nanos::ZERO)
                    .map_or(PhaseKind::Warm, |tick| tick.phase);
                self.announce(first, at);
            }
            LaneMessage::Second(second) => self.second(&second)?,
            LaneMessage::Event(event) => {
                let severity = match event.kind {
                    EventKind::Conservation { .. } => Severity::Error,
                    _ => Severity::Warning,
                };
                self.event_of_lane(event, severity)?;
            }
            LaneMessage::Acknowledged(commits) => self.acknowledged = commits,
            LaneMessage::Ended(end) => {
                self.close_phase()?;
                self.finish_measured();
                self.end = Some(end);
            }
        }
        Ok(self.log.store()?)
    }

    /// Records an event, which is the host's if it has one.
    fn event_of_lane(&mut self, event: LaneEvent, severity: Severity) -> StepResult<()> {
        let LaneEvent { at, kind, host } = event;
        let at = self.origin + at;
        let Some(host) = host else {
            return self.event(at, severity, kind);
        };
        let subject = self.log.subject(SubjectKind::Worker, &host)?;
        let text = Messages::english().event(&kind);
        let line = format!("{} (host {host}): {text}", severity.name());
        self.record_event(&line, subject, at, severity, kind)
    }

    fn event(&mut self, at: Nanos, severity: Severity, kind: EventKind) -> StepResult<()> {
        let text = Messages::english().event(&kind);
        let line = format!("{}: {text}", severity.name());
        self.record_event(&line, self.point.system, at, severity, kind)
    }

    fn record_event(
        &self,
        line: &str,
        subject: SubjectId,
        at: Nanos,
        severity: Severity,
        kind: EventKind,
    ) -> StepResult<()> {
        let event = Event {
            at,
            subject: Some(subject),
            severity,
            kind,
        };
        self.log.progress().print(line);
        match self.replaces {
            true => self.log.file().event_once(&event)?,
            false => self.log.file().event(&event)?,
        }
        Ok(())
    }

    fn second(&mut self, second: &LaneSecond) -> StepResult<()> {
        let tick = second.tick;
        if self
            .phase
            .as_ref()
            .is_none_or(|phase| phase.kind != tick.phase)
        {
            self.close_phase()?;
            self.open_phase(second)?;
        }
        self.report_inexact(second)?;
        let Some(phase) = &mut self.phase else {
            return Ok(());
        };
        phase.end = self.origin + tick.end;
        phase.in_flight = second.in_flight;
        phase.add(&second.tallies);
        if phase.kind == PhaseKind::Measure {
            let mut counts = Counts::default();
            for tally in &second.tallies {
                counts.add(&tally.counts);
            }
            self.measured.ticks.push((tick.end - tick.start, counts));
        }
        for earlier in &second.earlier {
            self.add_earlier(earlier)?;
        }
        self.store_second(second)?;
        self.show_second(second);
        Ok(())
    }

    /// What was due in a phase belongs to its window, whenever it ended.
    fn add_earlier(&mut self, earlier: &LateTimes) -> StepResult<()> {
        let kind = earlier.place.phase;
        if let Some(phase) = self.phase.as_mut().filter(|phase| phase.kind == kind) {
            phase.add(&earlier.tallies);
            return Ok(());
        }
        let closed = self.closed.iter_mut().find(|phase| phase.kind == kind);
        let phase = closed.ok_or_else(|| {
            RunError::failed(
                "the lane has times of a phase that was not: this is a fault of plimsoll",
            )
        })?;
        phase.add(&earlier.tallies);
        phase.store_windows(self.log.file(), self.point.system)
    }

    fn open_phase(&mut self, second: &LaneSecond) -> StepResult<()> {
        let kind = second.tick.phase;
        let start = self.origin + second.tick.start;
        let step = &self.point.step;
        let id = (self.log.file()).open_phase(step, Some(self.point), kind, start)?;
        self.phase = Some(RecordedPhase {
            id,
            kind,
            start,
            end: start,
            tallies: vec![TransactionStats::default(); second.tallies.len()],
            in_flight: 0,
        });
        self.announce(kind, start);
        Ok(())
    }

    fn store_second(&self, second: &LaneSecond) -> StepResult<()> {
        let Some(phase) = &self.phase else {
            return Ok(());
        };
        let file = self.log.file();
        file.second(phase.id, self.point.system, self.origin, second)?;
        if !second.absence.is_none() {
            file.outage(&Outage {
                phase: phase.id,
                subject: self.point.system,
                start: self.origin + second.tick.start,
                end: phase.end,
                absence: second.absence,
            })?;
        }
        Ok(())
    }

    /// Shows a line with quantiles, which cost as much as the recording.
    fn show_second(&self, second: &LaneSecond) {
        let Some(phase) = self.phase.as_ref().filter(|_| self.shows_progress) else {
            return;
        };
        let lasted = phase.end - phase.start;
        let of = planned(&self.timeline, phase.kind)
            .map(|planned| format!("/{}", whole_seconds(planned)));
        let load_left = self.timeline.load_end().saturating_sub(second.tick.end);
        let progress = self.log.progress();
        let line = format!(
            "{} · {} {}{} · {} · {} left",
            self.title,
            phase.kind.name(),
            lasted_shown(self.point, lasted),
            of.unwrap_or_default(),
            self.figures(&phase.tallies, lasted),
            progress.time_left(load_left)
        );
        progress.now(phase.end, &line);
    }

    fn announce(&mut self, kind: PhaseKind, at: Nanos) {
        // fio reports what it did after the order to stop only once that is over.
        if self.is_block() && kind == PhaseKind::Cool {
            return;
        }
        if self.announced.replace(kind) != Some(kind) && self.shows_progress {
            let lasts = planned(&self.timeline, kind)
                .map(|planned| format!(" for {}", whole_seconds(planned)));
            let text = format!(
                "{} · {}{}",
                self.title,
                kind.name(),
                lasts.unwrap_or_default()
            );
            let progress = self.log.progress();
            let is_long =
                planned(&self.timeline, kind).is_some_and(|planned| planned >= LONG_PHASE);
            let is_first = kind == PhaseKind::Measure && progress.measures_first();
            if is_first || is_long {
                progress.begin(at, &text);
            } else {
                progress.now(at, &text);
            }
        }
    }

    /// Reports and records what makes a second less than exact; corrects nothing silently.
    fn report_inexact(&mut self, second: &LaneSecond) -> StepResult<()> {
        let at = self.origin + second.tick.end;
        if second.late > 0 {
            let outcomes = second.late;
            self.event(at, Severity::Warning, EventKind::Late { outcomes })?;
        }
        if second.overflow > 0 {
            let outcomes = second.overflow;
            self.event(at, Severity::Error, EventKind::Overflow { outcomes })?;
        }
        Ok(())
    }

    fn is_block(&self) -> bool {
        self.point.mode == "block"
    }

    /// Figures that are shown of seconds or a phase.
    fn figures(&self, tallies: &[TransactionStats], lasted: Nanos) -> String {
        let figures = if self.is_block() {
            block_figures
        } else {
            figures
        };
        figures(&self.point.txns, tallies, lasted)
    }

    /// A phase is complete when it ran to its planned end; cooling when nothing was left under way or given up.
    fn close_phase(&mut self) -> StepResult<()> {
        let Some(phase) = self.phase.take() else {
            return Ok(());
        };
        let lasted = phase.end - phase.start;
        let given_up = phase.tallies.iter().any(|tally| tally.counts.dropped > 0);
        let settled = phase.in_flight == 0 && !given_up;
        let slack = if self.is_block() { SNAPSHOTS / 2 } else { 0 };
        let complete = planned(&self.timeline, phase.kind).map_or(settled, |planned| {
            lasted.0.saturating_add(slack) >= planned.0
        });
        if phase.kind == PhaseKind::Measure {
            self.measured.complete = complete;
        }
        let file = self.log.file();
        phase.store_windows(file, self.point.system)?;
        file.close_phase(phase.id, phase.end, complete)?;
        self.ended_at = phase.end;
        self.closed.push(phase);
        Ok(())
    }

    /// The measure phase's times are complete when the lane has ended.
    fn finish_measured(&mut self) {
        let closed = std::mem::take(&mut self.closed);
        let measured = closed.iter().find(|phase| phase.kind == PhaseKind::Measure);
        let Some(phase) = measured else { return };
        let lasted = phase.end - phase.start;
        let figures = self.figures(&phase.tallies, lasted);
        self.log.progress().done(&format!(
            "{} · measured {} · {figures}",
            self.title,
            lasted_shown(self.point, lasted)
        ));
        self.measured.response = phase
            .tallies
            .iter()
            .map(|tally| tally.response.clone())
            .collect();
    }
}

impl RecordedPhase {
    fn add(&mut self, tallies: &[TransactionStats]) {
        self.tallies
            .iter_mut()
            .zip(tallies)
            .for_each(|(sum, tally)| sum.merge(tally));
    }

    fn store_windows(&self, file: &RunFile, system: SubjectId) -> StepResult<()> {
        for (txn, tally) in self.tallies.iter().enumerate() {
            file.window(&Window {
                phase: self.id,
                subject: system,
                txn: txn as u32,
                response: tally.response.clone(),
                service: tally.differing_service().cloned(),
                coarse: false,
            })?;
        }
        Ok(())
    }
}

/// Length of a phase as it is shown. Begun seconds count; of block I/O, whose phases end with a snapshot, the nearest whole
/// second.
fn lasted_shown(point: &Point, lasted: Nanos) -> String {
    let half = Nanos(SNAPSHOTS / 2);
    whole_seconds(if point.mode == "block" {
        (lasted + half).saturating_sub(Nanos(SNAPSHOTS - 1))
    } else {
        lasted
    })
}

/// Planned length of a phase. Cooling ends with the last transaction.
fn planned(timeline: &Timeline, kind: PhaseKind) -> Option<Nanos> {
    match kind {
        PhaseKind::Warm => Some(timeline.warm),
        // A phase of no length ends by itself.
        PhaseKind::Measure => Some(timeline.measure).filter(|lasts| *lasts > Nanos::ZERO),
        PhaseKind::Prepare
        | PhaseKind::Reset
        | PhaseKind::Cool
        | PhaseKind::Check
        | PhaseKind::Backup => None,
    }
}
