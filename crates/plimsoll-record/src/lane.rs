//! The messages between the plan's execution and a lane.
//!
//! A lane drives one load against one system. It gets its resolved step as a message ([`LaneSpec`]), answers with one
//! merged report a second ([`LaneMessage::Second`]) and obeys [`LaneControl`]. Every message can be serialised, so a
//! lane can live on a thread, in another process or on another host without knowing which.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::hist::Hist;
use crate::message::EventKind;
use crate::receipt::CommitCounts;
use plimsoll_plan::load::{LoadShape, MockScript};
use plimsoll_plan::resolved::{Credential, Pacing, ServerKind, Workload};
use plimsoll_plan::schedule::{PhaseKind, Tick, Timeline};
use plimsoll_plan::units::Nanos;

/// Where the lane's sessions connect. Carries secrets: it travels, but is never stored or shown.
#[derive(Clone, Serialize, Deserialize)]
pub enum Endpoint {
    Mock(MockScript),
    Sqlite {
        /// The database file.
        path: String,
        /// PRAGMAs every connection sets, beside WAL and synchronous=FULL.
        pragmas: BTreeMap<String, String>,
        /// The VFS of a simulated machine, which is one of this process; `None`: in real time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vfs: Option<String>,
    },
    Server {
        engine: ServerKind,
        /// A URL, or what else the engine's driver reads; may hold a password.
        conninfo: Credential,
        /// The schema that holds the workload's tables.
        schema: String,
    },
}

/// Where random draws begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// The seed of the inputs.
    pub load: u64,
    /// The seed of the data set: some constants of the load must match those of the data (TPC-C clause 2.1.6.1).
    pub data: u64,
}

impl From<u64> for Seeds {
    fn from(seed: u64) -> Self {
        Self {
            load: seed,
            data: seed,
        }
    }
}

/// The part of a load that one of several generators offers: users, connections and intents are dealt out like cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorShare {
    /// Which part, from 0.
    pub index: u32,
    /// How many parts there are.
    pub of: u32,
}

impl Default for GeneratorShare {
    /// All of it.
    fn default() -> Self {
        Self { index: 0, of: 1 }
    }
}

impl GeneratorShare {
    pub fn is_valid(self) -> bool {
        self.index < self.of
    }

    /// How many of `all` are this part's.
    pub fn count(self, all: u32) -> u32 {
        (all / self.of) + u32::from(all % self.of > self.index)
    }

    /// The number among all of the one that has this `number` in this part.
    pub fn number(self, number: u32) -> u32 {
        number.saturating_mul(self.of).saturating_add(self.index)
    }
}

/// A lane's whole task for one ladder point.
#[derive(Clone, Serialize, Deserialize)]
pub struct LaneSpec {
    pub endpoint: Endpoint,
    pub workload: Workload,
    /// The load of all generators.
    pub load: LoadShape,
    pub share: GeneratorShare,
    pub timeline: Timeline,
    pub pacing: Pacing,
    pub seed: Seeds,
    /// Number of the point within the run: each draws inputs of its own.
    pub round: u32,
    /// How often one intent is tried again after a deadlock or serialisation failure.
    pub max_retries: u32,
    /// The power fails when the measurement ends: transactions that end before are counted by place and reported at the end,
    /// and the load goes on until the lane is stopped, or cooling ends.
    pub power_cut: bool,
}

impl LaneSpec {
    /// How many connections this part of the load has.
    pub fn connections(&self) -> u32 {
        self.share.count(self.load.connections())
    }
}

/// Counts of intents by how they ended, per transaction type. Conservation: offered = committed + rolled_back + failed + dropped +
/// those still in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Intents that became due.
    pub offered: u64,
    pub committed: u64,
    /// Rolled back as the workload's specification wants (not failures).
    pub rolled_back: u64,
    pub failed: u64,
    /// Never started: the open loop's queue was full, or the window closed before a user was free.
    pub dropped: u64,
    /// Further attempts of intents that are counted once above.
    pub retries: u64,
    /// Requests sent to the system.
    pub round_trips: u64,
    /// Moved by block I/O; 0 for transactions.
    pub bytes: u64,
}

impl Counts {
    /// Saturating: numbers in an imported file may be of any size.
    pub fn add(&mut self, other: &Self) {
        let Self {
            offered,
            committed,
            rolled_back,
            failed,
            dropped,
            retries,
            round_trips,
            bytes,
        } = other;
        let add = |sum: &mut u64, more: &u64| *sum = sum.saturating_add(*more);
        add(&mut self.offered, offered);
        add(&mut self.committed, committed);
        add(&mut self.rolled_back, rolled_back);
        add(&mut self.failed, failed);
        add(&mut self.dropped, dropped);
        add(&mut self.retries, retries);
        add(&mut self.round_trips, round_trips);
        add(&mut self.bytes, bytes);
    }

