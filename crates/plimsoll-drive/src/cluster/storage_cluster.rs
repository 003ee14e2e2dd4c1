//! A cluster in the midst of its work.

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::cluster::ClusterSpec;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::components::{Components, SentRequest};
use super::disk_group::DiskGroup;
use super::host::{ClusterHost, HostTimes};
use super::host_store::{StoreEvent, StoreRequest, TimedStoreEvent};
use super::placement::{PlacedObject, place};
use super::trips::{Trip, Trips};
use crate::array::{Array, FollowingRequest, HostRequests, RebuildSpeed};
use crate::model::{
    Assembled, ByRequest, Completion, CompletionQueue, Op, RequestId, Setup, Storage, Work,
};
use crate::spec::DriveSpec;

/// Always: a request completes once, when the last of its parts is complete; no request goes to a host that is down; a
/// write is complete only when it is in the write buffers of all its components.
#[derive(Debug, Clone)]
pub struct Cluster {
    spec: ClusterSpec,
    drive: DriveSpec,
    /// Of each drive with data.
    setup: Setup,
    /// Processor time of a request that asks no drive.
    stack: Nanos,
    hosts: Vec<ClusterHost>,
    objects: Vec<VirtualObject>,
    /// Objects whose components are being rebuilt.
    rebuilding: Vec<usize>,
    trips: Trips,
    ahead: CompletionQueue,
    events: ByRequest<ClusterEvent>,
    requests: HostRequests,
}

/// A virtual disk, or a part of it that has components of its own.
#[derive(Debug, Clone)]
struct VirtualObject {
    placed: PlacedObject,
    array: Array<Components>,
    /// The cluster's request, by the array's.
    requests: ByRequest<RequestId>,
}

#[derive(Debug, Clone, Copy)]
enum ClusterEvent {
    /// The component's host begins to receive it.
    Arrives(usize),
    Received(usize),
    /// The host's processors are done with it.
    Processed(usize),
    /// Its home begins to receive the answer.
    Returns(usize),
    Answered(usize),
    /// A part of a request that asks no drive is complete.
    Ends(RequestId),
    Store(HostEvent),
}

/// On the drives of a host.
#[derive(Debug, Clone, Copy)]
struct HostEvent {
    host: u32,
    generation: u32,
    event: StoreEvent,
}

impl Cluster {
    /// Of drives such as this one. `setup` is the cluster's.
    pub fn new(drive: &DriveSpec, spec: &ClusterSpec, setup: &Setup) -> Self {
        let member = drive.clone().member();
        // A cluster made smaller has drives made as much smaller.
        let share = setup.capacity.0 as f64 / drive.capacity.0 as f64;
        let placed = place(spec, setup.capacity.0, setup.seed);
        let setup = Setup {
            capacity: drive_bytes(&placed, (member.capacity.0 as f64 * share) as u64),
            ..setup.clone()
        };
        let group = |host| new_group(&member, &setup, spec, host);
        let hosts = (0..spec.hosts).map(|host| ClusterHost {
            group: group(host),
            is_down: spec.failed.contains(&host),
            generation: 0,
        });
        let layout = spec.layout();
        let object = |placed: PlacedObject| VirtualObject::new(spec, &layout, placed, drive.slower);
        let times = HostTimes::new(spec, drive.slower);
        let mut own = Self {
            stack: times.stack,
            hosts: hosts.collect(),
            objects: placed.into_iter().map(object).collect(),
            rebuilding: Vec::new(),
            trips: Trips::new(times, spec.hosts),
            ahead: CompletionQueue::default(),
            events: ByRequest::default(),
            requests: HostRequests::default(),
            spec: spec.clone(),
            drive: member,
            setup,
        };
        own.move_homes();
        if let Some(host) = spec.rebuild {
            own.rebuilding = own.objects_on(host).map(|on| on.object).collect();
        }
        own
    }

    /// Virtual disks whose host is down are used from another one.
    fn move_homes(&mut self) {
        let up: Vec<u32> = (0..self.spec.hosts)
            .filter(|host| !self.hosts[*host as usize].is_down)
            .collect();
        for (number, object) in self.objects.iter_mut().enumerate() {
            if self.hosts[object.placed.home as usize].is_down && !up.is_empty() {
                object.placed.home = up[number % up.len()];
            }
        }
    }

