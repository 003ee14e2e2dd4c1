//! A cluster in the midst of its work.

mod failures;

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::cluster::{ClusterKind, ClusterSpec};
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::drive::DriveOp;

use super::components::{Components, SentRequest};
use super::host::{ClusterHost, HostTimes};
use super::host_store::HostStore;
use super::placement::{AddressMap, ObjectPart, PlacedObject, Placement, place};
use super::rebuilds::{OnHost, Rebuilds};
use super::store_event::{StoreEvent, StoreRequest, TimedStoreEvent};
use super::trips::{ComponentTrip, Trip, TripPurpose, Trips};
use crate::array::{Array, FollowingRequest, HostRequests};
use crate::model::{
    Assembled, ByRequest, Completion, CompletionQueue, Op, RebuildLog, RebuildReport, RequestId,
    Setup, Storage, Work,
};
use crate::spec::DriveSpec;

/// Always: a request completes once, when the last of its parts is complete; no request goes to a host that is down; a
/// write is complete only when all its components have it in their write buffers or logs.
#[derive(Debug, Clone)]
pub struct Cluster {
    spec: ClusterSpec,
    /// That it holds.
    bytes: u64,
    drives: DriveSpec,
    /// Of each drive with data.
    setup: Setup,
    /// Processor time of a request that asks no drive.
    stack: Nanos,
    /// All times count so many times.
    slower: f64,
    hosts: Vec<ClusterHost>,
    objects: Vec<VirtualObject>,
    map: AddressMap,
    rebuilds: Rebuilds,
    rebuild_log: RebuildLog,
    trips: Trips,
    ahead: CompletionQueue,
    events: ByRequest<ClusterEvent>,
    requests: HostRequests,
}

/// What has components of its own: a part of a virtual disk, or a placement group.
#[derive(Debug, Clone)]
struct VirtualObject {
    /// The host that coordinates it.
    home: u32,
    placed: PlacedObject,
    array: Array<Components>,
    /// The trip that brought a request of the array.
    trips: ByRequest<usize>,
}

#[derive(Debug, Clone, Copy)]
enum ClusterEvent {
    /// The host begins to receive it.
    Arrives(usize),
    Received(usize),
    /// The host's processors are done with it.
    Processed(usize),
    /// Where it came from begins to receive the answer.
    Returns(usize),
    Answered(usize),
    /// A part of a request that asks no drive is complete.
    Ends(RequestId),
    Store(HostEvent),
    /// A host has been down for so long that what it had is rebuilt elsewhere.
    RepairDue {
        host: u32,
        generation: u32,
    },
}

/// On the drives of a host.
#[derive(Debug, Clone, Copy)]
struct HostEvent {
    host: u32,
    generation: u32,
    event: StoreEvent,
}

impl Cluster {
    /// Of the drives of this one. `setup` is the cluster's.
    pub fn new(drive: &DriveSpec, spec: &ClusterSpec, setup: &Setup) -> Self {
        // The last one holds data.
        let member = drive.drive(spec.group_drives() - 1);
        // A cluster made smaller has drives made as much smaller.
        let share = setup.capacity.0 as f64 / drive.capacity.0 as f64;
        let bytes = setup.capacity.0;
        let Placement { objects, map } = place(spec, bytes, setup.seed);
        let setup = Setup {
            capacity: drive_bytes(&objects, (member.capacity.0 as f64 * share) as u64),
            ..setup.clone()
        };
        let hosts = (0..spec.hosts).map(|host| ClusterHost {
            store: HostStore::new(drive, &setup, spec, host),
            is_down: spec.failed.contains(&host),
            is_repair_due: false,
            generation: 0,
        });
        let layout = spec.layout();
        let of_disk = objects.len().div_ceil(spec.vdisks as usize);
        let objects = objects.into_iter().enumerate();
        let object = |(number, placed)| {
            let home = (number / of_disk) as u32 % spec.hosts;
            VirtualObject::new(spec, &layout, placed, home, drive.slower)
        };
        let times = HostTimes::new(spec, drive.slower);
        let mut own = Self {
            stack: times.stack,
            slower: drive.slower,
            trips: Trips::new(times, spec.hosts + spec.vdisks),
            hosts: hosts.collect(),
            objects: objects.map(object).collect(),
            map,
            rebuilds: Rebuilds::new(spec, member),
            rebuild_log: RebuildLog::default(),
            ahead: CompletionQueue::default(),
            events: ByRequest::default(),
            requests: HostRequests::default(),
            spec: spec.clone(),
            bytes,
            drives: drive.clone(),
            setup,
        };
        own.move_homes();
        for host in &spec.failed {
            own.expect_repair(Nanos::ZERO, *host);
        }
        if let Some(host) = spec.rebuild {
            own.rebuild_host(Nanos::ZERO, host, false);
        }
        own
    }

