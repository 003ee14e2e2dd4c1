//! What one worker had done when fio counted, and the differences between two such moments.

use std::collections::BTreeMap;

use plimsoll_import::fio_output::{FioJob, FioOutput, Latencies};
use plimsoll_plan::resolved::{Block, BlockJob, SyncPolicy};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::{Counts, TransactionStats};

/// How fio's counts become transaction types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A group for each stream, with the kinds of requests that it makes; in the order of [`BlockJob::txns`].
    Streams(Vec<Vec<Kind>>),
    /// All jobs together, as [`Block::FILE_TXNS`] has it.
    Whole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Trim,
    Sync,
}

impl Shape {
    pub fn of_job(job: &BlockJob) -> Self {
        let kinds = job.streams.iter().map(|stream| {
            let writes = stream.read_percent < 100;
            let all = [
                (Kind::Read, stream.read_percent > 0),
                (Kind::Write, writes),
                (
                    Kind::Sync,
                    writes && matches!(stream.sync, SyncPolicy::Flush { .. }),
                ),
            ];
            all.into_iter()
                .filter(|(_, occurs)| *occurs)
                .map(|(kind, _)| kind)
                .collect()
        });
        Self::Streams(kinds.collect())
    }

    /// Number of transaction types.
    pub fn txns(&self) -> usize {
        match self {
            Self::Streams(streams) => streams.iter().map(Vec::len).sum(),
            Self::Whole => Block::FILE_TXNS.len(),
        }
    }
}

/// Everything of one kind since fio began.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Total {
    /// Requests that ended, by the latency in nanoseconds that stands for their bucket.
    pub bins: BTreeMap<u64, u64>,
    pub bytes: u64,
    /// Of all latencies.
    pub sum: u128,
    pub max: Nanos,
}

/// One of fio's documents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// Milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// Since the first request.
    pub running_ms: u64,
    /// By transaction type.
    pub totals: Vec<Total>,
    /// An errno of fio's jobs; 0 when all went well.
    pub error: i64,
}

impl Snapshot {
    /// `None`: it has not as many groups as there are streams.
    pub fn read(output: &FioOutput, shape: &Shape) -> Option<Self> {
        let totals = match shape {
            Shape::Streams(streams) => of_streams(&output.jobs, streams)?,
            Shape::Whole => [Kind::Read, Kind::Write, Kind::Trim, Kind::Sync]
                .map(|kind| {
                    output
                        .jobs
                        .iter()
                        .fold(Total::default(), |sum, job| sum.and(&of_kind(job, kind)))
                })
                .into(),
        };
        let running = output
            .jobs
            .iter()
            .flat_map(|job| [&job.read, &job.write, &job.trim]);
        Some(Self {
            at_ms: output.timestamp_ms,
            running_ms: running
                .map(|side| side.runtime_ms)
                .max()
                .unwrap_or_default(),
            totals,
            error: output
                .jobs
                .iter()
                .map(|job| job.error)
                .find(|error| *error != 0)
                .unwrap_or_default(),
        })
    }
}

fn of_streams(jobs: &[FioJob], streams: &[Vec<Kind>]) -> Option<Vec<Total>> {
    (jobs.len() == streams.len()).then(|| {
        let kinds = jobs.iter().zip(streams);
        kinds
            .flat_map(|(job, kinds)| kinds.iter().map(|kind| of_kind(job, *kind)))
            .collect()
    })
}

fn of_kind(job: &FioJob, kind: Kind) -> Total {
    match kind {
        Kind::Read => Total::of(job.read.latencies(), job.read.io_bytes),
        Kind::Write => Total::of(job.write.latencies(), job.write.io_bytes),
        Kind::Trim => Total::of(job.trim.latencies(), job.trim.io_bytes),
        Kind::Sync => job
            .sync
            .as_ref()
            .map_or_else(Total::default, |sync| Total::of(&sync.latency, 0)),
    }
}

fn count(bins: &BTreeMap<u64, u64>) -> u64 {
    bins.values().sum()
}

