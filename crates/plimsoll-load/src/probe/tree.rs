//! A process with all its descendants, read so that no CPU time and no I/O is lost or counted twice.
//!
//! When a child ends and its parent waits for it, its figures move into the parent's (`cutime`, `cstime` and, in the
//! kernel's `wait_task_zombie`, /proc/PID/io too). The sum over the tree therefore never decreases, if all is read at
//! one moment. It is not: a child may end between two reads. Every such end changes its parent's count of page faults
//! of waited-for children, so that a tree is read again until those stand still.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use super::parse::{self, PidIo, PidStat};
use super::source::{KernelFiles, text};

/// Attempts at an undisturbed reading.
const ATTEMPTS: u32 = 3;

/// What all processes of a tree together have used, with those that ended.
#[derive(Debug, Clone)]
pub(super) struct TreeReading {
    /// By PID.
    pub members: BTreeMap<u32, PidStat>,
    /// Ticks.
    pub cpu: u64,
    /// The reason when it may not be read.
    pub io: Result<PidIo, String>,
}

/// How reading a tree ended.
#[derive(Debug)]
pub(super) enum TreeResult {
    Read(TreeReading),
    /// Processes ended during each attempt: nothing is known about this moment, and nothing lost.
    Disturbed,
    /// The root cannot be read.
    Gone(io::Error),
}

/// Reads the tree below `root`. `known`: members of the last reading, which belong to the tree even when their parent
/// ended and another process adopted them, or when the kernel's list of children has a gap (proc(5), `children`).
pub(super) fn read(source: &KernelFiles, root: u32, known: &BTreeMap<u32, PidStat>) -> TreeResult {
    for _ in 0..ATTEMPTS {
        match Walk::new(source, root, known).run() {
            Ok(Some(reading)) => return TreeResult::Read(reading),
            Ok(None) => {}
            Err(error) => return TreeResult::Gone(error),
        }
    }
    TreeResult::Disturbed
}

/// One attempt at reading a tree.
struct Walk<'a> {
    source: &'a KernelFiles,
    root: u32,
    known: &'a BTreeMap<u32, PidStat>,
    reading: TreeReading,
    /// Who has, or has just had, children.
    parents: BTreeSet<u32>,
    /// Children by parent, from all processes there are: only for kernels without CONFIG_PROC_CHILDREN.
    scanned: Option<BTreeMap<u32, Vec<u32>>>,
}

impl<'a> Walk<'a> {
    fn new(source: &'a KernelFiles, root: u32, known: &'a BTreeMap<u32, PidStat>) -> Self {
        let reading = TreeReading {
            members: BTreeMap::new(),
            cpu: 0,
            io: Ok(PidIo::default()),
        };
        let parents = known.values().map(|stat| stat.parent).collect();
        Self {
            source,
            root,
            known,
            reading,
            parents,
            scanned: None,
        }
    }

    /// `None` when a process ended meanwhile.
    fn run(mut self) -> io::Result<Option<TreeReading>> {
        let mut tried = BTreeSet::new();
        let mut open: Vec<u32> = self.known.keys().copied().collect();
        open.push(self.root);
        while let Some(pid) = open.pop() {
            if tried.insert(pid) && self.add(pid)? {
                let children = self.children_of(pid);
                if !children.is_empty() {
                    self.parents.insert(pid);
                }
                open.extend(children);
            }
        }
        let undisturbed = self
            .reading
            .members
            .iter()
            .all(|(pid, before)| self.undisturbed(*pid, before));
        Ok(undisturbed.then_some(self.reading))
    }

