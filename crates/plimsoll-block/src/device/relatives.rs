//! Devices that share their blocks with a device, according to sysfs: who uses one of them uses all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::sysfs::{Number, first_line, names_in, parse_number, partitions};

/// A device and those that share blocks with it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Relatives {
    /// Its number, those of its partitions, of the disk that it is a partition of, and of what it is built on.
    pub numbers: BTreeSet<Number>,
    /// Directories of those of which any holder is in the way. What the device is built on is not among them: the
    /// device itself is its holder, and other volumes of a group have blocks of their own.
    pub claimable: BTreeSet<PathBuf>,
}

impl Relatives {
    /// Of the device with this sysfs directory, without symbolic links.
    pub fn of(directory: &Path) -> Result<Self, String> {
        let mut found = Self::default();
        found.add_claimable(directory)?;
        for name in partitions(directory)? {
            found.add_claimable(&directory.join(name))?;
        }
        if let Some(disk) = disk_of(directory)? {
            found.add_claimable(disk)?;
        }
        found.add_below(directory)?;
        Ok(found)
    }

    fn add_claimable(&mut self, directory: &Path) -> Result<(), String> {
        self.numbers.insert(number_of(directory)?);
        self.claimable.insert(directory.into());
        Ok(())
    }

    /// The disk of a partition, and what device mapper or md builds a device on, down to the lowest. The kernel lets no
    /// device be built on itself, so this ends.
    fn add_below(&mut self, directory: &Path) -> Result<(), String> {
        self.numbers.insert(number_of(directory)?);
        if let Some(disk) = disk_of(directory)? {
            return self.add_below(disk);
        }
        let slaves = directory.join("slaves");
        for name in names_in(&slaves)? {
            let path = slaves.join(name);
            let below =
                fs::canonicalize(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            self.add_below(&below)?;
        }
        Ok(())
    }
}

/// The directory of the whole disk, where this is a partition.
fn disk_of(directory: &Path) -> Result<Option<&Path>, String> {
    let path = directory.join("partition");
    let is_partition = path
        .try_exists()
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(directory.parent().filter(|_| is_partition))
}

fn number_of(directory: &Path) -> Result<Number, String> {
    let path = directory.join("dev");
    let text = first_line(&path)?;
    parse_number(&text).ok_or_else(|| format!("{}: the number is {text:?}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// sda (8:0) with sda1 and sda2; dm-0 (252:0) on sda2; dm-1 (252:1) on dm-0.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let of = |path: &str| root.path().join(path);
        for (path, number) in [
            ("sda", "8:0"),
            ("sda/sda1", "8:1"),
            ("sda/sda2", "8:2"),
            ("dm-0", "252:0"),
            ("dm-1", "252:1"),
        ] {
            fs::create_dir_all(of(path).join("holders")).unwrap();
            fs::write(of(path).join("dev"), format!("{number}\n")).unwrap();
            match path.strip_prefix("sda/sda") {
                Some(partition) => fs::write(of(path).join("partition"), partition).unwrap(),
                None => fs::create_dir(of(path).join("slaves")).unwrap(),
            }
        }
        symlink(of("sda/sda2"), of("dm-0/slaves/sda2")).unwrap();
        symlink(of("dm-0"), of("dm-1/slaves/dm-0")).unwrap();
        root
    }

    fn numbers(root: &tempfile::TempDir, path: &str) -> Vec<Number> {
        Relatives::of(&fs::canonicalize(root.path().join(path)).unwrap())
            .unwrap()
            .numbers
            .into_iter()
            .collect()
    }

    #[test]
    fn a_partition_shares_blocks_with_its_disk_but_not_with_other_partitions() {
        let root = tree();
        assert_eq!(numbers(&root, "sda/sda1"), [(8, 0), (8, 1)]);
        assert_eq!(numbers(&root, "sda"), [(8, 0), (8, 1), (8, 2)]);
        let disk = fs::canonicalize(root.path().join("sda")).unwrap();
        assert!(
            Relatives::of(&disk.join("sda1"))
                .unwrap()
                .claimable
                .contains(&disk)
        );
    }

    #[test]
    fn a_mapped_device_shares_blocks_with_all_that_it_is_built_on() {
        let root = tree();
        assert_eq!(numbers(&root, "dm-1"), [(8, 0), (8, 2), (252, 0), (252, 1)]);
        let mapped = fs::canonicalize(root.path().join("dm-1")).unwrap();
        // Others may hold what it is built on.
        assert_eq!(
            Relatives::of(&mapped).unwrap().claimable,
            BTreeSet::from([mapped])
        );
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        let root = tree();
        fs::write(root.path().join("sda/dev"), "rubbish").unwrap();
        let error = Relatives::of(&root.path().join("sda/sda1")).unwrap_err();
        assert!(
            error.ends_with("sda/dev: the number is \"rubbish\""),
            "{error}"
        );
        fs::remove_dir_all(root.path().join("dm-1/slaves")).unwrap();
        assert!(
            Relatives::of(&root.path().join("dm-1"))
                .unwrap_err()
                .contains("slaves")
        );
    }
}
