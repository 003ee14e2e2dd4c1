//! What a power cut takes away from files: the content before each change that is not durable.
//!
//! An honest drive keeps what a flush was answered for. Of the rest each page is as it was or as it was written last, as
//! chance has it: the kernel and the drive write in any order. Sizes and names of files are those of the journal's last
//! commit, and a commit that was under way has happened or has not; if it has, so have the writes before it (`data=ordered`).
//!
//! A drive that ignores flushes loses the end of the order in which its writes arrived, as far as its buffer holds them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use plimsoll_drive::emulate::Lost;
use plimsoll_plan::units::Bytes;

use crate::page_cache::PAGE;
use crate::random::splitmix64;

/// A call of fsync(2) that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SyncId(u64);

#[derive(Debug, Clone, PartialEq, Eq)]
enum ChangeKind {
    /// The page, and what it held; nothing beyond the end of the file.
    Page(u64, Vec<u8>),
    /// The same, of a page beyond the new end of the file: it stays where it is until the journal has committed that.
    CutOff(u64, Vec<u8>),
    /// What it was.
    Size(u64),
    Created,
    /// With what the file held.
    Deleted(Vec<u8>),
}

#[derive(Debug)]
struct FileChange {
    path: String,
    kind: ChangeKind,
    /// Which sync sent it to the drive.
    sync: Option<SyncId>,
    /// That sync has returned.
    promised: bool,
}

impl FileChange {
    /// Written for it: a page, or about a page of the journal, which notes pages that are cut off with little.
    fn bytes(&self) -> u64 {
        match &self.kind {
            ChangeKind::CutOff(..) => 1,
            ChangeKind::Page(..)
            | ChangeKind::Size(_)
            | ChangeKind::Created
            | ChangeKind::Deleted(_) => PAGE,
        }
    }

    /// Makes the file what it was.
    fn undo(&self) -> io::Result<()> {
        match &self.kind {
            ChangeKind::Created => gone(fs::remove_file(&self.path)),
            ChangeKind::Deleted(held) => fs::write(&self.path, held),
            ChangeKind::Size(size) => OpenOptions::new()
                .write(true)
                .open(&self.path)?
                .set_len(*size),
            ChangeKind::Page(number, held) | ChangeKind::CutOff(number, held) => OpenOptions::new()
                .write(true)
                .open(&self.path)?
                .write_all_at(held, number * PAGE),
        }
    }
}

/// What is gone already need not be removed.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// What a page holds within a file of this size.
fn inside(page: u64, size: u64, held: &mut impl FnMut(u64) -> Vec<u8>) -> Vec<u8> {
    match size.saturating_sub(page * PAGE).min(PAGE) as usize {
        0 => Vec::new(),
        len => {
            let mut held = held(page);
            held.truncate(len);
            held
        }
    }
}

/// Changes of files that a power cut may take away.
#[derive(Debug)]
pub struct ChangeLog {
    /// In their order.
    in_memory: Vec<FileChange>,
    /// Pages among them, and files of which the size is.
    pages: BTreeSet<(String, u64)>,
    sizes: BTreeSet<String>,
    /// In the order in which they were sent to the drive.
    sent: VecDeque<FileChange>,
    sent_bytes: u64,
    syncs: u64,
    /// What the drive's buffer holds, where it ignores flushes.
    lying: Option<Bytes>,
}

impl ChangeLog {
    /// From now on; everything is durable. `lying`: the buffer of a drive that ignores flushes.
    pub fn new(lying: Option<Bytes>) -> Self {
        Self {
            in_memory: Vec::new(),
            pages: BTreeSet::new(),
            sizes: BTreeSet::new(),
            sent: VecDeque::new(),
            sent_bytes: 0,
            syncs: 0,
            lying,
        }
    }

    fn push(&mut self, path: &str, kind: ChangeKind) {
        self.in_memory.push(FileChange {
            path: path.to_owned(),
            kind,
            sync: None,
            promised: false,
        });
    }