    /// Adds a process; `false` when it is not there, or not the one that was known.
    fn add(&mut self, pid: u32) -> io::Result<bool> {
        let stat = match self
            .source
            .parse(&format!("proc/{pid}/stat"), parse::pid_stat)
        {
            Ok(stat) => stat,
            Err(error) if pid == self.root => return Err(error),
            Err(_) => return Ok(false),
        };
        if self
            .known
            .get(&pid)
            .is_some_and(|before| before.start != stat.start)
        {
            if pid == self.root {
                return Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    "another process has this PID now",
                ));
            }
            return Ok(false);
        }
        let reading = &mut self.reading;
        reading.cpu = reading
            .cpu
            .saturating_add(stat.cpu)
            .saturating_add(stat.children_cpu);
        match self.source.parse(&format!("proc/{pid}/io"), parse::pid_io) {
            // It ended since its stat was read: its parent's counts show it, and the tree is read again. That the root has no such
            // file means a kernel without CONFIG_TASK_IO_ACCOUNTING.
            Err(error) if is_gone(&error) && pid != self.root => {}
            one => add_io(&mut reading.io, one),
        }
        reading.members.insert(pid, stat);
        Ok(true)
    }

    /// Whether no child of this process has been waited for since it was read.
    fn undisturbed(&self, pid: u32, before: &PidStat) -> bool {
        if !self.parents.contains(&pid) {
            return true;
        }
        self.source
            .parse(&format!("proc/{pid}/stat"), parse::pid_stat)
            .is_ok_and(|now| {
                (now.children_faults, now.children_cpu)
                    == (before.children_faults, before.children_cpu)
            })
    }

    /// Children of all threads of a process.
    fn children_of(&mut self, pid: u32) -> Vec<u32> {
        if let Some(scanned) = &self.scanned {
            return scanned.get(&pid).cloned().unwrap_or_default();
        }
        let mut all = Vec::new();
        for task in self.tasks_of(pid) {
            let children = task.join("children");
            match text(&children).ok().as_deref().map(parse::children) {
                Some(Some(children)) => all.extend(children),
                // The thread is still there, but never had this file.
                _ if task.join("stat").exists() && !children.exists() => {
                    self.scanned = Some(scan(self.source));
                    return self.children_of(pid);
                }
                _ => {}
            }
        }
        all
    }

    /// Directories of a process's threads; most have one, whose name is known.
    fn tasks_of(&self, pid: u32) -> Vec<PathBuf> {
        let directory = self.source.path(&format!("proc/{pid}/task"));
        if self
            .reading
            .members
            .get(&pid)
            .is_some_and(|stat| stat.threads == 1)
        {
            return vec![directory.join(pid.to_string())];
        }
        std::fs::read_dir(directory)
            .into_iter()
            .flatten()
            .flatten()
            .map(|task| task.path())
            .collect()
    }
}

/// Children of every process, by parent.
fn scan(source: &KernelFiles) -> BTreeMap<u32, Vec<u32>> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let processes = std::fs::read_dir(source.path("proc"))
        .into_iter()
        .flatten()
        .flatten();
    for pid in processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        if let Ok(stat) = source.parse(&format!("proc/{pid}/stat"), parse::pid_stat) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    children
}

fn add_io(sum: &mut Result<PidIo, String>, one: io::Result<PidIo>) {
    match (sum, one) {
        (Ok(sum), Ok(one)) => {
            sum.read = sum.read.saturating_add(one.read);
            sum.written = sum.written.saturating_add(one.written);
        }
        (sum, Err(error)) => *sum = Err(error.to_string()),
        (Err(_), Ok(_)) => {}
    }
}

/// ENOENT when opened, ESRCH when read after the process ended.
pub(super) fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::clock::Clock;
    use plimsoll_plan::units::Nanos;

    /// A failing test leaves no process behind.
    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Children come and go all the time while the tree is read: what was used once is never missing again.
    #[test]
    fn nothing_is_lost_while_children_end() {
        let script = "while :; do (i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done) & \
                      (i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done) & wait; done";
        let shell = Killed(
            Command::new("sh")
                .args(["-c", script])
                .stdin(Stdio::null())
                .spawn()
                .unwrap(),
        );
        let source = KernelFiles::new("/");
        let clock = Clock::real();
        let mut known = BTreeMap::new();
        let mut highest = 0;
        let mut read = 0;
        let mut most = 0;
        // Longer where others have the processors.
        let is_enough =
            |now: Nanos, ticks: u64| now > Nanos::from_secs(if ticks > 10 { 1 } else { 60 });
        while !is_enough(clock.now(), highest) {
            let outcome = super::read(&source, shell.0.id(), &known);
            if let TreeResult::Read(reading) = outcome {
                assert!(
                    reading.cpu >= highest,
                    "{} ticks after {highest}",
                    reading.cpu
                );
                (highest, known) = (reading.cpu, reading.members);
                most = most.max(known.len());
                read += 1;
            }
        }
        let pid = shell.0.id();
        drop(shell);
        assert!(
            read > 10 && most > 1 && highest > 10,
            "{read} readings, {most} processes, {highest} ticks"
        );
        assert!(matches!(
            super::read(&source, pid, &known),
            TreeResult::Gone(_)
        ));
    }
}
