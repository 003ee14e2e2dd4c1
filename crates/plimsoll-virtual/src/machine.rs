//! A modeled machine: a clock, processors and what work costs on them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_drive::model::Op;
use plimsoll_plan::units::Nanos;
use plimsoll_record::WaitState;
use tokio::sync::Notify;

use crate::calendar::VirtualClock;
use crate::costs::{CpuCosts, CpuUse, CpuUses};
use crate::drive::VirtualDrive;
use crate::processors::Processors;
use crate::time::{TimeByState, TimeSpent};

/// What a program waits for.
pub enum Wait {
    /// So much time of a processor.
    Cpu(Nanos),
    Until(Nanos),
    /// Requests of a drive: those of a stage are in flight together, the next stage begins when all are complete.
    Requests {
        drive: Arc<VirtualDrive>,
        stages: Vec<Vec<Op>>,
        /// What the program waits for then.
        state: WaitState,
    },
    /// Until another program wakes it.
    Woken(Arc<Notify>),
}

impl Wait {
    fn state(&self) -> WaitState {
        match self {
            Self::Cpu(_) => WaitState::Cpu,
            Self::Requests { state, .. } => *state,
            // SQLite sleeps while another holds the database.
            Self::Until(_) | Self::Woken(_) => WaitState::Lock,
        }
    }
}

/// Ends with the wait, also where that is given up.
struct TimedWait<'a> {
    machine: &'a VirtualMachine,
    number: u64,
}

impl Drop for TimedWait<'_> {
    fn drop(&mut self) {
        let now = self.machine.clock.now();
        self.machine.time().end(now, self.number);
    }
}

/// Shared by all programs that run on it, and by its drives' mounts.
#[derive(Debug)]
pub struct VirtualMachine {
    clock: VirtualClock,
    processors: Processors,
    costs: CpuCosts,
    used: Mutex<CpuUses>,
    time: Mutex<TimeSpent>,
}

impl VirtualMachine {
    /// With so many processors, whose speed is in the costs.
    pub fn new(clock: VirtualClock, cpus: u32, costs: CpuCosts) -> Arc<Self> {
        Arc::new(Self {
            processors: Processors::new(clock.clone(), cpus),
            clock,
            costs,
            used: Mutex::default(),
            time: Mutex::default(),
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

    fn time(&self) -> MutexGuard<'_, TimeSpent> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What its programs spent their time on in whole seconds since the last call, by the number of the second.
    pub fn take_time(&self) -> BTreeMap<u64, TimeByState> {
        self.time().take(self.clock.now())
    }

    /// Ends when what is waited for has happened.
    pub async fn meet(&self, wait: Wait) {
        let number = self.time().begin(self.clock.now(), wait.state());
        let _under_way = TimedWait {
            machine: self,
            number,
        };
        match wait {
            Wait::Cpu(work) => self.processors.work(work).await,
            Wait::Until(at) => self.clock.sleep_until(at).await,
            Wait::Requests { drive, stages, .. } => {
                for stage in stages {
                    drive.complete(&stage).await;
                }
            }
            Wait::Woken(notify) => notify.notified().await,
        }
    }
}
