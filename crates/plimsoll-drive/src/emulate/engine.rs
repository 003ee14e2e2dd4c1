//! Asks the model when each request is answered, and answers then.
//!
//! At a request's arrival everything is done: data, model, undo log. Its answer is held back until it is due.

mod member_changes;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::{DriveOp, DriveSecond};
use rustix::io::Errno;

use super::acknowledged::{Acknowledged, Covered};
use super::answer_time::{AnswerTime, answer_time};
use super::awake::Awake;
use super::buffers::{Buffer, Buffers};
use super::clock;
use super::costs::{AnswerCost, Costs, Traffic};
use super::feedback::ModelTime;
use super::held_answers::HeldAnswers;
use super::member_work::{DrivePower, MemberWork};
use super::protocol::Lost;
use super::recorder::{Recorder, TimePercentiles};
use super::request_log::RequestLog;
use super::store::Store;
use super::undo::UndoLog;
use super::wire::{Reply, RequestArrival};
use crate::model::{Completion, Op, Storage};
use crate::requests::{LoggedRequest, RequestTimes};
use crate::storage_model::StorageModel;

/// What came of a request's work on the data.
#[derive(Default)]
pub struct Done {
    pub data: Buffer,
    /// The write's number in the undo log.
    pub undo: Option<u64>,
    /// What the flush makes durable.
    pub flush: Option<Covered>,
}

/// How long requests take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// Answered as fast as possible, and not counted.
    Off,
    /// For calibration: this long, with nothing subtracted.
    Fixed(Nanos),
    Model,
}

/// A request, with what the drive does for it beside it.
#[derive(Debug, Clone, Copy)]
struct AskedRequest {
    /// Of the requests that the model was asked about.
    number: u64,
    op: Op,
    /// As [`Engine::ask_with`] has it.
    more: Option<Op>,
}

/// What became of a request, with the times at which writing its answer began and ended.
struct Answered {
    asked: AskedRequest,
    arrived: Nanos,
    modelled: Nanos,
    begins: Nanos,
    ends: Nanos,
    /// What asking and answering cost, once that is known.
    cost: Option<AnswerCost>,
}

struct Pending {
    asked: AskedRequest,
    arrived: Nanos,
    modelled: Nanos,
    undo: Option<u64>,
    flush: Option<Covered>,
    data: Buffer,
    reply: Reply,
}

struct EngineState {
    model: StorageModel,
    timing: Timing,
    has_power: bool,
    /// More members failed than it can do without.
    has_lost_data: bool,
    members: MemberWork,
    undo: Option<UndoLog>,
    /// Requests that the model was asked about.
    asked: u64,
}

pub struct Engine {
    state: Mutex<EngineState>,
    /// Times come from completions, which have to be asked for.
    has_array: bool,
    /// The model's time 0.
    origin: Nanos,
    /// What asking and answering cost, once that is known.
    costs: OnceLock<Costs>,
    /// When a request last arrived or was answered.
    last_activity: AtomicU64,
    last_answer: AtomicU64,
    /// The mean time between answers of late, in nanoseconds.
    gap: AtomicU64,
    /// Reads and writes that were timed by the model, and their time.
    modelled: AtomicU64,
    modelled_time: AtomicU64,
    /// How much more than calibrated answers cost, in nanoseconds.
    correction: AtomicI64,
    /// The thread that answers goes before those of other programs.
    goes_first: AtomicBool,
    /// Held back until they are due.
    pending: Mutex<HeldAnswers<Pending>>,
    has_ended: AtomicBool,
    /// Nanoseconds for which there was something to do.
    busy: AtomicU64,
    recorder: Mutex<Recorder>,
    requests: Option<Mutex<RequestLog>>,
    pub buffers: Buffers,
    awake: Awake,
    /// Taken from the timer and not answered yet.
    leaving: AtomicU64,
    acknowledged: Arc<Acknowledged>,
}

