//! The process of a server of plimsoll's own: started, watched, killed, stopped, whatever its engine.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_plan::resolved::ManagedKind;
use rustix::fs::OFlags;
use rustix::process::Pid;

use super::command::{check_path, command, reachable, surroundings};
use super::log::{failed, lack_of_space};
use super::unprivileged::{hand_over, unprivileged};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::passwd::PasswdEntry;
use crate::scratch::copy::DataDirectory;
use crate::scratch::directory::DirectoryHandle;
use crate::scratch::{Scratch, endings, io_error, kill_all, servers_work_in, wait_until};

pub(crate) const START_SECONDS: u64 = 120;
/// The log of a crashed server is replayed as fast as its drive reads and writes.
pub(crate) const RECOVERY_SECONDS: u64 = 24 * 3600;
/// How long a backend may go on with its query after its server's end.
const BACKENDS_SECONDS: u64 = 30;

/// Why a server ended after the kernel had killed a process of its group.
const SHORT_OF_MEMORY: &str =
    "the kernel killed one of its processes because the memory that the plan allows was used up";
const NEXT_WHEN_SHORT: &str =
    "Raise `limits.memory` of the system in the plan, or give the server smaller caches.";
const NEXT_WHEN_REFUSED: &str = "If it names a setting, correct `settings` in the plan.";
const NEXT_WHEN_DEAD: &str =
    "If the server was not stopped on purpose, check `dmesg` for an out-of-memory kill.";

/// Where a server lives in a scratch directory, and the user it runs as.
#[derive(Debug)]
pub(crate) struct ServerContext {
    kind: ManagedKind,
    user: Option<PasswdEntry>,
    pub data: PathBuf,
    /// A directory that only the server's user may enter.
    pub socket: PathBuf,
    /// The server writes its log to this file; errors quote a line of it.
    pub log: PathBuf,
    /// Where its transaction log goes, if not among its data.
    pub log_disk: Option<PathBuf>,
    /// What limits the server; its data directory is made outside.
    cgroup: Option<CgroupLimits>,
}

impl ServerContext {
    /// Makes the directories `name` and `socket`, the latter short enough for a socket's name of that many bytes (with
    /// its slash), and the file `name.log`.
    pub fn create(
        kind: ManagedKind,
        scratch: &mut Scratch,
        socket_name: usize,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        check_path(kind, scratch.path())?;
        let user = unprivileged(kind)?;
        let name = kind.server().engine().name();
        let data = scratch.dir(name)?;
        let socket = scratch.socket_dir("socket", socket_name)?;
        let log_disk = scratch.log_dir(&format!("{name}-log"))?;
        for dir in [Some(&data), Some(&socket), log_disk.as_ref()]
            .into_iter()
            .flatten()
        {
            hand_over(dir, user.as_ref(), 0o700)?;
        }
        if let Some(user) = &user {
            reachable(&data, user)?;
        }
        let log_name = format!("{name}.log");
        let log = scratch.path().join(&log_name);
        DirectoryHandle::open_own(scratch.path())?
            .create(OsStr::new(&log_name), 0o644)
            .map_err(|e| io_error(&log, &e))?;
        Ok(Self {
            kind,
            user,
            data,
            socket,
            log,
            log_disk,
            cgroup,
        })
    }

    /// Where the log has a disk of its own: from now on what is written below `name` among the data goes there.
    pub fn link_log(&self, name: &str) -> Result<(), LoadError> {
        let link = self.data.join(name);
        match &self.log_disk {
            Some(disk) if !link.is_symlink() => {
                symlink(disk, &link).map_err(|error| io_error(&link, &error))
            }
            _ => Ok(()),
        }
    }

