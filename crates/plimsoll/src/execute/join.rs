//! Completes the file of a run whose plimsoll was killed, from the journals that its workers on hosts keep.

use std::cell::RefCell;
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
use plimsoll_record::runfile::{self, JoinedCopy, RunFile};
use plimsoll_record::{
    Event, Point, PointId, PointPurpose, Record, RunStatus, Severity, SubjectId, SubjectKind,
};
use plimsoll_report::message::Messages;
use plimsoll_worker::fleet::{PastLane, rejoin_lane};
use plimsoll_worker::link::{HostTarget, JournalAnchor, LaneBounds, Link, PastJob, PastSession};
use tokio::sync::mpsc;

use super::error::{RunError, StepResult};
use super::hosts::{
    ANCHOR_FACTS, Hosts, RunHost, anchor_of, end_all, job_of, reach_all, session_of,
};
use super::inbox::Inbox;
use super::join_plan::join_plan;
use super::lane::Orders;
use super::on_hosts::PLAN_JOB;
use super::point::timeline;
use super::recorder::{LaneRecorder, LaneResult, StartTime};
use super::wait::RunSink;
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

/// Whether the run was killed, or goes on, and hosts may have more of it than the file.
pub fn has_journals(status: RunStatus, plan: &RecordedPlan) -> bool {
    match plan {
        RecordedPlan::Resolved(plan) => {
            status == RunStatus::Unfinished && !plan.used_hosts().is_empty()
        }
        RecordedPlan::Imported | RecordedPlan::Unreadable { .. } => false,
    }
}

/// Until the file is whole, the original stays as it is, and so do the journals.
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
    let mut joining = Joining {
        record: &record,
        plan,
        lanes: interrupted_lanes(&record, plan),
        file: copy.open()?,
        clock: Clock::real(),
        interrupt,
        progress: Progress::new(quiet, Nanos::ZERO),
    };
    let (inbox, _probe) = Inbox::new(joining.clock.clone());
    let hosts = joining.reach(&inbox).map_err(failure)?;
    let gained = match plan.on_hosts.is_empty() {
        true => joining.join_lanes(&inbox, &hosts),
        false => joining.join_plan(path, &hosts),
    };
    let text = joining.finish(&inbox, &gained.map_err(failure)?, &hosts)?;
    let run_file = copy.replace_original()?;
    hosts.links.values().for_each(|host| host.link.leave());
    end_all(hosts.links.into_values());
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
            (PointPurpose::Precondition, Some(precondition)) => Timeline {
                warm: precondition.lasts,
                measure: Nanos::ZERO,
                cool: self.step.timeline.cool,
            },
            _ => timeline(self.step),
        }
    }
}

/// The lanes of the last point, unless the file has them whole.
fn interrupted_lanes<'a>(record: &'a Record, plan: &'a ResolvedPlan) -> Vec<InterruptedLane<'a>> {
    let own = |point: &&Point| point.purpose != PointPurpose::Noise;
    let Some(last) = record.points.iter().rfind(own) else {
        return Vec::new();
    };
    let side_by_side = |point: &&Point| {
        own(point)
            && (point.step_index, point.ordinal, point.repeat, point.purpose)
                == (last.step_index, last.ordinal, last.repeat, last.purpose)
            && point.scene == last.scene
    };
    let points = record.points.iter().filter(side_by_side);
    let lanes = points.filter_map(|point| {
        let step = match plan.steps.get(point.step_index as usize)? {
            Step::Load(step) if !step.from.is_empty() => step,
            _ => return None,
        };
        (!is_whole(record, point.id)).then(|| interrupted_lane(record, step, point))
    });
    lanes.collect()
}

