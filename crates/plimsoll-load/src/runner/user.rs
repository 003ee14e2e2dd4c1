//! One virtual user: takes an intent, carries it out, writes down what became of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_model::lane::{LaneControl, LaneEvent, LaneSpec};
use plimsoll_model::receipt::{Ledger, Place};
use plimsoll_model::units::Nanos;
use tokio::sync::{mpsc, watch};

use super::arrivals::{ArrivalQueue, Intent};
use super::tally::{Notebook, Offered, Outcome, Settled};
use crate::clock::LaneClock;
use crate::engine::{AnySession, Opener};
use crate::error::LoadError;
use crate::session::{Session, SessionError, TxnEnd};
use crate::workload::{Input, Source};

/// A user that fails this often in a row does not measure anything: the lane ends with the last error.
const HOPELESS: u32 = 100;
/// Waits before a lost session is opened again.
const RECONNECT_MS: [u64; 6] = [50, 100, 200, 400, 800, 1_600];

/// What all users of a lane share.
pub struct Shared {
    pub spec: LaneSpec,
    pub clock: LaneClock,
    pub opener: Opener,
    pub arrivals: Option<ArrivalQueue>,
    pub control: watch::Receiver<LaneControl>,
    pub events: mpsc::Sender<LaneEvent>,
    /// No intent starts at or after this time of the lane.
    pub load_end: AtomicU64,
    /// Intents between start and end: counted here by the users themselves, apart from what they write down.
    pub under_way: AtomicU64,
    /// Committed transactions by place, where the power is going to fail.
    pub receipts: Option<Receipts>,
    /// Users take no further intent. A blocking session hears nothing else.
    pub ended: AtomicBool,
}

impl Shared {
    pub fn load_end(&self) -> Nanos {
        Nanos(self.load_end.load(Ordering::Acquire))
    }

    fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Told once per kind of trouble and user: the figures count each, the events explain.
    fn tell(&self, code: &str, text: String) {
        // A full channel means that trouble is abundantly told already; nothing is lost from the counts.
        let _ = self.events.try_send(LaneEvent { at: self.clock.now(), code: code.into(), text });
    }

    /// Waits until `due`, or until the lane is told to end. False in the latter case.
    ///
    /// Exact to some ten microseconds: what a user wakes too late would show as response time of an idle system.
    async fn wait_until(&self, control: &mut watch::Receiver<LaneControl>, due: Nanos) -> bool {
        if self.clock.now() >= due {
            return *control.borrow() == LaneControl::Run;
        }
        tokio::select! {
            biased;
            // An error means that the lane is gone, which ends the wait as well.
            _ = control.wait_for(|order| *order != LaneControl::Run) => false,
            () = self.clock.sleep_exactly_until(due) => true,
        }
    }
}

/// What clients saw committed before the power failed. Only a lane that ends with a power cut has one.
#[derive(Debug)]
pub struct Receipts {
    until: Nanos,
    counts: Mutex<BTreeMap<Place, u64>>,
}

impl Receipts {
    pub fn new(until: Nanos) -> Self {
        Self { until, counts: Mutex::default() }
    }

    /// What ends later was not acknowledged in time: nobody can tell whether the database still had power.
    fn note(&self, input: &Input, ended: Nanos) {
        if let Some(place) = input.place().filter(|_| ended < self.until) {
            *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(place).or_default() += 1;
        }
    }

    pub fn ledger(&self) -> Ledger {
        Ledger::from_counts(self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

pub struct User {
    shared: Arc<Shared>,
    notebook: Arc<Notebook>,
    control: watch::Receiver<LaneControl>,
    number: u32,
    session: AnySession,
    source: Source,
    /// Think time that the transaction before leaves to this one's keying (clause 5.2.5.4).
    think: Nanos,
    failures_in_a_row: u32,
    failures_told: u32,
}

/// An intent between its start and its end. Dropped unsettled (the lane was stopped), it is written down as failed: no
/// outcome disappears.
struct UnderWay<'a> {
    shared: &'a Shared,
    notebook: &'a Notebook,
    txn: u8,
    due: Nanos,
    start: Nanos,
}

impl<'a> UnderWay<'a> {
    fn new(shared: &'a Shared, notebook: &'a Notebook, txn: u8, due: Nanos, start: Nanos) -> Self {
        shared.under_way.fetch_add(1, Ordering::AcqRel);
        Self { shared, notebook, txn, due, start }
    }

    fn settle(self, settled: Settled, retries: u16, round_trips: u32) {
        self.write(settled, retries, round_trips);
        std::mem::forget(self);
    }

    fn write(&self, settled: Settled, retries: u16, round_trips: u32) {
        let Self { shared, notebook, txn, due, start } = *self;
        notebook.settled(Outcome { txn, settled, retries, round_trips, due, start, end: shared.clock.now() });
        shared.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.write(Settled::Failed, 0, 0);
    }
}

/// An intent of the open loop that a user waits for. Given up after it became due, it counts as offered and dropped.
struct Reserved<'a> {
    shared: &'a Shared,
    notebook: &'a Notebook,
    txn: u8,
    due: Nanos,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let Self { shared, notebook, txn, due } = *self;
        let now = shared.clock.now();
        if due <= now {
            notebook.offered(Offered { txn, due });
            let settled = Settled::Dropped;
            notebook.settled(Outcome { txn, settled, retries: 0, round_trips: 0, due, start: now, end: now });
        }
    }
}