impl Total {
    fn of(latencies: &Latencies, bytes: u64) -> Self {
        let n = count(&latencies.bins);
        // fio counts on while it prints: mean and buckets may be some requests apart.
        let sum = (latencies.mean_ns.max(0.0) * n as f64).round() as u128;
        Self {
            bins: latencies.bins.clone(),
            bytes,
            sum,
            max: latencies.max,
        }
    }

    pub fn requests(&self) -> u64 {
        count(&self.bins)
    }

    /// This and another one's.
    pub fn and(mut self, other: &Self) -> Self {
        let Self {
            bins,
            bytes,
            sum,
            max,
        } = other;
        bins.iter()
            .for_each(|(value, n)| *self.bins.entry(*value).or_default() += n);
        self.bytes = self.bytes.saturating_add(*bytes);
        self.sum += sum;
        self.max = self.max.max(*max);
        self
    }

    /// What has come since an earlier moment. Counts that have shrunk were begun anew, as they are after `ramp_time`.
    pub fn since(&self, before: &Self) -> Self {
        let nothing = Self::default();
        let has_shrunk = before
            .bins
            .iter()
            .any(|(value, n)| self.bins.get(value).is_none_or(|now| now < n));
        let before = if has_shrunk { &nothing } else { before };
        let bins: BTreeMap<u64, u64> = self
            .bins
            .iter()
            .map(|(value, n)| (*value, n - before.bins.get(value).unwrap_or(&0)))
            .filter(|(_, n)| *n > 0)
            .collect();
        let sum = plausible(self.sum.saturating_sub(before.sum), &bins);
        // fio keeps one maximum for all time: unless it is new, that of the last bucket must do.
        let highest = Nanos(bins.keys().next_back().copied().unwrap_or_default());
        let max = if self.max > before.max {
            self.max
        } else {
            highest.min(self.max)
        };
        Self {
            bytes: self.bytes.saturating_sub(before.bytes),
            sum,
            max,
            bins,
        }
    }

    pub fn hist(&self) -> Hist {
        Hist::of_buckets(
            self.bins.iter().map(|(value, n)| (Nanos(*value), *n)),
            self.sum,
            self.max,
        )
    }

    /// Requests are counted when they end, so as many are offered as end.
    pub fn tally(&self) -> TransactionStats {
        let n = self.requests();
        let counts = Counts {
            offered: n,
            committed: n,
            round_trips: n,
            bytes: self.bytes,
            ..Counts::default()
        };
        TransactionStats::new(counts, self.hist(), None)
    }
}

/// A sum that these buckets can have: each is at most 1/64 wide, and its value is its middle.
fn plausible(sum: u128, bins: &BTreeMap<u64, u64>) -> u128 {
    let middle: u128 = bins
        .iter()
        .map(|(value, n)| u128::from(*value) * u128::from(*n))
        .sum();
    sum.clamp(middle - middle / 64, middle + middle / 64)
}

#[cfg(test)]
pub(crate) mod tests {
    use plimsoll_import::fio_output::{Documents, Piece, parse};
    use proptest::prelude::*;

    use super::*;

    /// Two workers at the same time, each with the streams `data` (reads, writes, flushes) and `log`; see the recordings.
    pub const WORKERS: [&str; 2] = [
        include_str!("../../plimsoll-import/tests/data/fio/status-worker1.out"),
        include_str!("../../plimsoll-import/tests/data/fio/status-worker2.out"),
    ];
    pub const FULL: &str = include_str!("../../plimsoll-import/tests/data/fio/status-enospc.out");

    pub fn shape() -> Shape {
        Shape::Streams(vec![
            vec![Kind::Read, Kind::Write, Kind::Sync],
            vec![Kind::Write],
        ])
    }

    pub fn snapshots(text: &str, shape: &Shape) -> Vec<Snapshot> {
        let mut documents = Documents::default();
        let pieces = text.lines().filter_map(|line| documents.line(line));
        let read = |piece| match piece {
            Piece::Document(text) => Some(Snapshot::read(&parse(&text).unwrap(), shape).unwrap()),
            Piece::Message(_) => None,
        };
        pieces.filter_map(read).collect()
    }

