//! Completes the file of a run whose plimsoll was killed, from the journals that its workers on hosts keep.

use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::join_all;
use plimsoll_load::clock::Clock;
use plimsoll_plan::resolved::{LoadStep, ResolvedPlan, Step};
use plimsoll_plan::schedule::{PhaseKind, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{HostId, RecordedPlan};
use plimsoll_record::message::EventKind;
use plimsoll_record::runfile::{self, JoinedCopy};
use plimsoll_record::{
    Event, Point, PointId, PointPurpose, Record, RunStatus, Severity, SubjectId,
};
use plimsoll_report::message::Messages;
use plimsoll_worker::fleet::{PastLane, rejoin_lane};
use plimsoll_worker::link::{JournalAnchor, LaneBounds, Link, PastJob, PastSession};
use tokio::sync::mpsc;

use super::context::{timeline, warm_up};
use super::error::{RunError, StepResult};
use super::hosts::{Hosts, ReachedRun, anchor_of, job_of};
use super::join_plan::join_plan;
use super::log::RunLog;
use super::on_hosts::PLAN_JOB;
use super::orders::Orders;
use super::recorder::{LaneRecorder, LaneResult, StartTime};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::signals::Interrupt;

/// A run that was joined.
#[derive(Debug)]
pub struct JoinedRun {
    pub run_file: PathBuf,
    /// What was read from journals, in words.
    pub text: String,
}

/// Whether the run was killed, or still runs, and hosts may have more of it than the file.
pub fn has_journals(status: RunStatus, plan: &RecordedPlan) -> bool {
    match plan {
        RecordedPlan::Resolved(plan) => {
            status == RunStatus::Unfinished && !plan.used_hosts().is_empty()
        }
        RecordedPlan::Imported | RecordedPlan::Unreadable { .. } => false,
    }
}

/// Completes the file. Until it is whole, the original stays as it is, and so do the journals.
pub fn join(path: &Path, interrupt: &Interrupt, quiet: bool) -> Result<JoinedRun, Failure> {
    let copy = JoinedCopy::of(path)?;
    let record = runfile::read(path)?;
    let plan = match &record.plan {
        RecordedPlan::Resolved(plan) if has_journals(record.run.status, &record.plan) => plan,
        _ => return Err(no_hosts(path)),
    };
    if let Some(host) = plan
        .used_hosts()
        .iter()
        .map(|id| plan.host(*id))
        .find(|host| host.lacks_secret())
    {
        return Err(Failure::usage(format!(
            "host {} cannot be reached: the run file has its command without the secret in it\n  {}\nIts journal stays \
             there. Next time put the secret into a variable of the environment.",
            host.name,
            host.shown_via()
        )));
    }
    let progress = Progress::new(quiet, Nanos::ZERO);
    let joining = Joining {
        record: &record,
        plan,
        lanes: interrupted_lanes(&record, plan),
        log: RunLog::new(copy.open()?, Clock::real(), progress),
        interrupt,
    };
    let hosts = joining.reach().map_err(failure)?;
    let gained = match plan.on_hosts.is_empty() {
        true => joining.join_lanes(&hosts),
        false => joining.join_plan(path, &hosts),
    };
    let text = joining.finish(&gained.map_err(failure)?, &hosts)?;
    let run_file = copy.replace_original()?;
    hosts.all().for_each(Link::leave);
    hosts.end();
    Ok(JoinedRun { run_file, text })
}

fn no_hosts(path: &Path) -> Failure {
    Failure::usage(format!(
        "{} has no hosts in its plan\nA run without hosts has all its results in its file: plimsoll report {}.",
        path.display(),
        path.display()
    ))
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Interrupted => Failure::run("interrupted: the run file is as it was"),
        RunError::Failed(why) => Failure::run(why),
        RunError::Broken(why) => Failure::run(why),
        RunError::Late(late) => Failure::run(late.to_string()),
        RunError::Missed(why) => Failure::run(why),
        RunError::Unrecorded(failure) => failure,
    }
}

/// A lane on hosts that was under way.
struct InterruptedLane<'a> {
    step: &'a LoadStep,
    point: &'a Point,
    /// Where its first second began; `None`: the file has none.
    origin: Option<Nanos>,
    /// The end of its last second that the file has.
    recorded: Option<Nanos>,
}

/// The plan that hosts ran.
const PLAN_PAST: PastJob = PastJob {
    job: PLAN_JOB,
    lane: None,
};