/// The result of all attempts at one intent.
struct Attempts {
    settled: Settled,
    retries: u16,
    trouble: Option<SessionError>,
}

async fn attempt(shared: &Shared, session: &mut AnySession, input: &Input) -> Attempts {
    let mut retries = 0;
    loop {
        let (settled, trouble) = match session.run(input).await {
            Ok(TxnEnd::Committed) => (Settled::Committed, None),
            Ok(TxnEnd::RolledBack) => (Settled::RolledBack, None),
            Err(SessionError::Retry(_)) if u32::from(retries) < shared.spec.max_retries && !shared.is_ended() => {
                retries += 1;
                continue;
            }
            Err(trouble) => (Settled::Failed, Some(trouble)),
        };
        return Attempts { settled, retries, trouble };
    }
}

impl User {
    pub fn new(shared: Arc<Shared>, notebook: Arc<Notebook>, number: u32, session: AnySession) -> Self {
        let source = Source::new(&shared.spec.workload, shared.spec.seed, shared.spec.round, number);
        let control = shared.control.clone();
        Self {
            shared,
            notebook,
            control,
            number,
            session,
            source,
            think: Nanos::ZERO,
            failures_in_a_row: 0,
            failures_told: 0,
        }
    }

    /// Until the load ends, the lane is told to, or the system is lost.
    pub async fn run(mut self) -> Result<(), LoadError> {
        while let Some(intent) = self.next_intent().await {
            let txn = intent.input.txn() as u8;
            // In a closed loop due = start, to the nanosecond.
            let start = if self.shared.arrivals.is_some() { self.shared.clock.now() } else { intent.due };
            if !intent.counted {
                self.notebook.offered(Offered { txn, due: intent.due });
            }
            let under_way = UnderWay::new(&self.shared, &self.notebook, txn, intent.due, start);
            let Attempts { settled, retries, trouble } = attempt(&self.shared, &mut self.session, &intent.input).await;
            if let (Some(receipts), Settled::Committed) = (&self.shared.receipts, settled) {
                receipts.note(&intent.input, self.shared.clock.now());
            }
            under_way.settle(settled, retries, self.session.take_round_trips() as u32);
            match trouble {
                None => self.failures_in_a_row = 0,
                Some(trouble) => {
                    if !self.meet(trouble).await? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    async fn next_intent(&mut self) -> Option<Intent> {
        if self.shared.is_ended() {
            return None;
        }
        let Some(queue) = &self.shared.arrivals else { return self.next_closed().await };
        let clock = &self.shared.clock;
        let intent = queue.take(clock.now())?;
        if intent.counted || intent.due <= clock.now() {
            return Some(intent);
        }
        let (txn, due) = (intent.input.txn() as u8, intent.due);
        let reserved = Reserved { shared: &self.shared, notebook: &self.notebook, txn, due };
        // Told to end: an intent that became due before that is still carried out.
        let is_due = self.shared.wait_until(&mut self.control, due).await || due <= clock.now();
        std::mem::forget(reserved);
        is_due.then_some(intent)
    }

    /// Closed loop: keying before the transaction and thinking after it are not part of any figure (clause 5.2.5.4).
    async fn next_closed(&mut self) -> Option<Intent> {
        let input = self.source.next();
        let (keying, think) = self.source.pacing(input.txn(), &self.shared.spec.pacing);
        let pause = std::mem::replace(&mut self.think, think) + keying;
        let end = self.shared.load_end();
        if pause > Nanos::ZERO {
            let due = (self.shared.clock.now() + pause).min(end);
            if !self.shared.wait_until(&mut self.control, due).await {
                return None;
            }
        }
        let now = self.shared.clock.now();
        (now < self.shared.load_end()).then_some(Intent { due: now, input, counted: false })
    }

    /// False when the user has to end because the lane does.
    async fn meet(&mut self, trouble: SessionError) -> Result<bool, LoadError> {
        self.failures_in_a_row += 1;
        let (code, text) = match &trouble {
            SessionError::Retry(why) => ("retries_exhausted", why),
            SessionError::Failed(why) => ("failed", why),
            SessionError::Lost(why) => ("connection_lost", why),
        };
        if self.failures_told < 3 {
            self.failures_told += 1;
            self.shared.tell(code, format!("user {}: {text}", self.number));
        }
        if self.failures_in_a_row >= HOPELESS {
            return Err(LoadError::other(format!("{HOPELESS} transactions in a row failed; the last one"), text));
        }
        match trouble {
            SessionError::Lost(why) => self.reopen(why).await,
            SessionError::Retry(_) | SessionError::Failed(_) => Ok(true),
        }
    }

    async fn reopen(&mut self, why: String) -> Result<bool, LoadError> {
        let mut last = LoadError::Died {
            what: "the connection".into(),
            why,
            next: "The server's log says more; what was measured until then is kept.".into(),
        };
        for pause in RECONNECT_MS {
            let due = self.shared.clock.now() + Nanos::from_millis(pause);
            if !self.shared.wait_until(&mut self.control, due).await {
                return Ok(false);
            }
            match self.shared.opener.open(self.number).await {
                Ok(session) => {
                    self.session = session;
                    self.shared.tell("reconnected", format!("user {} is connected again", self.number));
                    return Ok(true);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}