/// As the drive does them: a flush comes after what it makes durable.
fn in_order(op: Op, more: Option<Op>) -> [Option<Op>; 2] {
    if more.is_some_and(|more| more.kind == DriveOp::Flush) {
        [Some(op), more]
    } else {
        [more, Some(op)]
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Without timing at first.
    pub fn new(mut model: StorageModel, undo: Option<UndoLog>) -> Self {
        let now = clock::now();
        if let Some(array) = model.assembled_mut() {
            array.announce();
        }
        let acknowledged = undo.as_ref().map(UndoLog::acknowledged).unwrap_or_default();
        Self {
            acknowledged,
            has_array: model.assembled().is_some(),
            state: Mutex::new(EngineState {
                model,
                timing: Timing::Off,
                has_power: true,
                has_lost_data: false,
                members: MemberWork::default(),
                undo,
                asked: 0,
            }),
            origin: now,
            costs: OnceLock::new(),
            last_activity: AtomicU64::new(0),
            last_answer: AtomicU64::new(0),
            gap: AtomicU64::new(Nanos::SECOND.0),
            modelled: AtomicU64::new(0),
            modelled_time: AtomicU64::new(0),
            correction: AtomicI64::new(0),
            goes_first: AtomicBool::new(false),
            pending: Mutex::default(),
            has_ended: AtomicBool::new(false),
            busy: AtomicU64::new(0),
            recorder: Mutex::new(Recorder::new(now)),
            requests: None,
            buffers: Buffers::default(),
            awake: Awake::new(),
            leaving: AtomicU64::new(0),
        }
    }

    /// Each drive of an array or a cluster.
    #[must_use]
    pub fn with_drives(self, drives: Vec<DrivePower>) -> Self {
        self.state().members = MemberWork::new(drives);
        self
    }

    /// With a log of all requests.
    pub fn with_requests(self, log: Option<RequestLog>) -> Self {
        Self {
            requests: log.map(Mutex::new),
            ..self
        }
    }

    /// Writes the log of requests, if one was asked for. Returns how many requests had no room in it.
    pub fn write_requests(&self, file: &Path) -> std::io::Result<u64> {
        let Some(log) = &self.requests else {
            return Ok(0);
        };
        let mut log = locked(log);
        let file = std::fs::File::create(file)?;
        if let Err(error) = log.write(&file) {
            // Half a log would be taken for a whole one.
            let _ = file.set_len(0);
            return Err(error);
        }
        Ok(log.missed())
    }

    fn state(&self) -> MutexGuard<'_, EngineState> {
        locked(&self.state)
    }

    fn pending(&self) -> MutexGuard<'_, HeldAnswers<Pending>> {
        locked(&self.pending)
    }

    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        locked(&self.recorder)
    }

    /// A request has just arrived: does its work and has it answered when it is due, with EIO while there is no power.
    pub fn ask(
        &self,
        op: Op,
        arrival: RequestArrival,
        work: impl FnOnce(Option<&mut UndoLog>) -> rustix::io::Result<Done>,
    ) {
        self.ask_with(None, op, arrival, work);
    }

    /// As [`Self::ask`]; the drive has to do `more` with it, which no request asked for by itself and which is not counted: a
    /// journal's write before a flush, a flush after a write that has to be durable. It is answered when both are done.
    pub fn ask_with(
        &self,
        more: Option<Op>,
        op: Op,
        arrival: RequestArrival,
        work: impl FnOnce(Option<&mut UndoLog>) -> rustix::io::Result<Done>,
    ) {
        let RequestArrival { at: arrived, reply } = arrival;
        // Held over the work, so that a power cut falls between two requests and never into one.
        let mut state = self.state();
        let done = match state.has_power && !state.has_lost_data {
            true => work(state.undo.as_mut()),
            false => Err(Errno::IO),
        };
        let done = match done {
            Ok(done) => done,
            Err(error) => {
                let counted = state.timing == Timing::Model;
                drop(state);
                reply.fail(error);
                return if counted {
                    self.recorder().failed(op.kind)
                };
            }
        };
        let time = match state.timing {
            Timing::Off => {
                self.acknowledged.writes(done.undo);
                // The power is on.
                let _ = done
                    .flush
                    .clone()
                    .is_none_or(|covered| self.acknowledged.flush(covered));
                drop(state);
                return self.answer_at_once(reply, done, op.len);
            }
            Timing::Fixed(time) => AnswerTime::After(time),
            Timing::Model => {
                state.asked += 1;
                let asked = arrived.saturating_sub(self.origin);
                answer_time(&mut state.model, asked, in_order(op, more))
            }
        };
        let Done { data, undo, flush } = done;
        let asked = AskedRequest {
            number: state.asked,
            op,
            more,
        };
        let answer = Pending {
            asked,
            arrived,
            modelled: Nanos::ZERO,
            undo,
            flush,
            data,
            reply,
        };
        self.last_activity.fetch_max(arrived.0, Ordering::Relaxed);
        // Still under the lock: a power cut finds every write either here or acknowledged.
        match time {
            AnswerTime::After(modelled) => self.hold(arrived + modelled, answer),
            AnswerTime::WhenComplete(request) => {
                self.pending().wait(request, answer);
                self.hold_known(&mut state);
            }
        }
    }

    fn answer_at_once(&self, reply: Reply, done: Done, len: u64) {
        reply.succeed(done.data.data(), len);
        self.buffers.give_back(done.data);
    }

    fn hold(&self, due: Nanos, answer: Pending) {
        let modelled = due.saturating_sub(answer.arrived);
        self.pending().push(due, Pending { modelled, ..answer });
    }

    /// What an array has to do until a time, such as the second phases of its writes.
    fn run_array(&self, until: Nanos) {
        if !self.has_array {
            return;
        }
        let mut state = self.state();
        // Completions were known before.
        while state
            .model
            .advance(until.saturating_sub(self.origin))
            .is_some()
        {}
        self.hold_known(&mut state);
    }

    /// Holds the answers whose times an array has come to know.
    fn hold_known(&self, state: &mut EngineState) {
        let array = state.model.assembled_mut();
        let known: Vec<Completion> = array.map(|own| own.take_known()).unwrap_or_default();
        for done in known {
            let answer = self.pending().complete(done.id);
            if let Some(answer) = answer {
                self.hold(self.origin + done.at, answer);
            }
        }
    }

    /// For the thread that answers.
    pub fn answers(&self) -> Answers<'_> {
        Answers {
            engine: self,
            due: Vec::new(),
            answered: Vec::new(),
        }
    }

    /// When the next answer has to be written, earlier than it is due by what that costs.
    pub fn next_due(&self) -> Option<Nanos> {
        let event = match self.has_array {
            true => self.state().model.next_event(),
            false => None,
        };
        let event = event.map(|at| self.origin + at);
        let (due, in_flight) = {
            let pending = self.pending();
            (pending.timed.next_due(), pending.len())
        };
        let answer = due.map(|due| due.saturating_sub(self.lead(due, in_flight)));
        [event, answer].into_iter().flatten().min()
    }

    fn answer(&self, batch: &mut Vec<Pending>, answered: &mut Vec<Answered>) {
        let in_flight = self.pending().len() + batch.len();
        self.leaving.store(batch.len() as u64, Ordering::Relaxed);
        self.acknowledged
            .writes(batch.iter().filter_map(|pending| pending.undo));
        for Pending {
            asked,
            arrived,
            modelled,
            flush,
            data,
            reply,
            ..
        } in batch.drain(..)
        {
            if flush.is_some_and(|covered| !self.acknowledged.flush(covered)) {
                self.recorder().failed(asked.op.kind);
                reply.fail(Errno::IO);
                continue;
            }
            let begins = clock::now();
            let cost = self.cost_at(begins, in_flight);
            self.note_answer(begins);
            reply.succeed(data.data(), asked.op.len);
            let ends = clock::now();
            answered.push(Answered {
                asked,
                arrived,
                modelled,
                begins,
                ends,
                cost,
            });
            self.last_activity.fetch_max(ends.0, Ordering::Relaxed);
            self.buffers.give_back(data);
        }
        self.leaving.store(0, Ordering::Relaxed);
    }

    /// Counted after the whole batch, so that no answer waits for the lock.
    fn count(&self, answered: &mut Vec<Answered>) {
        let mut recorder = self.recorder();
        let mut requests = self.requests.as_ref().map(locked);
        for answer in answered.drain(..) {
            let op = answer.asked.op;
            let took = answer.ends.saturating_sub(answer.arrived);
            let Some(cost) = answer.cost else {
                // For the calibration: until the answer is written, and with the writing.
                let begun = answer.begins.saturating_sub(answer.arrived);
                recorder.answered(op.kind, op.len, begun, took);
                continue;
            };
            let client = took + cost.around.saturating_sub(cost.writing);
            recorder.answered(op.kind, op.len, answer.modelled, client);
            if matches!(op.kind, DriveOp::Read | DriveOp::Write) {
                self.modelled.fetch_add(1, Ordering::Relaxed);
                self.modelled_time
                    .fetch_add(answer.modelled.0, Ordering::Relaxed);
            }
            if let Some(requests) = &mut requests {
                requests.add(&self.logged(&answer, client));
            }
        }
    }

    fn logged(&self, answer: &Answered, client: Nanos) -> Vec<LoggedRequest> {
        let AskedRequest { number, op, more } = answer.asked;
        let times = RequestTimes {
            modelled: answer.modelled,
            client,
        };
        let parts = in_order(op, more).into_iter().flatten();
        let parts = parts.map(|part| LoggedRequest {
            number,
            arrived: answer.arrived.saturating_sub(self.origin),
            op: part,
            times: (part == op).then_some(times),
        });
        parts.collect()
    }

    /// How long nothing has happened at this time.
    fn quiet_before(&self, at: Nanos) -> Nanos {
        at.saturating_sub(Nanos(self.last_activity.load(Ordering::Relaxed)))
    }

    /// What an answer costs that is written then, among so many.
    fn cost_at(&self, at: Nanos, in_flight: usize) -> Option<AnswerCost> {
        let traffic = Traffic {
            in_flight,
            quiet: self.quiet_before(at),
            gap: Nanos(self.gap.load(Ordering::Relaxed)),
        };
        let correction = self.correction.load(Ordering::Relaxed);
        self.costs
            .get()
            .map(|costs| costs.cost(traffic).corrected(correction))
    }

    /// Reads and writes that were answered with timing so far.
    pub fn modelled(&self) -> ModelTime {
        ModelTime {
            requests: self.modelled.load(Ordering::Relaxed),
            time: Nanos(self.modelled_time.load(Ordering::Relaxed)),
        }
    }

    /// From now on answers count as so many nanoseconds dearer than calibrated, and go out earlier by as much.
    pub fn correct(&self, correction: i64) {
        self.correction.store(correction, Ordering::Relaxed);
    }

    fn note_answer(&self, at: Nanos) {
        let before = self.last_answer.swap(at.0, Ordering::Relaxed);
        let mean = self.gap.load(Ordering::Relaxed);
        let gap = at.0.saturating_sub(before).min(Nanos::SECOND.0);
        // The last sixteen or so count.
        self.gap
            .store(mean - mean / 16 + gap / 16, Ordering::Relaxed);
    }

    /// How much earlier an answer that is due has to be written.
    fn lead(&self, due: Nanos, in_flight: usize) -> Nanos {
        let cost = self.cost_at(due, in_flight).unwrap_or_default();
        cost.around + cost.late
    }

    pub fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// The thread that reads and answers had something to do for so long.
    pub fn worked(&self, time: Nanos) {
        self.busy.fetch_add(time.0, Ordering::Relaxed);
    }

    pub fn set_timing(&self, timing: Timing) {
        self.state().timing = timing;
    }

    pub fn is_timed(&self) -> bool {
        self.state().timing == Timing::Model
    }

    pub fn set_goes_first(&self, first: bool) {
        self.goes_first.store(first, Ordering::Relaxed);
    }

    /// Whether its thread goes before those of other programs.
    pub fn goes_first(&self) -> bool {
        self.goes_first.load(Ordering::Relaxed)
    }

    /// Whether processors are kept from sleeping.
    pub fn keeps_awake(&self) -> bool {
        self.awake.is_granted()
    }

    /// From now on answers go out earlier by what they cost.
    pub fn set_costs(&self, costs: Costs) {
        // Calibrated once, at the start.
        let _ = self.costs.set(costs);
    }

    /// Ends a second of the account.
    pub fn end_second(&self) -> DriveSecond {
        let spare = Box::default();
        let in_flight = self.pending().len() as u64 + self.leaving.load(Ordering::Relaxed);
        let mut second = self.recorder().end_second(clock::now(), in_flight, spare);
        if self.has_array {
            let mut state = self.state();
            let work = state.model.work_by_drive();
            let span = second.to.saturating_sub(second.from);
            let EngineState { model, members, .. } = &mut *state;
            let is_missing = |member| model.assembled().is_some_and(|own| own.is_missing(member));
            second.members = members.end_second(work, is_missing, span);
        }
        let thresholds = TimePercentiles::of(&second);
        self.recorder().compare_with(thresholds);
        second
    }

    /// How long there was something to do so far.
    pub fn busy(&self) -> Nanos {
        Nanos(self.busy.load(Ordering::Relaxed))
    }

    /// The power fails: whatever is in flight gets EIO, and what would not have survived is gone.
    pub fn power_off(&self, store: &Store) -> rustix::io::Result<Lost> {
        let mut state = self.state();
        state.has_power = false;
        let open = self.pending().take_all();
        {
            let mut recorder = self.recorder();
            open.iter()
                .for_each(|pending| recorder.failed(pending.asked.op.kind));
        }
        open.into_iter()
            .for_each(|pending| pending.reply.fail(Errno::IO));
        match &mut state.undo {
            Some(undo) => undo.power_off(store),
            None => Ok(Lost::default()),
        }
    }

    /// What was written until now, by those who set the drive up, has long reached the medium.
    pub fn settle(&self) {
        self.state().undo.iter_mut().for_each(UndoLog::settle);
    }

    pub fn power_on(&self) {
        let mut state = self.state();
        state
            .model
            .power_cycle(clock::now().saturating_sub(self.origin));
        state.has_power = true;
    }

    pub fn read_op(offset: u64, len: u64) -> Op {
        Op {
            kind: DriveOp::Read,
            offset,
            len,
        }
    }

    pub fn write_op(offset: u64, len: u64) -> Op {
        Op {
            kind: DriveOp::Write,
            offset,
            len,
        }
    }

    pub fn flush_op() -> Op {
        Op {
            kind: DriveOp::Flush,
            offset: 0,
            len: 0,
        }
    }
}

/// Sends answers when they are due; keeps its memory between batches.
pub struct Answers<'a> {
    engine: &'a Engine,
    due: Vec<Pending>,
    answered: Vec<Answered>,
}

impl Answers<'_> {
    /// Sends all that are due and returns how many these were.
    pub fn send_due(&mut self, now: Nanos) -> usize {
        let engine = self.engine;
        let in_flight = engine.pending().len();
        engine.run_array(now);
        let mut pending = engine.pending();
        pending
            .timed
            .take_due(now, |due| engine.lead(due, in_flight), &mut self.due);
        drop(pending);
        let count = self.due.len();
        if count > 0 {
            engine.answer(&mut self.due, &mut self.answered);
            engine.count(&mut self.answered);
        }
        count
    }
}
