//! The server itself: killed connections, tables that are gone, facts.

use super::*;

/// What shared servers are started with. No test cuts the power, so none waits for the disk.
pub fn settings_of(kind: ServerKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        ServerKind::Postgres => &[
            ("work_mem", "5MB"),
            ("synchronous_commit", "off"),
            ("fsync", "off"),
        ],
        ServerKind::Mariadb => &[
            ("innodb_buffer_pool_size", "512M"),
            ("innodb_flush_log_at_trx_commit", "2"),
        ],
        ServerKind::Mysql => &[
            ("innodb_buffer_pool_size", "512M"),
            ("innodb_flush_log_at_trx_commit", "2"),
            ("disable_log_bin", "ON"),
        ],
    }
}

pub fn killed_connection(kind: ServerKind) {
    let shared = Shared::get(Engine::Server(kind));
    let _turn = shared.turn();
    let mut client = shared.place().client();
    for &mode in shared.engine.modes() {
        let mut user = shared.user(mode);
        user.run(&stock_level()).unwrap();
        let id = user.id();
        client.execute(&match kind {
            ServerKind::Postgres => format!("SELECT pg_terminate_backend({id})"),
            ServerKind::Mariadb | ServerKind::Mysql => format!("KILL CONNECTION {id}"),
        });
        // The first attempt notices, the second finds it so.
        for _ in 0..2 {
            let end = user.run(&stock_level());
            assert!(
                matches!(end, Err(SessionError::Lost(_))),
                "{mode:?} {end:?}"
            );
        }
        let new = shared.user(mode).run(&stock_level());
        assert_eq!(new, Ok(TxnEnd::Committed), "{mode:?}");
    }
}

pub fn table_that_is_gone(kind: ServerKind) {
    let shared = Shared::get(Engine::Server(kind));
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let modes = shared.engine.modes();
    let mut users: Vec<User> = modes.iter().map(|&mode| shared.user(mode)).collect();
    client.execute("ALTER TABLE order_line RENAME TO order_line_away");
    let ends: Vec<_> = users
        .iter_mut()
        .map(|user| user.run(&stock_level()))
        .collect();
    client.execute("ALTER TABLE order_line_away RENAME TO order_line");
    for end in ends {
        assert!(
            matches!(&end, Err(SessionError::Permanent(why)) if why.contains("remove the rest")),
            "{end:?}"
        );
    }
}

/// A setting that is reported: with this value, or with any.
type Setting = (&'static str, Option<&'static str>);

pub fn described(kind: ServerKind) {
    let facts = Shared::get(Engine::Server(kind))
        .server()
        .target()
        .facts()
        .unwrap();
    let title = format!("{} ", kind.title());
    assert!(facts.version.starts_with(&title), "{}", facts.version);
    let (there, absent): (&[Setting], [&str; 2]) = match kind {
        ServerKind::Postgres => (
            &[
                ("work_mem", Some("5MB")),
                ("synchronous_commit", Some("off")),
                ("fsync", Some("off")),
                ("full_page_writes", Some("on")),
                ("listen_addresses", Some("")),
                ("wal_sync_method", None),
            ],
            ["maintenance_work_mem", "application_name"],
        ),
        ServerKind::Mariadb => (
            &[
                ("innodb_flush_log_at_trx_commit", Some("2")),
                ("innodb_buffer_pool_size", Some("536870912")),
                ("innodb_doublewrite", Some("ON")),
                ("log_bin", Some("OFF")),
                ("sync_binlog", Some("0")),
                ("tx_isolation", None),
                ("innodb_flush_method", None),
            ],
            ["datadir", "sort_buffer_size"],
        ),
        ServerKind::Mysql => (
            &[
                ("innodb_flush_log_at_trx_commit", Some("2")),
                ("innodb_buffer_pool_size", Some("536870912")),
                ("innodb_doublewrite", Some("ON")),
                ("log_bin", Some("OFF")),
                ("sync_binlog", Some("1")),
                ("transaction_isolation", Some("REPEATABLE-READ")),
                ("innodb_redo_log_capacity", None),
            ],
            ["datadir", "sort_buffer_size"],
        ),
    };
    let settings: BTreeMap<_, _> = facts.settings.iter().cloned().collect();
    for (name, value) in there {
        let found = settings
            .get(*name)
            .unwrap_or_else(|| panic!("{name}: {settings:?}"));
        assert!(value.is_none_or(|value| value == found), "{name} = {found}");
    }
    assert!(
        !absent.iter().any(|name| settings.contains_key(*name)),
        "{settings:?}"
    );
    assert!(facts.database_size.0 > 100 << 20, "{}", facts.database_size);
}
