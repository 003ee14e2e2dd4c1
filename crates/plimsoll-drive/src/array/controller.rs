//! What a host reaches an array through: a network, a cache or a journal, and a processor that handles
//! stripes.
//!
//! A request goes over the network, to the cache or journal if there is one, and to the array if that does not complete
//! it; its answer goes back. Writes to the array, the host's or destaged ones, wait for the processor: as in md (raid5.c,
//! `handle_stripe`), one thread handles each row of 4 KiB over all members that is written.

mod cache;
mod journal;

use std::collections::VecDeque;

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::network::NetworkSpec;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use self::cache::{CacheAnswer, ControllerCache};
use self::journal::Journal;
use super::batches::Batches;
use super::host_requests::{FollowingRequest, HostRequests};
use super::raid_array::Array;
use crate::destaging::DirtyRun;
use crate::model::{
    Assembled, ByRequest, Completion, CompletionQueue, Op, RebuildReport, RequestId, Setup,
    Storage, Work,
};
use crate::network::{LineRate, Server, TCP_SHARE, slowed};
use crate::spec::DriveSpec;

/// Until the controller answers from its cache (assumed: firmware and PCI Express).
const CACHE_ANSWER: Nanos = Nanos::from_micros(10);

/// Always: a request completes once, after its way there, its work and its way back; the array gets requests in the order
/// of their times.
#[derive(Debug, Clone)]
pub struct ArrayController {
    array: Array,
    network: Option<ArrayNetwork>,
    cache: Option<ControllerCache>,
    journal: Option<Journal>,
    /// Writes that are in the journal and wait for a flush.
    logged: Batches<HostOp>,
    cache_answer: Nanos,
    /// Writes that wait for room in the cache.
    waiting: VecDeque<HostOp>,
    processor: StripeProcessor,
    requests: HostRequests,
    ahead: CompletionQueue,
    events: ByRequest<ControllerEvent>,
    /// By the array's requests.
    sent: ByRequest<ArrayRequest>,
}

/// A host's request.
#[derive(Debug, Clone, Copy)]
struct HostOp {
    id: RequestId,
    op: Op,
}

/// A request to the array: a host's, or what is destaged.
#[derive(Debug, Clone, Copy)]
enum ArrayRequest {
    Host(HostOp),
    Destaged(DirtyRun),
}

