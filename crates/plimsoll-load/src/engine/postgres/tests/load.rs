//! Loading: complete, used again, begun again, never over the user's tables.

use super::*;

#[test]
fn the_load_is_complete_and_used_again() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let again = || {
        load(
            &shared.conninfo(),
            SCHEMA,
            POPULATION,
            IfOther::Refuse,
            &LoadControl::default(),
        )
    };
    assert_eq!(again().unwrap(), Loaded::Reused);
    shared.assert_consistent();
    block_on(async {
        let client = shared.client().await;
        for (table, expected) in [
            ("item", 100_000i64),
            ("stock", 200_000),
            ("customer", 60_000),
            ("warehouse", 2),
        ] {
            assert_eq!(
                one::<i64>(&client, &format!("SELECT count(*) FROM {table}")).await,
                expected,
                "{table}"
            );
        }
        let item = "SELECT count(*) FROM item WHERE i_price BETWEEN 1 AND 100 AND length(i_name) BETWEEN 14 AND 24";
        assert_eq!(one::<i64>(&client, item).await, 100_000);
        let since =
            "SELECT count(*) FROM customer WHERE now() - c_since BETWEEN '0' AND interval '1 hour'";
        assert_eq!(one::<i64>(&client, since).await, 60_000);
        let indexes = "SELECT count(*) FROM pg_indexes WHERE schemaname = 'plimsoll'";
        assert_eq!(one::<i64>(&client, indexes).await, 10);
        let analyzed = "SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
            WHERE nspname = 'plimsoll' AND relkind = 'r' AND relname <> 'plimsoll_load' AND reltuples > 0";
        assert_eq!(one::<i64>(&client, analyzed).await, 9);
    });
}

#[test]
fn a_schema_in_use_is_not_loaded_and_other_data_is_not_replaced() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let other = Population {
        warehouses: 1,
        seed: 1,
    };
    let replace = |how| {
        load(
            &shared.conninfo(),
            SCHEMA,
            other,
            how,
            &LoadControl::default(),
        )
    };
    let error = replace(IfOther::Refuse).unwrap_err();
    assert!(matches!(&error, LoadError::Occupied { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.contains("2 warehouses, seed 42")
            && message.contains("DROP TABLE IF EXISTS \"plimsoll\".item, "),
        "{message}"
    );
    block_on(async {
        let client = shared.client().await;
        let session = shared.session(TxnMode::Statements).await;
        let error = replace(IfOther::Replace).unwrap_err().to_string();
        assert!(
            error.contains("another plimsoll is loading, measuring"),
            "{error}"
        );
        drop(session);
        let lock = "SELECT pg_advisory_lock(hashtext('plimsoll'), hashtext('plimsoll'))";
        client.batch_execute(lock).await.unwrap();
        for mode in MODES {
            let refused = PostgresSession::open(&shared.conninfo(), SCHEMA, mode)
                .await
                .err()
                .unwrap()
                .to_string();
            assert!(
                refused.contains("another plimsoll is loading it"),
                "{refused}"
            );
        }
        assert!(check(&shared.conninfo(), SCHEMA).is_err());
    });
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
        load(
            &shared.conninfo(),
            "cut \"off\"",
            one_warehouse,
            IfOther::Refuse,
            control,
        )
    };
    let control = LoadControl::default();
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| again(&control));
        assert!(crate::scratch::wait_until(60, || control.rows_done() > 10_000));
        control.cancel();
        assert!(matches!(loading.join().unwrap(), Err(LoadError::Cancelled)));
    });
    assert!(control.rows_done() < control.rows_total());
    assert_eq!(again(&LoadControl::default()).unwrap(), Loaded::Fresh);
    let verdicts = check(&shared.conninfo(), "cut \"off\"").unwrap();
    assert!(
        verdicts.iter().all(|verdict| verdict.holds),
        "{verdicts:#?}"
    );

    block_on(async {
        let client = shared.client().await;
        client
            .batch_execute("CREATE SCHEMA theirs; CREATE TABLE theirs.stock AS SELECT 1 AS x")
            .await
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
            matches!(&error, LoadError::Foreign { what, .. } if what.contains("stock")),
            "{error}"
        );
        assert_eq!(
            one::<i64>(&client, "SELECT count(*) FROM theirs.stock").await,
            1
        );
    });
    let error = check(&shared.conninfo(), "nowhere").unwrap_err();
    assert!(matches!(error, LoadError::Missing { .. }), "{error}");
    for mode in MODES {
        let error = block_on(PostgresSession::open(&shared.conninfo(), "nowhere", mode))
            .err()
            .unwrap();
        assert!(matches!(error, LoadError::Missing { .. }), "{error}");
    }
}
