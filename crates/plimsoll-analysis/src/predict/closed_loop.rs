//! A database's closed loop in virtual time: N users, processors, and commits on a drive's model.
//!
//! Throughput is the fixed point X = N / (Z + R(X)); the loop finds it by running, so that queues at the processors, groups
//! of commits and bursts of writes come of the drive's own model at the rate and depth that they themselves make.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::Hash;

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use plimsoll_stats::Draws;

/// The log is written over and over, as the segments of a log are.
const LOG_BYTES: u64 = 64 << 20;
/// Data lie behind it.
const DATA_BYTES: u64 = 1 << 30;
/// Share of pages written that follow the one before, so that they are sequential: fitted, see [`super::calibration`].
const FOLLOWING: f64 = 0.3;
const BLOCK: u64 = 4096;
/// What a commit of the filesystem's journal writes: descriptor, an inode's block, and the block that commits them.
pub(super) const JOURNAL_BYTES: u64 = 3 * BLOCK;
/// A server's pages that are written at once.
const SERVER_BURST: f64 = 16.0;
const WARM: u64 = 500;
const COUNTED: u64 = 10_000;

/// A drive, an array of them or a cluster that answers in virtual time.
pub trait PredictedDrive: Clone {
    /// Identifies a request in flight.
    type Request: Copy + Eq + Hash;

    /// A request arrives `now`; calls come in the order of their times.
    fn submit(&mut self, now: Nanos, op: DriveOp, offset: u64, len: u64) -> Self::Request;

    /// When something happens next, if nothing else is submitted. That need not be an answer.
    fn next_event(&self) -> Option<Nanos>;

    /// The next answer up to a time, `None` where all of them are taken.
    fn advance(&mut self, to: Nanos) -> Option<DriveAnswer<Self::Request>>;
}

/// A request that a drive has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveAnswer<R> {
    pub request: R,
    pub at: Nanos,
}

/// How pages that transactions changed are written back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PageWriting {
    /// By whoever commits, after so many commits, before anybody else may write.
    Checkpoint { commits: f64 },
    /// Beside the load.
    Background,
}

/// Locks that a share of transactions takes one of, from its begin to its commit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LockClass {
    pub share: f64,
    pub locks: u32,
}

/// What a transaction asks for, and of what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LoopSpec {
    pub users: u32,
    pub think_s: f64,
    pub processors: u32,
    /// Means per transaction.
    pub cpu_s: f64,
    pub reads: f64,
    pub pages_written: f64,
    /// Share of transactions that commit writes.
    pub commits: f64,
    pub log_bytes: u64,
    pub page_bytes: u64,
    pub page_writing: PageWriting,
    /// The filesystem's journal commits with the log where its clock went on by so much since.
    pub journal_tick: Option<Nanos>,
    pub locks: Vec<LockClass>,
    /// Time for each request between the database and the drive.
    pub hop_s: f64,
    /// CPU of the drive's emulator for each request, beside it.
    pub emulator_s: f64,
}

/// Means per transaction, of the whole of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LoopTimes {
    pub cpu_s: f64,
    pub read_s: f64,
    pub flush_s: f64,
    pub lock_s: f64,
}

impl LoopTimes {
    pub fn whole_s(&self) -> f64 {
        self.cpu_s + self.read_s + self.flush_s + self.lock_s
    }

