//! The server itself: killed connections, deadlocks, broken rows, facts, who may enter.

use super::*;

#[test]
fn a_killed_connection_is_lost_and_a_new_one_works() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    let level = input::StockLevel {
        warehouse: 1,
        district: 2,
        threshold: 15,
    };
    let level = Input::Tpcc(input::Input::StockLevel(level));
    for mode in MODES {
        let mut session = shared.session(mode);
        run(&mut session, &level).unwrap();
        client
            .query_drop(format!("KILL CONNECTION {}", session.connection_id()))
            .unwrap();
        let lost = run(&mut session, &level);
        assert!(
            matches!(lost, Err(SessionError::Lost(_))),
            "{mode:?} {lost:?}"
        );
        assert!(
            matches!(run(&mut session, &level), Err(SessionError::Lost(_))),
            "{mode:?}"
        );
        assert_eq!(
            run(&mut shared.session(mode), &level),
            Ok(TxnEnd::Committed),
            "{mode:?}"
        );
    }
}

#[test]
fn a_table_that_is_gone_is_not_tried_for_again() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    let level = input::StockLevel {
        warehouse: 1,
        district: 2,
        threshold: 15,
    };
    let level = Input::Tpcc(input::Input::StockLevel(level));
    let mut sessions = MODES.map(|mode| shared.session(mode));
    client
        .query_drop("RENAME TABLE order_line TO order_line_away")
        .unwrap();
    let gone = sessions.each_mut().map(|session| run(session, &level));
    client
        .query_drop("RENAME TABLE order_line_away TO order_line")
        .unwrap();
    for gone in gone {
        assert!(
            matches!(&gone, Err(SessionError::Permanent(why)) if why.contains("remove the rest")),
            "{gone:?}"
        );
    }
}

#[test]
fn a_deadlock_and_a_long_wait_may_be_tried_again() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    let before = digest(&mut client);
    let lock = |item: i32| {
        format!("SELECT s_ytd FROM stock WHERE s_w_id = 1 AND s_i_id = {item} FOR UPDATE")
    };
    for mode in MODES {
        let mut session = shared.session(mode);
        client.query_drop("BEGIN").unwrap();
        // Whoever has changed less is the victim: the user has three rows to lose, so this one needs more.
        client
            .query_drop("UPDATE stock SET s_ytd = s_ytd + 1 WHERE s_w_id = 2 AND s_i_id < 100")
            .unwrap();
        client.query_drop(lock(20)).unwrap();
        let user =
            std::thread::spawn(move || run(&mut session, &new_order(&[(10, 1, 1), (20, 1, 1)])));
        // The user now holds item 10 and waits for item 20.
        let mut watcher = shared.client();
        let waiting =
            "SELECT count(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
        let user_waits = || {
            // The server refreshes this view only when it was not read for a tenth of a second.
            std::thread::sleep(std::time::Duration::from_millis(200));
            one::<i64>(&mut watcher, waiting) > 0
        };
        assert!(crate::scratch::wait_until(60, user_waits));
        client.query_drop(lock(10)).unwrap();
        let end = user.join().unwrap();
        assert!(
            matches!(&end, Err(SessionError::Retry(why)) if why.contains("1213")),
            "{mode:?} {end:?}"
        );
        client.query_drop("ROLLBACK").unwrap();

        let mut session = shared.session(mode);
        session.set("SET innodb_lock_wait_timeout = 1");
        client.query_drop("BEGIN").unwrap();
        client.query_drop(lock(20)).unwrap();
        let end = run(&mut session, &new_order(&[(10, 1, 1), (20, 1, 1)]));
        assert!(
            matches!(&end, Err(SessionError::Retry(why)) if why.contains("1205")),
            "{mode:?} {end:?}"
        );
        client.query_drop("ROLLBACK").unwrap();
    }
    assert_eq!(digest(&mut client), before);
}

