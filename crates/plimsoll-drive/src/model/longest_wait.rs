//! No request to a disk waits longer than follows from its figures.

use proptest::prelude::*;

use super::write_buffer::LONGEST_DRAIN;
use super::*;
use crate::catalog;
use crate::spec::{DiskSpec, WriteCache};
use plimsoll_plan::units::Bytes;

const CAPACITY: u64 = 16 << 30;

fn disks() -> Vec<DriveSpec> {
    catalog::all()
        .iter()
        .map(|entry| catalog::load(entry.name, entry.text).unwrap())
        .filter(|spec| matches!(spec.mechanism, Mechanism::Disk(_)))
        .collect()
}

fn disk(spec: &mut DriveSpec) -> &mut DiskSpec {
    let Mechanism::Disk(disk) = &mut spec.mechanism else {
        panic!("a disk")
    };
    disk
}

/// Full stroke, a turn, and the transfer where it is slowest.
fn longest_service(disk: &DiskSpec, op: Op) -> u64 {
    match op.kind {
        DriveOp::Flush | DriveOp::Trim => 0,
        DriveOp::Read | DriveOp::Write => {
            let slowest = disk.inner_ns_per_byte.max(disk.outer_ns_per_byte);
            disk.seek_full.0 + disk.turn.0 + (op.len as f64 * slowest) as u64
        }
    }
}

/// A host that keeps at most so many requests in flight.
struct BoundedHost {
    drive: Drive,
    disk: DiskSpec,
    depth: usize,
    now: Nanos,
    sent: ByRequest<SentWithBound>,
    in_flight: usize,
    /// Longest service of all that is in flight.
    ahead: u64,
    longest: Nanos,
}

#[derive(Clone, Copy)]
struct SentWithBound {
    at: Nanos,
    service: u64,
    bound: u64,
    op: Op,
}

impl BoundedHost {
    fn new(mut spec: DriveSpec, depth: usize) -> Self {
        let setup = Setup {
            capacity: Bytes(CAPACITY),
            fill: 1.0,
            seed: 1,
            ignores_flush: false,
        };
        Self {
            drive: Drive::new(&spec, &setup),
            disk: disk(&mut spec).clone(),
            depth,
            now: Nanos::ZERO,
            sent: ByRequest::default(),
            in_flight: 0,
            ahead: 0,
            longest: Nanos::ZERO,
        }
    }

    fn send(&mut self, op: Op) {
        self.advance(self.now);
        while self.in_flight >= self.depth {
            self.now = self.drive.next_event().unwrap();
            self.advance(self.now);
        }
        let service = longest_service(&self.disk, op);
        self.ahead += service;
        let link = (op.len as f64 * self.disk.interface_ns_per_byte) as u64;
        let bound = self.disk.command.0 + link + LONGEST_DRAIN as u64 + self.ahead;
        let id = self.drive.submit(self.now, op);
        let sent = SentWithBound {
            at: self.now,
            service,
            // Each sum rounds.
            bound: bound + 1_000,
            op,
        };
        self.sent.set(id, sent);
        self.in_flight += 1;
    }

    fn advance(&mut self, to: Nanos) {
        while let Some(done) = self.drive.advance(to) {
            let sent = *self.sent.get(done.id);
            let waited = done.at - sent.at;
            assert!(
                waited.0 <= sent.bound,
                "{:?} waited {waited} of at most {}",
                sent.op,
                Nanos(sent.bound)
            );
            self.longest = self.longest.max(waited);
            self.ahead -= sent.service;
            self.in_flight -= 1;
        }
    }
}

/// Equal requests one after the other.
#[derive(Debug, Clone)]
struct Burst {
    kind: DriveOp,
    len: u64,
    requests: u64,
    gap: u64,
    /// Places are drawn from so much of the disk, from its start or its end.
    within: u64,
    at_end: bool,
    is_sequential: bool,
    /// After so many requests a flush; 0: never.
    flush_after: u64,
}

