//! Against what `lvs` 2.03.16 printed and sysfs had in a guest with Linux 6.1 (runs/2026-11-26-vm-2cpu/doctor-guest.sh).

use super::super::tests::{block_device, sysfs};
use super::*;

const RECORDED: &str = include_str!("recorded/lvm.txt");
/// Of device mapper in that guest.
const MAJOR: u32 = 252;

struct Recorded {
    report: String,
    stack: Vec<BlockDevice>,
}

/// The volumes of one state; of devices the number of each, from the top down.
fn recorded(state: &str, minors: &[u32]) -> Recorded {
    let (_, section) = RECORDED.split_once(&format!("== {state}\n")).expect(state);
    let section = section.split("\n\n").next().unwrap_or_default();
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with('{'))
        .collect();
    let dm = |minor: &u32| block_device(&format!("dm-{minor}"), MAJOR, *minor);
    Recorded {
        report: format!(r#"{{"report":[{{"lv":[{}]}}]}}"#, rows.join("\n")),
        stack: minors.iter().map(dm).collect(),
    }
}

fn one(state: &str, minors: &[u32]) -> ArrayEvidence {
    let own = recorded(state, minors);
    let mut found = of_report(&own.report, &own.stack, 3).expect(state);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0).unwrap()
}

fn settings(own: &ArrayEvidence) -> &VolumeSettings {
    match &own.settings {
        Some(ArraySettings::Volume(volume)) => volume,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_raid_shows_its_level_drives_and_work() {
    let own = one("LVM raid5: a check", &[8, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!((own.name.as_str(), own.level.as_str()), ("vg/r5", "raid5"));
    assert_eq!((own.members, own.missing), (4, 0));
    assert_eq!(own.action.as_deref(), Some("check"));
    assert!(
        own.done_percent
            .is_some_and(|done| done > 0.0 && done < 100.0)
    );
    let settings = settings(&own);
    assert_eq!(
        (settings.chunk, settings.region),
        (Some(65_536), Some(2 << 20))
    );
}

#[test]
fn a_raid_without_a_drive_is_degraded() {
    let own = one("LVM raid1: a drive was pulled", &[4, 1, 3]);
    assert_eq!((own.level.as_str(), own.members), ("raid1", 2));
    assert_eq!((own.missing, own.is_broken), (1, false));
}

#[test]
fn stripes_are_drives() {
    let own = one("LVM striped", &[0]);
    assert_eq!((own.level.as_str(), own.members), ("striped", 3));
    assert_eq!(settings(&own).chunk, Some(65_536));
}

#[test]
fn a_thin_volume_has_the_settings_of_its_pool() {
    let own = one("LVM thin", &[4, 2, 0, 1]);
    assert_eq!((own.name.as_str(), own.members), ("vg/thin", 3));
    let settings = settings(&own);
    assert_eq!(
        (settings.chunk, settings.zeroes),
        (Some(65_536), Some(true))
    );
    assert!(settings.used_percent.is_some_and(|used| used > 30.0));
}

#[test]
fn a_cached_volume_shows_its_mode() {
    let pool = one("LVM cache with a cache pool", &[0, 1, 2, 3]);
    assert_eq!(settings(&pool).cache_mode.as_deref(), Some("writeback"));
    let volume = one("LVM cache with a cache volume", &[0, 2, 3, 4, 1]);
    assert_eq!(
        settings(&volume).cache_mode.as_deref(),
        Some("writethrough")
    );
    assert_eq!(settings(&volume).chunk, Some(65_536));
}

#[test]
fn what_lvs_does_not_list_is_unknown() {
    let own = recorded("LVM thin", &[77]);
    assert!(of_report(&own.report, &own.stack, 1).is_none());
    assert!(of_report("", &own.stack, 1).is_none());
}

#[test]
fn a_volume_on_one_drive_needs_no_program() {
    let of = |below: &[&str]| {
        let mut files = vec![("dev/block/252:0/dm/name", "vg-a")];
        files.push(("dev/block/252:0/dm/uuid", "LVM-WE9cMMVexeNU1iBp"));
        let below: Vec<_> = below
            .iter()
            .map(|name| format!("dev/block/252:0/slaves/{name}"))
            .collect();
        files.extend(below.iter().map(|path| (path.as_str(), "")));
        let root = sysfs(&files);
        let source = KernelFiles::new(root.path());
        arrays(&source, &[block_device("dm-0", MAJOR, 0)], false)
    };
    assert!(of(&["sda2"]).is_empty());
    for several in [&["sda2", "sdb2"][..], &["dm-1"]] {
        let found = of(several);
        let unknown = found[0].as_ref().unwrap_err();
        assert_eq!((unknown.name.as_str(), found.len()), ("vg-a", 1));
        assert_eq!(unknown.cause, ArrayUnknownCause::NotAsked);
    }
}
