//! A drive of a machine with a filesystem and its power: what calls of the VFS cost, and what they wait for.

use std::ffi::CString;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_plan::units::Nanos;
use plimsoll_record::WaitState;

use crate::costs::CpuUse;
use crate::drive::VirtualDrive;
use crate::durable::MountPower;
use crate::fiber;
use crate::filesystem::{FileRequests, VirtualFilesystem};
use crate::machine::{VirtualMachine, Wait};

/// Of a mount, as long as a connection uses it.
#[derive(Debug)]
pub struct MountState {
    pub name: CString,
    pub machine: Arc<VirtualMachine>,
    pub drive: Arc<VirtualDrive>,
    pub filesystem: Mutex<VirtualFilesystem>,
    /// State of the generator for `xRandomness`.
    pub random: Mutex<u64>,
    pub temporary_files: AtomicU64,
    pub power: MountPower,
}

pub fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MountState {
    pub fn filesystem(&self) -> MutexGuard<'_, VirtualFilesystem> {
        lock(&self.filesystem)
    }

    /// Charges the requests of a call, sends them, and waits in `state` for those that are to be waited for. An error where
    /// the power fails meanwhile.
    pub fn perform(&self, requests: FileRequests, state: WaitState) -> Result<(), PowerIsOff> {
        self.wait_for(requests, state);
        (!self.power.is_off()).then_some(()).ok_or(PowerIsOff)
    }

    fn wait_for(&self, requests: FileRequests, state: WaitState) {
        if requests.is_empty() || !fiber::is_inside() || self.power.is_off() {
            return;
        }
        let count = requests.count() as f64;
        fiber::charge(CpuUse::Request, count);
        fiber::charge(CpuUse::Wake, requests.stages.len() as f64);
        self.drive.submit(&requests.background);
        if !requests.stages.is_empty() {
            fiber::wait(Wait::Requests {
                drive: self.drive.clone(),
                stages: requests.stages,
                state,
            });
        }
    }

    /// What is sent is durable when this returns. `path`: of the file; none for names of files alone.
    pub fn make_durable(
        &self,
        path: Option<&str>,
        requests: FileRequests,
    ) -> Result<(), PowerIsOff> {
        let commits = requests.commits;
        let sync = self.power.note(|log| log.sync_begins(path, commits));
        // Names of files change with journals.
        let state = match path {
            Some(path) if !path.ends_with("-wal") && !path.ends_with("-journal") => {
                WaitState::DataWrite
            }
            _ => WaitState::Log,
        };
        self.perform(requests, state)?;
        if let Some(sync) = sync {
            self.power.note(|log| log.sync_ended(sync));
        }
        Ok(())
    }

    pub fn now(&self) -> Nanos {
        self.machine.clock().now()
    }
}

/// What was asked for is not done.
#[derive(Debug, Clone, Copy)]
pub struct PowerIsOff;
