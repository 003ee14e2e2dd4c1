//! Assembles the seconds of a lane from the snapshots of all workers. Pure: it reads no clock and starts nothing.
//!
//! Each fio counts once a second since its own start. The workers' k-th snapshots belong together: a tick goes from the
//! mean of their times to the mean of the next ones', and holds what each worker did between its own two. So every
//! request is in exactly one tick. Phases end with the tick that comes nearest to their planned end.

use std::collections::VecDeque;

use plimsoll_plan::schedule::{PhaseKind, Tick};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::{Absence, LaneSecond};

use crate::snapshot::{Snapshot, Total};

/// What one worker did in the measure phase, by transaction type.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// From 0.
    pub worker: usize,
    pub txn: usize,
    pub requests: u64,
    pub bytes: u64,
    pub response: Hist,
}

/// Half the distance of snapshots.
const HALF: Nanos = Nanos::from_millis(500);

#[derive(Debug)]
pub struct IntervalAssembler {
    warm: Nanos,
    measure: Nanos,
    workers: Vec<WorkerProgress>,
    /// When the first requests were made, in the mean, in milliseconds since 1970; `None` until each
    /// worker has sent a snapshot.
    began_ms: Option<f64>,
    /// End of the last tick, and when the measurement began.
    end: Nanos,
    measured_from: Nanos,
    phase: PhaseKind,
}

#[derive(Debug, Clone)]
struct WorkerProgress {
    /// That of the last tick; of the beginning none.
    last: Snapshot,
    waiting: VecDeque<Snapshot>,
    measured: Vec<Total>,
}

impl WorkerProgress {
    fn advance(&mut self, to: Snapshot, is_measured: bool) -> Vec<Total> {
        let nothing = Total::default();
        let before = self.last.totals.iter().chain(std::iter::repeat(&nothing));
        let parts: Vec<Total> = to
            .totals
            .iter()
            .zip(before)
            .map(|(total, before)| total.since(before))
            .collect();
        if is_measured {
            let sums = self.measured.iter_mut().zip(&parts);
            sums.for_each(|(sum, part)| *sum = std::mem::take(sum).and(part));
        }
        self.last = to;
        parts
    }
}

impl IntervalAssembler {
    /// So many workers and transaction types. Without `warm` the measurement begins at once.
    pub fn new(workers: usize, txns: usize, warm: Nanos, measure: Nanos) -> Self {
        let worker = WorkerProgress {
            last: Snapshot::default(),
            waiting: VecDeque::new(),
            measured: vec![Total::default(); txns],
        };
        Self {
            warm,
            measure,
            workers: vec![worker; workers],
            began_ms: None,
            end: Nanos::ZERO,
            measured_from: Nanos::ZERO,
            phase: if warm > Nanos::ZERO {
                PhaseKind::Warm
            } else {
                PhaseKind::Measure
            },
        }
    }

