//! The controller's side of one host: a worker that is reached again when its link is cut.

mod connection;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod intake;
mod link_state;
mod past;

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use plimsoll_load::clock::{Clock, unix_micros};
use plimsoll_load::probe::ProbeMessage;
use plimsoll_plan::resolved::PlanHost;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneControl;
use plimsoll_record::message::EventKind;
use plimsoll_record::metric::Metric;
use plimsoll_record::{Event, Sample, Severity, SubjectId};
use tokio::sync::{mpsc, watch};

use crate::frame;
use crate::host::{HostCommand, OwnProgram};
use crate::offset::{Offsets, RoundTrip};
use crate::protocol::{
    HostFacts, HostTask, HostTime, JobId, MeetingStart, Request, VERSION, Welcome, WorkerReply,
    WorkerReport, WorkerSample,
};
use crate::state::SessionId;
use connection::{CommandDial, Dial, FromHost, ToHost};
pub use intake::LaneBounds;
pub use link_state::LaneNews;
use link_state::{FIRST_PINGS, LinkState, LinkedJob, REPORTS, deliver};
pub use past::{JournalAnchor, PastJob, PastSession};

/// A link on which nothing was heard for so long is given up, and the host reached anew.
const SILENCE: Nanos = Nanos::from_secs(10);
const PING_EVERY: Nanos = Nanos::SECOND;
const RETRY_EVERY: Nanos = Nanos::from_millis(500);
/// A host that answers gets so long to end what the user stops; one whose link is cut gets none.
const STOP_PATIENCE: Nanos = Nanos::from_secs(10);
/// A job that is stopped because others failed may have servers to end first.
const END_PATIENCE: Nanos = Nanos::from_secs(60);

/// Characters of the reason that a worker itself gives.
const LONGEST_REASON: usize = 1000;

const CUT_AND_STOPPED: &str = "its link is cut, and the run was stopped";
const FORGOTTEN: &str =
    "its session is gone: the host was restarted, or what its worker keeps was removed";

#[derive(Debug, thiserror::Error)]
#[error("the host {host} cannot be reached: {why}")]
pub struct LinkError {
    pub host: String,
    pub why: String,
}

/// One host's worker. Dropped, it ends the worker and waits for that.
pub struct Link {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    host: PlanHost,
    dial: Box<dyn Dial>,
    clock: Clock,
    /// The user's.
    orders: watch::Receiver<LaneControl>,
    /// Where the host's samples go, as those of this subject.
    samples: Mutex<Sender<ProbeMessage>>,
    subject: SubjectId,
    /// Of disks whose samples are wanted.
    disks: Mutex<BTreeMap<String, SubjectId>>,
    past: Option<PastSession>,
    state: Mutex<LinkState>,
    changed: Condvar,
}

/// A host that is to be reached.
pub struct HostTarget {
    pub host: PlanHost,
    pub session: SessionId,
    /// What its samples belong to.
    pub subject: SubjectId,
    pub samples: Sender<ProbeMessage>,
    /// Of a run that is joined: nothing is begun there, and the worker is not ended with the link.
    pub past: Option<PastSession>,
    /// The user's: an order to stop is not delayed by a host that does not answer.
    pub orders: watch::Receiver<LaneControl>,
}

/// Why a host was not reached.
enum Unreached {
    /// It may be reached later.
    Now(String),
    /// Another try would change nothing.
    Ever(String),
    /// The known session no longer exists.
    Forgotten,
}

impl Link {
    /// Begins to reach the host, which [`Self::reached_within`] waits for.
    pub fn begin(target: HostTarget, own: OwnProgram, clock: Clock) -> io::Result<Self> {
        let dial = CommandDial {
            host: HostCommand(target.host.clone()),
            own,
            session: target.session.clone(),
        };
        Self::begin_with(target, Box::new(dial), clock)
    }

    fn begin_with(target: HostTarget, dial: Box<dyn Dial>, clock: Clock) -> io::Result<Self> {
        // Dropped where a thread fails to start, it ends the other one.
        let mut link = Self {
            shared: Arc::new(Shared::new(target, dial, clock)),
            threads: Vec::new(),
        };
        link.spawn("plimsoll-link", Shared::follow)?;
        link.spawn("plimsoll-ping", Shared::ping)?;
        Ok(link)
    }