impl ArrayRequest {
    fn op(self) -> Op {
        match self {
            Self::Host(host) => host.op,
            Self::Destaged(DirtyRun { offset, len }) => Op {
                kind: DriveOp::Write,
                offset,
                len,
            },
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum ControllerEvent {
    Arrives(HostOp),
    /// The cache or the journal has done it.
    Kept(HostOp),
    /// A write is in the journal, which is not flushed yet.
    Logged(HostOp),
    JournalFlushed,
    /// The processor is done with it.
    Processed(ArrayRequest),
    /// The host has the answer.
    Answered(RequestId),
}

/// One host and one array, with lines of the same speed in each direction.
#[derive(Debug, Clone)]
struct ArrayNetwork {
    to_array: Server,
    to_host: Server,
    one_way: Nanos,
    rate: LineRate,
    /// Before all events.
    usual_gbit: u32,
    slower: f64,
}

impl ArrayNetwork {
    fn new(spec: NetworkSpec, slower: f64) -> Self {
        Self {
            to_array: Server::default(),
            to_host: Server::default(),
            one_way: slowed(Nanos(spec.round_trip.0 / 2), slower),
            rate: LineRate::new(spec.gbit, TCP_SHARE, slower),
            usual_gbit: spec.gbit,
            slower,
        }
    }

    fn power_cycle(&mut self) {
        self.to_array = Server::default();
        self.to_host = Server::default();
    }

    /// When the array has the request.
    fn send(&mut self, now: Nanos, op: Op) -> Nanos {
        let bytes = if op.kind == DriveOp::Write { op.len } else { 0 };
        self.to_array.serve(now, self.rate.transfer(bytes)) + self.one_way
    }

    /// When the host has the answer.
    fn answer(&mut self, now: Nanos, op: Op) -> Nanos {
        let bytes = if op.kind == DriveOp::Read { op.len } else { 0 };
        self.to_host.serve(now, self.rate.transfer(bytes)) + self.one_way
    }
}

/// Handles the rows that are written, one at a time.
#[derive(Debug, Clone)]
struct StripeProcessor {
    server: Server,
    per_row: Nanos,
    /// Data in a row.
    row: u64,
}

impl StripeProcessor {
    fn new(spec: &ArraySpec, slower: f64) -> Self {
        Self {
            server: Server::default(),
            per_row: slowed(spec.stack, slower),
            row: spec.row_bytes(),
        }
    }

    fn serve(&mut self, now: Nanos, op: Op) -> Nanos {
        if op.kind != DriveOp::Write || self.per_row == Nanos::ZERO {
            return now;
        }
        // Requests that follow each other share rows.
        let rows = (op.len as f64 / self.row as f64).max(1.0);
        self.server.serve(now, slowed(self.per_row, rows))
    }
}

impl ArrayController {
    /// Of an array of drives such as this one. `setup` is the array's.
    pub fn new(drive: &DriveSpec, spec: &ArraySpec, setup: &Setup) -> Self {
        let journal = spec.journal;
        Self {
            network: spec.network.map(|own| ArrayNetwork::new(own, drive.slower)),
            cache: ControllerCache::of(spec, setup.capacity.0),
            journal: journal.map(|mode| Journal::new(drive, spec, mode, setup)),
            logged: Batches::default(),
            cache_answer: slowed(CACHE_ANSWER, drive.slower),
            waiting: VecDeque::new(),
            array: Array::new(drive, spec, setup),
            processor: StripeProcessor::new(spec, drive.slower),
            requests: HostRequests::default(),
            ahead: CompletionQueue::default(),
            events: ByRequest::default(),
            sent: ByRequest::default(),
        }
    }

    fn at(&mut self, at: Nanos, event: ControllerEvent) {
        let id = self.ahead.add(at);
        self.events.set(id, event);
    }

    fn start(&mut self, now: Nanos, id: RequestId, op: Op) {
        let network = self.network.as_mut();
        let arrives = network.map_or(now, |own| own.send(now, op));
        self.at(arrives, ControllerEvent::Arrives(HostOp { id, op }));
    }

    fn happen(&mut self, now: Nanos, event: ControllerEvent) {
        match event {
            ControllerEvent::Arrives(host) => {
                self.take(now, host);
                self.destage(now);
            }
            ControllerEvent::Kept(host) => self.answer(now, host),
            ControllerEvent::Logged(host) => {
                self.logged.wait(host);
                self.flush_journal(now);
            }
            ControllerEvent::JournalFlushed => {
                for host in self.logged.end() {
                    self.ask_array(now, ArrayRequest::Host(host));
                }
                self.flush_journal(now);
            }
            ControllerEvent::Processed(request) => {
                let id = self.array.submit(now, request.op());
                self.sent.set(id, request);
            }
            ControllerEvent::Answered(id) => {
                if let Some(FollowingRequest { host, op }) = self.requests.end_part(now, id) {
                    self.start(now, host, op);
                }
            }
        }
    }

    fn take(&mut self, now: Nanos, host: HostOp) {
        let others_wait = !self.waiting.is_empty();
        let cache = self.cache.as_mut();
        let answer = cache.map_or(CacheAnswer::AsksArray, |own| own.take(host.op, others_wait));
        match answer {
            CacheAnswer::Complete => self.keep(now, host),
            CacheAnswer::Waits => self.waiting.push_back(host),
            CacheAnswer::AsksArray => self.log(now, host),
        }
    }

    /// It is in memory; what has to survive a power cut goes to the journal, if there is one.
    fn keep(&mut self, now: Nanos, host: HostOp) {
        let kept = match (&mut self.journal, host.op.kind) {
            (Some(own), DriveOp::Write) => own.log(now, host.op),
            (Some(own), DriveOp::Flush) => own.flush(now),
            _ => now + self.cache_answer,
        };
        self.at(kept, ControllerEvent::Kept(host));
    }

    /// Asks the array, once a write is in the journal.
    fn log(&mut self, now: Nanos, host: HostOp) {
        match &mut self.journal {
            Some(own) if own.is_before_writes() && host.op.kind == DriveOp::Write => {
                let logged = own.log(now, host.op);
                self.at(logged, ControllerEvent::Logged(host));
            }
            // What is complete is in the journal, flushed (raid5-cache.c, `r5l_handle_flush_request`).
            Some(own) if own.is_before_writes() && host.op.kind == DriveOp::Flush => {
                self.at(now, ControllerEvent::Kept(host));
            }
            _ => self.ask_array(now, ArrayRequest::Host(host)),
        }
    }

    fn flush_journal(&mut self, now: Nanos) {
        if let Some(own) = &mut self.journal
            && self.logged.begin()
        {
            let flushed = own.flush(now);
            self.at(flushed, ControllerEvent::JournalFlushed);
        }
    }

    fn ask_array(&mut self, now: Nanos, request: ArrayRequest) {
        let processed = self.processor.serve(now, request.op());
        self.at(processed, ControllerEvent::Processed(request));
    }

    fn destage(&mut self, now: Nanos) {
        let is_needed = !self.waiting.is_empty();
        let begin = |own: &mut ControllerCache| own.begin_destaging(is_needed);
        while let Some(run) = self.cache.as_mut().and_then(begin) {
            self.ask_array(now, ArrayRequest::Destaged(run));
        }
    }

    fn complete(&mut self, now: Nanos, request: ArrayRequest) {
        match request {
            ArrayRequest::Host(host) => {
                if let Some(own) = &mut self.cache {
                    own.keep(host.op);
                }
                self.answer(now, host);
            }
            ArrayRequest::Destaged(run) => {
                if let Some(own) = &mut self.cache {
                    own.end_destaging(run);
                }
                // There is room for writes that wait.
                while let Some(host) = self.waiting.front().copied() {
                    let mut cache = self.cache.iter_mut();
                    if !cache.any(|own| own.write(host.op)) {
                        break;
                    }
                    self.waiting.pop_front();
                    self.keep(now, host);
                }
                self.destage(now);
            }
        }
    }

    fn answer(&mut self, now: Nanos, host: HostOp) {
        let network = self.network.as_mut();
        let answered = network.map_or(now, |own| own.answer(now, host.op));
        self.at(answered, ControllerEvent::Answered(host.id));
    }

    fn run_to(&mut self, to: Nanos) {
        while self.step(to) {}
    }

    /// The next thing that happens up to a time. False if nothing does.
    fn step(&mut self, to: Nanos) -> bool {
        let event_at = self.ahead.next_at();
        let array_at = self.array.next_event();
        let is_next = |at: &Nanos| *at <= to && event_at.is_none_or(|event| *at <= event);
        if let Some(at) = array_at.filter(is_next) {
            if let Some(done) = self.array.advance(at) {
                self.complete(done.at, *self.sent.get(done.id));
            }
            return true;
        }
        let Some(done) = self.ahead.take(to) else {
            return false;
        };
        let event = *self.events.get(done.id);
        self.happen(done.at, event);
        true
    }
}

impl Storage for ArrayController {
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        self.run_to(now);
        let id = self.requests.begin();
        self.start(now, id, op);
        id
    }

    fn next_event(&self) -> Option<Nanos> {
        let complete = self.requests.next_at();
        let events = [complete, self.ahead.next_at(), self.array.next_event()];
        events.into_iter().flatten().min()
    }

    fn advance(&mut self, to: Nanos) -> Option<Completion> {
        loop {
            if let Some(done) = self.requests.take(to) {
                return Some(done);
            }
            if !self.step(to) {
                return None;
            }
        }
    }

    fn work_by_drive(&self) -> Vec<Work> {
        let journal = self.journal.iter().map(Journal::work);
        self.array
            .work_by_drive()
            .into_iter()
            .chain(journal)
            .collect()
    }
}

impl Assembled for ArrayController {
    fn announce(&mut self) {
        self.requests.announce();
    }

    fn take_known(&mut self) -> Vec<Completion> {
        self.requests.take_known().collect()
    }

    fn submit_after(&mut self, now: Nanos, first: Op, op: Op) -> RequestId {
        self.run_to(now);
        let host = self.requests.begin();
        let following = FollowingRequest { host, op };
        let before = self.requests.begin_before(Some(following));
        self.start(now, before, first);
        host
    }

    fn has_member(&self, member: u32) -> bool {
        self.array.has_member(member)
    }

    fn is_missing(&self, member: u32) -> bool {
        self.array.is_missing(member)
    }

    fn fail(&mut self, now: Nanos, member: u32) -> bool {
        self.run_to(now);
        self.array.fail(now, member)
    }

    fn take_rebuild_reports(&mut self) -> Vec<RebuildReport> {
        self.array.take_rebuild_reports()
    }

    fn can_replace(&self, member: u32) -> bool {
        self.array.can_replace(member)
    }

    fn replace(&mut self, now: Nanos, member: u32) {
        self.run_to(now);
        Assembled::replace(&mut self.array, now, member);
    }

    fn bring_back(&mut self, now: Nanos, member: u32) {
        self.run_to(now);
        Assembled::bring_back(&mut self.array, now, member);
    }

    fn slow_down(&mut self, now: Nanos, member: u32, factor: f64) {
        self.run_to(now);
        self.array.slow_down(now, member, factor);
    }

    fn set_network(&mut self, now: Nanos, gbit: u32) -> Option<u32> {
        self.run_to(now);
        let network = self.network.as_mut()?;
        network.rate = LineRate::new(gbit, TCP_SHARE, network.slower);
        Some(network.usual_gbit)
    }

    fn has_rebuilt(&self, member: u32) -> bool {
        self.array.has_rebuilt(member)
    }

    fn rebuilt(&self) -> Bytes {
        self.array.rebuilt()
    }

    fn power_cycle(&mut self, now: Nanos) {
        self.array.power_cycle(now);
        self.cache.iter_mut().for_each(ControllerCache::power_cycle);
        self.journal.iter_mut().for_each(|own| own.power_cycle(now));
        self.network.iter_mut().for_each(ArrayNetwork::power_cycle);
        self.processor.server = Server::default();
        self.logged.clear();
        self.waiting.clear();
        self.ahead.clear();
        self.requests.clear();
    }
}

#[cfg(test)]
impl ArrayController {
    /// Nothing is under way.
    fn is_idle(&self) -> bool {
        self.array.is_idle() && self.requests.is_empty()
    }
}

#[cfg(test)]
mod tests;
