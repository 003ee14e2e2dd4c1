//! Requests on their way to a host and back: network, the host's processors, and, when they are answered, network.

use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveOp;
use slab::Slab;

use super::host::HostTimes;
use crate::model::{Op, RequestId};
use crate::network::Server;

/// A request that goes to a host.
#[derive(Debug, Clone, Copy)]
pub struct Trip {
    pub purpose: TripPurpose,
    pub object: usize,
    /// The host or client that waits for the answer. Clients are numbered after the hosts.
    pub from: u32,
    pub to: u32,
    /// Where in the object, or on the drive.
    pub op: Op,
    /// The host's processors have to do with it.
    pub is_processed: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum TripPurpose {
    /// A part of a request, on its way to the host that coordinates the object.
    Part(RequestId),
    /// To a component of the object.
    Component(ComponentTrip),
}

#[derive(Debug, Clone, Copy)]
pub struct ComponentTrip {
    /// The number under which it is answered.
    pub id: usize,
    pub drive: u32,
    /// That of the component's host when it departed.
    pub generation: u32,
}

impl Trip {
    pub const fn is_remote(&self) -> bool {
        self.from != self.to
    }

    /// Bytes that go to the host.
    fn bytes_there(&self) -> u64 {
        if self.op.kind == DriveOp::Write {
            self.op.len
        } else {
            0
        }
    }

    fn bytes_back(&self) -> u64 {
        if self.op.kind == DriveOp::Read {
            self.op.len
        } else {
            0
        }
    }
}

/// All that are under way, by number, and what they go through.
#[derive(Debug, Clone)]
pub struct Trips {
    times: HostTimes,
    hosts: Vec<HostServers>,
    under_way: Slab<Trip>,
}

/// Of one host. A client has but its network.
#[derive(Debug, Clone, Copy, Default)]
struct HostServers {
    /// Processors, as one server: what a host can do in a second counts, not what a request waits.
    stack: Server,
    sending: Server,
    receiving: Server,
}

impl Trips {
    pub fn new(times: HostTimes, hosts_and_clients: u32) -> Self {
        Self {
            times,
            hosts: vec![HostServers::default(); hosts_and_clients as usize],
            under_way: Slab::new(),
        }
    }

    /// The network of each host, in each direction, all times being so many times as long.
    pub fn set_network(&mut self, gbit: u32, slower: f64) {
        self.times.set_network(gbit, slower);
    }

    pub fn add(&mut self, trip: Trip) -> usize {
        self.under_way.insert(trip)
    }

    pub fn get(&self, number: usize) -> Trip {
        self.under_way[number]
    }

    pub fn remove(&mut self, number: usize) -> Trip {
        self.under_way.remove(number)
    }

    /// Nothing is under way any more, and nothing is busy.
    pub fn clear(&mut self) {
        self.under_way.clear();
        self.hosts.fill(HostServers::default());
    }

    /// When it begins to arrive at its host.
    pub fn send_request(&mut self, now: Nanos, number: usize) -> Nanos {
        let trip = self.under_way[number];
        self.send(now, trip.from, trip.bytes_there())
    }

    /// When its host has all of it.
    pub fn receive_request(&mut self, now: Nanos, number: usize) -> Nanos {
        let trip = self.under_way[number];
        self.receive(now, trip.to, trip.bytes_there())
    }

    /// When its host's processors are done with it.
    pub fn process(&mut self, now: Nanos, number: usize) -> Nanos {
        let host = self.under_way[number].to;
        let busy = self.times.stack;
        self.hosts[host as usize].stack.serve(now, busy)
    }

    /// When its answer begins to arrive where it came from.
    pub fn send_answer(&mut self, now: Nanos, number: usize) -> Nanos {
        let trip = self.under_way[number];
        self.send(now, trip.to, trip.bytes_back())
    }

    pub fn receive_answer(&mut self, now: Nanos, number: usize) -> Nanos {
        let trip = self.under_way[number];
        self.receive(now, trip.from, trip.bytes_back())
    }

    /// When bytes of a host begin to arrive at another one: the first do while the last are sent.
    fn send(&mut self, now: Nanos, from: u32, bytes: u64) -> Nanos {
        let busy = self.times.transfer(bytes);
        let gone = self.hosts[from as usize].sending.serve(now, busy);
        gone.saturating_sub(busy) + self.times.one_way
    }

    /// When a host has all bytes that begin to arrive `now`.
    fn receive(&mut self, now: Nanos, at: u32, bytes: u64) -> Nanos {
        let busy = self.times.transfer(bytes);
        self.hosts[at as usize].receiving.serve(now, busy)
    }
}

#[cfg(test)]
impl Trips {
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}