    #[test]
    fn recorded_seconds_add_up_to_the_whole() {
        let all = snapshots(WORKERS[0], &shape());
        let last = all.last().unwrap();
        let mut sums = vec![Total::default(); 4];
        let mut before = vec![Total::default(); 4];
        for snapshot in &all {
            for (txn, total) in snapshot.totals.iter().enumerate() {
                sums[txn] = std::mem::take(&mut sums[txn]).and(&total.since(&before[txn]));
            }
            before.clone_from(&snapshot.totals);
        }
        for (sum, whole) in sums.iter().zip(&last.totals) {
            assert_eq!(
                (&sum.bins, sum.bytes, sum.max),
                (&whole.bins, whole.bytes, whole.max)
            );
            assert!(
                (sum.sum as f64 / whole.sum as f64 - 1.0).abs() < 0.016,
                "{} {}",
                sum.sum,
                whole.sum
            );
        }
        let [reads, writes, flushes, log] = &last.totals[..] else {
            panic!("{}", last.totals.len())
        };
        assert_eq!(
            (reads.bytes, log.bytes),
            (reads.requests() * 8192, log.requests() * 32768)
        );
        // One was asked for after every eighth write; fio 3.33 flushes again after each read until the next write.
        assert!(
            flushes.requests() >= writes.requests() / 8 && flushes.requests() < reads.requests()
        );
        assert_eq!(flushes.bytes, 0);
    }

    #[test]
    fn a_job_file_is_counted_as_a_whole() {
        let streams = snapshots(WORKERS[1], &shape());
        let whole = snapshots(WORKERS[1], &Shape::Whole);
        let [reads, writes, trims, flushes] = &whole.last().unwrap().totals[..] else {
            panic!("{whole:?}")
        };
        let parts = &streams.last().unwrap().totals;
        assert_eq!((reads, flushes), (&parts[0], &parts[2]));
        assert_eq!(*writes, parts[1].clone().and(&parts[3]));
        assert_eq!(*trims, Total::default());
    }

    #[test]
    fn errors_and_groups_that_are_missing_are_seen() {
        let one = Shape::Streams(vec![vec![Kind::Write]]);
        assert_eq!(snapshots(FULL, &one).last().unwrap().error, 28);
        let output = parse(FULL).unwrap();
        assert_eq!(Snapshot::read(&output, &shape()), None);
    }

    #[test]
    fn counts_that_were_begun_anew_are_counted_from_there() {
        let total = |n: u64, bytes| Total {
            bins: [(1000, n)].into(),
            bytes,
            sum: u128::from(n * 1000),
            max: Nanos(1000),
        };
        assert_eq!(total(9, 90).since(&total(4, 40)), total(5, 50));
        let anew = total(3, 30).since(&total(9, 90));
        assert_eq!(anew.requests(), 3);
        assert_eq!(anew.sum, 3000);
    }

    proptest! {
        /// Whatever is counted between two moments, the difference holds it, and its mean lies within its buckets.
        #[test]
        fn differences_hold_what_was_added(
            a in prop::collection::btree_map(1u64..1_000_000_000, 1u64..1000, 0..20),
            b in prop::collection::btree_map(1u64..1_000_000_000, 1u64..1000, 0..20),
            off in -5i64..5,
        ) {
            let of = |bins: &BTreeMap<u64, u64>| Total {
                bytes: count(bins) * 512,
                sum: bins.iter().map(|(value, n)| u128::from(value * n)).sum(),
                max: Nanos(bins.keys().next_back().copied().unwrap_or_default()),
                bins: bins.clone(),
            };
            let (before, added) = (of(&a), of(&b));
            let mut after = before.clone().and(&added);
            after.sum = after.sum.saturating_add_signed(i128::from(off));
            let since = after.since(&before);
            prop_assert_eq!(&since.bins, &added.bins);
            prop_assert_eq!(since.bytes, added.bytes);
            prop_assert!(since.sum.abs_diff(added.sum) <= 5);
            prop_assert!(since.max <= after.max);
            prop_assert_eq!(since.tally().counts.offered, since.hist().count());
        }
    }
}