    /// Objects whose home is down are coordinated by another host: virtual disks are used from there.
    fn move_homes(&mut self) {
        let up: Vec<u32> = (0..self.spec.hosts)
            .filter(|host| !self.hosts[*host as usize].is_down)
            .collect();
        for object in 0..self.objects.len() {
            let home = self.coordinator(object);
            if self.hosts[home as usize].is_down && !up.is_empty() {
                self.objects[object].home = up[object % up.len()];
            }
        }
    }

    /// Components on a host.
    fn objects_on(&self, host: u32) -> impl Iterator<Item = OnHost> {
        let objects = self.objects.iter().enumerate();
        objects.filter_map(move |(object, own)| {
            let member = own.placed.member_on(host)?;
            Some(OnHost {
                object,
                member,
                has_old_data: false,
            })
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
        let mut left = op;
        while left.len > 0 {
            let ObjectPart { object, op, from } = self.map.first_part(left);
            left.offset += op.len;
            left.len -= op.len;
            self.requests.add_part(request);
            let to = self.coordinator(object);
            let is_ceph = self.spec.kind == ClusterKind::Ceph;
            let trip = Trip {
                purpose: TripPurpose::Part(request),
                object,
                from: if is_ceph { self.client(from) } else { to },
                to,
                op,
                is_processed: is_ceph,
            };
            self.depart(now, trip);
        }
    }

    /// The client that uses these bytes.
    fn client(&self, offset: u64) -> u32 {
        let vdisk = offset / self.spec.vdisk_bytes(self.bytes).max(1);
        self.spec.hosts + (vdisk as u32).min(self.spec.vdisks - 1)
    }

    /// The host that coordinates an object: in Ceph the first that has a copy.
    fn coordinator(&mut self, object: usize) -> u32 {
        let own = &mut self.objects[object];
        if self.spec.kind == ClusterKind::Ceph {
            let has_copy = |member: u32| {
                let host = own.placed.components[member as usize].host;
                !self.hosts[host as usize].is_down && own.array.is_whole_member(member)
            };
            let mut members = 0..own.placed.components.len() as u32;
            let primary = members.find(|member| has_copy(*member)).unwrap_or_default();
            own.home = own.placed.components[primary as usize].host;
            own.array.members_mut().read_from(primary);
        }
        own.home
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
            let trip = done.map(|done| *own.trips.get(done.id));
            if trip.is_none() && sent.is_empty() {
                return;
            }
            for request in sent {
                self.send_to_component(object, request);
            }
            if let Some(trip) = trip {
                self.answer(now, trip);
            }
        }
    }

    fn send_to_component(&mut self, object: usize, sent: SentRequest) {
        let VirtualObject { home, placed, .. } = &self.objects[object];
        let at = placed.components[sent.request.member as usize];
        let op = sent.request.op;
        let is_remote = *home != at.host;
        let purpose = TripPurpose::Component(ComponentTrip {
            id: sent.id,
            drive: at.drive,
            generation: self.hosts[at.host as usize].generation,
        });
        let trip = Trip {
            purpose,
            object,
            from: *home,
            to: at.host,
            op: Op {
                offset: at.base + op.offset,
                ..op
            },
            // In Ceph the primary's processors have had the request already.
            is_processed: is_remote || self.spec.kind == ClusterKind::Vsan,
        };
        self.depart(sent.at, trip);
    }

    fn depart(&mut self, now: Nanos, trip: Trip) {
        let number = self.trips.add(trip);
        if !trip.is_remote() {
            return self.received(now, number);
        }
        let arrives = self.trips.send_request(now, number);
        self.at(arrives, ClusterEvent::Arrives(number));
    }

    fn received(&mut self, now: Nanos, number: usize) {
        if !self.trips.get(number).is_processed {
            return self.processed(now, number);
        }
        let processed = self.trips.process(now, number);
        self.at(processed, ClusterEvent::Processed(number));
    }

    fn processed(&mut self, now: Nanos, number: usize) {
        let trip = self.trips.get(number);
        match trip.purpose {
            TripPurpose::Part(_) => {
                let own = &mut self.objects[trip.object];
                let id = own.array.submit(now, trip.op);
                own.trips.set(id, number);
                self.run_object(now, trip.object);
            }
            TripPurpose::Component(component) => self.store(now, number, trip, component),
        }
    }

    fn store(&mut self, now: Nanos, number: usize, trip: Trip, component: ComponentTrip) {
        let request = StoreRequest {
            trip: number,
            object: trip.object,
            drive: component.drive,
            op: trip.op,
        };
        let own = &mut self.hosts[trip.to as usize];
        let mut ahead = Vec::new();
        if own.generation == component.generation {
            own.store.submit(now, request, &mut ahead);
        } else {
            ahead.push(request.stored(now));
        }
        self.expect(trip.to, ahead);
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
            return self.answer(now, trip);
        }
        let host = &mut self.hosts[own.host as usize];
        // Else it has failed or was replaced since.
        if host.generation == own.generation {
            let mut ahead = Vec::new();
            host.store.happen(now, own.event, &mut ahead);
            self.expect(own.host, ahead);
        }
    }

