//! Against sysfs as it was recorded of a btrfs, and of md and LVM in a guest with Linux 6.1
//! (runs/2026-11-26-vm-2cpu/doctor-guest.sh).

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::doctor::evidence::{ArrayEvidence, ArraySettings, MdSettings};

pub(super) fn sysfs(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = root.path().join("sys").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{content}\n")).unwrap();
    }
    root
}

pub(super) fn block_device(name: &str, major: u32, minor: u32) -> BlockDevice {
    BlockDevice {
        name: name.into(),
        major,
        minor,
        partition_of: None,
    }
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
        let mut found = arrays(&source, None, Some(&mount("/dev/loop2")), false);
        found.remove(0).unwrap()
    };
    let whole = of("0");
    assert_eq!((whole.level.as_str(), whole.members), ("raid5", 3));
    assert_eq!((whole.missing, whole.errors), (0, 4));
    assert_eq!(of("1").missing, 1);
}

/// Files below `md` of one recorded state.
fn recorded(state: &str) -> Vec<(String, String)> {
    let all = include_str!("recorded/md.txt");
    let (_, section) = all.split_once(&format!("== {state}\n")).expect(state);
    let lines = section.split("\n\n").next().unwrap_or_default().lines();
    let files = lines.map(|line| line.split_once(':').expect(line));
    let files = files.map(|(path, text)| (format!("dev/block/9:0/md/{path}"), text.trim().into()));
    files.collect()
}

fn md(state: &str) -> ArrayEvidence {
    let files = recorded(state);
    let files: Vec<_> = files
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    let root = sysfs(&files);
    let md0 = block_device("md0", 9, 0);
    let mut found = arrays(&KernelFiles::new(root.path()), Some(&md0), None, false);
    assert_eq!(found.len(), 1);
    found.remove(0).unwrap()
}

fn md_settings(own: &ArrayEvidence) -> &MdSettings {
    match &own.settings {
        Some(ArraySettings::Md(md)) => md,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_md_shows_its_drives_and_spares() {
    let whole = md("RAID 5 of 4 with a spare");
    assert_eq!((whole.level.as_str(), whole.members), ("raid5", 4));
    assert_eq!((whole.missing, whole.spares), (0, 1));
    assert_eq!((&whole.action, whole.is_broken), (&None, false));
    let refilled = md("RAID 5: the spare is filled, the failed drive is still in it");
    assert_eq!((refilled.missing, refilled.spares), (0, 0));
    assert_eq!(refilled.failed, ["vdb"]);
    let alone = md("RAID 1 that was created without its second drive");
    assert_eq!((alone.members, alone.missing), (2, 1));
    assert!(alone.failed.is_empty());
}

#[test]
fn an_md_shows_work_under_way() {
    let rebuilt = md("RAID 5: a drive failed, the spare is filled");
    assert_eq!((rebuilt.missing, rebuilt.spares), (1, 0));
    assert_eq!(rebuilt.action.as_deref(), Some("recover"));
    assert!(
        rebuilt
            .done_percent
            .is_some_and(|done| done > 0.0 && done < 100.0)
    );
    let checked = md("RAID 5: a check");
    assert_eq!(checked.action.as_deref(), Some("check"));
    assert_eq!((checked.missing, checked.failed.len()), (0, 0));
}

#[test]
fn an_md_that_answers_with_errors_is_broken() {
    let degraded = md("RAID 5: a drive failed, and no spare");
    assert_eq!((degraded.missing, degraded.is_broken), (1, false));
    assert_eq!(degraded.failed, ["vda"]);
    let two = md("RAID 5: two drives failed");
    assert_eq!((two.missing, two.is_broken), (2, true));
    assert!(md("RAID 5: the journal failed").is_broken);
    let raid0 = md("RAID 0: a drive was pulled");
    assert_eq!((raid0.missing, raid0.is_broken), (0, true));
    let raid10 = md("RAID 10: a drive was pulled");
    assert_eq!((raid10.missing, raid10.is_broken), (1, false));
}

#[test]
fn an_md_shows_its_settings() {
    let own = md("RAID 5 of 4 with a spare");
    let settings = md_settings(&own);
    assert_eq!(settings.chunk, Some(65_536));
    assert_eq!(settings.stripe_cache, Some(256));
    assert_eq!((&settings.bitmap, &settings.journal), (&None, &None));
    assert_eq!(settings.policy.as_deref(), Some("resync"));
    let own = md("RAID 10 with an internal bitmap");
    let settings = md_settings(&own);
    assert_eq!(settings.bitmap.as_deref(), Some("+8"));
    assert_eq!(settings.bitmap_chunk, Some(64 << 20));
    assert_eq!(settings.stripe_cache, None);
    let own = md("RAID 5 with a journal");
    assert_eq!(md_settings(&own).journal.as_deref(), Some("write-through"));
    let own = md("RAID 5 with a partial parity log");
    assert_eq!(md_settings(&own).policy.as_deref(), Some("ppl"));
    let own = md("RAID 1 that was created without its second drive");
    assert_eq!(md_settings(&own).chunk, None);
}

/// As Linux 6.1 has them while `mdadm --grow` adds a drive.
#[test]
fn an_md_that_is_reshaped_has_its_new_number_of_drives() {
    let root = sysfs(&[
        ("dev/block/9:0/md/level", "raid5"),
        ("dev/block/9:0/md/raid_disks", "4 (3)"),
        ("dev/block/9:0/md/sync_action", "reshape"),
        ("dev/block/9:0/md/sync_completed", "delayed"),
    ]);
    let own = md::array(&KernelFiles::new(root.path()), &block_device("md0", 9, 0)).unwrap();
    assert_eq!((own.members, own.done_percent), (4, None));
}

#[test]
fn a_single_device_is_no_array() {
    let root = sysfs(&[
        ("fs/btrfs/a/devices/sda", ""),
        ("fs/btrfs/a/devinfo/1/missing", "0"),
        ("dev/block/9:0/size", "1"),
    ]);
    let source = KernelFiles::new(root.path());
    let md0 = block_device("md0", 9, 0);
    assert!(arrays(&source, Some(&md0), Some(&mount("/dev/sda")), true).is_empty());
}
