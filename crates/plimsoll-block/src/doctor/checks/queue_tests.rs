use plimsoll_plan::units::Nanos;
use plimsoll_record::DiagnosisLevel::{Ok, Unknown, Warning};

use super::super::tests::{assert_finding, disk, medium_of, queue as healthy};
use super::*;
use crate::doctor::evidence::Queue;
use crate::host::mount::Space;
use crate::host::parse::DiskStats;

fn device(queue: Queue) -> VolumeEvidence {
    VolumeEvidence {
        name: "sda1".into(),
        queue,
        ..VolumeEvidence::default()
    }
}

#[test]
fn schedulers() {
    let of = |name: Option<&str>, kind| {
        let queue = Queue {
            scheduler: name.map(str::to_owned),
            ..healthy()
        };
        scheduler(&device(queue), &[DiskEvidence { kind, ..disk() }])
    };
    assert_finding(
        &of(Some("none"), DiskKind::Nvme),
        Ok,
        &[r#""scheduler":"none""#],
    );
    assert_finding(
        &of(Some("mq-deadline"), DiskKind::Nvme),
        Ok,
        &[r#""scheduler":"mq-deadline","is_nvme":true"#],
    );
    assert_finding(
        &of(Some("mq-deadline"), DiskKind::Scsi),
        Ok,
        &[r#""scheduler":"mq-deadline","is_nvme":false"#],
    );
    assert_finding(
        &of(Some("bfq"), DiskKind::Scsi),
        Warning,
        &["scheduler_bfq", "sda1"],
    );
    assert_finding(
        &of(None, DiskKind::Scsi),
        Unknown,
        &["scheduler_unknown", "sda1"],
    );
}

#[test]
fn queues() {
    let of = |queue| super::queue(&device(queue), &[disk()]);
    assert_finding(
        &of(healthy()),
        Ok,
        &[
            r#""requests":1023,"largest_bytes":1310720"#,
            r#""logical_bytes":512,"physical_bytes":4096,"rotates":false"#,
        ],
    );
    assert_finding(
        &of(Queue {
            iostats: Some(false),
            ..healthy()
        }),
        Warning,
        &["queue_not_counted", "sda1"],
    );
    assert_finding(
        &of(Queue {
            max_sectors_kb: Some(64),
            ..healthy()
        }),
        Warning,
        &["queue_cuts_requests", "65536"],
    );
    let small = Queue {
        max_sectors_kb: Some(64),
        max_hw_sectors_kb: Some(64),
        ..healthy()
    };
    assert_finding(&of(small), Ok, &[r#""largest_bytes":65536"#]);
    assert_finding(
        &of(Queue {
            rotational: Some(true),
            ..healthy()
        }),
        Warning,
        &["queue_rotates", "sda1"],
    );
    assert_finding(&of(Queue::default()), Unknown, &[]);
    let on_host = DiskEvidence {
        kind: DiskKind::Virtual("virtio"),
        ..disk()
    };
    let turning = device(Queue {
        rotational: Some(true),
        ..healthy()
    });
    assert_finding(
        &super::queue(&turning, &[on_host]),
        Ok,
        &[r#""rotates":true,"is_virtual":true"#],
    );
}

#[test]
fn places_of_partitions() {
    let at = |start: u64| VolumeEvidence {
        start: Some(Bytes(start)),
        ..device(healthy())
    };
    assert_finding(&alignment(&device(healthy()), None), Ok, &["whole_drive"]);
    assert_finding(&alignment(&at(1 << 20), None), Ok, &["aligned", "1048576"]);
    // DOS began the first partition at sector 63.
    assert_finding(
        &alignment(&at(63 * 512), None),
        Warning,
        &[r#""off_bytes":3584,"block_bytes":4096"#],
    );
    let emulating = Queue {
        physical_block_size: Some(512),
        ..healthy()
    };
    assert_finding(
        &alignment(
            &VolumeEvidence {
                queue: emulating,
                ..at(63 * 512)
            },
            None,
        ),
        Warning,
        &[r#""block_bytes":4096"#],
    );
    assert_finding(
        &alignment(
            &VolumeEvidence {
                alignment_offset: Some(3584),
                ..at(1 << 20)
            },
            None,
        ),
        Warning,
        &[r#""off_bytes":3584"#],
    );
    let space = Space {
        size: Bytes(1),
        used: Bytes(0),
        free: Bytes(1),
    };
    let room = |block_size| Room {
        space,
        block_size,
        files: None,
    };
    assert_finding(
        &alignment(&at(1 << 20), Some(&room(1024))),
        Warning,
        &["small_blocks", "1024"],
    );
    assert_finding(&alignment(&at(1 << 20), Some(&room(4096))), Ok, &[]);
}

#[test]
fn others_on_the_device() {
    let counters = DiskStats {
        name: "sda".into(),
        reads: 2,
        read_sectors: 16,
        read_ms: 1,
        writes: 5,
        write_sectors: 80,
        write_ms: 9,
        busy_ms: 12,
        weighted_ms: 20,
        flushes: Some(3),
    };
    let of = |spent: DiskStats| {
        let mut medium = medium_of(disk());
        medium.noise = Some(Some(DiskNoise {
            spent,
            over: Nanos::from_secs(2),
        }));
        noise(&medium).unwrap()
    };
    assert_finding(
        &of(counters.clone()),
        Ok,
        &[r#""requests_per_second":5.0,"moved_bytes":24576,"busy_percent":0.6"#],
    );
    assert_finding(
        &of(DiskStats {
            writes: 100,
            ..counters.clone()
        }),
        Warning,
        &[r#""requests_per_second":52.5"#],
    );
    assert_finding(
        &of(DiskStats {
            busy_ms: 200,
            ..counters
        }),
        Warning,
        &[r#""busy_percent":10.0"#],
    );
    let mut medium = medium_of(disk());
    assert_eq!(noise(&medium), None, "not watched");
    medium.noise = Some(None);
    assert_finding(&noise(&medium).unwrap(), Unknown, &["noise_unknown"]);
}

/// As in the guest of runs/2026-11-26-vm-2cpu/doctor-guest.sh: `iostats` is 0, and /sys/block/dm-0/stat counts.
#[test]
fn device_mapper_counts_its_requests_without_the_flag() {
    let device = VolumeEvidence {
        name: "dm-0".into(),
        queue: Queue {
            iostats: Some(false),
            ..healthy()
        },
        ..VolumeEvidence::default()
    };
    assert_finding(&super::queue(&device, &[]), Ok, &["logical_bytes"]);
}
