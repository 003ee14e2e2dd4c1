//! A modeled drive, array or cluster on the calendar: requests of several programs, each woken when its own are complete.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_drive::member_changes::{change_member, rebuild_events};
use plimsoll_drive::model::{DriveOp, Op, RequestId, Storage};
use plimsoll_drive::storage_model::StorageModel;
use plimsoll_plan::member_event::MemberChange;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveTally;
use plimsoll_record::message::EventKind;
use tokio::sync::Notify;

use crate::calendar::VirtualClock;
use crate::time::second_of;

/// Requests that one program may have in flight at a time. Assumed.
const DEPTH: usize = 64;

/// By [`DriveOp`]'s number. No real time passes: only modelled times are recorded.
pub type ServedByKind = [DriveTally; DriveOp::ALL.len()];

/// A model on the calendar.
#[derive(Debug)]
pub struct VirtualDrive {
    clock: VirtualClock,
    state: Mutex<DriveState>,
}

#[derive(Debug)]
struct DriveState {
    model: StorageModel,
    waiting: BTreeMap<RequestId, WaitingRequest>,
    /// By the second in which they were complete.
    served: BTreeMap<u64, ServedByKind>,
}

#[derive(Debug)]
struct WaitingRequest {
    op: Op,
    submitted: Nanos,
    done: bool,
    /// Nobody waits: it is forgotten when it is complete.
    background: bool,
    wake: Arc<Notify>,
}

impl DriveState {
    fn submit(&mut self, now: Nanos, op: Op, background: bool) -> (RequestId, Arc<Notify>) {
        let id = self.model.submit(now, op);
        let wake = Arc::new(Notify::new());
        let request = WaitingRequest {
            op,
            submitted: now,
            done: false,
            background,
            wake: wake.clone(),
        };
        self.waiting.insert(id, request);
        (id, wake)
    }

    /// Takes completions up to `now`, and wakes who waits for them.
    fn advance(&mut self, now: Nanos) {
        while let Some(done) = self.model.advance(now) {
            let Some(request) = self.waiting.get_mut(&done.id) else {
                continue;
            };
            let second = self.served.entry(second_of(done.at)).or_default();
            let served = &mut second[request.op.kind as usize];
            let time = done.at.saturating_sub(request.submitted);
            served.ops += 1;
            served.bytes += request.op.len;
            served.modelled.record(time);
            request.done = true;
            request.wake.notify_one();
            if request.background {
                self.waiting.remove(&done.id);
            }
        }
    }

    fn wake_all(&self) {
        let waiting = self.waiting.values().filter(|own| !own.background);
        waiting.for_each(|own| own.wake.notify_one());
    }

    /// Whether the request is complete; it is forgotten then, and another one is woken to look after the model.
    fn take(&mut self, id: RequestId) -> bool {
        if !self.waiting.get(&id).is_none_or(|request| request.done) {
            return false;
        }
        self.waiting.remove(&id);
        if let Some(other) = self.waiting.values().find(|other| !other.background) {
            other.wake.notify_one();
        }
        true
    }
}

