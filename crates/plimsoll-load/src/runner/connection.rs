//! One connection: takes an intent, carries it out, writes down what became of it, and is opened again when it is lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneControl;
use plimsoll_record::message::EventKind;
use tokio::sync::watch;

use super::intents::Intent;
use super::outage::{Backoff, Loss, PATIENCE};
use super::shared::SharedLane;
use super::tally::{Notebook, Offered, Settled, SettledIntent};
use super::user::User;
use crate::engine::AnySession;
use crate::engine::Session;
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::Input;

/// A connection on which this many fail in a row does not measure anything: the lane ends with the last error.
const HOPELESS: u32 = 100;

/// Of which a millisecond is too little to show in any figure.
const LONG_PAUSE: Nanos = Nanos::SECOND;

pub struct Connection {
    shared: Arc<SharedLane>,
    notebook: Arc<Notebook>,
    control: watch::Receiver<LaneControl>,
    number: u32,
    session: AnySession,
    /// The user whose own this connection is; `None` where intents are taken from the lane's queue.
    user: Option<User>,
    failures_in_a_row: u32,
    failing_since: Nanos,
    backoff: Backoff,
    /// Since when no attempt has come to an end on a connection that lived.
    lost_since: Option<Nanos>,
    /// What the user has wanted since the connection was lost.
    wanted: Option<Intent>,
    /// Whether the user waited for a connection before the transaction under way.
    was_kept: bool,
}

/// An intent between its start and its end. Dropped unsettled (the lane was stopped), it is written down as failed: no
/// outcome disappears.
struct UnderWay<'a> {
    shared: &'a SharedLane,
    notebook: &'a Notebook,
    txn: u8,
    due: Nanos,
    start: Nanos,
}

impl<'a> UnderWay<'a> {
    fn new(
        shared: &'a SharedLane,
        notebook: &'a Notebook,
        txn: u8,
        due: Nanos,
        start: Nanos,
    ) -> Self {
        shared.under_way.fetch_add(1, Ordering::AcqRel);
        Self {
            shared,
            notebook,
            txn,
            due,
            start,
        }
    }

    fn settle(self, settled: Settled, retries: u16, round_trips: u32) {
        self.write(settled, retries, round_trips);
        std::mem::forget(self);
    }

    fn write(&self, settled: Settled, retries: u16, round_trips: u32) {
        let Self {
            shared,
            notebook,
            txn,
            due,
            start,
        } = *self;
        notebook.settled(SettledIntent {
            txn,
            settled,
            retries,
            round_trips,
            due,
            start,
            end: shared.clock.now(),
        });
        shared.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.write(Settled::Abandoned, 0, 0);
    }
}

/// An intent that waits for its time or for a connection. Given up after it became due, it counts as offered and dropped.
struct Reserved<'a> {
    shared: &'a SharedLane,
    notebook: &'a Notebook,
    txn: u8,
    due: Nanos,
    /// Whether it is counted as offered.
    counted: bool,
}

impl<'a> Reserved<'a> {
    fn new(shared: &'a SharedLane, notebook: &'a Notebook, intent: &Intent) -> Self {
        let Intent {
            due,
            input,
            counted,
            user: _,
        } = intent;
        Self {
            shared,
            notebook,
            txn: input.txn() as u8,
            due: *due,
            counted: *counted,
        }
    }

    /// Counts it as offered once it is due.
    fn offer(&mut self) {
        let Self {
            shared,
            notebook,
            txn,
            due,
            counted,
        } = *self;
        if !counted && due <= shared.clock.now() {
            notebook.offered(Offered { txn, due });
            self.counted = true;
        }
    }

    /// It is run, or becomes due no more. Gives whether it is counted as offered.
    fn release(self) -> bool {
        let counted = self.counted;
        std::mem::forget(self);
        counted
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.offer();
        let Self {
            shared,
            notebook,
            txn,
            due,
            counted,
        } = *self;
        if counted {
            let now = shared.clock.now();
            let settled = Settled::Dropped;
            notebook.settled(SettledIntent {
                txn,
                settled,
                retries: 0,
                round_trips: 0,
                due,
                start: now,
                end: now,
            });
        }
    }
}

/// The result of all attempts at one intent.
struct Attempts {
    settled: Settled,
    retries: u16,
    trouble: Option<SessionError>,
}

async fn attempt(shared: &SharedLane, session: &mut AnySession, input: &Input) -> Attempts {
    let mut retries = 0;
    loop {
        let (settled, trouble) = match session.run(input).await {
            Ok(TxnEnd::Committed) => (Settled::Committed, None),
            Ok(TxnEnd::RolledBack) => (Settled::RolledBack, None),
            Err(SessionError::Retry(_))
                if u32::from(retries) < shared.spec.max_retries && !shared.is_ended() =>
            {
                retries += 1;
                continue;
            }
            Err(trouble) => (Settled::Failed, Some(trouble)),
        };
        return Attempts {
            settled,
            retries,
            trouble,
        };
    }
}

