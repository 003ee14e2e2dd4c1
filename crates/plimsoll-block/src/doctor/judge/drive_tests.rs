use plimsoll_model::record::DiagnosisLevel::{Error, Ok as Good, Unknown, Warning};

use super::super::tests::{disk, medium_of, queue, says};
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
    let of = |evidence| use_of(&Medium { in_use: Some(evidence), ..medium_of(disk()) }).unwrap();
    says(&of(idle()), Good, &["nobody uses it, and nothing is recognised"]);
    let some = |name: &str| Ok(vec![name.to_owned()]);
    says(&of(DeviceEvidence { mounts: some("/srv"), ..idle() }), Warning, &["mounted: /srv", "Unmount"]);
    says(&of(DeviceEvidence { holders: some("dm-0"), ..idle() }), Warning, &["dm-0 is built on it"]);
    says(&of(DeviceEvidence { exclusive: Exclusive::Busy, ..idle() }), Warning, &["it is in use"]);
    says(&of(DeviceEvidence { signatures: some("a signature of xfs"), ..idle() }), Good, &["xfs", "destroy"]);
    says(&of(DeviceEvidence { open_by: Err("hidden".into()), ..idle() }), Unknown, &["hidden", "as root"]);
    assert_eq!(use_of(&medium_of(disk())), None);
}

#[test]
fn names_of_drives() {
    says(&identity(&disk()), Good, &["KINGSTON SEDC1500M960G (nvme0n1, pcie, 894.3 GiB, firmware S67F0103)"]);
    let known = known(Protection::Protected);
    says(&identity(&Disk { known: Some(known.clone()), ..disk() }), Good, &["in the catalogue as some-drive"]);
    let emulated = KnownDrive { synced_per_second: Some(980.0), ..known };
    let kind = DiskKind::Loop("/x".into());
    says(&identity(&Disk { kind: kind.clone(), known: Some(emulated), ..disk() }), Good, &["emulated: some-drive"]);
    says(&identity(&Disk { kind, ..disk() }), Unknown, &["the file /x"]);
    says(&identity(&Disk { kind: DiskKind::Virtual("virtio"), model: None, ..disk() }), Unknown, &["virtio (nvme0n1"]);
    says(&identity(&Disk { kind: DiskKind::Memory, ..disk() }), Unknown, &["memory"]);
    says(&identity(&Disk { kind: DiskKind::Network, ..disk() }), Unknown, &["another machine"]);
    says(&identity(&Disk { kind: DiskKind::Stacked, ..disk() }), Unknown, &["others"]);
    says(&identity(&Disk { model: None, ..disk() }), Unknown, &["does not say"]);
    let none = Medium { device: Err("a proc filesystem".into()), disks: Vec::new(), ..medium_of(disk()) };
    says(&missing(&none).unwrap(), Unknown, &["no block device: a proc filesystem"]);
    assert_eq!(missing(&medium_of(disk())), None);
}

fn smart() -> Smart {
    Smart { source: "smartctl", passed: Some(true), ..Smart::default() }
}

#[test]
fn health_by_the_drives_own_word() {
    let of = |smart| health(&Disk { health: Ok(smart), ..disk() });
    let good = Smart { used_percent: Some(3), spare: Some((100, 10)), celsius: Some(31), ..smart() };
    says(&of(good), Good, &["3 % of its endurance used, 100 % of the spare", "31 °C"]);
    says(&of(smart()), Good, &["no fault known to the drive (smartctl)"]);
    let failing = Smart { passed: Some(false), failing: Some("Reallocated_Sector_Ct".into()), ..smart() };
    says(&of(failing), Error, &["that it fails: Reallocated_Sector_Ct", "replace"]);
    let critical = Smart { passed: Some(false), critical_warning: Some(0b1_0001), ..smart() };
    says(&of(critical), Error, &["spare blocks", "capacitors"]);
    says(&of(Smart { used_percent: Some(97), ..smart() }), Warning, &["97 %"]);
    says(&of(Smart { pending: Some(8), reallocated: Some(0), ..smart() }), Warning, &["8 sectors that cannot"]);
    says(&of(Smart { media_errors: Some(2), ..smart() }), Warning, &["2 errors"]);
    says(&of(Smart { uncorrectable: Some(1), ..smart() }), Warning, &["1 sectors that could not"]);
    says(&of(Smart { reallocated: Some(5), ..smart() }), Warning, &["5 sectors replaced"]);
    says(&of(Smart { passed: None, ..smart() }), Unknown, &["no verdict"]);
}

#[test]
fn health_that_nobody_tells() {
    let of = |why| health(&Disk { health: Err(why), ..disk() });
    says(&of(NoHealth::NotInstalled("smartctl")), Unknown, &["smartctl is not installed", "smartmontools"]);
    says(&of(NoHealth::None("a virtual disk")), Unknown, &["a virtual disk has no SMART"]);
    says(&of(NoHealth::Failed("Permission denied".into())), Unknown, &["Permission denied", "root"]);
    says(&of(NoHealth::Skipped), Unknown, &["not asked"]);
}

#[test]
fn caches_of_writes() {
    let with = |kind: &str| Disk { queue: Queue { write_cache: Some(kind.into()), ..queue() }, ..disk() };
    says(&write_cache(&with("write back")), Good, &["sends flushes", "FUA"]);
    // The kernel's word alone may be an administrator's.
    says(&write_cache(&with("write through")), Unknown, &["sends no flushes", "by hand", "smartctl -g wcache"]);
    let none = Disk { health: Ok(Smart { write_cache: Some(false), ..smart() }), ..with("write through") };
    says(&write_cache(&none), Good, &["by the drive's own word"]);
    // The user told the kernel something else than what the disk told its driver.
    let told = Disk { cache_type: Some("write back".into()), ..with("write through") };
    says(&write_cache(&told), Error, &["no flush is sent", "queue/write_cache"]);
    let ata = Disk { health: Ok(Smart { write_cache: Some(true), ..smart() }), ..with("write through") };
    says(&write_cache(&ata), Error, &["power cut"]);
    says(&write_cache(&Disk { queue: Queue { write_cache: None, ..queue() }, ..disk() }), Unknown, &[]);
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
    let of = |protection| power_loss(&Disk { known: Some(known(protection)), ..disk() });
    says(&of(Protection::Protected), Good, &["survives", "some-drive, unverified"]);
    says(&of(Protection::Volatile), Good, &["not flushed is lost"]);
    says(&power_loss(&disk()), Unknown, &["does not know this model", "--drive"]);
    let through = Disk { queue: Queue { write_cache: Some("write through".into()), ..queue() }, ..disk() };
    says(&power_loss(&through), Unknown, &["write through", "by hand"]);
    let own = Disk { cache_type: Some("write through".into()), ..through.clone() };
    says(&power_loss(&own), Good, &["own word"]);
    says(&power_loss(&Disk { kind: DiskKind::Virtual("virtio"), ..through.clone() }), Unknown, &["host"]);
    says(&power_loss(&Disk { kind: DiskKind::Loop("/x".into()), ..through }), Unknown, &["holds the file"]);
}

#[test]
fn a_loop_device_on_the_page_cache_is_no_drive() {
    let of = |direct| identity(&Disk { kind: DiskKind::Loop("/x".into()), direct, ..disk() });
    says(&of(Some(false)), Warning, &["page cache", "losetup --direct-io=on"]);
    says(&of(Some(true)), Unknown, &["the file /x", "directory that holds it"]);
}