    /// To be called before bytes are written. `held` reads a page; `size` is that of the file.
    pub fn before_write(
        &mut self,
        path: &str,
        bytes: Range<u64>,
        size: u64,
        mut held: impl FnMut(u64) -> Vec<u8>,
    ) {
        if bytes.end > size {
            self.before_resize(path, size);
        }
        for number in bytes.start / PAGE..bytes.end.div_ceil(PAGE) {
            if self.pages.insert((path.to_owned(), number)) {
                let before = inside(number, size, &mut held);
                self.push(path, ChangeKind::Page(number, before));
            }
        }
    }

    /// To be called before a file ends at `end`, if not before.
    pub fn before_truncate(
        &mut self,
        path: &str,
        end: u64,
        size: u64,
        mut held: impl FnMut(u64) -> Vec<u8>,
    ) {
        for number in end / PAGE..size.div_ceil(PAGE) {
            let before = inside(number, size, &mut held);
            self.push(path, ChangeKind::CutOff(number, before));
        }
        if end != size {
            self.before_resize(path, size);
        }
    }

    fn before_resize(&mut self, path: &str, size: u64) {
        if self.sizes.insert(path.to_owned()) {
            self.push(path, ChangeKind::Size(size));
        }
    }

    pub fn created(&mut self, path: &str) {
        self.push(path, ChangeKind::Created);
    }

    pub fn deleted(&mut self, path: &str, held: Vec<u8>) {
        self.push(path, ChangeKind::Deleted(held));
    }

    /// The file's pages go to the drive, and if the journal commits, its size and all names.
    pub fn sync_begins(&mut self, path: Option<&str>, commits: bool) -> SyncId {
        self.syncs += 1;
        let id = SyncId(self.syncs);
        let is_sent = |change: &FileChange| {
            let is_own = path == Some(change.path.as_str());
            match &change.kind {
                ChangeKind::Page(..) => is_own,
                ChangeKind::CutOff(..) | ChangeKind::Size(_) => is_own && commits,
                ChangeKind::Created | ChangeKind::Deleted(_) => commits,
            }
        };
        let (sent, kept): (Vec<_>, Vec<_>) = self.in_memory.drain(..).partition(is_sent);
        self.in_memory = kept;
        for change in sent {
            match &change.kind {
                ChangeKind::Page(number, _) => {
                    self.pages.remove(&(change.path.clone(), *number));
                }
                ChangeKind::Size(_) => {
                    self.sizes.remove(&change.path);
                }
                ChangeKind::CutOff(..) | ChangeKind::Created | ChangeKind::Deleted(_) => {}
            }
            self.sent_bytes += change.bytes();
            let sync = Some(id);
            self.sent.push_back(FileChange { sync, ..change });
        }
        id
    }

    /// The sync has returned.
    pub fn sync_ended(&mut self, id: SyncId) {
        let Some(buffer) = self.lying else {
            self.sent.retain(|change| change.sync != Some(id));
            return;
        };
        for change in &mut self.sent {
            change.promised |= change.sync == Some(id);
        }
        while self.sent_bytes > buffer.0
            && let Some(written) = self.sent.pop_front()
        {
            self.sent_bytes -= written.bytes();
        }
    }

    /// The power fails: files become what is on the drive. `seed` decides about what was under way. What the drive had
    /// acknowledged is a loss; of a drive that is honest there is none.
    pub fn power_off(self, seed: u64) -> io::Result<Lost> {
        let mut fate = Fate {
            random: seed,
            is_lying: self.lying.is_some(),
            kept: BTreeSet::new(),
            commits: BTreeMap::new(),
        };
        let mut lost = Lost::default();
        let newest_first = self.in_memory.iter().rev().chain(self.sent.iter().rev());
        for change in newest_first {
            if fate.keeps(change) {
                continue;
            }
            change.undo()?;
            if change.promised {
                lost.writes += 1;
                lost.flushed_writes += 1;
                lost.bytes.0 += change.bytes();
            }
        }
        Ok(lost)
    }
}

