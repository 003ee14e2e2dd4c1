//! Which virtual disk of an emulated drive each user has.

use std::path::{Path, PathBuf};

/// Users by their disks. A user keeps a disk until it leaves.
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
        let mounts = if disks.is_empty() { &only } else { disks };
        Self {
            disks: mounts
                .iter()
                .map(|mount| DiskUsers {
                    mount: mount.clone(),
                    names: Vec::new(),
                })
                .collect(),
        }
    }

    /// Where the files of whoever has this name go: on its disk, or on the first of those with the fewest users.
    pub fn take(&mut self, name: &str) -> PathBuf {
        if let Some(mount) = self.find(name) {
            return mount.to_owned();
        }
        let fewest = self.disks.iter_mut().min_by_key(|disk| disk.names.len());
        fewest.map_or_else(PathBuf::new, |disk| {
            disk.names.push(name.to_owned());
            disk.mount.clone()
        })
    }

    /// Mount of the disk that a user has.
    pub fn find(&self, name: &str) -> Option<&Path> {
        let mut disks = self.disks.iter();
        let disk = disks.find(|disk| disk.names.iter().any(|user| user == name));
        disk.map(|disk| disk.mount.as_path())
    }

    pub fn leave(&mut self, name: &str) {
        for disk in &mut self.disks {
            disk.names.retain(|user| user != name);
        }
    }

    pub fn mounts(&self) -> impl Iterator<Item = &Path> {
        self.disks.iter().map(|disk| disk.mount.as_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_has_a_separate_disk_while_there_are_some() {
        let mounts = ["/a", "/b"].map(PathBuf::from);
        let mut several = DiskUse::new(&mounts[0], &mounts);
        assert_eq!(several.mounts().count(), 2);
        assert_eq!(several.take("one"), mounts[0]);
        assert_eq!(several.take("two"), mounts[1]);
        assert_eq!(several.take("one"), mounts[0], "it keeps it");
        several.leave("two");
        assert_eq!(several.find("two"), None);
        assert_eq!(several.take("three"), mounts[1]);
        assert_eq!(several.take("four"), mounts[0]);
        let mut only = DiskUse::new(Path::new("/c"), &[]);
        let both = ["one", "two"].map(|name| only.take(name));
        assert_eq!(both, [PathBuf::from("/c"), PathBuf::from("/c")]);
    }
}
