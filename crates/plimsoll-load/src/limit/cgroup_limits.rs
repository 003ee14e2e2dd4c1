//! The control groups of one system.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use plimsoll_plan::resolved::Limits;

use super::files::{self, Device};
use super::hierarchy::{self, Controller, Parent};
use crate::error::LoadError;
use crate::scratch::{start_time, wait_until};

/// What the names of our groups begin with; then come the process that they belong to, when it began, and a number.
const PREFIX: &str = "plimsoll-";
/// How long the kernel may take to let go of processes that have ended.
const EMPTY_SECONDS: u64 = 10;

/// The other thing to do where limits cannot be set or do not hold.
pub(super) const OR_GO_ON: &str = "or let the run go on without limits: \
                        limits = { …, without = \"warn\" } in the plan's system.";

/// Numbers the groups of this process.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Groups that limit whatever is started in them. Removed when dropped, which takes that everything in them has ended.
#[derive(Debug)]
pub struct CgroupLimits {
    groups: Vec<PathBuf>,
    /// The limits in effect, as the kernel's files read, by file: `memory.max`, `1073741824`.
    in_effect: Vec<(String, String)>,
}

/// The machine's groups as this process sees them.
fn parents() -> BTreeMap<Controller, Parent> {
    let mounts = fs::read_to_string("/proc/self/mountinfo");
    let groups = fs::read_to_string("/proc/self/cgroup");
    hierarchy::parents(
        &mounts.unwrap_or_default(),
        &groups.unwrap_or_default(),
        |mount| fs::read_to_string(mount.join("cgroup.controllers")).ok(),
    )
}

impl CgroupLimits {
    /// Makes the groups and sets the limits; `device` is the block device that I/O limits are of.
    ///
    /// # Errors
    /// The machine cannot limit, or does not keep a limit.
    pub fn create(limits: &Limits, device: Option<Device>) -> Result<Self, LoadError> {
        let parents = parents();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let pid = std::process::id();
        let began = start_time(pid.cast_signed()).unwrap_or_default();
        let name = format!("{PREFIX}{pid}-{began}-{number}");
        let mut cgroup = Self {
            groups: Vec::new(),
            in_effect: Vec::new(),
        };
        for controller in files::needed(limits) {
            if controller == Controller::Io && device.is_none() {
                return Err(cannot(
                    controller,
                    "no block device was found below the medium",
                ));
            }
            let parent = parents
                .get(&controller)
                .ok_or_else(|| cannot(controller, "no control group has it"))?;
            cgroup.limit(controller, parent, &name, limits, device)?;
        }
        Ok(cgroup)
    }

    fn limit(
        &mut self,
        controller: Controller,
        parent: &Parent,
        name: &str,
        limits: &Limits,
        device: Option<Device>,
    ) -> Result<(), LoadError> {
        let (at, settings) = match parent {
            Parent::V1(at) => {
                let mems = fs::read_to_string(at.join("cpuset.mems")).unwrap_or_default();
                (
                    at,
                    files::version_1(controller, limits, device, mems.trim()),
                )
            }
            Parent::V2(at) => {
                let down = at.join("cgroup.subtree_control");
                let has = fs::read_to_string(&down).unwrap_or_default();
                if !has.split_whitespace().any(|name| name == controller.v2()) {
                    fs::write(&down, format!("+{}", controller.v2()))
                        .map_err(|error| failed(controller, &down, &error))?;
                }
                (at, files::version_2(controller, limits, device))
            }
        };
        let group = at.join(name);
        if !self.groups.contains(&group) {
            fs::create_dir(&group).map_err(|error| failed(controller, &group, &error))?;
            self.groups.push(group.clone());
        }
        for (file, value) in settings {
            let path = group.join(file);
            match fs::write(&path, &value) {
                // A kernel without swap accounting has no limit of swap; without swap it needs none.
                Err(error) if file.contains("swap") && error.kind() == io::ErrorKind::NotFound => {
                    continue;
                }
                other => other.map_err(|error| failed(controller, &path, &error))?,
            }
            let is =
                fs::read_to_string(&path).map_err(|error| failed(controller, &path, &error))?;
            if !files::is_in_effect(file, &value, &is) {
                let why = format!(
                    "{} reads {:?} after {value:?} was written",
                    path.display(),
                    is.trim()
                );
                return Err(cannot(controller, &why));
            }
            self.in_effect
                .push((file.to_owned(), is.trim().replace('\n', "; ")));
        }
        Ok(())
    }

    /// The kernel's value of each limit, by the name of its file.
    pub fn in_effect(&self) -> &[(String, String)] {
        &self.in_effect
    }

    /// A command that enters the groups, then becomes `program` as that user; arguments can be added to it. The shell writes
    /// its own number, because a process that has given up root may not move.
    pub fn command(&self, program: &OsStr, user: Option<(u32, u32)>) -> Command {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", ENTER, "sh"])
            .args(self.groups.iter().map(|group| group.join("cgroup.procs")))
            .arg("--");
        if let Some((uid, gid)) = user {
            command
                .arg("setpriv")
                .arg(format!("--reuid={uid}"))
                .arg(format!("--regid={gid}"));
            command.args(["--clear-groups", "--"]);
        }
        command.arg(program);
        command
    }