    /// Adds a worker's snapshot: its totals so far.
    pub fn add(&mut self, worker: usize, snapshot: Snapshot) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.waiting.push_back(snapshot);
        }
        if self.began_ms.is_none() && self.workers.iter().all(|worker| !worker.waiting.is_empty()) {
            self.began_ms = Some(self.began());
        }
    }

    /// When the first requests were made, in milliseconds since 1970. `None`: not every worker has sent a
    /// snapshot yet.
    pub fn began_ms(&self) -> Option<f64> {
        self.began_ms
    }

    /// Whether the measurement is over.
    pub fn is_over(&self) -> bool {
        self.phase == PhaseKind::Cool
    }

    /// The next second, once every worker has sent its snapshot.
    pub fn next_second(&mut self) -> Option<LaneSecond> {
        if self.is_over() || self.workers.iter().any(|worker| worker.waiting.is_empty()) {
            return None;
        }
        let second = self.advance(|worker| worker.waiting.pop_front().unwrap_or_default());
        self.enter_next_phase();
        Some(second)
    }

    /// A last second with all snapshots that are in none yet; `None`: there are none left. Load that was stopped counts as
    /// cooling, because the part done at full load is unknown; load that ended by itself is `measured`.
    pub fn remainder(&mut self, measured: bool) -> Option<LaneSecond> {
        if self.began_ms.is_none() {
            self.began_ms = self
                .workers
                .iter()
                .any(|worker| !worker.waiting.is_empty())
                .then(|| self.began());
        }
        if !measured {
            self.phase = PhaseKind::Cool;
        }
        let any = self.workers.iter().any(|worker| !worker.waiting.is_empty());
        any.then(|| {
            self.advance(|worker| {
                worker
                    .waiting
                    .drain(..)
                    .next_back()
                    .unwrap_or_else(|| worker.last.clone())
            })
        })
    }

    /// What each worker did in the measurement.
    pub fn shares(&self) -> Vec<Share> {
        let mut shares = Vec::new();
        for (worker, state) in self.workers.iter().enumerate() {
            shares.extend(state.measured.iter().enumerate().map(|(txn, total)| Share {
                worker,
                txn,
                requests: total.requests(),
                bytes: total.bytes,
                response: total.hist(),
            }));
        }
        shares
    }

    fn began(&self) -> f64 {
        let firsts = self
            .workers
            .iter()
            .filter_map(|worker| worker.waiting.front());
        mean(firsts.map(|first| first.at_ms.saturating_sub(first.running_ms)))
    }

    fn advance(&mut self, next: impl Fn(&mut WorkerProgress) -> Snapshot) -> LaneSecond {
        let is_measured = self.phase == PhaseKind::Measure;
        let mut sums: Vec<Total> = Vec::new();
        for worker in &mut self.workers {
            let snapshot = next(worker);
            let parts = worker.advance(snapshot, is_measured);
            sums.resize(sums.len().max(parts.len()), Total::default());
            sums.iter_mut()
                .zip(&parts)
                .for_each(|(sum, part)| *sum = std::mem::take(sum).and(part));
        }
        let times = self
            .workers
            .iter()
            .map(|worker| worker.last.at_ms)
            .filter(|at| *at > 0);
        let since = (mean(times) - self.began_ms.unwrap_or_default()).max(0.0);
        // A wall clock that was set back makes a tick short, never negative.
        let tick = Tick {
            start: self.end,
            end: Nanos((since * 1e6) as u64).max(self.end),
            phase: self.phase,
        };
        self.end = tick.end;
        let tallies = sums.iter().map(Total::tally).collect();
        LaneSecond {
            tick,
            in_flight: 0,
            tallies,
            earlier: Vec::new(),
            late: 0,
            overflow: 0,
            merge_lag: Nanos::ZERO,
            absence: Absence::default(),
        }
    }

    fn enter_next_phase(&mut self) {
        if self.phase == PhaseKind::Warm && self.end + HALF >= self.warm {
            (self.phase, self.measured_from) = (PhaseKind::Measure, self.end);
        } else if self.phase == PhaseKind::Measure
            && self.end - self.measured_from + HALF >= self.measure
        {
            self.phase = PhaseKind::Cool;
        }
    }
}

