use plimsoll_record::DiagnosisLevel::{Error, Ok, Unknown, Warning};

use super::super::tests::{assert_finding, disk, medium_of};
use super::*;
use crate::doctor::evidence::DiskEvidence;
use crate::host::mount::Space;

fn mounted(filesystem: &str, options: &str, super_options: &str) -> MediumEvidence {
    let mount = Mount {
        point: "/srv".into(),
        filesystem: filesystem.into(),
        source: "/dev/sda1".into(),
        options: options.into(),
        super_options: super_options.into(),
    };
    MediumEvidence {
        mount: Some(mount),
        ..medium_of(disk())
    }
}

#[test]
fn filesystems() {
    let of = |name: &str| filesystem(&mounted(name, "rw", "rw")).unwrap();
    assert_finding(&of("ext4"), Ok, &["plain", "ext4", "/srv"]);
    assert_finding(&of("btrfs"), Ok, &["copy_on_write"]);
    assert_finding(&of("tmpfs"), Error, &["memory", "tmpfs"]);
    assert_finding(&of("nfs4"), Warning, &["network", "nfs4"]);
    assert_finding(&of("overlay"), Warning, &["layers"]);
    assert_finding(&of("fuse.sshfs"), Unknown, &["fuse"]);
    let on_zram = MediumEvidence {
        disks: vec![DiskEvidence {
            kind: DiskKind::Memory,
            ..disk()
        }],
        ..mounted("ext4", "rw", "rw")
    };
    assert_finding(&filesystem(&on_zram).unwrap(), Error, &["memory", "ext4"]);
    assert_eq!(filesystem(&medium_of(disk())), None);
}

#[test]
fn options_of_mounts() {
    let of = |options: &str, super_options: &str| {
        mount_options(&mounted("ext4", options, super_options)).remove(0)
    };
    // As ext4 of Linux 6 and as XFS before 4.19 write it.
    assert_finding(
        &of("rw,relatime", "rw,nobarrier"),
        Error,
        &["no_barriers", "nobarrier", "barrier=1", "/srv"],
    );
    assert_finding(
        &of("rw", "rw,barrier=0,data=writeback"),
        Error,
        &["barrier=0"],
    );
    assert_finding(
        &of("rw", "rw,data=writeback"),
        Warning,
        &["writeback", "data=writeback"],
    );
    assert_finding(&of("ro,relatime", "rw"), Warning, &["read_only"]);
    assert_finding(&of("rw,sync", "rw"), Warning, &["synchronous", "sync"]);
    assert_finding(
        &of("rw", "rw,journal_async_commit"),
        Warning,
        &["async_commit"],
    );
    assert_finding(
        &of("rw", "rw,compress=zstd:3"),
        Warning,
        &["compressed", "compress=zstd:3"],
    );
    assert_finding(
        &of("rw,relatime", "rw,discard,barrier=1"),
        Ok,
        &[r#""atime":"relatime","discard":"discard""#],
    );
    assert_finding(
        &of("rw", "rw,errors=remount-ro"),
        Ok,
        &[r#""atime":null,"discard":null"#],
    );
    // The worst counts, and hides nothing.
    let all = mount_options(&mounted("ext4", "ro", "rw,nobarrier,data=writeback"));
    assert_eq!(all.len(), 3);
    assert_finding(&all[0], Error, &["no_barriers"]);
    assert_finding(&all[1], Warning, &["read_only"]);
    assert_finding(&all[2], Warning, &["writeback"]);
    let on = |filesystem: &str| mount_options(&mounted(filesystem, "rw", "rw,nobarrier")).remove(0);
    assert_finding(&on("ext4"), Error, &[r#""remedy":"barrier=1""#]);
    assert_finding(&on("btrfs"), Error, &[r#""remedy":"barrier""#]);
    assert_eq!(mount_options(&medium_of(disk())), []);
}

#[test]
fn space_of_filesystems() {
    let of = |used: u64, free: u64, files| {
        let space = Space {
            size: Bytes(used + free),
            used: Bytes(used),
            free: Bytes(free),
        };
        super::space(&MediumEvidence {
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
        &[r#""free_bytes":53687091200,"size_bytes":107374182400,"used_percent":50.0"#],
    );
    assert_finding(
        &of(95 << 30, 5 << 30, None),
        Warning,
        &[r#""used_percent":95.0"#],
    );
    assert_finding(&of(100 << 30, 0, None), Error, &[r#""free_bytes":0"#]);
    assert_finding(
        &of(1 << 30, 5 << 30, Some((0, 9))),
        Error,
        &["no_files_left", "9"],
    );
    assert_eq!(super::space(&medium_of(disk())), None);
}
