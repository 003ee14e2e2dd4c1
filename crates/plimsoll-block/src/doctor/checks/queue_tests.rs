use plimsoll_plan::units::Nanos;
use plimsoll_record::DiagnosisLevel::{Ok, Unknown, Warning};

use super::super::tests::{assert_finding, disk, medium_of, queue as healthy};
use super::*;
use crate::doctor::evidence::Queue;
use crate::host::mount::Space;
use crate::host::parse::Disk as Counters;

fn device(queue: Queue) -> Device {
    Device {
        name: "sda1".into(),
        queue,
        ..Device::default()
    }
}

#[test]
fn schedulers() {
    let of = |name: Option<&str>, kind| {
        let queue = Queue {
            scheduler: name.map(str::to_owned),
            ..healthy()
        };
        scheduler(&device(queue), &[Disk { kind, ..disk() }])
    };
    assert_finding(&of(Some("none"), DiskKind::Nvme), Ok, &["as they come"]);
    assert_finding(
        &of(Some("mq-deadline"), DiskKind::Nvme),
        Ok,
        &["none costs less"],
    );
    assert_finding(
        &of(Some("mq-deadline"), DiskKind::Scsi),
        Ok,
        &["mq-deadline"],
    );
    assert_finding(
        &of(Some("bfq"), DiskKind::Scsi),
        Warning,
        &["bfq", "queue/scheduler"],
    );
    assert_finding(&of(None, DiskKind::Scsi), Unknown, &["sda1"]);
}

#[test]
fn queues() {
    let of = |queue| super::queue(&device(queue), &[disk()]);
    assert_finding(
        &of(healthy()),
        Ok,
        &[
            "1023 requests",
            "1.2 MiB each",
            "512 (4096 physical)",
            "not to rotate",
        ],
    );
    assert_finding(
        &of(Queue {
            iostats: Some(false),
            ..healthy()
        }),
        Warning,
        &["does not count", "queue/iostats"],
    );
    assert_finding(
        &of(Queue {
            max_sectors_kb: Some(64),
            ..healthy()
        }),
        Warning,
        &["above 64 KiB", "max_sectors_kb"],
    );
    let small = Queue {
        max_sectors_kb: Some(64),
        max_hw_sectors_kb: Some(64),
        ..healthy()
    };
    assert_finding(&of(small), Ok, &["64.0 KiB each"]);
    assert_finding(
        &of(Queue {
            rotational: Some(true),
            ..healthy()
        }),
        Warning,
        &["wrong for an NVMe", "queue/rotational"],
    );
    assert_finding(&of(Queue::default()), Unknown, &[]);
    let on_host = Disk {
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
        &["as many virtual disks are"],
    );
}

#[test]
fn places_of_partitions() {
    let at = |start: u64| Device {
        start: Some(Bytes(start)),
        ..device(healthy())
    };
    assert_finding(&alignment(&device(healthy()), None), Ok, &["no partition"]);
    assert_finding(&alignment(&at(1 << 20), None), Ok, &["1.0 MiB"]);
    // DOS began the first partition at sector 63.
    assert_finding(
        &alignment(&at(63 * 512), None),
        Warning,
        &["byte 32256", "whole MiB"],
    );
    let emulating = Queue {
        physical_block_size: Some(512),
        ..healthy()
    };
    assert_finding(
        &alignment(
            &Device {
                queue: emulating,
                ..at(63 * 512)
            },
            None,
        ),
        Warning,
        &["a block of 4096"],
    );
    assert_finding(
        &alignment(
            &Device {
                alignment_offset: Some(3584),
                ..at(1 << 20)
            },
            None,
        ),
        Warning,
        &["3584 bytes off"],
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
        &["1024 bytes are smaller"],
    );
    assert_finding(&alignment(&at(1 << 20), Some(&room(4096))), Ok, &[]);
}

#[test]
fn others_on_the_device() {
    let counters = Counters {
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
    let of = |spent: Counters| {
        let mut medium = medium_of(disk());
        medium.noise = Some(std::result::Result::Ok(Noise {
            spent,
            over: Nanos::from_secs(2),
        }));
        noise(&medium).unwrap()
    };
    assert_finding(
        &of(counters.clone()),
        Ok,
        &["5 requests", "24.0 KiB a second", "0.6 %"],
    );
    assert_finding(
        &of(Counters {
            writes: 100,
            ..counters.clone()
        }),
        Warning,
        &["52 requests", "iotop"],
    );
    assert_finding(
        &of(Counters {
            busy_ms: 200,
            ..counters
        }),
        Warning,
        &["10.0 %"],
    );
    let mut medium = medium_of(disk());
    assert_eq!(noise(&medium), None, "not watched");
    medium.noise = Some(Err("not counted".into()));
    assert_finding(&noise(&medium).unwrap(), Unknown, &["not counted"]);
}