impl InterruptedLane<'_> {
    fn past_job(&self) -> PastJob {
        PastJob {
            job: job_of(self.point.id),
            lane: Some(LaneBounds {
                transactions: self.point.txns.len(),
                lasts: self.timeline().end(),
            }),
        }
    }

    fn timeline(&self) -> Timeline {
        match (self.point.purpose, self.step.precondition) {
            (PointPurpose::Precondition, Some(precondition)) => {
                warm_up(self.step, precondition.lasts)
            }
            _ => timeline(self.step),
        }
    }
}

/// The lanes of the last point, unless the file has them whole.
fn interrupted_lanes<'a>(record: &'a Record, plan: &'a ResolvedPlan) -> Vec<InterruptedLane<'a>> {
    let is_noise = |point: &&Point| point.purpose == PointPurpose::Noise;
    let Some(last) = record.points.iter().rfind(|point| !is_noise(point)) else {
        return Vec::new();
    };
    record
        .points
        .iter()
        .filter(|point| !is_noise(point) && is_beside(point, last))
        .filter(|point| !is_whole(record, point.id))
        .filter_map(|point| match plan.steps.get(point.step_index as usize)? {
            Step::Load(step) if !step.from.is_empty() => {
                Some(interrupted_lane(record, step, point))
            }
            _ => None,
        })
        .collect()
}

/// Whether two points ran at the same time.
fn is_beside(point: &Point, other: &Point) -> bool {
    (point.step_index, point.ordinal, point.repeat)
        == (other.step_index, other.ordinal, other.repeat)
        && (point.purpose, point.scene) == (other.purpose, other.scene)
}

fn is_whole(record: &Record, point: PointId) -> bool {
    let mut phases = record.phases.iter();
    phases.any(|phase| {
        let is_after = match phase.kind {
            PhaseKind::Check => true,
            // Closed: it has separate histograms.
            PhaseKind::Cool => {
                let mut windows = record.windows.iter();
                windows.any(|window| window.phase == phase.id && !window.coarse)
            }
            _ => false,
        };
        phase.point == Some(point) && is_after
    })
}

fn interrupted_lane<'a>(
    record: &Record,
    step: &'a LoadStep,
    point: &'a Point,
) -> InterruptedLane<'a> {
    let phases = || {
        let phases = record.phases.iter();
        phases.filter(|phase| phase.point == Some(point.id) && phase.kind.is_under_load())
    };
    InterruptedLane {
        step,
        point,
        origin: phases().map(|phase| phase.start).min(),
        recorded: phases().map(|phase| phase.end).max(),
    }
}

/// How much the journals have that the run file did not.
struct JoinedTime {
    gained: Nanos,
    /// The run, until the last second of any host.
    lasted: Nanos,
}

/// A run that is being joined.
struct Joining<'a> {
    record: &'a Record,
    plan: &'a ResolvedPlan,
    lanes: Vec<InterruptedLane<'a>>,
    log: RunLog,
    interrupt: &'a Interrupt,
}

