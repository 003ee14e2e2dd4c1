//! Directories for files that are still being written, which a signal removes.

use std::fs::{self, DirEntry, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rustix::process::geteuid;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::signals::is_interruptible;

/// One that a `kill -9` leaves is named `plimsoll-XXXXXX.part`; the next command that writes beside it removes it.
const PREFIX: &str = "plimsoll-";
const SUFFIX: &str = ".part";
/// What commands write in it, beside manual pages.
const PARTS: [&str; 4] = ["part", "set.json", "plan.toml", "speed.json"];
/// How often a directory is removed in which something may still be created.
const REMOVALS: u32 = 10;

/// Every directory that exists now.
static DIRECTORIES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static REMOVER: Once = Once::new();

/// A new directory of a random name that only this user may enter. It is removed when this is dropped, and by SIGINT,
/// SIGTERM and SIGHUP.
#[derive(Debug)]
pub struct PartDir {
    path: PathBuf,
    /// Locked: it is in use.
    _lock: File,
}

impl PartDir {
    /// In the directory of `path`, so that what is in it can be renamed to `path`.
    pub fn beside(path: &Path) -> io::Result<Self> {
        Self::create_in(parent(path))
    }

    pub fn create_in(directory: &Path) -> io::Result<Self> {
        remove_on_signals();
        remove_leftovers(directory);
        let mut directories = directories();
        loop {
            let dir = tempfile::Builder::new()
                .prefix(PREFIX)
                .suffix(SUFFIX)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(directory)?;
            // Until it is locked, another command may take it for a leftover.
            if let Some(lock) = lock_existing(dir.path()) {
                let path = dir.keep();
                directories.push(path.clone());
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// `None`: it was removed. Where a file system has no locks, nothing is taken for a leftover.
fn lock_existing(path: &Path) -> Option<File> {
    let lock = File::open(path).ok()?;
    let _ = lock.lock_shared();
    path.exists().then_some(lock)
}

/// Removes what killed commands of this user left in a directory.
fn remove_leftovers(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if is_leftover(&entry) {
            // Another command may be about to remove it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A directory as this module makes them, of this user, that no process holds.
fn is_leftover(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let is_named = name
        .to_str()
        .and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX))
        .is_some_and(|random| {
            random.len() == 6 && random.bytes().all(|c| c.is_ascii_alphanumeric())
        });
    let is_own = |found: Metadata| {
        found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o777 == 0o700
    };
    is_named
        && entry.metadata().is_ok_and(is_own)
        && holds_parts_only(&entry.path())
        && File::open(entry.path()).is_ok_and(|dir| dir.try_lock().is_ok())
}

/// Whether everything in a directory has a name that commands write there: a user may have chosen one like ours.
fn holds_parts_only(directory: &Path) -> bool {
    let is_part = |entry: DirEntry| {
        let name = entry.file_name();
        let is_named = name.to_str().is_some_and(|name| {
            PARTS.contains(&name) || (name.starts_with("plimsoll") && name.ends_with(".1"))
        });
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => name == "set" && holds_parts_only(&entry.path()),
            kind => is_named && kind.is_ok_and(|kind| kind.is_file()),
        }
    };
    fs::read_dir(directory).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_part)))
}

impl Drop for PartDir {
    fn drop(&mut self) {
        let mut directories = directories();
        // A set of runs has been renamed as a whole.
        let _ = fs::remove_dir_all(&self.path);
        directories.retain(|path| *path != self.path);
    }
}

/// The directory that a file is in.
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn directories() -> MutexGuard<'static, Vec<PathBuf>> {
    DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on signals remove all directories before they end the process. Commands that end by themselves after a signal
/// drop what they have.
fn remove_on_signals() {
    if is_interruptible() {
        return;
    }
    REMOVER.call_once(|| {
        // Without a thread or handlers a signal leaves a directory, and nothing else.
        if let Ok(remover) = Remover::new() {
            let _ = std::thread::Builder::new()
                .name("plimsoll-parts".into())
                .spawn(|| remover.remove_after_signal());
        }
    });
}

struct Remover {
    runtime: Runtime,
    signals: Vec<(i32, Signal)>,
}

impl Remover {
    fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let guard = runtime.enter();
        let ignored = ignored_signals();
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let mut signals = Vec::new();
        for kind in kinds {
            let number = kind.as_raw_value();
            // What `nohup` and a shell's `&` ignore stays ignored.
            if ignored & (1 << (number - 1)) == 0 {
                signals.push((number, signal(kind)?));
            }
        }
        drop(guard);
        Ok(Self { runtime, signals })
    }

    fn remove_after_signal(mut self) {
        loop {
            let waits = self.signals.iter_mut().map(|(number, signal)| {
                Box::pin(async {
                    signal.recv().await;
                    *number
                })
            });
            let waits: Vec<_> = waits.collect();
            if waits.is_empty() {
                return;
            }
            let (number, _, _) = self
                .runtime
                .block_on(futures_util::future::select_all(waits));
            if is_interruptible() {
                continue;
            }
            // Held until the end: no further directory is made.
            let directories = directories();
            directories.iter().for_each(|path| remove(path));
            // As a shell reports a process that a signal ended.
            std::process::exit(128 + number);
        }
    }
}

fn remove(directory: &Path) {
    for _ in 0..REMOVALS {
        match fs::remove_dir_all(directory) {
            // The other threads go on, and may just have created a file.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}

/// A bit for each signal that was ignored when this process began.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_killed_command_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let used = PartDir::create_in(dir.path()).unwrap();
        let make = |name: &str, mode: u32| {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("part"), "half").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let left = make("plimsoll-abc123.part", 0o700);
        let theirs = [
            make("plimsoll-abc124.part", 0o755),
            make("plimsoll-mine.part", 0o700),
            make("plimsoll-abc123.parts", 0o700),
        ];
        let diary = make("plimsoll-abc125.part", 0o700).join("diary");
        fs::write(&diary, "mine").unwrap();
        drop(PartDir::create_in(dir.path()).unwrap());
        assert!(diary.exists());
        assert!(!left.exists() && used.path().exists());
        assert!(theirs.iter().all(|path| path.join("part").exists()));
    }
}