    /// Components on a host.
    fn objects_on(&self, host: u32) -> impl Iterator<Item = OnHost> {
        let objects = self.objects.iter().enumerate();
        objects.filter_map(move |(object, own)| {
            let mut components = own.placed.components.iter();
            let member = components.position(|place| place.host == host)? as u32;
            Some(OnHost { object, member })
        })
    }

    fn at(&mut self, at: Nanos, event: ClusterEvent) {
        let id = self.ahead.add(at);
        self.events.set(id, event);
    }

    /// Begins a request, of which one part is open.
    fn start(&mut self, now: Nanos, request: RequestId, op: Op) {
        match op.kind {
            DriveOp::Read | DriveOp::Write => self.start_parts(now, request, op),
            // A write is durable when it is acknowledged, and nothing is unmapped.
            DriveOp::Flush | DriveOp::Trim => {
                self.requests.add_part(request);
                self.at(now + self.stack, ClusterEvent::Ends(request));
            }
        }
        self.end_part(now, request);
    }

    fn start_parts(&mut self, now: Nanos, request: RequestId, op: Op) {
        let end = op.offset + op.len;
        let is_before = |own: &VirtualObject| own.placed.to <= op.offset;
        let first = self.objects.partition_point(is_before);
        for object in first..self.objects.len() {
            let own = &mut self.objects[object];
            let PlacedObject { from, to, .. } = own.placed;
            if from >= end {
                break;
            }
            let begin = op.offset.max(from);
            let part = Op {
                offset: begin - from,
                len: end.min(to) - begin,
                ..op
            };
            self.requests.add_part(request);
            let id = own.array.submit(now, part);
            own.requests.set(id, request);
            self.run_object(now, object);
        }
    }

    fn end_part(&mut self, now: Nanos, request: RequestId) {
        if let Some(FollowingRequest { host, op }) = self.requests.end_part(now, request) {
            self.start(now, host, op);
        }
    }

    /// Sends what an object asks its components for, and takes what it has completed.
    fn run_object(&mut self, now: Nanos, object: usize) {
        loop {
            let own = &mut self.objects[object];
            let done = own.array.advance(now);
            let sent = own.array.members_mut().take_sent();
            let request = done.map(|done| *own.requests.get(done.id));
            if request.is_none() && sent.is_empty() {
                return;
            }
            for request in sent {
                self.depart(object, request);
            }
            if let Some(request) = request {
                self.end_part(now, request);
            }
        }
    }

    fn depart(&mut self, object: usize, sent: SentRequest) {
        let PlacedObject {
            home, components, ..
        } = &self.objects[object].placed;
        let at = components[sent.request.member as usize];
        let op = sent.request.op;
        let trip = Trip {
            object,
            id: sent.id,
            op: Op {
                offset: at.base + op.offset,
                ..op
            },
            home: *home,
            at,
            generation: self.hosts[at.host as usize].generation,
        };
        let number = self.trips.add(trip);
        if !trip.is_remote() {
            return self.received(sent.at, number);
        }
        let arrives = self.trips.send_request(sent.at, number);
        self.at(arrives, ClusterEvent::Arrives(number));
    }

    fn received(&mut self, now: Nanos, number: usize) {
        let processed = self.trips.process(now, number);
        self.at(processed, ClusterEvent::Processed(number));
    }

    fn processed(&mut self, now: Nanos, number: usize) {
        let trip = self.trips.get(number);
        let request = StoreRequest {
            trip: number,
            drive: trip.at.drive,
            op: trip.op,
        };
        let own = &mut self.hosts[trip.at.host as usize];
        let mut ahead = Vec::new();
        if own.generation == trip.generation {
            own.group.submit(now, request, &mut ahead);
        } else {
            ahead.push(request.stored(now));
        }
        self.expect(trip.at.host, ahead);
    }

