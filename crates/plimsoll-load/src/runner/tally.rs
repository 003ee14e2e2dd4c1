//! What workers write down and how it is merged once a second.
//!
//! A worker appends raw entries to its own buffer (an uncontended lock and a push: no histogram on the hot path). The
//! lane swaps the buffers after each tick and sorts the entries into ticks by their own time stamps, so that it does not
//! matter when the swap happens, and no outcome is counted in two seconds or in none.
//!
//! An outcome counts in the tick in which it ended. Its response time belongs to the tick in which it was due: a window's
//! percentiles would otherwise lack what took longest, because that ends after the window.

use std::sync::{Mutex, PoisonError};

use plimsoll_plan::schedule::Tick;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{Absence, LaneSecond, LateTimes, TickPlace, TransactionStats};

/// Entries a worker may hold between two merges: 260,000 transactions a second, five times what one core can drive.
const CAPACITY: usize = 1 << 18;

/// How an intent was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Committed,
    RolledBack,
    Failed,
    /// Failed, because the load was over before it had an answer.
    Abandoned,
    Dropped,
}

/// An intent that became due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offered {
    pub txn: u8,
    pub due: Nanos,
}

/// An intent that is over. Times count from the lane's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettledIntent {
    pub txn: u8,
    pub settled: Settled,
    pub retries: u16,
    pub round_trips: u32,
    pub due: Nanos,
    pub start: Nanos,
    pub end: Nanos,
}

/// Entries since the last merge.
#[derive(Debug, Default)]
pub struct Entries {
    pub offered: Vec<Offered>,
    pub outcomes: Vec<SettledIntent>,
    /// Entries that found the buffer full.
    pub overflow: u64,
}

impl Entries {
    fn append(&mut self, other: &mut Self) {
        let Self {
            offered,
            outcomes,
            overflow,
        } = other;
        self.offered.append(offered);
        self.outcomes.append(outcomes);
        self.overflow += std::mem::take(overflow);
    }
}

/// One worker's notebook.
#[derive(Debug, Default)]
pub struct Notebook(Mutex<Entries>);

impl Notebook {
    fn with<R>(&self, f: impl FnOnce(&mut Entries) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn offered(&self, entry: Offered) {
        self.with(|entries| {
            if entries.offered.len() < CAPACITY {
                entries.offered.push(entry);
            } else {
                entries.overflow += 1;
            }
        });
    }

    pub fn settled(&self, entry: SettledIntent) {
        self.with(|entries| {
            if entries.outcomes.len() < CAPACITY {
                entries.outcomes.push(entry);
            } else {
                entries.overflow += 1;
            }
        });
    }
}

/// Sorts entries into ticks.
#[derive(Debug)]
pub struct Merger {
    txns: usize,
    /// Whether what has no end counts with its age.
    keeps_unfinished: bool,
    /// All merged so far.
    ticks: Vec<MergedTick>,
    pending: Entries,
    spare: Entries,
    /// Intents due minus intents settled, over all merged ticks.
    in_flight: i64,
}

#[derive(Debug, Clone, Copy)]
struct MergedTick {
    start: Nanos,
    place: TickPlace,
}

impl Merger {
    pub fn new(txns: usize, keeps_unfinished: bool) -> Self {
        Self {
            txns,
            keeps_unfinished,
            ticks: Vec::new(),
            pending: Entries::default(),
            spare: Entries::default(),
            in_flight: 0,
        }
    }

    /// Intents due but not settled at the end of the last merged tick; negative would mean an outcome without intent.
    pub fn in_flight(&self) -> i64 {
        self.in_flight
    }

    /// Takes what the workers wrote and gives everything that belongs before `tick.end`.
    pub fn merge(&mut self, notebooks: &[&Notebook], tick: Tick) -> LaneSecond {
        for notebook in notebooks {
            // Swapped, not copied, so that the worker waits for nothing.
            notebook.with(|entries| std::mem::swap(entries, &mut self.spare));
            self.pending.append(&mut self.spare);
        }
        let last = self.ticks.last().map(|tick| tick.place);
        self.ticks.push(MergedTick {
            start: tick.start,
            place: TickPlace::after(last, tick.phase),
        });
        let mut second = LaneSecond {
            tick,
            in_flight: 0,
            tallies: vec![TransactionStats::default(); self.txns],
            earlier: Vec::new(),
            late: 0,
            overflow: std::mem::take(&mut self.pending.overflow),
            merge_lag: Nanos::ZERO,
            absence: Absence::default(),
        };
        self.pending.offered.retain(|entry| {
            let here = entry.due < tick.end;
            if here {
                second.tallies[usize::from(entry.txn)].counts.offered += 1;
                second.late += u64::from(entry.due < tick.start);
            }
            !here
        });
        let mut outcomes = std::mem::take(&mut self.pending.outcomes);
        outcomes.retain(|entry| {
            let here = entry.end < tick.end;
            if here {
                count(&mut second.tallies[usize::from(entry.txn)], entry);
                self.add_times(&mut second, entry);
                second.late += u64::from(entry.end < tick.start);
            }
            !here
        });
        self.pending.outcomes = outcomes;
        let sum =
            |f: fn(&TransactionStats) -> u64| second.tallies.iter().map(f).sum::<u64>() as i64;
        self.in_flight += sum(|t| t.counts.offered) - sum(|t| t.counts.settled());
        second.in_flight = self.in_flight.max(0) as u64;
        second
    }