impl Connection {
    pub fn new(
        shared: Arc<SharedLane>,
        notebook: Arc<Notebook>,
        number: u32,
        session: AnySession,
    ) -> Self {
        let user = shared
            .intents
            .is_none()
            .then(|| User::new(&shared.spec, number));
        let control = shared.control.clone();
        let of_all = shared.spec.share.number(number);
        let backoff = Backoff::new(shared.spec.seed.load, shared.spec.round, of_all);
        Self {
            shared,
            notebook,
            control,
            number,
            session,
            user,
            failures_in_a_row: 0,
            failing_since: Nanos::ZERO,
            backoff,
            lost_since: None,
            wanted: None,
            was_kept: false,
        }
    }

    /// Until the load ends, the lane is closed, or the system is lost.
    pub async fn run(mut self) -> Result<(), LoadError> {
        while let Some(Intent {
            due,
            input,
            counted,
            user,
        }) = self.next_intent().await
        {
            let txn = input.txn() as u8;
            // In a closed loop due = start, to the nanosecond, unless the connection was lost meanwhile.
            let at_once = self.user.is_some() && !std::mem::take(&mut self.was_kept);
            let start = if at_once {
                due
            } else {
                self.shared.clock.now()
            };
            if !counted {
                self.notebook.offered(Offered { txn, due });
            }
            let under_way = UnderWay::new(&self.shared, &self.notebook, txn, due, start);
            let Attempts {
                settled,
                retries,
                trouble,
            } = attempt(&self.shared, &mut self.session, &input).await;
            if let (Some(receipts), Settled::Committed) = (&self.shared.receipts, settled) {
                receipts.note(&input, self.shared.clock.now());
            }
            under_way.settle(settled, retries, self.session.take_round_trips() as u32);
            // A user whose connection was lost waits with it.
            if !self.meet(trouble, start).await? {
                return Ok(());
            }
            if let (Some(user), Some(intents)) = (user, &self.shared.intents) {
                intents.come_back(user, &self.shared.spec, self.shared.clock.now());
            }
        }
        Ok(())
    }

    async fn next_intent(&mut self) -> Option<Intent> {
        if let Some(intent) = self.wanted.take() {
            self.was_kept = intent.due < self.shared.clock.now();
            return self.when_due(intent).await;
        }
        if self.shared.is_ended() {
            return None;
        }
        let Some(queue) = &self.shared.intents else {
            return self.next_own().await;
        };
        let intent = queue.take(self.shared.clock.now())?;
        self.when_due(intent).await
    }

    /// Waits until an intent is due. After an order to end, one that became due before it is still run.
    async fn when_due(&mut self, intent: Intent) -> Option<Intent> {
        let clock = &self.shared.clock;
        let due = intent.due;
        let reserved = Reserved::new(&self.shared, &self.notebook, &intent);
        if self.shared.is_ended() {
            return None;
        }
        let is_due = intent.counted
            || due <= clock.now()
            || self.shared.wait_until(&mut self.control, due).await
            || due <= clock.now();
        reserved.release();
        is_due.then_some(intent)
    }

    /// Keying before the transaction and thinking after it are not part of any figure (clause 5.2.5.4).
    async fn next_own(&mut self) -> Option<Intent> {
        let (pause, input) = self.user.as_mut()?.next(&self.shared.spec);
        if pause > Nanos::ZERO {
            let due = (self.shared.clock.now() + pause).min(self.shared.load_end());
            let shared = &self.shared;
            // What is wanted counts from when the pause has ended, whenever that is.
            let waited = if pause >= LONG_PAUSE {
                shared.wait_until_about(&mut self.control, due).await
            } else {
                shared.wait_until(&mut self.control, due).await
            };
            if !waited {
                return None;
            }
        }
        let now = self.shared.clock.now();
        (now < self.shared.load_end()).then_some(Intent {
            due: now,
            input,
            counted: false,
            user: None,
        })
    }