fn is_whole(record: &Record, point: PointId) -> bool {
    let mut phases = record.phases.iter();
    phases.any(|phase| {
        let is_after = match phase.kind {
            PhaseKind::Check => true,
            // Closed: it has histograms of its own.
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
    let phases = record.phases.iter();
    let own: Vec<_> = phases
        .filter(|phase| phase.point == Some(point.id) && phase.kind.is_under_load())
        .collect();
    InterruptedLane {
        step,
        point,
        origin: own.iter().map(|phase| phase.start).min(),
        recorded: own.iter().map(|phase| phase.end).max(),
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
    file: RunFile,
    clock: Clock,
    interrupt: &'a Interrupt,
    progress: Progress,
}

impl Joining<'_> {
    fn reach(&self, inbox: &Inbox) -> StepResult<Hosts> {
        let hosts: Vec<HostId> = self.plan.used_hosts().into_iter().collect();
        let names: Vec<&str> = hosts
            .iter()
            .map(|host| self.plan.host(*host).name.as_str())
            .collect();
        let text = format!("Reading journals: {}", names.join(", "));
        self.progress.print(&text);
        let mut targets = Vec::new();
        for host in &hosts {
            targets.push(self.target(*host, inbox)?);
        }
        let subjects: Vec<SubjectId> = targets.iter().map(|target| target.subject).collect();
        let links = reach_all(targets, &self.clock, self.interrupt).map_err(keep_the_journals)?;
        let mut reached = Hosts::default();
        for ((host, subject), link) in hosts.into_iter().zip(subjects).zip(links) {
            let link = Arc::new(link);
            reached.links.insert(host, RunHost { link, subject });
        }
        Ok(reached)
    }

    fn target(&self, id: HostId, inbox: &Inbox) -> StepResult<HostTarget> {
        let host = self.plan.host(id).clone();
        let subject = self.file.subject(SubjectKind::Worker, &host.name)?;
        let run = &self.record.run.id;
        let session = session_of(run, id)
            .ok_or_else(|| RunError::failed(format!("`{run}` is no name for a session")))?;
        let series = self.record.series.iter();
        let samples = series
            .filter(|series| series.subject == subject)
            .filter_map(|series| series.samples.last());
        let is_plan = self.plan.on_hosts.contains(&id);
        let anchor = anchor_of(self.record, subject);
        let past = PastSession {
            // The parts of a host's file that had arrived went with plimsoll.
            anchor: anchor.map(|anchor| JournalAnchor {
                received: if is_plan { 0 } else { anchor.received },
                ..anchor
            }),
            sampled_until: samples.map(|sample| sample.at).max().unwrap_or_default(),
            jobs: self
                .lanes
                .iter()
                .filter(|lane| lane.step.from.contains(&id))
                .map(InterruptedLane::past_job)
                .chain(is_plan.then_some(PLAN_PAST))
                .collect(),
        };
        Ok(HostTarget {
            host,
            session,
            subject,
            samples: inbox.from_hosts.clone(),
            past: Some(past),
            orders: self.interrupt.subscribe(),
        })
    }

    fn join_lanes(&mut self, inbox: &Inbox, hosts: &Hosts) -> StepResult<JoinedTime> {
        let results = self.measure(inbox, hosts)?;
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

    fn join_plan(&mut self, output: &Path, hosts: &Hosts) -> StepResult<JoinedTime> {
        let on_hosts = &self.plan.on_hosts;
        // Killed after the hosts' files were joined, and before the file was closed.
        if !self.record.points.is_empty() {
            return Ok(JoinedTime {
                gained: Nanos::ZERO,
                lasted: self.record.run.lasted,
            });
        }
        let last = join_plan(&mut self.file, output, on_hosts, hosts, self.interrupt)?;
        Ok(JoinedTime {
            // The file has nothing before: what hosts measure is joined at the end of a run.
            gained: last,
            lasted: last.max(self.record.run.lasted),
        })
    }

    /// Records the lanes again from their beginning: with all their seconds, percentiles are exact.
    fn measure(&mut self, inbox: &Inbox, hosts: &Hosts) -> StepResult<Vec<LaneResult>> {
        let sink = RefCell::new(RunSink {
            file: &mut self.file,
            inbox,
            progress: &mut self.progress,
        });
        let start = StartTime::default();
        let lanes = self.lanes.iter().map(|lane| {
            let links = hosts.links(&lane.step.from);
            rejoin(
                lane,
                links,
                &self.clock,
                self.interrupt,
                &sink,
                start.clone(),
            )
        });
        let results = self
            .clock
            .block_on(join_all(lanes))
            .map_err(|error| RunError::failed(format!("no runtime for the lanes: {error}")))?;
        results.into_iter().collect()
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
        self.file.event(&Event {
            at,
            subject: None,
            severity: Severity::Warning,
            kind,
        })?;
        Ok(text)
    }

    /// Closes the copy. Returns what is new in it.
    fn finish(
        mut self,
        inbox: &Inbox,
        time: &JoinedTime,
        hosts: &Hosts,
    ) -> Result<String, Failure> {
        inbox.store(&mut self.file, &self.progress)?;
        for host in hosts.links.values() {
            for fact in ANCHOR_FACTS {
                self.file.forget_fact(host.subject, fact)?;
            }
        }
        let JoinedTime { gained, lasted } = *time;
        let names = hosts
            .links
            .values()
            .map(|host| host.link.host().name.clone());
        let kind = EventKind::RunJoined {
            hosts: names.collect::<Vec<_>>().join(", "),
            seconds: gained.as_secs_f64(),
        };
        let mut text = self.record_event(lasted, kind)?;
        for kind in self.lost_hosts(hosts) {
            text.push('\n');
            text.push_str(&self.record_event(lasted, kind)?);
        }
        self.progress.finish();
        self.file.finish(RunStatus::Interrupted, None, lasted)?;
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

async fn rejoin(
    lane: &InterruptedLane<'_>,
    links: Vec<Arc<Link>>,
    clock: &Clock,
    interrupt: &Interrupt,
    sink: &RefCell<RunSink<'_>>,
    start: StartTime,
) -> StepResult<LaneResult> {
    let (out, messages) = mpsc::channel(256);
    let title = Progress::name_of(lane.point);
    let mut recorder = LaneRecorder::new(sink, lane.point, lane.timeline(), &title, start);
    recorder.replaces = true;
    let orders = Orders::of(interrupt);
    let past = PastLane {
        job: job_of(lane.point.id),
        timeline: lane.timeline(),
        origin: lane.origin,
    };
    let lane = rejoin_lane(&links, past, clock.clone(), orders.of_lane(), out);
    let recorded = async { tokio::join!(lane, recorder.record(messages, orders.of_user())).1 };
    orders.beside(recorded, pending()).await
}