    /// Into the tick in which it was due.
    fn add_times(&self, second: &mut LaneSecond, entry: &SettledIntent) {
        let txn = usize::from(entry.txn);
        let after = self.ticks.partition_point(|tick| tick.start <= entry.due);
        let place = self.ticks[after.saturating_sub(1)].place;
        if after == self.ticks.len() {
            return add_time(&mut second.tallies[txn], entry, self.keeps_unfinished);
        }
        let known = second.earlier.iter().position(|own| own.place == place);
        let index = known.unwrap_or_else(|| {
            let tallies = vec![TransactionStats::default(); self.txns];
            second.earlier.push(LateTimes { place, tallies });
            second.earlier.len() - 1
        });
        let tallies = &mut second.earlier[index].tallies;
        add_time(&mut tallies[txn], entry, self.keeps_unfinished);
    }
}

fn add_time(tally: &mut TransactionStats, entry: &SettledIntent, keeps_unfinished: bool) {
    let SettledIntent {
        settled,
        due,
        start,
        end,
        ..
    } = *entry;
    let response = end.saturating_sub(due);
    let service = end.saturating_sub(start);
    match settled {
        Settled::Committed | Settled::RolledBack => tally.record(response, service),
        Settled::Abandoned if keeps_unfinished => tally.record_unfinished(response, Some(service)),
        // One that found the queue full was refused at once; the others waited for a connection until the end.
        Settled::Dropped if keeps_unfinished && response > Nanos::ZERO => {
            tally.record_unfinished(response, None);
        }
        Settled::Failed | Settled::Abandoned | Settled::Dropped => {}
    }
}

fn count(tally: &mut TransactionStats, entry: &SettledIntent) {
    let SettledIntent {
        settled,
        retries,
        round_trips,
        ..
    } = *entry;
    let counts = &mut tally.counts;
    counts.retries += u64::from(retries);
    counts.round_trips += u64::from(round_trips);
    match settled {
        Settled::Committed => counts.committed += 1,
        Settled::RolledBack => counts.rolled_back += 1,
        Settled::Failed | Settled::Abandoned => counts.failed += 1,
        Settled::Dropped => counts.dropped += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::schedule::PhaseKind;
    use proptest::prelude::*;

    fn outcome(due: u64, start: u64, end: u64) -> SettledIntent {
        let [due, start, end] = [due, start, end].map(Nanos::from_millis);
        SettledIntent {
            txn: 0,
            settled: Settled::Committed,
            retries: 1,
            round_trips: 3,
            due,
            start,
            end,
        }
    }

    fn tick(second: u64) -> Tick {
        Tick {
            start: Nanos::from_secs(second),
            end: Nanos::from_secs(second + 1),
            phase: PhaseKind::Measure,
        }
    }

    proptest! {
        /// Whatever the order in which entries arrive and whenever the buffers are swapped, each is counted once, in
        /// the second in which it ended, and its time belongs to the one in which it was due.
        #[test]
        fn every_outcome_is_counted_once_in_its_own_second(ends in prop::collection::vec(0u64..5_000, 0..200)) {
            let notebook = Notebook::default();
            let mut merger = Merger::new(1, true);
            let mut times = [0; 5];
            for end in &ends {
                notebook.offered(Offered { txn: 0, due: Nanos::from_millis(end / 2) });
                notebook.settled(outcome(end / 2, end / 2, *end));
            }
            let mut total = 0;
            for second in 0..5 {
                let merged = merger.merge(&[&notebook], tick(second));
                let here = ends.iter().filter(|end| *end / 1000 == second).count() as u64;
                let waiting = ends.iter().filter(|end| **end >= (second + 1) * 1000 && **end / 2 < (second + 1) * 1000);
                prop_assert_eq!(merged.tallies[0].counts.committed, here);
                times[second as usize] += merged.tallies[0].response.count();
                for late in &merged.earlier {
                    prop_assert!(u64::from(late.place.ordinal) < second);
                    times[late.place.ordinal as usize] += late.tallies[0].response.count();
                }
                prop_assert_eq!(merged.in_flight, waiting.count() as u64);
                prop_assert_eq!(merged.late, 0);
                total += here;
            }
            prop_assert_eq!(total, ends.len() as u64);
            for (second, n) in times.iter().enumerate() {
                let due = ends.iter().filter(|end| *end / 2 / 1000 == second as u64).count();
                prop_assert_eq!(*n, due as u64, "due in {}", second);
            }
            prop_assert_eq!(merger.in_flight(), 0);
        }
    }

    #[test]
    fn an_outcome_that_comes_after_its_tick_is_counted_late() {
        let notebook = Notebook::default();
        let mut merger = Merger::new(1, true);
        merger.merge(&[&notebook], tick(0));
        notebook.offered(Offered {
            txn: 0,
            due: Nanos::from_millis(1_100),
        });
        notebook.settled(outcome(900, 900, 950));
        let merged = merger.merge(&[&notebook], tick(1));
        assert_eq!((merged.late, merged.tallies[0].counts.committed), (1, 1));
    }

    #[test]
    fn a_full_notebook_counts_its_overflow() {
        let notebook = Notebook::default();
        let mut merger = Merger::new(1, true);
        for _ in 0..CAPACITY + 7 {
            notebook.offered(Offered {
                txn: 0,
                due: Nanos::ZERO,
            });
        }
        assert_eq!(merger.merge(&[&notebook], tick(0)).overflow, 7);
    }
}
