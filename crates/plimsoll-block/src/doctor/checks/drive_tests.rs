use plimsoll_record::DiagnosisLevel::{Error, Ok as Good, Unknown, Warning};

use super::super::tests::{assert_finding, disk, medium_of, queue};
use super::*;
use crate::device::safety::DeviceEvidence;
use crate::doctor::evidence::Queue;

fn idle() -> DeviceEvidence {
    let none = || Ok(Vec::new());
    DeviceEvidence {
        given: "/dev/sdb".into(),
        node: "/dev/sdb".into(),
        own_name: Ok("/dev/sdb".into()),
        mounts: none(),
        swaps: none(),
        exclusive: Exclusive::Granted,
        holders: none(),
        open_by: none(),
        signatures: none(),
        partitions: none(),
        read_only: false,
    }
}

#[test]
fn who_holds_a_device() {
    let of = |evidence| {
        use_of(&Medium {
            in_use: Some(evidence),
            ..medium_of(disk())
        })
        .unwrap()
    };
    assert_finding(
        &of(idle()),
        Good,
        &["not in use, and nothing is recognised"],
    );
    let some = |name: &str| Ok(vec![name.to_owned()]);
    assert_finding(
        &of(DeviceEvidence {
            mounts: some("/srv"),
            ..idle()
        }),
        Warning,
        &["mounted: /srv", "Unmount"],
    );
    assert_finding(
        &of(DeviceEvidence {
            holders: some("dm-0"),
            ..idle()
        }),
        Warning,
        &["dm-0 is built on it"],
    );
    assert_finding(
        &of(DeviceEvidence {
            exclusive: Exclusive::Busy,
            ..idle()
        }),
        Warning,
        &["it is in use"],
    );
    assert_finding(
        &of(DeviceEvidence {
            signatures: some("a signature of xfs"),
            ..idle()
        }),
        Good,
        &["xfs", "destroy"],
    );
    assert_finding(
        &of(DeviceEvidence {
            open_by: Err("hidden".into()),
            ..idle()
        }),
        Unknown,
        &["hidden", "as root"],
    );
    assert_eq!(use_of(&medium_of(disk())), None);
}

#[test]
fn names_of_drives() {
    assert_finding(
        &identity(&disk()),
        Good,
        &["KINGSTON SEDC1500M960G (nvme0n1, pcie, 894.3 GiB, firmware S67F0103)"],
    );
    let known = known(Protection::Protected);
    assert_finding(
        &identity(&Disk {
            known: Some(known.clone()),
            ..disk()
        }),
        Good,
        &["in the catalogue as some-drive"],
    );
    let emulated = KnownDrive {
        synced_per_second: Some(980.0),
        ..known
    };
    let kind = DiskKind::Loop("/x".into());
    assert_finding(
        &identity(&Disk {
            kind: kind.clone(),
            known: Some(emulated),
            ..disk()
        }),
        Good,
        &["emulated: some-drive"],
    );
    assert_finding(
        &identity(&Disk { kind, ..disk() }),
        Unknown,
        &["the file /x"],
    );
    assert_finding(
        &identity(&Disk {
            kind: DiskKind::Virtual("virtio"),
            model: None,
            ..disk()
        }),
        Unknown,
        &["virtio (nvme0n1"],
    );
    assert_finding(
        &identity(&Disk {
            kind: DiskKind::Memory,
            ..disk()
        }),
        Unknown,
        &["memory"],
    );
    assert_finding(
        &identity(&Disk {
            kind: DiskKind::Network,
            ..disk()
        }),
        Unknown,
        &["another machine"],
    );
    assert_finding(
        &identity(&Disk {
            kind: DiskKind::Stacked,
            ..disk()
        }),
        Unknown,
        &["others"],
    );
    assert_finding(
        &identity(&Disk {
            model: None,
            ..disk()
        }),
        Unknown,
        &["reports no model"],
    );
    let none = Medium {
        device: Err("a proc filesystem".into()),
        disks: Vec::new(),
        ..medium_of(disk())
    };
    assert_finding(
        &missing(&none).unwrap(),
        Unknown,
        &["no block device: a proc filesystem"],
    );
    assert_eq!(missing(&medium_of(disk())), None);
}

fn smart() -> Smart {
    Smart {
        source: "smartctl",
        passed: Some(true),
        ..Smart::default()
    }
}

