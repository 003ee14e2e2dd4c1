//! The runner: a lane's connections and users, its ticks, its end.
//!
//! ```text
//! LaneSpec ─► lane ─► workers (threads) ─► connections ─► session.run(input)
//!              ▲            │ raw entries
//!              └─ once a second: swap, sort into ticks, merge ─► LaneMessage::Second
//! ```
//!
//! The same code runs under the real clock, with a thread and a runtime per worker, and under the virtual one, with
//! every worker as a task of one thread.

mod connection;
mod events;
mod gate;
mod intents;
mod outage;
mod rate;
mod shared;
mod tally;
mod user;
mod worker;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use plimsoll_plan::schedule::{PhaseKind, Tick, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneEnd, LaneEvent, LaneMessage, LaneSecond, LaneSpec};
use plimsoll_record::message::EventKind;
use tokio::sync::{mpsc, watch};

use crate::clock::{Clock, LaneClock};
pub use gate::Gate;
use shared::SharedLane;
use tally::Merger;
pub use worker::USERS_THREAD;
use worker::Workers;

/// How long after a tick's end its entries are collected: longer than a thread usually waits for its core.
const GRACE: Nanos = Nanos::from_millis(20);

/// How long blocking sessions are waited for when a lane is to stop.
const PATIENCE_AT_END: Nanos = Nanos::from_secs(3);

/// Events on their way: more than a second's, each kind of which is bounded.
const EVENTS: usize = 64;

/// Drives one load point from the opening of its sessions to its last report. Messages go to `out`; the last one is
/// [`LaneMessage::Ended`]. Nothing panics when `out` is closed: the lane then ends by itself.
pub async fn run_lane(
    spec: LaneSpec,
    clock: Clock,
    control: watch::Receiver<LaneControl>,
    out: mpsc::Sender<LaneMessage>,
) {
    run_lane_together(spec, clock, control, out, Gate::of(1)).await;
}

/// As [`run_lane`], of several that start when all their sessions are open.
pub async fn run_lane_together(
    spec: LaneSpec,
    clock: Clock,
    control: watch::Receiver<LaneControl>,
    out: mpsc::Sender<LaneMessage>,
    gate: Gate,
) {
    let end = Lane::run(spec, clock, control, &out, &gate).await;
    // The receiver is gone.
    let _ = out.send(LaneMessage::Ended(end)).await;
}

struct Lane<'a> {
    shared: Arc<SharedLane>,
    workers: Workers,
    merger: Merger,
    events: mpsc::Receiver<LaneEvent>,
    out: &'a mpsc::Sender<LaneMessage>,
    /// Every connection has ended, without an error.
    workers_done: bool,
    /// Some workers did not end and are no longer waited for.
    left: bool,
}

/// Opens all sessions and waits for the other lanes; an order to end is obeyed meanwhile, and nothing of the workers is left
/// when this fails.
async fn open(shared: &Arc<SharedLane>, gate: &Gate) -> Result<Workers, LaneEnd> {
    let mut control = shared.control.clone();
    let clock = shared.clock.base();
    let mut workers = match Workers::spawn(shared) {
        Ok(workers) => workers,
        Err(why) => {
            gate.leave(clock);
            return Err(LaneEnd::Failed(why));
        }
    };
    let all_ready = async {
        workers.ready(shared).await?;
        shared.clock.start_at(gate.pass(clock).await).await;
        Ok(())
    };
    let opened = tokio::select! {
        biased;
        _ = control.wait_for(|order| *order != LaneControl::Run) => Err(LaneEnd::Closed),
        ready = all_ready => ready,
    };
    match opened {
        Ok(()) => Ok(workers),
        Err(end) => {
            gate.leave(clock);
            workers.finish().await;
            Err(end)
        }
    }
}

/// Why the lane stopped waiting for the end of a tick.
enum Wake {
    Tick,
    Order(LaneControl),
    WorkersDone(Result<(), LaneEnd>),
}