    /// What will happen on the drives of a host.
    fn expect(&mut self, host: u32, ahead: Vec<TimedStoreEvent>) {
        let generation = self.hosts[host as usize].generation;
        for TimedStoreEvent { at, event } in ahead {
            let event = HostEvent {
                host,
                generation,
                event,
            };
            self.at(at, ClusterEvent::Store(event));
        }
    }

    fn happen_on(&mut self, now: Nanos, own: HostEvent) {
        if let StoreEvent::Stored(trip) = own.event {
            return self.stored(now, trip);
        }
        let host = &mut self.hosts[own.host as usize];
        // Else it has failed or was replaced since.
        if host.generation == own.generation {
            let mut ahead = Vec::new();
            host.group.happen(now, own.event, &mut ahead);
            self.expect(own.host, ahead);
        }
    }

    fn stored(&mut self, now: Nanos, number: usize) {
        if !self.trips.get(number).is_remote() {
            return self.answered(now, number);
        }
        let arrives = self.trips.send_answer(now, number);
        self.at(arrives, ClusterEvent::Returns(number));
    }

    fn answered(&mut self, now: Nanos, number: usize) {
        let trip = self.trips.remove(number);
        let object = &mut self.objects[trip.object];
        object.array.members_mut().answer(now, trip.id);
        self.run_object(now, trip.object);
    }

    fn happen(&mut self, now: Nanos, event: ClusterEvent) {
        match event {
            ClusterEvent::Arrives(number) => {
                let received = self.trips.receive_request(now, number);
                self.at(received, ClusterEvent::Received(number));
            }
            ClusterEvent::Received(number) => self.received(now, number),
            ClusterEvent::Processed(number) => self.processed(now, number),
            ClusterEvent::Returns(number) => {
                let received = self.trips.receive_answer(now, number);
                self.at(received, ClusterEvent::Answered(number));
            }
            ClusterEvent::Answered(number) => self.answered(now, number),
            ClusterEvent::Ends(request) => self.end_part(now, request),
            ClusterEvent::Store(own) => self.happen_on(now, own),
        }
    }

    /// The object whose rebuild does something next, and when.
    fn next_rebuild(&self) -> Option<(Nanos, usize)> {
        let next = self.rebuilding.iter().filter_map(|object| {
            let at = self.objects[*object].array.next_event()?;
            Some((at, *object))
        });
        next.min()
    }

    fn run_to(&mut self, to: Nanos) {
        while self.step(to) {}
    }

    /// The next thing that happens up to a time. False if nothing does.
    fn step(&mut self, to: Nanos) -> bool {
        let event_at = self.ahead.next_at();
        let rebuild = self.next_rebuild();
        let is_next = |at: Nanos| at <= to && event_at.is_none_or(|event| at < event);
        if let Some((at, object)) = rebuild.filter(|(at, _)| is_next(*at)) {
            self.run_object(at, object);
            return true;
        }
        let Some(done) = self.ahead.take(to) else {
            return false;
        };
        let event = *self.events.get(done.id);
        self.happen(done.at, event);
        true
    }

    /// A host goes down with all that its drives hold. False where data are lost by that.
    fn fail_host(&mut self, now: Nanos, host: u32) -> bool {
        self.run_to(now);
        let own = &mut self.hosts[host as usize];
        own.is_down = true;
        own.generation += 1;
        self.move_homes();
        let mut survives = true;
        let lost: Vec<OnHost> = self.objects_on(host).collect();
        for OnHost { object, member } in lost {
            survives &= self.objects[object].array.fail(now, member);
            self.run_object(now, object);
        }
        for number in self.hosts[host as usize].group.fail() {
            self.answered(now, number);
        }
        survives
    }

    /// Empty drives take the place of a host's and are filled from the others, each component at md's speed limits.
    fn replace_host(&mut self, now: Nanos, host: u32, speed: RebuildSpeed) {
        self.run_to(now);
        let own = &mut self.hosts[host as usize];
        own.is_down = false;
        own.generation += 1;
        own.group = new_group(&self.drive, &self.setup, &self.spec, host + self.spec.hosts);
        let anew: Vec<OnHost> = self.objects_on(host).collect();
        self.rebuilding = anew.iter().map(|on| on.object).collect();
        for OnHost { object, member } in anew {
            self.objects[object].array.replace(now, member, speed);
            self.run_object(now, object);
        }
    }
}