impl Joining<'_> {
    fn reach(&self) -> StepResult<Hosts> {
        let run = ReachedRun {
            id: &self.record.run.id,
            plan: self.plan,
            log: &self.log,
            interrupt: self.interrupt,
        };
        run.reach("Reading journals", |id, subject| {
            Some(self.past_session(id, subject))
        })
        .map_err(keep_the_journals)
    }

    /// What the journal of a host has to have.
    fn past_session(&self, id: HostId, subject: SubjectId) -> PastSession {
        let is_plan = self.plan.on_hosts.contains(&id);
        let last_samples = (self.record.series.iter())
            .filter(|series| series.subject == subject)
            .filter_map(|series| series.samples.last());
        PastSession {
            // The parts of a host's file that had arrived went with plimsoll.
            anchor: anchor_of(self.record, subject).map(|anchor| JournalAnchor {
                received: if is_plan { 0 } else { anchor.received },
                ..anchor
            }),
            sampled_until: last_samples
                .map(|sample| sample.at)
                .max()
                .unwrap_or_default(),
            jobs: self
                .lanes
                .iter()
                .filter(|lane| lane.step.from.contains(&id))
                .map(InterruptedLane::past_job)
                .chain(is_plan.then_some(PLAN_PAST))
                .collect(),
        }
    }

    fn join_lanes(&self, hosts: &Hosts) -> StepResult<JoinedTime> {
        let results = self.measure(hosts)?;
        let mut gained = Nanos::ZERO;
        let mut lasted = self.record.run.lasted;
        for (lane, result) in self.lanes.iter().zip(results) {
            lasted = lasted.max(result.ended_at);
            let known = lane.recorded.or(lane.origin.or(result.started_at));
            let more = result
                .ended_at
                .saturating_sub(known.unwrap_or(result.ended_at));
            gained = gained.max(more);
        }
        Ok(JoinedTime { gained, lasted })
    }

    fn join_plan(&self, output: &Path, hosts: &Hosts) -> StepResult<JoinedTime> {
        let on_hosts = &self.plan.on_hosts;
        // Killed after the hosts' files were joined, and before the file was closed.
        if !self.record.points.is_empty() {
            return Ok(JoinedTime {
                gained: Nanos::ZERO,
                lasted: self.record.run.lasted,
            });
        }
        let last = join_plan(self.log.file(), output, on_hosts, hosts, self.interrupt)?;
        Ok(JoinedTime {
            // The file has nothing before: what hosts measure is joined at the end of a run.
            gained: last,
            lasted: last.max(self.record.run.lasted),
        })
    }

    /// Records the lanes again from their beginning: with all their seconds, percentiles are exact.
    fn measure(&self, hosts: &Hosts) -> StepResult<Vec<LaneResult>> {
        let start = StartTime::default();
        let lanes = self
            .lanes
            .iter()
            .map(|lane| self.rejoin(lane, hosts.links(&lane.step.from), start.clone()));
        let results = self.log.block_on(join_all(lanes))?;
        results.into_iter().collect()
    }

    async fn rejoin(
        &self,
        lane: &InterruptedLane<'_>,
        links: Vec<Arc<Link>>,
        start: StartTime,
    ) -> StepResult<LaneResult> {
        let (out, messages) = mpsc::channel(256);
        let title = Progress::name_of(lane.point);
        let mut recorder = LaneRecorder::new(&self.log, lane.point, lane.timeline(), &title, start);
        recorder.replaces = true;
        let orders = Orders::new(self.interrupt);
        let past = PastLane {
            job: job_of(lane.point.id),
            timeline: lane.timeline(),
            origin: lane.origin,
        };
        let clock = self.log.clock().clone();
        let lane = rejoin_lane(&links, past, clock, orders.lane_orders(), out);
        let recorded =
            async { tokio::join!(lane, recorder.record(messages, orders.user_orders())).1 };
        orders.beside(recorded, pending()).await
    }

    /// Hosts whose journals do not have a lane that others, or the file, have.
    fn lost_hosts(&self, hosts: &Hosts) -> Vec<EventKind> {
        let mut lost = Vec::new();
        for lane in &self.lanes {
            let links = hosts.links(&lane.step.from);
            let job = job_of(lane.point.id);
            if lane.origin.is_some() || links.iter().any(|link| link.has_heard_of(job)) {
                let silent = links.iter().filter(|link| !link.has_heard_of(job));
                lost.extend(silent.map(|link| without_journal(lane, link)));
            }
        }
        lost
    }

    /// Returns the event's sentence.
    fn record_event(&self, at: Nanos, kind: EventKind) -> Result<String, Failure> {
        let text = Messages::english().event(&kind);
        self.log.file().event(&Event {
            at,
            subject: None,
            severity: Severity::Warning,
            kind,
        })?;
        Ok(text)
    }

    /// Closes the copy. Returns what is new in it.
    fn finish(self, time: &JoinedTime, hosts: &Hosts) -> Result<String, Failure> {
        self.log.receive()?;
        hosts.forget_anchors(&self.log)?;
        let JoinedTime { gained, lasted } = *time;
        let names: Vec<&str> = hosts.all().map(|link| link.host().name.as_str()).collect();
        let kind = EventKind::RunJoined {
            hosts: names.join(", "),
            seconds: gained.as_secs_f64(),
        };
        let mut text = self.record_event(lasted, kind)?;
        for kind in self.lost_hosts(hosts) {
            text.push('\n');
            text.push_str(&self.record_event(lasted, kind)?);
        }
        self.log.progress().finish();
        let file = self.log.into_file();
        file.finish(RunStatus::Interrupted, None, lasted)?;
        Ok(text)
    }
}

fn without_journal(lane: &InterruptedLane<'_>, link: &Link) -> EventKind {
    let seconds = lane.recorded.zip(lane.origin);
    EventKind::HostLost {
        host: link.host().name.clone(),
        why: "it has no journal of the point".into(),
        since_s: seconds.map_or(0.0, |(end, start)| end.saturating_sub(start).as_secs_f64()),
    }
}

fn keep_the_journals(error: RunError) -> RunError {
    match error {
        RunError::Failed(why) => RunError::failed(format!(
            "{}\nThe run file is as it was; journals are kept for a week.",
            why.text
        )),
        error => error,
    }
}
