//! What a link knows of its worker, and what each side still has to know.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::MutexGuard;

use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneMessage};
use tokio::sync::mpsc;

use super::connection::{ToHost, WorkerConnection};
use super::intake::{FrameArrival, Intake};
use super::past::{PastJob, PastSession};
use crate::frame;
use crate::offset::Offsets;
use crate::protocol::{HostFacts, HostTask, JobId, MeetingStart, PlanNews, Request};

/// Round trips one after the other when a link is made: the shortest of them gives the first offset.
pub(super) const FIRST_PINGS: u32 = 20;
/// Reports on their way to their lane.
pub(super) const REPORTS: usize = 256;

/// What is heard of a job on a host.
#[derive(Debug, Clone, PartialEq)]
pub enum LaneNews {
    /// All sessions are open.
    Ready,
    Message(LaneMessage),
    /// Of a whole plan.
    Plan(PlanNews),
    /// The host cannot be reached any more, or its session has ended.
    Lost(String),
}

/// Guarded by the link's lock.
#[derive(Default)]
pub(super) struct LinkState {
    /// Of the connection, while there is one.
    pub to: Option<ToHost>,
    pub connection: Option<Box<dyn WorkerConnection>>,
    pub last_heard: Nanos,
    /// How many numbered reports have arrived.
    pub received: u64,
    pub intake: Intake,
    pub facts: Option<HostFacts>,
    pub offsets: Offsets,
    pub first_pings: u32,
    pub jobs: BTreeMap<JobId, LinkedJob>,
    /// When the link was heard of last before it was cut, while it is.
    pub cut: Option<Nanos>,
    pub retries: Retries,
    pub lost: Option<String>,
    /// Of a session that has ended: how many reports there are to be read.
    pub last_report: Option<u64>,
    /// How many reports there were when the host was reached first.
    pub backlog: Option<u64>,
    /// Of jobs of the past, until they are asked for.
    pub unread: BTreeMap<JobId, mpsc::Receiver<LaneNews>>,
    /// Jobs that the session has reported of.
    pub heard: BTreeSet<JobId>,
    /// A session of the past of which its host has nothing.
    pub is_forgotten: bool,
    /// Since when the user wants an end at once, and no job was heard of.
    pub stopped: Option<Nanos>,
    pub is_leaving: bool,
}

/// How long a link that was cut is made anew.
#[derive(Default)]
pub(super) struct Retries {
    pub welcomed: Nanos,
    until: Option<Nanos>,
}

/// A link that is cut earlier was not back: a host that ends each time is given up as one that does not answer.
const STEADY: Nanos = Nanos::from_secs(10);

impl Retries {
    /// After a cut: until when the host is called, and whether at once.
    pub fn after_cut(&mut self, now: Nanos, patience: Nanos) -> Retry {
        let was_steady = now > self.welcomed + STEADY;
        let until = self.until.filter(|_| !was_steady);
        Retry {
            until: *self.until.insert(until.unwrap_or(now + patience)),
            is_first: until.is_none(),
        }
    }
}

pub(super) struct Retry {
    pub until: Nanos,
    pub is_first: bool,
}

pub(super) struct LinkedJob {
    /// `None` of one that was begun in the past.
    pub task: Option<HostTask>,
    pub start: Option<Nanos>,
    /// The last one that has a time.
    pub meeting: Option<MeetingStart>,
    pub order: LaneControl,
    /// When its end is overdue, once it was ordered to stop.
    pub stops_by: Option<Nanos>,
    pub news: mpsc::Sender<LaneNews>,
}

impl LinkedJob {
    pub fn new(task: Option<HostTask>, news: mpsc::Sender<LaneNews>) -> Self {
        Self {
            task,
            start: None,
            meeting: None,
            order: LaneControl::Run,
            stops_by: None,
            news,
        }
    }

    /// All that the worker has to know of it.
    pub fn requests(&self, job: JobId) -> Vec<Request> {
        let task = self.task.clone();
        let mut requests = Vec::new();
        requests.extend(task.map(|task| Request::Run { job, task }));
        requests.extend(self.start.map(|at| Request::Start { job, at }));
        let meeting = self.meeting;
        requests.extend(meeting.map(|meeting| Request::Meet { job, meeting }));
        if self.order > LaneControl::Run {
            let order = self.order;
            requests.push(Request::Order { job, order });
        }
        requests
    }
}

impl LinkState {
    pub fn of_past(past: &PastSession) -> Self {
        let mut state = Self {
            received: past.received(),
            intake: Intake::of_past(past.anchor.map(|anchor| anchor.incarnation)),
            ..Self::default()
        };
        for PastJob { job, lane } in &past.jobs {
            state.intake.expect(*job, *lane);
            let (news, receiver) = mpsc::channel(REPORTS);
            state.jobs.insert(*job, LinkedJob::new(None, news));
            state.unread.insert(*job, receiver);
        }
        state
    }

    pub fn is_reached(&self) -> bool {
        self.is_forgotten || (self.facts.is_some() && self.first_pings >= FIRST_PINGS)
    }

    /// Nobody waits for the host any more.
    pub fn is_over(&self) -> bool {
        self.is_leaving || self.lost.is_some()
    }

    /// What messages that arrive now are compared with.
    pub fn arrival(&self, now: Nanos) -> FrameArrival {
        FrameArrival {
            now,
            host: self.offsets.host_time(now),
            received: self.received,
        }
    }

    /// What cannot be sent is sent when the link is back.
    pub fn send(&mut self, request: &Request) {
        if let (Some(_), Request::Ping { sent }) = (&self.to, request) {
            self.intake.asked(*sent);
        }
        if let Some(to) = &mut self.to
            && frame::write(to, request).is_err()
        {
            self.to = None;
        }
    }

    pub fn lose(&mut self, why: &str) {
        self.lost.get_or_insert_with(|| why.to_owned());
        self.lose_jobs(why);
    }

    pub fn lose_jobs(&mut self, why: &str) {
        // A lane whose channel is full reads the end of the channel after what is in it.
        for (_, job) in std::mem::take(&mut self.jobs) {
            let _ = job.news.try_send(LaneNews::Lost(why.to_owned()));
        }
    }

    pub fn end_first_pings(&mut self) {
        self.first_pings = FIRST_PINGS;
    }
}

/// Waits for the lane while its channel is full, without the lock.
pub(super) fn deliver(mut state: MutexGuard<'_, LinkState>, job: JobId, news: LaneNews) {
    let Some(linked) = state.jobs.get(&job) else {
        return;
    };
    let sender = linked.news.clone();
    state.heard.insert(job);
    // It is ending: its run file arrives in parts.
    state.stopped = None;
    let is_last = matches!(
        news,
        LaneNews::Message(LaneMessage::Ended(_)) | LaneNews::Plan(PlanNews::Ended(_))
    );
    if is_last {
        state.jobs.remove(&job);
    }
    drop(state);
    // A lane that is gone needs nothing.
    let _ = sender.blocking_send(news);
}

impl LinkState {
    pub fn kill(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.kill();
        }
    }

    /// Ends the connection; returns what its command wrote to standard error.
    pub fn close(&mut self) -> String {
        self.to = None;
        self.connection
            .take()
            .map_or_else(String::new, |connection| connection.end())
    }

    pub fn why(&mut self, error: &io::Error) -> String {
        let wrote = self.close();
        match error.kind() {
            _ if !wrote.is_empty() => wrote,
            // Of its own accord, or because nothing was heard of it.
            io::ErrorKind::UnexpectedEof => "its command ended without an answer".into(),
            _ => error.to_string(),
        }
    }
}