/// An object's component on a host.
#[derive(Debug, Clone, Copy)]
struct OnHost {
    object: usize,
    member: u32,
}

impl VirtualObject {
    fn new(spec: &ClusterSpec, layout: &ArraySpec, placed: PlacedObject, slower: f64) -> Self {
        let member_on = |host: &u32| {
            let mut components = placed.components.iter();
            components.position(|place| place.host == *host)
        };
        let failed = spec.failed.iter().filter_map(member_on);
        let layout = ArraySpec {
            failed: failed.map(|member| member as u32).collect(),
            rebuild: spec
                .rebuild
                .as_ref()
                .and_then(member_on)
                .map(|own| own as u32),
            ..layout.clone()
        };
        let capacity = Bytes(placed.component_bytes);
        Self {
            array: Array::of_members(&layout, capacity, Components::default(), slower),
            placed,
            requests: ByRequest::default(),
        }
    }
}

fn new_group(drive: &DriveSpec, setup: &Setup, spec: &ClusterSpec, host: u32) -> DiskGroup {
    let setup = setup.of_member(host * spec.drives + 1);
    DiskGroup::new(drive, &setup, spec.drives - 1, spec.buffer)
}

/// Bytes of each drive with data: as many as it has, or what is placed on the fullest one.
fn drive_bytes(placed: &[PlacedObject], least: u64) -> Bytes {
    let ends = placed.iter().flat_map(|object| {
        let components = object.components.iter();
        components.map(|own| own.base + object.component_bytes)
    });
    Bytes(ends.fold(least, u64::max))
}

impl Storage for Cluster {
    fn submit(&mut self, now: Nanos, op: Op) -> RequestId {
        self.run_to(now);
        let request = self.requests.begin();
        self.start(now, request, op);
        request
    }

    fn next_event(&self) -> Option<Nanos> {
        let complete = self.requests.next_at();
        let rebuild = self.next_rebuild().map(|(at, _)| at);
        let events = [complete, rebuild, self.ahead.next_at()];
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
        let hosts = self.hosts.iter();
        hosts.flat_map(|host| host.group.work()).collect()
    }
}

impl Assembled for Cluster {
    fn announce(&mut self) {
        self.requests.announce();
    }

    fn take_known(&mut self) -> Vec<Completion> {
        self.requests.take_known().collect()
    }

    fn submit_after(&mut self, now: Nanos, first: Op, op: Op) -> RequestId {
        self.run_to(now);
        let host = self.requests.begin();
        let before = self
            .requests
            .begin_before(Some(FollowingRequest { host, op }));
        self.start(now, before, first);
        host
    }

    fn has_member(&self, member: u32) -> bool {
        member < self.spec.hosts
    }

    fn fail(&mut self, now: Nanos, member: u32) -> bool {
        self.fail_host(now, member)
    }

    fn can_replace(&self, member: u32) -> bool {
        let mut rebuilding = self.rebuilding.iter();
        let is_rebuilding = rebuilding.any(|object| self.objects[*object].array.is_rebuilding());
        self.hosts[member as usize].is_down && !is_rebuilding
    }

    fn replace(&mut self, now: Nanos, member: u32) {
        self.replace_host(now, member, RebuildSpeed::default());
    }

    fn has_rebuilt(&self, member: u32) -> bool {
        self.objects_on(member)
            .all(|on| self.objects[on.object].array.has_rebuilt(on.member))
    }

    fn rebuilt(&self) -> Bytes {
        let objects = self.rebuilding.iter();
        Bytes(
            objects
                .map(|object| self.objects[*object].array.rebuilt().0)
                .sum(),
        )
    }

    fn power_cycle(&mut self, now: Nanos) {
        for host in &mut self.hosts {
            host.group.power_cycle(now);
        }
        for object in &mut self.objects {
            object.array.power_cycle(now);
        }
        self.trips.clear();
        self.ahead.clear();
        self.requests.clear();
    }
}

#[cfg(test)]
impl Cluster {
    /// Nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.trips.is_empty() && self.requests.is_empty()
    }
}