/// What becomes of changes that nobody was promised.
struct Fate {
    random: u64,
    is_lying: bool,
    /// Pages that have reached the drive.
    kept: BTreeSet<(String, u64)>,
    /// Syncs under way, and whether their commit has reached it.
    commits: BTreeMap<SyncId, bool>,
}

impl Fate {
    fn coin(&mut self) -> bool {
        splitmix64(&mut self.random) & 1 == 1
    }

    fn keeps(&mut self, change: &FileChange) -> bool {
        if self.is_lying {
            return false;
        }
        let committed = change.sync.is_some_and(|id| match self.commits.get(&id) {
            Some(committed) => *committed,
            None => {
                let committed = self.coin();
                self.commits.insert(id, committed);
                committed
            }
        });
        match &change.kind {
            ChangeKind::Page(number, _) => {
                let page = (change.path.clone(), *number);
                let keeps = committed || self.kept.contains(&page) || self.coin();
                keeps && {
                    self.kept.insert(page);
                    true
                }
            }
            _ => committed,
        }
    }
}

/// Whether a mount has power, and what it would lose.
#[derive(Debug, Default)]
pub struct MountPower {
    is_off: AtomicBool,
    changes: Mutex<Option<ChangeLog>>,
}

impl MountPower {
    fn changes(&self) -> MutexGuard<'_, Option<ChangeLog>> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_off(&self) -> bool {
        self.is_off.load(Ordering::Relaxed)
    }

    /// From now on it is known what a power cut takes away. `lying` as in [`ChangeLog::new`].
    pub fn watch(&self, lying: Option<Bytes>) {
        *self.changes() = Some(ChangeLog::new(lying));
    }

    /// Notes something where changes are watched.
    pub fn note<T>(&self, note: impl FnOnce(&mut ChangeLog) -> T) -> Option<T> {
        self.changes().as_mut().map(note)
    }

    /// Nothing can be read or written any more. Nothing is lost where changes were not watched.
    pub fn fail(&self, seed: u64) -> io::Result<Lost> {
        self.is_off.store(true, Ordering::Relaxed);
        let watched = self.changes().take();
        watched.map_or(Ok(Lost::default()), |changes| changes.power_off(seed))
    }

    /// As [`Self::fail`], with nothing left to look at.
    pub fn lose_data(&self) {
        self.is_off.store(true, Ordering::Relaxed);
    }

    pub fn restore(&self) {
        self.is_off.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Write(u64, u64, u8),
        Truncate(u64),
        Sync,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            6 => (0u64..40_000, 1u64..9_000, 1u8..).prop_map(|(at, len, byte)| Step::Write(at, len, byte)),
            1 => (0u64..40_000).prop_map(Step::Truncate),
            2 => Just(Step::Sync),
        ];
        prop::collection::vec(step, 0..40)
    }

    /// A file with its log.
    struct LoggedFile {
        path: String,
        log: ChangeLog,
    }

    impl LoggedFile {
        fn new(dir: &tempfile::TempDir, lying: Option<Bytes>) -> Self {
            let path = dir.path().join("db").to_str().unwrap().to_owned();
            fs::write(&path, vec![255; 10_000]).unwrap();
            let log = ChangeLog::new(lying);
            Self { path, log }
        }

        fn content(&self) -> Vec<u8> {
            fs::read(&self.path).unwrap()
        }

        fn apply(&mut self, step: &Step) {
            let content = self.content();
            let size = content.len() as u64;
            let held = |page: u64| {
                let start = (page * PAGE) as usize;
                content[start..content.len().min(start + PAGE as usize)].to_vec()
            };
            let file = OpenOptions::new().write(true).open(&self.path).unwrap();
            match *step {
                Step::Write(at, len, byte) => {
                    self.log.before_write(&self.path, at..at + len, size, held);
                    file.write_all_at(&vec![byte; len as usize], at).unwrap();
                }
                Step::Truncate(end) => {
                    self.log.before_truncate(&self.path, end, size, held);
                    file.set_len(end).unwrap();
                }
                Step::Sync => {
                    let sync = self.log.sync_begins(Some(&self.path), true);
                    self.log.sync_ended(sync);
                }
            }
        }
    }

    fn page(content: &[u8], number: usize) -> &[u8] {
        let from = (number * PAGE as usize).min(content.len());
        &content[from..content.len().min(from + PAGE as usize)]
    }

    proptest! {
        /// After a power cut an honest drive has a file of the size that was synced last, and each page as it was then or at
        /// some moment after.
        #[test]
        fn an_honest_drive_keeps_what_was_synced(steps in steps(), seed in any::<u64>()) {
            let dir = tempfile::tempdir().unwrap();
            let mut file = LoggedFile::new(&dir, None);
            let mut since = vec![file.content()];
            for step in &steps {
                file.apply(step);
                if matches!(step, Step::Sync) {
                    since.clear();
                }
                since.push(file.content());
            }
            let path = file.path.clone();
            prop_assert_eq!(file.log.power_off(seed).unwrap(), Lost::default());
            let left = fs::read(path).unwrap();
            prop_assert_eq!(left.len(), since[0].len());
            for number in 0..left.len().div_ceil(PAGE as usize) {
                let own = page(&left, number);
                let was = |content: &Vec<u8>| {
                    let then = page(content, number);
                    then.len() >= own.len() && then[..own.len()] == *own
                };
                prop_assert!(since.iter().any(was), "page {number} was never so");
            }
        }

        /// One that ignores flushes is as it was after one of the writes that were sent.
        #[test]
        fn a_drive_that_lies_loses_the_end(steps in steps(), pages in 0u64..20) {
            let dir = tempfile::tempdir().unwrap();
            let mut file = LoggedFile::new(&dir, Some(Bytes(pages * PAGE)));
            let mut synced = vec![file.content()];
            for step in &steps {
                file.apply(step);
                if matches!(step, Step::Sync) {
                    synced.push(file.content());
                }
            }
            let held = file.log.sent.iter().any(|change| change.promised);
            let path = file.path.clone();
            let lost = file.log.power_off(1).unwrap();
            prop_assert_eq!(lost.writes > 0, held);
            prop_assert!(lost.bytes.0 <= lost.writes * PAGE && lost.bytes.0 <= pages * PAGE, "{lost:?}");
            if pages == 0 {
                prop_assert!(fs::read(&path).unwrap() == *synced.last().unwrap());
            } else if !held {
                prop_assert!(synced.contains(&fs::read(&path).unwrap()));
            }
        }
    }

    #[test]
    fn names_are_those_of_the_last_commit() {
        let dir = tempfile::tempdir().unwrap();
        let [kept, new, gone] =
            ["kept", "new", "gone"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
        fs::write(&gone, "held").unwrap();
        let mut log = ChangeLog::new(None);
        log.created(&kept);
        fs::write(&kept, "").unwrap();
        let sync = log.sync_begins(None, true);
        log.sync_ended(sync);
        log.created(&new);
        fs::write(&new, "").unwrap();
        log.deleted(&gone, b"held".to_vec());
        fs::remove_file(&gone).unwrap();
        log.power_off(0).unwrap();
        assert!(fs::exists(&kept).unwrap() && !fs::exists(&new).unwrap());
        assert_eq!(fs::read(&gone).unwrap(), b"held");
    }

    #[test]
    fn a_commit_under_way_has_happened_or_not_and_all_that_came_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut ends = BTreeSet::new();
        for seed in 0..20 {
            let mut file = LoggedFile::new(&dir, None);
            file.apply(&Step::Write(0, 20_000, 7));
            file.log.sync_begins(Some(&file.path), true);
            let path = file.path.clone();
            file.log.power_off(seed).unwrap();
            let left = fs::read(path).unwrap();
            assert!(
                left.len() == 10_000 || left == vec![7; 20_000],
                "{}",
                left.len()
            );
            ends.insert(left.len());
        }
        assert_eq!(ends.len(), 2);
    }
}
