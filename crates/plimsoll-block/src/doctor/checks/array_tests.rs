use plimsoll_record::message::doctor::{ArrayUnknownCause, StorageLayer};
use plimsoll_report::message::Messages;

use super::super::tests::{assert_finding, disk, medium_of};
use super::*;

fn rows(found: Result<ArrayEvidence, UnknownArray>) -> Vec<Diagnosis> {
    arrays(&MediumEvidence {
        arrays: vec![found],
        ..medium_of(disk())
    })
}

fn found(change: impl FnOnce(&mut ArrayEvidence)) -> Diagnosis {
    let mut own = ArrayEvidence {
        name: "md0".into(),
        level: "raid5".into(),
        members: 4,
        ..ArrayEvidence::default()
    };
    change(&mut own);
    rows(Ok(own)).remove(0)
}

fn text(row: &Diagnosis) -> String {
    Messages::english().diagnosis(row)
}

#[test]
fn what_is_not_whole_is_a_warning() {
    use DiagnosisLevel::{Error, Ok, Warning};
    assert_finding(&found(|_| ()), Ok, &["whole"]);
    assert_eq!(
        text(&found(|own| own.spares = 1)),
        "md0 (raid5 of 4 drives, 1 spare) is whole."
    );
    assert_finding(&found(|own| own.missing = 1), Warning, &["degraded"]);
    let check = |own: &mut ArrayEvidence| own.action = Some("check".into());
    assert_finding(&found(check), Warning, &["busy", "check"]);
    assert_finding(&found(|own| own.errors = 2), Warning, &["errors"]);
    let replaced = found(|own| own.failed = vec!["vdb".into()]);
    assert_finding(&replaced, Warning, &["replaced", "vdb"]);
    let broken = found(|own| own.is_broken = true);
    assert_finding(&broken, Error, &["broken"]);
}

#[test]
fn a_rebuild_shows_how_far_it_is() {
    let rebuilt = found(|own| {
        own.missing = 1;
        own.failed = vec!["vdb".into()];
        own.action = Some("recover".into());
        own.done_percent = Some(18.79);
    });
    assert_finding(&rebuilt, DiagnosisLevel::Warning, &["busy", "recover"]);
    assert_eq!(
        text(&rebuilt),
        "md0 (raid5 of 4 drives) is rebuilding (19 % done; failed: vdb), so figures are lower and less steady."
    );
}

fn settings_row(settings: ArraySettings) -> Diagnosis {
    rows(Ok(ArrayEvidence {
        settings: Some(settings),
        ..ArrayEvidence::default()
    }))
    .remove(1)
}

#[test]
fn settings_of_md_are_shown() {
    let md = MdSettings {
        chunk: Some(65_536),
        bitmap: Some("+8".into()),
        bitmap_chunk: Some(67_108_864),
        stripe_cache: Some(256),
        journal: None,
        policy: Some("bitmap".into()),
    };
    let row = settings_row(ArraySettings::Md(md));
    assert_finding(&row, DiagnosisLevel::Ok, &["65536", "+8", "256"]);
    let none = settings_row(ArraySettings::Md(MdSettings::default()));
    assert_eq!(text(&none), "No bitmap, no journal.");
}

#[test]
fn a_thin_pool_that_is_nearly_full_is_a_warning() {
    let of = |used| {
        settings_row(ArraySettings::Volume(VolumeSettings {
            chunk: Some(65_536),
            zeroes: Some(true),
            used_percent: Some(used),
            ..VolumeSettings::default()
        }))
    };
    assert_finding(&of(33.33), DiagnosisLevel::Ok, &["65536", "true"]);
    assert_finding(&of(95.0), DiagnosisLevel::Warning, &["95"]);
    let cached = settings_row(ArraySettings::Volume(VolumeSettings {
        cache_mode: Some("writethrough".into()),
        ..VolumeSettings::default()
    }));
    assert_eq!(text(&cached), "Cache writethrough.");
}

#[test]
fn a_cluster_that_is_not_healthy_is_a_warning() {
    let of = |health: &str| {
        settings_row(ArraySettings::Ceph(PoolSettings {
            pool: Some("rbd".into()),
            copies: Some(3),
            least_copies: Some(2),
            osds: 3,
            osds_up: 2,
            osds_in: 3,
            degraded_percent: 33.3,
            health: health.into(),
        }))
    };
    assert_finding(&of("HEALTH_OK"), DiagnosisLevel::Ok, &["rbd"]);
    assert_finding(&of("HEALTH_WARN"), DiagnosisLevel::Warning, &["33.3"]);
}

#[test]
fn a_missing_program_is_one_finding() {
    let found = rows(Err(UnknownArray {
        layer: StorageLayer::Lvm,
        name: "vg-data".into(),
        cause: ArrayUnknownCause::NotInstalled,
        command: "lvs".into(),
    }));
    assert_eq!(found.len(), 1);
    assert_finding(&found[0], DiagnosisLevel::Unknown, &["vg-data", "lvs"]);
}