    /// What became of a transaction that began at `start`. False when the connection has to end because the lane does.
    async fn meet(
        &mut self,
        trouble: Option<SessionError>,
        start: Nanos,
    ) -> Result<bool, LoadError> {
        if let Some(SessionError::Lost(why)) = &trouble {
            return self.reopen(why, start).await;
        }
        self.lost_since = None;
        self.backoff.reset();
        let connection = self.number;
        let (event, why) = match trouble {
            None | Some(SessionError::Lost(_)) => {
                self.failures_in_a_row = 0;
                return Ok(true);
            }
            Some(SessionError::DiskFull { place, why }) => {
                return Err(LoadError::disk_full(place, why));
            }
            Some(SessionError::Permanent(why)) => {
                return Err(LoadError::other(
                    format!("the load ended at {:.2} s", self.now_s()),
                    why,
                ));
            }
            Some(SessionError::Retry(why)) => {
                let error = why.clone();
                (EventKind::RetriesExhausted { connection, error }, why)
            }
            Some(SessionError::Failed(why)) => {
                let error = why.clone();
                (EventKind::Failed { connection, error }, why)
            }
        };
        let now = self.shared.clock.now();
        if self.failures_in_a_row == 0 {
            self.failing_since = now;
        }
        self.failures_in_a_row += 1;
        self.shared.events.report(event);
        // While others of its connections are away, a system may fail for a while what it can do later.
        let bears = self.shared.outages.is_under_way() && now < self.failing_since + PATIENCE;
        if self.failures_in_a_row >= HOPELESS && !bears {
            let what = format!(
                "{} transactions in a row failed; the last one",
                self.failures_in_a_row
            );
            return Err(LoadError::other(what, why));
        }
        Ok(true)
    }

    fn now_s(&self) -> f64 {
        self.shared.clock.now().as_secs_f64()
    }

    /// Whether there is nothing left to do for this connection.
    fn is_over(&self, now: Nanos) -> bool {
        self.shared.is_ended()
            || match &self.shared.intents {
                Some(intents) => intents.is_over(now),
                None => now >= self.shared.load_end(),
            }
    }

    /// What a user with a connection of its own wants next, after thinking and keying from `ended` on: for this it waits.
    fn want(&mut self, ended: Nanos) -> Option<Intent> {
        let (pause, input) = self.user.as_mut()?.next(&self.shared.spec);
        let intent = Intent {
            due: ended + pause,
            input,
            counted: false,
            user: None,
        };
        (intent.due < self.shared.load_end()).then_some(intent)
    }

    /// Tries until the connection is open, for as long as [`PATIENCE`] after it was lost. An error that waiting cannot end, ends
    /// the lane at once. What its user wants meanwhile counts from when it is due.
    async fn reopen(&mut self, why: &str, began: Nanos) -> Result<bool, LoadError> {
        let shared = self.shared.clone();
        let notebook = self.notebook.clone();
        let lost = shared.clock.now();
        let since = *self.lost_since.get_or_insert(lost);
        let loss = Loss {
            connection: self.number,
            began,
            noticed: lost,
            why,
        };
        shared.outages.lost(&loss, &shared.events);
        let mut wanted = self.want(lost);
        let mut reserved = wanted
            .as_ref()
            .map(|intent| Reserved::new(&shared, &notebook, intent));
        loop {
            let due = shared.clock.now() + self.backoff.next();
            let due = if self.user.is_some() {
                due.min(shared.load_end())
            } else {
                due
            };
            if let Some(reserved) = &mut reserved {
                let offered = shared
                    .wait_until(&mut self.control, due.min(reserved.due))
                    .await;
                reserved.offer();
                if !offered {
                    return Ok(false);
                }
            }
            if !shared.wait_until(&mut self.control, due).await || self.is_over(shared.clock.now())
            {
                return Ok(false);
            }
            let opened = tokio::select! {
                biased;
                // An error means that the lane is gone.
                _ = self.control.wait_for(|order| *order != LaneControl::Run) => return Ok(false),
                opened = shared.opener.open(self.number) => opened,
            };
            let now = shared.clock.now();
            match opened {
                Ok(session) => {
                    self.session = session;
                    shared.outages.reopened(now);
                    if let (Some(intent), Some(reserved)) = (&mut wanted, reserved) {
                        intent.counted = reserved.release();
                    }
                    self.wanted = wanted;
                    return Ok(true);
                }
                Err(error @ LoadError::DiskFull { .. }) => return Err(error),
                Err(error) if error.may_pass() && now < since + PATIENCE => {
                    shared
                        .outages
                        .refused(matches!(error, LoadError::TooManyConnections { .. }));
                }
                Err(error) => return Err(given_up(since, now, why, &error)),
            }
        }
    }
}

fn given_up(since: Nanos, now: Nanos, why: &str, error: &LoadError) -> LoadError {
    let tried = now.saturating_sub(since).as_secs_f64();
    let since = since.as_secs_f64();
    let what = format!(
        "a connection was lost at {since:.2} s ({why}) and could not be opened again for {tried:.1} s"
    );
    LoadError::other(what, error)
}
