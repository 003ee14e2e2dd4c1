//! Against what a Ceph 16.2 of three OSDs printed, and sysfs and names of states as their documentation has them.

use plimsoll_record::message::doctor::ArrayUnknownCause;

use super::super::tests::{block_device, sysfs};
use super::*;

const HEALTHY: &str = include_str!("recorded/ceph-healthy.json");
const ONE_DOWN: &str = include_str!("recorded/ceph-one-down.json");
const POOLS: &str = include_str!("recorded/ceph-pools.json");

fn place() -> CephData {
    CephData {
        name: "rbd/image".to_owned(),
        pool: Some("rbd".to_owned()),
    }
}

fn pool(own: &ArrayEvidence) -> &PoolSettings {
    match &own.settings {
        Some(ArraySettings::Ceph(pool)) => pool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_healthy_cluster_is_whole() {
    let own = of_cluster(&place(), HEALTHY, POOLS).unwrap();
    assert_eq!((own.members, own.missing, &own.action), (3, 0, &None));
    let pool = pool(&own);
    assert_eq!((pool.copies, pool.least_copies), (Some(3), Some(2)));
    assert_eq!((pool.osds_up, pool.osds_in), (3, 3));
    assert_eq!(pool.health, "HEALTH_OK");
}

#[test]
fn an_osd_that_is_down_is_missing() {
    let own = of_cluster(&place(), ONE_DOWN, POOLS).unwrap();
    assert_eq!((own.members, own.missing, &own.action), (3, 1, &None));
    let pool = pool(&own);
    assert!((pool.degraded_percent - 33.3).abs() < 0.1);
    assert_eq!((pool.osds_up, pool.osds_in), (2, 3));
    assert_eq!(pool.health, "HEALTH_WARN");
    assert!(of_cluster(&place(), "", POOLS).is_none());
}

#[test]
fn recovery_and_scrubs_are_work_under_way() {
    let of = |state: &str| {
        let states = serde_json::json!([{"state_name": "active+clean"}, {"state_name": state}]);
        action(&states)
    };
    assert_eq!(of("active+clean"), None);
    assert_eq!(of("active+recovering+degraded").as_deref(), Some("recover"));
    assert_eq!(
        of("active+remapped+backfilling").as_deref(),
        Some("recover")
    );
    assert_eq!(of("active+clean+scrubbing+deep").as_deref(), Some("scrub"));
}

#[test]
fn an_image_is_found_below_its_device() {
    let root = sysfs(&[
        ("bus/rbd/devices/0/pool", "rbd"),
        ("bus/rbd/devices/0/name", "image"),
    ]);
    let source = KernelFiles::new(root.path());
    let rbd0 = block_device("rbd0", 252, 0);
    assert_eq!(image(&source, &rbd0), Some(place()));
    assert_eq!(image(&source, &block_device("sda", 8, 0)), None);
    let found = array(&source, &[rbd0], None, false).unwrap();
    assert_eq!(found.unwrap_err().cause, ArrayUnknownCause::NotAsked);
}

#[test]
fn the_image_of_rbd_nbd_is_in_its_command() {
    let of = |words: &str| mapped(&words.replace(' ', "\0"));
    let image = CephData::image("vms", "disk1");
    assert_eq!(of("rbd-nbd --id admin map vms/disk1 "), Some(image));
    let of_default = of("/usr/bin/rbd-nbd map disk1").unwrap();
    assert_eq!(of_default.name, "rbd/disk1");
    assert_eq!(of("nbd-client map vms/disk1"), None);
    for options in [
        "--key SECRET vms/disk1",
        "--pool vms disk1",
        "vms/disk1 --key=SECRET",
    ] {
        let unknown = of(&format!("rbd-nbd map {options}")).unwrap();
        assert_eq!(
            (unknown.name.as_str(), unknown.pool),
            ("RBD", None),
            "{options}"
        );
    }
    let read_only = of("rbd-nbd map --read-only vms/disk1").unwrap();
    assert_eq!(read_only.name, "vms/disk1");
}