    /// The data, for copies.
    pub fn data_directory(&self) -> DataDirectory<'_> {
        DataDirectory {
            path: &self.data,
            log_disk: self.log_disk.as_deref(),
        }
    }

    /// One more directory that only the server's user may enter.
    pub fn directory(&self, scratch: &mut Scratch, name: &str) -> Result<PathBuf, LoadError> {
        let path = scratch.dir(name)?;
        hand_over(&path, self.user.as_ref(), 0o700)?;
        Ok(path)
    }

    /// Gives a directory outside to the server's user, who can reach it then.
    pub fn admit(&self, dir: &Path) -> Result<(), LoadError> {
        hand_over(dir, self.user.as_ref(), 0o700)?;
        self.user
            .as_ref()
            .map_or(Ok(()), |user| reachable(dir, user))
    }

    pub fn command(&self, program: &Path) -> Command {
        command(program, &self.data, self.user.as_ref())
    }

    /// A program that works in this directory, as the server's user.
    pub fn command_in(&self, program: &Path, dir: &Path) -> Command {
        command(program, dir, self.user.as_ref())
    }

    /// The server itself: within its limits.
    pub fn serve(&self, program: &Path) -> Command {
        let Some(cgroup) = &self.cgroup else {
            return self.command(program);
        };
        let user = self.user.as_ref().map(|user| (user.uid, user.gid));
        surroundings(cgroup.command(program.as_os_str(), user), &self.data)
    }

    /// Runs a program that makes the data directory, to its end.
    pub fn make(&self, command: &mut Command) -> Result<(), LoadError> {
        let name = Path::new(command.get_program())
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let status = self
            .spawn(command)?
            .wait()
            .map_err(|e| LoadError::other(&name, e))?;
        if status.success() {
            return Ok(());
        }
        Err(failed(
            &name,
            &status.to_string(),
            &self.log,
            NEXT_WHEN_REFUSED,
        ))
    }

    fn open_log(&self) -> io::Result<File> {
        let (parent, name) = (self.log.parent(), self.log.file_name());
        DirectoryHandle::open(parent.unwrap_or(Path::new("/")))?
            .open_file(name.unwrap_or_default(), OFlags::WRONLY | OFlags::APPEND)
    }

    fn spawn(&self, command: &mut Command) -> Result<Child, LoadError> {
        let file = self.open_log().map_err(|e| io_error(&self.log, &e))?;
        let again = file.try_clone().map_err(|e| io_error(&self.log, &e))?;
        let program = command.get_program().to_owned();
        let child = command.stdout(file).stderr(again).spawn();
        child.map_err(|e| LoadError::other(format!("{} cannot be started", program.display()), e))
    }

    fn title(&self) -> String {
        format!("The {} server", self.kind.title())
    }

    fn not_started(&self, why: &str) -> LoadError {
        failed(&self.title(), why, &self.log, NEXT_WHEN_REFUSED)
    }
}

/// A running server. Stops when dropped. The scratch directory it lives in must outlive it.
#[derive(Debug)]
pub struct ServerProcess {
    pub(crate) context: ServerContext,
    child: Mutex<Child>,
}

impl ServerProcess {
    pub(crate) fn start(context: ServerContext, command: &mut Command) -> Result<Self, LoadError> {
        let child = Mutex::new(context.spawn(command)?);
        Ok(Self { context, child })
    }

