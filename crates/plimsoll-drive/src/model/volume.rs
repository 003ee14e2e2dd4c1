//! A cloud's volume: two token buckets (requests and bytes) in front of a latency.
//!
//! The buckets are the generic cell rate algorithm (ITU-T I.371): a bucket is the time at which it would be empty of
//! debts, and a request waits until that time is no further ahead than the burst.

use super::random::{LognormalTable, Random, mix};
use super::{DriveOp, Op, Setup};
use crate::spec::VolumeSpec;

#[derive(Debug, Clone)]
struct Bucket {
    ns_per_token: f64,
    burst_ns: f64,
    paid_until: f64,
}

impl Bucket {
    fn new(ns_per_token: f64, burst: f64) -> Self {
        Self {
            ns_per_token,
            burst_ns: burst * ns_per_token,
            paid_until: 0.0,
        }
    }

    /// When this many tokens are there.
    #[inline]
    fn take(&mut self, now: f64, tokens: f64) -> f64 {
        let from = self.paid_until.max(now);
        self.paid_until = from + tokens * self.ns_per_token;
        (self.paid_until - self.burst_ns).max(now)
    }

    /// No request waits for tokens any more; those that are spent stay so.
    fn forget_waiting(&mut self, now: f64) {
        self.paid_until = self.paid_until.min(now + self.burst_ns);
    }
}

#[derive(Debug, Clone)]
pub struct Volume {
    ios: Bucket,
    bytes: Bucket,
    unit: u64,
    read: LognormalTable,
    write: LognormalTable,
    flush: u64,
    ignores_flush: bool,
    random: Random,
}

impl Volume {
    pub fn new(spec: &VolumeSpec, setup: &Setup) -> Self {
        Self {
            ios: Bucket::new(spec.ns_per_io, spec.burst_ios),
            bytes: Bucket::new(spec.ns_per_byte, spec.burst_bytes),
            unit: spec.unit.max(1),
            read: LognormalTable::new(spec.read),
            write: LognormalTable::new(spec.write),
            flush: spec.flush.0,
            ignores_flush: setup.ignores_flush,
            random: Random::new(mix(setup.seed)),
        }
    }

    pub fn power_cycle(&mut self, now: u64) {
        [&mut self.ios, &mut self.bytes]
            .into_iter()
            .for_each(|bucket| bucket.forget_waiting(now as f64));
    }

    #[inline]
    pub fn submit(&mut self, now: u64, op: Op) -> u64 {
        let latency = match op.kind {
            DriveOp::Read => self.read.at(self.random.draw()),
            DriveOp::Write => self.write.at(self.random.draw()),
            DriveOp::Flush if self.ignores_flush => return now,
            // Acknowledged writes are on several servers already; trims are taken note of.
            DriveOp::Flush | DriveOp::Trim => return now + self.flush,
        };
        let requests = op.len.div_ceil(self.unit).max(1);
        let admitted = self
            .ios
            .take(now as f64, requests as f64)
            .max(self.bytes.take(now as f64, op.len as f64));
        admitted as u64 + latency
    }
}