impl Burst {
    fn send(&self, host: &mut BoundedHost, random: &mut Random) {
        for i in 0..self.requests {
            host.now += Nanos(self.gap);
            let within = self.within.max(self.len);
            let at = if self.is_sequential {
                i * self.len % within
            } else {
                random.below(within)
            };
            let offset = if self.at_end {
                CAPACITY - within + at
            } else {
                at
            };
            let op = Op {
                kind: self.kind,
                offset,
                len: self.len,
            };
            host.send(op);
            if self.flush_after > 0 && i % self.flush_after == self.flush_after - 1 {
                host.send(FLUSH);
            }
        }
    }
}

const FLUSH: Op = Op {
    kind: DriveOp::Flush,
    offset: 0,
    len: 0,
};

prop_compose! {
    fn any_burst()(
        kind in prop::sample::select(vec![DriveOp::Read, DriveOp::Write, DriveOp::Write, DriveOp::Flush]),
        len in prop::sample::select(vec![512u64, 4096, 4096, 4096, 16 << 10, 128 << 10, 4 << 20]),
        requests in 1u64..12_000,
        gap in prop::sample::select(vec![0, 0, 50_000, 3_000_000, 20_000_000]),
        within in 24u32..35,
        at_end: bool,
        is_sequential in prop::bool::weighted(0.2),
        flush_after in prop::sample::select(vec![0, 0, 1, 30, 2000]),
    ) -> Burst {
        // As many bytes as fill a large buffer some times, but not requests without end.
        let requests = requests.min((1 << 30) / len);
        Burst { kind, len, requests, gap, within: 1 << within.min(34), at_end, is_sequential, flush_after }
    }
}

prop_compose! {
    fn any_disk()(
        mut spec in prop::sample::select(disks()),
        queue in 1usize..33,
        buffer in 0u32..10,
        buffers_writes in prop::bool::weighted(0.9),
        is_protected in prop::bool::weighted(0.1),
        is_as_stated: bool,
    ) -> DriveSpec {
        if !is_as_stated {
            let disk = disk(&mut spec);
            disk.queue = queue;
            disk.buffer = Bytes::mib(1 << buffer);
            disk.buffers_writes = buffers_writes;
            spec.write_cache = if is_protected { WriteCache::Protected } else { WriteCache::Volatile };
        }
        spec
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_request_waits_longer_than_the_bound(
        spec in any_disk(),
        bursts in prop::collection::vec(any_burst(), 1..8),
        depth in prop::sample::select(vec![1usize, 2, 4, 16, 32, 200]),
        seed: u64,
    ) {
        let mut host = BoundedHost::new(spec, depth);
        let mut random = Random::new(seed);
        for burst in &bursts {
            burst.send(&mut host, &mut random);
            host.send(FLUSH);
        }
        host.advance(Nanos(u64::MAX));
    }
}

/// Emptying the buffer took 41 s, and twice of it could be ahead: a flush made room at once.
#[test]
fn a_flush_of_a_full_buffer_takes_no_longer_than_the_longest_drain() {
    for spec in disks() {
        let mut host = BoundedHost::new(spec, 1);
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            host.send(Op {
                kind: DriveOp::Write,
                offset: random.below(CAPACITY / 4096) * 4096,
                len: 4096,
            });
        }
        host.send(FLUSH);
        host.advance(Nanos(u64::MAX));
        let longest = host.longest.as_secs_f64();
        assert!((14.5..15.1).contains(&longest), "{longest} s");
    }
}

#[test]
fn a_read_at_the_far_edge_is_not_left_behind_while_others_keep_coming_near_the_head() {
    for spec in disks() {
        let mut host = BoundedHost::new(spec, 32);
        let mut random = Random::new(1);
        for i in 0..2000 {
            let offset = if i % 100 == 99 {
                CAPACITY - 4096
            } else {
                random.below(1 << 10) * 4096
            };
            host.send(Op {
                kind: DriveOp::Read,
                offset,
                len: 4096,
            });
        }
        host.advance(Nanos(u64::MAX));
        let service = host.disk.seek_full.0 + host.disk.turn.0;
        let longest = host.longest;
        assert!(longest.0 < 32 * service, "{longest}");
    }
}
