//! Hosts fail, are replaced, and what they had is rebuilt.

use plimsoll_plan::units::Nanos;

use super::{Cluster, ClusterEvent};
use crate::cluster::host_store::HostStore;
use crate::cluster::placement::DriveLevels;
use crate::cluster::rebuilds::OnHost;
use crate::model::{Random, RebuildProgress};
use crate::network::slowed;

impl Cluster {
    /// A host goes down with all that its drives hold. False where data are lost by that.
    pub(super) fn fail_host(&mut self, now: Nanos, host: u32) -> bool {
        self.run_to(now);
        let own = &mut self.hosts[host as usize];
        own.is_down = true;
        own.is_repair_due = false;
        own.generation += 1;
        self.move_homes();
        let mut survives = true;
        let lost: Vec<OnHost> = self.objects_on(host).collect();
        for OnHost { object, member, .. } in lost {
            survives &= self.objects[object].array.fail(now, member);
            self.run_object(now, object);
        }
        let objects = &self.objects;
        let place = |on: &OnHost| objects[on.object].placed.components[on.member as usize];
        let unfilled = self.rebuilds.fail(|on| place(on).host == host);
        for on in unfilled {
            self.objects[on.object].array.misses_everything();
        }
        self.rebuild_log.forget(host);
        self.expect_repair(now, host);
        for number in self.hosts[host as usize].store.fail() {
            self.answered(now, number);
        }
        // Those that shared a drive with what has failed need not wait any more.
        self.begin_rebuilds(now);
        survives
    }

    /// Empty drives take the place of a host's and are filled from the others.
    pub(super) fn replace_host(&mut self, now: Nanos, host: u32) {
        self.run_to(now);
        let own = &mut self.hosts[host as usize];
        own.is_down = false;
        own.generation += 1;
        own.store = HostStore::new(
            &self.drives,
            &self.setup,
            &self.spec,
            host + self.spec.hosts,
        );
        self.rebuild_host(now, host, false);
    }

    /// A host is up again with what its drives had.
    pub(super) fn bring_back_host(&mut self, now: Nanos, host: u32) {
        self.run_to(now);
        let own = &mut self.hosts[host as usize];
        own.is_down = false;
        own.generation += 1;
        self.rebuild_host(now, host, true);
    }

    pub(super) fn rebuild_host(&mut self, now: Nanos, host: u32, has_old_data: bool) {
        let on_host = self.objects_on(host);
        let on_host = on_host.map(|on| OnHost { has_old_data, ..on }).collect();
        self.rebuilds.begin(on_host);
        self.rebuild_log.begin(now, host);
        self.move_homes();
        self.begin_rebuilds(now);
        for other in 0..self.spec.hosts {
            let own = &self.hosts[other as usize];
            if own.is_down && own.is_repair_due {
                self.repair(now, other);
            }
        }
    }

    pub(super) fn expect_repair(&mut self, now: Nanos, host: u32) {
        if let Some(time) = self.spec.repair {
            let generation = self.hosts[host as usize].generation;
            let at = now + slowed(time, self.slower);
            self.at(at, ClusterEvent::RepairDue { host, generation });
        }
    }

    /// What a host had is rebuilt on other hosts, if there are enough.
    pub(super) fn repair(&mut self, now: Nanos, host: u32) {
        let up = self.hosts.iter().filter(|host| !host.is_down).count();
        if up < self.spec.fewest_hosts() as usize {
            return;
        }
        let placed = self.objects.iter().map(|own| &own.placed);
        let mut levels = DriveLevels::of(&self.spec, placed);
        let mut random = Random::new(self.setup.seed ^ u64::from(host));
        let mut lost: Vec<OnHost> = self.objects_on(host).collect();
        lost.retain(|on| {
            let placed = &mut self.objects[on.object].placed;
            let hosts = &self.hosts;
            let is_allowed =
                |host: u32| !hosts[host as usize].is_down && placed.member_on(host).is_none();
            let place = levels.place_one(placed.component_bytes, &mut random, is_allowed);
            if let Some(place) = place {
                placed.components[on.member as usize] = place;
            }
            place.is_some()
        });
        if !lost.is_empty() {
            let on_others = RebuildProgress::BegunOnOthers;
            self.rebuild_log.begin_by_itself(now, host, on_others);
            self.rebuilds.add(lost);
            self.begin_rebuilds(now);
        }
    }

    /// Begins to rebuild as many components as may be rebuilt at a time.
    fn begin_rebuilds(&mut self, now: Nanos) {
        while self.begin_some_rebuilds(now) {}
        if self.rebuilds.is_idle() {
            self.rebuild_log.end_all(now);
        }
    }

    /// Whether others may follow at once, since some had nothing to copy.
    fn begin_some_rebuilds(&mut self, now: Nanos) -> bool {
        let objects = &self.objects;
        let places_of = |object: usize| objects[object].placed.components.clone();
        let is_rebuilding = |object: usize| objects[object].array.is_rebuilding();
        let begun = self.rebuilds.begin_next(is_rebuilding, places_of);
        for on in &begun {
            let speed = self.rebuilds.speed();
            let array = &mut self.objects[on.object].array;
            if on.has_old_data {
                array.bring_back(now, on.member, speed);
            } else {
                array.replace(now, on.member, speed);
            }
            self.run_object(now, on.object);
        }
        let mut has_ended = false;
        for on in begun {
            let array = &self.objects[on.object].array;
            if !array.is_rebuilding() {
                has_ended |= self.rebuilds.end(on.object, array.rebuilt());
            }
        }
        has_ended && self.rebuilds.is_waiting()
    }

    /// Others may follow a component that has been rebuilt.
    pub(super) fn go_on_rebuilding(&mut self, now: Nanos, object: usize) {
        if !self.objects[object].array.is_rebuilding() {
            // Of a component: those of hosts are the cluster's own.
            self.objects[object].array.take_rebuild_reports();
            let bytes = self.objects[object].array.rebuilt();
            if self.rebuilds.end(object, bytes) {
                self.begin_rebuilds(now);
            }
        }
    }
}