/// In whole milliseconds of this century a double is exact.
fn mean(times: impl Iterator<Item = u64>) -> f64 {
    let (sum, n) = times.fold((0.0, 0u32), |(sum, n), time| (sum + time as f64, n + 1));
    sum / f64::from(n.max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::snapshot::tests::{WORKERS, shape, snapshots};

    fn seconds(assembler: &mut IntervalAssembler) -> Vec<LaneSecond> {
        std::iter::from_fn(|| assembler.next_second()).collect()
    }

    fn requests(seconds: &[LaneSecond]) -> u64 {
        seconds
            .iter()
            .flat_map(|second| &second.tallies)
            .map(|tally| tally.counts.committed)
            .sum()
    }

    fn phases(seconds: &[LaneSecond]) -> Vec<PhaseKind> {
        seconds.iter().map(|second| second.tick.phase).collect()
    }

    /// The recorded workers, their snapshots in any order.
    fn recorded(warm: u64, measure: u64, order: &[usize]) -> (IntervalAssembler, Vec<LaneSecond>) {
        let mut waiting: Vec<VecDeque<Snapshot>> = WORKERS
            .iter()
            .map(|text| snapshots(text, &shape()).into())
            .collect();
        let mut assembler =
            IntervalAssembler::new(2, 4, Nanos::from_secs(warm), Nanos::from_secs(measure));
        let mut seconds = Vec::new();
        for worker in order {
            if let Some(snapshot) = waiting[*worker].pop_front() {
                assembler.add(*worker, snapshot);
            }
            while let Some(second) = assembler.next_second() {
                seconds.push(second);
            }
        }
        (assembler, seconds)
    }

    #[test]
    fn recorded_workers_become_seconds_of_phases() {
        let (mut assembler, mut seconds) = recorded(1, 2, &[0, 1, 0, 1, 0, 0, 0, 1, 1, 1]);
        assert_eq!(
            phases(&seconds),
            [PhaseKind::Warm, PhaseKind::Measure, PhaseKind::Measure]
        );
        assert!(assembler.is_over());
        assert_eq!(seconds[0].tick.start, Nanos::ZERO);
        for pair in seconds.windows(2) {
            assert_eq!(pair[0].tick.end, pair[1].tick.start);
            let lasted = pair[1].tick.end - pair[1].tick.start;
            assert!(lasted.0.abs_diff(1_000_000_000) < 20_000_000, "{lasted}");
        }
        // 140 reads, 60 writes and 20 log writes per second of each worker were asked for, and fio kept to it.
        let committed = |txn: usize| seconds[1].tallies[txn].counts.committed as f64;
        for (txn, asked) in [(0, 280.0), (1, 120.0), (3, 40.0)] {
            assert!(
                (committed(txn) / asked - 1.0).abs() < 0.1,
                "{txn}: {}",
                committed(txn)
            );
        }
        let shares = assembler.shares();
        let shared: u64 = shares.iter().map(|share| share.requests).sum();
        assert_eq!(shared, requests(&seconds[1..]));
        assert_eq!(shares.len(), 8);
        seconds.extend(assembler.remainder(false));
        let last = seconds.last().unwrap();
        assert_eq!(last.tick.phase, PhaseKind::Cool);
        let all: u64 = WORKERS
            .iter()
            .flat_map(|text| snapshots(text, &shape()).pop().unwrap().totals)
            .map(|total| total.requests())
            .sum();
        assert_eq!(requests(&seconds), all, "nothing disappears");
        assert!(assembler.remainder(false).is_none());
    }

    #[test]
    fn shares_and_seconds_have_the_same_histograms() {
        let (assembler, seconds) = recorded(0, 3, &[0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(phases(&seconds), [PhaseKind::Measure; 3], "without warm-up");
        for txn in 0..4 {
            let mut merged = Hist::new();
            seconds
                .iter()
                .for_each(|second| merged.merge(&second.tallies[txn].response));
            let mut shared = Hist::new();
            let shares = assembler.shares();
            let of_txn = shares.iter().filter(|share| share.txn == txn);
            of_txn.for_each(|share| shared.merge(&share.response));
            assert_eq!(merged, shared, "{txn}");
            assert!(merged.count() > 0);
        }
    }

    #[test]
    fn without_a_snapshot_of_each_worker_nothing_counts_as_measured() {
        let mut assembler = IntervalAssembler::new(2, 4, Nanos::ZERO, Nanos::from_secs(9));
        let sent = snapshots(WORKERS[0], &shape());
        assembler.add(0, sent[0].clone());
        assembler.add(0, sent[1].clone());
        assert!(assembler.next_second().is_none() && assembler.began_ms().is_none());
        let remainder = assembler.remainder(false).unwrap();
        assert!(assembler.began_ms().is_some());
        assert_eq!(remainder.tick.phase, PhaseKind::Cool);
        let whole: u64 = sent[1].totals.iter().map(Total::requests).sum();
        assert_eq!(requests(&[remainder]), whole);
        assert!(assembler.shares().iter().all(|share| share.requests == 0));
    }

    #[test]
    fn load_that_ends_by_itself_is_measured_to_its_end() {
        let mut assembler = IntervalAssembler::new(1, 1, Nanos::ZERO, Nanos::from_secs(9));
        assembler.add(0, snapshot(1_000_250, 7));
        let last = assembler.remainder(true).unwrap();
        assert_eq!(
            (last.tick.phase, last.tick.end),
            (PhaseKind::Measure, Nanos::from_millis(250))
        );
        assert_eq!(assembler.shares()[0].requests, 7);
    }

    #[test]
    fn without_snapshots_there_are_no_seconds() {
        let mut assembler = IntervalAssembler::new(3, 1, Nanos::ZERO, Nanos::SECOND);
        assert!(
            assembler.next_second().is_none()
                && assembler.remainder(false).is_none()
                && assembler.began_ms().is_none()
        );
    }

    fn snapshot(at_ms: u64, n: u64) -> Snapshot {
        let total = Total {
            bins: [(5_000, n)].into(),
            bytes: n * 512,
            sum: u128::from(n * 5_000),
            max: Nanos(5_000),
        };
        Snapshot {
            at_ms,
            running_ms: at_ms - 1_000_000,
            totals: vec![total],
            error: 0,
        }
    }

    proptest! {
        /// In whatever order and at whatever distances snapshots come: ticks have no gap, and every request is in one.
        #[test]
        fn every_request_is_in_one_tick(
            steps in prop::collection::vec((0usize..3, 1u64..3_000, 0u64..50), 0..60),
            warm in 0u64..5, measure in 1u64..6,
        ) {
            let mut assembler = IntervalAssembler::new(3, 1, Nanos::from_secs(warm), Nanos::from_secs(measure));
            let mut at = [(1_000_000u64, 0u64); 3];
            let mut seconds = Vec::new();
            for (worker, ms, n) in steps {
                let (time, done) = &mut at[worker];
                (*time, *done) = (*time + ms, *done + n);
                assembler.add(worker, snapshot(*time, *done));
                seconds.extend(super::tests::seconds(&mut assembler));
            }
            let measured: u64 = requests(&seconds.iter().filter(|second| second.tick.phase == PhaseKind::Measure).cloned().collect::<Vec<_>>());
            prop_assert_eq!(assembler.shares().iter().map(|share| share.requests).sum::<u64>(), measured);
            seconds.extend(assembler.remainder(false));
            prop_assert_eq!(requests(&seconds), at.iter().map(|(_, n)| n).sum::<u64>());
            for pair in seconds.windows(2) {
                prop_assert_eq!(pair[0].tick.end, pair[1].tick.start);
                prop_assert!(pair[0].tick.phase <= pair[1].tick.phase);
            }
        }
    }
}
