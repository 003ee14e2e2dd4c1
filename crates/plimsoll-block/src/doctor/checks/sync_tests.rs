use plimsoll_record::DiagnosisLevel::{Error, Ok as Good, Unknown, Warning};

use super::super::tests::{assert_finding, disk, medium_of, queue};
use super::*;
use crate::doctor::evidence::{BlockSample, KnownDrive, Pace, Queue};
use crate::doctor::smart::Smart;

fn pace(us: u64) -> Pace {
    Pace {
        requests: 100,
        median: Nanos::from_micros(us),
    }
}

/// Writes of 20 µs, made durable in so many.
fn tested(synced_us: u64) -> SyncTest {
    SyncTest {
        direct: true,
        unsynced: pace(20),
        synced: pace(synced_us),
        flush: pace(synced_us - 20),
        dsync: pace(synced_us + 5),
    }
}

fn known(protection: Protection) -> KnownDrive {
    KnownDrive {
        name: "some-drive".into(),
        models: Vec::new(),
        protection,
        is_flash: false,
        source: "sheet".into(),
        turn: None,
        synced_per_second: None,
    }
}

fn of(disk: DiskEvidence, synced_us: u64) -> Diagnosis {
    let mut medium = medium_of(disk);
    medium.sync = Some(SyncOutcome::Tested(tested(synced_us)));
    fsync(&medium).unwrap()
}

/// A SATA disk that reports its rotation.
fn turning(rpm: Option<u64>) -> DiskEvidence {
    let smart = Smart {
        rpm,
        ..Smart::default()
    };
    DiskEvidence {
        kind: DiskKind::Scsi,
        queue: Queue {
            rotational: Some(true),
            ..queue()
        },
        health: Ok(smart),
        ..disk()
    }
}

#[test]
fn a_protected_cache_may_answer_at_once() {
    let disk = DiskEvidence {
        known: Some(known(Protection::Protected)),
        ..disk()
    };
    assert_finding(
        &of(disk, 30),
        Good,
        &[
            r#""outcome":"protected","limit":null"#,
            r#""unsynced_per_second":50000.0,"synced_per_second":33333.3"#,
            r#""flush_ns":10000"#,
        ],
    );
}

#[test]
fn flash_without_protection_has_to_program() {
    let volatile = || DiskEvidence {
        known: Some(known(Protection::Volatile)),
        ..disk()
    };
    assert_finding(
        &of(volatile(), 1_200),
        Good,
        &["plausible", r#""synced_per_second":833.3"#],
    );
    assert_finding(
        &of(volatile(), 40),
        Error,
        &[r#""outcome":"ignored","limit":"program""#],
    );
}

#[test]
fn a_disk_cannot_sync_faster_than_it_turns() {
    assert_finding(&of(turning(Some(7200)), 8_400), Good, &[]);
    assert_finding(
        &of(turning(Some(7200)), 7_000),
        Error,
        &[r#""outcome":"ignored","limit":"rotation","limit_per_second":120.0"#],
    );
    // Its turns are not known, only that it does.
    assert_finding(&of(turning(None), 5_000), Good, &[]);
    assert_finding(
        &of(turning(None), 3_000),
        Error,
        &[r#""limit_per_second":250.0"#],
    );
    let battery = DiskEvidence {
        known: Some(known(Protection::Protected)),
        ..turning(Some(7200))
    };
    assert_finding(&of(battery, 60), Good, &[r#""outcome":"protected""#]);
}

#[test]
fn o_dsync_counts_where_it_is_sooner() {
    let mut medium = medium_of(turning(Some(7200)));
    medium.sync = Some(SyncOutcome::Tested(SyncTest {
        dsync: pace(90),
        ..tested(8_400)
    }));
    assert_finding(
        &fsync(&medium).unwrap(),
        Error,
        &[r#""dsync_per_second":11111.1"#],
    );
}

#[test]
fn an_emulated_drive_is_held_to_its_model() {
    let emulated = |per_second: f64| KnownDrive {
        synced_per_second: Some(per_second),
        ..known(Protection::Volatile)
    };
    let disk = |per_second: f64| DiskEvidence {
        kind: DiskKind::Loop("/x".into()),
        known: Some(emulated(per_second)),
        ..disk()
    };
    assert_finding(&of(disk(980.0), 1_100), Good, &[]);
    // It may be later than its model, and a little sooner.
    assert_finding(&of(disk(980.0), 900), Good, &[]);
    assert_finding(
        &of(disk(980.0), 300),
        Error,
        &[r#""outcome":"ignored","limit":"model","limit_per_second":980.0"#],
    );
}

#[test]
fn an_unknown_drive_is_doubted_when_flushes_cost_nothing() {
    let unknown = || DiskEvidence {
        kind: DiskKind::Virtual("virtio"),
        queue: Queue {
            rotational: Some(true),
            ..queue()
        },
        ..disk()
    };
    assert_finding(&of(unknown(), 60), Warning, &[r#""outcome":"free""#]);
    assert_finding(&of(unknown(), 900), Good, &[r#""outcome":"takes_time""#]);
    // Reads that seek: a disk below, or a network's.
    let mut medium = medium_of(unknown());
    medium.sample = Ok(BlockSample {
        read: Some(Nanos::from_micros(9_000)),
        ..BlockSample::default()
    });
    medium.sync = Some(SyncOutcome::Tested(tested(900)));
    assert_finding(
        &fsync(&medium).unwrap(),
        Warning,
        &[
            r#""outcome":"ignored_or_protected","limit":"seeks""#,
            r#""read_ns":9000000"#,
        ],
    );
}

#[test]
fn the_slowest_disk_of_several_counts_and_one_volatile_is_enough() {
    let mut medium = medium_of(DiskEvidence {
        known: Some(known(Protection::Protected)),
        ..disk()
    });
    medium.disks.push(DiskEvidence {
        known: Some(known(Protection::Volatile)),
        ..turning(Some(7200))
    });
    medium.sync = Some(SyncOutcome::Tested(tested(200)));
    assert_finding(
        &fsync(&medium).unwrap(),
        Error,
        &[r#""limit_per_second":120.0"#],
    );
}

#[test]
fn without_a_test_or_a_limit_nothing_is_judged() {
    let mut medium = medium_of(disk());
    assert_eq!(fsync(&medium), None);
    let untested = DoctorFinding::FlushUntested { directory: None };
    medium.sync = Some(SyncOutcome::Untested(untested));
    assert_finding(&fsync(&medium).unwrap(), Unknown, &["flush_untested"]);
    let volatile = DiskEvidence {
        kind: DiskKind::Virtual("virtio"),
        known: Some(known(Protection::Volatile)),
        ..disk()
    };
    assert_finding(&of(volatile, 500), Unknown, &["no_limit"]);
}

/// A kernel in a virtual machine reports every disk as rotating; the drive file counts more.
#[test]
fn a_drive_file_of_flash_counts_more_than_the_kernel() {
    let kernel = Queue {
        rotational: Some(true),
        ..queue()
    };
    let flash = Some(KnownDrive {
        is_flash: true,
        ..known(Protection::Volatile)
    });
    let virtual_disk = DiskEvidence {
        kind: DiskKind::Virtual("virtio"),
        queue: kernel,
        known: flash,
        ..disk()
    };
    assert_finding(&of(virtual_disk, 60), Error, &[r#""limit":"program""#]);
}
