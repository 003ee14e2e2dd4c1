//! A cluster in the midst of its work.

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::cluster::ClusterSpec;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;
use slab::Slab;

use super::components::{Components, SentRequest};
use super::disk_group::{DestagedPiece, DiskGroup};
use super::host::{ClusterHost, HostTimes, Server};
use super::placement::{ComponentPlace, PlacedObject, place};
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
    times: HostTimes,
    hosts: Vec<ClusterHost>,
    objects: Vec<VirtualObject>,
    /// Objects whose components are being rebuilt.
    rebuilding: Vec<usize>,
    trips: Slab<Trip>,
    /// Trips that wait for room in a write buffer, by host.
    waiting: Vec<Vec<usize>>,
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

/// A request to a component, on its way there and back.
#[derive(Debug, Clone, Copy)]
struct Trip {
    object: usize,
    /// The number under which it is answered.
    id: usize,
    /// Where on the drive.
    op: Op,
    home: u32,
    at: ComponentPlace,
    /// That of the component's host when it departed.
    generation: u32,
}

/// A piece on its way from a write buffer to its drive.
#[derive(Debug, Clone, Copy)]
struct Destaging {
    host: u32,
    generation: u32,
    piece: DestagedPiece,
}

impl Trip {
    const fn is_remote(&self) -> bool {
        self.home != self.at.host
    }