    /// Starts the server again after [`Self::crash`].
    pub(crate) fn start_again(&self, command: &mut Command) -> Result<(), LoadError> {
        *self.lock() = self.context.spawn(command)?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Process id of the server, the parent of all its processes.
    pub fn pid(&self) -> u32 {
        self.lock().id()
    }

    pub fn data_dir(&self) -> &Path {
        &self.context.data
    }

    /// The server's log.
    pub fn log(&self) -> &Path {
        &self.context.log
    }

    /// Ends all of the server's processes at once, as a power failure does.
    pub fn crash(&self) -> Result<(), LoadError> {
        // Again and again: a process may have been about to start another one.
        let ended = wait_until(10, || {
            kill_all(&self.context.data);
            self.exit_status().is_some() && !servers_work_in(&self.context.data)
        });
        if ended {
            Ok(())
        } else {
            Err(self.does_not_end())
        }
    }

    /// Why the server is no longer there, quoting its log; `None` while it runs.
    pub fn died(&self) -> Option<LoadError> {
        let status = self.exit_status()?;
        Some(self.failed(&status.to_string()))
    }

    /// Whether the kernel has killed one of its processes because its memory was used up.
    fn is_short_of_memory(&self) -> bool {
        self.limits()
            .and_then(CgroupLimits::killed_for_memory)
            .is_some_and(|killed| killed > 0)
    }

    /// An end that no setting explains.
    fn failed(&self, why: &str) -> LoadError {
        let title = self.context.title();
        if self.is_short_of_memory() {
            return LoadError::Died {
                what: title,
                why: format!("{SHORT_OF_MEMORY} ({why})"),
                next: NEXT_WHEN_SHORT.into(),
                log: String::new(),
            };
        }
        failed(&title, why, &self.context.log, NEXT_WHEN_DEAD)
    }

    /// What limits it, if anything does.
    pub fn limits(&self) -> Option<&CgroupLimits> {
        self.context.cgroup.as_ref()
    }

    /// The reason behind a connection's error, where the server's log has more: a full disk makes the server
    /// end all connections, and perhaps itself.
    pub fn explain(&self, error: LoadError) -> LoadError {
        if !matches!(
            error,
            LoadError::Died { .. } | LoadError::Unreachable { .. }
        ) {
            return error;
        }
        // Connections notice before the server has ended.
        wait_until(2, || self.exit_status().is_some());
        if self.exit_status().is_some()
            || lack_of_space(&self.context.log).is_some()
            || self.is_short_of_memory()
        {
            return self.failed(&error.reason());
        }
        error
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        self.lock().try_wait().ok().flatten()
    }

    /// Waits until the server can be used; ends early when it dies, or when `cancelled`.
    pub(crate) fn wait_ready(
        &self,
        seconds: u64,
        cancelled: &dyn Fn() -> bool,
        is_ready: &dyn Fn() -> bool,
    ) -> Result<(), LoadError> {
        let mut ended = None;
        let ready = wait_until(seconds, || {
            ended = self.exit_status();
            ended.is_some() || cancelled() || is_ready()
        });
        if cancelled() {
            return Err(LoadError::Cancelled);
        }
        match ended {
            Some(status) if self.is_short_of_memory() => Err(self.failed(&status.to_string())),
            Some(status) => Err(self.context.not_started(&status.to_string())),
            None if ready => Ok(()),
            None => Err(self
                .context
                .not_started(&format!("it is not ready after {seconds} s"))),
        }
    }

    /// Stops the server: gently first, then at any price. Its processes outlive a server that was killed, and write
    /// until they notice.
    pub fn end(&self) -> Result<(), LoadError> {
        for (signal, seconds) in endings(self.context.kind) {
            if self.exit_status().is_some() {
                break;
            }
            // The child is not reaped yet, so the pid is still its own.
            if let Some(pid) = Pid::from_raw(self.pid().cast_signed()) {
                let _ = rustix::process::kill_process(pid, signal);
            }
            wait_until(seconds, || self.exit_status().is_some());
        }
        if self.exit_status().is_some()
            && wait_until(BACKENDS_SECONDS, || !servers_work_in(&self.context.data))
        {
            return Ok(());
        }
        Err(self.does_not_end())
    }

    fn does_not_end(&self) -> LoadError {
        LoadError::other(
            format!("{} server {}", self.context.kind.title(), self.pid()),
            "does not end, not even killed",
        )
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Whoever can report an error calls `end`.
        let _ = self.end();
    }
}

/// On the medium when this returns: a server that comes back after a power cut reads it again. ext4 keeps the new length
/// of a file whose last block was appended to, and loses what is in it.
pub(crate) fn write_durably(file: &mut File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Removes what a dead server has left; it may be gone already.
pub(crate) fn remove_left(path: &Path) -> Result<(), LoadError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(path, &error)),
        _ => Ok(()),
    }
}