    fn spawn(&mut self, name: &str, work: fn(&Shared)) -> io::Result<()> {
        let own = self.shared.clone();
        let thread = std::thread::Builder::new().name(name.into());
        self.threads.push(thread.spawn(move || work(&own))?);
        Ok(())
    }

    /// Whether the worker runs and its clock is known, or why that failed; `None`: neither in this time.
    pub fn reached_within(&self, time: Nanos) -> Option<Result<(), LinkError>> {
        let until = self.shared.clock.now() + time;
        let mut state = self.shared.state();
        loop {
            if state.is_reached() {
                return Some(Ok(()));
            }
            if let Some(why) = state.lost.clone() {
                let host = self.host().name.clone();
                return Some(Err(LinkError { host, why }));
            }
            let left = until.saturating_sub(self.shared.clock.now());
            if left == Nanos::ZERO {
                return None;
            }
            state = self.shared.wait(state, left);
        }
    }

    pub fn host(&self) -> &PlanHost {
        &self.shared.host
    }

    pub fn facts(&self) -> Option<HostFacts> {
        self.shared.state().facts.clone()
    }

    /// Whether there is no link to the host now.
    pub fn is_cut(&self) -> bool {
        self.shared.state().to.is_none()
    }

    /// Nothing more is heard of this job.
    pub fn forget(&self, job: JobId) {
        self.shared.state().jobs.remove(&job);
    }

    /// From now on, samples of these disks of its are passed on.
    pub fn watch_disks(&self, disks: BTreeMap<String, SubjectId>) {
        *lock(&self.shared.disks) = disks;
        self.shared.state().send(&Request::WatchDisks);
    }

    pub fn offsets(&self) -> Offsets {
        self.shared.state().offsets.clone()
    }

    /// `None` before the first answer.
    pub fn anchor(&self) -> Option<JournalAnchor> {
        let state = self.shared.state();
        let now = self.shared.clock.now();
        let host = state.offsets.host_time(now)?;
        let ahead = i128::from(host.0) - i128::from(now.0);
        Some(JournalAnchor {
            incarnation: state.intake.incarnation?,
            received: state.received,
            ahead: i64::try_from(ahead).ok()?,
        })
    }

    /// What a job of the past reported, once.
    pub fn past_job(&self, job: JobId) -> Option<mpsc::Receiver<LaneNews>> {
        self.shared.state().unread.remove(&job)
    }

    /// Whether the session has reported of a job.
    pub fn has_heard_of(&self, job: JobId) -> bool {
        self.shared.state().heard.contains(&job)
    }

    /// A time of a session of the past, on the timeline of its run.
    pub fn past_time(&self, host: Nanos) -> Option<Nanos> {
        self.shared.past.as_ref()?.run_time(host)
    }

    /// Whether all that the session had reported when it was reached has been read, or is lost.
    pub fn has_read_backlog(&self) -> bool {
        let state = self.shared.state();
        let is_read = state.backlog.is_some_and(|all| state.received >= all);
        is_read || state.lost.is_some()
    }

    /// Ends a worker of the past and removes its journal. The link is over with it.
    pub fn leave(&self) {
        let mut state = self.shared.state();
        state.is_leaving = true;
        state.send(&Request::Leave);
    }

    /// Runs a job there: a lane's part, which starts at [`Self::start`], or a plan, which goes on at [`Self::meet`].
    pub fn run(&self, job: JobId, task: HostTask) -> mpsc::Receiver<LaneNews> {
        let (news, receiver) = mpsc::channel(REPORTS);
        let mut state = self.shared.state();
        if let Some(why) = &state.lost {
            // The channel is new and empty.
            let _ = news.try_send(LaneNews::Lost(why.clone()));
            return receiver;
        }
        state.intake.begin(job, &task);
        let linked = LinkedJob::new(Some(task), news);
        let requests = linked.requests(job);
        requests.iter().for_each(|request| state.send(request));
        state.jobs.insert(job, linked);
        receiver
    }

    /// At this time of the controller's clock.
    pub fn start(&self, job: JobId, at: Nanos) {
        let mut state = self.shared.state();
        let at = state.offsets.host_time(at);
        if let Some(at) = at
            && let Some(linked) = state.jobs.get_mut(&job)
        {
            linked.start = Some(at);
            state.intake.start(job, at);
            state.send(&Request::Start { job, at });
        }
    }