    /// In the order in which they are stored: what is mostly zero comes last.
    pub(crate) fn to_array(self) -> [u64; 8] {
        let Self {
            offered,
            committed,
            rolled_back,
            failed,
            dropped,
            retries,
            round_trips,
            bytes,
        } = self;
        [
            offered,
            committed,
            round_trips,
            rolled_back,
            retries,
            failed,
            dropped,
            bytes,
        ]
    }

    pub(crate) fn from_array(numbers: [u64; 8]) -> Self {
        let [
            offered,
            committed,
            round_trips,
            rolled_back,
            retries,
            failed,
            dropped,
            bytes,
        ] = numbers;
        Self {
            offered,
            committed,
            rolled_back,
            failed,
            dropped,
            retries,
            round_trips,
            bytes,
        }
    }

    /// Transactions that ended as the specification requires.
    pub fn completed(&self) -> u64 {
        self.committed.saturating_add(self.rolled_back)
    }

    /// Intents that have ended in any way.
    pub fn settled(&self) -> u64 {
        self.completed()
            .saturating_add(self.failed)
            .saturating_add(self.dropped)
    }
}

/// One transaction type's share of a tick. Histograms hold completed transactions only (committed and rolled back), and
/// the ages of those that had no answer when the load was over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TransactionStats {
    pub counts: Counts,
    /// end − due.
    pub response: Hist,
    /// end − start; `None` while it equals `response`, as it does in a closed loop (due = start).
    service: Option<Hist>,
}

impl TransactionStats {
    /// From its parts; `service` is `None` where it equals `response`.
    pub fn new(counts: Counts, response: Hist, service: Option<Hist>) -> Self {
        Self {
            counts,
            response,
            service,
        }
    }

    pub fn into_parts(self) -> (Counts, Hist, Option<Hist>) {
        let Self {
            counts,
            response,
            service,
        } = self;
        (counts, response, service)
    }

    /// Notes a completed transaction.
    pub fn record(&mut self, response: Nanos, service: Nanos) {
        if service != response || self.service.is_some() {
            self.service
                .get_or_insert_with(|| self.response.clone())
                .record(service);
        }
        self.response.record(response);
    }

    /// Notes one that has no end: how long ago it was due and, where it was started, how long ago that was.
    pub fn record_unfinished(&mut self, response: Nanos, service: Option<Nanos>) {
        if service != Some(response) || self.service.is_some() {
            let all = self.service.get_or_insert_with(|| self.response.clone());
            service
                .into_iter()
                .for_each(|age| all.record_unfinished(age));
        }
        self.response.record_unfinished(response);
    }

    /// end − start.
    pub fn service(&self) -> &Hist {
        self.service.as_ref().unwrap_or(&self.response)
    }

    /// The service times where they differ from the response times.
    pub fn differing_service(&self) -> Option<&Hist> {
        self.service.as_ref()
    }

    pub fn merge(&mut self, other: &Self) {
        let Self {
            counts,
            response,
            service,
        } = other;
        self.counts.add(counts);
        if service.is_some() || self.service.is_some() {
            self.service
                .get_or_insert_with(|| self.response.clone())
                .merge(service.as_ref().unwrap_or(response));
        }
        self.response.merge(response);
    }
}

/// Time that connections spent without a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// From the loss of the first connection until one is open again, if the server could not be reached in between.
    pub server: Nanos,
    /// Summed over the connections: from the start of the transaction that each was lost in until it is open again.
    pub connections: Nanos,
}

impl Absence {
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// Times of transactions that ended in a later tick than the one in which they were due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LateTimes {
    /// Where they were due.
    pub place: TickPlace,
    /// As [`LaneSecond::tallies`]; without counts.
    pub tallies: Vec<TransactionStats>,
}

/// A tick of a lane: the generators of a load have the same ones, though an order may close each at another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TickPlace {
    pub phase: PhaseKind,
    /// Number of the tick in its phase, from 0.
    pub ordinal: u32,
}

impl TickPlace {
    pub fn after(before: Option<Self>, phase: PhaseKind) -> Self {
        let ordinal = match before {
            Some(before) if before.phase == phase => before.ordinal + 1,
            _ => 0,
        };
        Self { phase, ordinal }
    }
}

