//! The measured loads again, on the model: a closed loop in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_plan::units::{Bytes, Nanos};

use super::jobs::LearnProfile;
use super::measured::{Flush, LoadResult};
use crate::model::{Drive, DriveOp, Op, Setup};
use crate::spec::{DriveSpec, Mechanism};

/// How a load is replayed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplayOptions {
    /// The part of the drive in use, from its start.
    pub region: Bytes,
    /// Between an answer and the next request in its place: what the host takes.
    pub think_us: f64,
    /// Requests that count; those that fill the drive's buffer come on top.
    pub ops: usize,
    pub seed: u64,
}

/// Requests that fill queues and buffer before any counts: the buffer fills at the difference of two rates, so it takes
/// many times its size. Bounded, for a buffer of many gigabytes.
fn warm_up(spec: &DriveSpec, profile: &LearnProfile) -> usize {
    const MOST: u64 = 200_000;
    let buffer = match &spec.mechanism {
        Mechanism::Flash(flash) => flash.buffer.0,
        Mechanism::Disk(disk) => disk.buffer.0,
        Mechanism::Volume(_) => 0,
    };
    let filling = if profile.write && profile.depth > 1 {
        8 * buffer / profile.block.0.max(1)
    } else {
        0
    };
    filling.min(MOST) as usize + 4 * profile.depth as usize
}

/// One load on a fresh drive that is full of data, the state in which figures of drives hold.
pub fn replay(spec: &DriveSpec, profile: &LearnProfile, options: &ReplayOptions) -> LoadResult {
    let setup = Setup {
        capacity: spec.capacity,
        fill: 1.0,
        seed: options.seed,
        ignores_flush: false,
    };
    let mut load = ClosedLoop::new(Drive::new(spec, &setup), profile, options);
    for _ in 0..warm_up(spec, profile) {
        load.one();
    }
    let from = load.now;
    let mut latencies = Vec::with_capacity(options.ops);
    let mut flushes = Vec::new();
    for _ in 0..options.ops.max(1) {
        let (latency, flush) = load.one();
        latencies.push(latency);
        flushes.extend(flush);
    }
    let seconds = Nanos(load.next().saturating_sub(from).max(1)).as_secs_f64();
    let iops = latencies.len() as f64 / seconds;
    let all = ReplaySummary::of(&mut latencies);
    let flush = (!flushes.is_empty()).then(|| ReplaySummary::of(&mut flushes));
    LoadResult {
        ops: latencies.len() as u64,
        iops,
        bytes_per_second: iops * profile.block.0 as f64,
        mean_us: all.mean_us,
        median_us: all.median_us,
        p99_us: all.p99_us,
        floor_us: all.floor_us,
        flush: flush.map(|flush| Flush {
            mean_us: flush.mean_us,
            median_us: flush.median_us,
        }),
    }
}

struct ReplaySummary {
    mean_us: f64,
    median_us: f64,
    p99_us: f64,
    floor_us: f64,
}

impl ReplaySummary {
    /// Sorts the nanoseconds.
    fn of(ns: &mut [u64]) -> Self {
        ns.sort_unstable();
        Self {
            mean_us: ns.iter().map(|ns| *ns as f64).sum::<f64>() / ns.len() as f64 / 1e3,
            median_us: quantile_us(ns, 0.5),
            p99_us: quantile_us(ns, 0.99),
            floor_us: quantile_us(ns, 0.0),
        }
    }
}

fn quantile_us(sorted_ns: &[u64], q: f64) -> f64 {
    let at = (sorted_ns.len() as f64 * q) as usize;
    sorted_ns[at.min(sorted_ns.len() - 1)] as f64 / 1e3
}

struct ClosedLoop<'p> {
    drive: Drive,
    profile: &'p LearnProfile,
    /// When each request in flight is followed by another.
    due: BinaryHeap<Reverse<u64>>,
    now: u64,
    think: u64,
    blocks: u64,
    next_block: u64,
    random: u64,
}

impl<'p> ClosedLoop<'p> {
    fn new(drive: Drive, profile: &'p LearnProfile, options: &ReplayOptions) -> Self {
        let span = (options.region.0 as f64 * profile.span) as u64;
        Self {
            drive,
            profile,
            due: (0..u64::from(profile.depth.max(1))).map(Reverse).collect(),
            now: 0,
            think: Nanos::from_secs_f64(options.think_us / 1e6).0,
            blocks: (span / profile.block.0.max(1)).max(1),
            next_block: 0,
            random: options.seed,
        }
    }

    fn next(&self) -> u64 {
        self.due.peek().map_or(self.now, |due| due.0)
    }

    fn offset(&mut self) -> u64 {
        let block = if self.profile.random {
            // Knuth's MMIX generator; its upper half is random enough for positions.
            self.random = self
                .random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((u128::from(self.random) * u128::from(self.blocks)) >> 64) as u64
        } else {
            self.next_block = (self.next_block + 1) % self.blocks;
            self.next_block
        };
        block * self.profile.block.0
    }

    /// One request, and the flush behind it; how long each took.
    fn one(&mut self) -> (u64, Option<u64>) {
        let now = self.due.pop().map_or(self.now, |due| due.0);
        self.now = now;
        let kind = if self.profile.write {
            DriveOp::Write
        } else {
            DriveOp::Read
        };
        let op = Op {
            kind,
            offset: self.offset(),
            len: self.profile.block.0,
        };
        let answered = self.drive.complete(Nanos(now), op).0;
        let mut done = answered;
        if self.profile.flush {
            done = self
                .drive
                .complete(
                    Nanos(answered),
                    Op {
                        kind: DriveOp::Flush,
                        offset: 0,
                        len: 0,
                    },
                )
                .0;
        }
        self.due.push(Reverse(done + self.think));
        (
            answered - now,
            self.profile.flush.then_some(done - answered),
        )
    }
}
