//! Every way of every engine brings back the same data.

use std::collections::BTreeMap;

use plimsoll_plan::resolved::{
    Home, ManagedKind, ResetMethod, Secret, ServerKind, SystemKind, Tpcc, TxnMode, Workload,
};
use plimsoll_record::message::ResetCheck;

use plimsoll_plan::units::Bytes;

use super::*;
use crate::engine::contract::{User, medium};
use crate::scratch::Scratch;
use crate::workload::Source;

fn workload() -> Workload {
    Workload::Tpcc(Tpcc {
        warehouses: 1,
        mode: TxnMode::Statements,
        home: Home::Fixed,
    })
}

fn systems() -> Vec<(SystemKind, Vec<ResetMethod>)> {
    use ResetMethod::{Files, Reload, Template};
    let settings = BTreeMap::from([("fsync".to_owned(), "off".to_owned())]);
    let binaries = String::new();
    vec![
        (
            SystemKind::Sqlite {
                settings: BTreeMap::new(),
            },
            vec![Files, Reload],
        ),
        (
            SystemKind::Managed {
                engine: ManagedKind::Postgres,
                settings,
                binaries,
            },
            vec![Files, Template, Reload],
        ),
    ]
}

/// Some transactions of every type.
fn work(instance: &Instance) {
    let mut user = User::of(instance.endpoint(), &workload());
    let mut source = Source::new(&workload(), 3, 1, 0);
    for _ in 0..60 {
        user.run(&source.next()).unwrap();
    }
}

#[test]
fn what_was_changed_is_brought_back_in_every_way() {
    for (kind, ways) in systems() {
        let medium = medium();
        let logs = self::medium();
        let log = Scratch::create(logs.path(), "log").unwrap();
        let mut scratch = Scratch::create(medium.path(), "reset")
            .unwrap()
            .with_log(log);
        let instance = Instance::start(&kind, Some(&mut scratch), None).unwrap();
        let control = LoadControl::default();
        instance.load(&workload(), 3, &control).unwrap();
        let before = instance.commit_counts().unwrap();
        for way in ways {
            let first = instance
                .keep_first_state(way, &workload(), &control)
                .unwrap()
                .unwrap();
            work(&instance);
            assert_ne!(
                instance.commit_counts().unwrap(),
                before,
                "the load has left something"
            );
            let restored = instance
                .reset(&first, (&workload(), 3), true, &control)
                .unwrap();
            assert_eq!(
                (restored.method, instance.commit_counts().unwrap()),
                (way, before.clone()),
                "{kind:?}"
            );
            assert!(
                matches!(
                    restored.verified,
                    ResetCheck::AsAtFirst {
                        conditions: Some(12),
                        ..
                    }
                ),
                "{restored:?}"
            );
            assert!(
                restored.from > Bytes(0) && restored.to > Bytes(0),
                "{restored:?}"
            );
            if way != ResetMethod::Reload {
                // And again, of the same kept data.
                work(&instance);
                instance
                    .reset(&first, (&workload(), 3), false, &control)
                    .unwrap();
                assert_eq!(instance.commit_counts().unwrap(), before);
            }
        }
    }
}

#[test]
fn a_system_without_data_needs_no_reset_and_a_wrong_way_is_an_error() {
    let mock = Instance::start(&SystemKind::Mock(Default::default()), None, None).unwrap();
    assert!(
        mock.keep_first_state(ResetMethod::Auto, &workload(), &LoadControl::default())
            .unwrap()
            .is_none()
    );
    let engine = ServerKind::Postgres;
    let url = Secret::new("postgres://nobody@nowhere/none");
    let schema = "s".to_owned();
    let existing = Instance::start(
        &SystemKind::Existing {
            engine,
            url,
            schema,
            change_tables: false,
        },
        None,
        None,
    )
    .unwrap();
    let error = existing
        .keep_first_state(ResetMethod::Files, &workload(), &LoadControl::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("reset_by = \"files\"") && error.contains("reload"),
        "{error}"
    );
}