#[test]
fn health_by_the_drives_own_word() {
    let of = |smart| {
        health(&Disk {
            health: Ok(smart),
            ..disk()
        })
    };
    let good = Smart {
        used_percent: Some(3),
        spare: Some((100, 10)),
        celsius: Some(31),
        ..smart()
    };
    assert_finding(
        &of(good),
        Good,
        &["3 % of its endurance used, 100 % of the spare", "31 °C"],
    );
    assert_finding(
        &of(smart()),
        Good,
        &["no fault known to the drive (smartctl)"],
    );
    let failing = Smart {
        passed: Some(false),
        failing: Some("Reallocated_Sector_Ct".into()),
        ..smart()
    };
    assert_finding(
        &of(failing),
        Error,
        &["that it fails: Reallocated_Sector_Ct", "replace"],
    );
    let critical = Smart {
        passed: Some(false),
        critical_warning: Some(0b1_0001),
        ..smart()
    };
    assert_finding(&of(critical), Error, &["spare blocks", "capacitors"]);
    assert_finding(
        &of(Smart {
            used_percent: Some(97),
            ..smart()
        }),
        Warning,
        &["97 %"],
    );
    assert_finding(
        &of(Smart {
            pending: Some(8),
            reallocated: Some(0),
            ..smart()
        }),
        Warning,
        &["8 sectors that cannot"],
    );
    assert_finding(
        &of(Smart {
            media_errors: Some(2),
            ..smart()
        }),
        Warning,
        &["2 errors"],
    );
    assert_finding(
        &of(Smart {
            uncorrectable: Some(1),
            ..smart()
        }),
        Warning,
        &["1 sectors that could not"],
    );
    assert_finding(
        &of(Smart {
            reallocated: Some(5),
            ..smart()
        }),
        Warning,
        &["5 sectors replaced"],
    );
    assert_finding(
        &of(Smart {
            passed: None,
            ..smart()
        }),
        Unknown,
        &["no verdict"],
    );
}

#[test]
fn health_is_unknown_without_smart() {
    let of = |why| {
        health(&Disk {
            health: Err(why),
            ..disk()
        })
    };
    assert_finding(
        &of(NoHealth::NotInstalled("smartctl")),
        Unknown,
        &["smartctl is not installed", "smartmontools"],
    );
    assert_finding(
        &of(NoHealth::None("a virtual disk")),
        Unknown,
        &["a virtual disk has no SMART"],
    );
    assert_finding(
        &of(NoHealth::Failed("Permission denied".into())),
        Unknown,
        &["Permission denied", "root"],
    );
    assert_finding(&of(NoHealth::Skipped), Unknown, &["not asked"]);
}

#[test]
fn caches_of_writes() {
    let with = |kind: &str| Disk {
        queue: Queue {
            write_cache: Some(kind.into()),
            ..queue()
        },
        ..disk()
    };
    assert_finding(
        &write_cache(&with("write back")),
        Good,
        &["sends flushes", "FUA"],
    );
    // An administrator may have set what the kernel reports.
    assert_finding(
        &write_cache(&with("write through")),
        Unknown,
        &["sends no flushes", "by hand", "smartctl -g wcache"],
    );
    let none = Disk {
        health: Ok(Smart {
            write_cache: Some(false),
            ..smart()
        }),
        ..with("write through")
    };
    assert_finding(&write_cache(&none), Good, &["the drive reports none"]);
    // The kernel's setting contradicts what the disk reported to its driver.
    let overridden = Disk {
        cache_type: Some("write back".into()),
        ..with("write through")
    };
    assert_finding(
        &write_cache(&overridden),
        Error,
        &["no flush is sent", "queue/write_cache"],
    );
    let ata = Disk {
        health: Ok(Smart {
            write_cache: Some(true),
            ..smart()
        }),
        ..with("write through")
    };
    assert_finding(&write_cache(&ata), Error, &["power cut"]);
    assert_finding(
        &write_cache(&Disk {
            queue: Queue {
                write_cache: None,
                ..queue()
            },
            ..disk()
        }),
        Unknown,
        &[],
    );
}

fn known(protection: Protection) -> KnownDrive {
    KnownDrive {
        name: "some-drive".into(),
        models: Vec::new(),
        protection,
        is_flash: true,
        source: "unverified".into(),
        turn: None,
        synced_per_second: None,
    }
}

#[test]
fn what_survives_a_power_cut() {
    let of = |protection| {
        power_loss(&Disk {
            known: Some(known(protection)),
            ..disk()
        })
    };
    assert_finding(
        &of(Protection::Protected),
        Good,
        &["survives", "some-drive, unverified"],
    );
    assert_finding(&of(Protection::Volatile), Good, &["not flushed is lost"]);
    assert_finding(
        &power_loss(&disk()),
        Unknown,
        &["does not know this model", "--drive"],
    );
    let through = Disk {
        queue: Queue {
            write_cache: Some("write through".into()),
            ..queue()
        },
        ..disk()
    };
    assert_finding(
        &power_loss(&through),
        Unknown,
        &["write through", "by hand"],
    );
    let own = Disk {
        cache_type: Some("write through".into()),
        ..through.clone()
    };
    assert_finding(&power_loss(&own), Good, &["reports no volatile cache"]);
    assert_finding(
        &power_loss(&Disk {
            kind: DiskKind::Virtual("virtio"),
            ..through.clone()
        }),
        Unknown,
        &["host"],
    );
    assert_finding(
        &power_loss(&Disk {
            kind: DiskKind::Loop("/x".into()),
            ..through
        }),
        Unknown,
        &["holds the file"],
    );
}

#[test]
fn a_loop_device_on_the_page_cache_is_no_drive() {
    let of = |direct| {
        identity(&Disk {
            kind: DiskKind::Loop("/x".into()),
            direct,
            ..disk()
        })
    };
    assert_finding(
        &of(Some(false)),
        Warning,
        &["page cache", "losetup --direct-io=on"],
    );
    assert_finding(
        &of(Some(true)),
        Unknown,
        &["the file /x", "directory that holds it"],
    );
}
