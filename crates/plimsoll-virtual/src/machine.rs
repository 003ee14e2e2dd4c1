//! A modeled machine: a clock, processors and what work costs on them.

use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_drive::model::Op;
use plimsoll_plan::units::Nanos;
use tokio::sync::Notify;

use crate::calendar::VirtualClock;
use crate::costs::{CpuCosts, CpuUse, CpuUses};
use crate::drive::VirtualDrive;
use crate::processors::Processors;

/// What a program waits for.
pub enum Wait {
    /// So much time of a processor.
    Cpu(Nanos),
    Until(Nanos),
    /// Requests of a drive: those of a stage are in flight together, the next stage begins when all are complete.
    Requests {
        drive: Arc<VirtualDrive>,
        stages: Vec<Vec<Op>>,
    },
    /// Until another program wakes it.
    Woken(Arc<Notify>),
}

/// Shared by all programs that run on it, and by its drives' mounts.
#[derive(Debug)]
pub struct VirtualMachine {
    clock: VirtualClock,
    processors: Processors,
    costs: CpuCosts,
    used: Mutex<CpuUses>,
}

impl VirtualMachine {
    /// With so many processors, whose speed is in the costs.
    pub fn new(clock: VirtualClock, cpus: u32, costs: CpuCosts) -> Arc<Self> {
        Arc::new(Self {
            processors: Processors::new(clock.clone(), cpus),
            clock,
            costs,
            used: Mutex::default(),
        })
    }

    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// Counts what is needed, and returns the processor's time for it.
    pub fn charge(&self, what: CpuUse, count: f64) -> Nanos {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used[what as usize] += count;
        self.costs.of(what, count)
    }

    /// All that was charged.
    pub fn used(&self) -> CpuUses {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends when what is waited for has happened.
    pub async fn meet(&self, wait: Wait) {
        match wait {
            Wait::Cpu(work) => self.processors.work(work).await,
            Wait::Until(at) => self.clock.sleep_until(at).await,
            Wait::Requests { drive, stages } => {
                for stage in stages {
                    drive.complete(&stage).await;
                }
            }
            Wait::Woken(notify) => notify.notified().await,
        }
    }
}
