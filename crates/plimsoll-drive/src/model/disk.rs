//! A rotating disk: an arm, a platter, a buffer, and a choice among the requests that wait.
//!
//! The disk takes the waiting request that the head reaches first (shortest positioning time first; Worthington, Ganger
//! and Patt, Scheduling algorithms for modern disk drives, SIGMETRICS 1994). A request has to be answered as soon as it
//! arrives here, so the choice is made among places only: with each request that arrives, the nearest of the places that
//! wait is visited, and the time of that visit is the new request's completion. Throughput and mean response are those
//! of the real order; the spread of single responses is understated, because requests are answered in order. While the
//! queue grows, the new place joins those that wait, and what is charged is the way to it, shortened in the proportion in
//! which a choice among so many shortens the way to random places.
//!
//! Reads that go on where the last one ended find their data read ahead; of several sequences at once each request
//! needs its positioning (disks that read ahead for each of them are faster there). Buffered writes are written when the head has
//! nothing else to do, among as many as the disk chooses from; a full buffer makes the head do it at once.

use plimsoll_plan::units::Bytes;

use super::fluid::Fluid;
use super::random::{Random, mix};
use super::seek::{Geometry, Place};
use super::streams::Streams;
use super::{DriveOp, Op, Setup, Work};
use crate::spec::{DiskSpec, WriteCache};

const MOST: usize = 32;

#[derive(Debug, Clone)]
pub struct Disk {
    spec: DiskSpec,
    is_volatile: bool,
    ignores_flush: bool,
    geometry: Geometry,
    /// When the head has done all that was asked of it, and where it is then.
    free: u64,
    head: Place,
    waiting: DiskQueue,
    /// Where the sequence goes on, and when the head read up to there.
    next: u64,
    next_at: u64,
    /// Most that is read ahead.
    ahead: u64,
    buffer: Fluid,
    /// Buffered writes that go on where another ended are written with it.
    streams: Streams,
    write_end: u64,
    chosen: Chosen,
    /// Mean positioning among as many buffered writes as the disk chooses from.
    scattered: u64,
}

/// Mean time to the nearest of 1, 2, 4, 8, 16 and 32 random places.
#[derive(Debug, Clone)]
struct Chosen([u64; 6]);

impl Chosen {
    fn new(geometry: &Geometry, capacity: u64) -> Self {
        Self(std::array::from_fn(|i| {
            scattered(geometry, 1 << i, capacity)
        }))
    }

    fn of(&self, queue: usize) -> u64 {
        self.0[(queue.max(1).ilog2() as usize).min(5)]
    }

    fn shorten(&self, time: u64, queue: usize) -> u64 {
        (time as f64 * self.of(queue) as f64 / self.of(1).max(1) as f64) as u64
    }
}

/// Places that are still to be visited, and when the requests in flight complete.
#[derive(Debug, Clone)]
struct DiskQueue {
    places: [Place; MOST],
    len: usize,
    done: [u64; MOST],
    oldest: usize,
    most: usize,
}

/// Where the head goes next, and how long it takes to get there.
struct Visit {
    place: Place,
    positioning: u64,
}

impl DiskQueue {
    fn new(most: usize) -> Self {
        Self {
            places: [Place::default(); MOST],
            len: 0,
            done: [0; MOST],
            oldest: 0,
            most: most.clamp(1, MOST),
        }
    }

    /// A request arrives; as many others as are in flight wait with it. Gives how many that are, it included, if the
    /// queue grows by it.
    fn arrive(&mut self, now: u64, place: Place) -> Option<usize> {
        let in_flight = self
            .done
            .iter()
            .filter(|done| **done > now)
            .count()
            .min(self.most - 1);
        while self.len > in_flight {
            self.take(0);
        }
        let grows = self.len < in_flight;
        self.places[self.len] = place;
        self.len += 1;
        grows.then_some(in_flight + 1)
    }

    fn take(&mut self, at: usize) -> Place {
        self.len -= 1;
        self.places.swap(at, self.len);
        self.places[self.len]
    }

    /// The place that is reached first.
    fn nearest(&mut self, geometry: &Geometry, head: Place, angle: u32) -> Visit {
        let mut positioning = u64::MAX;
        let mut at = 0;
        for (i, place) in self.places[..self.len].iter().enumerate() {
            let time = geometry.position(head, angle, *place);
            if time < positioning {
                (positioning, at) = (time, i);
            }
        }
        Visit {
            place: self.take(at),
            positioning,
        }
    }

    fn will_be_done(&mut self, at: u64) {
        self.done[self.oldest] = at;
        self.oldest = (self.oldest + 1) % MOST;
    }
}

impl Disk {
    pub fn new(spec: &DiskSpec, whole: Bytes, cache: WriteCache, setup: &Setup) -> Self {
        let geometry = Geometry::new(spec, whole, setup.capacity);
        let chosen = Chosen::new(&geometry, setup.capacity.0);
        Self {
            spec: spec.clone(),
            is_volatile: cache == WriteCache::Volatile,
            ignores_flush: setup.ignores_flush,
            free: 0,
            head: Place::default(),
            waiting: DiskQueue::new(spec.queue),
            next: u64::MAX,
            next_at: 0,
            ahead: spec.buffer.0 / 2,
            buffer: Fluid::new(spec.buffer.0 / 2),
            streams: Streams::new(),
            write_end: u64::MAX,
            scattered: chosen.of(spec.queue),
            chosen,
            geometry,
        }
    }