    /// Of the whole; who waits for a lock waits for the same parts of another's transaction.
    pub fn cpu_share(&self) -> f64 {
        self.cpu_s / (self.cpu_s + self.read_s + self.flush_s).max(1e-12)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LoopResult {
    pub per_second: f64,
    /// 0 to 1.
    pub cpu_busy: f64,
    pub times: LoopTimes,
    /// Per transaction.
    pub flushes: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LoopStep {
    Begins(usize),
    Computed(usize),
    Read(usize),
    Logged,
    /// A page of the checkpoint that commits wait for.
    Checkpointed,
    Emulated,
}

/// What a commit waits for, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogStep {
    Write(u64),
    Flush,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LoopEvent {
    at: Nanos,
    /// Equal times keep their order.
    number: u64,
    step: LoopStep,
}

#[derive(Debug, Clone, Copy, Default)]
struct LoopUser {
    since: Nanos,
    reads_left: u32,
    commits: bool,
    lock: Option<usize>,
}

/// A lock: whether somebody holds it, and who waits for it.
#[derive(Debug, Clone, Default)]
struct LoopLock {
    held: bool,
    waiting: VecDeque<usize>,
}

/// A mean per transaction, in whole ones: 2.3 gives 2, 2, 3, 2, …
#[derive(Debug, Clone, Copy)]
struct WholeNumbers {
    mean: f64,
    due: f64,
}

impl WholeNumbers {
    fn of(mean: f64) -> Self {
        Self { mean, due: 0.5 }
    }

    fn next(&mut self) -> u32 {
        self.due += self.mean;
        let whole = self.due.floor();
        self.due -= whole;
        whole as u32
    }
}

struct LoopRun<'a, D: PredictedDrive> {
    spec: &'a LoopSpec,
    drive: D,
    /// What goes on when a request is answered. Nobody waits for pages written beside the load.
    waiting: HashMap<D::Request, LoopStep>,
    draws: Draws,
    now: Nanos,
    number: u64,
    events: BinaryHeap<Reverse<LoopEvent>>,
    users: Vec<LoopUser>,
    processors_free: u32,
    for_processor: VecDeque<usize>,
    emulator_waits: u32,
    /// Those of one class after those of another.
    locks: Vec<LoopLock>,
    for_log: Vec<usize>,
    /// Empty while nobody commits.
    in_log: Vec<usize>,
    log_steps: VecDeque<LogStep>,
    log_offset: u64,
    page_offset: u64,
    journal: Option<u64>,
    reads: WholeNumbers,
    pages_due: f64,
    commits_since_checkpoint: f64,
    /// Of the checkpoint that commits wait for.
    pages_in_flight: u64,
    finished: u64,
    counted_from: Nanos,
    busy_s: f64,
    flushes: u64,
    sums: LoopTimes,
}

/// Runs the loop until its means hold. Equal specs on equal drives give equal results.
pub(super) fn run<D: PredictedDrive>(spec: &LoopSpec, drive: D) -> LoopResult {
    let mut run = LoopRun {
        spec,
        drive,
        waiting: HashMap::new(),
        draws: Draws::new(1),
        now: Nanos::ZERO,
        number: 0,
        events: BinaryHeap::new(),
        users: vec![LoopUser::default(); spec.users.max(1) as usize],
        processors_free: spec.processors.max(1),
        for_processor: VecDeque::new(),
        emulator_waits: 0,
        locks: vec![LoopLock::default(); spec.locks.iter().map(|class| class.locks as usize).sum()],
        for_log: Vec::new(),
        in_log: Vec::new(),
        log_steps: VecDeque::new(),
        log_offset: 0,
        page_offset: LOG_BYTES,
        journal: None,
        reads: WholeNumbers::of(spec.reads),
        pages_due: 0.0,
        commits_since_checkpoint: 0.0,
        pages_in_flight: 0,
        finished: 0,
        counted_from: Nanos::ZERO,
        busy_s: 0.0,
        flushes: 0,
        sums: LoopTimes::default(),
    };
    (0..run.users.len()).for_each(|user| run.after(0.0, LoopStep::Begins(user)));
    while run.finished < WARM + COUNTED && run.goes_on() {}
    run.result()
}

fn later(at: Nanos, seconds: f64) -> Nanos {
    Nanos(at.0.saturating_add(Nanos::from_secs_f64(seconds).0))
}

impl<D: PredictedDrive> LoopRun<'_, D> {
    fn at(&mut self, at: Nanos, step: LoopStep) {
        self.number += 1;
        let number = self.number;
        self.events.push(Reverse(LoopEvent { at, number, step }));
    }

    fn after(&mut self, seconds: f64, step: LoopStep) {
        self.at(later(self.now, seconds), step);
    }

    /// Whatever comes next, of the drive first. False where nothing would ever come.
    fn goes_on(&mut self) -> bool {
        let own = self.events.peek().map(|Reverse(event)| event.at);
        let awaited = own.is_some() || !self.waiting.is_empty();
        match self.drive.next_event() {
            Some(at) if awaited && own.is_none_or(|own| at <= own) => self.drive_answers(at),
            _ => match self.events.pop() {
                Some(Reverse(event)) => {
                    self.now = event.at;
                    self.step(event.step);
                }
                None => return false,
            },
        }
        true
    }

    fn drive_answers(&mut self, to: Nanos) {
        while let Some(answered) = self.drive.advance(to) {
            if let Some(step) = self.waiting.remove(&answered.request) {
                self.at(later(answered.at, self.spec.hop_s), step);
            }
        }
    }

    fn step(&mut self, step: LoopStep) {
        match step {
            LoopStep::Begins(user) => self.begins(user),
            LoopStep::Computed(user) => self.computed(user),
            LoopStep::Read(user) => self.reads_on(user),
            LoopStep::Logged => self.logs_on(),
            LoopStep::Checkpointed => self.checkpoints_on(),
            LoopStep::Emulated => self.frees_processor(),
        }
    }

    fn begins(&mut self, user: usize) {
        let lock = self.draws_lock();
        let commits = lock.is_some() || self.draws.uniform() < self.commits_without_lock();
        self.users[user] = LoopUser {
            since: self.now,
            reads_left: self.reads.next(),
            commits,
            lock,
        };
        match lock.map(|lock| &mut self.locks[lock]) {
            Some(lock) if lock.held => lock.waiting.push_back(user),
            Some(lock) => {
                lock.held = true;
                self.computes(user);
            }
            None => self.computes(user),
        }
    }

    fn draws_lock(&mut self) -> Option<usize> {
        let mut drawn = self.draws.uniform();
        let mut first = 0;
        for class in &self.spec.locks {
            if drawn < class.share {
                return Some(first + self.draws.below(class.locks.max(1) as usize));
            }
            drawn -= class.share;
            first += class.locks as usize;
        }
        None
    }

    /// Of the transactions that take no lock, the share that commits.
    fn commits_without_lock(&self) -> f64 {
        let locked: f64 = self.spec.locks.iter().map(|class| class.share).sum();
        ((self.spec.commits - locked) / (1.0 - locked).max(1e-9)).clamp(0.0, 1.0)
    }

    fn unlocks(&mut self, user: usize) {
        let Some(lock) = self.users[user].lock.map(|lock| &mut self.locks[lock]) else {
            return;
        };
        match lock.waiting.pop_front() {
            Some(next) => self.computes(next),
            None => lock.held = false,
        }
    }

    /// The time since the last part ended.
    fn part(&mut self, user: usize) -> f64 {
        let spent = self.now.saturating_sub(self.users[user].since);
        self.users[user].since = self.now;
        spent.as_secs_f64()
    }

    fn computes(&mut self, user: usize) {
        self.sums.lock_s += self.part(user);
        if self.processors_free == 0 {
            self.for_processor.push_back(user);
        } else {
            self.processors_free -= 1;
            self.takes_processor(user);
        }
    }

    fn takes_processor(&mut self, user: usize) {
        // Types of transactions differ as much as an exponential distribution does.
        let seconds = -self.spec.cpu_s * self.draws.uniform().ln();
        self.busy_s += seconds;
        self.after(seconds, LoopStep::Computed(user));
    }

    fn computed(&mut self, user: usize) {
        self.sums.cpu_s += self.part(user);
        self.frees_processor();
        self.reads_on(user);
    }

    fn frees_processor(&mut self) {
        self.processors_free += 1;
        // The emulator has real-time priority.
        if self.emulator_waits > 0 {
            self.emulator_waits -= 1;
            self.emulates();
        } else if let Some(next) = self.for_processor.pop_front() {
            self.processors_free -= 1;
            self.takes_processor(next);
        }
    }

    fn emulates(&mut self) {
        if self.processors_free == 0 {
            self.emulator_waits += 1;
        } else {
            self.processors_free -= 1;
            self.busy_s += self.spec.emulator_s;
            self.after(self.spec.emulator_s, LoopStep::Emulated);
        }
    }

    /// Sends a request, and goes on with `then` when it is answered.
    fn request(&mut self, op: DriveOp, offset: u64, len: u64, then: Option<LoopStep>) {
        if self.spec.emulator_s > 0.0 {
            self.emulates();
        }
        let request = self.drive.submit(self.now, op, offset, len);
        if let Some(then) = then {
            self.waiting.insert(request, then);
        }
    }

    fn reads_on(&mut self, user: usize) {
        if self.users[user].reads_left > 0 {
            self.users[user].reads_left -= 1;
            return self.page(DriveOp::Read, Some(LoopStep::Read(user)));
        }
        self.sums.read_s += self.part(user);
        if self.users[user].commits {
            self.for_log.push(user);
            self.begins_log();
        } else {
            self.ends(user);
        }
    }

    fn page(&mut self, op: DriveOp, then: Option<LoopStep>) {
        let page = self.spec.page_bytes.max(512);
        let follows = op == DriveOp::Write && self.draws.uniform() < FOLLOWING;
        self.page_offset = if follows {
            self.page_offset + page
        } else {
            LOG_BYTES + self.draws.below((DATA_BYTES / page) as usize) as u64 * page
        };
        self.request(op, self.page_offset, page, then);
    }

    fn begins_log(&mut self) {
        if !self.in_log.is_empty() || self.for_log.is_empty() {
            return;
        }
        self.in_log = std::mem::take(&mut self.for_log);
        let len = (self.spec.log_bytes * self.in_log.len() as u64).max(512);
        self.log_steps.push_back(LogStep::Write(len));
        if self.journal_commits() {
            // Its blocks, and between two flushes the block that commits them (jbd2 without FUA).
            let journal = [
                LogStep::Write(JOURNAL_BYTES - BLOCK),
                LogStep::Flush,
                LogStep::Write(BLOCK),
            ];
            self.log_steps.extend(journal);
        }
        self.log_steps.push_back(LogStep::Flush);
        self.logs_on();
    }

    fn journal_commits(&mut self) -> bool {
        let Some(tick) = self.spec.journal_tick else {
            return false;
        };
        let now = Some(self.now.0 / tick.0.max(1));
        let before = std::mem::replace(&mut self.journal, now);
        before != now
    }

    fn logs_on(&mut self) {
        if let Some(step) = self.log_steps.pop_front() {
            let then = Some(LoopStep::Logged);
            return match step {
                LogStep::Write(len) => {
                    self.log_offset = (self.log_offset + len) % LOG_BYTES;
                    self.request(DriveOp::Write, self.log_offset, len, then);
                }
                LogStep::Flush => {
                    self.flushes += 1;
                    self.request(DriveOp::Flush, 0, 0, then);
                }
            };
        }
        if self.begins_checkpoint() {
            return;
        }
        for user in std::mem::take(&mut self.in_log) {
            self.sums.flush_s += self.part(user);
            self.ends(user);
        }
        self.begins_log();
    }

    /// Whether a checkpoint was due and writes its pages now.
    fn begins_checkpoint(&mut self) -> bool {
        let PageWriting::Checkpoint { commits } = self.spec.page_writing else {
            return false;
        };
        self.commits_since_checkpoint += self.in_log.len() as f64;
        if self.commits_since_checkpoint < commits {
            return false;
        }
        // Its own flush comes by here once more.
        self.commits_since_checkpoint = -(self.in_log.len() as f64);
        self.pages_in_flight = self.writes_pages(Some(LoopStep::Checkpointed));
        self.pages_in_flight > 0
    }

    fn checkpoints_on(&mut self) {
        self.pages_in_flight -= 1;
        if self.pages_in_flight == 0 {
            self.log_steps.push_back(LogStep::Flush);
            self.logs_on();
        }
    }

    /// How many.
    fn writes_pages(&mut self, then: Option<LoopStep>) -> u64 {
        let pages = self.pages_due.floor();
        self.pages_due -= pages;
        (0..pages as u64).for_each(|_| self.page(DriveOp::Write, then));
        pages as u64
    }

    fn ends(&mut self, user: usize) {
        self.finished += 1;
        self.pages_due += self.spec.pages_written;
        if self.spec.page_writing == PageWriting::Background && self.pages_due >= SERVER_BURST {
            self.writes_pages(None);
        }
        self.unlocks(user);
        if self.finished == WARM {
            self.counted_from = self.now;
            self.busy_s = 0.0;
            self.flushes = 0;
            self.sums = LoopTimes::default();
        }
        self.after(self.spec.think_s, LoopStep::Begins(user));
    }

    fn result(&self) -> LoopResult {
        let span = self.now.saturating_sub(self.counted_from).as_secs_f64();
        let n = self.finished.saturating_sub(WARM).max(1) as f64;
        LoopResult {
            per_second: n / span.max(1e-9),
            cpu_busy: self.busy_s / span.max(1e-9) / f64::from(self.spec.processors.max(1)),
            flushes: self.flushes as f64 / n,
            times: LoopTimes {
                cpu_s: self.sums.cpu_s / n,
                read_s: self.sums.read_s / n,
                flush_s: self.sums.flush_s / n,
                lock_s: self.sums.lock_s / n,
            },
        }
    }
}

#[cfg(test)]
mod tests;
