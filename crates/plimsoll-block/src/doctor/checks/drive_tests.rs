use plimsoll_record::DiagnosisLevel::{Error, Ok as Good, Unknown, Warning};

use super::super::tests::{assert_finding, disk, medium_of, queue};
use super::*;
use crate::device::safety::DeviceEvidence;
use crate::doctor::evidence::Queue;
use crate::doctor::smart::HealthFailure;
use crate::host::device::NoDevice;
use plimsoll_record::message::doctor::NoDeviceCause;

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
        use_of(&MediumEvidence {
            in_use: Some(evidence),
            ..medium_of(disk())
        })
        .unwrap()
    };
    assert_finding(&of(idle()), Good, &[r#""signatures":[],"partitions":[]"#]);
    let some = |name: &str| Ok(vec![name.to_owned()]);
    assert_finding(
        &of(DeviceEvidence {
            mounts: some("/srv"),
            ..idle()
        }),
        Warning,
        &[r#""mounts":["/srv"]"#],
    );
    assert_finding(
        &of(DeviceEvidence {
            holders: some("dm-0"),
            ..idle()
        }),
        Warning,
        &[r#""holders":["dm-0"]"#],
    );
    assert_finding(
        &of(DeviceEvidence {
            exclusive: Exclusive::Busy,
            ..idle()
        }),
        Warning,
        &["in_use", r#""mounts":[]"#],
    );
    assert_finding(
        &of(DeviceEvidence {
            signatures: some("xfs"),
            ..idle()
        }),
        Good,
        &["not_in_use", "xfs"],
    );
    assert_finding(
        &of(DeviceEvidence {
            open_by: Err("hidden".into()),
            ..idle()
        }),
        Unknown,
        &["in_use_unknown", "hidden"],
    );
    assert_eq!(use_of(&medium_of(disk())), None);
}

#[test]
fn names_of_drives() {
    assert_finding(
        &identity(&disk()),
        Good,
        &[
            r#""name":"KINGSTON SEDC1500M960G","device":"nvme0n1","transport":"pcie""#,
            r#""size_bytes":960197124096,"firmware":"S67F0103","catalogue":null"#,
        ],
    );
    let known = known(Protection::Protected);
    assert_finding(
        &identity(&DiskEvidence {
            known: Some(known.clone()),
            ..disk()
        }),
        Good,
        &[r#""catalogue":"some-drive""#],
    );
    let emulated = KnownDrive {
        synced_per_second: Some(980.0),
        ..known
    };
    let kind = DiskKind::Loop("/x".into());
    assert_finding(
        &identity(&DiskEvidence {
            kind: kind.clone(),
            known: Some(emulated),
            ..disk()
        }),
        Good,
        &[r#""kind":"emulated","name":"some-drive""#],
    );
    assert_finding(
        &identity(&DiskEvidence { kind, ..disk() }),
        Unknown,
        &[r#""kind":"file","name":"/x""#],
    );
    assert_finding(
        &identity(&DiskEvidence {
            kind: DiskKind::Virtual("virtio"),
            model: None,
            ..disk()
        }),
        Unknown,
        &[r#""kind":"virtual","name":"virtio""#],
    );
    assert_finding(
        &identity(&DiskEvidence {
            kind: DiskKind::Memory,
            ..disk()
        }),
        Unknown,
        &["memory"],
    );
    assert_finding(
        &identity(&DiskEvidence {
            kind: DiskKind::Network,
            ..disk()
        }),
        Unknown,
        &[r#""kind":"network""#],
    );
    assert_finding(
        &identity(&DiskEvidence {
            kind: DiskKind::Stacked,
            ..disk()
        }),
        Unknown,
        &["stacked"],
    );
    assert_finding(
        &identity(&DiskEvidence {
            model: None,
            ..disk()
        }),
        Unknown,
        &["no_model"],
    );
    let none = MediumEvidence {
        device: Err(NoDevice {
            cause: NoDeviceCause::NotOnDevice,
            what: "proc".into(),
        }),
        disks: Vec::new(),
        ..medium_of(disk())
    };
    assert_finding(
        &missing(&none).unwrap(),
        Unknown,
        &[
            "no_block_device",
            r#""cause":"not_on_device","what":"proc""#,
        ],
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
        let mut rows = health(&DiskEvidence {
            health: Ok(smart),
            ..disk()
        });
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows.remove(0)
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
        &[r#""used_percent":3,"spare_percent":100,"celsius":31"#],
    );
    assert_finding(&of(smart()), Good, &["health_good", "smartctl"]);
    let failing = Smart {
        passed: Some(false),
        failing: Some("Reallocated_Sector_Ct".into()),
        ..smart()
    };
    assert_finding(
        &of(failing),
        Error,
        &["health_fails", "Reallocated_Sector_Ct"],
    );
    let critical = Smart {
        passed: Some(false),
        critical_warning: Some(0b1_0001),
        ..smart()
    };
    let rows = health(&DiskEvidence {
        health: Ok(critical),
        ..disk()
    });
    assert_finding(&rows[0], Error, &["spare_low"]);
    assert_finding(&rows[1], Error, &["capacitors_failed"]);
    assert_eq!(rows.len(), 2);
    assert_finding(
        &of(Smart {
            used_percent: Some(97),
            ..smart()
        }),
        Warning,
        &["health_worn", "97"],
    );
    assert_finding(
        &of(Smart {
            pending: Some(8),
            reallocated: Some(0),
            ..smart()
        }),
        Warning,
        &[r#""kind":"unreadable","count":8"#],
    );
    assert_finding(
        &of(Smart {
            media_errors: Some(2),
            ..smart()
        }),
        Warning,
        &[r#""kind":"not_corrected","count":2"#],
    );
    assert_finding(
        &of(Smart {
            uncorrectable: Some(1),
            ..smart()
        }),
        Warning,
        &[r#""kind":"uncorrectable","count":1"#],
    );
    assert_finding(
        &of(Smart {
            reallocated: Some(5),
            ..smart()
        }),
        Warning,
        &[r#""kind":"replaced","count":5"#],
    );
    assert_finding(
        &of(Smart {
            passed: None,
            ..smart()
        }),
        Unknown,
        &["health_no_verdict"],
    );
}

#[test]
fn health_is_unknown_without_smart() {
    let of = |why| {
        health(&DiskEvidence {
            health: Err(why),
            ..disk()
        })
        .remove(0)
    };
    assert_finding(
        &of(NoHealth::NotInstalled("smartctl")),
        Unknown,
        &["health_program_missing", "smartctl"],
    );
    assert_finding(&of(NoHealth::None), Unknown, &["no_health_report"]);
    assert_finding(
        &of(NoHealth::Failed(HealthFailure::error("Permission denied"))),
        Unknown,
        &["health_unreadable", "Permission denied"],
    );
    assert_finding(&of(NoHealth::Skipped), Unknown, &["health_not_read"]);
}

#[test]
fn caches_of_writes() {
    let with = |kind: &str| DiskEvidence {
        queue: Queue {
            write_cache: Some(kind.into()),
            ..queue()
        },
        ..disk()
    };
    assert_finding(
        &write_cache(&with("write back")),
        Good,
        &[r#""mode":"write back","fua":true"#],
    );
    // An administrator may have set what the kernel reports.
    assert_finding(
        &write_cache(&with("write through")),
        Unknown,
        &["cache_unclear", "false"],
    );
    let none = DiskEvidence {
        health: Ok(Smart {
            write_cache: Some(false),
            ..smart()
        }),
        ..with("write through")
    };
    assert_finding(&write_cache(&none), Good, &["no_cache"]);
    // The kernel's setting contradicts what the disk reported to its driver.
    let overridden = DiskEvidence {
        cache_type: Some("write back".into()),
        ..with("write through")
    };
    assert_finding(
        &write_cache(&overridden),
        Error,
        &["cache_not_flushed", "nvme0n1"],
    );
    let ata = DiskEvidence {
        health: Ok(Smart {
            write_cache: Some(true),
            ..smart()
        }),
        ..with("write through")
    };
    assert_finding(&write_cache(&ata), Error, &["cache_not_flushed"]);
    assert_finding(
        &write_cache(&DiskEvidence {
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
        power_loss(&DiskEvidence {
            known: Some(known(protection)),
            ..disk()
        })
    };
    assert_finding(
        &of(Protection::Protected),
        Good,
        &[
            "power_loss_protected",
            r#""drive":"some-drive","is_verified":false"#,
        ],
    );
    assert_finding(&of(Protection::Volatile), Good, &["power_loss_volatile"]);
    assert_finding(&power_loss(&disk()), Unknown, &[r#""of":"model""#]);
    let through = DiskEvidence {
        queue: Queue {
            write_cache: Some("write through".into()),
            ..queue()
        },
        ..disk()
    };
    assert_finding(&power_loss(&through), Unknown, &[r#""of":"write_through""#]);
    let own = DiskEvidence {
        cache_type: Some("write through".into()),
        ..through.clone()
    };
    assert_finding(&power_loss(&own), Good, &["power_loss_no_cache"]);
    assert_finding(
        &power_loss(&DiskEvidence {
            kind: DiskKind::Virtual("virtio"),
            ..through.clone()
        }),
        Unknown,
        &[r#""of":"virtual""#],
    );
    assert_finding(
        &power_loss(&DiskEvidence {
            kind: DiskKind::Loop("/x".into()),
            ..through
        }),
        Unknown,
        &[r#""of":"file""#],
    );
}

#[test]
fn a_loop_device_on_the_page_cache_is_no_drive() {
    let of = |direct| {
        identity(&DiskEvidence {
            kind: DiskKind::Loop("/x".into()),
            direct,
            ..disk()
        })
    };
    assert_finding(&of(Some(false)), Warning, &["cached_file", "/x"]);
    assert_finding(&of(Some(true)), Unknown, &[r#""kind":"file","name":"/x""#]);
}