    pub fn submit(&mut self, now: u64, op: Op, work: &mut Work) -> u64 {
        self.write_out(now);
        let arrived = now + self.spec.command.0;
        match op.kind {
            DriveOp::Read => self.read(now, op, work),
            DriveOp::Write if self.spec.buffers_writes => self.buffered_write(now, op, work),
            DriveOp::Write => {
                let done = self.visit(now, op, work, false);
                self.next = u64::MAX;
                done
            }
            DriveOp::Flush if self.ignores_flush || !self.is_volatile => arrived,
            DriveOp::Flush if !self.buffer.is_draining() => arrived,
            DriveOp::Flush => {
                self.free = self.free.max(now) + self.buffer.work() as u64;
                self.buffer.spend(f64::INFINITY);
                self.written_out();
                self.free.max(arrived)
            }
            DriveOp::Trim => arrived,
        }
    }

    /// The head was parked.
    pub fn power_cycle(&mut self, now: u64) {
        self.free = now;
        self.head = Place::default();
        self.waiting = DiskQueue::new(self.spec.queue);
        self.next = u64::MAX;
        self.next_at = 0;
        self.write_end = u64::MAX;
        self.buffer = Fluid::new(self.spec.buffer.0 / 2);
        self.streams = Streams::new();
    }

    /// Reads, and writes without a buffer.
    fn read(&mut self, now: u64, op: Op, work: &mut Work) -> u64 {
        let transfer = (op.len as f64 * self.spec.interface_ns_per_byte) as u64;
        let arrived = now + self.spec.command.0;
        if op.offset == self.next {
            let place = self.geometry.place(op.offset);
            let media = self.geometry.transfer(place, op.len);
            let lead = self.geometry.transfer(place, self.ahead);
            let was = self.next_at;
            self.next_at = (was + media).max(now.saturating_sub(lead));
            work.reading.0 += media;
            self.next = op.offset.saturating_add(op.len);
            self.free = self.free.max(self.next_at);
            self.head = self.geometry.place(self.next);
            return self.next_at.max(arrived + transfer);
        }
        let done = self.visit(now, op, work, true);
        self.next = op.offset.saturating_add(op.len);
        self.next_at = done;
        done
    }

    /// Moves the head to the nearest of the places that wait, of which this request's is one.
    fn visit(&mut self, now: u64, op: Op, work: &mut Work, is_read: bool) -> u64 {
        let own = self.geometry.place(op.offset);
        let grows = self.waiting.arrive(now, own);
        let start = self.free.max(now + self.spec.command.0);
        let angle = self.geometry.angle(start);
        let Visit { place, positioning } = match grows {
            None => self.waiting.nearest(&self.geometry, self.head, angle),
            Some(queue) => Visit {
                place: own,
                positioning: self
                    .chosen
                    .shorten(self.geometry.position(self.head, angle, own), queue),
            },
        };
        let span = positioning + self.geometry.transfer(place, op.len);
        self.head = self.geometry.place_after(place, op.len);
        self.free = start + span;
        let busy = if is_read {
            &mut work.reading
        } else {
            &mut work.writing
        };
        busy.0 += span;
        self.waiting.will_be_done(self.free);
        self.free
    }

    fn buffered_write(&mut self, now: u64, op: Op, work: &mut Work) -> u64 {
        let place = self.geometry.place(op.offset);
        let mut cost = self.geometry.transfer(place, op.len);
        let goes_on = self.streams.continues(op.offset, op.len);
        if !self.buffer.is_draining() {
            // The head goes there at once; of several places it is only known how long they take in the mean.
            self.free = self.free.max(now + self.spec.command.0);
            cost += self
                .geometry
                .position(self.head, self.geometry.angle(self.free), place);
        } else if !goes_on {
            cost += self.scattered;
        }
        self.write_end = op.offset.saturating_add(op.len);
        work.writing.0 += cost;
        self.buffer.put(op.len as f64, cost as f64);
        let arrived =
            now + self.spec.command.0 + (op.len as f64 * self.spec.interface_ns_per_byte) as u64;
        let over = self.buffer.over();
        if over <= 0.0 {
            return arrived;
        }
        let span = self.buffer.work() * (over / self.buffer.bytes());
        self.buffer.spend(span);
        self.free = self.free.max(now) + span as u64;
        self.next = u64::MAX;
        self.free.max(arrived)
    }

    /// The head writes out the buffer while no other request waits.
    fn write_out(&mut self, now: u64) {
        let idle = now.saturating_sub(self.free);
        if !self.buffer.is_draining() || idle == 0 {
            return;
        }
        let span = (idle as f64).min(self.buffer.work());
        self.buffer.spend(span);
        self.free += span as u64;
        self.next = u64::MAX;
        if !self.buffer.is_draining() {
            self.written_out();
        }
    }

    /// The head stands where the last write ended, and nothing is being read ahead.
    fn written_out(&mut self) {
        self.head = self.geometry.place(self.write_end);
        self.next = u64::MAX;
    }
}

/// Mean positioning time when the disk always chooses among `queue` random places.
fn scattered(geometry: &Geometry, queue: usize, capacity: u64) -> u64 {
    const VISITS: u64 = 500;
    let mut random = Random::new(mix(1));
    let mut waiting = DiskQueue::new(queue);
    let mut head = Place::default();
    let mut now = 0;
    for _ in 0..queue.clamp(1, MOST) - 1 {
        waiting.places[waiting.len] = geometry.place(random.below(capacity.max(1)));
        waiting.len += 1;
    }
    for _ in 0..VISITS {
        waiting.places[waiting.len] = geometry.place(random.below(capacity.max(1)));
        waiting.len += 1;
        let visit = waiting.nearest(geometry, head, geometry.angle(now));
        head = visit.place;
        now += visit.positioning;
    }
    now / VISITS
}