impl<'a> Lane<'a> {
    async fn run(
        spec: LaneSpec,
        clock: Clock,
        control: watch::Receiver<LaneControl>,
        out: &'a mpsc::Sender<LaneMessage>,
        gate: &Gate,
    ) -> LaneEnd {
        let (report, events) = mpsc::channel(EVENTS);
        let shared = Arc::new(SharedLane::new(
            spec,
            LaneClock::new(clock),
            control,
            report,
        ));
        let workers = match open(&shared, gate).await {
            Ok(workers) => workers,
            Err(end) => return end,
        };
        // What a power cut ends had no time for an answer.
        let keeps_unfinished = !shared.spec.power_cut;
        let merger = Merger::new(shared.spec.workload.txn_names().len(), keeps_unfinished);
        let at = shared.clock.start();
        if out.send(LaneMessage::Started { at }).await.is_err() {
            return LaneEnd::Stopped;
        }
        workers.start();
        Lane {
            shared,
            workers,
            merger,
            events,
            out,
            workers_done: false,
            left: false,
        }
        .drive()
        .await
    }

    async fn drive(mut self) -> LaneEnd {
        let mut timeline = self.shared.spec.timeline.clone();
        let mut end = LaneEnd::Complete;
        let mut obeyed = LaneControl::Run;
        let mut start = Nanos::ZERO;
        while let Some(tick) = timeline.tick_at(start) {
            if self.workers_done && tick.phase == PhaseKind::Cool {
                break;
            }
            match self.wait_for(tick.end, obeyed).await {
                Wake::Tick => {
                    if self.report(tick).await.is_err() {
                        end = LaneEnd::Stopped;
                        break;
                    }
                    start = tick.end;
                }
                Wake::Order(LaneControl::Close) => {
                    (end, obeyed) = (LaneEnd::Closed, LaneControl::Close);
                    timeline.close(self.close().max(start));
                }
                Wake::Order(_) => {
                    end = LaneEnd::Stopped;
                    break;
                }
                // The last intent of an open loop may be settled before the window ends: the window is still measured
                // to its end.
                Wake::WorkersDone(Ok(())) => self.workers_done = true,
                Wake::WorkersDone(Err(why)) => {
                    end = why;
                    break;
                }
            }
        }
        self.finish(&timeline, start, end).await
    }

    /// Until `end` and a little longer, a new order, or the last connection's end.
    async fn wait_for(&mut self, end: Nanos, obeyed: LaneControl) -> Wake {
        let clock = self.shared.clock.clone();
        let mut control = self.shared.control.clone();
        let out = self.out.clone();
        let tick = clock.sleep_until(end + GRACE);
        tokio::pin!(tick);
        loop {
            tokio::select! {
                biased;
                order = control.wait_for(|order| *order > obeyed) => {
                    return Wake::Order(order.map_or(LaneControl::Stop, |order| *order));
                }
                Some(event) = self.events.recv() => {
                    if out.send(LaneMessage::Event(event)).await.is_err() {
                        return Wake::Order(LaneControl::Stop);
                    }
                }
                result = self.workers.ended(), if !self.workers_done => return Wake::WorkersDone(result),
                () = &mut tick => return Wake::Tick,
            }
        }
    }

    /// No new intents from now on.
    fn close(&self) -> Nanos {
        let now = self.shared.clock.now();
        self.shared.load_end.fetch_min(now.0, Ordering::AcqRel);
        if let Some(queue) = &self.shared.intents {
            queue.close(now);
        }
        now
    }

    /// What still waits for a connection is dropped, and counted.
    fn drop_waiting(&self) {
        if let Some(queue) = &self.shared.intents {
            queue.drop_waiting(self.shared.clock.now());
        }
    }