    /// Whether a process is in all groups.
    pub fn holds(&self, pid: u32) -> bool {
        self.groups.iter().all(|group| {
            let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            text.lines().any(|line| line.trim().parse() == Ok(pid))
        })
    }

    /// How often the kernel has killed a process in here for want of memory; `None` where it does not report that.
    pub fn killed_for_memory(&self) -> Option<u64> {
        self.groups.iter().find_map(|group| {
            let text = ["memory.events", "memory.oom_control"]
                .iter()
                .find_map(|file| fs::read_to_string(group.join(file)).ok());
            text?
                .lines()
                .find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
        })
    }

    fn remove(&mut self) -> Result<(), String> {
        let gone = |group: &PathBuf| match fs::remove_dir(group) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(()) => true,
        };
        wait_until(EMPTY_SECONDS, || {
            self.groups.retain(|group| !gone(group));
            self.groups.is_empty()
        });
        match self.groups.first() {
            None => Ok(()),
            Some(group) => Err(format!(
                "the control group {} cannot be removed: something is in it",
                group.display()
            )),
        }
    }
}

impl Drop for CgroupLimits {
    fn drop(&mut self) {
        // The next run's sweep finds what remains.
        let _ = self.remove();
    }
}

/// Writes its number into the files before `--`, then becomes what comes after.
const ENTER: &str =
    r#"while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; exec "$@""#;

fn failed(controller: Controller, path: &Path, error: &io::Error) -> LoadError {
    cannot(controller, &format!("{}: {error}", path.display()))
}

fn cannot(controller: Controller, why: &str) -> LoadError {
    let what = match controller {
        Controller::Cpu => "processor time",
        Controller::CpuSet => "the processors used",
        Controller::Memory => "memory",
        Controller::Io => "I/O",
    };
    LoadError::Unsupported {
        what: format!("limit {what} of a server"),
        why: why.into(),
        next: format!(
            "Run plimsoll as root on a machine with control groups (cgroups), {OR_GO_ON}"
        ),
    }
}

/// Removes the groups of processes that are gone, and returns which; what still runs in one keeps it.
pub fn sweep() -> Vec<PathBuf> {
    let parents: std::collections::BTreeSet<PathBuf> = parents()
        .into_values()
        .map(|parent| match parent {
            Parent::V1(path) | Parent::V2(path) => path,
        })
        .collect();
    let entries = parents
        .iter()
        .filter_map(|parent| fs::read_dir(parent).ok())
        .flatten()
        .flatten();
    let dead = entries.map(|entry| entry.path()).filter(|path| {
        path.file_name()
            .and_then(OsStr::to_str)
            .is_some_and(is_dead)
    });
    dead.filter(|path| fs::remove_dir(path).is_ok()).collect()
}

/// Whether a group's name is one of ours and its process is gone.
fn is_dead(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let numbers: Option<Vec<u64>> = rest.split('-').map(|number| number.parse().ok()).collect();
    let Some([pid, began, _]) = numbers.as_deref() else {
        return false;
    };
    i32::try_from(*pid).is_ok_and(|pid| start_time(pid).unwrap_or_default() != *began)
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::units::Bytes;

    use super::*;

    #[test]
    fn a_group_limits_what_is_started_in_it_and_is_removed() {
        let limits = Limits {
            memory: Some(Bytes::mib(64)),
            cpus: Some(0.5),
            ..Limits::default()
        };
        let cgroup = CgroupLimits::create(&limits, None).unwrap();
        let groups = cgroup.groups.clone();
        assert!(!groups.is_empty() && groups.iter().all(|group| group.is_dir()));
        assert!(
            cgroup
                .in_effect()
                .iter()
                .any(|(_, is)| is.starts_with("50000")),
            "{:?}",
            cgroup.in_effect()
        );
        let mut child = cgroup
            .command(OsStr::new("sleep"), Some((65534, 65534)))
            .arg("60")
            .spawn()
            .unwrap();
        assert!(wait_until(60, || cgroup.holds(child.id())));
        let user =
            || fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        assert!(
            wait_until(60, || user().contains("Uid:\t65534")),
            "{}",
            user()
        );
        child.kill().unwrap();
        child.wait().unwrap();
        drop(cgroup);
        assert!(groups.iter().all(|group| !group.exists()));
    }

    #[test]
    fn only_groups_of_dead_processes_are_swept() {
        let pid = std::process::id();
        let began = start_time(pid.cast_signed()).unwrap();
        assert!(!is_dead(&format!("{PREFIX}{pid}-{began}-0")), "alive");
        assert!(
            is_dead(&format!("{PREFIX}{pid}-{}-0", began - 1)),
            "another process had the number"
        );
        for foreign in [
            "plimsoll-",
            "plimsoll-1-2",
            "plimsoll-a-b-c",
            "system.slice",
            "plimsoll-4000000000-1-1",
        ] {
            assert!(!is_dead(foreign), "{foreign}");
        }
    }
}
