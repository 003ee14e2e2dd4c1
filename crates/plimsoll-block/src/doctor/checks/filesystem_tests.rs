use plimsoll_record::DiagnosisLevel::{Error, Ok, Unknown, Warning};

use super::super::tests::{assert_finding, disk, medium_of};
use super::*;
use crate::doctor::evidence::Disk;
use crate::host::mount::Space;

fn mounted(filesystem: &str, options: &str, super_options: &str) -> Medium {
    let mount = Mount {
        point: "/srv".into(),
        filesystem: filesystem.into(),
        source: "/dev/sda1".into(),
        options: options.into(),
        super_options: super_options.into(),
    };
    Medium {
        mount: Some(mount),
        ..medium_of(disk())
    }
}

#[test]
fn filesystems() {
    let of = |name: &str| filesystem(&mounted(name, "rw", "rw")).unwrap();
    assert_finding(&of("ext4"), Ok, &["ext4 at /srv"]);
    assert_finding(&of("btrfs"), Ok, &["new place"]);
    assert_finding(&of("tmpfs"), Error, &["lies in memory", "on the drive"]);
    assert_finding(&of("nfs4"), Warning, &["another machine"]);
    assert_finding(&of("overlay"), Warning, &["volume"]);
    assert_finding(&of("fuse.sshfs"), Unknown, &["--write"]);
    let on_zram = Medium {
        disks: vec![Disk {
            kind: DiskKind::Memory,
            ..disk()
        }],
        ..mounted("ext4", "rw", "rw")
    };
    assert_finding(&filesystem(&on_zram).unwrap(), Error, &["lies in memory"]);
    assert_eq!(filesystem(&medium_of(disk())), None);
}

#[test]
fn options_of_mounts() {
    let of = |options: &str, super_options: &str| {
        mount_options(&mounted("ext4", options, super_options)).unwrap()
    };
    // As ext4 of Linux 6 and as XFS before 4.19 write it.
    assert_finding(
        &of("rw,relatime", "rw,nobarrier"),
        Error,
        &["nobarrier", "no flushes", "remount"],
    );
    assert_finding(
        &of("rw", "rw,barrier=0,data=writeback"),
        Error,
        &["barrier=0"],
    );
    assert_finding(
        &of("rw", "rw,data=writeback"),
        Warning,
        &["data=writeback", "data=ordered"],
    );
    assert_finding(&of("ro,relatime", "rw"), Warning, &["read-only"]);
    assert_finding(&of("rw,sync", "rw"), Warning, &["sync:"]);
    assert_finding(&of("rw", "rw,journal_async_commit"), Warning, &["journal"]);
    assert_finding(
        &of("rw", "rw,compress=zstd:3"),
        Warning,
        &["compress=zstd:3", "compressible"],
    );
    assert_finding(
        &of("rw,relatime", "rw,discard,barrier=1"),
        Ok,
        &["relatime (reads", "discard (each deletion"],
    );
    assert_finding(
        &of("rw", "rw,errors=remount-ro"),
        Ok,
        &["none that matters"],
    );
    // The worst counts, and hides nothing.
    assert_finding(
        &of("ro", "rw,nobarrier,data=writeback"),
        Error,
        &["nobarrier", "ro: read-only", "data=writeback"],
    );
    let on = |filesystem: &str| mount_options(&mounted(filesystem, "rw", "rw,nobarrier")).unwrap();
    assert_finding(&on("ext4"), Error, &["mount -o remount,barrier=1 /srv"]);
    assert_finding(&on("btrfs"), Error, &["mount -o remount,barrier /srv"]);
    assert!(
        !on("btrfs").next.contains("barrier=1"),
        "btrfs does not know it"
    );
    assert_eq!(mount_options(&medium_of(disk())), None);
}

#[test]
fn space_of_filesystems() {
    let of = |used: u64, free: u64, files| {
        let space = Space {
            size: Bytes(used + free),
            used: Bytes(used),
            free: Bytes(free),
        };
        super::space(&Medium {
            space: Some(Room {
                space,
                block_size: 4096,
                files,
            }),
            ..medium_of(disk())
        })
        .unwrap()
    };
    assert_finding(
        &of(50 << 30, 50 << 30, Some((7, 9))),
        Ok,
        &["50.0 GiB free of 100.0 GiB, 50 % used"],
    );
    assert_finding(&of(95 << 30, 5 << 30, None), Warning, &["95 % used"]);
    assert_finding(&of(100 << 30, 0, None), Error, &["nothing can be written"]);
    assert_finding(&of(1 << 30, 5 << 30, Some((0, 9))), Error, &["all 9 files"]);
    assert_eq!(super::space(&medium_of(disk())), None);
}