    /// At this time of the controller's clock.
    pub fn meet(&self, job: JobId, number: u32, at: Nanos) {
        let mut state = self.shared.state();
        let at = state.offsets.host_time(at);
        if let Some(at) = at
            && let Some(linked) = state.jobs.get_mut(&job)
        {
            let meeting = MeetingStart { number, at };
            linked.meeting = Some(meeting);
            state.send(&Request::Meet { job, meeting });
        }
    }

    pub fn order(&self, job: JobId, order: LaneControl) {
        let mut state = self.shared.state();
        if let Some(linked) = state.jobs.get_mut(&job) {
            linked.order = order.max(linked.order);
            let order = linked.order;
            if order == LaneControl::Stop {
                let patience = self.shared.host.patience.max(END_PATIENCE);
                let by = self.shared.clock.now() + patience;
                linked.stops_by.get_or_insert(by);
            }
            state.send(&Request::Order { job, order });
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.is_leaving = true;
        if self.shared.past.is_none() {
            state.send(&Request::Leave);
        }
        // The first answer is no longer needed.
        if state.facts.is_none() {
            state.kill();
        }
        // A reader that waits for room is let go.
        state.unread.clear();
        // The worker ends, and with it the connection, which ends the reader.
        state.to = None;
        drop(state);
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A panic has been printed.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn new(target: HostTarget, dial: Box<dyn Dial>, clock: Clock) -> Self {
        let past = target.past;
        let state = past.as_ref().map(LinkState::of_past).unwrap_or_default();
        Self {
            host: target.host,
            dial,
            clock,
            orders: target.orders,
            samples: Mutex::new(target.samples),
            subject: target.subject,
            disks: Mutex::default(),
            past,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        lock(&self.state)
    }

    /// Waits for a change or this long.
    fn wait<'a>(&self, state: MutexGuard<'a, LinkState>, time: Nanos) -> MutexGuard<'a, LinkState> {
        let waited = self.changed.wait_timeout(state, time.into());
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Reaches the host, reads, and reaches it again, until the link is over.
    fn follow(&self) {
        let mut from = match self.reach() {
            Ok(from) => from,
            Err(why) => {
                self.fail_to_reach(why);
                return self.changed.notify_all();
            }
        };
        loop {
            self.read(&mut from);
            match self.reach_again() {
                Some(again) => from = again,
                None => return self.changed.notify_all(),
            }
        }
    }

    /// The first time: another try is the user's affair.
    fn fail_to_reach(&self, why: Unreached) {
        let mut state = self.state();
        match why {
            Unreached::Forgotten if self.past.is_some() => {
                state.is_forgotten = true;
                state.backlog = Some(0);
            }
            Unreached::Forgotten => state.lose(FORGOTTEN),
            Unreached::Now(why) | Unreached::Ever(why) => state.lose(&why),
        }
    }

    /// Starts the host's command and greets the worker.
    fn reach(&self) -> Result<FromHost, Unreached> {
        let begun = self.dial.begin();
        let (connection, mut ends) = begun.map_err(|error| Unreached::Now(error.to_string()))?;
        // Killed by the pinger when it takes too long, the first time only by whoever waits for it.
        let mut state = self.state();
        state.last_heard = self.clock.now();
        state.connection = Some(connection);
        if state.is_over() {
            state.kill();
        }
        let hello = Request::Hello {
            version: VERSION,
            incarnation: state.intake.incarnation,
            received: state.received,
            patience: self.host.patience,
        };
        drop(state);
        let welcomed = self.dial.greet(&mut ends).and_then(|()| ends.hello(&hello));
        let mut state = self.state();
        state.last_heard = self.clock.now();
        let why = match welcomed {
            Ok(WorkerReply::Welcome(welcome)) => {
                let received = state.received;
                match state.intake.welcome(&welcome, received) {
                    Ok(()) => {
                        self.welcome(&mut state, welcome, ends.to);
                        return Ok(ends.from);
                    }
                    Err(why) => Unreached::Ever(why),
                }
            }
            Ok(WorkerReply::Forgotten) => Unreached::Forgotten,
            Ok(WorkerReply::Refused { why }) => {
                Unreached::Ever(why.chars().take(LONGEST_REASON).collect())
            }
            Ok(_) => {
                Unreached::Ever("it answers with something else than a worker's welcome".into())
            }
            Err(error) => return Err(Unreached::Now(state.why(&error))),
        };
        state.close();
        Err(why)
    }

    fn welcome(&self, state: &mut LinkState, welcome: Welcome, to: ToHost) {
        state.retries.welcomed = self.clock.now();
        state.facts.get_or_insert(welcome.facts);
        state.to = Some(to);
        state.backlog.get_or_insert(welcome.reports);
        if !welcome.is_running {
            state.last_report = Some(welcome.reports);
        }
        let jobs: Vec<Request> = state
            .jobs
            .iter()
            .flat_map(|(job, linked)| linked.requests(*job))
            .collect();
        jobs.iter().for_each(|request| state.send(request));
        if !lock(&self.disks).is_empty() {
            state.send(&Request::WatchDisks);
        }
        if self.past.is_some() {
            // Its reports may come before the answers, and wait to be read.
            state.end_first_pings();
        } else {
            state.first_pings = 0;
        }
        let sent = self.clock.now();
        state.send(&Request::Ping { sent });
        self.report_cut(state.cut.take(), sent);
        if state.is_leaving && self.past.is_none() {
            state.send(&Request::Leave);
        }
        self.changed.notify_all();
    }

    /// Until the connection ends.
    fn read(&self, from: &mut impl io::Read) {
        loop {
            let reply = match frame::read::<WorkerReply>(from) {
                Ok(Some(reply)) => reply,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    let why = format!("what its worker sends cannot be read: {error}");
                    return self.state().lose(&why);
                }
                Ok(None) | Err(_) => return,
            };
            let mut state = self.state();
            state.last_heard = self.clock.now();
            if state.last_report.is_some_and(|last| state.received >= last) {
                const ENDED: &str = "its worker has ended";
                match &self.past {
                    // It is still to be left.
                    Some(_) => state.lose_jobs(ENDED),
                    None => return state.lose(ENDED),
                }
            }
            let arrival = state.arrival(state.last_heard);
            if let Err(why) = state.intake.reply(&reply, arrival) {
                return state.lose(&why);
            }
            match reply {
                WorkerReply::Pong { sent, clock } => self.pong(&mut state, sent, clock),
                WorkerReply::Numbered { report, .. } => {
                    state.received += 1;
                    self.pass_on(state, report);
                }
                WorkerReply::Refused { why } => return state.lose(&why),
                WorkerReply::Forgotten => return state.lose(FORGOTTEN),
                // Refused by the intake.
                WorkerReply::Welcome(_) => {}
            }
        }
    }

    fn pong(&self, state: &mut LinkState, sent: Nanos, host: HostTime) {
        // The clock of a session that has ended is not the one of its reports.
        if state.last_report.is_none() {
            state.offsets.add(RoundTrip {
                sent,
                arrived: self.clock.now(),
                date: unix_micros(),
                host,
            });
        }
        if state.first_pings < FIRST_PINGS {
            state.first_pings += 1;
            let sent = self.clock.now();
            state.send(&Request::Ping { sent });
            self.changed.notify_all();
        }
    }

    fn pass_on(&self, state: MutexGuard<'_, LinkState>, report: WorkerReport) {
        match report {
            WorkerReport::Ready { job } => deliver(state, job, LaneNews::Ready),
            WorkerReport::Lane { job, message } => deliver(state, job, LaneNews::Message(message)),
            WorkerReport::Plan { job, news } => deliver(state, job, LaneNews::Plan(news)),
            WorkerReport::Samples(samples) => self.record(&state.offsets, samples),
        }
    }

    fn record(&self, offsets: &Offsets, samples: Vec<WorkerSample>) {
        let disks = lock(&self.disks);
        let of_subject = samples.into_iter().filter_map(|sample| {
            let metric = Metric::parse(&sample.metric)?;
            let at = match &self.past {
                Some(past) => past.sample_time(sample.at)?,
                None => offsets.controller_time(sample.at)?,
            };
            let subject = match &sample.disk {
                Some(disk) => *disks.get(disk)?,
                None => self.subject,
            };
            let WorkerSample { over, value, .. } = sample;
            Some((subject, metric, Sample { at, over, value }))
        });
        self.to_controller(ProbeMessage::Samples(of_subject.collect()));
    }

    /// A cut that is over; one that is not is the end of its lanes, which they report.
    fn report_cut(&self, from: Option<Nanos>, to: Nanos) {
        // A link to a session of the past is on no run's timeline.
        let Some(from) = from.filter(|_| self.past.is_none()) else {
            return;
        };
        let kind = EventKind::LinkCut {
            host: self.host.name.clone(),
            seconds: to.saturating_sub(from).as_secs_f64(),
        };
        self.to_controller(ProbeMessage::Event(Event {
            at: from,
            subject: Some(self.subject),
            severity: Severity::Warning,
            kind,
        }));
    }

    fn to_controller(&self, message: ProbeMessage) {
        // The run is over.
        let _ = lock(&self.samples).send(message);
    }

    /// After a cut; `None` when the link is over.
    fn reach_again(&self) -> Option<connection::FromHost> {
        let noticed = self.clock.now();
        let mut state = self.state();
        let from = state.last_heard;
        let mut why = state.close();
        if state.is_over() {
            let lost = state.lost.clone().unwrap_or_default();
            state.lose(&lost);
            return None;
        }
        state.cut.get_or_insert(from);
        let retry = state.retries.after_cut(noticed, self.host.patience);
        let mut pauses = !retry.is_first;
        loop {
            if pauses {
                state = self.wait(state, RETRY_EVERY);
            }
            pauses = true;
            if self.is_stopped() {
                state.lose(CUT_AND_STOPPED);
            }
            if state.is_over() {
                return None;
            }
            if self.clock.now() >= retry.until {
                break;
            }
            drop(state);
            let reached = self.reach();
            state = self.state();
            match reached {
                Ok(again) => return Some(again),
                Err(Unreached::Now(error)) => why = error,
                Err(Unreached::Ever(why)) => {
                    state.lose(&why);
                    return None;
                }
                Err(Unreached::Forgotten) => {
                    state.lose(FORGOTTEN);
                    return None;
                }
            }
        }
        state.lose(&format!(
            "its link was cut, and it was not reached again: {why}"
        ));
        None
    }

    fn ping(&self) {
        let mut state = self.state();
        loop {
            state = self.wait(state, PING_EVERY);
            if state.is_leaving || (state.lost.is_some() && state.jobs.is_empty()) {
                break;
            }
            let now = self.clock.now();
            self.give_up_jobs(&mut state, now);
            // How long a first answer takes is the host's affair: it may be copying the program.
            if state.facts.is_none() {
                continue;
            }
            if now > state.last_heard + SILENCE {
                state.kill();
            } else {
                state.send(&Request::Ping { sent: now });
            }
        }
        // The worker answers the farewell by ending, unless it cannot be reached.
        let until = self.clock.now() + SILENCE;
        while state.connection.is_some() && self.clock.now() < until {
            state = self.wait(state, RETRY_EVERY);
            if self.is_stopped() {
                break;
            }
        }
        state.kill();
    }

    fn is_stopped(&self) -> bool {
        *self.orders.borrow() == LaneControl::Stop
    }

    /// What a host does not end in time is waited for no longer.
    fn give_up_jobs(&self, state: &mut LinkState, now: Nanos) {
        if state.jobs.is_empty() {
            return;
        }
        let is_cut = state.to.is_none();
        // Not of a host whose reports wait because the run file cannot be written.
        let is_heard = !is_cut && now <= state.last_heard + SILENCE;
        let host = state.offsets.host_time(now).filter(|_| is_heard);
        let mut why = host.and_then(|host| state.intake.overdue(host));
        if state
            .jobs
            .values()
            .filter_map(|job| job.stops_by)
            .any(|by| now > by)
        {
            why = Some("it did not end what it was to stop");
        }
        if self.is_stopped() {
            let since = *state.stopped.get_or_insert(now);
            if is_cut {
                why = Some(CUT_AND_STOPPED);
            } else if now > since + STOP_PATIENCE {
                why = Some("it was stopped, and 10 s later had not ended");
            }
        }
        if let Some(why) = why {
            state.lose(why);
            state.kill();
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