    /// Bytes that go to the component's host.
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

#[derive(Debug, Clone, Copy)]
enum ClusterEvent {
    /// The component's host begins to receive it.
    Arrives(usize),
    Received(usize),
    /// The host's processors are done with it.
    Processed(usize),
    Stored(usize),
    /// Its home begins to receive the answer.
    Returns(usize),
    Answered(usize),
    /// A part of a request that asks no drive is complete.
    Ends(RequestId),
    /// A piece was read from the write buffer.
    BufferRead(Destaging),
    Destaged(Destaging),
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
            stack: Server::default(),
            sending: Server::default(),
            receiving: Server::default(),
            is_down: spec.failed.contains(&host),
            generation: 0,
        });
        let layout = spec.layout();
        let object = |placed: PlacedObject| VirtualObject::new(spec, &layout, placed, drive.slower);
        let mut own = Self {
            times: HostTimes::new(spec, drive.slower),
            hosts: hosts.collect(),
            objects: placed.into_iter().map(object).collect(),
            rebuilding: Vec::new(),
            trips: Slab::new(),
            waiting: vec![Vec::new(); spec.hosts as usize],
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
                self.at(now + self.times.stack, ClusterEvent::Ends(request));
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
        let number = self.trips.insert(trip);
        if !trip.is_remote() {
            return self.received(sent.at, number);
        }
        let arrives = self.send(sent.at, trip.home, trip.bytes_there());
        self.at(arrives, ClusterEvent::Arrives(number));
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

    fn arrives(&mut self, now: Nanos, number: usize) {
        let trip = self.trips[number];
        let received = self.receive(now, trip.at.host, trip.bytes_there());
        self.at(received, ClusterEvent::Received(number));
    }

    fn received(&mut self, now: Nanos, number: usize) {
        let host = &mut self.hosts[self.trips[number].at.host as usize];
        let processed = host.stack.serve(now, self.times.stack);
        self.at(processed, ClusterEvent::Processed(number));
    }

    fn processed(&mut self, now: Nanos, number: usize) {
        let Trip {
            op, at, generation, ..
        } = self.trips[number];
        let ComponentPlace { host, drive, .. } = at;
        let own = &mut self.hosts[host as usize];
        let drive = drive as usize;
        let stored = match op.kind {
            _ if own.generation != generation => Some(now),
            DriveOp::Read => Some(own.group.read(now, drive, op)),
            _ if !self.waiting[host as usize].is_empty() => None,
            _ => own.group.write(now, drive, op),
        };
        match stored {
            Some(stored) => self.at(stored, ClusterEvent::Stored(number)),
            None => self.waiting[host as usize].push(number),
        }
        if op.kind == DriveOp::Write && self.hosts[host as usize].generation == generation {
            self.destage(now, host);
        }
    }

    fn stored(&mut self, now: Nanos, number: usize) {
        let trip = self.trips[number];
        if !trip.is_remote() {
            return self.answered(now, number);
        }
        let arrives = self.send(now, trip.at.host, trip.bytes_back());
        self.at(arrives, ClusterEvent::Returns(number));
    }

    fn returns(&mut self, now: Nanos, number: usize) {
        let trip = self.trips[number];
        let received = self.receive(now, trip.home, trip.bytes_back());
        self.at(received, ClusterEvent::Answered(number));
    }

    fn answered(&mut self, now: Nanos, number: usize) {
        let trip = self.trips.remove(number);
        let object = &mut self.objects[trip.object];
        object.array.members_mut().answer(now, trip.id);
        self.run_object(now, trip.object);
    }

    fn destage(&mut self, now: Nanos, host: u32) {
        let generation = self.hosts[host as usize].generation;
        let is_needed = !self.waiting[host as usize].is_empty();
        let group = &mut self.hosts[host as usize].group;
        let mut begun = Vec::new();
        while let Some(next) = group.begin_destaging(now, is_needed) {
            begun.push(next);
        }
        for (piece, read) in begun {
            let destaging = Destaging {
                host,
                generation,
                piece,
            };
            self.at(read, ClusterEvent::BufferRead(destaging));
        }
    }

    /// There is room in the write buffer for writes that wait.
    fn destaged(&mut self, now: Nanos, destaging: Destaging) {
        let Destaging { host, piece, .. } = destaging;
        self.hosts[host as usize].group.end_destaging(piece);
        let waiting = std::mem::take(&mut self.waiting[host as usize]);
        let mut waiting = waiting.into_iter();
        while let Some(number) = waiting.next() {
            let Trip { op, at, .. } = self.trips[number];
            let group = &mut self.hosts[host as usize].group;
            let Some(stored) = group.write(now, at.drive as usize, op) else {
                let rest = std::iter::once(number).chain(waiting);
                self.waiting[host as usize] = rest.collect();
                break;
            };
            self.at(stored, ClusterEvent::Stored(number));
        }
        self.destage(now, host);
    }

    fn happen(&mut self, now: Nanos, event: ClusterEvent) {
        match event {
            ClusterEvent::Arrives(number) => self.arrives(now, number),
            ClusterEvent::Received(number) => self.received(now, number),
            ClusterEvent::Processed(number) => self.processed(now, number),
            ClusterEvent::Stored(number) => self.stored(now, number),
            ClusterEvent::Returns(number) => self.returns(now, number),
            ClusterEvent::Answered(number) => self.answered(now, number),
            ClusterEvent::Ends(request) => self.end_part(now, request),
            ClusterEvent::BufferRead(own) | ClusterEvent::Destaged(own) if self.is_gone(own) => {}
            ClusterEvent::BufferRead(own) => {
                let group = &mut self.hosts[own.host as usize].group;
                let written = group.write_destaged(now, own.piece);
                self.at(written, ClusterEvent::Destaged(own));
            }
            ClusterEvent::Destaged(own) => self.destaged(now, own),
        }
    }

    /// Its host has failed or was replaced since.
    fn is_gone(&self, own: Destaging) -> bool {
        self.hosts[own.host as usize].generation != own.generation
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
        for number in std::mem::take(&mut self.waiting[host as usize]) {
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

    fn slow_down(&mut self, now: Nanos, member: u32, factor: f64) {
        self.run_to(now);
        self.hosts[member as usize].group.slow_down(now, factor);
    }

    fn set_network(&mut self, now: Nanos, gbit: u32) -> Option<u32> {
        self.run_to(now);
        self.times.set_network(gbit, self.drive.slower);
        Some(self.spec.network_gbit)
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
        let ahead = self.ahead.ids().map(|id| *self.events.get(id));
        let destaging = ahead.filter_map(|event| match event {
            ClusterEvent::BufferRead(own) | ClusterEvent::Destaged(own) => Some(own),
            _ => None,
        });
        let destaging: Vec<Destaging> = destaging.filter(|own| !self.is_gone(*own)).collect();
        for (number, host) in self.hosts.iter_mut().enumerate() {
            let own = destaging.iter().filter(|own| own.host as usize == number);
            host.group.power_cycle(now, own.map(|own| own.piece));
        }
        for object in &mut self.objects {
            object.array.power_cycle(now);
        }
        self.trips.clear();
        self.waiting.iter_mut().for_each(Vec::clear);
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
