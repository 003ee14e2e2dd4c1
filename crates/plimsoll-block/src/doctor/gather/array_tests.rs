//! Against sysfs as it was recorded of a btrfs, and of an md as its documentation has it.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

fn sysfs(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = root.path().join("sys").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{content}\n")).unwrap();
    }
    root
}

fn mount(source: &str) -> Mount {
    Mount {
        point: PathBuf::from("/mnt"),
        filesystem: "btrfs".into(),
        source: source.into(),
        options: String::new(),
        super_options: String::new(),
    }
}

fn md0() -> BlockDevice {
    BlockDevice {
        name: "md0".into(),
        major: 9,
        minor: 0,
        partition_of: None,
    }
}

const ERRORS: &str =
    "write_errs 0\nread_errs 3\nflush_errs 0\ncorruption_errs 1\ngeneration_errs 0";
const CLEAN: &str = "write_errs 0\nread_errs 0\nflush_errs 0\ncorruption_errs 0\ngeneration_errs 0";

#[test]
fn a_btrfs_of_several_devices_is_an_array() {
    let of = |third: &str| {
        let root = sysfs(&[
            ("fs/btrfs/features/raid56", "0"),
            ("fs/btrfs/ede5a87f/devices/loop1", ""),
            ("fs/btrfs/ede5a87f/devices/loop2", ""),
            ("fs/btrfs/ede5a87f/devinfo/0/missing", "0"),
            ("fs/btrfs/ede5a87f/devinfo/1/missing", "0"),
            ("fs/btrfs/ede5a87f/devinfo/2/missing", "0"),
            ("fs/btrfs/ede5a87f/devinfo/3/missing", third),
            ("fs/btrfs/ede5a87f/devinfo/1/error_stats", CLEAN),
            ("fs/btrfs/ede5a87f/devinfo/2/error_stats", ERRORS),
            ("fs/btrfs/ede5a87f/exclusive_operation", "none"),
            ("fs/btrfs/ede5a87f/allocation/data/raid5/used_bytes", "1"),
            ("fs/btrfs/ede5a87f/allocation/data/flags", "1"),
        ]);
        let source = KernelFiles::new(root.path());
        array(&source, None, Some(&mount("/dev/loop2"))).unwrap()
    };
    let whole = of("0");
    assert_eq!((whole.level.as_str(), whole.members), ("raid5", 3));
    assert_eq!((whole.missing, whole.errors), (0, 4));
    assert_eq!(of("1").missing, 1);
}

#[test]
fn an_md_shows_its_settings() {
    let root = sysfs(&[
        ("dev/block/9:0/md/level", "raid5"),
        ("dev/block/9:0/md/raid_disks", "4 (3)"),
        ("dev/block/9:0/md/degraded", "1"),
        ("dev/block/9:0/md/sync_action", "recover"),
        ("dev/block/9:0/md/chunk_size", "524288"),
        ("dev/block/9:0/md/bitmap/location", "+8"),
        ("dev/block/9:0/md/stripe_cache_size", "256"),
        ("dev/block/9:0/md/journal_mode", "none"),
    ]);
    let own = array(&KernelFiles::new(root.path()), Some(&md0()), None).unwrap();
    assert_eq!((own.members, own.missing), (4, 1));
    assert_eq!(own.action.as_deref(), Some("recover"));
    let md = own.md.unwrap();
    assert_eq!((md.chunk, md.stripe_cache), (Some(524_288), Some(256)));
    assert_eq!((md.bitmap.as_deref(), md.journal), (Some("+8"), None));
}

#[test]
fn a_single_device_is_no_array() {
    let root = sysfs(&[
        ("fs/btrfs/a/devices/sda", ""),
        ("fs/btrfs/a/devinfo/1/missing", "0"),
        ("dev/block/9:0/size", "1"),
    ]);
    let source = KernelFiles::new(root.path());
    assert!(array(&source, Some(&md0()), Some(&mount("/dev/sda"))).is_none());
}