    fn answer(&mut self, now: Nanos, number: usize) {
        if !self.trips.get(number).is_remote() {
            return self.answered(now, number);
        }
        let arrives = self.trips.send_answer(now, number);
        self.at(arrives, ClusterEvent::Returns(number));
    }

    fn answered(&mut self, now: Nanos, number: usize) {
        let trip = self.trips.remove(number);
        match trip.purpose {
            TripPurpose::Part(request) => self.end_part(now, request),
            TripPurpose::Component(component) => {
                let object = &mut self.objects[trip.object];
                object.array.members_mut().answer(now, component.id);
                self.run_object(now, trip.object);
                self.go_on_rebuilding(now, trip.object);
            }
        }
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
            ClusterEvent::RepairDue { host, generation } => {
                let own = &mut self.hosts[host as usize];
                if own.generation == generation {
                    own.is_repair_due = true;
                    self.repair(now, host);
                }
            }
        }
    }

    /// The object whose rebuild does something next, and when.
    fn next_rebuild(&self) -> Option<(Nanos, usize)> {
        let next = self.rebuilds.active().filter_map(|on| {
            let at = self.objects[on.object].array.next_event()?;
            Some((at, on.object))
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
            self.go_on_rebuilding(at, object);
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

impl VirtualObject {
    fn new(
        spec: &ClusterSpec,
        layout: &ArraySpec,
        placed: PlacedObject,
        home: u32,
        slower: f64,
    ) -> Self {
        // What is rebuilt is missing first.
        let missing = spec.failed.iter().chain(&spec.rebuild);
        let failed = missing.filter_map(|host| placed.member_on(*host));
        let layout = ArraySpec {
            failed: failed.collect(),
            ..layout.clone()
        };
        let capacity = Bytes(placed.component_bytes);
        Self {
            home,
            array: Array::of_members(&layout, capacity, Components::default(), slower),
            placed,
            trips: ByRequest::default(),
        }
    }
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
        hosts.flat_map(|host| host.store.work()).collect()
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

    fn is_missing(&self, member: u32) -> bool {
        self.hosts[member as usize].is_down
    }

    fn fail(&mut self, now: Nanos, member: u32) -> bool {
        self.fail_host(now, member)
    }

    fn take_rebuild_reports(&mut self) -> Vec<RebuildReport> {
        self.rebuild_log.take()
    }

    fn can_replace(&self, member: u32) -> bool {
        let mut active = self.rebuilds.active();
        let is_active = active.any(|on| self.objects[on.object].array.is_rebuilding());
        let is_rebuilding = is_active || self.rebuilds.is_waiting();
        self.hosts[member as usize].is_down && !is_rebuilding
    }

    fn replace(&mut self, now: Nanos, member: u32) {
        self.replace_host(now, member);
    }

    fn bring_back(&mut self, now: Nanos, member: u32) {
        self.bring_back_host(now, member);
    }

    fn slow_down(&mut self, now: Nanos, member: u32, factor: f64) {
        self.run_to(now);
        self.hosts[member as usize].store.slow_down(now, factor);
    }

    fn set_network(&mut self, now: Nanos, gbit: u32) -> Option<u32> {
        self.run_to(now);
        self.trips.set_network(gbit, self.slower);
        Some(self.spec.network_gbit)
    }

    fn has_rebuilt(&self, member: u32) -> bool {
        self.objects_on(member)
            .all(|on| self.objects[on.object].array.is_whole_member(on.member))
    }

    fn rebuilt(&self) -> Bytes {
        let active = self.rebuilds.active();
        let bytes = active.map(|on| self.objects[on.object].array.rebuilt().0);
        Bytes(self.rebuilds.ended().0 + bytes.sum::<u64>())
    }

    fn power_cycle(&mut self, now: Nanos) {
        for host in &mut self.hosts {
            host.store.power_cycle(now);
        }
        for object in &mut self.objects {
            object.array.power_cycle(now);
        }
        self.trips.clear();
        self.ahead.clear();
        self.requests.clear();
        for host in 0..self.spec.hosts {
            if self.hosts[host as usize].is_down {
                self.expect_repair(now, host);
            }
        }
    }
}

#[cfg(test)]
impl Cluster {
    /// An object's component on a host has all its data.
    pub(super) fn has_component(&self, object: usize, host: u32) -> bool {
        let own = &self.objects[object];
        let mut member = own.placed.member_on(host).into_iter();
        !self.hosts[host as usize].is_down && member.any(|member| own.array.has_rebuilt(member))
    }

    /// Nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.trips.is_empty() && self.requests.is_empty()
    }
}
