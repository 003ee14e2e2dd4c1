//! Which control groups this process is in, and where the kernel shows them (cgroups(7)).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What limits something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Controller {
    Cpu,
    CpuSet,
    Memory,
    Io,
}

impl Controller {
    pub const ALL: [Self; 4] = [Self::Cpu, Self::CpuSet, Self::Memory, Self::Io];

    fn v1(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::CpuSet => "cpuset",
            Self::Memory => "memory",
            Self::Io => "blkio",
        }
    }

    pub fn v2(self) -> &'static str {
        match self {
            Self::Io => "io",
            other => other.v1(),
        }
    }
}

/// Where a controller's groups are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parent {
    /// One tree for each controller: this process's own group there.
    V1(PathBuf),
    /// One tree for all: its root as far as this process sees it. Its own group will not do: controllers reach down only
    /// from groups without processes, and the root is exempt from that.
    V2(PathBuf),
}

/// The controllers that this machine has, by `/proc/self/mountinfo`, `/proc/self/cgroup` and what the unified tree's root
/// lists in `cgroup.controllers`. On machines with both kinds a controller is in one of them.
pub fn parents(
    mountinfo: &str,
    own: &str,
    unified: impl Fn(&Path) -> Option<String>,
) -> BTreeMap<Controller, Parent> {
    let mounts: Vec<CgroupMount<'_>> = mountinfo.lines().filter_map(parse_mount).collect();
    let groups: Vec<(&str, &str)> = own.lines().filter_map(parse_group).collect();
    let mut found = BTreeMap::new();
    for mount in mounts.iter().filter(|mount| mount.kind == "cgroup2") {
        let listed = unified(Path::new(mount.point)).unwrap_or_default();
        for controller in Controller::ALL {
            if listed
                .split_whitespace()
                .any(|name| name == controller.v2())
            {
                found.insert(controller, Parent::V2(mount.point.into()));
            }
        }
    }
    for controller in Controller::ALL {
        let of = |list: &str| list.split(',').any(|name| name == controller.v1());
        let mount = mounts
            .iter()
            .find(|mount| mount.kind == "cgroup" && of(mount.options));
        let group = groups.iter().find(|(controllers, _)| of(controllers));
        if let (Some(mount), Some((_, group))) = (mount, group) {
            found
                .entry(controller)
                .or_insert(Parent::V1(mount.path_of(group)));
        }
    }
    found
}

/// The groups that limit this process's CPU, its own first and then those above it, as far as the kernel shows them here.
pub fn cpu_groups(mountinfo: &str, own: &str) -> Vec<PathBuf> {
    let mounts: Vec<CgroupMount<'_>> = mountinfo.lines().filter_map(parse_mount).collect();
    let mut found = Vec::new();
    for (controllers, group) in own.lines().filter_map(parse_group) {
        let is_own = |mount: &&CgroupMount<'_>| match mount.kind {
            "cgroup2" => controllers.is_empty(),
            "cgroup" => {
                controllers.split(',').any(|name| name == "cpu")
                    && mount.options.split(',').any(|name| name == "cpu")
            }
            _ => false,
        };
        if let Some(mount) = mounts.iter().find(is_own) {
            let own = mount.path_of(group);
            let above = own.ancestors().map(Path::to_path_buf);
            found.extend(above.take_while(|path| path.starts_with(mount.point)));
        }
    }
    found
}

struct CgroupMount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    /// Of the filesystem, where version 1 names its controllers.
    options: &'a str,
}

impl CgroupMount<'_> {
    /// What is mounted may be a part of the tree (in containers), and a group is named from its top.
    fn path_of(&self, group: &str) -> PathBuf {
        let below = group
            .strip_prefix(self.root.trim_end_matches('/'))
            .unwrap_or(group);
        // Without a slash at the end, which joining nothing would add.
        Path::new(self.point)
            .join(below.trim_start_matches('/'))
            .components()
            .collect()
    }
}

/// A line of mountinfo (proc(5)).
fn parse_mount(line: &str) -> Option<CgroupMount<'_>> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(3);
    let mut back = back.split(' ');
    let root = front.next()?;
    let point = front.next()?;
    Some(CgroupMount {
        root,
        point,
        kind: back.next()?,
        options: back.nth(1)?,
    })
}

/// A line of `/proc/self/cgroup`: `4:memory:/a/b`.
fn parse_group(line: &str) -> Option<(&str, &str)> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    Some((controllers, path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A virtual machine with both kinds, where all controllers are in version 1.
    const BOTH: &str = "\
30 29 0:25 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
31 29 0:26 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
32 29 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
33 29 0:28 / /sys/fs/cgroup/blkio rw,relatime - cgroup cgroup rw,blkio
34 29 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const IN_BOTH: &str = "7:blkio:/\n4:memory:/job/17\n3:cpuset:/\n1:cpu:/\n0::/\n";

    #[test]
    fn a_cpu_is_limited_by_the_own_group_and_all_above_it() {
        let paths = |mountinfo: &str, own: &str| {
            let found = cpu_groups(mountinfo, own);
            found
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let top = "/sys/fs/cgroup/cpu /sys/fs/cgroup/unified";
        assert_eq!(paths(BOTH, IN_BOTH), top);
        let unified = "25 1 0:22 / /cg rw - cgroup2 cgroup2 rw\n";
        assert_eq!(paths(unified, "0::/a/b\n"), "/cg/a/b /cg/a /cg");
        let inside = "25 1 0:22 /a /cg rw - cgroup2 cgroup2 rw\n";
        assert_eq!(paths(inside, "0::/a/b\n"), "/cg/b /cg");
        let first = "30 29 0:25 / /cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
        assert_eq!(
            paths(first, "2:cpu,cpuacct:/x\n1:memory:/y\n"),
            "/cpu/x /cpu"
        );
        assert_eq!(paths("", "0::/a\n"), "");
    }

    #[test]
    fn version_1_below_the_own_group() {
        let found = parents(BOTH, IN_BOTH, |_| Some(String::new()));
        assert_eq!(found.len(), 4);
        assert_eq!(
            found[&Controller::Memory],
            Parent::V1("/sys/fs/cgroup/memory/job/17".into())
        );
        assert_eq!(
            found[&Controller::Io],
            Parent::V1("/sys/fs/cgroup/blkio".into())
        );
    }

    #[test]
    fn version_2_at_the_root_with_what_it_lists() {
        let mounts =
            "25 23 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
        let listed = |_: &Path| Some("cpuset cpu io memory hugetlb pids\n".to_owned());
        let found = parents(
            mounts,
            "0::/user.slice/user-0.slice/session-1.scope\n",
            listed,
        );
        assert_eq!(found.len(), 4);
        assert!(
            found
                .values()
                .all(|parent| *parent == Parent::V2("/sys/fs/cgroup".into()))
        );
        let fewer = parents(mounts, "0::/\n", |_: &Path| Some("memory pids".to_owned()));
        assert_eq!(
            fewer.keys().copied().collect::<Vec<_>>(),
            [Controller::Memory]
        );
    }

    #[test]
    fn a_mounted_part_of_a_tree_is_named_from_its_top() {
        let mounts = "1 2 0:3 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let found = parents(mounts, "4:memory:/docker/ab/c\n", |_| None);
        assert_eq!(
            found[&Controller::Memory],
            Parent::V1("/sys/fs/cgroup/memory/c".into())
        );
        assert!(parents("", IN_BOTH, |_| None).is_empty());
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(mounts in "[ -~\n]*", own in "[ -~\n]*") {
            parents(&mounts, &own, |_| Some(own.clone()));
        }
    }
}
