//! Loading: complete, used again, begun again, never over the user's tables.

use super::*;

#[test]
fn the_load_is_complete_and_used_again() {
    let shared = Shared::get();
    let _turn = shared.turn();
    assert_eq!(
        shared
            .load(POPULATION, IfOther::Refuse, &LoadControl::default())
            .unwrap(),
        Loaded::Reused
    );
    shared.assert_consistent();
    let mut client = shared.client();
    for (table, expected) in [
        ("item", 100_000i64),
        ("stock", 200_000),
        ("customer", 60_000),
        ("warehouse", 2),
    ] {
        assert_eq!(
            one::<i64>(&mut client, &format!("SELECT count(*) FROM {table}")),
            expected,
            "{table}"
        );
    }
    let item = "SELECT count(*) FROM item WHERE i_price BETWEEN 1 AND 100 AND length(i_name) BETWEEN 14 AND 24";
    assert_eq!(one::<i64>(&mut client, item), 100_000);
    let since = "SELECT count(*) FROM customer
        WHERE TIMESTAMPDIFF(MINUTE, c_since, UTC_TIMESTAMP(6)) BETWEEN 0 AND 60";
    assert_eq!(one::<i64>(&mut client, since), 60_000);
    let indexes = "SELECT count(DISTINCT TABLE_NAME, INDEX_NAME) FROM information_schema.STATISTICS
        WHERE TABLE_SCHEMA = 'plimsoll'";
    assert_eq!(one::<i64>(&mut client, indexes), 10);
}

#[test]
fn a_schema_in_use_is_not_loaded_and_other_data_is_not_replaced() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let other = Population {
        warehouses: 1,
        seed: 1,
    };
    let replace = |how| shared.load(other, how, &LoadControl::default());
    let error = replace(IfOther::Refuse).unwrap_err();
    assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("2 warehouses, seed 42")
            && message.contains("DROP TABLE IF EXISTS `plimsoll`.item, "),
        "{message}"
    );
    let session = shared.session(TxnMode::Statements);
    let error = replace(IfOther::Replace).unwrap_err().to_string();
    assert!(
        error.contains("another plimsoll is loading, measuring"),
        "{error}"
    );
    drop(session);
    let loader = shared.client();
    let mut loader = super::client::MariadbClient(loader);
    crate::engine::sql::guard::take(
        &mut loader,
        &DIALECT,
        SCHEMA,
        crate::engine::sql::guard::Use::Load,
    )
    .unwrap();
    for mode in MODES {
        let refused = MariadbSession::open(&shared.conninfo(), SCHEMA, mode)
            .err()
            .unwrap()
            .to_string();
        assert!(
            refused.contains("another plimsoll is loading it"),
            "{refused}"
        );
    }
    assert!(check(&shared.conninfo(), SCHEMA).is_err());
    drop(loader);
    shared.assert_consistent();
}

#[test]
fn a_load_that_was_cut_off_begins_again_and_foreign_tables_are_left_alone() {
    let shared = Shared::get();
    let one_warehouse = Population {
        warehouses: 1,
        seed: 1,
    };
    let again = |control: &LoadControl| {
        let how = IfOther::Refuse;
        load(&shared.conninfo(), "cut `off`", one_warehouse, how, control)
    };
    let control = LoadControl::default();
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| again(&control));
        assert!(crate::scratch::wait_until(60, || control.rows_done() > 10_000));
        control.cancel();
        let end = loading.join().unwrap();
        assert!(matches!(end, Err(LoadError::Cancelled)), "{end:?}");
    });
    assert!(control.rows_done() < control.rows_total());
    assert_eq!(again(&LoadControl::default()).unwrap(), Loaded::Fresh);
    let verdicts = check(&shared.conninfo(), "cut `off`").unwrap();
    assert!(
        verdicts.iter().all(|verdict| verdict.holds),
        "{verdicts:#?}"
    );

    let mut client = shared.client();
    client.query_drop("CREATE DATABASE theirs").unwrap();
    client
        .query_drop("CREATE TABLE theirs.anything AS SELECT 1 AS x")
        .unwrap();
    let error = load(
        &shared.conninfo(),
        "theirs",
        one_warehouse,
        IfOther::Replace,
        &LoadControl::default(),
    )
    .unwrap_err();
    assert!(
        matches!(&error, LoadError::Foreign { what, .. } if what.contains("anything")),
        "{error}"
    );
    assert_eq!(
        one::<i64>(&mut client, "SELECT count(*) FROM theirs.anything"),
        1
    );
    let error = check(&shared.conninfo(), "nowhere").unwrap_err();
    assert!(matches!(error, LoadError::Missing { .. }), "{error}");
    for mode in MODES {
        for schema in ["nowhere", "theirs"] {
            let error = MariadbSession::open(&shared.conninfo(), schema, mode)
                .err()
                .unwrap();
            assert!(matches!(error, LoadError::Missing { .. }), "{error}");
        }
    }
}
