//! Which virtual disk of an emulated drive each system has.

use std::path::{Path, PathBuf};

/// Always: a system keeps its disk until it leaves.
#[derive(Debug)]
pub(super) struct DiskUse {
    /// One, or each virtual disk.
    disks: Vec<DiskUsers>,
}

#[derive(Debug)]
struct DiskUsers {
    mount: PathBuf,
    names: Vec<String>,
}

impl DiskUse {
    /// `mount` is that of the first one, or of the only one where `disks` is empty.
    pub fn new(mount: &Path, disks: &[PathBuf]) -> Self {
        let only = [mount.to_owned()];
        let all = if disks.is_empty() { &only } else { disks };
        let disks = all.iter().map(|mount| DiskUsers {
            mount: mount.clone(),
            names: Vec::new(),
        });
        Self {
            disks: disks.collect(),
        }
    }

    pub const fn count(&self) -> usize {
        self.disks.len()
    }

    /// Where the files of whoever has this name go: on its disk, or on the first of those with the fewest users.
    pub fn take(&mut self, name: &str) -> PathBuf {
        if let Some(mount) = self.of(name) {
            return mount.to_owned();
        }
        let fewest = self.disks.iter_mut().min_by_key(|own| own.names.len());
        fewest.map_or_else(PathBuf::new, |own| {
            own.names.push(name.to_owned());
            own.mount.clone()
        })
    }

    /// Of the disk that it has.
    pub fn of(&self, name: &str) -> Option<&Path> {
        let has = |own: &&DiskUsers| own.names.iter().any(|own| own == name);
        self.disks.iter().find(has).map(|own| own.mount.as_path())
    }

    pub fn leave(&mut self, name: &str) {
        for disk in &mut self.disks {
            disk.names.retain(|own| own != name);
        }
    }

    pub fn mounts(&self) -> impl Iterator<Item = &Path> {
        self.disks.iter().map(|own| own.mount.as_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_disk_of_its_own_while_there_are_some() {
        let mounts = ["/a", "/b"].map(PathBuf::from);
        let mut own = DiskUse::new(&mounts[0], &mounts);
        assert_eq!(own.count(), 2);
        assert_eq!(own.take("one"), mounts[0]);
        assert_eq!(own.take("two"), mounts[1]);
        assert_eq!(own.take("one"), mounts[0], "it keeps it");
        own.leave("two");
        assert_eq!(own.of("two"), None);
        assert_eq!(own.take("three"), mounts[1]);
        assert_eq!(own.take("four"), mounts[0]);
        let mut only = DiskUse::new(Path::new("/c"), &[]);
        let both = ["one", "two"].map(|name| only.take(name));
        assert_eq!(both, [PathBuf::from("/c"), PathBuf::from("/c")]);
    }
}
