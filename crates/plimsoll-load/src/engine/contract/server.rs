//! The server itself: killed connections, tables that are gone, facts.

use std::sync::mpsc;

use super::*;

/// A server that is there for tests alone: all of its databases are dropped. Its URL is in the environment.
pub fn existing(kind: ServerKind) -> Target {
    let variable = format!("PLIMSOLL_TEST_{}", kind.engine().name().to_uppercase());
    let conninfo = std::env::var(&variable).unwrap_or_else(|_| panic!("{variable} holds no URL"));
    let target = Target {
        engine: kind,
        conninfo: conninfo.into(),
        schema: MANAGED_SCHEMA.into(),
        changes_tables: false,
    };
    let mut client = Client(target.connect().unwrap());
    let names =
        "SELECT name FROM sys.databases WHERE name NOT IN ('master', 'model', 'msdb', 'tempdb')";
    for name in client.column(names) {
        let name = target.dialect().identifier(&name);
        client.execute(&format!("DROP DATABASE {name}"));
    }
    target
}

/// What shared servers are started with. No test cuts the power, so none waits for the disk.
pub fn settings_of(kind: ManagedKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        ManagedKind::Postgres => &[
            ("work_mem", "5MB"),
            ("synchronous_commit", "off"),
            ("fsync", "off"),
        ],
        ManagedKind::Mariadb => &[
            ("innodb_buffer_pool_size", "512M"),
            ("innodb_flush_log_at_trx_commit", "2"),
        ],
        ManagedKind::Mysql => &[
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
        client.execute(&server_sql(kind).kill.replace("{id}", &id.to_string()));
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
    let rename = |from: &str, to: &str| {
        let rename = server_sql(kind).rename;
        rename.replace("{from}", from).replace("{to}", to)
    };
    client.execute(&rename("order_line", "order_line_away"));
    let ends: Vec<_> = users
        .iter_mut()
        .map(|user| user.run(&stock_level()))
        .collect();
    client.execute(&rename("order_line_away", "order_line"));
    for end in ends {
        assert!(
            matches!(&end, Err(SessionError::Permanent(why)) if why.contains("remove the rest")),
            "{end:?}"
        );
    }
}

/// A trigger that answers as a server does that has no memory left, and the number of that error.
struct MemoryTrigger {
    create: &'static [&'static str],
    drop: &'static str,
    code: &'static str,
}

fn memory_trigger(kind: ManagedKind) -> MemoryTrigger {
    match kind {
        ManagedKind::Postgres => MemoryTrigger {
            create: &[
                "CREATE FUNCTION no_memory() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'out of memory' USING ERRCODE = '53200'; END $$",
                "CREATE TRIGGER no_memory BEFORE INSERT ON new_order \
                 FOR EACH ROW EXECUTE FUNCTION no_memory()",
            ],
            drop: "DROP FUNCTION no_memory CASCADE",
            code: "53200",
        },
        ManagedKind::Mariadb | ManagedKind::Mysql => MemoryTrigger {
            create: &[
                "CREATE TRIGGER no_memory BEFORE INSERT ON new_order FOR EACH ROW \
                 SIGNAL SQLSTATE 'HY001' SET MYSQL_ERRNO = 1037, MESSAGE_TEXT = 'Out of memory'",
            ],
            drop: "DROP TRIGGER no_memory",
            code: "1037",
        },
    }
}

/// A statement without memory fails its transaction, which leaves nothing behind; the session goes on.
pub fn out_of_memory(kind: ManagedKind) {
    let shared = Shared::get(Engine::Server(kind.server()));
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let before = transactions::digest(&mut client);
    let order = new_order(&[(10, 1, 1), (20, 2, 3)]);
    let trigger = memory_trigger(kind);
    for &mode in shared.engine.modes() {
        let mut user = shared.user(mode);
        trigger.create.iter().for_each(|sql| client.execute(sql));
        let end = user.run(&order);
        client.execute(trigger.drop);
        assert!(
            matches!(&end, Err(SessionError::Failed(why)) if why.contains(trigger.code)),
            "{mode:?} {end:?}"
        );
        assert_eq!(user.run(&stock_level()), Ok(TxnEnd::Committed), "{mode:?}");
    }
    assert_eq!(transactions::digest(&mut client), before);
}

/// As an administrator cancels it, who leaves the session alone.
pub fn cancelled(kind: ManagedKind) {
    let shared = Shared::get(Engine::Server(kind.server()));
    let _turn = shared.turn();
    let mut holds = shared.place().client();
    let before = transactions::digest(&mut holds);
    let mut administrator = shared.place().client();
    let cancel = shared.target().dialect().cancel;
    for &mode in shared.engine.modes() {
        holds.execute("BEGIN");
        holds.execute("SELECT s_ytd FROM stock WHERE s_w_id = 1 AND s_i_id = 20 FOR UPDATE");
        let opener = shared.place().opener(&tpcc(mode));
        let (open, opened) = mpsc::channel();
        let (end, ends) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        let user = std::thread::spawn(move || {
            let mut user = User::open(&opener, 0).unwrap();
            open.send(user.id()).unwrap();
            end.send(user.run(&new_order(&[(10, 1, 1), (20, 1, 3)])))
                .unwrap();
            may_go_on.recv().unwrap();
            user.run(&stock_level())
        });
        let cancel = cancel.replace("{id}", &opened.recv().unwrap().to_string());
        let mut end = None;
        let ended = || {
            administrator.execute(&cancel);
            end = ends.try_recv().ok();
            end.is_some()
        };
        assert!(crate::scratch::wait_until(60, ended));
        holds.execute("ROLLBACK");
        assert!(
            matches!(&end, Some(Err(SessionError::Failed(_)))),
            "{mode:?} {end:?}"
        );
        go_on.send(()).unwrap();
        assert_eq!(user.join().unwrap(), Ok(TxnEnd::Committed), "{mode:?}");
    }
    assert_eq!(transactions::digest(&mut holds), before);
}

/// A setting that is reported: with this value, or with any.
type Setting = (&'static str, Option<&'static str>);

pub fn described(kind: ManagedKind) {
    let shared = Shared::get(Engine::Server(kind.server()));
    let facts = shared.target().facts().unwrap();
    let title = format!("{} ", kind.title());
    assert!(facts.version.starts_with(&title), "{}", facts.version);
    let (there, absent): (&[Setting], [&str; 2]) = match kind {
        ManagedKind::Postgres => (
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
        ManagedKind::Mariadb => (
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
        ManagedKind::Mysql => (
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
