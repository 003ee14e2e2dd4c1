//! Against sysfs as it was recorded, and trees made after it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use plimsoll_plan::units::Nanos;
use tempfile::TempDir;

use super::*;
use crate::doctor::evidence::Protection;

const VDA: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/doctor/sysfs-vda.txt"
));

/// A /sys with devices by number: name, directory below `devices`, and lines of `file: content`.
fn sysfs(devices: &[(&str, &str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let numbers = root.path().join("sys/dev/block");
    fs::create_dir_all(&numbers).unwrap();
    for (number, directory, lines) in devices {
        let directory = root.path().join("sys/devices").join(directory);
        for (file, content) in lines.lines().filter_map(|line| line.split_once(": ")) {
            let path = directory.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{content}\n")).unwrap();
        }
        fs::create_dir_all(directory.join("slaves")).unwrap();
        fs::write(directory.join("dev"), format!("{number}\n")).unwrap();
        symlink(&directory, numbers.join(number)).unwrap();
    }
    root
}

/// Puts one device on another.
fn build_on(root: &TempDir, upper: &str, lower: &str) {
    let at = |path: &str| root.path().join("sys/devices").join(path);
    symlink(
        at(lower),
        at(upper)
            .join("slaves")
            .join(Path::new(lower).file_name().unwrap()),
    )
    .unwrap();
}

fn known(name: &str, model: &str) -> KnownDrive {
    KnownDrive {
        name: name.into(),
        models: vec![model.into()],
        protection: Protection::Protected,
        is_flash: true,
        source: "sheet".into(),
        turn: None,
        synced_per_second: None,
    }
}

fn resolve(
    root: &TempDir,
    number: (u32, u32),
    known: &[KnownDrive],
) -> (VolumeEvidence, Vec<DiskEvidence>) {
    let source = KernelFiles::new(root.path());
    let now = || Nanos::ZERO;
    let options = GatherOptions {
        now: &now,
        quiet: None,
        known,
        is: None,
        users: false,
        health: false,
        blocks: 0,
        patience: Nanos::ZERO,
        seed: 0,
    };
    let found = device_at(&source, number.0, number.1).unwrap();
    (device(&source, &found), below(&source, &found, &options))
}

#[test]
fn a_virtual_disk_as_recorded() {
    let root = sysfs(&[("254:0", "virtio1/block/vda", VDA)]);
    let (device, disks) = resolve(&root, (254, 0), &[]);
    assert_eq!(
        (device.name.as_str(), device.size, device.start),
        ("vda", Some(Bytes(256 << 30)), None)
    );
    let expected = Queue {
        scheduler: Some("mq-deadline".into()),
        nr_requests: Some(256),
        max_sectors_kb: Some(4096),
        max_hw_sectors_kb: Some(2_147_483_647),
        rotational: Some(true),
        logical_block_size: Some(512),
        physical_block_size: Some(4096),
        iostats: Some(true),
        write_cache: Some("write back".into()),
        fua: Some(false),
    };
    assert_eq!(
        (&device.queue, device.alignment_offset),
        (&expected, Some(0))
    );
    assert_eq!(disks.len(), 1);
    assert_eq!(
        (&disks[0].kind, &disks[0].model, &disks[0].vendor),
        (&DiskKind::Virtual("virtio"), &None, &None)
    );
}

const NVME: &str = "size: 1875385008\nqueue/write_cache: write through\nqueue/scheduler: [none] mq-deadline\n\
                    device/model: KINGSTON SEDC1500M960G                  \ndevice/firmware_rev: S67F0103\n\
                    device/transport: pcie\ndevice/device/vendor: 0x2646";
const DISK: &str = "size: 1953525168\nqueue/write_cache: write through\nqueue/rotational: 1\ndevice/vendor: ATA     \n\
                    device/model: ST91000640NS\ndevice/rev: SN03\ndevice/scsi_disk/2:0:0:0/cache_type: write back";

#[test]
fn a_partition_and_its_drive_that_the_catalog_knows() {
    let part = "partition: 1\nstart: 2048\nsize: 100000\nalignment_offset: 0";
    let root = sysfs(&[
        ("259:0", "nvme0/nvme0n1", NVME),
        ("259:1", "nvme0/nvme0n1/nvme0n1p1", part),
    ]);
    let (device, disks) = resolve(
        &root,
        (259, 1),
        &[
            known("other", "KINGSTON SEDC500"),
            known("dc1500m", "kingston_sedc1500m960g"),
        ],
    );
    assert_eq!(
        (device.name.as_str(), device.start),
        ("nvme0n1p1", Some(Bytes(1 << 20)))
    );
    assert_eq!(
        device.queue.scheduler.as_deref(),
        Some("none"),
        "its drive's"
    );
    let [disk] = disks.as_slice() else {
        panic!("{disks:?}")
    };
    assert_eq!(
        (disk.name.as_str(), &disk.kind),
        ("nvme0n1", &DiskKind::Nvme)
    );
    assert_eq!(disk.firmware.as_deref(), Some("S67F0103"));
    assert_eq!(
        (disk.vendor.as_deref(), disk.transport.as_deref()),
        (None, Some("pcie")),
        "a number is no name"
    );
    assert_eq!(
        disk.known.as_ref().map(|known| known.name.as_str()),
        Some("dc1500m")
    );
}

#[test]
fn a_stack_leads_down_to_its_drives_each_once() {
    let root = sysfs(&[
        ("259:0", "nvme0n1", NVME),
        ("8:0", "sda", DISK),
        ("9:0", "md0", "size: 8"),
        ("253:0", "dm-0", "size: 8\ndm/name: vg-a"),
        ("253:1", "dm-1", "size: 8"),
    ]);
    build_on(&root, "dm-1", "dm-0");
    build_on(&root, "dm-0", "md0");
    build_on(&root, "md0", "nvme0n1");
    build_on(&root, "md0", "sda");
    let (device, disks) = resolve(&root, (253, 1), &[]);
    assert_eq!(device.name, "dm-1");
    assert_eq!(
        disks
            .iter()
            .map(|disk| disk.name.as_str())
            .collect::<Vec<_>>(),
        ["nvme0n1", "sda"]
    );
    assert_eq!(
        (disks[1].cache_type.as_deref(), disks[1].firmware.as_deref()),
        (Some("write back"), Some("SN03"))
    );
    assert_eq!(resolve(&root, (9, 0), &[]).1.len(), 2);
}

#[test]
fn what_kind_of_disk_it_is_follows_from_its_names() {
    let of = |name: &str, lines: &str| {
        let root = sysfs(&[("8:0", name, lines)]);
        resolve(&root, (8, 0), &[]).1.remove(0).kind
    };
    assert_eq!(
        of("loop3", "loop/backing_file: /srv/x.img"),
        DiskKind::Loop("/srv/x.img".into())
    );
    assert_eq!(of("xvda", ""), DiskKind::Virtual("Xen"));
    assert_eq!(
        of("sda", "device/vendor: QEMU\ndevice/model: QEMU HARDDISK"),
        DiskKind::Virtual("QEMU")
    );
    assert_eq!(
        of("sda", "device/vendor: Msft\ndevice/model: Virtual Disk"),
        DiskKind::Virtual("Hyper-V")
    );
    assert_eq!(
        of("nvme1n1", "device/model: Amazon Elastic Block Store"),
        DiskKind::Virtual("AWS EBS")
    );
    assert_eq!(
        of("nvme1n1", "device/transport: tcp\ndevice/model: x"),
        DiskKind::Network
    );
    assert_eq!(of("rbd0", ""), DiskKind::Network);
    assert_eq!(of("sdb", DISK), DiskKind::Scsi);
    assert_eq!(of("zram0", ""), DiskKind::Memory);
    assert_eq!(of("dm-0", ""), DiskKind::Stacked);
    assert_eq!(of("mmcblk0", ""), DiskKind::Other);
}

#[test]
fn disks_without_smart_are_not_asked() {
    let root = sysfs(&[
        ("7:0", "loop0", "loop/backing_file: /x"),
        ("252:0", "vda", VDA),
    ]);
    let source = KernelFiles::new(root.path());
    let of = |major| {
        let device = device_at(&source, major, 0).unwrap();
        let now = || Nanos::ZERO;
        let options = GatherOptions {
            now: &now,
            quiet: None,
            known: &[],
            is: None,
            users: false,
            health: true,
            blocks: 0,
            patience: Nanos::ZERO,
            seed: 0,
        };
        below(&source, &device, &options).remove(0).health
    };
    assert_eq!(of(7), Err(NoHealth::None));
    assert_eq!(of(252), Err(NoHealth::None));
}