impl VirtualDrive {
    pub fn new(clock: VirtualClock, model: StorageModel) -> Self {
        let state = DriveState {
            model,
            waiting: BTreeMap::new(),
            served: BTreeMap::new(),
        };
        Self {
            clock,
            state: Mutex::new(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, DriveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them at once, up to the depth of a queue; ends when the last one is complete.
    pub async fn complete(&self, ops: &[Op]) {
        for batch in ops.chunks(DEPTH) {
            let now = self.clock.now();
            let submitted: Vec<_> = {
                let mut state = self.lock();
                state.advance(now);
                batch
                    .iter()
                    .map(|op| state.submit(now, *op, false))
                    .collect()
            };
            for (id, wake) in submitted {
                self.wait_for(id, &wake).await;
            }
        }
    }

    /// Nobody waits for these.
    pub fn submit(&self, ops: &[Op]) {
        let now = self.clock.now();
        let mut state = self.lock();
        state.advance(now);
        for op in ops {
            state.submit(now, *op, true);
        }
    }

    /// Whoever waits moves the model on to its next event, with the completions of all others.
    async fn wait_for(&self, id: RequestId, wake: &Notify) {
        loop {
            let next = {
                let mut state = self.lock();
                state.advance(self.clock.now());
                if state.take(id) {
                    return;
                }
                state.model.next_event()
            };
            match next {
                Some(next) => {
                    tokio::select! {
                        biased;
                        () = wake.notified() => {}
                        () = self.clock.sleep_until(next) => {}
                    }
                }
                None => wake.notified().await,
            }
        }
    }

    /// What it served in whole seconds since the last call, by the number of the second; those without requests are left out.
    pub fn take_served(&self) -> BTreeMap<u64, ServedByKind> {
        let now = self.clock.now();
        let mut state = self.lock();
        state.advance(now);
        let rest = state.served.split_off(&second_of(now));
        std::mem::replace(&mut state.served, rest)
    }

    /// Something happens to a member of an array or a cluster. `None`: there is no such member, or it cannot happen now.
    pub fn change_member(&self, change: MemberChange) -> Option<EventKind> {
        let now = self.clock.now();
        let mut state = self.lock();
        state.advance(now);
        let event = change_member(&mut state.model, now, change);
        // Those who wait look when the next event of the model is.
        state.wake_all();
        event
    }

    /// Rebuilds that have ended or begun by themselves since this was asked last, with their times.
    pub fn rebuild_events(&self) -> Vec<(Nanos, EventKind)> {
        rebuild_events(&mut self.lock().model)
    }

    /// The power was away: what was in flight is answered by nobody.
    pub fn power_cycle(&self) {
        let now = self.clock.now();
        let mut state = self.lock();
        state.advance(now);
        state.model.power_cycle(now);
        let in_flight = std::mem::take(&mut state.waiting);
        in_flight
            .into_values()
            .for_each(|request| request.wake.notify_one());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_drive::catalog;
    use plimsoll_drive::model::Setup;
    use plimsoll_drive::spec::DriveSpec;
    use plimsoll_plan::units::Bytes;
    use std::rc::Rc;

    fn spec(name: &str) -> DriveSpec {
        match name.parse() {
            Ok(named) => {
                let file = catalog::assembly_file(named).unwrap();
                catalog::load(&file.name, &file.text).unwrap()
            }
            Err(_) => {
                let entry = catalog::find(name).unwrap();
                catalog::load(entry.name, entry.text).unwrap()
            }
        }
    }

    fn drive(name: &str, clock: &VirtualClock) -> Rc<VirtualDrive> {
        let spec = spec(name);
        let setup = Setup {
            capacity: Bytes(4 << 30),
            fill: 1.0,
            seed: 7,
            ignores_flush: false,
        };
        Rc::new(VirtualDrive::new(
            clock.clone(),
            StorageModel::new(&spec, &setup),
        ))
    }

    fn read(n: u64) -> Op {
        Op {
            kind: DriveOp::Read,
            offset: n * 4096,
            len: 4096,
        }
    }

    /// How many were served, in the seconds that end then.
    fn reads(drive: &VirtualDrive) -> u64 {
        let clock = &drive.clock;
        let whole = Nanos((second_of(clock.now()) + 2) * Nanos::SECOND.0);
        clock.block_on(clock.sleep_until(whole)).unwrap();
        let seconds = drive.take_served();
        assert!(drive.take_served().is_empty());
        let tallies = seconds
            .values()
            .map(|second| &second[DriveOp::Read as usize]);
        tallies.map(|tally| tally.ops).sum()
    }

    /// When each of so many programs has read ten blocks, one after the other.
    fn ends(name: &str, programs: u64) -> Vec<Nanos> {
        let clock = VirtualClock::default();
        let drive = drive(name, &clock);
        let all = async {
            let tasks: Vec<_> = (0..programs)
                .map(|program| {
                    let (drive, clock) = (drive.clone(), clock.clone());
                    tokio::task::spawn_local(async move {
                        for i in 0..10 {
                            drive.complete(&[read(program * 7_919 + i * 104_729)]).await;
                        }
                        clock.now()
                    })
                })
                .collect();
            let mut ends = Vec::new();
            for task in tasks {
                ends.push(task.await.unwrap());
            }
            ends
        };
        let ends = clock.block_on(all).unwrap();
        assert_eq!(reads(&drive), programs * 10);
        assert_eq!(clock.sleepers(), 0);
        ends
    }

    #[test]
    fn many_programs_share_a_drive_and_the_course_is_always_the_same() {
        for name in [
            "kingston-dc1500m-960g",
            "disk-7200rpm-4t",
            "raid5:4:micron-5200-eco-1920g",
        ] {
            let once = ends(name, 16);
            assert_eq!(once, ends(name, 16), "{name}");
            let alone = ends(name, 1)[0];
            let slowest = once.iter().max().unwrap();
            assert!(
                *slowest >= alone && *slowest < Nanos(alone.0 * 16),
                "{name}"
            );
        }
    }

    #[test]
    fn a_batch_ends_with_its_last_request() {
        let clock = VirtualClock::default();
        let drive = drive("kingston-dc1500m-960g", &clock);
        let ops: Vec<Op> = (0..200).map(|n| read(n * 977)).collect();
        clock.block_on(drive.complete(&ops)).unwrap();
        let batch = clock.now();
        assert_eq!(reads(&drive), 200);
        let ten = ends("kingston-dc1500m-960g", 1)[0];
        assert!(batch < Nanos(ten.0 * 20), "in parallel");
    }

    #[test]
    fn requests_that_nobody_waits_for_are_served_all_the_same() {
        let clock = VirtualClock::default();
        let drive = drive("kingston-dc1500m-960g", &clock);
        drive.submit(&[read(1), read(2)]);
        clock.block_on(drive.complete(&[read(3)])).unwrap();
        assert_eq!(reads(&drive), 3);
    }

    #[test]
    fn a_power_cut_leaves_nobody_waiting() {
        let clock = VirtualClock::default();
        let drive = drive("disk-7200rpm-4t", &clock);
        let both = async {
            let one = [read(5)];
            let waits = drive.complete(&one);
            let cut = async {
                clock.sleep_until(Nanos(1_000)).await;
                drive.power_cycle();
            };
            tokio::join!(waits, cut);
        };
        clock.block_on(both).unwrap();
        assert_eq!(clock.now(), Nanos(1_000));
    }
}