    fn merge(&mut self, tick: Tick) -> LaneSecond {
        if let Some(queue) = &self.shared.intents {
            queue.pump(tick.end);
        }
        let queue = self.shared.intents.as_ref().map(|queue| &queue.notebook);
        let notebooks: Vec<_> = self.workers.notebooks().chain(queue).collect();
        let mut second = self.merger.merge(&notebooks, tick);
        let now = self.shared.clock.now();
        second.merge_lag = now.saturating_sub(tick.end);
        second.absence = self.shared.outages.take_absence(tick.end.min(now));
        second
    }

    async fn report(&mut self, tick: Tick) -> Result<(), ()> {
        self.shared.outages.settle(tick.end, &self.shared.events);
        let second = self.merge(tick);
        self.out
            .send(LaneMessage::Second(Box::new(second)))
            .await
            .map_err(drop)
    }

    /// Ends the workers, writes down what was under way or waiting, and reports all that is left.
    async fn finish(mut self, timeline: &Timeline, mut start: Nanos, end: LaneEnd) -> LaneEnd {
        self.close();
        self.shared.ended.store(true, Ordering::Release);
        // Before the workers end, so that a blocking session does not go on to work off what waits.
        self.drop_waiting();
        self.end_workers(&end).await;
        self.drop_waiting();
        let now = self.shared.clock.now();
        while let Some(tick) = timeline.tick_at(start).filter(|tick| tick.end <= now) {
            // A closed channel, here and below: the receiver is gone.
            let _ = self.report(tick).await;
            start = tick.end;
        }
        // The last tick takes all that was written since, whenever it is dated.
        let phase = timeline
            .tick_at(start)
            .map_or(PhaseKind::Cool, |tick| tick.phase);
        let mut last = self.merge(Tick {
            start,
            end: Nanos(u64::MAX),
            phase,
        });
        last.tick.end = now.max(start);
        last.merge_lag = Nanos::ZERO;
        // The connections' own count, apart from what they wrote down: here two accounts of the same thing meet.
        let counted = self.shared.under_way.load(Ordering::Acquire);
        last.in_flight = counted;
        let _ = self.out.send(LaneMessage::Second(Box::new(last))).await;
        if let Some(receipts) = &self.shared.receipts {
            let _ = self
                .out
                .send(LaneMessage::Acknowledged(receipts.ledger()))
                .await;
        }
        self.shared.outages.end(now, &self.shared.events);
        while let Ok(event) = self.events.try_recv() {
            let _ = self.out.send(LaneMessage::Event(event)).await;
        }
        for event in self.shared.events.unreported() {
            let _ = self.out.send(LaneMessage::Event(event)).await;
        }
        if let Some(event) = self.left_under_way(now, counted) {
            let _ = self.out.send(LaneMessage::Event(event)).await;
        }
        end
    }

    /// Intents without an end: those of workers that were left, or a fault of plimsoll.
    fn left_under_way(&self, at: Nanos, counted: u64) -> Option<LaneEvent> {
        let in_flight = self.merger.in_flight();
        let kind = match (in_flight, counted) {
            (0, 0) => return None,
            _ if self.left && in_flight == counted as i64 => EventKind::Unanswered {
                transactions: counted,
            },
            _ => EventKind::Conservation { in_flight, counted },
        };
        Some(LaneEvent::new(at, kind))
    }

    /// A session that blocks its thread ends when its server answers, which may be never. Once the load has failed or the
    /// user wants it to stop, that is waited for only a little longer.
    async fn end_workers(&mut self, end: &LaneEnd) {
        let clock = self.shared.clock.clone();
        let mut control = self.shared.control.clone();
        let awaits_order = matches!(end, LaneEnd::Complete | LaneEnd::Closed);
        let patience = async {
            if awaits_order
                && control
                    .wait_for(|order| *order == LaneControl::Stop)
                    .await
                    .is_err()
            {
                // The sender of orders is gone.
                std::future::pending::<()>().await;
            }
            clock.sleep_until(clock.now() + PATIENCE_AT_END).await;
        };
        tokio::select! {
            biased;
            () = self.workers.finish() => {}
            () = patience => {
                self.left = true;
                self.workers.leave();
            }
        }
    }
}

#[cfg(test)]
mod tests;