#[test]
fn a_row_broken_by_hand_is_named() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    let touch = |by: &str| {
        format!("UPDATE district SET d_ytd = d_ytd + {by} WHERE d_w_id = 2 AND d_id = 4")
    };
    client.query_drop(touch("0.01")).unwrap();
    let broken: Vec<_> = check(&shared.conninfo(), SCHEMA)
        .unwrap()
        .into_iter()
        .filter(|v| !v.holds)
        .collect();
    let clauses: Vec<_> = broken.iter().map(|verdict| verdict.clause).collect();
    assert_eq!(clauses, ["3.3.2.1", "3.3.2.9"]);
    assert!(broken[1].detail.contains("w_id=2, d_id=4"), "{broken:?}");
    client.query_drop(touch("-0.01")).unwrap();
    shared.assert_consistent();
}

#[test]
fn emptied_tables_and_unfinished_loads_do_not_pass() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    client.query_drop("CREATE DATABASE part").unwrap();
    client
        .query_drop("CREATE TABLE part.plimsoll_load AS SELECT * FROM plimsoll_load")
        .unwrap();
    for table in Table::ALL {
        let name = table.name();
        client
            .query_drop(format!("CREATE TABLE part.{name} LIKE {name}"))
            .unwrap();
    }
    for verdict in check(&shared.conninfo(), "part").unwrap() {
        assert!(
            !verdict.holds && verdict.detail.contains("stock has 0 rows, not 200000"),
            "{}",
            verdict.detail
        );
    }
    for (change, searched) in [
        (
            "UPDATE part.plimsoll_load SET state = 'started'",
            "only started",
        ),
        ("DELETE FROM part.plimsoll_load", "is empty"),
    ] {
        client.query_drop(change).unwrap();
        let error = check(&shared.conninfo(), "part").unwrap_err();
        assert!(
            matches!(&error, LoadError::Missing { .. }) && error.to_string().contains(searched),
            "{error}"
        );
    }
    client.query_drop("DROP DATABASE part").unwrap();
}

#[test]
fn the_server_is_described() {
    let shared = Shared::get();
    let facts = facts(&shared.conninfo()).unwrap();
    assert!(facts.version.starts_with("MariaDB "), "{}", facts.version);
    let value = |name: &str| {
        facts
            .settings
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    };
    assert_eq!(
        value("innodb_flush_log_at_trx_commit"),
        Some("2"),
        "{facts:?}"
    );
    assert_eq!(value("innodb_buffer_pool_size"), Some("536870912"));
    assert_eq!(
        (
            value("innodb_doublewrite"),
            value("log_bin"),
            value("sync_binlog")
        ),
        (Some("ON"), Some("OFF"), Some("0"))
    );
    assert!(
        value("tx_isolation").is_some() && value("innodb_flush_method").is_some(),
        "{facts:?}"
    );
    assert_eq!((value("datadir"), value("sort_buffer_size")), (None, None));
    assert!(facts.database_size.0 > 100 << 20, "{}", facts.database_size);
}

#[test]
fn a_refused_user_gets_the_next_step() {
    let shared = Shared::get();
    let mut client = shared.client();
    for sql in [
        "CREATE USER guarded@localhost IDENTIFIED BY 'right'",
        "CREATE USER plain@localhost",
        "GRANT SELECT ON plimsoll.* TO plain@localhost",
    ] {
        client.query_drop(sql).unwrap();
    }
    let at = |user: &str| shared.conninfo().replace("root@", &format!("{user}@"));
    connect::connect(&at("guarded:right")).unwrap();
    for wrong in ["guarded:wr0ng", "guarded"] {
        let error = connect::connect(&at(wrong)).unwrap_err();
        assert!(
            matches!(&error, LoadError::Refused { next, .. } if next.contains("MYSQL_PWD")),
            "{error}"
        );
        assert!(!error.to_string().contains("wr0ng"), "{error}");
    }
    let control = LoadControl::default();
    let error = load(
        &at("plain"),
        "newschema",
        POPULATION,
        IfOther::Replace,
        &control,
    )
    .unwrap_err();
    assert!(
        matches!(&error, LoadError::Refused { next, .. } if next.contains("GRANT")),
        "{error}"
    );
}
