//! What the connections of a lane have in common.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{LaneControl, LaneEvent, LaneSpec};
use plimsoll_record::receipt::{CommitCounts, CommitPlace};
use tokio::sync::{mpsc, watch};

use super::events::Events;
use super::intents::IntentQueue;
use super::outage::Outages;
use crate::clock::LaneClock;
use crate::engine::Opener;
use crate::workload::Input;

/// What all connections of a lane share.
pub struct SharedLane {
    pub spec: LaneSpec,
    pub clock: LaneClock,
    pub opener: Opener,
    /// `None` in a closed loop in which every user has a connection.
    pub intents: Option<IntentQueue>,
    pub control: watch::Receiver<LaneControl>,
    pub events: Events,
    pub outages: Outages,
    /// No intent starts at or after this time of the lane.
    pub load_end: AtomicU64,
    /// Intents between start and end: counted here as they are taken and settled, apart from what they write down.
    pub under_way: AtomicU64,
    /// Committed transactions by place, where the power is going to fail.
    pub receipts: Option<Receipts>,
    /// No further intent is taken. A blocking session hears nothing else.
    pub ended: AtomicBool,
    /// Connections that were opened before the lane started.
    pub opened: AtomicU32,
}

impl SharedLane {
    pub fn new(
        spec: LaneSpec,
        clock: LaneClock,
        control: watch::Receiver<LaneControl>,
        events: mpsc::Sender<LaneEvent>,
    ) -> Self {
        // The load must be there when the power fails.
        let load_end = spec.timeline.load_end()
            + if spec.power_cut {
                spec.timeline.cool
            } else {
                Nanos::ZERO
            };
        Self {
            opener: Opener::new(&spec, clock.clone()),
            intents: IntentQueue::new(&spec, load_end),
            control,
            events: Events::new(clock.clone(), events),
            outages: Outages::new(spec.connections()),
            clock,
            load_end: AtomicU64::new(load_end.0),
            under_way: AtomicU64::new(0),
            receipts: spec
                .power_cut
                .then(|| Receipts::new(spec.timeline.load_end())),
            ended: AtomicBool::new(false),
            opened: AtomicU32::new(0),
            spec,
        }
    }

    pub fn load_end(&self) -> Nanos {
        Nanos(self.load_end.load(Ordering::Acquire))
    }

    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Waits until `due`, or until the lane is ordered to end. False in the latter case.
    ///
    /// Exact to some ten microseconds: what a connection wakes too late would show as response time of an idle system.
    pub async fn wait_until(&self, control: &mut watch::Receiver<LaneControl>, due: Nanos) -> bool {
        self.wait(control, due, self.clock.sleep_exactly_until(due))
            .await
    }

    /// As [`Self::wait_until`], but up to a millisecond late, which saves a wake-up and a timer of the kernel's.
    pub async fn wait_until_about(
        &self,
        control: &mut watch::Receiver<LaneControl>,
        due: Nanos,
    ) -> bool {
        self.wait(control, due, self.clock.sleep_until(due)).await
    }

    async fn wait(
        &self,
        control: &mut watch::Receiver<LaneControl>,
        due: Nanos,
        sleep: impl Future<Output = ()>,
    ) -> bool {
        if self.clock.now() >= due {
            return *control.borrow() == LaneControl::Run;
        }
        tokio::select! {
            biased;
            // An error means that the lane is gone, which ends the wait as well.
            _ = control.wait_for(|order| *order != LaneControl::Run) => false,
            () = sleep => true,
        }
    }
}

/// What clients saw committed before the power failed. Only a lane that ends with a power cut has one.
#[derive(Debug)]
pub struct Receipts {
    until: Nanos,
    counts: Mutex<BTreeMap<CommitPlace, u64>>,
}

impl Receipts {
    pub fn new(until: Nanos) -> Self {
        Self {
            until,
            counts: Mutex::default(),
        }
    }

    /// What ends later was not acknowledged in time: whether the database still had power is unknown.
    pub fn note(&self, input: &Input, ended: Nanos) {
        if let Some(place) = input.place().filter(|_| ended < self.until) {
            *self
                .counts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(place)
                .or_default() += 1;
        }
    }

    pub fn ledger(&self) -> CommitCounts {
        CommitCounts::from_counts(
            self.counts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        )
    }
}
