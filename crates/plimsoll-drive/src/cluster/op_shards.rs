//! The queues in which requests to an object store wait for its threads.
//!
//! As in Ceph (16.2), a read keeps its thread and its placement group until the drive has answered; a write does so only
//! while it is prepared. So reads of a group come one after the other, and a drive has few of them in flight.

use std::collections::VecDeque;

use plimsoll_record::drive::DriveOp;

use super::store_event::StoreRequest;

/// Always: a thread has one request at a time, and so has a placement group.
#[derive(Debug, Clone)]
pub struct OpShards {
    shards: Vec<OpShard>,
    /// Of each shard.
    threads: usize,
}

#[derive(Debug, Clone, Default)]
struct OpShard {
    waiting: VecDeque<StoreRequest>,
    /// What threads have taken, in turn.
    taken: Vec<TakenRequest>,
}

#[derive(Debug, Clone, Copy)]
struct TakenRequest {
    request: StoreRequest,
    /// Else it waits for its group.
    is_running: bool,
}

impl OpShards {
    /// `osd_op_num_shards` and `osd_op_num_threads_per_shard` of disks and SSDs.
    pub fn new(is_disk: bool) -> Self {
        let (shards, threads) = if is_disk { (5, 1) } else { (8, 2) };
        Self {
            shards: vec![OpShard::default(); shards],
            threads,
        }
    }

    /// A request arrives. Gives those that begin now.
    pub fn add(&mut self, request: StoreRequest) -> Vec<StoreRequest> {
        let threads = self.threads;
        let shard = self.shard_of(request);
        shard.waiting.push_back(request);
        shard.begin(threads)
    }

    /// A read is complete. Gives those that begin now.
    pub fn end(&mut self, request: StoreRequest) -> Vec<StoreRequest> {
        let threads = self.threads;
        let shard = self.shard_of(request);
        shard.taken.retain(|own| own.request.trip != request.trip);
        shard.begin(threads)
    }

    fn shard_of(&mut self, request: StoreRequest) -> &mut OpShard {
        let number = request.object % self.shards.len();
        &mut self.shards[number]
    }

    /// Trips of all that wait or run.
    pub fn clear(&mut self) -> Vec<usize> {
        let mut trips = Vec::new();
        for shard in &mut self.shards {
            trips.extend(shard.taken.drain(..).map(|own| own.request.trip));
            trips.extend(shard.waiting.drain(..).map(|own| own.trip));
        }
        trips
    }
}

impl OpShard {
    fn begin(&mut self, threads: usize) -> Vec<StoreRequest> {
        let mut begun = Vec::new();
        loop {
            if let Some(at) = self.runnable() {
                let own = &mut self.taken[at];
                own.is_running = true;
                begun.push(own.request);
                if own.request.op.kind != DriveOp::Read {
                    self.taken.remove(at);
                }
            } else if self.taken.len() < threads
                && let Some(request) = self.waiting.pop_front()
            {
                self.taken.push(TakenRequest {
                    request,
                    is_running: false,
                });
            } else {
                return begun;
            }
        }
    }

    /// What was taken first of those whose group is free.
    fn runnable(&self) -> Option<usize> {
        let is_held = |object: usize| {
            let mut running = self.taken.iter().filter(|own| own.is_running);
            running.any(|own| own.request.object == object)
        };
        let mut taken = self.taken.iter();
        taken.position(|own| !own.is_running && !is_held(own.request.object))
    }
}
