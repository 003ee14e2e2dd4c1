//! A session in virtual time: SQLite itself, in a fiber, with a VFS whose files take the time of a modeled drive.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use plimsoll_plan::resolved::Workload;
use plimsoll_virtual::costs::CpuUse;
use plimsoll_virtual::fiber::{self, Fiber};
use plimsoll_virtual::machine::VirtualMachine;
use plimsoll_virtual::vfs;

use super::backup::{TimedFiles, back_up, restore};
use super::check::recover_timed;
use super::queue::WriterQueue;
use super::session::SqliteSession;
use crate::backup::{BackupControl, Taken, Timed};
use crate::engine::{LoadControl, Session, WorkSession};
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::Input;

type ProgramJob<R> = Box<dyn FnOnce() -> Result<R, LoadError>>;
type OpenSession = Box<dyn FnOnce() -> Result<WorkSession<SqliteSession>, LoadError>>;

enum SessionJob {
    Open(OpenSession),
    Run(Input),
}

enum SessionJobEnd {
    Opened(Result<(), LoadError>),
    Ran(RanTransaction),
}

struct RanTransaction {
    end: Result<TxnEnd, SessionError>,
    round_trips: u64,
}

/// One virtual user's connection on a simulated machine.
pub struct SimulatedSession {
    fiber: Fiber<SessionJob, SessionJobEnd>,
    round_trips: u64,
}

impl SimulatedSession {
    /// Opens the database through the VFS of this name, which takes time as well.
    pub async fn open(
        path: &Path,
        pragmas: &BTreeMap<String, String>,
        vfs_name: &str,
        writers: WriterQueue,
        workload: &Workload,
    ) -> Result<Self, LoadError> {
        let machine = machine_of(vfs_name)?;
        let mut session: Option<WorkSession<SqliteSession>> = None;
        let fiber = Fiber::new(machine, move |job| match job {
            SessionJob::Open(open) => {
                SessionJobEnd::Opened(open().map(|opened| session = Some(opened)))
            }
            SessionJob::Run(input) => SessionJobEnd::Ran(run(session.as_mut(), &input)),
        });
        let fiber = fiber.map_err(|error| LoadError::other("a stack for a session", error))?;
        let mut own = Self {
            fiber,
            round_trips: 0,
        };
        let (path, pragmas) = (path.to_owned(), pragmas.clone());
        let (vfs_name, workload) = (vfs_name.to_owned(), workload.clone());
        let open = Box::new(move || {
            SqliteSession::open(&path, &pragmas, Some(&vfs_name), writers, &workload)
        });
        match own.fiber.run(SessionJob::Open(open)).await {
            SessionJobEnd::Opened(opened) => opened.map(|()| own),
            SessionJobEnd::Ran(_) => unreachable!("a job ends as what it is"),
        }
    }
}

fn machine_of(vfs_name: &str) -> Result<Arc<VirtualMachine>, LoadError> {
    vfs::machine_of(vfs_name).ok_or_else(|| {
        LoadError::other(
            "opening a simulated session",
            "no machine has this VFS: this is a fault of plimsoll",
        )
    })
}

/// Brings the database up again after a power cut: a program of the simulated machine, which takes time there.
pub async fn recover_simulated(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
    vfs_name: &str,
) -> Result<(), LoadError> {
    let (path, pragmas) = (path.to_owned(), pragmas.clone());
    let vfs = vfs_name.to_owned();
    run_program(vfs_name, move || recover_timed(&path, &pragmas, Some(&vfs))).await
}

/// Takes a backup as a program of the simulated machine that the database is on.
pub(crate) async fn back_up_simulated(
    path: &Path,
    pragmas: &BTreeMap<String, String>,
    control: &LoadControl,
    to: &Path,
    timed: &TimedFiles,
) -> Result<Taken, LoadError> {
    let (path, pragmas, to) = (path.to_owned(), pragmas.clone(), to.to_owned());
    let (control, files) = (control.clone(), timed.clone());
    run_program(&timed.from, move || {
        let control = &control;
        let task = BackupControl { jobs: 1, control };
        back_up(&path, &pragmas, task, &to, Some(&files))
    })
    .await
}

/// Restores a backup as a program of the simulated machine that the new database is on.
pub(crate) async fn restore_simulated(
    control: &LoadControl,
    from: &Path,
    to: &Path,
    timed: &TimedFiles,
) -> Result<(PathBuf, Timed), LoadError> {
    let (from, to) = (from.to_owned(), to.to_owned());
    let (control, files) = (control.clone(), timed.clone());
    run_program(&timed.to, move || {
        let control = &control;
        let task = BackupControl { jobs: 1, control };
        restore(task, &from, &to, Some(&files))
    })
    .await
}

/// What a program of the machine with this VFS returns.
async fn run_program<R: 'static>(
    vfs_name: &str,
    program: impl FnOnce() -> Result<R, LoadError> + 'static,
) -> Result<R, LoadError> {
    let machine = machine_of(vfs_name)?;
    let fiber = Fiber::new(machine, |program: ProgramJob<R>| program());
    let mut fiber = fiber.map_err(|error| LoadError::other("a stack for a program", error))?;
    fiber.run(Box::new(program)).await
}

fn run(session: Option<&mut WorkSession<SqliteSession>>, input: &Input) -> RanTransaction {
    let Some(session) = session else {
        return RanTransaction {
            end: Err(SessionError::other_work()),
            round_trips: 0,
        };
    };
    fiber::charge(CpuUse::Transaction, 1.0);
    // It stops its thread where others would wait: this fiber.
    let end = session.run(input).now_or_never();
    RanTransaction {
        end: end.expect("a session of SQLite is never pending"),
        round_trips: session.take_round_trips(),
    }
}

impl Session for SimulatedSession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        match self.fiber.run(SessionJob::Run(input.clone())).await {
            SessionJobEnd::Ran(RanTransaction { end, round_trips }) => {
                self.round_trips += round_trips;
                end
            }
            SessionJobEnd::Opened(_) => unreachable!("a job ends as what it is"),
        }
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}

#[cfg(test)]
mod tests;
