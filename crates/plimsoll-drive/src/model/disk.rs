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
//! nothing else to do, and in the order of their places: a deep buffer costs far less for each write than a short queue
//! (Seltzer, Chen and Ousterhout, Disk scheduling revisited, USENIX Winter 1990). A full buffer makes the head do it at once.
//!
//! No request waits longer than the longest drain of the buffer, the longest service (full stroke, a turn, the transfer)
//! of each read and write in flight before it, and its own.

use plimsoll_plan::units::Bytes;

use super::random::{Random, mix};
use super::seek::{Geometry, Place};
use super::streams::Streams;
use super::write_buffer::{BufferDone, WriteBuffer};
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
    buffer: WriteBuffer,
    /// Buffered writes that go on where another ended are written with it.
    streams: Streams,
    write_end: u64,
    chosen: Chosen,
}

/// Buffered writes that a disk chooses among. Disks of 7200 turns a minute are specified with twice as many random writes
/// as reads, 350 to 170 a second (Seagate Exos M, 4 KiB, 16 in flight); with this choice the model is within 10 % of both.
const SORTED_LOG2: usize = 8;

/// Mean time to the nearest of 1, 2, 4 and so on up to 2^[`SORTED_LOG2`] random places.
#[derive(Debug, Clone)]
struct Chosen([u64; SORTED_LOG2 + 1]);

impl Chosen {
    fn new(geometry: &Geometry, capacity: u64) -> Self {
        Self(std::array::from_fn(|i| {
            scattered(geometry, 1 << i, capacity)
        }))
    }

    fn of(&self, queue: usize) -> u64 {
        self.0[(queue.max(1).ilog2() as usize).min(SORTED_LOG2)]
    }

    fn shorten(&self, time: u64, queue: usize) -> u64 {
        (time as f64 * self.of(queue) as f64 / self.of(1).max(1) as f64) as u64
    }

    /// The same for a number that may lie between two of those that are known.
    fn shorten_among(&self, time: u64, places: f64) -> u64 {
        let log = places.max(1.0).log2().min(SORTED_LOG2 as f64);
        let at = (log as usize).min(SORTED_LOG2 - 1);
        let (less, more) = (self.0[at] as f64, self.0[at + 1] as f64);
        let nearest = less + (more - less) * (log - at as f64);
        (time as f64 * nearest / self.of(1).max(1) as f64) as u64
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
        let nearest = nearest(&self.places[..self.len], geometry, head, angle);
        Visit {
            place: self.take(nearest.at),
            positioning: nearest.positioning,
        }
    }

    fn will_be_done(&mut self, at: u64) {
        self.done[self.oldest] = at;
        self.oldest = (self.oldest + 1) % MOST;
    }
}

/// Which of the places is reached first, and how long that takes.
struct Nearest {
    at: usize,
    positioning: u64,
}

fn nearest(places: &[Place], geometry: &Geometry, head: Place, angle: u32) -> Nearest {
    let mut nearest = Nearest {
        at: 0,
        positioning: u64::MAX,
    };
    for (at, place) in places.iter().enumerate() {
        let positioning = geometry.position(head, angle, *place);
        if positioning < nearest.positioning {
            nearest = Nearest { at, positioning };
        }
    }
    nearest
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
            buffer: WriteBuffer::new(spec.buffer.0 / 2),
            streams: Streams::new(),
            write_end: u64::MAX,
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
            DriveOp::Flush => {
                let is_waiting = self.buffer.is_waiting();
                let BufferDone { at, free } = self.buffer.flush(now, self.free);
                self.free = free;
                if is_waiting {
                    self.written_out();
                }
                at.max(arrived)
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
        self.buffer = WriteBuffer::new(self.spec.buffer.0 / 2);
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
        let is_first = !self.buffer.is_waiting();
        if is_first {
            // The head goes there at once.
            self.free = self.free.max(now + self.spec.command.0);
            cost += self
                .geometry
                .position(self.head, self.geometry.angle(self.free), place);
        } else if !goes_on {
            // From where the last of them ends, shortened by the choice among so many.
            let angle = self.geometry.angle(self.free + self.buffer.work() as u64);
            let way = self
                .geometry
                .position(self.geometry.place(self.write_end), angle, place);
            cost += self.chosen.shorten_among(way, self.buffer.moves() + 1.0);
        }
        self.write_end = op.offset.saturating_add(op.len);
        work.writing.0 += cost;
        self.buffer.put(op.len, cost, is_first || !goes_on);
        let arrived =
            now + self.spec.command.0 + (op.len as f64 * self.spec.interface_ns_per_byte) as u64;
        let BufferDone { at, free } = self.buffer.make_room(now, self.free);
        if free > self.free {
            self.free = free;
            self.next = u64::MAX;
        }
        at.max(arrived)
    }

    /// The head writes out the buffer while no other request waits.
    fn write_out(&mut self, now: u64) {
        let idle = now.saturating_sub(self.free);
        if !self.buffer.is_waiting() || idle == 0 {
            return;
        }
        let span = (idle as f64).min(self.buffer.work());
        self.buffer.spend(span);
        self.free += span as u64;
        self.next = u64::MAX;
        if !self.buffer.is_waiting() {
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
    let visits = (4 * queue as u64).max(500);
    let mut random = Random::new(mix(1));
    let mut draw = || geometry.place(random.below(capacity.max(1)));
    let mut places: Vec<Place> = (1..queue).map(|_| draw()).collect();
    let mut head = Place::default();
    let mut now = 0;
    for _ in 0..visits {
        places.push(draw());
        let Nearest { at, positioning } = nearest(&places, geometry, head, geometry.angle(now));
        head = places.swap_remove(at);
        now += positioning;
    }
    now / visits
}