/// One merged report: everything that ended in one tick, by transaction type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaneSecond {
    pub tick: Tick,
    /// Intents due but not settled when the tick ended: offered − settled since the lane began. In the lane's last tick
    /// what the users counted, independently of that, as they took and settled intents.
    pub in_flight: u64,
    /// Indexed as [`Workload::txn_names`]. Counts are of what ended in this tick, times of what was due in it as well.
    pub tallies: Vec<TransactionStats>,
    /// Times of what ended in this tick and was due before it.
    pub earlier: Vec<LateTimes>,
    /// Records that came too late for their tick and were counted in this one.
    pub late: u64,
    /// Outcomes lost because a bounded buffer was full: the run is invalid.
    pub overflow: u64,
    /// How long after the tick's end the report was merged.
    pub merge_lag: Nanos,
    /// Some of it may belong to ticks before: that the server is away shows when a connection cannot be opened, which takes
    /// as long as the attempt to connect does.
    pub absence: Absence,
}

impl LaneSecond {
    /// A report that nothing was too late for or lost, of a system that was there.
    pub fn new(tick: Tick, in_flight: u64, tallies: Vec<TransactionStats>) -> Self {
        Self {
            tick,
            in_flight,
            tallies,
            earlier: Vec::new(),
            late: 0,
            overflow: 0,
            merge_lag: Nanos::ZERO,
            absence: Absence::default(),
        }
    }
}

/// An event to report beside the transactions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaneEvent {
    pub at: Nanos,
    pub kind: EventKind,
    /// The host where it happened, of a lane on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl LaneEvent {
    pub fn new(at: Nanos, kind: EventKind) -> Self {
        let host = None;
        Self { at, kind, host }
    }
}

/// How a lane ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LaneEnd {
    /// The timeline ran out.
    Complete,
    /// Ordered to close: intents under way were finished.
    Closed,
    /// Ordered to stop: intents under way were abandoned and counted as failed.
    Stopped,
    /// The system could not be reached, or not any more.
    Failed(String),
    /// There was no space left for what the load writes: where, as far as it is known, and the system's error message.
    DiskFull { place: String, why: String },
}

/// Lane → plan execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LaneMessage {
    /// All sessions are open; every other time of the lane counts from `at` on the run's timeline.
    Started {
        at: Nanos,
    },
    Second(Box<LaneSecond>),
    Event(LaneEvent),
    /// Commits that the database acknowledged before the power failed.
    Acknowledged(CommitCounts),
    Ended(LaneEnd),
}

/// Plan execution → lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LaneControl {
    Run,
    /// No new intents; finish those under way, then end.
    Close,
    /// End at once.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_of_any_size_add_up_without_overflow() {
        let mut counts = Counts {
            committed: u64::MAX,
            bytes: 7,
            ..Counts::default()
        };
        counts.add(&Counts {
            committed: 1,
            failed: 1,
            bytes: 1,
            ..Counts::default()
        });
        assert_eq!(
            (counts.committed, counts.settled(), counts.bytes),
            (u64::MAX, u64::MAX, 8)
        );
    }

    proptest! {
        #[test]
        fn shares_deal_out_everything_once(all in 0u32..500, of in 1u32..20) {
            let shares = (0..of).map(|index| GeneratorShare { index, of });
            let mut numbers: Vec<u32> =
                shares.flat_map(|share| (0..share.count(all)).map(move |number| share.number(number))).collect();
            numbers.sort_unstable();
            prop_assert_eq!(numbers, (0..all).collect::<Vec<_>>());
        }

        /// Service times are those recorded, whether or not they were kept apart, in whatever order tallies merge.
        #[test]
        fn service_times_are_kept_apart_only_where_they_differ(
            a in prop::collection::vec((1_000u64..9_000_000, any::<bool>()), 0..30),
            b in prop::collection::vec((1_000u64..9_000_000, any::<bool>()), 0..30),
        ) {
            let tally = |of: &[(u64, bool)]| {
                let mut tally = TransactionStats::default();
                of.iter().for_each(|(ns, waited)| tally.record(Nanos(ns + u64::from(*waited) * 5_000_000), Nanos(*ns)));
                tally
            };
            let mut merged = tally(&a);
            merged.merge(&tally(&b));
            let all = [a, b].concat();
            let mut service = Hist::new();
            all.iter().for_each(|(ns, _)| service.record(Nanos(*ns)));
            prop_assert_eq!(merged.service(), &service);
            prop_assert_eq!(merged.response.count(), all.len() as u64);
            prop_assert_eq!(merged.differing_service().is_some(), all.iter().any(|(_, waited)| *waited));
        }
    }
}
